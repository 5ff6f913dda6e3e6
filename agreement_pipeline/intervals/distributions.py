r"""Confidence distributions: what an interval method says about a true value.

Its quantiles are the limits of an interval. Its share under a cut-off is the p-value of the
hypothesis that the true value is under the cut-off. So the lower limit at a tail reaches a cut-off
exactly if p is at most that tail. A *tail* is the share beyond one limit:
(1 - confidence level) / 2. An undefined value always widens the interval, on both sides.

Reference: Xie, M. & Singh, K. (2013), https://doi.org/10.1111/insr.12000
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from agreement_pipeline.intervals.draws import Interval, quantile_interval
from agreement_pipeline.ratings import Array
from agreement_pipeline.students_t import lower_tail_probability, quantile

MIN_TAIL_DRAWS = 10
"""So many resamples must lie beyond a limit."""
MIN_UNITS = 2
TOO_FEW_DRAWS = "too few draws"
TOO_FEW_ITEMS = "too few items or draws"
MIN_TAIL = 1e-9
"""The smallest tail that the arithmetic tells from 0."""
N_BISECTIONS = 60
MAX_EXPONENT = 700.0
N_TRUE_VALUES, TAILS_OF_RATES = 200, (0.1, 0.9)

NORMAL = NormalDist()
Bounds = tuple[float, float]


def min_draws(tail: float) -> int:
    """The fewest resamples of which ten lie beyond a limit at the tail.

    >>> min_draws(0.025)
    400
    """
    return math.ceil(MIN_TAIL_DRAWS / tail * (1 - 1e-12))


def is_beyond_bounds(cutoff: float, bounds: Bounds, upper: bool) -> bool:
    """True if no true value is on that side of the cut-off."""
    return cutoff > bounds[1] if upper else cutoff <= bounds[0]


def clears_cutoff(limits: Interval, cutoff: float, upper: bool) -> bool:
    """True if the upper limit is under the cut-off, or the lower one at or over it."""
    return limits.high < cutoff if upper else limits.low >= cutoff


def bisect(low: float, high: float, above: Callable[[float], bool]) -> tuple[float, float]:
    """Two numbers around the place where `above` turns from true to false."""
    for _ in range(N_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if above(middle) else (low, middle)
    return low, high


class ConfidenceDistribution(ABC):
    """What is known about a true value. Its `finest` tail is the smallest at which limits can be
    trusted.
    """

    @property
    def finest_tail(self) -> float:
        return MIN_TAIL

    def missing_limits_reason(self, tail: float) -> str | None:
        """Why the limits at `tail` are only the measure's bounds."""
        return None

    @abstractmethod
    def limits(self, tail: float) -> Interval:
        """The limits beyond each of which lies a share of `tail`."""

    @abstractmethod
    def tail_at(self, cutoff: float, upper: bool) -> float:
        """The tail at which the lower limit touches the cut-off, or the upper one."""

    def confidence_under(self, cutoff: float) -> float:
        return self.tail_at(cutoff, upper=False)

    def confidence_over(self, cutoff: float) -> float:
        return self.tail_at(cutoff, upper=True)


@dataclass(frozen=True)
class Student(ConfidenceDistribution):
    r"""Student's t around the value, :math:`\hat\theta \pm t s`, inside the bounds.

    With `log` it is taken around :math:`\ln(\theta_{max} - \theta)` by the delta method, if there
    is a greatest value above the one found. Then the limits are never beyond it.
    """

    value: float
    error: float
    df: int
    bounds: Bounds
    log: bool = False

    @property
    def _distance_to_max(self) -> float | None:
        distance = self.bounds[1] - self.value
        return distance if self.log and 0 < distance < math.inf else None

    def limits(self, tail: float) -> Interval:
        reach, distance = -quantile(tail, self.df) * self.error, self._distance_to_max
        if distance is None:
            low, high = self.value - reach, self.value + reach
            return Interval(max(low, self.bounds[0]), min(high, self.bounds[1]))
        factor = math.exp(min(reach / distance, MAX_EXPONENT))
        low, high = self.bounds[1] - distance * factor, self.bounds[1] - distance / factor
        return Interval(max(low, self.bounds[0]), high)

    def tail_at(self, cutoff: float, upper: bool) -> float:
        distance, errors = self._distance_to_max, math.inf
        if is_beyond_bounds(cutoff, self.bounds, upper):
            return 0.0
        if distance is None:
            errors = (cutoff - self.value) / self.error
        elif cutoff < self.bounds[1]:
            errors = math.log(distance / (self.bounds[1] - cutoff)) * distance / self.error
        return lower_tail_probability(-errors if upper else errors, self.df)


@dataclass(frozen=True, eq=False)
class Exact(ConfidenceDistribution):
    """Clopper and Pearson's limits, for values that do not vary.

    `unlike` gives the values with as many items unlike all others as the sample may hide at a tail,
    one for each kind. p is found by halving.
    """

    value: float
    unlike: Callable[[float], Array]
    bounds: Bounds

    def limits(self, tail: float) -> Interval:
        unlike_values = self.unlike(tail)
        low, high = (
            np.where(np.isnan(unlike_values), bound, unlike_values) for bound in self.bounds
        )
        return Interval(float(low.min()), float(high.max())).widened_to_include(self.value)

    def tail_at(self, cutoff: float, upper: bool) -> float:
        if (cutoff <= self.value) == upper:
            return 1.0
        if clears_cutoff(self.limits(MIN_TAIL), cutoff, upper):
            return 0.0

        def too_small(power: float) -> bool:
            return not clears_cutoff(self.limits(math.exp(power)), cutoff, upper)

        return math.exp(bisect(math.log(MIN_TAIL), 0.0, too_small)[1])


@dataclass(frozen=True)
class BoundsOnly(ConfidenceDistribution):
    bounds: Bounds
    reason: str

    @property
    def finest_tail(self) -> float:
        return 0.0

    def limits(self, tail: float) -> Interval:
        return Interval(*self.bounds)

    def missing_limits_reason(self, tail: float) -> str | None:
        return self.reason

    def tail_at(self, cutoff: float, upper: bool) -> float:
        return float(not is_beyond_bounds(cutoff, self.bounds, upper))


@dataclass(frozen=True)
class WiderOf(ConfidenceDistribution):
    """The wider limits, and the larger p, of two distributions.

    The second p is computed only if the second limit misses the cut-off at the first p.
    """

    first: ConfidenceDistribution
    second: ConfidenceDistribution

    @property
    def finest_tail(self) -> float:
        return max(self.first.finest_tail, self.second.finest_tail)

    def limits(self, tail: float) -> Interval:
        first_limits, second_limits = self.first.limits(tail), self.second.limits(tail)
        return Interval(
            min(first_limits.low, second_limits.low), max(first_limits.high, second_limits.high)
        )

    def missing_limits_reason(self, tail: float) -> str | None:
        return self.first.missing_limits_reason(tail) or self.second.missing_limits_reason(tail)

    def tail_at(self, cutoff: float, upper: bool) -> float:
        tail = self.first.tail_at(cutoff, upper)
        if tail >= 1 or clears_cutoff(
            self.second.limits(max(tail, self.finest_tail)), cutoff, upper
        ):
            return tail
        return max(tail, self.second.tail_at(cutoff, upper))


@dataclass(frozen=True, eq=False)
class Percentiles(ConfidenceDistribution):
    """The percentiles of resampled values, shape (B,). The interval always holds the value.

    `seen` are the values without unseen items, which pull values towards the middle. The limits are
    the wider ones, and p is the larger one. `raised` have the unseen items that raise the measure
    most, and count for the upper limit alone.

    An undefined resample counts as the smallest value for the lower limit, and as the greatest for
    the upper limit. No limit clears a cut-off beyond the value, so p is one half or more there.
    """

    draws: Array
    value: float
    bounds: Bounds
    seen_draws: Array | None = field(default=None, kw_only=True)
    raised_draws: Array | None = field(default=None, kw_only=True)

    @property
    def finest_tail(self) -> float:
        return MIN_TAIL_DRAWS / len(self.draws)

    def limits(self, tail: float) -> Interval:
        shares = self._share(tail), self._share(1 - tail)
        intervals = [
            quantile_interval(draws, *shares, self.bounds) for draws in self._draw_sets(upper=True)
        ]
        # The raised draws are read last, and for the upper limit alone.
        low = min(interval.low for interval in intervals[: len(self._draw_sets(upper=False))])
        high = max(interval.high for interval in intervals)
        return Interval(low, high).widened_to_include(self.value)

    def tail_at(self, cutoff: float, upper: bool) -> float:
        bound = self.bounds[upper]
        shares_under = [
            float(np.mean(np.where(np.isnan(draws), bound, draws) < cutoff))
            for draws in self._draw_sets(upper)
        ]
        tail = 1 - self._tail(min(shares_under)) if upper else self._tail(max(shares_under))
        return max(tail, 0.5 if (cutoff <= self.value) == upper else 0.0)

    def _draw_sets(self, upper: bool) -> list[Array]:
        draw_sets = [self.draws, self.seen_draws, self.raised_draws if upper else None]
        return [draws for draws in draw_sets if draws is not None]

    def _share(self, tail: float) -> float:
        return tail

    def _tail(self, share: float) -> float:
        return share


@dataclass(frozen=True, eq=False)
class CorrectedPercentiles(Percentiles):
    r"""Percentiles with Efron's (1987) correction of bias and skewness.

    They lie at :math:`\Phi(z_0 + (z_0 + z) / (1 - a (z_0 + z)))`.
    """

    bias: float
    acceleration: float

    def _share(self, tail: float) -> float:
        shifted = self.bias + NORMAL.inv_cdf(tail)
        return NORMAL.cdf(self.bias + shifted / max(1 - self.acceleration * shifted, 1e-9))

    def _tail(self, share: float) -> float:
        if not 0 < share < 1:
            return share
        shifted = NORMAL.inv_cdf(share) - self.bias
        scale = 1 + self.acceleration * shifted
        return NORMAL.cdf(shifted / scale - self.bias) if scale > 0 else float(shifted > 0)


@dataclass(frozen=True, eq=False)
class ExpandedPercentiles(Percentiles):
    r"""Percentiles that lie further out on few items.

    They lie at :math:`\Phi(t \sqrt{(n + 1) / (n - 1)})`, with Student's t of n - 1 degrees of
    freedom. The mean of Dirichlet weights has 1 / (n + 1) of the items' variance, and an error
    1 / (n - 1) of it, and the variance itself is estimated. If no resample lies so far out, the
    limits are the bounds.

    Reference: Hesterberg, T. C. (2015), https://doi.org/10.1080/00031305.2015.1089789
    """

    n: int

    @property
    def finest_tail(self) -> float:
        """The tail of ten resamples of many items, or of one resample if the items are few."""
        return max(super().finest_tail, self._tail_of_one_draw)

    def limits(self, tail: float) -> Interval:
        return Interval(*self.bounds) if self.missing_limits_reason(tail) else super().limits(tail)

    def missing_limits_reason(self, tail: float) -> str | None:
        return None if self._share(tail) >= 1 / len(self.draws) else TOO_FEW_ITEMS

    def tail_at(self, cutoff: float, upper: bool) -> float:
        if is_beyond_bounds(cutoff, self.bounds, upper):
            return 0.0
        return max(super().tail_at(cutoff, upper), self._tail_of_one_draw)

    def relative_reach(self, tail: float, times: float) -> float:
        """The reach of the limits on `times` as many items, as a share of the reach on these."""
        return _expanded_standard_errors(tail, round(self.n * times)) / _expanded_standard_errors(
            tail, self.n
        )

    @property
    def _tail_of_one_draw(self) -> float:
        return self._tail(1 / len(self.draws))

    def _share(self, tail: float) -> float:
        return NORMAL.cdf(_expanded_standard_errors(tail, self.n))

    def _tail(self, share: float) -> float:
        if not 0 < share < 1:
            return share
        return lower_tail_probability(NORMAL.inv_cdf(share) / _expansion_factor(self.n), self.n - 1)


def _expansion_factor(n: int) -> float:
    return math.sqrt((n + 1) / (n - 1))


def _expanded_standard_errors(tail: float, n: int) -> float:
    return _expansion_factor(n) * quantile(tail, n - 1)


def build_expanded_percentiles(
    draws: Array,
    value: float,
    bounds: Bounds,
    n: float,
    *,
    seen_draws: Array | None = None,
    raised_draws: Array | None = None,
) -> ConfidenceDistribution:
    units = round(n)
    if units < MIN_UNITS:
        return BoundsOnly(bounds, TOO_FEW_ITEMS)
    return ExpandedPercentiles(
        draws, value, bounds, units, seen_draws=seen_draws, raised_draws=raised_draws
    )


def estimate_repeat_rate(
    distributions_and_cutoffs: Sequence[tuple[Percentiles, float]], tail: float
) -> float | None:
    r"""How likely the lower limits of another such round reach their cut-offs, from 0 to 1.

    The other round has as many items from the same raters. Both rounds vary around the truth, so
    the other limit differs from this one as two independent resamples differ (Goodman 1992). Of the
    resampled values :math:`\theta_b`, the limit :math:`\theta_l` and the cut-off :math:`\theta_c`,
    take the roots of the distance to the greatest value, :math:`u = \sqrt{\theta_{max} - \theta}`:

    .. math:: \frac{\sum_b u_b [u_l + u_b - u_{b - 1} \le u_c]}{\sum_b u_b}

    The distance is a count of disagreement, whose root varies alike at every value (Bartlett 1936).
    The weights say that before the round, every true value was as likely as any other. Resamples
    without unseen items are read, unless all of them are equal. None if a value has no bound.

    References
    ----------
    Bartlett, M. S. (1936), https://doi.org/10.2307/2983678
    Goodman, S. N. (1992), https://doi.org/10.1002/sim.4780110705

    >>> known = Percentiles(np.linspace(0.8, 0.96, 400), 0.88, (-1.0, 1.0))
    >>> round(estimate_repeat_rate([(known, known.limits(0.025).low - 0.2)], 0.025), 4)
    0.9967
    """
    distances = _measure_distances(distributions_and_cutoffs, tail)
    if distances is None:
        return None
    reached, weights = np.ones(1, dtype=bool), np.ones(1)
    for each in distances:
        reached = reached & (
            each.of_limit + each.of_draws - np.roll(each.of_draws, 1) <= each.of_cutoff
        )
        weights = weights * each.of_draws
    return float(np.average(reached, weights=weights)) if weights.any() else None


def estimate_repeat_range(
    distributions_and_cutoffs: Sequence[tuple[Percentiles, float]], tail: float
) -> tuple[float, float] | None:
    """Between which the rate of `estimate_repeat_rate` lies, as the true value is one or another.

    At least eight in ten of the true values that the round leaves open have a rate between these
    two. The rate at a true value is that of all resamples that vary around it.
    """
    distances = _measure_distances(distributions_and_cutoffs, tail)
    if distances is None:
        return None
    n = len(distances[0].of_draws)
    levels = (np.arange(N_TRUE_VALUES) + 0.5) / N_TRUE_VALUES
    truths = np.argsort(distances[0].of_draws, kind="stable")[(levels * n).astype(int)]
    reached, weights = np.ones((len(truths), n), dtype=bool), np.ones(len(truths))
    for each in distances:
        of_truths = each.of_draws[truths]
        reached &= each.of_limit + of_truths[:, None] - each.of_draws <= each.of_cutoff
        weights = weights * of_truths
    if not weights.any():
        return None
    rates = reached.mean(1)
    order = np.argsort(rates)
    shares = np.cumsum(weights[order]) / weights.sum()
    few, many = rates[order][np.searchsorted(shares, TAILS_OF_RATES)]
    return float(few), float(many)


class _Distances(NamedTuple):
    """The roots of the distances to the greatest value: of each resample, and of the cut-off."""

    of_draws: Array
    of_limit: float
    of_cutoff: float


def _measure_distances(
    distributions_and_cutoffs: Sequence[tuple[Percentiles, float]], tail: float
) -> list[_Distances] | None:
    n = max(len(distribution.draws) for distribution, _ in distributions_and_cutoffs)
    distances = []
    for distribution, cutoff in distributions_and_cutoffs:
        (lowest, greatest), low = distribution.bounds, distribution.limits(tail).low
        draws = (
            distribution.draws
            if distribution.seen_draws is None or not np.ptp(distribution.seen_draws)
            else distribution.seen_draws
        )
        draws = np.where(np.isnan(draws), lowest, draws)
        if not np.isfinite([low, greatest, draws.min()]).all():
            return None
        roots = np.resize(np.sqrt(np.maximum(greatest - draws, 0.0)), n)
        distances.append(_Distances(roots, math.sqrt(greatest - low), math.sqrt(greatest - cutoff)))
    return distances
