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
    registered,
    why_no_lowest,
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
    apply_split,
    build_expanded_percentiles,
    draw_in_blocks,
    find_undefined_reason,
    resampling_masses,
    spread_over_rows,
)
from agreement_pipeline.measures import Measure
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import CategoryCounts
from agreement_pipeline.text import PROBABILITY, in_words

METHOD = f"{METHODS[DEFAULT_METHOD].description}; {METHODS[DEFAULT_METHOD].population}"
FEWEST, MOST_CELLS = 1_000, 20_000_000
MOST_NAMED = 3


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
        return registered(self.measure)

    @property
    def place(self) -> int | None:
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
    def units(self) -> float:
        return self.record.rests_on.deciding(self.statistic)

    @property
    def affordable_resamples(self) -> int:
        most = affordable_resamples(self.record, self.statistic)
        cells = self.statistic.weights.shape[-1] * len(self.statistic.scale.names)
        return most if self.standard is None else min(most, max(FEWEST, MOST_CELLS // cells))

    def find_undefined_reason(self) -> str | None:
        if self.impossible is not None:
            return self.impossible
        basis, place = self._basis(self.statistic), self.place
        why = find_undefined_reason(self.record, basis)
        if why is not None or not self.record.per_category:
            return why
        values = self.record(basis).value
        if place is None:
            return why_no_lowest(values, basis.scale)
        return UNUSED if np.isnan(values[place]) else None

    def reader(self) -> Callable[[Any], Array]:
        """The lowest category is the lowest of those that have a value on the seen rows."""
        record, place, used = self.record, self.place, None
        if record.per_category:
            values = record(self._basis(self.statistic)).value
            used = ~np.isnan(values) if place is None else np.array([place])

        def read(statistic: Any) -> Array:
            weighted = statistic if self.standard is None else self.standard(statistic)
            values = np.asarray(record(self._basis(weighted)).value)
            return values if used is None else np.asarray(values[..., used].min(-1))

        return read

    def possible(self, mass: float) -> Any:
        split = self.record.split is not None
        whole = apply_split(self.record, self._basis(self.statistic)) if split else self.statistic
        return whole.with_unseen(mass, self.place)

    def _basis(self, statistic: Any) -> Any:
        return statistic.unnamed() if self.record.needs == "counts" else statistic


def drawn_sides(
    one: Side, other: Side, paired: bool, n: int, seed: int | tuple[int, ...]
) -> Iterator[tuple[Any, Any]]:
    """If the sides are paired, seen rows have the same shares on both. Unseen rows are drawn for
    each.

    The smaller side has the usual mass of them, and both the same share. Otherwise unseen rows
    would lower the smaller side more, and that would look like a difference.
    """
    if paired and not _aligned(one.statistic, other.statistic):
        rows, others = (side.statistic.weights.shape[-1] for side in (one, other))
        raise AgreementError(
            f"comparison: found {rows} and {others} rows that differ; "
            "expected the same items row by row of sides that share some. Align them."
        )
    sides = one, other
    units = [max(side.units, 1) for side in sides]
    possible = [
        side.possible(PRIOR_MASS * (n_units / min(units)))
        for side, n_units in zip(sides, units, strict=True)
    ]

    def drawn(rng: np.random.Generator, size: int) -> list[Array]:
        masses = [resampling_masses(side.statistic) for side in sides]
        of_one = rng.standard_gamma(masses[0], size=(size, len(masses[0])))
        of_other = of_one
        if not paired:
            of_other = rng.standard_gamma(masses[1], size=(size, len(masses[1])))
        found = []
        for shares, mass, form, side in zip(
            (of_one, of_other), masses, possible, sides, strict=True
        ):
            unseen = form.weights[side.statistic.weights.shape[-1] :]
            gamma = np.hstack([shares, rng.standard_gamma(unseen, size=(size, len(unseen)))])
            weights = gamma * (mass.sum() / gamma.sum(1, keepdims=True))
            found.append(spread_over_rows(side.statistic, weights))
        return found

    rows = max(each.weights.shape[-1] for each in possible)
    for first, second in draw_in_blocks(drawn, n, rows, seed):
        yield possible[0].reweighted(first), possible[1].reweighted(second)


def _aligned(one: Any, other: Any) -> bool:
    if not np.array_equal(one.weights, other.weights):
        return False
    if one.clusters is None or other.clusters is None:
        return one.clusters is other.clusters
    return np.array_equal(one.clusters.places, other.clusters.places) and np.array_equal(
        one.clusters.times, other.clusters.times
    )


class Prevalences(NamedTuple):
    """`differing` are the categories whose shares differ by more than luck, the largest first."""

    categories: tuple[str, ...]
    one: tuple[float, ...]
    other: tuple[float, ...]
    differing: tuple[str, ...]

    def of(self, category: str) -> str:
        place = self.categories.index(category)
        shares = (in_words(each[place], PROBABILITY) for each in (self.one, self.other))
        return f"{category} {' and '.join(shares)}"

    @property
    def farthest(self) -> str:
        apart = np.abs(np.subtract(self.one, self.other)).argmax()
        return self.of(self.categories[int(apart)])

    @property
    def words(self) -> str | None:
        if not self.differing:
            return None
        named = ", ".join(map(self.of, self.differing[:MOST_NAMED]))
        more = len(self.differing) - MOST_NAMED
        return f"prevalence differs: {named}{f' and {more} more' if more > 0 else ''}"

    def to_mapping(self) -> dict[str, Any]:
        return {
            "one": dict(zip(self.categories, self.one, strict=True)),
            "other": dict(zip(self.categories, self.other, strict=True)),
            "differing": list(self.differing),
        }


def prevalences(one: Side, other: Side, inference: Inference, *, paired: bool) -> Prevalences:
    """The level is that of the comparison for all categories together, by Bonferroni's
    inequality.
    """
    drawn = drawn_sides(one, other, paired, inference.n_resamples, inference.seed)
    apart = np.concatenate([shares_of(first) - shares_of(second) for first, second in drawn])
    tail = inference.tail / apart.shape[1]
    low, high = np.quantile(apart, [tail, 1 - tail], axis=0)
    shares, others = shares_of(one.statistic), shares_of(other.statistic)
    names = one.statistic.scale.names
    order = np.argsort(-np.abs(shares - others), kind="stable")
    differing = tuple(names[k] for k in order if low[k] > 0 or high[k] < 0)
    return Prevalences(names, tuple(shares.tolist()), tuple(others.tolist()), differing)


def shares_of(statistic: Any) -> Array:
    counts: CategoryCounts = statistic.unnamed()
    given = counts.weights @ counts.counts
    return np.asarray(given / given.sum(-1, keepdims=True))


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
            return None if self.prevalences is None else self.prevalences.farthest
        shares = (f"{name} {in_words(share, PROBABILITY)}" for name, share in common.items())
        return f"both {', '.join(shares)}" if common else "none in common"

    @property
    def note(self) -> str | None:
        if self.undefined:
            return f"undefined: {self.undefined}"
        if self.common_prevalence is not None or self.prevalences is None:
            return None
        return self.prevalences.words

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


def difference(
    one: Side, other: Side, inference: Inference = DEFAULT, *, shared: int | None = None
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
    sides = one, other
    for side in sides:
        if side.record.crossed and side.statistic.crossed() is not side.statistic:
            raise AgreementError(
                f"{side.name}: found items with missing ratings; expected none, since the measure "
                "needs every rater's rating. Leave them out."
            )
    level = inference.confidence_level
    undefined = [f"{side.name}: {why}" for side in sides if (why := side.find_undefined_reason())]
    if undefined:
        why = "; ".join(undefined)
        return Difference(one.name, other.name, None, None, level, METHOD, shared, undefined=why)
    n = min(inference.n_resamples, one.affordable_resamples, other.affordable_resamples)
    read, read_other = one.reader(), other.reader()
    blocks = drawn_sides(one, other, shared is not None, n, inference.seed)
    draws = np.concatenate([read(first) - read_other(second) for first, second in blocks])
    values = float(read(one.statistic)), float(read_other(other.statistic))
    (low, high), (other_low, other_high) = one.record.bounds, other.record.bounds
    bounds, value = (low - other_high, high - other_low), values[0] - values[1]
    known: ConfidenceDistribution = BoundsOnly(bounds, TOO_FEW_DRAWS)
    if not inference.has_too_few(n):
        known = build_expanded_percentiles(draws, value, bounds, min(one.units, other.units))
    return Difference(
        one.name,
        other.name,
        value,
        known.limits(inference.tail),
        level,
        _method(sides, known, n, inference, shared),
        shared,
        values,
        draws=draws,
    )


def _method(
    sides: tuple[Side, Side],
    known: ConfidenceDistribution,
    n: int,
    inference: Inference,
    shared: int | None,
) -> str:
    clustered = any(side.statistic.clusters for side in sides)
    said = [f"{n} {METHOD}" if n < inference.n_resamples else METHOD]
    if clustered:
        said.append("whole clusters")
    paired = f"paired by {'cluster' if clustered else 'item'}"
    said.append("drawn apart" if shared is None else paired)
    if why := known.missing_limits_reason(inference.tail):
        said.append(f"{why} for limits at {100 * inference.confidence_level:g} %")
    return "; ".join(said)
