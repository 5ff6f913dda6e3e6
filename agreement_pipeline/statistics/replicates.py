"""What raters said of items that they met again: labels, or numbers.

One *cell* is one rater on one item with what they said at each meeting. Weights belong to items,
so resampling keeps together all that was said of one item.

Unseen labels are split between two categories that are the same for all raters. Unseen numbers are
split between two values of each rater's own. So these are two statistics.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import MISSING, Array, Codes, Flags, Scale
from agreement_pipeline.statistics.by_rater import LabelsByRater, NumbersByRater, stacked
from agreement_pipeline.statistics.clusters import Clusters, checked_clusters
from agreement_pipeline.statistics.counts import CategoryCounts
from agreement_pipeline.statistics.order import Said, hashes_of, order_of_raters
from agreement_pipeline.statistics.unseen import (
    cell_splits,
    far_values,
    first_labels,
    met_again,
    number_splits,
    split_between,
    two_numbers,
    typical_size,
)
from agreement_pipeline.statistics.weighted import (
    OfRows,
    Statistic,
    born,
    changed,
    checked_raters,
    checked_weights,
    distinct_in,
    extended,
    joint_raters,
    kinds,
    refuse_sum,
    total,
    whole,
)
from agreement_pipeline.text import listed

# So many raters are read one by one, and of a crowd so many at once.
ONE_BY_ONE, AT_ONCE = 32, 128


class Cells(Statistic):
    said_in: ClassVar[str]

    item: Codes
    rater: Codes
    sizes: OfRows[Array]  # ratings a cell; shape (C,)

    if TYPE_CHECKING:

        @property
        def raters(self) -> tuple[str, ...]:
            """All rater names with replicates or without."""

        @property
        def alike(self) -> Codes:
            """The kind of each cell."""

        def cells(self) -> CategoryCounts | NumbersByRater:
            """Meetings take the place of raters."""

    def of_cells(self, kept: Flags | Codes) -> Self:
        fields = ("item", "rater", self.said_in)
        return changed(self, **{name: getattr(self, name)[kept] for name in fields})

    def without_rater(self, rater: int) -> Self:
        others = self.of_cells(self.rater != rater)
        return changed(others, rater=others.rater - (others.rater > rater))

    def with_raters(self, order: Codes) -> Self:
        rater = np.argsort(order)[self.rater]
        cells = np.lexsort((rater, self.item))
        return changed(self.of_cells(cells), rater=rater[cells])

    def rater_among(self, raters: tuple[str, ...]) -> Codes:
        return np.array([raters.index(name) for name in self.raters], dtype=np.int64)[self.rater]

    @property
    def cell_weights(self) -> Array:
        return np.asarray(self.weights[..., self.item])

    @OfRows
    def readable(self) -> Flags:
        return np.isin(np.arange(self.weights.shape[-1]), self.item)

    @property
    def n_items(self) -> int:
        return self.n_used

    @property
    def n_ratings(self) -> int:
        """A vector is one rating."""
        return total(self.cell_weights * self.sizes)

    def of(self, rater: str) -> Self:
        return self.of_cells(self.rater == self.raters.index(rater))

    def cells_of_raters(self) -> Iterator[CategoryCounts | NumbersByRater]:
        """The first axis of weights is the raters'."""
        if not self._of_raters:
            yield self.cells().reweighted(self.cell_weights[None])
        for each in self._of_raters:
            sums = np.add.reduceat(self.weights[..., each.item], each.begins, axis=-1)
            shape = (1 + each.rater.max(), *sums.shape[:-1], 1 + each.row.max())
            weights = np.zeros(shape)
            weights[each.rater, ..., each.row] = np.moveaxis(sums, -1, 0)
            yield each.cells.reweighted(weights)

    @OfRows
    def _of_raters(self) -> list["_OfRaters"]:
        raters, rater = np.unique(self.rater, return_inverse=True)
        most = AT_ONCE if len(raters) > ONE_BY_ONE else 1
        return [
            _OfRaters.of(self.of_cells(some := (rater // most) == batch), rater[some] % most)
            for batch in range(-(-len(raters) // most))
        ]

    def without_each_rater(self) -> Iterator[Self]:
        return (self.without_rater(int(rater)) for rater in np.unique(self.rater))

    def items_by_rater(self, rows: Flags) -> Array:
        raters, places = np.unique(self.rater, return_inverse=True)
        weights = self.cell_weights * rows[self.item]
        return np.asarray(np.bincount(places, weights, minlength=len(raters)), dtype=float)


class _OfRaters(NamedTuple):
    # The weight of a rater's row is that of some items, from one of `begins` to the next.

    cells: CategoryCounts | NumbersByRater
    item: Codes
    begins: Codes
    rater: Codes
    row: Codes

    @classmethod
    def of(cls, part: Cells, rater: Codes) -> "_OfRaters":
        n, several = len(rater), rater.any()
        rows = part.alike if several else np.arange(n)
        _, first = np.unique(rows, return_index=True)
        order = np.lexsort((rows, rater))
        rater, row = rater[order], rows[order]
        begins = np.flatnonzero(np.append(True, (np.diff(rater) != 0) | (np.diff(row) != 0)))
        ones = np.ones(part.weights.shape[-1])
        cells = part.of_cells(first).reweighted(ones).cells()
        return cls(cells, part.item[order], begins, rater[begins], row[begins])


def checked_cells(
    what: str, sizes: Array, item: ArrayLike, rater: ArrayLike, shape: tuple[int, int]
) -> dict[str, Codes]:
    if sizes.size and sizes.min() < 2:
        raise RatingsError(
            f"{what}: found a cell of fewer than two ratings; expected at least two, since they "
            "show whether raters agree with themselves. Leave out the other cells."
        )
    found = []
    for name, values, places in zip(("item", "rater"), (item, rater), shape, strict=True):
        codes = np.asarray(values, dtype=np.int64)
        outside = codes.size and not (codes.min() >= 0 and codes.max() < places)
        if codes.shape != sizes.shape or outside:
            raise RatingsError(
                f"{what}: {name} positions: found {listed(codes.ravel().tolist())}; expected one "
                f"from 0 to {places - 1} for each of {len(sizes)} cells. Correct the positions."
            )
        found.append(codes)
    items, raters = found
    most = 1 + int(raters.max(initial=0))
    cells, times = np.unique(items * most + raters, return_counts=True)
    if (times > 1).any():
        twice = [divmod(cell, most) for cell in cells[times > 1].tolist()]
        raise RatingsError(
            f"{what}: found two cells of one item and rater {listed(twice)}; expected one. "
            "Put all meetings into one cell."
        )
    return {"item": items, "rater": raters}


NUMBERS = "replicated numbers"


@dataclass(frozen=True, eq=False)
class ReplicatedNumbers(Cells):
    """Numbers or vectors of numbers that raters gave to items they met more than once.

    Parameters
    ----------
    values
        Shape (C, M, D), or (C, M) in one dimension: what was said at two meetings or more. It
        is nan in all dimensions for further meetings up to M.
    item, rater
        Shape (C,): the item of each cell, 0 … P-1, and the position of its rater in `raters`.
    weights, clusters
        Of items. All else is as for `NumbersByRater`.
    round_raters
        The raters who rated in the round itself; all if omitted.

    Examples
    --------
    >>> scale, values = Scale(None, "interval"), [[1.5, 1.7], [3.1, 2.9]]
    >>> again = ReplicatedNumbers(values, [0, 1], [0, 0], [1, 1], scale=scale, raters=("a", "b"))
    >>> again.n_items, again.n_ratings
    (2, 4)
    """

    said_in: ClassVar[str] = "values"

    values: Array
    item: Codes
    rater: Codes
    weights: Array
    scale: Scale
    raters: tuple[str, ...]
    round_raters: tuple[str, ...]
    clusters: Clusters | None = None

    def __init__(
        self,
        values: ArrayLike,
        item: ArrayLike,
        rater: ArrayLike,
        weights: ArrayLike,
        *,
        scale: Scale,
        raters: Collection[str],
        round_raters: Collection[str] | None = None,
        clusters: Clusters | None = None,
    ) -> None:
        rows = np.asarray(values, dtype=float)
        rows = rows[:, :, None] if rows.ndim == 2 else rows
        sizes = NumbersByRater(rows, scale=scale, raters=_meetings(rows)).sizes
        shape = np.shape(weights)[-1], len(raters)
        born(
            self,
            values=rows,
            **checked_cells(NUMBERS, sizes, item, rater, shape),
            weights=checked_weights(weights, shape[0]),
            scale=scale,
            raters=checked_raters(NUMBERS, raters),
            round_raters=tuple(sorted(raters if round_raters is None else round_raters)),
            clusters=checked_clusters(clusters, shape[0]),
        )

    def in_order(self) -> Self:
        if not len(self.values):
            return self
        cells = np.lexsort((self.rater, self.item))
        said = hashes_of(*np.vstack(list(self.values[cells].T)))
        nothing, n_raters = np.zeros(1, dtype=np.uint64), len(self.raters)
        where = Said(self.item[cells], self.rater[cells], said, nothing, n_raters)
        order = order_of_raters(where, self.weights)
        raters = tuple(self.raters[place] for place in order)
        return changed(self.with_raters(order), raters=raters)

    @OfRows
    def sizes(self) -> Array:
        return np.asarray((~np.isnan(self.values[:, :, 0])).sum(1), dtype=float)

    @property
    def alike(self) -> Codes:
        return np.arange(len(self.values))

    def cells(self) -> NumbersByRater:
        return NumbersByRater(
            self.values, self.cell_weights, scale=self.scale, raters=_meetings(self.values)
        )

    def in_numbers(self) -> Self:
        return self

    def without_rater(self, rater: int) -> Self:
        gone = self.raters[rater]
        raters, here = (
            tuple(name for name in names if name != gone)
            for names in (self.raters, self.round_raters)
        )
        return changed(super().without_rater(rater), raters=raters, round_raters=here)

    def with_unseen(self, mass: float, category: int | None = None) -> Self:
        """As many raters meet an unseen item again as meet a typical item.

        They are turned through all raters here. The two values are each rater's own, as those of
        `NumbersByRater` are the panel's.
        """
        if not len(self.values):
            return self
        m, place = typical_size(self.sizes, self.cell_weights), self.weights.shape[-1]
        again = met_again(self.rater, self.item, self.weights)
        raters = np.concatenate(again)
        firsts = np.repeat(place + np.arange(len(again)) * (m + 1), [len(each) for each in again])
        values = [self.values]
        for rater in raters:
            mine = self.rater == rater
            said, weights = self.values[mine], self.cell_weights[mine]
            numbers = two_numbers(said, weights, self.scale, far_values)
            values.append(number_splits(m, said.shape[1], numbers))
        return changed(
            self,
            values=np.concatenate(values),
            item=np.concatenate([self.item, (firsts[:, None] + np.arange(m + 1)).ravel()]),
            rater=np.concatenate([self.rater, np.repeat(raters, m + 1)]),
            weights=extended(self.weights, mass, (m + 1) * len(again)),
            clusters=None,
        )

    def __add__(self, other: "ReplicatedNumbers") -> "ReplicatedNumbers":
        refuse_sum(NUMBERS, self, other)
        raters = joint_raters(self.raters, other.raters)
        n, meetings = len(self.values), max(self.values.shape[1], other.values.shape[1])
        values = np.full((n + len(other.values), meetings, self.scale.dimensions), np.nan)
        values[:n, : self.values.shape[1]] = self.values
        values[n:, : other.values.shape[1]] = other.values
        return ReplicatedNumbers(
            values,
            np.concatenate([self.item, other.item + self.weights.shape[-1]]),
            np.concatenate([self.rater, other.rater_among(raters)]),
            np.concatenate([self.weights, other.weights]),
            scale=self.scale,
            raters=raters,
            round_raters={*self.round_raters, *other.round_raters},
        )


def _meetings(values: Array) -> tuple[str, ...]:
    meetings = values.shape[1] if values.ndim == 3 else 0
    return tuple(str(number) for number in range(1, 1 + meetings))


LABELS = "replicated labels"


@dataclass(frozen=True, eq=False)
class ReplicatedLabels(Cells):
    """Labels that raters gave to items they met more than once.

    Parameters
    ----------
    counts
        Shape (C, K): labels of each cell by category. There are two at least.
    item, rater
        As for `ReplicatedNumbers`.
    first
        The first labels of the same P items, with their weights.

    Examples
    --------
    >>> scale = Scale(("no", "yes"))
    >>> first = LabelsByRater([[0, 0], [0, 1]], [4, 2], scale=scale, raters=("a", "b"))
    >>> again = ReplicatedLabels([[2, 0], [1, 1]], [0, 1], [0, 0], first)
    >>> again.n_items, again.n_ratings
    (6, 12)
    """

    said_in: ClassVar[str] = "counts"

    counts: Array
    item: Codes
    rater: Codes
    first: LabelsByRater

    def __post_init__(self) -> None:
        counts, shape = whole(LABELS, self.counts), self.first.codes.shape
        counts = counts.reshape(-1, len(self.first.scale.names))
        cells = checked_cells(LABELS, counts.sum(1), self.item, self.rater, shape)
        born(self, counts=counts, **cells)

    @property
    def weights(self) -> Array:
        return self.first.weights

    @property
    def scale(self) -> Scale:
        return self.first.scale

    @property
    def clusters(self) -> Clusters | None:
        return self.first.clusters

    @property
    def raters(self) -> tuple[str, ...]:
        return self.first.raters

    @property
    def round_raters(self) -> tuple[str, ...]:
        """The names of those who rated in the round itself; others rated in earlier rounds only."""
        here = np.flatnonzero(self.first.given.any(0))
        return tuple(sorted(self.raters[place] for place in here))

    def with_scale(self, scale: Scale) -> Self:
        counts = self.counts[:, self.scale.positions_of(scale)]
        return changed(self, counts=counts, first=self.first.with_scale(scale))

    def in_order(self) -> Self:
        """An order that their labels fix, as for `LabelsByRater`.

        The rows of items that somebody met again come first, and stay as they are. Equal rows of
        the others are made one.
        """
        listed = self.with_scale(self.scale.canonical)
        met_again = 1 + int(self.item.max(initial=-1))
        merged = _others_merged(listed.first, met_again)
        given, n = merged.given.copy(), len(self.raters)
        given[self.item, self.rater] = True
        said = Said.where(given, merged.codes)
        cells = np.searchsorted(said.row * n + said.rater, self.item * n + self.rater)
        said.number[cells] ^= hashes_of(*listed.counts.T)
        order = order_of_raters(said, merged.weights)
        first = merged.only([self.raters[place] for place in order])
        return changed(listed.with_raters(order), first=_others_merged(first, met_again))

    @OfRows
    def sizes(self) -> Array:
        return np.asarray(self.counts.sum(1))

    @property
    def alike(self) -> Codes:
        return kinds(self.counts.astype(np.int64))

    def cells(self) -> CategoryCounts:
        return CategoryCounts(self.counts, self.cell_weights, scale=self.scale)

    def in_numbers(self) -> "ReplicatedNumbers":
        counts, sizes = self.counts.astype(np.int64), self.sizes.astype(np.int64)
        values = np.full((len(counts), int(sizes.max(initial=0))), np.nan)
        said = np.repeat(np.tile(self.scale.scores, len(counts)), counts.ravel())
        values[np.arange(values.shape[1]) < sizes[:, None]] = said
        return ReplicatedNumbers(
            values,
            self.item,
            self.rater,
            self.weights,
            scale=self.scale,
            raters=self.raters,
            round_raters=self.round_raters,
            clusters=self.clusters,
        )

    def reweighted(self, weights: Array) -> Self:
        return self.with_same_rows(first=self.first.reweighted(weights))

    def in_clusters(self, clusters: Clusters) -> Self:
        return changed(self, first=self.first.in_clusters(clusters))

    def without_rater(self, rater: int) -> Self:
        first = self.first.without(self.raters[rater])
        return changed(super().without_rater(rater), first=first)

    def with_unseen(self, mass: float, category: int | None = None) -> Self:
        """As many raters meet an unseen item again as meet a typical item.

        They are turned through all raters here. Their first labels of the item are split as the
        cell is. Raters whose own cells are shorter get shorter ones.
        """
        if not len(self.counts):
            return self
        used, m = self.meeting, self._typical_size()
        pair = self.first.unseen.split or split_between(used, self.scale, category)
        raters = np.unique(self.rater)
        again = np.array(met_again(self.rater, self.item, self.weights))
        turns, typical = again.shape
        sizes = np.array([min(m, self.of(self.raters[each])._typical_size()) for each in raters])
        splits = cell_splits(m, sizes[np.searchsorted(raters, again.ravel())], pair, used)
        place, rows = len(self.first.codes), (m + 1) * turns
        codes = np.full((rows, len(self.raters)), MISSING)
        codes[:, raters] = np.repeat(first_labels(m, pair, len(raters)), turns, axis=0)
        return changed(
            self,
            counts=np.vstack([self.counts, splits.reshape(-1, splits.shape[-1])]),
            item=np.concatenate([self.item, np.repeat(np.arange(place, place + rows), typical)]),
            rater=np.concatenate([self.rater, np.tile(again.ravel(), m + 1)]),
            first=self.first.with_rows(codes, np.full(rows, MISSING), mass),
        )

    def times_seen(self, possible: Self) -> Array:
        """How many cells show the rarest mix of each unseen row: raters slip apart from others."""
        n_seen, of_cells = len(self.weights), kinds(possible.counts.astype(np.int64))
        seen = possible.item < n_seen
        times = np.bincount(of_cells[seen], self.cell_weights, len(of_cells))
        times[of_cells[(possible.counts > 0).sum(1) < 2]] = 0.0
        _, begins = np.unique(possible.item[~seen], return_index=True)
        rarest = np.minimum.reduceat(times[of_cells[~seen]], begins)
        return rarest * (not self.shares_clusters)

    @property
    def meeting(self) -> Array:
        """First labels count. Shape (K,)."""
        return self.first.used

    def split_between(self, split: tuple[int, int]) -> Self:
        return changed(self, first=self.first.split_between(split))

    def _typical_size(self) -> int:
        """The most common size of cells that have as many labels as categories in use, if there are
        some.

        Shorter cells show no guessing.
        """
        long = (self.sizes >= (self.first.used > 0).sum()) & (self.cell_weights > 0)
        cells = long if long.any() else np.full(len(self.sizes), True)
        return typical_size(self.sizes[cells], self.cell_weights[cells])

    def __add__(self, other: "ReplicatedLabels") -> "ReplicatedLabels":
        first = stacked(self.first, other.first)
        return ReplicatedLabels(
            np.vstack([self.counts, other.counts]),
            np.concatenate([self.item, other.item + len(self.first.codes)]),
            np.concatenate([self.rater, other.rater_among(first.raters)]),
            first,
        )


def _others_merged(labels: LabelsByRater, kept: int) -> LabelsByRater:
    others = np.arange(kept, len(labels.codes))
    clusters = labels.clusters
    of_others = clusters and Clusters(clusters.places[others], clusters.times)
    rest, weights, of_rest = distinct_in(labels.codes[others], labels.weights[others], of_others)
    if clusters and of_rest:
        places = np.concatenate([clusters.places[:kept], of_rest.places])
        clusters = Clusters(places, of_rest.times)
    return LabelsByRater(
        np.vstack([labels.codes[:kept], rest]),
        np.concatenate([labels.weights[:kept], weights]),
        scale=labels.scale,
        raters=labels.raters,
        clusters=clusters,
    )
