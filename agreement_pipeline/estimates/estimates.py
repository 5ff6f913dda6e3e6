"""An estimate: a measure's value with its interval, or the reason why there is no value."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from agreement_pipeline.estimates.scope import Scope
from agreement_pipeline.intervals import (
    ConfidenceDistribution,
    Interval,
    Looks,
    Percentiles,
    Population,
)
from agreement_pipeline.ratings import Array
from agreement_pipeline.tables import Tabular
from agreement_pipeline.text import p_in_words


@dataclass(frozen=True)
class Estimate(Tabular):
    """A measure on a scope, with its interval.

    Attributes
    ----------
    measure, scope
        The registered name of the measure, and what the estimate is about.
    value, interval
        None if undefined. The method aims at intervals that contain the true value in the share
        `confidence_level` of rounds. Intervals for several looks aim at it for all of them
        together. A limit is infinite if too many resamples are undefined and the measure has no
        bound on that side.
    confidence_level, method
        The level of the interval, and how it was found.
    observed, expected
        Observed agreement and chance agreement, from which the value is computed.
    n_items, n_raters, n_ratings
        What the value is computed from. `n_raters` counts the raters of the items on which
        agreement is read.
    n_clusters
        The clusters of the items on which agreement is read; None if items do not come in clusters.
    dropped
        The number of items on which agreement cannot be read, for each reason, such as one rating.
    lowest
        For a measure of every category, the category whose value is the round's value.
    on_marking
        For units of marked objects, the share of the disagreement that is on marking. There, the
        other rater said *none*. The rest is on naming. It is about the lowest category, or that of
        the scope. It is 0 if the names alone are asked. None without a category *none*.
    undefined
        Why there is no value; None if there is one.
    convention, categories
        How the measure treats missing ratings, and the categories in order. A continuous scale has
        no categories.
    raters_left_out
        The raters of the round who do not count in the estimate. Their replicates, or their
        confidence, are missing or show nothing.
    always_valid_at
        The number of items at which always valid limits are tightest; None for a round that is
        judged once.
    looks, judged_on
        The plan of the looks, and the number of items (or clusters) of the round at this one. None
        for a round without a plan.
    chosen
        A small p-value of the hypothesis that ratings are missing completely at random. None if it
        is not small, or if the measure is hardly biased.
    prevailing
        The category of nearly all labels, and its share of them. None if there is none.
    population
        Whether the interval is about these raters on other items, or about raters at large.
    distribution
        The confidence distribution of the true value. The interval shows its limits at one level.
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
    on_marking: float | None = None
    undefined: str | None = None
    dropped: Mapping[str, int] = field(default_factory=dict, hash=False)
    convention: str = ""
    categories: tuple[str, ...] = ()
    raters_left_out: tuple[str, ...] = ()
    n_clusters: int | None = None
    always_valid_at: int | None = None
    looks: Looks | None = None
    judged_on: int | None = None
    chosen: float | None = None
    prevailing: tuple[str, float] | None = None
    population: Population = "these raters"
    distribution: ConfidenceDistribution | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        valued, limited = self.value is not None, self.interval is not None
        if valued == (self.undefined is not None) or valued != limited:
            raise ValueError(
                f"estimate of {self.measure}: found value {self.value}, interval {self.interval}, "
                f"undefined {self.undefined!r}; expected a value with an interval, or a reason."
            )
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(
                f"estimate of {self.measure}: found value {self.value}; expected a finite number."
            )

    @property
    def n_dropped(self) -> int:
        """The number of items on which agreement cannot be read."""
        return sum(self.dropped.values())

    @property
    def n_used(self) -> int:
        """The number of items on which agreement is read."""
        return self.n_items - self.n_dropped

    @property
    def n_apart(self) -> int:
        """The number of clusters on which agreement is read, or of items that have no clusters."""
        return self.n_used if self.n_clusters is None else self.n_clusters

    @property
    def low(self) -> float | None:
        """The lower limit as plain data; None if it is infinite, or if there is no value."""
        return self.interval.low if self.interval and math.isfinite(self.interval.low) else None

    @property
    def high(self) -> float | None:
        """The upper limit as plain data; None if it is infinite, or if there is no value."""
        return self.interval.high if self.interval and math.isfinite(self.interval.high) else None

    @property
    def draws(self) -> Array | None:
        """The resampled values; None if there are none."""
        return self.distribution.draws if isinstance(self.distribution, Percentiles) else None

    @property
    def without_limits(self) -> str | None:
        """Why the limits are only the measure's bounds; None if they are not, or if undefined."""
        return (
            None
            if self.distribution is None
            else self.distribution.why_without((1 - self.confidence_level) / 2)
        )

    def p_value(self, cutoff: float) -> float | None:
        """The p-value of the hypothesis that the true value is under `cutoff`; None if undefined.

        It is the tail at which the lower limit is exactly the cut-off. It never falls as the
        cut-off rises. The lower limit at a confidence level of 1 - α reaches the cut-off if p is at
        most α/2. It is not the probability that the true value is under the cut-off.
        """
        return None if self.distribution is None else self.distribution.under(cutoff)

    def to_mapping(self) -> dict[str, Any]:
        """The estimate as plain data, as the command line prints it."""
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
            "misled": self.misled,
        }

    @property
    def misled(self) -> str | None:
        """Why ratings that depend on what others said bias the measure; None if none do."""
        if self.chosen is None:
            return None
        return (
            "items with more ratings differ in how much their raters agree "
            f"({p_in_words(self.chosen)}), which biases this measure; "
            "krippendorff_alpha is biased far less"
        )

    def rows(self) -> Iterator[dict[str, Any]]:
        """The estimate in one row."""
        yield {
            "measure": self.measure,
            "scope": str(self.scope),
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "confidence_level": self.confidence_level,
            "items": self.n_used,
            "raters": self.n_raters,
            "ratings": self.n_ratings,
            "lowest": self.lowest,
            "misled": self.misled,
            "undefined": self.undefined,
        }
