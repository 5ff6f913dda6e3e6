r"""Whether one rater uses a category, or a part of the scale, more than another on the same items.

Of two raters and K categories, :math:`n_{kl}` items have k from the first and l from the second.

- McNemar (1947): of the items on which one alone gives category k, each gives it on half, if both
  use it alike. The test is the binomial one, of both sides.
- Stuart (1955) and Maxwell (1970): of all categories at once,

.. math:: \chi^2 = d^\top V^{-} d, \qquad d_k = n_{k\cdot} - n_{\cdot k}, \quad
   V_{kk} = n_{k\cdot} + n_{\cdot k} - 2 n_{kk}, \quad V_{kl} = -(n_{kl} + n_{lk})

The degrees of freedom are the rank of V. Holm's (1979) procedure holds the risk of any finding by
luck among all tests of a kind.

Of numbers, Bland and Altman's (1999) limits of agreement are the mean difference of two raters and
:math:`z_{0.975}` standard deviations of it to each side. The standard error of measurement is the
standard deviation of one rating around the mean of its item.

References: doi:10.1007/BF02295996; doi:10.1093/biomet/42.3-4.412; doi:10.1192/bjp.116.535.651;
doi:10.1177/096228029900800204
"""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from agreement_pipeline.intervals import Interval, mean_interval_of_rows
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import LabelsByRater, NumbersByRater
from agreement_pipeline.students_t import quantile

NEGLIGIBLE = 1e-17
TWO_SIDED_95 = NormalDist().inv_cdf(0.975)


class CategoryUse(NamedTuple):
    """How often two raters give a category on the items of both.

    `only_first` and `only_second` are the items on which one alone gives it. `p` is McNemar's, and
    `p_holm` allows for all pairs and categories that were tested. The interval is that of the
    difference of the two shares.
    """

    first: str
    second: str
    category: str
    n_items: int
    share_first: float
    share_second: float
    only_first: int
    only_second: int
    p: float
    p_holm: float
    interval: Interval | None


class MarginalHomogeneity(NamedTuple):
    """Stuart and Maxwell's test that two raters use all categories alike.

    `p_holm` allows for all pairs that were tested.
    """

    first: str
    second: str
    n_items: int
    statistic: float
    df: int
    p: float
    p_holm: float


def marginal_homogeneity(labels: LabelsByRater) -> tuple[MarginalHomogeneity, ...]:
    """Of each pair of raters who differ on some item, whether they use the categories alike.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> panel = LabelsByRater(
    ...     [[0, 0], [0, 1], [1, 0]], [40, 20, 5], scale=Scale(("no", "yes")), raters=("a", "b")
    ... )
    >>> (pair,) = marginal_homogeneity(panel)
    >>> round(pair.statistic, 3), pair.df, round(pair.p, 4)
    (9.0, 1, 0.0027)
    """
    tests = []
    for first, second, table in _iterate_pair_tables(labels):
        both_ways = table + table.T
        covariance = np.diag(both_ways.sum(1)) - both_ways
        df = int(np.linalg.matrix_rank(covariance))
        if df:
            d = table.sum(1) - table.sum(0)
            statistic = float(d @ np.linalg.pinv(covariance, hermitian=True) @ d)
            tests.append((first, second, round(table.sum()), statistic, df))
    p_values = [_upper_tail_of_chi_squared(statistic, df) for *_, statistic, df in tests]
    return tuple(
        MarginalHomogeneity(*test, p, p_holm)
        for test, p, p_holm in zip(tests, p_values, _adjust_p_values_by_holm(p_values), strict=True)
    )


def use_of_categories(labels: LabelsByRater, level: float = 0.95) -> tuple[CategoryUse, ...]:
    """Of each pair of raters and category, who gives it more often. The surest comes first.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> panel = LabelsByRater(
    ...     [[0, 0], [0, 1], [1, 0]], [40, 20, 5], scale=Scale(("no", "yes")), raters=("a", "b")
    ... )
    >>> use = use_of_categories(panel)[0]
    >>> use.category, use.only_first, use.only_second, round(use.p, 4)
    ('no', 20, 5, 0.0041)
    """
    names, used = labels.scale.names, []
    for first, second, table in _iterate_pair_tables(labels):
        n = round(table.sum())
        for k in np.flatnonzero(table.sum(0) + table.sum(1)):
            both = table[k, k]
            alone = round(table[k].sum() - both), round(table[:, k].sum() - both)
            shares = float(table[k].sum() / n), float(table[:, k].sum() / n)
            items = np.array([*alone, n - sum(alone)])
            interval = mean_interval_of_rows(np.array([1.0, -1.0, 0.0]), items, level)
            used.append(((first, second, names[k], n, *shares, *alone), interval))
    p_values = [mcnemar_p(*use[-2:]) for use, _ in used]
    uses = [
        CategoryUse(*use, p, p_holm, interval)
        for (use, interval), p, p_holm in zip(
            used, p_values, _adjust_p_values_by_holm(p_values), strict=True
        )
    ]
    return tuple(sorted(uses, key=lambda use: (use.p, use.first, use.second, use.category)))


def mcnemar_p(only_first: int, only_second: int) -> float:
    """The chance of so uneven a split, or more so, of items on which one of two gives a category.

    >>> mcnemar_p(5, 0), mcnemar_p(3, 3)
    (0.0625, 1.0)
    """
    n, fewer = only_first + only_second, min(only_first, only_second)
    ways = math.lgamma(n + 1) - math.lgamma(fewer + 1) - math.lgamma(n - fewer + 1)
    share, shares = 1.0, 1.0
    for k in range(fewer, 0, -1):
        share *= k / (n - k + 1)
        shares += share
        if share < NEGLIGIBLE:
            break
    return min(1.0, 2 * math.exp(ways - n * math.log(2)) * shares)


def _upper_tail_of_chi_squared(x: float, df: int) -> float:
    """By its finite series for whole degrees of freedom.

    >>> round(_upper_tail_of_chi_squared(3.841459, 1), 6), _upper_tail_of_chi_squared(0.0, 4)
    (0.05, 1.0)
    """
    half, is_odd = x / 2, df % 2
    tail = math.erfc(math.sqrt(half)) if is_odd else 0.0
    powers = (place + is_odd / 2 for place in range(df // 2))
    return tail + math.exp(-half) * sum(
        math.pow(half, power) / math.gamma(power + 1) for power in powers
    )


def _iterate_pair_tables(labels: LabelsByRater) -> Iterator[tuple[str, str, Array]]:
    """Of each pair of raters who share an item, how many items have each pair of labels (K, K)."""
    k, codes, weights = len(labels.scale.names), labels.codes, labels.weights
    for i, j in combinations(range(labels.n_raters), 2):
        both = (codes[:, i] >= 0) & (codes[:, j] >= 0)
        cells = codes[both, i] * k + codes[both, j]
        table = np.bincount(cells, weights[both], minlength=k * k).reshape(k, k).astype(float)
        if table.any():
            yield labels.raters[i], labels.raters[j], table


def _adjust_p_values_by_holm(p: Sequence[float]) -> Sequence[float]:
    """P-values that allow for as many tests as there are."""
    adjusted, highest = [1.0] * len(p), 0.0
    for n_before, place in enumerate(sorted(range(len(p)), key=lambda place: p[place])):
        highest = max(highest, min(1.0, (len(p) - n_before) * p[place]))
        adjusted[place] = highest
    return adjusted


class LimitsOfAgreement(NamedTuple):
    """Between which limits 95 % of the differences of two raters lie, if they are normal.

    `bias` is the mean difference of the first from the second, and `spread` its standard deviation.
    """

    first: str
    second: str
    n_items: int
    bias: float
    spread: float
    low: float
    high: float
    bias_interval: Interval
    low_interval: Interval
    high_interval: Interval


class MeasurementError(NamedTuple):
    """The standard error of measurement: how far one rating lies from the mean of its item."""

    value: float
    interval: Interval
    n_items: int
    n_ratings: int

    @property
    def repeatability(self) -> float:
        """By how much two ratings of an item differ at most, on 95 % of items, if normal."""
        return TWO_SIDED_95 * math.sqrt(2) * self.value


def limits_of_agreement(
    numbers: NumbersByRater, level: float = 0.95
) -> tuple[LimitsOfAgreement, ...]:
    """The limits of agreement of each pair of raters who share two items or more.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> numbers = NumbersByRater(
    ...     [[1, 2], [3, 3], [5, 6]], scale=Scale(None, "interval"), raters=("a", "b")
    ... )
    >>> (pair,) = limits_of_agreement(numbers)
    >>> round(pair.bias, 3), round(pair.low, 3), round(pair.high, 3)
    (-0.667, -1.798, 0.465)
    """
    values, weights, pairs = numbers.values[:, :, 0], numbers.weights, []
    for i, j in combinations(range(numbers.n_raters), 2):
        rows = numbers.given[:, i] & numbers.given[:, j] & (weights > 0)
        n = round(float(weights[rows].sum()))
        if n < 2:
            continue
        differences = values[rows, i] - values[rows, j]
        bias = float(weights[rows] @ differences / n)
        spread = math.sqrt(float(weights[rows] @ (differences - bias) ** 2) / (n - 1))
        t = quantile((1 + level) / 2, n - 1)
        of_bias = t * spread / math.sqrt(n)
        of_limit = t * spread * math.sqrt(1 / n + TWO_SIDED_95**2 / (2 * (n - 1)))
        low, high = bias - TWO_SIDED_95 * spread, bias + TWO_SIDED_95 * spread
        pairs.append(
            LimitsOfAgreement(
                numbers.raters[i],
                numbers.raters[j],
                n,
                bias,
                spread,
                low,
                high,
                Interval(bias - of_bias, bias + of_bias),
                Interval(low - of_limit, low + of_limit),
                Interval(high - of_limit, high + of_limit),
            )
        )
    return tuple(pairs)


def measurement_error(numbers: NumbersByRater, level: float = 0.95) -> MeasurementError | None:
    """The standard error of measurement. None on fewer than two items with two ratings.

    Its square is the pooled variance of ratings within items. The interval takes items as drawn at
    random. It is Student's on the scale of the logarithm, and no narrower than with normal errors.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> numbers = NumbersByRater(
    ...     [[1, 3], [4, 4], [6, 8]], scale=Scale(None, "interval"), raters=("a", "b")
    ... )
    >>> round(measurement_error(numbers).value, 3)
    1.155
    """
    rows = (numbers.given.sum(1) >= 2) & (numbers.weights > 0)
    weights, values = numbers.weights[rows], numbers.values[rows, :, 0]
    n = round(float(weights.sum()))
    if n < 2:
        return None
    m = numbers.given[rows].sum(1)
    squares = np.nansum((values - np.nanmean(values, axis=1, keepdims=True)) ** 2, axis=1)
    df = float(weights @ (m - 1))
    variance = float(weights @ squares) / df
    if variance == 0:
        return MeasurementError(0.0, Interval(0.0, 0.0), n, round(float(weights @ m)))
    apart = squares - variance * (m - 1)
    error = math.sqrt(n / (n - 1) * float(weights @ apart**2)) / df / variance
    times = math.exp(quantile((1 + level) / 2, n - 1) * max(error, math.sqrt(2 / df)) / 2)
    value = math.sqrt(variance)
    interval = Interval(value / times, value * times)
    return MeasurementError(value, interval, n, round(float(weights @ m)))
