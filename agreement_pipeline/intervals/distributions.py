"""Confidence distributions: what an interval method says about a true value.

The quantiles of a confidence distribution are the limits of an interval. Its share under a cut-off
is the p-value p of the hypothesis that the true value is under the cut-off. Limits and p agree,
since both come from one object: the lower limit at a tail reaches a cut-off exactly if p is at most
that tail.

A *tail* is the share beyond one limit: (1 - confidence level) / 2. An undefined value always
widens the interval, on both sides.

Reference: Xie, M. & Singh, K. (2013). Confidence distribution, the frequentist distribution
estimator of a parameter: a review. International Statistical Review 81(1), 3-39.
https://doi.org/10.1111/insr.12000
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Protocol

import numpy as np

from agreement_pipeline.intervals.draws import Interval
from agreement_pipeline.ratings import Array
from agreement_pipeline.students_t import lower_tail, quantile

FEWEST_TAIL_DRAWS = 10
TOO_FEW_DRAWS, TOO_FEW_ITEMS = "too few draws", "too few items or draws"
FINEST_TAIL = 1e-9
HALVINGS = 60
MOST_POWER = 700.0

NORMAL = NormalDist()
Bounds = tuple[float, float]


def fewest_draws(tail: float) -> int:
    """The fewest resamples of which ten lie beyond a limit at the tail.

    On few items the limits lie further out, so fewer resamples lie beyond them.

    >>> fewest_draws(0.025)
    400
    """
    return math.ceil(FEWEST_TAIL_DRAWS / tail * (1 - 1e-12))


class ConfidenceDistribution(Protocol):
    """What is known about a true value."""

    @property
    def finest(self) -> float:
        """The smallest tail at which the limits can be trusted."""

    def limits(self, tail: float) -> Interval:
        """The limits beyond each of which lies a share of `tail`."""

    def why_without(self, tail: float) -> str | None:
        """Why the limits at `tail` are only the measure's bounds; None if they are not."""

    def under(self, cutoff: float) -> float:
        """The p-value of the hypothesis that the true value is under `cutoff`.

        This is the tail at which the lower limit touches the cut-off.
        """

    def over(self, cutoff: float) -> float:
        """The p-value of the hypothesis that the true value is at `cutoff` or above.

        This is the tail at which the upper limit touches the cut-off.
        """


@dataclass(frozen=True)
class Student:
    r"""Student's t around the value, :math:`\hat\theta \pm t s`, inside the bounds.

    With `log`, Student's t is taken around :math:`\ln(\theta_{max} - \theta)` by the delta method.
    Then the limits are lower near the greatest value, and never beyond it. The logarithm needs a
    greatest value above the value that was found. Otherwise it is not used.
    """

    value: float
    error: float
    df: int
    bounds: Bounds
    log: bool = False

    @property
    def finest(self) -> float:
        """The smallest tail that the arithmetic tells from 0."""
        return FINEST_TAIL

    @property
    def _apart(self) -> float | None:
        """The distance from the value to the greatest one; None without the logarithm."""
        apart = self.bounds[1] - self.value
        return apart if self.log and 0 < apart < math.inf else None

    def limits(self, tail: float) -> Interval:
        """Limits at equal distance from the value, or from its logarithm."""
        reach, apart = -quantile(tail, self.df) * self.error, self._apart
        if apart is None:
            low, high = self.value - reach, self.value + reach
            return Interval(max(low, self.bounds[0]), min(high, self.bounds[1]))
        factor = math.exp(min(reach / apart, MOST_POWER))
        low, high = self.bounds[1] - apart * factor, self.bounds[1] - apart / factor
        return Interval(max(low, self.bounds[0]), high)

    def why_without(self, tail: float) -> str | None:
        """None: every tail has limits of its own."""
        return None

    def under(self, cutoff: float) -> float:
        """Student's lower tail at the cut-off."""
        return 0.0 if cutoff <= self.bounds[0] else lower_tail(self._standardized(cutoff), self.df)

    def over(self, cutoff: float) -> float:
        """Student's upper tail at the cut-off."""
        return 0.0 if cutoff > self.bounds[1] else lower_tail(-self._standardized(cutoff), self.df)

    def _standardized(self, cutoff: float) -> float:
        """How many standard errors the cut-off lies above the value."""
        apart = self._apart
        if apart is None:
            return (cutoff - self.value) / self.error
        if cutoff >= self.bounds[1]:
            return math.inf
        return math.log(apart / (self.bounds[1] - cutoff)) * apart / self.error


@dataclass(frozen=True, eq=False)
class Exact:
    """Clopper and Pearson's limits, for values that do not vary.

    Items unlike all others may exist that the sample does not show. At a tail, they are as frequent
    as the sample allows, and the limits are the smallest and greatest value with such items.
    `unlike` gives these values, one for each kind of unlike item. p is found by halving.
    """

    value: float
    unlike: Callable[[float], Array]
    bounds: Bounds

    @property
    def finest(self) -> float:
        """The smallest tail that the arithmetic tells from 0."""
        return FINEST_TAIL

    def limits(self, tail: float) -> Interval:
        """The smallest and the greatest value with as many unlike items as the tail allows."""
        found = self.unlike(tail)
        low, high = (np.where(np.isnan(found), bound, found) for bound in self.bounds)
        return Interval(float(low.min()), float(high.max())).including(self.value)

    def why_without(self, tail: float) -> str | None:
        """None: every tail has limits of its own."""
        return None

    def under(self, cutoff: float) -> float:
        """The tail at which the lower limit touches the cut-off."""
        return 1.0 if cutoff > self.value else _least(lambda tail: self.limits(tail).low >= cutoff)

    def over(self, cutoff: float) -> float:
        """The tail at which the upper limit touches the cut-off."""
        return 1.0 if cutoff <= self.value else _least(lambda tail: self.limits(tail).high < cutoff)


def _least(met: Callable[[float], bool]) -> float:
    """The smallest tail at which a condition is met; 0 if the finest tail meets it.

    The condition must hold at every larger tail too.
    """
    if met(FINEST_TAIL):
        return 0.0
    low, high = math.log(FINEST_TAIL), 0.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if met(math.exp(middle)) else (middle, high)
    return math.exp(high)


@dataclass(frozen=True)
class BoundsOnly:
    """Nothing is known but the measure's bounds; `why` says why."""

    bounds: Bounds
    why: str

    @property
    def finest(self) -> float:
        """0, since the limits are the bounds at every tail."""
        return 0.0

    def limits(self, tail: float) -> Interval:
        """The bounds."""
        return Interval(*self.bounds)

    def why_without(self, tail: float) -> str | None:
        """The reason is the same at every tail."""
        return self.why

    def under(self, cutoff: float) -> float:
        """1, unless the measure is never under the cut-off."""
        return float(cutoff > self.bounds[0])

    def over(self, cutoff: float) -> float:
        """1, unless the measure never reaches the cut-off."""
        return float(cutoff <= self.bounds[1])


@dataclass(frozen=True)
class WiderOf:
    """What two distributions both say: the wider limits, and the larger p."""

    one: ConfidenceDistribution
    other: ConfidenceDistribution

    @property
    def finest(self) -> float:
        """The smallest tail of the coarser distribution."""
        return max(self.one.finest, self.other.finest)

    def limits(self, tail: float) -> Interval:
        """The lower of the lower limits, and the higher of the upper ones."""
        one, other = self.one.limits(tail), self.other.limits(tail)
        return Interval(min(one.low, other.low), max(one.high, other.high))

    def why_without(self, tail: float) -> str | None:
        """The reason of either distribution."""
        return self.one.why_without(tail) or self.other.why_without(tail)

    def under(self, cutoff: float) -> float:
        """The larger p.

        The second p is computed only if the second lower limit misses the cut-off at the first p.
        """
        tail = self.one.under(cutoff)
        if tail >= 1 or self.other.limits(max(tail, self.finest)).low >= cutoff:
            return tail
        return max(tail, self.other.under(cutoff))

    def over(self, cutoff: float) -> float:
        """The larger p, found in the same way."""
        tail = self.one.over(cutoff)
        if tail >= 1 or self.other.limits(max(tail, self.finest)).high < cutoff:
            return tail
        return max(tail, self.other.over(cutoff))
