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
from agreement_pipeline.statistics.by_rater import LabelsByRater, NumbersByRater, stack_labels
from agreement_pipeline.statistics.clusters import Clusters, validate_clusters
from agreement_pipeline.statistics.counts import CategoryCounts
from agreement_pipeline.statistics.order import RatingHashes, canonical_order_of_raters, hash_cells
from agreement_pipeline.statistics.unseen import (
    categories_to_split_between,
    cell_splits,
    far_values,
    first_label_splits,
    number_splits,
    numbers_to_split_between,
    turn_replicating_raters,
    typical_size,
)
from agreement_pipeline.statistics.weighted import (
    RowProperty,
    Statistic,
    append_mass,
    as_whole_numbers,
    copy_with,
    distinct_row_places,
    merge_equal_rows,
    raise_if_not_addable,
    set_fields,
    total_as_int,
    unite_raters,
    validate_raters,
    validate_weights,
)
from agreement_pipeline.text import listed

# So many raters are read one by one, and of a crowd so many at once.
MAX_RATERS_ONE_BY_ONE, CROWD_BATCH_RATERS = 32, 128


class ReplicatedCells(Statistic):
    said_in: ClassVar[str]

    item: Codes
    rater: Codes
    sizes: RowProperty[Array]  # ratings a cell; shape (C,)

    if TYPE_CHECKING:

        @property
        def raters(self) -> tuple[str, ...]:
            """All rater names with replicates or without."""

        @property
        def kind_of_each_cell(self) -> Codes:
            """The kind of each cell."""

        def cells_as_items(self) -> CategoryCounts | NumbersByRater:
            """Meetings take the place of raters."""

    def select_cells(self, selection: Flags | Codes) -> Self:
        """Some of the cells."""
        fields = ("item", "rater", self.said_in)
        return copy_with(self, **{name: getattr(self, name)[selection] for name in fields})

    def without_rater(self, rater: int) -> Self:
        remaining = self.select_cells(self.rater != rater)
        return copy_with(remaining, rater=remaining.rater - (remaining.rater > rater))

    def reorder_raters(self, order: Codes) -> Self:
        """The cells with the raters in another order."""
        rater = np.argsort(order)[self.rater]
        cells = np.lexsort((rater, self.item))
        return copy_with(self.select_cells(cells), rater=rater[cells])

    def rater_among(self, raters: tuple[str, ...]) -> Codes:
        """The position of each cell's rater among more raters."""
        return np.array([raters.index(name) for name in self.raters], dtype=np.int64)[self.rater]

    @property
    def cell_weights(self) -> Array:
        return np.asarray(self.weights[..., self.item])

    @RowProperty
    def readable(self) -> Flags:
        return np.isin(np.arange(self.weights.shape[-1]), self.item)

    @property
    def n_items(self) -> int:
        return self.n_used

    @property
    def n_ratings(self) -> int:
        """A vector is one rating."""
        return total_as_int(self.cell_weights * self.sizes)

    def cells_of_rater(self, rater: str) -> Self:
        """The cells of one rater."""
        return self.select_cells(self.rater == self.raters.index(rater))

    def cells_of_raters(self) -> Iterator[CategoryCounts | NumbersByRater]:
        """The first axis of weights is the raters'."""
        if not self._rater_batches:
            yield self.cells_as_items().with_weights(self.cell_weights[None])
        for batch in self._rater_batches:
            sums = np.add.reduceat(self.weights[..., batch.item], batch.begins, axis=-1)
            shape = (1 + batch.rater.max(), *sums.shape[:-1], 1 + batch.row.max())
            weights = np.zeros(shape)
            weights[batch.rater, ..., batch.row] = np.moveaxis(sums, -1, 0)
            yield batch.cells.with_weights(weights)

    @RowProperty
    def _rater_batches(self) -> list["_RaterBatch"]:
        raters, rater = np.unique(self.rater, return_inverse=True)
        batch_size = CROWD_BATCH_RATERS if len(raters) > MAX_RATERS_ONE_BY_ONE else 1
        return [
            _RaterBatch.of(
                self.select_cells(in_batch := (rater // batch_size) == batch),
                rater[in_batch] % batch_size,
            )
            for batch in range(-(-len(raters) // batch_size))
        ]

    def without_each_rater(self) -> Iterator[Self]:
        return (self.without_rater(int(rater)) for rater in np.unique(self.rater))

    def n_items_by_rater(self, rows: Flags) -> Array:
        raters, places = np.unique(self.rater, return_inverse=True)
        weights = self.cell_weights * rows[self.item]
        return np.asarray(np.bincount(places, weights, minlength=len(raters)), dtype=float)


class _RaterBatch(NamedTuple):
    # The weight of a rater's row is that of some items, from one of `begins` to the next.

    cells: CategoryCounts | NumbersByRater
    item: Codes
    begins: Codes
    rater: Codes
    row: Codes

    @classmethod
    def of(cls, part: ReplicatedCells, rater: Codes) -> "_RaterBatch":
        n, several = len(rater), rater.any()
        rows = part.kind_of_each_cell if several else np.arange(n)
        _, first_rows = np.unique(rows, return_index=True)
        order = np.lexsort((rows, rater))
        rater, row = rater[order], rows[order]
        begins = np.flatnonzero(np.append(True, (np.diff(rater) != 0) | (np.diff(row) != 0)))
        ones = np.ones(part.weights.shape[-1])
        cells = part.select_cells(first_rows).with_weights(ones).cells_as_items()
        return cls(cells, part.item[order], begins, rater[begins], row[begins])


def validate_cells(
    kind: str, sizes: Array, item: ArrayLike, rater: ArrayLike, shape: tuple[int, int]
) -> dict[str, Codes]:
    """The items and raters of cells, as codes, once they are found to be possible."""
    if sizes.size and sizes.min() < 2:
        raise RatingsError(
            f"{kind}: found a cell of fewer than two ratings; expected at least two, since they "
            "show whether raters agree with themselves. Leave out the other cells."
        )
    positions = []
    for name, values, places in zip(("item", "rater"), (item, rater), shape, strict=True):
        codes = np.asarray(values, dtype=np.int64)
        outside = codes.size and not (codes.min() >= 0 and codes.max() < places)
        if codes.shape != sizes.shape or outside:
            raise RatingsError(
                f"{kind}: {name} positions: found {listed(codes.ravel().tolist())}; expected one "
                f"from 0 to {places - 1} for each of {len(sizes)} cells. Correct the positions."
            )
        positions.append(codes)
    items, raters = positions
    n_raters = 1 + int(raters.max(initial=0))
    cells, times = np.unique(items * n_raters + raters, return_counts=True)
    if (times > 1).any():
        repeated_cells = [divmod(cell, n_raters) for cell in cells[times > 1].tolist()]
        raise RatingsError(
            f"{kind}: found two cells of one item and rater {listed(repeated_cells)}; expected "
            "one. Put all meetings into one cell."
        )
    return {"item": items, "rater": raters}


NUMBERS = "replicated numbers"


@dataclass(frozen=True, eq=False)
class ReplicatedNumbers(ReplicatedCells):
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
        sizes = NumbersByRater(rows, scale=scale, raters=_meeting_names(rows)).sizes
        shape = np.shape(weights)[-1], len(raters)
        set_fields(
            self,
            values=rows,
            **validate_cells(NUMBERS, sizes, item, rater, shape),
            weights=validate_weights(weights, shape[0]),
            scale=scale,
            raters=validate_raters(NUMBERS, raters),
            round_raters=tuple(sorted(raters if round_raters is None else round_raters)),
            clusters=validate_clusters(clusters, shape[0]),
        )

    def in_canonical_order(self) -> Self:
        if not len(self.values):
            return self
        cells = np.lexsort((self.rater, self.item))
        cell_hashes = hash_cells(*np.vstack(list(self.values[cells].T)))
        nothing, n_raters = np.zeros(1, dtype=np.uint64), len(self.raters)
        hashes = RatingHashes(self.item[cells], self.rater[cells], cell_hashes, nothing, n_raters)
        order = canonical_order_of_raters(hashes, self.weights)
        raters = tuple(self.raters[place] for place in order)
        return copy_with(self.reorder_raters(order), raters=raters)

    @RowProperty
    def sizes(self) -> Array:
        return np.asarray((~np.isnan(self.values[:, :, 0])).sum(1), dtype=float)

    @property
    def kind_of_each_cell(self) -> Codes:
        return np.arange(len(self.values))

    def cells_as_items(self) -> NumbersByRater:
        return NumbersByRater(
            self.values, self.cell_weights, scale=self.scale, raters=_meeting_names(self.values)
        )

    def as_numbers(self) -> Self:
        return self

    def without_rater(self, rater: int) -> Self:
        removed = self.raters[rater]
        raters, round_raters = (
            tuple(name for name in names if name != removed)
            for names in (self.raters, self.round_raters)
        )
        return copy_with(super().without_rater(rater), raters=raters, round_raters=round_raters)

    def with_unseen(self, mass: float, category: int | None = None) -> Self:
        """As many raters meet an unseen item again as meet a typical item.

        They are turned through all raters here. The two values are each rater's own, as those of
        `NumbersByRater` are the panel's.
        """
        if not len(self.values):
            return self
        m, place = typical_size(self.sizes, self.cell_weights), self.weights.shape[-1]
        rater_turns = turn_replicating_raters(self.rater, self.item, self.weights)
        raters = np.concatenate(rater_turns)
        firsts = np.repeat(
            place + np.arange(len(rater_turns)) * (m + 1), [len(turn) for turn in rater_turns]
        )
        values = [self.values]
        for rater in raters:
            mine = self.rater == rater
            rater_values, weights = self.values[mine], self.cell_weights[mine]
            numbers = numbers_to_split_between(rater_values, weights, self.scale, far_values)
            values.append(number_splits(m, rater_values.shape[1], numbers))
        return copy_with(
            self,
            values=np.concatenate(values),
            item=np.concatenate([self.item, (firsts[:, None] + np.arange(m + 1)).ravel()]),
            rater=np.concatenate([self.rater, np.repeat(raters, m + 1)]),
            weights=append_mass(self.weights, mass, (m + 1) * len(rater_turns)),
            clusters=None,
        )

    def __add__(self, other: "ReplicatedNumbers") -> "ReplicatedNumbers":
        raise_if_not_addable(NUMBERS, self, other)
        raters = unite_raters(self.raters, other.raters)
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


def _meeting_names(values: Array) -> tuple[str, ...]:
    meetings = values.shape[1] if values.ndim == 3 else 0
    return tuple(str(number) for number in range(1, 1 + meetings))


LABELS = "replicated labels"


@dataclass(frozen=True, eq=False)
class ReplicatedLabels(ReplicatedCells):
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
        counts, shape = as_whole_numbers(LABELS, self.counts), self.first.codes.shape
        counts = counts.reshape(-1, len(self.first.scale.names))
        cells = validate_cells(LABELS, counts.sum(1), self.item, self.rater, shape)
        set_fields(self, counts=counts, **cells)

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
        present = np.flatnonzero(self.first.given.any(0))
        return tuple(sorted(self.raters[place] for place in present))

    def with_scale(self, scale: Scale) -> Self:
        counts = self.counts[:, self.scale.positions_of(scale)]
        return copy_with(self, counts=counts, first=self.first.with_scale(scale))

    def in_canonical_order(self) -> Self:
        """An order that their labels fix, as for `LabelsByRater`.

        The rows of items that somebody met again come first, and stay as they are. Equal rows of
        the others are made one.
        """
        canonical = self.with_scale(self.scale.canonical)
        n_met_again = 1 + int(self.item.max(initial=-1))
        merged = _merge_rows_after(canonical.first, n_met_again)
        is_rated, n = merged.given.copy(), len(self.raters)
        is_rated[self.item, self.rater] = True
        hashes = RatingHashes.of_cells(is_rated, merged.codes)
        cells = np.searchsorted(hashes.row * n + hashes.rater, self.item * n + self.rater)
        hashes.number[cells] ^= hash_cells(*canonical.counts.T)
        order = canonical_order_of_raters(hashes, merged.weights)
        ordered_labels = merged.select_raters([self.raters[place] for place in order])
        return copy_with(
            canonical.reorder_raters(order), first=_merge_rows_after(ordered_labels, n_met_again)
        )

    @RowProperty
    def sizes(self) -> Array:
        return np.asarray(self.counts.sum(1))

    @property
    def kind_of_each_cell(self) -> Codes:
        return distinct_row_places(self.counts.astype(np.int64))

    def cells_as_items(self) -> CategoryCounts:
        return CategoryCounts(self.counts, self.cell_weights, scale=self.scale)

    def as_numbers(self) -> "ReplicatedNumbers":
        counts, sizes = self.counts.astype(np.int64), self.sizes.astype(np.int64)
        values = np.full((len(counts), int(sizes.max(initial=0))), np.nan)
        scores = np.repeat(np.tile(self.scale.scores, len(counts)), counts.ravel())
        values[np.arange(values.shape[1]) < sizes[:, None]] = scores
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

    def with_weights(self, weights: Array) -> Self:
        return self.with_same_rows(first=self.first.with_weights(weights))

    def with_clusters(self, clusters: Clusters) -> Self:
        return copy_with(self, first=self.first.with_clusters(clusters))

    def without_rater(self, rater: int) -> Self:
        labels = self.first.without(self.raters[rater])
        return copy_with(super().without_rater(rater), first=labels)

    def with_unseen(self, mass: float, category: int | None = None) -> Self:
        """As many raters meet an unseen item again as meet a typical item.

        They are turned through all raters here. Their first labels of the item are split as the
        cell is. Raters whose own cells are shorter get shorter ones.
        """
        if not len(self.counts):
            return self
        used, m = self.n_pairable_by_category, self._typical_size()
        pair = self.first.unseen.split or categories_to_split_between(used, self.scale, category)
        raters = np.unique(self.rater)
        rater_turns = np.array(turn_replicating_raters(self.rater, self.item, self.weights))
        turns, typical = rater_turns.shape
        sizes = np.array(
            [min(m, self.cells_of_rater(self.raters[rater])._typical_size()) for rater in raters]
        )
        splits = cell_splits(m, sizes[np.searchsorted(raters, rater_turns.ravel())], pair, used)
        place, rows = len(self.first.codes), (m + 1) * turns
        codes = np.full((rows, len(self.raters)), MISSING)
        codes[:, raters] = np.repeat(first_label_splits(m, pair, len(raters)), turns, axis=0)
        return copy_with(
            self,
            counts=np.vstack([self.counts, splits.reshape(-1, splits.shape[-1])]),
            item=np.concatenate([self.item, np.repeat(np.arange(place, place + rows), typical)]),
            rater=np.concatenate([self.rater, np.tile(rater_turns.ravel(), m + 1)]),
            first=self.first.append_unseen_rows(codes, np.full(rows, MISSING), mass),
        )

    def times_seen(self, possible: Self) -> Array:
        """How many cells show the rarest mix of each unseen row: raters slip apart from others."""
        n_seen, of_cells = len(self.weights), distinct_row_places(possible.counts.astype(np.int64))
        is_seen = possible.item < n_seen
        times = np.bincount(of_cells[is_seen], self.cell_weights, len(of_cells))
        times[of_cells[(possible.counts > 0).sum(1) < 2]] = 0.0
        _, begins = np.unique(possible.item[~is_seen], return_index=True)
        rarest = np.minimum.reduceat(times[of_cells[~is_seen]], begins)
        return rarest * (not self.shares_clusters)

    @property
    def n_pairable_by_category(self) -> Array:
        """First labels count. Shape (K,)."""
        return self.first.used

    def with_split_between(self, split: tuple[int, int]) -> Self:
        return copy_with(self, first=self.first.with_split_between(split))

    def _typical_size(self) -> int:
        """The most common size of cells that have as many labels as categories in use, if there are
        some.

        Shorter cells show no guessing.
        """
        long = (self.sizes >= (self.first.used > 0).sum()) & (self.cell_weights > 0)
        cells = long if long.any() else np.full(len(self.sizes), True)
        return typical_size(self.sizes[cells], self.cell_weights[cells])

    def __add__(self, other: "ReplicatedLabels") -> "ReplicatedLabels":
        labels = stack_labels(self.first, other.first)
        return ReplicatedLabels(
            np.vstack([self.counts, other.counts]),
            np.concatenate([self.item, other.item + len(self.first.codes)]),
            np.concatenate([self.rater, other.rater_among(labels.raters)]),
            labels,
        )


def _merge_rows_after(labels: LabelsByRater, n_kept: int) -> LabelsByRater:
    other_rows = np.arange(n_kept, len(labels.codes))
    clusters = labels.clusters
    other_clusters = clusters and Clusters(clusters.places[other_rows], clusters.times)
    distinct_rows, weights, rest_clusters = merge_equal_rows(
        labels.codes[other_rows], labels.weights[other_rows], other_clusters
    )
    if clusters and rest_clusters:
        places = np.concatenate([clusters.places[:n_kept], rest_clusters.places])
        clusters = Clusters(places, rest_clusters.times)
    return LabelsByRater(
        np.vstack([labels.codes[:n_kept], distinct_rows]),
        np.concatenate([labels.weights[:n_kept], weights]),
        scale=labels.scale,
        raters=labels.raters,
        clusters=clusters,
    )
