"""A measure's value with its uncertainty, what it rests on, and why it has none."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agreement_pipeline.estimates.scope import Scope
from agreement_pipeline.intervals import ConfidenceDistribution, Interval, Percentiles, Population
from agreement_pipeline.ratings import Array


@dataclass(frozen=True)
class Estimate:
    """A measure on a scope, with its interval.

    Attributes
    ----------
    measure, scope
        The registry name, and what it speaks of.
    value, interval
        None where undefined; the interval holds the true value with `confidence_level`; always valid, at every number of items the round may have.
        A limit is infinite where too many draws are undefined for a measure without a bound to give one.
    confidence_level, method
        Of the interval.
    observed, expected
        The coefficient's parts.
    n_items, n_raters, n_ratings
        What it rests on; of raters, those who rated an item that agreement is read on.
    n_clusters
        The clusters that the items stand in on which agreement was read; None where items come one by one.
    dropped
        Items on which agreement could not be read: how many, by what they have.
    lowest
        For a measure of every category, the category whose value the round's own value is.
    undefined
        Why there is no value; None where there is one.
    convention, categories
        How the measure counts missing ratings, and the categories in order; none on a continuous scale.
    raters_left_out
        The raters of the round whom it does not speak of: their replicates, or their confidence, are missing or show nothing.
    always_valid_at
        The items at which limits that hold at any time are tightest; None where they are of a round judged once.
    population
        Whether the interval speaks of these raters on other items, or of raters at large.
    distribution
        What is known of the true value, of which the interval shows the limits at one level.
    """

    measure: str
    scope: Scope
    value: float | None
    interval: Interval | None
    confidence_level: float
    method: str
    n_items: int
    n_raters: int
    n_ratings: int
    observed: float | None = None
    expected: float | None = None
    lowest: str | None = None
    undefined: str | None = None
    dropped: Mapping[str, int] = field(default_factory=dict, hash=False)
    convention: str = ""
    categories: tuple[str, ...] = ()
    raters_left_out: tuple[str, ...] = ()
    n_clusters: int | None = None
    always_valid_at: int | None = None
    population: Population = "these raters"
    distribution: ConfidenceDistribution | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if (self.value is None) == (self.undefined is None) or (self.value is None) != (
            self.interval is None
        ):
            raise ValueError(
                f"estimate of {self.measure}: a value with an interval, or a reason why it is undefined, is required; exactly one of them."
            )
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(
                f"estimate of {self.measure}: value {self.value} found; a finite number is required."
            )

    @property
    def n_dropped(self) -> int:
        """Items on which agreement could not be read."""
        return sum(self.dropped.values())

    @property
    def n_used(self) -> int:
        """Items on which agreement was read."""
        return self.n_items - self.n_dropped

    @property
    def low(self) -> float | None:
        """The lower limit as plain data; None where it is without limit, or there is no value."""
        return self.interval.low if self.interval and math.isfinite(self.interval.low) else None

    @property
    def high(self) -> float | None:
        """The upper limit as plain data; None where it is without limit, or there is no value."""
        return self.interval.high if self.interval and math.isfinite(self.interval.high) else None

    @property
    def draws(self) -> Array | None:
        """The resampled values; None where there are none."""
        return self.distribution.draws if isinstance(self.distribution, Percentiles) else None

    @property
    def without_limits(self) -> str | None:
        """Of what there is too little, where the limits are no more than the measure's bounds; None where they are limits of its own, or there are none."""
        return (
            None
            if self.distribution is None
            else self.distribution.why_without((1 - self.confidence_level) / 2)
        )

    def miss_probability(self, cutoff: float) -> float | None:
        """The probability q that the true value is under `cutoff`: the tail at which the lower limit would touch it; None where there is no value.

        It never falls as the cut-off rises, and the lower limit at a confidence level of 1 - α reaches the cut-off where q is at most α/2.
        """
        return None if self.distribution is None else self.distribution.under(cutoff)

    def to_mapping(self) -> dict[str, Any]:
        """The estimate as plain data, in the form the command line prints."""
        return {
            "measure": self.measure,
            "scope": str(self.scope),
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "confidence_level": self.confidence_level,
            "method": self.method,
            "n_items": self.n_items,
            "n_dropped": self.n_dropped,
            "dropped": dict(self.dropped),
            "n_raters": self.n_raters,
            "n_ratings": self.n_ratings,
            "n_clusters": self.n_clusters,
            "observed": self.observed,
            "expected": self.expected,
            "lowest": self.lowest,
            "convention": self.convention,
            "categories": list(self.categories),
            "undefined": self.undefined,
            "raters_left_out": list(self.raters_left_out),
        }
