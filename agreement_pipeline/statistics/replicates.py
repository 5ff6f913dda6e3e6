"""Replicates: what raters said of items that they met more than once.

One *cell* is one rater on one item, with what they said at each meeting. Weights belong to items,
so that resampling keeps together all that was said of one item.

Replicated labels and replicated numbers are two statistics, because their unseen items differ in
kind. Unseen labels are split between two categories, the same for all raters. Unseen numbers are
split between two values of each rater's own.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agreement_pipeline.ratings import MISSING, Array, Codes, Scale
from agreement_pipeline.statistics.cells import (
    Cells,
    checked_cells,
    moved_up,
    positions_among,
    refuse_single,
    widened,
)
from agreement_pipeline.statistics.clusters import Clusters, checked_clusters, refuse_sum
from agreement_pipeline.statistics.counts import CategoryCounts
from agreement_pipeline.statistics.labels import LabelsByRater
from agreement_pipeline.statistics.numbers import NumbersByRater
from agreement_pipeline.statistics.sums import stacked
from agreement_pipeline.statistics.unseen import (
    cell_splits,
    first_labels,
    met_again,
    number_splits,
    split_between,
    two_values,
    typical_size,
)
from agreement_pipeline.statistics.weighted import (
    OfRows,
    born,
    changed,
    checked_raters,
    checked_weights,
    extended,
    joint_raters,
    refuse_other_scale,
    whole,
)

LABELS, NUMBERS = "replicated labels", "replicated numbers"


@dataclass(frozen=True, eq=False)
class ReplicatedLabels(Cells):
    """Labels that raters gave to items they met more than once.

    Parameters
    ----------
    counts
        Shape (C, K): labels of each cell by category, at least two in all.
    item
        Shape (C,): the item row of each cell, 0 … P-1.
    rater
        Shape (C,): the position of the cell's rater in `raters`.
    first
        The first labels of the same P items. They hold what the raters said of each other's items,
        and the weights.

    Examples
    --------
    >>> scale = Scale(("no", "yes"))
    >>> first = LabelsByRater([[0, 0], [0, 1]], [4, 2], scale=scale, raters=("a", "b"))
    >>> again = ReplicatedLabels([[2, 0], [1, 1]], [0, 1], [0, 0], first)
    >>> again.n_items, again.n_ratings
    (6, 12)
    """

    counts: Array
    item: Codes
    rater: Codes
    first: LabelsByRater

    def __post_init__(self) -> None:
        counts = whole(LABELS, self.counts).reshape(-1, len(self.first.scale.names))
        refuse_single(LABELS, counts.sum(1))
        shape = (len(counts), *self.first.codes.shape)
        born(self, counts=counts, **checked_cells(LABELS, self.item, self.rater, shape))

    @property
    def weights(self) -> Array:
        """How many items stand behind each item row, shape (..., P)."""
        return self.first.weights

    @property
    def scale(self) -> Scale:
        """The scale of the labels."""
        return self.first.scale

    @property
    def clusters(self) -> Clusters | None:
        """The cluster of each item row, if items come in clusters."""
        return self.first.clusters

    @property
    def raters(self) -> tuple[str, ...]:
        """All rater names, with replicates or without."""
        return self.first.raters

    @property
    def round_raters(self) -> tuple[str, ...]:
        """The names of those who rated in the round itself; others rated in earlier rounds only."""
        here = np.asarray(self.first.given.any(0))
        return tuple(
            sorted(name for name, is_here in zip(self.raters, here, strict=True) if is_here)
        )

    @OfRows
    def sizes(self) -> Array:
        """Labels a cell, shape (C,)."""
        return np.asarray(self.counts.sum(1))

    def cells(self) -> CategoryCounts:
        """The cells as a table of their own, one row for each cell."""
        return CategoryCounts(self.counts, self.cell_weights, scale=self.scale)

    def in_numbers(self) -> "ReplicatedNumbers":
        """The numbers that the counts of an interval or ratio scale stand for, cell by cell."""
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
        """Give the items other weights."""
        return self.with_same_rows(first=self.first.reweighted(weights))

    def in_clusters(self, clusters: Clusters) -> Self:
        """Put each item into its cluster."""
        return changed(self, first=self.first.in_clusters(clusters))

    def of_cells(self, kept: NDArray[np.bool_]) -> Self:
        """Keep some of the cells; items and raters stay."""
        return changed(self, counts=self.counts[kept], item=self.item[kept], rater=self.rater[kept])

    def without_rater(self, rater: int) -> Self:
        """Leave out one rater, by position, with all they said."""
        others = self.of_cells(self.rater != rater)
        first = self.first.without(self.raters[rater])
        return changed(others, rater=moved_up(others.rater, rater), first=first)

    def with_unseen(self, mass: float, category: int | None = None) -> Self:
        """Add every split of a typical cell between two categories, `mass` in all.

        As many raters meet an unseen item again as meet a typical item, turned through all raters
        here. Their first labels of it are split as the cell is, so neither a rater's agreement with
        themselves nor the raters' agreement with each other is ever certain. Raters whose own cells
        are shorter get shorter ones. The cells decide how little is known, so the mass is spread
        over the items that have some.
        """
        if not len(self.counts):
            return self
        used, m = self.first.used, self._typical_size()
        pair = split_between(used, self.scale, category)
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

    def _typical_size(self) -> int:
        """The most common size of cells.

        If some cells have as many labels as there are categories in use, only these count: shorter
        ones show no guessing.
        """
        long = (self.sizes >= (self.first.used > 0).sum()) & (self.cell_weights > 0)
        cells = long if long.any() else np.full(len(self.sizes), True)
        return typical_size(self.sizes[cells], self.cell_weights[cells])

    def __add__(self, other: "ReplicatedLabels") -> "ReplicatedLabels":
        first = stacked(self.first, other.first)
        return ReplicatedLabels(
            np.vstack([self.counts, other.counts]),
            np.concatenate([self.item, other.item + len(self.first.codes)]),
            np.concatenate([self.rater, positions_among(first.raters, other)]),
            first,
        )


@dataclass(frozen=True, eq=False)
class ReplicatedNumbers(Cells):
    """Numbers, or vectors of numbers, that raters gave to items they met more than once.

    Parameters
    ----------
    values
        Shape (C, M, D): what was said at each meeting in each dimension, at least two in each cell.
        If a cell has fewer than M meetings, nan in all dimensions of the others. Shape (C, M) on a
        scale of one dimension.
    item
        Shape (C,): the item of each cell, 0 … P-1.
    rater
        Shape (C,): the position of the cell's rater in `raters`.
    weights
        Shape (..., P): how many items stand behind each item. Finite and non-negative.
    scale, raters
        A scale of numbers, and all rater names, with replicates or without.
    round_raters
        The raters who rated in the round itself; all if omitted.
    clusters
        The cluster of each item, if items come in clusters.

    Examples
    --------
    >>> scale, values = Scale(None, "interval"), [[1.5, 1.7], [3.1, 2.9]]
    >>> again = ReplicatedNumbers(values, [0, 1], [0, 0], [1, 1], scale=scale, raters=("a", "b"))
    >>> again.n_items, again.n_ratings
    (2, 4)
    """

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
        refuse_single(NUMBERS, NumbersByRater(rows, scale=scale, raters=_meetings(rows)).sizes)
        items = np.shape(weights)[-1]
        cells = checked_cells(NUMBERS, item, rater, (len(rows), items, len(raters)))
        born(
            self,
            values=rows,
            **cells,
            weights=checked_weights(weights, items),
            scale=scale,
            raters=checked_raters(NUMBERS, raters),
            round_raters=tuple(sorted(raters if round_raters is None else round_raters)),
            clusters=checked_clusters(clusters, items),
        )

    @OfRows
    def sizes(self) -> Array:
        """Meetings a cell, shape (C,)."""
        return np.asarray((~np.isnan(self.values[:, :, 0])).sum(1), dtype=float)

    def cells(self) -> NumbersByRater:
        """The cells as a table of their own, one row for each cell and one column a meeting."""
        return NumbersByRater(
            self.values, self.cell_weights, scale=self.scale, raters=_meetings(self.values)
        )

    def in_numbers(self) -> Self:
        """The replicates themselves: they are numbers already."""
        return self

    def reweighted(self, weights: Array) -> Self:
        """Give the items other weights."""
        return self.with_same_rows(weights=weights)

    def in_clusters(self, clusters: Clusters) -> Self:
        """Put each item into its cluster."""
        return changed(self, clusters=checked_clusters(clusters, self.weights.shape[-1]))

    def of_cells(self, kept: NDArray[np.bool_]) -> Self:
        """Keep some of the cells; items and raters stay."""
        return changed(self, values=self.values[kept], item=self.item[kept], rater=self.rater[kept])

    def without_rater(self, rater: int) -> Self:
        """Leave out one rater, by position, with all they said."""
        others, gone = self.of_cells(self.rater != rater), self.raters[rater]
        return changed(
            others,
            rater=moved_up(others.rater, rater),
            raters=tuple(name for name in self.raters if name != gone),
            round_raters=tuple(name for name in self.round_raters if name != gone),
        )

    def with_unseen(self, mass: float, category: int | None = None) -> Self:
        """Add every split of a typical cell over two values, `mass` in all.

        As many raters meet an unseen item again as meet a typical item, turned through all raters
        here. The two values are each rater's own: those of the two-valued rating with the mean, the
        variance and the skewness of what they said.
        """
        if not len(self.values):
            return self
        m, place = typical_size(self.sizes, self.cell_weights), self.weights.shape[-1]
        again = met_again(self.rater, self.item, self.weights)
        raters = np.concatenate(again)
        firsts = np.repeat(place + np.arange(len(again)) * (m + 1), [len(each) for each in again])
        values = [self._splits_of(rater, m) for rater in raters]
        return changed(
            self,
            values=np.concatenate([self.values, *values]),
            item=np.concatenate([self.item, (firsts[:, None] + np.arange(m + 1)).ravel()]),
            rater=np.concatenate([self.rater, np.repeat(raters, m + 1)]),
            weights=extended(self.weights, mass, (m + 1) * len(again)),
            clusters=None,
        )

    def _splits_of(self, rater: int, size: int) -> Array:
        """The splits of one rater's cells between their own two values."""
        mine = self.rater == rater
        low, high = two_values(self.values[mine], self.cell_weights[mine])
        return number_splits(size, self.values.shape[1], low, high)

    def __add__(self, other: "ReplicatedNumbers") -> "ReplicatedNumbers":
        refuse_other_scale(NUMBERS, self.scale, other.scale)
        refuse_sum(NUMBERS, self.clusters, other.clusters)
        raters = joint_raters(self.raters, other.raters)
        meetings = max(self.values.shape[1], other.values.shape[1])
        return ReplicatedNumbers(
            np.concatenate([widened(self.values, meetings), widened(other.values, meetings)]),
            np.concatenate([self.item, other.item + self.weights.shape[-1]]),
            np.concatenate([self.rater, positions_among(raters, other)]),
            np.concatenate([self.weights, other.weights]),
            scale=self.scale,
            raters=raters,
            round_raters={*self.round_raters, *other.round_raters},
        )


def _meetings(values: Array) -> tuple[str, ...]:
    """Names of the meetings, for a table with a column for each."""
    meetings = values.shape[1] if values.ndim == 3 else 0
    return tuple(str(number) for number in range(1, 1 + meetings))


__all__ = ["ReplicatedLabels", "ReplicatedNumbers"]
