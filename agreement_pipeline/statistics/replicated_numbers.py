"""Replicated numbers: what raters said in numbers of items they met again."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agreement_pipeline.ratings import Array, Codes, Scale
from agreement_pipeline.statistics.cells import (
    Cells,
    checked_cells,
    moved_up,
    positions_among,
    refuse_single,
    widened,
)
from agreement_pipeline.statistics.clusters import Clusters, checked_clusters, refuse_sum
from agreement_pipeline.statistics.numbers import NumbersByRater
from agreement_pipeline.statistics.order import hashes_of, order_of_raters
from agreement_pipeline.statistics.unseen import (
    far_values,
    met_again,
    number_splits,
    two_numbers,
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
)

WHAT = "replicated numbers"


@dataclass(frozen=True, eq=False)
class ReplicatedNumbers(Cells):
    """Numbers or vectors of numbers that raters gave to items they met more than once.

    Parameters
    ----------
    values
        Shape (C, M, D): what was said at each meeting in each dimension. Each cell has two meetings
        at least. It is nan in all dimensions for further meetings up to M. Shape (C, M) on a scale
        of one dimension.
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
        refuse_single(WHAT, NumbersByRater(rows, scale=scale, raters=_meetings(rows)).sizes)
        items = np.shape(weights)[-1]
        cells = checked_cells(WHAT, item, rater, (len(rows), items, len(raters)))
        born(
            self,
            values=rows,
            **cells,
            weights=checked_weights(weights, items),
            scale=scale,
            raters=checked_raters(WHAT, raters),
            round_raters=tuple(sorted(raters if round_raters is None else round_raters)),
            clusters=checked_clusters(clusters, items),
        )

    def with_scale(self, scale: Scale) -> Self:
        """The numbers on a scale that lists the same categories in another order."""
        return changed(self, scale=scale)

    def in_order(self) -> Self:
        """Put the raters into an order that their numbers fix. The names do not enter."""
        said = np.zeros((self.weights.shape[-1], len(self.raters)), dtype=np.uint64)
        if len(self.values):
            said[self.item, self.rater] = hashes_of(*np.vstack(list(self.values.T)))
        order = order_of_raters(said, self.weights)
        rater = np.argsort(order)[self.rater]
        cells = np.lexsort((rater, self.item))
        return changed(
            self,
            values=self.values[cells],
            item=self.item[cells],
            rater=rater[cells],
            raters=tuple(self.raters[place] for place in order),
        )

    @OfRows
    def sizes(self) -> Array:
        """Meetings a cell. Shape (C,)."""
        return np.asarray((~np.isnan(self.values[:, :, 0])).sum(1), dtype=float)

    def cells(self) -> NumbersByRater:
        """The cells as a table of their own: a row for each cell and a column a meeting."""
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
        """Leave out the rater at a position and all they said."""
        others, gone = self.of_cells(self.rater != rater), self.raters[rater]
        return changed(
            others,
            rater=moved_up(others.rater, rater),
            raters=tuple(name for name in self.raters if name != gone),
            round_raters=tuple(name for name in self.round_raters if name != gone),
        )

    def with_unseen(self, mass: float, category: int | None = None) -> Self:
        """Add every split of a typical cell over two values. The rows weigh `mass` in all.

        As many raters meet an unseen item again as meet a typical item. They are turned through all
        raters here. The two values are each rater's own. They have the mean, the variance and the
        skewness of what the rater said. They are farther apart if the rater's answers to one item
        differed much. On declared categories, they are the one that the rater used most, and the
        one farthest from it.
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
        low, high = two_numbers(self.values[mine], self.cell_weights[mine], self.scale, far_values)
        return number_splits(size, self.values.shape[1], low, high)

    def __add__(self, other: "ReplicatedNumbers") -> "ReplicatedNumbers":
        refuse_other_scale(WHAT, self.scale, other.scale)
        refuse_sum(WHAT, self.clusters, other.clusters)
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
    """Names of the meetings for a table with a column for each."""
    meetings = values.shape[1] if values.ndim == 3 else 0
    return tuple(str(number) for number in range(1, 1 + meetings))


__all__ = ["ReplicatedNumbers"]
