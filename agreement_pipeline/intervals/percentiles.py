"""Confidence distributions of resamples: percentiles, as they are, corrected, or expanded."""

import math
from dataclasses import dataclass, field

import numpy as np

from agreement_pipeline.intervals.distributions import (
    FEWEST_TAIL_DRAWS,
    NORMAL,
    TOO_FEW_ITEMS,
    Bounds,
    BoundsOnly,
    ConfidenceDistribution,
)
from agreement_pipeline.intervals.draws import Interval, quantile_interval
from agreement_pipeline.ratings import Array
from agreement_pipeline.students_t import lower_tail, quantile

FEWEST_UNITS = 2


@dataclass(frozen=True, eq=False)
class Percentiles:
    """The percentiles of resampled values, shape (B,). The interval always holds the value.

    `seen` are the values under the same resamples without unseen disagreement. Unseen items pull
    values towards the middle. So a low value gets too high a lower limit from them, and a high
    value too low an upper limit. The limits are the wider ones, and p is the larger one.

    `raised` are the values under the same resamples with unseen items that raise the measure most.
    They count for the upper limit alone.

    An undefined resample counts as the smallest value for the lower limit, and as the greatest for
    the upper limit. A cut-off above the value has a p of one half at least, since no lower limit
    reaches it.
    """

    draws: Array
    value: float
    bounds: Bounds
    seen: Array | None = field(default=None, kw_only=True)
    raised: Array | None = field(default=None, kw_only=True)

    @property
    def finest(self) -> float:
        """The share of ten resamples."""
        return FEWEST_TAIL_DRAWS / len(self.draws)

    def limits(self, tail: float) -> Interval:
        """Percentiles of the resamples."""
        limits = [
            quantile_interval(each, self._share(tail), self._share(1 - tail), self.bounds)
            for each in self._of_upper
        ]
        return Interval(
            min(each.low for each in limits[: len(self._of_lower)]),
            max(each.high for each in limits),
        ).including(self.value)

    def why_without(self, tail: float) -> str | None:
        """None: every tail has limits of its own."""
        return None

    def under(self, cutoff: float) -> float:
        """The share of resamples under the cut-off."""
        share = max(_shares_under(self._of_lower, cutoff, self.bounds[0]))
        return max(self._tail(share), 0.5 if cutoff > self.value else 0.0)

    def over(self, cutoff: float) -> float:
        """The share of resamples at the cut-off or above."""
        share = min(_shares_under(self._of_upper, cutoff, self.bounds[1]))
        return max(1 - self._tail(share), 0.5 if cutoff <= self.value else 0.0)

    @property
    def _of_lower(self) -> list[Array]:
        """The resampled values with unseen disagreement, and without it if they are known."""
        return [self.draws] if self.seen is None else [self.draws, self.seen]

    @property
    def _of_upper(self) -> list[Array]:
        """The same values, and those with unseen items that raise the measure if they are known."""
        return self._of_lower if self.raised is None else [*self._of_lower, self.raised]

    def _share(self, tail: float) -> float:
        """The percentile that is the limit at a tail."""
        return tail

    def _tail(self, share: float) -> float:
        """The tail whose limit is that percentile."""
        return share


def _shares_under(draws: list[Array], cutoff: float, undefined: float) -> list[float]:
    """The shares of resamples under the cut-off, where undefined ones count as a bound."""
    return [float(np.mean(np.where(np.isnan(each), undefined, each) < cutoff)) for each in draws]


@dataclass(frozen=True, eq=False)
class CorrectedPercentiles(Percentiles):
    r"""Percentiles with Efron's (1987) correction of bias and skewness.

    They lie at :math:`\Phi(z_0 + (z_0 + z) / (1 - a (z_0 + z)))`.
    """

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
class ExpandedPercentiles(Percentiles):
    r"""Percentiles that lie further out on few items.

    They lie at :math:`\Phi(t \sqrt{(n + 1) / (n - 1)})`, with Student's t of n - 1 degrees of
    freedom. Two things make plain percentiles too narrow:

    - The mean of Dirichlet weights has 1 / (n + 1) of the items' variance; an error has
      1 / (n - 1) of it.
    - The variance itself is estimated.

    If no resample lies so far out, the limits are the bounds.

    Reference: Hesterberg, T. C. (2015). What teachers should know about the bootstrap: resampling
    in the undergraduate statistics curriculum. The American Statistician 69(4), 371-386.
    https://doi.org/10.1080/00031305.2015.1089789
    """

    n: int

    @property
    def finest(self) -> float:
        """The tail of ten resamples of many items, or of one resample if the items are few."""
        return max(super().finest, self._tail(self._of_one_draw))

    def limits(self, tail: float) -> Interval:
        """Percentiles of the resamples, or the bounds."""
        return Interval(*self.bounds) if self.why_without(tail) else super().limits(tail)

    def why_without(self, tail: float) -> str | None:
        """No resample lies as far out as the limits at this tail."""
        return None if self._share(tail) >= self._of_one_draw else TOO_FEW_ITEMS

    def under(self, cutoff: float) -> float:
        """The tail at which the lower limit touches the cut-off."""
        if cutoff <= self.bounds[0]:
            return 0.0
        return max(super().under(cutoff), self._tail(self._of_one_draw))

    def over(self, cutoff: float) -> float:
        """The tail at which the upper limit touches the cut-off."""
        if cutoff > self.bounds[1]:
            return 0.0
        return max(super().over(cutoff), self._tail(self._of_one_draw))

    def relative_reach(self, tail: float, times: float) -> float:
        """The reach of the limits on `times` as many items, as a share of the reach on these."""
        return _reach(tail, round(self.n * times)) / _reach(tail, self.n)

    @property
    def _of_one_draw(self) -> float:
        return 1 / len(self.draws)

    def _share(self, tail: float) -> float:
        return NORMAL.cdf(_reach(tail, self.n))

    def _tail(self, share: float) -> float:
        if not 0 < share < 1:
            return share
        return lower_tail(NORMAL.inv_cdf(share) / _stretch(self.n), self.n - 1)


def _stretch(n: int) -> float:
    """The factor by which resamples of n items vary too little."""
    return math.sqrt((n + 1) / (n - 1))


def _reach(tail: float, n: int) -> float:
    """The distance of the limit on n items, in standard errors of the resamples."""
    return _stretch(n) * quantile(tail, n - 1)


def expanded(
    draws: Array,
    value: float,
    bounds: Bounds,
    n: float,
    *,
    seen: Array | None = None,
    raised: Array | None = None,
) -> ConfidenceDistribution:
    """Expanded percentiles of resamples of n items, or of clusters that say as much.

    With fewer than two items or clusters, nothing is known but the bounds.
    """
    units = round(n)
    if units < FEWEST_UNITS:
        return BoundsOnly(bounds, TOO_FEW_ITEMS)
    return ExpandedPercentiles(draws, value, bounds, units, seen=seen, raised=raised)
