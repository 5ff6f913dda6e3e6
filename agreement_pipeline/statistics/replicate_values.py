"""The statistic of what raters say, in numbers or vectors of numbers, of items they meet again."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Array, Codes, Scale
from agreement_pipeline.statistics.clusters import Clusters, checked_clusters, refuse_sum
from agreement_pipeline.statistics.replicates import ReplicateCounts
from agreement_pipeline.statistics.rows import (
    changed,
    checked_raters,
    checked_weights,
    extended,
    positions,
    refuse_two_cells,
)
from agreement_pipeline.statistics.unseen import met_again, typical_size
from agreement_pipeline.statistics.values import RatingValues, splits, two_values


@dataclass(frozen=True, eq=False)
class ReplicateValues:
    """What raters said, in numbers, of items they met more than once.

    One *cell* is one rater on one item; its row holds what she said at each meeting. Weights belong to items, so that resampling keeps
    together all that was said of one item.

    Parameters
    ----------
    values
        Shape (C, M, D): what was said at each meeting in each dimension, nan in all dimensions where a cell has fewer than M meetings; at
        least two in each cell. Shape (C, M) on a scale of one dimension.
    item
        Shape (C,): the item each cell belongs to, 0 … P-1.
    rater
        Shape (C,): the position of the cell's rater in `raters`.
    weights
        Shape (..., P): how many items stand behind each item. Finite and non-negative.
    scale, raters
        A scale of numbers, and all rater names, with replicates or without.
    round_raters
        Those of them who rated in the round itself; all when omitted.
    clusters
        The cluster of each item, where items come in clusters.

    Examples
    --------
    >>> again = ReplicateValues([[1.5, 1.7], [3.1, 2.9]], [0, 1], [0, 0], [1, 1], scale=Scale(None, "interval"), raters=("a", "b"))
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
        meetings = [
            str(number) for number in range(1, 1 + (rows.shape[1] if rows.ndim == 3 else 0))
        ]
        cells = RatingValues(rows, scale=scale, raters=meetings)
        if len(rows) and cells.sizes.min() < 2:
            raise RatingsError(
                "replicate values: a cell of fewer than two ratings found; two meetings are required to see a rater agree with herself."
            )
        items = np.shape(weights)[-1]
        object.__setattr__(self, "values", rows)
        object.__setattr__(
            self, "item", positions("replicate values: item", item, len(rows), items)
        )
        object.__setattr__(
            self, "rater", positions("replicate values: rater", rater, len(rows), len(raters))
        )
        refuse_two_cells("replicate values", self.item, self.rater)
        object.__setattr__(self, "weights", checked_weights(weights, items))
        object.__setattr__(self, "scale", scale)
        object.__setattr__(self, "raters", checked_raters("replicate values", raters))
        object.__setattr__(
            self, "round_raters", tuple(sorted(raters if round_raters is None else round_raters))
        )
        object.__setattr__(self, "clusters", checked_clusters(clusters, items))

    @classmethod
    def of_counts(cls, replicates: ReplicateCounts) -> "ReplicateValues":
        """The numbers that the counts of an interval or ratio scale stand for, cell for cell."""
        counts, sizes = replicates.counts.astype(np.int64), replicates.sizes.astype(np.int64)
        cells = len(counts)
        values = np.full((cells, int(sizes.max(initial=0))), np.nan)
        said = np.repeat(np.tile(replicates.scale.scores, cells), counts.ravel())
        values[np.arange(values.shape[1]) < sizes[:, None]] = said
        return cls(
            values,
            replicates.item,
            replicates.rater,
            replicates.weights,
            scale=replicates.scale,
            raters=replicates.raters,
            round_raters=replicates.round_raters,
            clusters=replicates.clusters,
        )

    @property
    def cell_weights(self) -> Array:
        """The weight of each cell, shape (..., C): that of its item."""
        return np.asarray(self.weights[..., self.item])

    @cached_property
    def sizes(self) -> Array:
        """Occurrences a cell, shape (C,)."""
        return np.asarray((~np.isnan(self.values[:, :, 0])).sum(1), dtype=float)

    @property
    def readable(self) -> NDArray[np.bool_]:
        """Which items some rater met again, shape (P,)."""
        return np.isin(np.arange(self.weights.shape[-1]), self.item)

    @property
    def n_items(self) -> int:
        """Items that some rater met again."""
        return round(float(self.weights[..., self.readable].sum()))

    @property
    def n_used(self) -> int:
        """The same: on each of them a rater meets herself."""
        return self.n_items

    @property
    def n_ratings(self) -> int:
        """Ratings of items met again; a vector is one rating."""
        return round(float((self.cell_weights * self.sizes).sum()))

    def cells(self) -> RatingValues:
        """The cells as a table of their own: one row a rater's meetings with one item, one column a meeting."""
        meetings = tuple(str(number) for number in range(1, 1 + self.values.shape[1]))
        return RatingValues(self.values, self.cell_weights, scale=self.scale, raters=meetings)

    def reweighted(self, weights: Array) -> Self:
        """The same rows under other weights."""
        return changed(self, weights=weights)

    def in_clusters(self, clusters: Clusters) -> Self:
        """The same items, each in its cluster."""
        return changed(self, clusters=checked_clusters(clusters, self.weights.shape[-1]))

    def of(self, rater: str) -> Self:
        """The cells of one rater."""
        mine = self.rater == self.raters.index(rater)
        return changed(self, values=self.values[mine], item=self.item[mine], rater=self.rater[mine])

    def with_unseen(self, mass: float, category: int | None = None) -> Self:
        """Add every split of a typical cell over two values, met again by as many raters as a typical item is, turned through all here.

        The two values are each rater's own: those of the two-valued rating with the mean, the variance and the skewness of what she said.
        """
        if not len(self.values):
            return self
        m, place = typical_size(self.sizes, self.cell_weights), self.weights.shape[-1]
        again = met_again(self.rater, self.item, self.weights)
        cells = [
            (rater, place + turn * (m + 1)) for turn, raters in enumerate(again) for rater in raters
        ]
        return changed(
            self,
            values=np.concatenate(
                [self.values, *(self._splits_of(rater, m) for rater, _ in cells)]
            ),
            item=np.concatenate(
                [self.item, *(np.arange(first, first + m + 1) for _, first in cells)]
            ),
            rater=np.concatenate([self.rater, np.repeat([rater for rater, _ in cells], m + 1)]),
            weights=extended(self.weights, mass, (m + 1) * len(again)),
            clusters=None,
        )

    def _splits_of(self, rater: int, size: int) -> Array:
        mine = self.rater == rater
        low, high = two_values(self.values[mine], self.cell_weights[mine])
        return splits(size, self.values.shape[1], low, high)

    def __add__(self, other: "ReplicateValues") -> "ReplicateValues":
        if self.scale != other.scale:
            raise RatingsError(
                f"replicate values: cannot add over different scales {self.scale} and {other.scale}; one is required."
            )
        refuse_sum("replicate values", self.clusters, other.clusters)
        raters = (*self.raters, *(name for name in other.raters if name not in self.raters))
        rater = np.array([raters.index(name) for name in other.raters], dtype=np.int64)[other.rater]
        meetings = max(self.values.shape[1], other.values.shape[1])
        return ReplicateValues(
            np.concatenate([_widened(self.values, meetings), _widened(other.values, meetings)]),
            np.concatenate([self.item, other.item + self.weights.shape[-1]]),
            np.concatenate([self.rater, rater]),
            np.concatenate([self.weights, other.weights]),
            scale=self.scale,
            raters=raters,
            round_raters={*self.round_raters, *other.round_raters},
        )


def _widened(values: Array, meetings: int) -> Array:
    """The values with a place for each of so many meetings, nan where there was none."""
    wide = np.full((len(values), meetings, values.shape[2]), np.nan)
    wide[:, : values.shape[1]] = values
    return wide


__all__ = ["ReplicateValues"]
