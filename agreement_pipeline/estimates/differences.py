"""The interval of a difference: of two rounds, two classifiers, two raters, or two measures.

Where both sides rest on the same items, both are drawn with the same weights: what makes an item hard for one makes it hard for the other, and
that does not blur how far they differ. Where items come in clusters, whole clusters are drawn. Whether two intervals overlap is never asked; it is
no test of a difference.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from agreement_pipeline.errors import AgreementError
from agreement_pipeline.estimates.estimates import (
    CONFIDENCE_LEVEL,
    N_RESAMPLES,
    UNUSED,
    refuse_impossible,
    registered,
)
from agreement_pipeline.intervals import (
    DEFAULT_METHOD,
    METHODS,
    PRIOR_MASS,
    TOO_FEW_DRAWS,
    Anything,
    Interval,
    affordable,
    drawn_masses,
    expanded,
    in_blocks,
    resampled,
    row_weights,
    split_for,
    too_few,
    why_without,
)
from agreement_pipeline.measures import Measure
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import Clusters

METHOD = f"{METHODS[DEFAULT_METHOD].description}; {METHODS[DEFAULT_METHOD].population}"


class Side(NamedTuple):
    """One side of a comparison: a measure on a statistic, what to call it, and of a measure of every category the one that is compared, the lowest if none."""

    name: str
    measure: str
    statistic: Any
    category: str | None = None


@dataclass(frozen=True)
class Difference:
    """How much greater one agreement is than another, with its interval.

    Attributes
    ----------
    one, other
        What is compared.
    value, interval
        Of one less other; None where undefined. The interval holds the true difference with `confidence_level`.
    confidence_level, method
        Of the interval.
    n_shared
        Items that both rest on; None where they were drawn apart.
    values
        Of one, and of other; None where one of them is undefined.
    undefined
        Why there is no difference; None where there is one.
    draws
        The resampled differences.
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

    @property
    def low(self) -> float | None:
        """The lower limit as plain data; None where it is without limit, or there is no difference."""
        return self.interval.low if self.interval and math.isfinite(self.interval.low) else None

    @property
    def high(self) -> float | None:
        """The upper limit as plain data; None where it is without limit, or there is no difference."""
        return self.interval.high if self.interval and math.isfinite(self.interval.high) else None

    @property
    def probability_greater(self) -> float | None:
        """The probability that one is truly greater than other: the share of draws in which it is, undefined ones not.

        On few items the interval lies further out than these draws by themselves, and may hold 0 where this is beyond its level.
        """
        return None if self.draws is None else float(np.mean(self.draws > 0))

    def to_mapping(self) -> dict[str, Any]:
        """The difference as plain data, in the form the command line prints."""
        return {
            "one": self.one,
            "other": self.other,
            "values": None if self.values is None else list(self.values),
            "difference": self.value,
            "low": self.low,
            "high": self.high,
            "confidence_level": self.confidence_level,
            "probability_greater": self.probability_greater,
            "n_shared": self.n_shared,
            "method": self.method,
            "undefined": self.undefined,
        }


def difference(
    one: Side,
    other: Side,
    *,
    shared: int | None = None,
    seed: int | Sequence[int] = 0,
    confidence_level: float = CONFIDENCE_LEVEL,
    n_resamples: int = N_RESAMPLES,
) -> Difference:
    """One less other, from the same draws of items where they share some, and from draws apart where they do not.

    A draw in which a side is undefined counts as the least possible difference for the lower limit and as the greatest for the upper one. Where draws
    are dear, and fewer are made than limits so far out ask for, the limits are the least and the greatest possible difference. Items
    that were not seen are drawn for each side by itself, so that two sides which never differed are not certain never to; on one and the same
    statistic, read on as many items, everything is drawn once. They have the same share of either side, that which the smaller one's interval
    gives them: a greater one would pull the smaller side alone, and be found as a difference.

    Parameters
    ----------
    one, other
        The sides. Of a measure of every category the one that is named is compared, or else the lowest.
    shared
        How many items both rest on. The rows of both statistics are then the same items with the same weights, row by row; an item that one
        side lacks is a row without ratings there. Two measures of one statistic are given that statistic twice. None: the sides share no
        item and no cluster, and are drawn apart.

    Raises
    ------
    PolicyError
        A measure is not registered, the confidence level is no probability, or the draws are none.
    AgreementError
        Sides that share items do not have the same rows in the same clusters; a measure of items that every rater rated meets others; or a category
        is named that is not on the scale, or of a measure that has no value for each.

    Examples
    --------
    >>> from agreement_pipeline import CategoryCounts, Scale
    >>> counts = CategoryCounts([[3, 0], [2, 1], [0, 3]], [40, 20, 40], scale=Scale(("no", "yes")))
    >>> found = difference(Side("a", "gwet_ac1", counts), Side("b", "fleiss_kappa", counts), shared=100)
    >>> round(found.value, 4), found.interval.low <= found.value <= found.interval.high
    (0.0024, True)
    """
    refuse_impossible(confidence_level, n_resamples)
    records = registered(one.measure), registered(other.measure)
    for side, record in zip((one, other), records, strict=True):
        _refuse_left_out(side, record)
    undefined = [
        f"{side.name}: {why}"
        for side, record in zip((one, other), records, strict=True)
        if (why := _why_without(side, record))
    ]
    if undefined:
        return Difference(
            one.name,
            other.name,
            None,
            None,
            confidence_level,
            METHOD,
            shared,
            undefined="; ".join(undefined),
        )
    n = min(
        n_resamples,
        *(
            affordable(record, side.statistic)
            for record, side in zip(records, (one, other), strict=True)
        ),
    )
    read, read_other = (
        _reader(record, side) for record, side in zip(records, (one, other), strict=True)
    )
    blocks = _drawn(one, other, shared is not None, n, seed)
    draws = np.concatenate([read(first) - read_other(second) for first, second in blocks])
    values = float(read(one.statistic)), float(read_other(other.statistic))
    value = values[0] - values[1]
    bounds = (
        records[0].bounds[0] - records[1].bounds[1],
        records[0].bounds[1] - records[1].bounds[0],
    )
    coarse, tail = too_few(n, n_resamples, confidence_level), (1 - confidence_level) / 2
    known = (
        Anything(bounds, TOO_FEW_DRAWS)
        if coarse
        else expanded(draws, value, bounds, min(_units(one), _units(other)))
    )
    clustered = one.statistic.clusters or other.statistic.clusters
    paired = "drawn apart" if shared is None else f"paired by {'cluster' if clustered else 'item'}"
    few = (
        f"; {why} for limits at {100 * confidence_level:g} %"
        if (why := known.why_without(tail))
        else ""
    )
    method = f"{f'{n} ' if n < n_resamples else ''}{METHOD}{'; whole clusters' if clustered else ''}; {paired}{few}"
    return Difference(
        one.name,
        other.name,
        value,
        known.limits(tail),
        confidence_level,
        method,
        shared,
        values,
        draws=draws,
    )


def _refuse_left_out(side: Side, record: Measure) -> None:
    """Items that one side leaves out have no row to be paired with."""
    if record.crossed and side.statistic.crossed() is not side.statistic:
        raise AgreementError(
            f"{side.name}: items with missing ratings found; none is required of a measure of items that every rater rated. Leave them out."
        )


def _place(side: Side, record: Measure) -> int | None:
    """The position on the scale of the category that is compared, if one is named."""
    if side.category is None:
        return None
    names: tuple[str, ...] = side.statistic.scale.names
    if not record.per_category or side.category not in names:
        need = (
            f"one of {', '.join(names)}"
            if record.per_category
            else "a measure that has a value for each category"
        )
        raise AgreementError(
            f"{side.name}: category {side.category!r} found; {need} is required. Choose another."
        )
    return names.index(side.category)


def _why_without(side: Side, record: Measure) -> str | None:
    basis, place = _basis(record, side.statistic), _place(side, record)
    why = why_without(record, basis)
    return (
        UNUSED
        if why is None and place is not None and np.isnan(record(basis).value[place])
        else why
    )


def _reader(record: Measure, side: Side) -> Callable[[Any], Array]:
    """From a statistic to the measure's value; of one of every category to the one named, or the lowest over those that have a value on what was seen."""
    place = _place(side, record)
    used: Any = None
    if record.per_category:
        used = ~np.isnan(record(_basis(record, side.statistic)).value) if place is None else [place]

    def read(statistic: Any) -> Array:
        values = np.asarray(record(_basis(record, statistic)).value)
        return values if used is None else np.asarray(values[..., used].min(-1))

    return read


def _basis(record: Measure, statistic: Any) -> Any:
    """The statistic with its raters forgotten, where the measure asks for that."""
    return statistic.unnamed() if record.needs == "counts" else statistic


def _drawn(
    one_side: Side, other_side: Side, paired: bool, n: int, seed: int | Sequence[int]
) -> Iterator[tuple[Any, Any]]:
    """Both sides under draws, in blocks; where they are paired, what was seen has the same shares on both. A named category has unseen items of its own."""
    one, other = one_side.statistic, other_side.statistic
    masses, bases = (
        _unseen_masses(one_side, other_side),
        [_as_split(side) for side in (one_side, other_side)],
    )
    possible = [
        basis.with_unseen(mass, _place(side, registered(side.measure)))
        for basis, mass, side in zip(bases, masses, (one_side, other_side), strict=True)
    ]
    if (
        paired
        and one is other
        and masses[0] == masses[1]
        and possible[0].weights.shape == possible[1].weights.shape
    ):
        yield from (
            (possible[0].reweighted(block.weights), possible[1].reweighted(block.weights))
            for block in resampled(bases[0], n, seed)
        )
        return
    if paired and not (
        np.array_equal(one.weights, other.weights) and _same_clusters(one.clusters, other.clusters)
    ):
        found = f"{one.weights.shape[-1]} and {other.weights.shape[-1]} rows"
        raise AgreementError(
            f"comparison: {found} that differ found; the same items row by row are required of sides that share some. Align them."
        )

    def weights(rng: np.random.Generator, size: int) -> tuple[Array, Array]:
        shares = _shares(rng, one, size)
        others = shares if paired else _shares(rng, other, size)
        return _completed(rng, shares, possible[0], one), _completed(
            rng, others, possible[1], other
        )

    rows = max(side.weights.shape[-1] for side in possible)
    yield from (
        (possible[0].reweighted(first), possible[1].reweighted(second))
        for first, second in in_blocks(weights, n, rows, seed)
    )


def _as_split(side: Side) -> Any:
    """Its statistic, row for row, with items that were not seen as its measure would have them."""
    record = registered(side.measure)
    return (
        side.statistic
        if record.split is None
        else split_for(record, _basis(record, side.statistic))
    )


def _unseen_masses(*sides: Side) -> list[float]:
    """The mass of what was not seen, the usual one on the smaller side: in proportion to the items (or clusters) that decide how much is known."""
    units = [max(_units(side), 1) for side in sides]
    return [PRIOR_MASS * (n / min(units)) for n in units]


def _units(side: Side) -> float:
    """How many items, or clusters, decide how much is known of it."""
    return registered(side.measure).rests_on.deciding(side.statistic)


def _same_clusters(one: Clusters | None, other: Clusters | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one.places, other.places) and np.array_equal(one.times, other.times)


def _shares(rng: np.random.Generator, seen: Any, size: int) -> Array:
    """The shares of what was seen, of rows or whole clusters."""
    masses = drawn_masses(seen)
    return rng.standard_gamma(masses, size=(size, len(masses)))


def _completed(rng: np.random.Generator, shares: Array, possible: Any, seen: Any) -> Array:
    """Weights of all rows: of the shares of what was seen, and of shares of its own of what was not."""
    unseen = possible.weights[seen.weights.shape[-1] :]
    gamma = np.hstack([shares, rng.standard_gamma(unseen, size=(len(shares), len(unseen)))])
    return row_weights(seen, gamma * (drawn_masses(seen).sum() / gamma.sum(1, keepdims=True)))
