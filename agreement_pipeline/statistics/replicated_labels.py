"""Replicated labels: counts of what raters said of items they met again."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from agreement_pipeline.ratings import MISSING, Array, Codes, Scale
from agreement_pipeline.statistics.cells import (
    Cells,
    checked_cells,
    moved_up,
    positions_among,
    refuse_single,
)
from agreement_pipeline.statistics.clusters import Clusters
from agreement_pipeline.statistics.counts import CategoryCounts
from agreement_pipeline.statistics.labels import LabelsByRater
from agreement_pipeline.statistics.order import hashes_of, order_of_raters
from agreement_pipeline.statistics.replicated_numbers import ReplicatedNumbers
from agreement_pipeline.statistics.sums import stacked
from agreement_pipeline.statistics.unseen import (
    cell_splits,
    first_labels,
    met_again,
    split_between,
    typical_size,
)
from agreement_pipeline.statistics.weighted import OfRows, born, changed, distinct_in, whole

WHAT = "replicated labels"


@dataclass(frozen=True, eq=False)
class ReplicatedLabels(Cells):
    """Labels that raters gave to items they met more than once.

    Parameters
    ----------
    counts
        Shape (C, K): labels of each cell by category. There are two at least.
    item
        Shape (C,): the item row of each cell, 0 … P-1.
    rater
        Shape (C,): the position of the cell's rater in `raters`.
    first
        The first labels of the same P items. They hold the weights and what the raters said of each
        other's items.

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
        counts = whole(WHAT, self.counts).reshape(-1, len(self.first.scale.names))
        refuse_single(WHAT, counts.sum(1))
        shape = (len(counts), *self.first.codes.shape)
        born(self, counts=counts, **checked_cells(WHAT, self.item, self.rater, shape))

    @property
    def weights(self) -> Array:
        """How many items stand behind each item row. Shape (..., P)."""
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

    def with_scale(self, scale: Scale) -> Self:
        """The labels on a scale that lists the same categories in another order."""
        counts = self.counts[:, self.scale.positions_of(scale)]
        return changed(self, counts=counts, first=self.first.with_scale(scale))

    def in_order(self) -> Self:
        """Put the raters into an order that their labels fix. The names do not enter.

        Nor does the order in which categories are listed, unless it has a meaning. The rows of
        items that somebody met again come first, and stay as they are. Equal rows of the others
        are made one.
        """
        return self.with_scale(self.scale.canonical)._in_order_of_raters()

    def _in_order_of_raters(self) -> Self:
        met_again = 1 + int(self.item.max(initial=-1))
        merged = _others_merged(self.first, met_again)
        said = hashes_of(merged.codes)
        said[self.item, self.rater] ^= hashes_of(*self.counts.T)
        order = order_of_raters(said, merged.weights)
        rater = np.argsort(order)[self.rater]
        cells = np.lexsort((rater, self.item))
        first = merged.only([self.raters[place] for place in order])
        return changed(
            self,
            counts=self.counts[cells],
            item=self.item[cells],
            rater=rater[cells],
            first=_others_merged(first, met_again),
        )

    @OfRows
    def sizes(self) -> Array:
        """Labels a cell. Shape (C,)."""
        return np.asarray(self.counts.sum(1))

    def cells(self) -> CategoryCounts:
        """The cells as a table of their own. One row for each cell."""
        return CategoryCounts(self.counts, self.cell_weights, scale=self.scale)

    def in_numbers(self) -> "ReplicatedNumbers":
        """The numbers that the counts of an interval or ratio scale stand for."""
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
        """Leave out the rater at a position and all they said."""
        others = self.of_cells(self.rater != rater)
        first = self.first.without(self.raters[rater])
        return changed(others, rater=moved_up(others.rater, rater), first=first)

    def with_unseen(self, mass: float, category: int | None = None) -> Self:
        """Add every split of a typical cell between two categories. The rows weigh `mass` in all.

        As many raters meet an unseen item again as meet a typical item. They are turned through all
        raters here. Their first labels of the item are split as the cell is. So neither agreement
        with themselves nor agreement with each other is ever certain. Raters whose own cells are
        shorter get shorter ones. The cells decide how little is known. So the mass is spread over
        the items that have some.
        """
        if not len(self.counts):
            return self
        used, m = self.meeting, self._typical_size()
        pair = self.first.split or split_between(used, self.scale, category)
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

    @property
    def meeting(self) -> Array:
        """How often each category was given at first. Shape (K,)."""
        return self.first.used

    def split_between(self, split: tuple[int, int]) -> Self:
        """Split unseen items between these two categories."""
        return changed(self, first=self.first.split_between(split))

    def _typical_size(self) -> int:
        """The most common size of cells.

        Only cells with as many labels as categories in use count if there are some. Shorter cells
        show no guessing.
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


def _others_merged(labels: LabelsByRater, kept: int) -> LabelsByRater:
    """The first rows as they are and then the others. Equal rows of the others are made one."""
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


__all__ = ["ReplicatedLabels"]
