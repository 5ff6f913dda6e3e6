"""What an interval method knows of a true value, as a confidence distribution: its quantiles are the limits, its share under a cut-off is q.

Both are read off one object, so that they are dual: the lower limit at a tail reaches a cut-off exactly where q is at most that tail. A tail is the
share beyond one limit, half of what is short of the confidence level. What is undefined counts against every statement, on either side.

Reference: Xie, M. & Singh, K. (2013). Confidence distribution, the frequentist distribution estimator of a parameter: a review. International
Statistical Review 81(1), 3-39. https://doi.org/10.1111/insr.12000
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Protocol

import numpy as np

from agreement_pipeline.intervals.draws import Interval, quantile_interval
from agreement_pipeline.measures._student import lower_tail, quantile
from agreement_pipeline.ratings import Array

FEWEST_TAIL_DRAWS = 10
FEWEST_UNITS = 2
TOO_FEW_DRAWS, TOO_FEW_ITEMS = "too few draws", "too few items or draws"
FINEST_TAIL = 1e-9
HALVINGS = 60
MOST_POWER = 700.0

NORMAL = NormalDist()
Bounds = tuple[float, float]


def fewest_draws(tail: float) -> int:
    """The fewest draws of which ten lie beyond a limit at the tail; on few items, where limits lie further out, fewer do.

    >>> fewest_draws(0.025)
    400
    """
    return math.ceil(FEWEST_TAIL_DRAWS / tail * (1 - 1e-12))


class ConfidenceDistribution(Protocol):
    """What is known of a true value."""

    @property
    def finest(self) -> float:
        """The least tail at which its limits are to be trusted: ten draws, or what the arithmetic can tell from nothing."""

    def limits(self, tail: float) -> Interval:
        """The limits beyond each of which lies a share of `tail`."""

    def why_without(self, tail: float) -> str | None:
        """Of what there is too little for limits at `tail`, so that they are the bounds; None where they are limits of its own."""

    def under(self, cutoff: float) -> float:
        """The probability q that the true value is under `cutoff`: the tail at which the lower limit would touch it."""

    def over(self, cutoff: float) -> float:
        """The probability that the true value is at `cutoff` or above: the tail at which the upper limit would touch it."""


@dataclass(frozen=True, eq=False)
class OfDraws:
    """The quantiles of draws, shape (B,), wide enough to hold the value.

    A draw in which the measure is undefined is its least value below and its greatest above. A cut-off above the value, which no lower limit
    reaches, has a q of a half at the least.
    """

    draws: Array
    value: float
    bounds: Bounds

    @property
    def finest(self) -> float:
        """The share of ten draws."""
        return FEWEST_TAIL_DRAWS / len(self.draws)

    def limits(self, tail: float) -> Interval:
        """Quantiles of the draws."""
        return quantile_interval(
            self.draws, self._share(tail), self._share(1 - tail), self.bounds
        ).including(self.value)

    def why_without(self, tail: float) -> str | None:
        """They are its own at every tail."""
        return None

    def under(self, cutoff: float) -> float:
        """The share of draws under it."""
        share = float(np.mean(np.where(np.isnan(self.draws), self.bounds[0], self.draws) < cutoff))
        return max(self._tail(share), 0.5 if cutoff > self.value else 0.0)

    def over(self, cutoff: float) -> float:
        """The share of draws that are not."""
        share = float(np.mean(np.where(np.isnan(self.draws), self.bounds[1], self.draws) < cutoff))
        return max(1 - self._tail(share), 0.5 if cutoff <= self.value else 0.0)

    def _share(self, tail: float) -> float:
        """Which quantile of the draws is the limit at a tail."""
        return tail

    def _tail(self, share: float) -> float:
        """The tail of which that quantile is the limit."""
        return share


@dataclass(frozen=True, eq=False)
class Corrected(OfDraws):
    r"""The same with Efron's (1987) correction, the quantiles :math:`\Phi(z_0 + (z_0 + z) / (1 - a (z_0 + z)))`."""

    bias: float
    acceleration: float

    def _share(self, tail: float) -> float:
        moved = self.bias + NORMAL.inv_cdf(tail)
        return NORMAL.cdf(self.bias + moved / max(1 - self.acceleration * moved, 1e-9))

    def _tail(self, share: float) -> float:
        if not 0 < share < 1:
            return share
        moved = NORMAL.inv_cdf(share) - self.bias
        scale = 1 + self.acceleration * moved
        return NORMAL.cdf(moved / scale - self.bias) if scale > 0 else float(moved > 0)


@dataclass(frozen=True, eq=False)
class Expanded(OfDraws):
    r"""The same with tails for few items: the quantile at :math:`\Phi(t \sqrt{(n + 1) / (n - 1)})`, Student's t with n - 1 degrees of freedom.

    Draws of Dirichlet weights vary by 1 / (n + 1) of the items' variance about their own mean, where an error's is 1 / (n - 1) of it; and it is
    estimated, which quantiles of draws do not know. Where no draw lies so far out, the limits are the bounds.

    Reference: Hesterberg, T. C. (2015). What teachers should know about the bootstrap: resampling in the undergraduate statistics curriculum. The
    American Statistician 69(4), 371-386. https://doi.org/10.1080/00031305.2015.1089789
    """

    n: int

    @property
    def finest(self) -> float:
        """The tail beyond which ten draws of many items lie, or where the items are so few that none does, that of the least draw."""
        return max(super().finest, self._tail(self._of_one_draw))

    def limits(self, tail: float) -> Interval:
        """Quantiles of the draws."""
        return Interval(*self.bounds) if self.why_without(tail) else super().limits(tail)

    def why_without(self, tail: float) -> str | None:
        """No draw lies as far out as the limits at this tail."""
        return None if self._share(tail) >= self._of_one_draw else TOO_FEW_ITEMS

    def under(self, cutoff: float) -> float:
        """The tail at which the lower limit would touch it."""
        return (
            0.0
            if cutoff <= self.bounds[0]
            else max(super().under(cutoff), self._tail(self._of_one_draw))
        )

    def over(self, cutoff: float) -> float:
        """The tail at which the upper limit would touch it."""
        return (
            0.0
            if cutoff > self.bounds[1]
            else max(super().over(cutoff), self._tail(self._of_one_draw))
        )

    def kept(self, tail: float, times: float) -> float:
        """How much of that reach is left on so many times the items."""
        return _reach(tail, round(self.n * times)) / _reach(tail, self.n)

    @property
    def _of_one_draw(self) -> float:
        return 1 / len(self.draws)

    def _share(self, tail: float) -> float:
        return NORMAL.cdf(_reach(tail, self.n))

    def _tail(self, share: float) -> float:
        return (
            lower_tail(NORMAL.inv_cdf(share) / _stretch(self.n), self.n - 1)
            if 0 < share < 1
            else share
        )


def _stretch(n: int) -> float:
    """By how much draws vary too little on n items."""
    return math.sqrt((n + 1) / (n - 1))


def _reach(tail: float, n: int) -> float:
    """How many of the draws' own errors the limit lies out on n items."""
    return _stretch(n) * quantile(tail, n - 1)


def expanded(draws: Array, value: float, bounds: Bounds, n: float) -> ConfidenceDistribution:
    """What draws that rest on n items, or on as many clusters as say as much, know of the true value; of fewer than two nothing."""
    units = round(n)
    return (
        Expanded(draws, value, bounds, units)
        if units >= FEWEST_UNITS
        else Anything(bounds, TOO_FEW_ITEMS)
    )


@dataclass(frozen=True)
class Student:
    r"""Student's t about the value, :math:`\hat\theta \pm t s`, inside the bounds; or so about :math:`\ln(\theta_{max} - \theta)`, by the delta method.

    The logarithm puts limits lower near the greatest value, and never past it; it needs a greatest value, and one that was not reached.
    """

    value: float
    error: float
    df: int
    bounds: Bounds
    log: bool = False

    @property
    def finest(self) -> float:
        """What the arithmetic can tell from nothing."""
        return FINEST_TAIL

    @property
    def _apart(self) -> float | None:
        """How far the value is from the greatest; None where the logarithm of that is not taken."""
        apart = self.bounds[1] - self.value
        return apart if self.log and 0 < apart < math.inf else None

    def limits(self, tail: float) -> Interval:
        """As far to either side."""
        reach, apart = -quantile(tail, self.df) * self.error, self._apart
        if apart is None:
            return Interval(
                max(self.value - reach, self.bounds[0]), min(self.value + reach, self.bounds[1])
            )
        factor = math.exp(min(reach / apart, MOST_POWER))
        return Interval(
            max(self.bounds[1] - apart * factor, self.bounds[0]), self.bounds[1] - apart / factor
        )

    def why_without(self, tail: float) -> str | None:
        """They are its own at every tail."""
        return None

    def under(self, cutoff: float) -> float:
        """Student's lower tail at the cut-off."""
        return 0.0 if cutoff <= self.bounds[0] else lower_tail(self._standardized(cutoff), self.df)

    def over(self, cutoff: float) -> float:
        """Student's upper tail at the cut-off."""
        return 0.0 if cutoff > self.bounds[1] else lower_tail(-self._standardized(cutoff), self.df)

    def _standardized(self, cutoff: float) -> float:
        """How many standard errors the cut-off is above the value."""
        apart = self._apart
        if apart is None:
            return (cutoff - self.value) / self.error
        return (
            math.inf
            if cutoff >= self.bounds[1]
            else math.log(apart / (self.bounds[1] - cutoff)) * apart / self.error
        )


@dataclass(frozen=True, eq=False)
class Exact:
    """Clopper and Pearson's limits where nothing varies: the values between which the measure stays while unlike items are no more frequent than that.

    `unlike` gives the values at a tail, one for each kind of unlike item. The further the tail, the more such items there may be, and the lower the
    lower limit: q is found by halving.
    """

    value: float
    unlike: Callable[[float], Array]
    bounds: Bounds

    @property
    def finest(self) -> float:
        """What the arithmetic can tell from nothing."""
        return FINEST_TAIL

    def limits(self, tail: float) -> Interval:
        """The least and the greatest value at that frequency."""
        found = self.unlike(tail)
        low, high = (np.where(np.isnan(found), bound, found) for bound in self.bounds)
        return Interval(float(low.min()), float(high.max())).including(self.value)

    def why_without(self, tail: float) -> str | None:
        """They are its own at every tail."""
        return None

    def under(self, cutoff: float) -> float:
        """The tail at which the lower limit would touch it."""
        return 1.0 if cutoff > self.value else _least(lambda tail: self.limits(tail).low >= cutoff)

    def over(self, cutoff: float) -> float:
        """The tail at which the upper limit would touch it."""
        return 1.0 if cutoff <= self.value else _least(lambda tail: self.limits(tail).high < cutoff)


@dataclass(frozen=True)
class Anything:
    """Nothing is known but the measure's bounds, and of what there is too little to know more."""

    bounds: Bounds
    why: str

    @property
    def finest(self) -> float:
        """Whatever the tail, the limits are the bounds."""
        return 0.0

    def limits(self, tail: float) -> Interval:
        """The bounds."""
        return Interval(*self.bounds)

    def why_without(self, tail: float) -> str | None:
        """The same at every tail."""
        return self.why

    def under(self, cutoff: float) -> float:
        """1, unless the measure is never under it."""
        return float(cutoff > self.bounds[0])

    def over(self, cutoff: float) -> float:
        """1, unless the measure never reaches it."""
        return float(cutoff <= self.bounds[1])


@dataclass(frozen=True)
class Wider:
    """What two distributions both say: the wider limits, and the larger q."""

    one: ConfidenceDistribution
    other: ConfidenceDistribution

    @property
    def finest(self) -> float:
        """That of the coarser one."""
        return max(self.one.finest, self.other.finest)

    def limits(self, tail: float) -> Interval:
        """The lower of the lower limits, and the higher of the upper ones."""
        one, other = self.one.limits(tail), self.other.limits(tail)
        return Interval(min(one.low, other.low), max(one.high, other.high))

    def why_without(self, tail: float) -> str | None:
        """That of either."""
        return self.one.why_without(tail) or self.other.why_without(tail)

    def under(self, cutoff: float) -> float:
        """The larger q; that of the second is looked for only where its lower limit there does not reach the cut-off too."""
        tail = self.one.under(cutoff)
        return (
            tail
            if tail >= 1 or self.other.limits(max(tail, self.finest)).low >= cutoff
            else max(tail, self.other.under(cutoff))
        )

    def over(self, cutoff: float) -> float:
        """The larger probability, in the same way."""
        tail = self.one.over(cutoff)
        return (
            tail
            if tail >= 1 or self.other.limits(max(tail, self.finest)).high < cutoff
            else max(tail, self.other.over(cutoff))
        )


def _least(met: Callable[[float], bool]) -> float:
    """The least tail at which a condition is met that is met at all further ones; 0 where it is met at the finest."""
    if met(FINEST_TAIL):
        return 0.0
    low, high = math.log(FINEST_TAIL), 0.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if met(math.exp(middle)) else (middle, high)
    return math.exp(high)
