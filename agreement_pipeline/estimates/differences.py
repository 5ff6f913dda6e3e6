"""The interval of a difference: of two rounds, two classifiers, two raters, or two measures.

Items that both sides use get the same resampled weights on both. An item that is hard for one side
is often hard for the other too. With equal weights, this does not blur the difference. If items
come in clusters, whole clusters are resampled. An overlap of two intervals is not a test of a
difference, and is never used as one.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from agreement_pipeline.estimates.estimating import DEFAULT
from agreement_pipeline.estimates.prevalences import Prevalences
from agreement_pipeline.estimates.sides import Side, drawn_sides
from agreement_pipeline.intervals import (
    DEFAULT_METHOD,
    METHODS,
    TOO_FEW_DRAWS,
    BoundsOnly,
    ConfidenceDistribution,
    Inference,
    Interval,
    expanded,
)
from agreement_pipeline.ratings import Array
from agreement_pipeline.tables import Tabular
from agreement_pipeline.text import PROBABILITY, in_words

METHOD = f"{METHODS[DEFAULT_METHOD].description}; {METHODS[DEFAULT_METHOD].population}"


@dataclass(frozen=True)
class Difference(Tabular):
    """How much greater one agreement is than another, with its interval.

    Attributes
    ----------
    one, other
        What is compared.
    value, interval
        The difference, one minus other, and its interval; None if undefined. The method
        aims at intervals that contain the true difference in the share `confidence_level` of pairs.
    confidence_level, method
        The level of the interval, and how it was found.
    n_shared
        The number of items that both use; None if the sides were resampled independently.
    values
        The values of one and of other; None if one of them is undefined.
    undefined
        Why there is no difference; None if there is one.
    draws
        The resampled differences.
    prevalences
        How often each side gave each category. None if labels have no categories, or if both sides
        are of one round.
    common_prevalence
        How common each category is on both sides, if items were weighted so. Empty if they could
        not be. None if this was not asked for.
    """

    one: str
    other: str
    value: float | None
    interval: Interval | None
    confidence_level: float
    method: str
    n_shared: int | None = None
    values: tuple[float, float] | None = None
    undefined: str | None = None
    draws: Array | None = field(default=None, repr=False, compare=False)
    prevalences: Prevalences | None = None
    common_prevalence: Mapping[str, float] | None = None

    @property
    def low(self) -> float | None:
        """The lower limit as plain data; None if it is infinite, or without a difference."""
        return self.interval.low if self.interval and math.isfinite(self.interval.low) else None

    @property
    def high(self) -> float | None:
        """The upper limit as plain data; None if it is infinite, or without a difference."""
        return self.interval.high if self.interval and math.isfinite(self.interval.high) else None

    @property
    def share_greater(self) -> float | None:
        """The share of resamples in which one is greater than other.

        It is no probability that one is truly greater: 1 minus it is near a one-sided p-value.
        Undefined resamples do not count as greater. With few items, the interval is wider than the
        quantiles of the resamples. Then it can contain 0 even if this share is beyond its level.
        """
        return None if self.draws is None else float(np.mean(self.draws > 0))

    @property
    def prevalence(self) -> str | None:
        """The prevalence on both sides in words; of the category that differs most."""
        if self.common_prevalence == {}:
            return "none in common"
        if self.common_prevalence is not None:
            shares = (
                f"{name} {in_words(share, PROBABILITY)}"
                for name, share in self.common_prevalence.items()
            )
            return f"both {', '.join(shares)}"
        return None if self.prevalences is None else self.prevalences.farthest

    @property
    def note(self) -> str | None:
        """Why there is no difference, or that prevalence differs. None if neither is so."""
        if self.undefined:
            return f"undefined: {self.undefined}"
        if self.common_prevalence is not None or self.prevalences is None:
            return None
        return self.prevalences.words

    def rows(self) -> Iterator[dict[str, Any]]:
        """The difference in one row."""
        yield {
            "one": self.one,
            "other": self.other,
            "difference": self.value,
            "low": self.low,
            "high": self.high,
            "confidence_level": self.confidence_level,
            "shared_items": self.n_shared,
            "prevalence": self.prevalence,
            "undefined": self.undefined,
        }

    def to_mapping(self) -> dict[str, Any]:
        """The difference as plain data, as the command line prints it."""
        return {
            "one": self.one,
            "other": self.other,
            "values": None if self.values is None else list(self.values),
            "difference": self.value,
            "low": self.low,
            "high": self.high,
            "confidence_level": self.confidence_level,
            "share_greater": self.share_greater,
            "n_shared": self.n_shared,
            "method": self.method,
            "prevalences": None if self.prevalences is None else self.prevalences.to_mapping(),
            "common_prevalence": None
            if self.common_prevalence is None
            else dict(self.common_prevalence),
            "undefined": self.undefined,
        }


def difference(
    one: Side, other: Side, inference: Inference = DEFAULT, *, shared: int | None = None
) -> Difference:
    """One minus other, with its interval.

    - An undefined resample counts as the smallest possible difference for the lower limit, and as
      the greatest for the upper limit.
    - If an expensive measure has too few resamples for the level, the limits are the smallest and
      the greatest possible difference.
    - Unseen items are drawn separately for each side, so sides that never differed may still
      differ. If both sides are one statistic and use equally many items, all is drawn only once.
    - Unseen items have the same share on both sides: the share in the interval of the smaller side.

    Parameters
    ----------
    one, other
        The sides.
    inference
        The level, the number of resamples, and the seed. The method must be the default one.
    shared
        The number of items that both sides use. The rows of both statistics must then be the same
        items with the same weights, row by row. An item that one side lacks is a row without
        ratings. Two measures of one statistic use the same statistic. None if the sides share no
        item and no cluster: then they are resampled independently.

    Raises
    ------
    PolicyError
        A measure is not registered, the method is not the default one, or limits are always valid.
    AgreementError
        Sides that share items do not have the same rows in the same clusters. Or a measure that
        needs every rater's rating meets items without one. Or the category named is not on the
        scale, or the measure has no value for each category.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> from agreement_pipeline.statistics import CategoryCounts
    >>> counts = CategoryCounts([[3, 0], [2, 1], [0, 3]], [40, 20, 40], scale=Scale(("no", "yes")))
    >>> one, other = Side("a", "gwet_ac1", counts), Side("b", "fleiss_kappa", counts)
    >>> found = difference(one, other, shared=100)
    >>> round(found.value, 4), found.interval.low <= found.value <= found.interval.high
    (0.0024, True)
    """
    inference.refuse_other_methods("difference")
    for side in (one, other):
        side.refuse_left_out()
    undefined = [f"{side.name}: {why}" for side in (one, other) if (why := side.why_without())]
    if undefined:
        level, why = inference.confidence_level, "; ".join(undefined)
        return Difference(one.name, other.name, None, None, level, METHOD, shared, undefined=why)
    n = min(inference.n_resamples, one.affordable, other.affordable)
    read, read_other = one.reader(), other.reader()
    blocks = drawn_sides(one, other, shared is not None, n, inference.seed)
    draws = np.concatenate([read(first) - read_other(second) for first, second in blocks])
    values = float(read(one.statistic)), float(read_other(other.statistic))
    known = _distribution(one, other, values, draws, inference)
    return Difference(
        one.name,
        other.name,
        values[0] - values[1],
        known.limits(inference.tail),
        inference.confidence_level,
        _method(one, other, known, n, inference, shared),
        shared,
        values,
        draws=draws,
    )


def _distribution(
    one: Side, other: Side, values: tuple[float, float], draws: Array, inference: Inference
) -> ConfidenceDistribution:
    """The confidence distribution of the true difference."""
    (low, high), (other_low, other_high) = one.record.bounds, other.record.bounds
    bounds = low - other_high, high - other_low
    if inference.too_few(len(draws)):
        return BoundsOnly(bounds, TOO_FEW_DRAWS)
    return expanded(draws, values[0] - values[1], bounds, min(one.units, other.units))


def _method(
    one: Side,
    other: Side,
    known: ConfidenceDistribution,
    n: int,
    inference: Inference,
    shared: int | None,
) -> str:
    """How the interval is found."""
    clustered = one.statistic.clusters or other.statistic.clusters
    fewer = f"{n} " if n < inference.n_resamples else ""
    said = [f"{fewer}{METHOD}", *(["whole clusters"] if clustered else [])]
    said.append(
        "drawn apart" if shared is None else f"paired by {'cluster' if clustered else 'item'}"
    )
    if why := known.why_without(inference.tail):
        said.append(f"{why} for limits at {100 * inference.confidence_level:g} %")
    return "; ".join(said)
