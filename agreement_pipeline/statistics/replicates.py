"""The statistic of what raters say of items they meet again."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import MISSING, Array, Codes, Scale
from agreement_pipeline.statistics.clusters import Clusters
from agreement_pipeline.statistics.patterns import CategoryCounts, RatingPatterns, stacked
from agreement_pipeline.statistics.rows import changed, extended, positions, refuse_two_cells, whole
from agreement_pipeline.statistics.unseen import (
    cell_splits,
    first_labels,
    met_again,
    split_between,
    typical_size,
)


@dataclass(frozen=True, eq=False)
class ReplicateCounts:
    """What raters said of items they met more than once.

    One *cell* is one rater on one item; its row counts the labels over the occurrences. Weights belong to items, so that
    resampling keeps together all that was said of one item.

    Parameters
    ----------
    counts
        Shape (C, K): labels of each cell by category, at least two in all.
    item
        Shape (C,): the item row each cell belongs to, 0 … P-1.
    rater
        Shape (C,): the position of the cell's rater in `raters`.
    patterns
        The first ratings of the same P items: what the raters said of each other's items, and the weights.
    """

    counts: Array
    item: Codes
    rater: Codes
    patterns: RatingPatterns

    def __post_init__(self) -> None:
        counts = whole("replicate counts", self.counts).reshape(-1, len(self.patterns.scale.names))
        if counts.size and counts.sum(1).min() < 2:
            raise RatingsError(
                "replicate counts: a cell of fewer than two ratings found; two occurrences are required to see a rater agree with herself."
            )
        object.__setattr__(self, "counts", counts)
        for name, rows in (
            ("item", self.patterns.codes.shape[0]),
            ("rater", self.patterns.codes.shape[1]),
        ):
            object.__setattr__(
                self,
                name,
                positions(f"replicate counts: {name}", getattr(self, name), len(counts), rows),
            )

        refuse_two_cells("replicate counts", self.item, self.rater)

    @property
    def weights(self) -> Array:
        """How many items stand behind each item row, shape (..., P)."""
        return self.patterns.weights

    @property
    def cell_weights(self) -> Array:
        """The weight of each cell, shape (..., C): that of its item."""
        return np.asarray(self.weights[..., self.item])

    @cached_property
    def sizes(self) -> Array:
        """Occurrences a cell, shape (C,)."""
        return np.asarray(self.counts.sum(1))

    @property
    def scale(self) -> Scale:
        """The scale the codes are read on."""
        return self.patterns.scale

    @property
    def clusters(self) -> Clusters | None:
        """The cluster of each row, where items come in clusters."""
        return self.patterns.clusters

    @cached_property
    def readable(self) -> NDArray[np.bool_]:
        """Which items some rater met again, shape (P,)."""
        return np.isin(np.arange(len(self.patterns.codes)), self.item)

    @property
    def raters(self) -> tuple[str, ...]:
        """All rater names, with replicates or without."""
        return self.patterns.raters

    @property
    def round_raters(self) -> tuple[str, ...]:
        """Those of them who rated in the round itself, by name; an earlier round alone may have seen the others."""
        rated = np.asarray((self.patterns.codes >= 0).any(0))
        return tuple(sorted(name for name, here in zip(self.raters, rated, strict=True) if here))

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
        """Ratings of items met again."""
        return round(float((self.cell_weights * self.sizes).sum()))

    def cells(self) -> CategoryCounts:
        """The cells as a table of their own: one row a rater's meetings with one item."""
        return CategoryCounts(self.counts, self.cell_weights, scale=self.scale)

    def reweighted(self, weights: Array) -> Self:
        """The same rows under other weights."""
        return changed(self, patterns=self.patterns.reweighted(weights))

    def in_clusters(self, clusters: Clusters) -> Self:
        """The same rows, each in its cluster."""
        return changed(self, patterns=self.patterns.in_clusters(clusters))

    def of(self, rater: str) -> "ReplicateCounts":
        """The cells of one rater."""
        mine = self.rater == self.raters.index(rater)
        return ReplicateCounts(self.counts[mine], self.item[mine], self.rater[mine], self.patterns)

    def with_unseen(self, mass: float, category: int | None = None) -> Self:
        """Add every split of a typical cell between two categories, met again by as many raters as a typical item is, turned through all here.

        The raters' first labels of such an item are split as the cell is, so that neither a rater's agreement with herself nor the
        raters' with each other is ever certain. A rater whose own cells are shorter gets shorter ones. The cells decide how little is known,
        so the mass is spread over the items that have some.
        """
        if not len(self.counts):
            return self
        m = self._typical_size()
        pair = split_between(self.patterns.used, self.scale, category)
        raters, again = (
            np.unique(self.rater),
            np.array(met_again(self.rater, self.item, self.weights)),
        )
        turns, typical = again.shape
        sizes = np.array([min(m, self.of(self.raters[rater])._typical_size()) for rater in raters])
        splits = cell_splits(
            m, sizes[np.searchsorted(raters, again.ravel())], pair, self.patterns.used
        )
        place, rows = self.patterns.codes.shape[0], (m + 1) * turns
        codes = np.full((rows, len(self.raters)), MISSING)
        codes[:, raters] = np.repeat(first_labels(m, pair, len(raters)), turns, axis=0)
        return changed(
            self,
            counts=np.vstack([self.counts, splits.reshape(-1, splits.shape[-1])]),
            item=np.concatenate([self.item, np.repeat(np.arange(place, place + rows), typical)]),
            rater=np.concatenate([self.rater, np.tile(again.ravel(), m + 1)]),
            patterns=changed(
                self.patterns,
                codes=np.vstack([self.patterns.codes, codes]),
                weights=extended(self.weights, mass, rows),
                clusters=None,
            ),
        )

    def _typical_size(self) -> int:
        """The most common size of cells, of those with as many labels as categories in use if there are some: shorter ones show no guessing."""
        long = (self.sizes >= (self.patterns.used > 0).sum()) & (self.cell_weights > 0)
        cells = long if long.any() else np.full(len(self.sizes), True)
        return typical_size(self.sizes[cells], self.cell_weights[cells])

    def __add__(self, other: "ReplicateCounts") -> "ReplicateCounts":
        patterns = stacked(self.patterns, other.patterns)
        rater = np.array([patterns.raters.index(name) for name in other.raters], dtype=np.int64)[
            other.rater
        ]
        return ReplicateCounts(
            np.vstack([self.counts, other.counts]),
            np.concatenate([self.item, other.item + len(self.patterns.codes)]),
            np.concatenate([self.rater, rater]),
            patterns,
        )


__all__ = ["ReplicateCounts"]
