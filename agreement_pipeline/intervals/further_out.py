"""Limits of another distribution, moved further out because a round is judged more than once."""

from dataclasses import dataclass
from typing import Protocol

from agreement_pipeline.intervals.distributions import (
    TOO_FEW_ITEMS,
    Bounds,
    ConfidenceDistribution,
)
from agreement_pipeline.intervals.draws import Interval


class Boundary(Protocol):
    """How far out limits lie. The two methods are inverse to each other."""

    def beyond(self, tail: float) -> float:
        """The tail of a single look at which the limits lie, for a tail of all looks together."""

    def overall(self, tail: float) -> float:
        """The tail of all looks together whose limits lie at the tail of a single one.

        At most one half.
        """


@dataclass(frozen=True, eq=False)
class FurtherOut:
    """The limits of another distribution, moved further out.

    With few resamples or few items, the other distribution is too coarse for limits so far out.
    Then the limits are the bounds. The p-value is half of the smallest level at which the interval
    leaves the cut-off out. So it is read like any other p-value.

    Parameters
    ----------
    once
        What is known if the round is judged once.
    boundary
        How far out the limits lie.
    bounds
        Of the measure.
    """

    once: ConfidenceDistribution
    boundary: Boundary
    bounds: Bounds

    @property
    def finest(self) -> float:
        """The smallest p-value that the other distribution can tell."""
        return self._overall(self.once.finest)

    def limits(self, tail: float) -> Interval:
        """The other distribution's limits at the tail of a single look."""
        return (
            Interval(*self.bounds)
            if self.why_without(tail)
            else self.once.limits(self.boundary.beyond(tail))
        )

    def why_without(self, tail: float) -> str | None:
        """The reason if the other distribution is too coarse for limits so far out."""
        beyond = self.boundary.beyond(tail)
        return TOO_FEW_ITEMS if beyond < self.once.finest else self.once.why_without(beyond)

    def under(self, cutoff: float) -> float:
        """The tail at which the lower limit touches the cut-off."""
        return (
            0.0
            if cutoff <= self.bounds[0]
            else self._overall(max(self.once.under(cutoff), self.once.finest))
        )

    def over(self, cutoff: float) -> float:
        """The tail at which the upper limit touches the cut-off."""
        return (
            0.0
            if cutoff > self.bounds[1]
            else self._overall(max(self.once.over(cutoff), self.once.finest))
        )

    def _overall(self, tail: float) -> float:
        if tail > 0.5:
            return 1 - self._overall(1 - tail)
        return 0.0 if tail <= 0 else self.boundary.overall(tail)
