"""The intraclass correlations: how much of the variance of ratings lies between items.

The first figure of a form says who rates:

1. Every item has raters of its own, so raters' habits are error.
2. The same raters rate every item and stand for other raters, so their habits count against them.
3. These raters are the only ones, so a constant difference between them does not matter.

The second figure is 1 for one rating, and k for the mean of k ratings but never for one of them.
Choose before you see the data. Most rounds mean (2,1). Where items hardly differ, all forms are low
even if raters agree. The intervals describe these raters only. BMS, JMS, WMS and EMS are the mean
squares of items, raters, within items and the rest. `expected` is the variance of a rating, or of
an item's mean, and `observed` is the part of it that is not between items. Unlike correlation,
Lin's concordance falls when one rater is always higher than another, or spreads their ratings more.
"""

from functools import partial

import numpy as np

from agreement_pipeline.measures._numbers import (
    free_of_unit,
    items_rated_by_all_free_of_unit,
    items_rated_by_all_with_weight,
)
from agreement_pipeline.measures.coefficient import Coefficient, ratio
from agreement_pipeline.measures.conditions import (
    NO_CROSSED_ITEM,
    NO_PAIRABLE_ITEM,
    ONE_CROSSED_NUMBER,
    ONE_RATER,
)
from agreement_pipeline.measures.registry import UndefinedCondition, register
from agreement_pipeline.ratings import Array, Level
from agreement_pipeline.statistics import NumbersByRater


def _has_few_items(values: NumbersByRater) -> bool:
    return bool(values.weights[values.sizes > 0].sum() - 1 <= 1e-12)


FEW_PAIRABLE_ITEMS = UndefinedCondition(
    "fewer than two items have two ratings",
    lambda values: _has_few_items(values.select_rows(values.pairable)),
)
FEW_CROSSED_ITEMS = UndefinedCondition(
    "fewer than two items were rated by every rater",
    lambda values: _has_few_items(values.items_rated_by_all()),
)


def one_way_mean_squares(values: NumbersByRater) -> tuple[Array, Array, Array, float]:
    """Mean squares between and within items with two ratings or more, the ratings per item, and the
    unit.
    """
    rated = values.select_rows(values.has_weight & values.pairable)
    z, unit = free_of_unit(rated.values)
    w, m, sums = rated.weights, rated.sizes, np.nansum(z, axis=(1, 2))
    squared_deviations = np.nansum((z[:, :, 0] - (sums / m)[:, None]) ** 2, axis=1)
    n, total = w.sum(-1), w @ m
    degrees_of_freedom = np.maximum(n - 1, 0.0)
    bms = ratio(w @ (sums**2 / m) - ratio((w @ sums) ** 2, total), degrees_of_freedom)
    k = ratio(total - ratio(w @ m**2, total), degrees_of_freedom)
    return bms, ratio(w @ squared_deviations, total - n), k, unit


def two_way_mean_squares(values: NumbersByRater) -> tuple[Array, Array, Array, Array, float, float]:
    """Over the items that every rater rated: mean squares of items, raters and the rest, the number
    of items (...), that of raters, and the unit.

    Each rater's first number is subtracted from their numbers, so a large constant of a rater costs
    no digits. Only `jms` depends on that constant.
    """
    crossed = items_rated_by_all_with_weight(values)
    x, w = crossed.values[:, :, 0], crossed.weights
    offsets = x[0] if len(x) else np.zeros(x.shape[1])
    z, unit = free_of_unit((x - offsets)[:, :, None])
    z, unit = z[:, :, 0], unit or float(np.ptp(offsets))
    offset_differences = (offsets - offsets[0]) / (unit or 1.0)
    k, n = float(z.shape[1]), np.asarray(w.sum(-1))
    items, raters, degrees_of_freedom = (
        z.mean(1),
        ratio(w @ z, n[..., None]),
        np.maximum(n - 1, 0.0),
    )
    bms = k * ratio(w @ items**2 - n * raters.mean(-1) ** 2, degrees_of_freedom)
    residual = w @ ((z - items[:, None]) ** 2).sum(1) - n * _squared_deviations(raters)
    jms = ratio(n * _squared_deviations(raters + offset_differences), np.asarray(k - 1))
    return bms, jms, ratio(residual, degrees_of_freedom * (k - 1)), n, k, unit


def _squared_deviations(raters: Array) -> Array:
    return np.asarray(((raters - raters.mean(-1)[..., None]) ** 2).sum(-1))


def share_between_items(between_variance: Array, total: Array, unit: Array | float) -> Coefficient:
    """Where the total is not positive, the share is nan and the total is 0."""
    total = np.where(total > 1e-12, total, 0.0)
    return Coefficient(
        ratio(between_variance, total),
        observed=(total - between_variance) * unit * unit,
        expected=total * unit * unit,
    )


SHROUT_FLEISS = (
    "Shrout, P. E. & Fleiss, J. L. (1979), doi:10.1037/0033-2909.86.2.420; "
    "McGraw, K. O. & Wong, S. P. (1996), doi:10.1037/1082-989X.1.1.30"
)
DONNER = SHROUT_FLEISS + "; unequal numbers of ratings after Donner, A. (1986), doi:10.2307/1403259"
ONE_WAY_CONVENTION = (
    "items with one rating are left out; every other item counts, whoever rated it; "
    "k is the mean number of ratings an item that Donner (1986) calls n_0"
)
TWO_WAY_CONVENTION = (
    "only items that every rater rated; those with missing ratings are left out and counted"
)
NUMBERS: set[Level] = {"interval", "ratio"}
VARIANCE_NOT_POSITIVE = UndefinedCondition("the estimated variance is not positive")


_one_way_form = partial(
    register,
    question="inter-rater",
    needs="values",
    bounds=(-np.inf, 1.0),
    undefined=(NO_PAIRABLE_ITEM, FEW_PAIRABLE_ITEMS, VARIANCE_NOT_POSITIVE),
    levels=NUMBERS,
    exchangeable=True,
    convention=ONE_WAY_CONVENTION,
    source=DONNER,
)


@_one_way_form("ICC(1,1)")
def icc_1_1(values: NumbersByRater) -> Coefficient:
    r"""The share of one rating's variance between items, if every item has its own raters.

    .. math:: \mathrm{ICC}(1,1) = \frac{BMS - WMS}{BMS + (k - 1) WMS}, \qquad
       k = n_0 = \frac{1}{n - 1} \left( M - \frac{\sum_i m_i^2}{M} \right)

    Item i has :math:`m_i \ge 2` of M ratings. If the same raters rate many items, the interval is
    too narrow for others, more so with more items.

    Examples
    --------
    >>> round(float(icc_1_1(values).value), 4)
    0.1657
    """
    bms, wms, k, unit = one_way_mean_squares(values)
    return share_between_items((bms - wms) / k, (bms + (k - 1) * wms) / k, unit)


@_one_way_form("ICC(1,k)")
def icc_1_k(values: NumbersByRater) -> Coefficient:
    r"""The share of an item mean's variance between items, if every item has its own raters.

    .. math:: \mathrm{ICC}(1,k) = \frac{BMS - WMS}{BMS}

    The value is that of `icc_1_1`, stepped up to k ratings an item by the Spearman-Brown formula.

    Examples
    --------
    >>> round(float(icc_1_k(values).value), 4)
    0.4428
    """
    bms, wms, k, unit = one_way_mean_squares(values)
    return share_between_items((bms - wms) / k, bms / k, unit)


_two_way_form = partial(
    register,
    question="inter-rater",
    needs="values",
    undefined=(ONE_RATER, NO_CROSSED_ITEM, FEW_CROSSED_ITEMS, VARIANCE_NOT_POSITIVE),
    levels=NUMBERS,
    crossed=True,
    convention=TWO_WAY_CONVENTION,
    source=SHROUT_FLEISS,
)


@_two_way_form("ICC(2,1)", bounds=(-np.inf, 1.0))
def icc_2_1(values: NumbersByRater) -> Coefficient:
    r"""The share of one rating's variance between items, if raters stand for a population.

    .. math:: \mathrm{ICC}(2,1) = \frac{BMS - EMS}{BMS + (k - 1) EMS + k (JMS - EMS) / n}

    A rater who is always higher counts as disagreement. McGraw and Wong call this ICC(A,1).

    Examples
    --------
    >>> round(float(icc_2_1(values).value), 4)
    0.2898
    """
    bms, jms, ems, n, k, unit = two_way_mean_squares(values)
    total = bms + (k - 1) * ems + k * ratio(jms - ems, n)
    return share_between_items((bms - ems) / k, total / k, unit)


@_two_way_form("ICC(2,k)", bounds=(-np.inf, 1.0), of_one_rating="icc_2_1")
def icc_2_k(values: NumbersByRater) -> Coefficient:
    r"""The share of an item mean's variance between items, if raters stand for a population.

    .. math:: \mathrm{ICC}(2,k) = \frac{BMS - EMS}{BMS + (JMS - EMS) / n}

    McGraw and Wong call this ICC(A,k).

    Examples
    --------
    >>> round(float(icc_2_k(values).value), 4)
    0.6201
    """
    bms, jms, ems, n, k, unit = two_way_mean_squares(values)
    return share_between_items((bms - ems) / k, (bms + ratio(jms - ems, n)) / k, unit)


@_two_way_form("ICC(3,1)", bounds=(-1.0, 1.0))
def icc_3_1(values: NumbersByRater) -> Coefficient:
    r"""The share of one rating's variance between items, apart from what a rater always adds.

    .. math:: \mathrm{ICC}(3,1) = \frac{BMS - EMS}{BMS + (k - 1) EMS}

    It asks whether the raters order the items alike (consistency). McGraw and Wong call it
    ICC(C,1).

    Examples
    --------
    >>> round(float(icc_3_1(values).value), 4)
    0.7148
    """
    bms, _, ems, _, k, unit = two_way_mean_squares(values)
    return share_between_items((bms - ems) / k, (bms + (k - 1) * ems) / k, unit)


@_two_way_form("ICC(3,k)", bounds=(-np.inf, 1.0), of_one_rating="icc_3_1")
def icc_3_k(values: NumbersByRater) -> Coefficient:
    r"""The share of an item mean's variance between items, apart from what a rater always adds.

    .. math:: \mathrm{ICC}(3,k) = \frac{BMS - EMS}{BMS}

    It is Cronbach's alpha, and McGraw and Wong call it ICC(C,k).

    Examples
    --------
    >>> round(float(icc_3_k(values).value), 4)
    0.9093
    """
    bms, _, ems, _, k, unit = two_way_mean_squares(values)
    return share_between_items((bms - ems) / k, bms / k, unit)


@register(
    "Lin's concordance correlation",
    question="inter-rater",
    needs="values",
    bounds=(-1.0, 1.0),
    undefined=(ONE_RATER, NO_CROSSED_ITEM, ONE_CROSSED_NUMBER),
    levels=NUMBERS,
    crossed=True,
    convention=TWO_WAY_CONVENTION,
    source="Lin, L. I.-K. (1989), doi:10.2307/2532051; more than two raters after "
    "Barnhart, H. X., Haber, M. & Song, J. (2002), doi:10.1111/j.0006-341X.2002.01020.x",
)
def lin_ccc(values: NumbersByRater) -> Coefficient:
    r"""How near ratings lie to the line on which two raters give the same number, over all pairs.

    .. math:: \rho_c = \frac{2 \sum_{s<t} \sigma_{st}}{\sum_{s<t} \left( \sigma_s^2 + \sigma_t^2 +
       (\mu_s - \mu_t)^2 \right)}

    Means, variances and covariances are those of the raters' numbers over items, divided by n as
    Lin does. For more than two raters, this is the overall coefficient of Barnhart, Haber and Song.
    In one dimension it equals `janson_olsson_iota`. On a single item it is 0.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> values = NumbersByRater([[1, 2], [2, 3], [3, 4]], scale=Scale(None, "interval"),
    ...                       raters=("a", "b"))
    >>> round(float(lin_ccc(values).value), 4)
    0.5714
    """
    z, w, unit = items_rated_by_all_free_of_unit(values)
    z, n, r = z[:, :, 0], w.sum(-1)[..., None], np.float64(z.shape[1])
    mu = ratio(w @ z, n)
    variances = (ratio(w @ z**2, n) - mu**2).sum(-1)
    twice_covariances = ratio(w @ z.sum(1) ** 2, n[..., 0]) - mu.sum(-1) ** 2 - variances
    expected_squares = (r - 1) * variances + r * (mu**2).sum(-1) - mu.sum(-1) ** 2
    pairs = unit * unit / (r * (r - 1) / 2) if r > 1 else np.nan
    return Coefficient(
        ratio(twice_covariances, expected_squares),
        observed=(expected_squares - twice_covariances) * pairs,
        expected=expected_squares * pairs,
    )
