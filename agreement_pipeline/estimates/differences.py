"""The interval of a difference: of two rounds, two classifiers or two raters.

Items that both sides use get the same resampled weights on both. If items come in clusters, whole
clusters are resampled. An overlap of two intervals is not a test of a difference, and is never used
as one.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from agreement_pipeline.errors import AgreementError
from agreement_pipeline.estimates.estimates import (
    DEFAULT,
    UNUSED,
    WithLimits,
    find_registered_measure,
    missing_category_reason,
)
from agreement_pipeline.intervals import (
    DEFAULT_METHOD,
    METHODS,
    PRIOR_MASS,
    TOO_FEW_DRAWS,
    BoundsOnly,
    ConfidenceDistribution,
    Inference,
    Interval,
    affordable_resamples,
    build_expanded_percentiles,
    draw_in_blocks,
    find_undefined_reason,
    resampling_masses,
    split_basis,
    spread_unit_weights_over_rows,
)
from agreement_pipeline.measures import Measure
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import CategoryCounts
from agreement_pipeline.text import PROBABILITY, in_words

METHOD = f"{METHODS[DEFAULT_METHOD].description}; {METHODS[DEFAULT_METHOD].population}"
MIN_AFFORDABLE_RESAMPLES = 1_000
MAX_CELLS = 20_000_000
MAX_CATEGORIES_NAMED = 3


class Side(NamedTuple):
    """One side of a comparison: a measure on a statistic with a name.

    Without `category` the lowest one is compared. `standard` gives the statistic other weights
    before it is read. `impossible` says why that cannot be done.
    """

    name: str
    measure: str
    statistic: Any
    category: str | None = None
    standard: Callable[[Any], Any] | None = None
    impossible: str | None = None

    @property
    def record(self) -> Measure:
        return find_registered_measure(self.measure)

    @property
    def category_place(self) -> int | None:
        names: tuple[str, ...] = self.statistic.scale.names
        if self.category is None:
            return None
        if self.record.per_category and self.category in names:
            return names.index(self.category)
        need = (
            f"one of {', '.join(names)}"
            if self.record.per_category
            else "none, since the measure has no value for each category"
        )
        raise AgreementError(
            f"{self.name}: found category {self.category!r}; expected {need}. Choose another."
        )

    @property
    def n_independent_units(self) -> float:
        return self.record.rests_on.n_deciding_units(self.statistic)

    @property
    def affordable_resamples(self) -> int:
        max_resamples = affordable_resamples(self.record, self.statistic)
        cells = self.statistic.weights.shape[-1] * len(self.statistic.scale.names)
        return (
            max_resamples
            if self.standard is None
            else min(max_resamples, max(MIN_AFFORDABLE_RESAMPLES, MAX_CELLS // cells))
        )

    def find_undefined_reason(self) -> str | None:
        if self.impossible is not None:
            return self.impossible
        basis, place = self._basis(self.statistic), self.category_place
        reason = find_undefined_reason(self.record, basis)
        if reason is not None or not self.record.per_category:
            return reason
        values = self.record(basis).value
        if place is None:
            return missing_category_reason(values, basis.scale)
        return UNUSED if np.isnan(values[place]) else None

    def build_reader(self) -> Callable[[Any], Array]:
        """The lowest category is the lowest of those that have a value on the seen rows."""
        record, place, used = self.record, self.category_place, None
        if record.per_category:
            values = record(self._basis(self.statistic)).value
            used = ~np.isnan(values) if place is None else np.array([place])

        def read(statistic: Any) -> Array:
            weighted = statistic if self.standard is None else self.standard(statistic)
            values = np.asarray(record(self._basis(weighted)).value)
            return values if used is None else np.asarray(values[..., used].min(-1))

        return read

    def statistic_with_unseen(self, mass: float) -> Any:
        split = self.record.split is not None
        basis = split_basis(self.record, self._basis(self.statistic)) if split else self.statistic
        return basis.with_unseen(mass, self.category_place)

    def _basis(self, statistic: Any) -> Any:
        return statistic.without_rater_names() if self.record.needs == "counts" else statistic


def draw_sides(
    first_side: Side, second_side: Side, paired: bool, n: int, seed: int | tuple[int, ...]
) -> Iterator[tuple[Any, Any]]:
    """If the sides are paired, seen rows have the same shares on both. Unseen rows are drawn for
    each.

    The smaller side has the usual mass of them, and both the same share. Otherwise unseen rows
    would lower the smaller side more, and that would look like a difference.
    """
    if paired and not _are_aligned(first_side.statistic, second_side.statistic):
        n_first_rows, n_second_rows = (
            side.statistic.weights.shape[-1] for side in (first_side, second_side)
        )
        raise AgreementError(
            f"comparison: found {n_first_rows} and {n_second_rows} rows that differ; "
            "expected the same items row by row of sides that share some. Align them."
        )
    sides = first_side, second_side
    units = [max(side.n_independent_units, 1) for side in sides]
    possible = [
        side.statistic_with_unseen(PRIOR_MASS * (n_units / min(units)))
        for side, n_units in zip(sides, units, strict=True)
    ]

    def draw_block(rng: np.random.Generator, size: int) -> list[Array]:
        masses = [resampling_masses(side.statistic) for side in sides]
        first_gammas = rng.standard_gamma(masses[0], size=(size, len(masses[0])))
        second_gammas = first_gammas
        if not paired:
            second_gammas = rng.standard_gamma(masses[1], size=(size, len(masses[1])))
        row_weights = []
        for shares, mass, form, side in zip(
            (first_gammas, second_gammas), masses, possible, sides, strict=True
        ):
            unseen = form.weights[side.statistic.weights.shape[-1] :]
            gamma = np.hstack([shares, rng.standard_gamma(unseen, size=(size, len(unseen)))])
            weights = gamma * (mass.sum() / gamma.sum(1, keepdims=True))
            row_weights.append(spread_unit_weights_over_rows(side.statistic, weights))
        return row_weights

    n_rows = max(possible_statistic.weights.shape[-1] for possible_statistic in possible)
    for first_weights, second_weights in draw_in_blocks(draw_block, n, n_rows, seed):
        yield possible[0].with_weights(first_weights), possible[1].with_weights(second_weights)


def _are_aligned(first_statistic: Any, second_statistic: Any) -> bool:
    if not np.array_equal(first_statistic.weights, second_statistic.weights):
        return False
    if first_statistic.clusters is None or second_statistic.clusters is None:
        return first_statistic.clusters is second_statistic.clusters
    return np.array_equal(
        first_statistic.clusters.places, second_statistic.clusters.places
    ) and np.array_equal(first_statistic.clusters.times, second_statistic.clusters.times)


class Prevalences(NamedTuple):
    """`differing` are the categories whose shares differ by more than luck, the largest first."""

    categories: tuple[str, ...]
    one: tuple[float, ...]
    other: tuple[float, ...]
    differing: tuple[str, ...]

    def describe(self, category: str) -> str:
        place = self.categories.index(category)
        shares = (
            in_words(side_shares[place], PROBABILITY) for side_shares in (self.one, self.other)
        )
        return f"{category} {' and '.join(shares)}"

    @property
    def farthest_category(self) -> str:
        farthest_place = np.abs(np.subtract(self.one, self.other)).argmax()
        return self.describe(self.categories[int(farthest_place)])

    @property
    def in_words(self) -> str | None:
        if not self.differing:
            return None
        described = ", ".join(map(self.describe, self.differing[:MAX_CATEGORIES_NAMED]))
        n_more = len(self.differing) - MAX_CATEGORIES_NAMED
        return f"prevalence differs: {described}{f' and {n_more} more' if n_more > 0 else ''}"

    def to_mapping(self) -> dict[str, Any]:
        return {
            "one": dict(zip(self.categories, self.one, strict=True)),
            "other": dict(zip(self.categories, self.other, strict=True)),
            "differing": list(self.differing),
        }


def compare_prevalences(
    first_side: Side, second_side: Side, inference: Inference, *, paired: bool
) -> Prevalences:
    """The level is that of the comparison for all categories together, by Bonferroni's
    inequality.
    """
    resampled_sides = draw_sides(
        first_side, second_side, paired, inference.n_resamples, inference.seed
    )
    share_differences = np.concatenate(
        [
            category_shares(first_resample) - category_shares(second_resample)
            for first_resample, second_resample in resampled_sides
        ]
    )
    tail = inference.tail / share_differences.shape[1]
    low, high = np.quantile(share_differences, [tail, 1 - tail], axis=0)
    shares, other_shares = (
        category_shares(first_side.statistic),
        category_shares(second_side.statistic),
    )
    names = first_side.statistic.scale.names
    order = np.argsort(-np.abs(shares - other_shares), kind="stable")
    differing = tuple(names[k] for k in order if low[k] > 0 or high[k] < 0)
    return Prevalences(names, tuple(shares.tolist()), tuple(other_shares.tolist()), differing)


def category_shares(statistic: Any) -> Array:
    """The share of each category in all labels (..., K)."""
    counts: CategoryCounts = statistic.without_rater_names()
    label_counts = counts.weights @ counts.counts
    return np.asarray(label_counts / label_counts.sum(-1, keepdims=True))


@dataclass(frozen=True)
class Difference(WithLimits):
    """How much greater one agreement is than another, with its interval.

    Attributes
    ----------
    one, other, values
        What is compared, and the values of both; None if one of them is undefined.
    value, interval, undefined
        One minus other. The method aims at intervals that contain the true difference in the share
        `confidence_level` of pairs. Without a difference, `undefined` says why.
    n_shared
        The number of items that both use; None if the sides were resampled independently.
    prevalences
        How often each side gave each category. None without categories, or within one round.
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
    def share_greater(self) -> float | None:
        """The share of resamples in which one is greater than other.

        It is no probability that one is truly greater: 1 minus it is near a one-sided p-value.
        """
        return None if self.draws is None else float(np.mean(self.draws > 0))

    @property
    def prevalence(self) -> str | None:
        common = self.common_prevalence
        if common is None:
            return None if self.prevalences is None else self.prevalences.farthest_category
        shares = (f"{name} {in_words(share, PROBABILITY)}" for name, share in common.items())
        return f"both {', '.join(shares)}" if common else "none in common"

    @property
    def note(self) -> str | None:
        if self.undefined:
            return f"undefined: {self.undefined}"
        if self.common_prevalence is not None or self.prevalences is None:
            return None
        return self.prevalences.in_words

    def rows(self) -> Iterator[dict[str, Any]]:
        yield {
            **self.attributes("one", "other"),
            "difference": self.value,
            **self.attributes("low", "high", "confidence_level"),
            "shared_items": self.n_shared,
            **self.attributes("prevalence", "undefined"),
        }

    def to_mapping(self) -> dict[str, Any]:
        common = self.common_prevalence
        return {
            **self.attributes("one", "other"),
            "values": None if self.values is None else list(self.values),
            "difference": self.value,
            **self.attributes("low", "high", "confidence_level", "share_greater", "n_shared"),
            "method": self.method,
            "prevalences": None if self.prevalences is None else self.prevalences.to_mapping(),
            "common_prevalence": None if common is None else dict(common),
            "undefined": self.undefined,
        }


def estimate_difference(
    first_side: Side,
    second_side: Side,
    inference: Inference = DEFAULT,
    *,
    shared: int | None = None,
) -> Difference:
    """One minus other, with its interval.

    An undefined resample counts as the smallest possible difference for the lower limit, and as the
    greatest for the upper limit. If an expensive measure has too few resamples, these are the
    limits.

    If some items are `shared`, the rows of both statistics are the same items with the same
    weights, row by row. Else the sides share no item and no cluster, and are resampled
    independently.
    """
    inference.require_default_method("difference")
    sides = first_side, second_side
    for side in sides:
        if side.record.crossed and side.statistic.items_rated_by_all() is not side.statistic:
            raise AgreementError(
                f"{side.name}: found items with missing ratings; expected none, since the measure "
                "needs every rater's rating. Leave them out."
            )
    level = inference.confidence_level
    undefined = [
        f"{side.name}: {reason}" for side in sides if (reason := side.find_undefined_reason())
    ]
    if undefined:
        reason = "; ".join(undefined)
        return Difference(
            first_side.name, second_side.name, None, None, level, METHOD, shared, undefined=reason
        )
    n = min(
        inference.n_resamples, first_side.affordable_resamples, second_side.affordable_resamples
    )
    read_first_side, read_second_side = first_side.build_reader(), second_side.build_reader()
    blocks = draw_sides(first_side, second_side, shared is not None, n, inference.seed)
    draws = np.concatenate(
        [
            read_first_side(first_resample) - read_second_side(second_resample)
            for first_resample, second_resample in blocks
        ]
    )
    values = (
        float(read_first_side(first_side.statistic)),
        float(read_second_side(second_side.statistic)),
    )
    (low, high), (other_low, other_high) = first_side.record.bounds, second_side.record.bounds
    bounds, value = (low - other_high, high - other_low), values[0] - values[1]
    distribution: ConfidenceDistribution = BoundsOnly(bounds, TOO_FEW_DRAWS)
    if not inference.has_too_few(n):
        distribution = build_expanded_percentiles(
            draws,
            value,
            bounds,
            min(first_side.n_independent_units, second_side.n_independent_units),
        )
    return Difference(
        first_side.name,
        second_side.name,
        value,
        distribution.limits(inference.tail),
        level,
        _describe_method(sides, distribution, n, inference, shared),
        shared,
        values,
        draws=draws,
    )


def _describe_method(
    sides: tuple[Side, Side],
    distribution: ConfidenceDistribution,
    n: int,
    inference: Inference,
    shared: int | None,
) -> str:
    clustered = any(side.statistic.clusters for side in sides)
    parts = [f"{n} {METHOD}" if n < inference.n_resamples else METHOD]
    if clustered:
        parts.append("whole clusters")
    paired = f"paired by {'cluster' if clustered else 'item'}"
    parts.append("drawn apart" if shared is None else paired)
    if reason := distribution.missing_limits_reason(inference.tail):
        parts.append(f"{reason} for limits at {100 * inference.confidence_level:g} %")
    return "; ".join(parts)
