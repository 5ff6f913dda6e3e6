"""The two sides of a comparison, and their resampled weights."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from agreement_pipeline.errors import AgreementError
from agreement_pipeline.estimates.estimating import UNUSED, registered, why_no_lowest
from agreement_pipeline.intervals import (
    PRIOR_MASS,
    affordable,
    drawn_masses,
    in_blocks,
    resampled,
    row_weights,
    split_for,
    why_without,
)
from agreement_pipeline.measures import Measure
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import Clusters

FEWEST, MOST_CELLS = 1_000, 20_000_000
"""Resamples of a side that is weighted anew, which searches for classes in each of them."""


class Side(NamedTuple):
    """One side of a comparison: a measure on a statistic with a name.

    A measure of every category is compared on `category`. None: the lowest category is compared.
    `standard` gives the statistic other weights before it is read. `impossible` says why that
    cannot be done.
    """

    name: str
    measure: str
    statistic: Any
    category: str | None = None
    standard: Callable[[Any], Any] | None = None
    impossible: str | None = None

    @property
    def record(self) -> Measure:
        """The registered measure."""
        return registered(self.measure)

    @property
    def place(self) -> int | None:
        """The position of `category` on the scale; None if no category is named."""
        if self.category is None:
            return None
        names: tuple[str, ...] = self.statistic.scale.names
        if not self.record.per_category or self.category not in names:
            need = f"one of {', '.join(names)}"
            if not self.record.per_category:
                need = "none, since the measure has no value for each category"
            raise AgreementError(
                f"{self.name}: found category {self.category!r}; expected {need}. Choose another."
            )
        return names.index(self.category)

    @property
    def units(self) -> float:
        """The number of items, or clusters, that decide how much is known."""
        return self.record.rests_on.deciding(self.statistic)

    @property
    def affordable(self) -> int:
        """How many resamples may be used: fewer if each of them takes long."""
        most = affordable(self.record, self.statistic)
        cells = self.statistic.weights.shape[-1] * len(self.statistic.scale.names)
        return most if self.standard is None else min(most, max(FEWEST, MOST_CELLS // cells))

    def refuse_left_out(self) -> None:
        """Refuse items that the measure leaves out, since they cannot be paired.

        Raises
        ------
        AgreementError
            The measure needs every rater's rating, and some are missing.
        """
        if self.record.crossed and self.statistic.crossed() is not self.statistic:
            raise AgreementError(
                f"{self.name}: found items with missing ratings; expected none, since the measure "
                "needs every rater's rating. Leave them out."
            )

    def why_without(self) -> str | None:
        """Why there is no value; None if there is one."""
        if self.impossible is not None:
            return self.impossible
        basis, place = self._basis(self.statistic), self.place
        why = why_without(self.record, basis)
        if why is not None or not self.record.per_category:
            return why
        values = self.record(basis).value
        if place is None:
            return why_no_lowest(values, basis.scale)
        return UNUSED if np.isnan(values[place]) else None

    def reader(self) -> Callable[[Any], Array]:
        """A function from a statistic to the measure's value, or to that of the category.

        The lowest category is the lowest of those that have a value on the seen rows.
        """
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
        """The statistic with unseen rows of that mass, for `category` if one is named."""
        return self.as_split().with_unseen(mass, self.place)

    def as_split(self) -> Any:
        """The statistic with the kind of unseen items that the measure needs. No row changes."""
        if self.record.split is None:
            return self.statistic
        return split_for(self.record, self._basis(self.statistic))

    def _basis(self, statistic: Any) -> Any:
        """The statistic without its raters' names, if the measure does not ask for them."""
        return statistic.unnamed() if self.record.needs == "counts" else statistic


def drawn_sides(
    one: Side, other: Side, paired: bool, n: int, seed: int | tuple[int, ...]
) -> Iterator[tuple[Any, Any]]:
    """Both statistics under resampled weights, in blocks of n in all.

    If the sides are paired, seen rows have the same shares on both. Unseen rows are drawn for each
    side separately, unless both sides are one statistic with the same unseen mass.

    Raises
    ------
    AgreementError
        The sides are paired, but do not have the same rows.
    """
    masses = unseen_masses(one, other)
    possible = one.possible(masses[0]), other.possible(masses[1])
    same = one.statistic is other.statistic and masses[0] == masses[1]
    if paired and same and possible[0].weights.shape == possible[1].weights.shape:
        weights = (block.weights for block in resampled(one.as_split(), n, seed))
        yield from ((possible[0].reweighted(w), possible[1].reweighted(w)) for w in weights)
        return
    if paired:
        _refuse_unaligned(one.statistic, other.statistic)

    def drawn(rng: np.random.Generator, size: int) -> tuple[Array, Array]:
        shares = _shares(rng, one.statistic, size)
        others = shares if paired else _shares(rng, other.statistic, size)
        return (
            _completed(rng, shares, possible[0], one.statistic),
            _completed(rng, others, possible[1], other.statistic),
        )

    rows = max(each.weights.shape[-1] for each in possible)
    for first, second in in_blocks(drawn, n, rows, seed):
        yield possible[0].reweighted(first), possible[1].reweighted(second)


def unseen_masses(*sides: Side) -> list[float]:
    """The mass of the unseen rows of each side. The smaller side has the usual mass.

    The masses are proportional to the items (or clusters) that decide how much is known. Otherwise
    unseen rows would lower the smaller side more, and that would look like a difference.
    """
    units = [max(side.units, 1) for side in sides]
    return [PRIOR_MASS * (n / min(units)) for n in units]


def _refuse_unaligned(one: Any, other: Any) -> None:
    """Refuse sides that do not have the same items, with the same weights, in the same clusters."""
    if np.array_equal(one.weights, other.weights) and _same_clusters(one.clusters, other.clusters):
        return
    raise AgreementError(
        f"comparison: found {one.weights.shape[-1]} and {other.weights.shape[-1]} rows that "
        "differ; expected the same items row by row of sides that share some. Align them."
    )


def _same_clusters(one: Clusters | None, other: Clusters | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one.places, other.places) and np.array_equal(one.times, other.times)


def _shares(rng: np.random.Generator, seen: Any, size: int) -> Array:
    """The drawn shares of seen rows, or of whole clusters."""
    masses = drawn_masses(seen)
    return rng.standard_gamma(masses, size=(size, len(masses)))


def _completed(rng: np.random.Generator, shares: Array, possible: Any, seen: Any) -> Array:
    """Weights of all rows, from the shares of seen rows and newly drawn shares of unseen rows."""
    unseen = possible.weights[seen.weights.shape[-1] :]
    gamma = np.hstack([shares, rng.standard_gamma(unseen, size=(len(shares), len(unseen)))])
    return row_weights(seen, gamma * (drawn_masses(seen).sum() / gamma.sum(1, keepdims=True)))
