"""Counts by category: the statistic that has forgotten who the raters are."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agreement_pipeline.errors import PolicyError, RatingsError
from agreement_pipeline.ratings import Array, Scale
from agreement_pipeline.statistics.clusters import Clusters, checked_clusters, refuse_sum
from agreement_pipeline.statistics.unseen import (
    category_splits,
    split_at,
    split_between,
    typical_size,
)
from agreement_pipeline.statistics.weighted import (
    OfRows,
    RowMemory,
    born,
    changed,
    checked_weights,
    distinct_in,
    extended,
    refuse_other_scale,
    total,
    whole,
)

WHAT = "category counts"


@dataclass(frozen=True, eq=False)
class CategoryCounts(RowMemory):
    """Distinct item rows of counts by category; raters are forgotten.

    Parameters
    ----------
    counts
        Shape (P, K): how often each category was given in each row. Whole and non-negative.
    weights
        Shape (..., P): how many items show each row. Finite and non-negative; 1 each if omitted.
    scale
        The K categories.
    n_raters
        How many raters gave the ratings that meet another; the largest row total if omitted.
    clusters
        The cluster of each row, if items come in clusters.
    split
        The two categories between which an unseen item is split. By default the category used
        most and the one that is farthest from it.

    Examples
    --------
    >>> counts = CategoryCounts([[3, 0], [2, 1]], [4, 2], scale=Scale(("no", "yes")))
    >>> counts.n_items, counts.n_ratings
    (6, 18)
    >>> (counts + counts).weights.tolist()
    [4.0, 8.0]
    """

    holds: ClassVar[Literal["labels"]] = "labels"
    raters: ClassVar[None] = None

    counts: Array
    weights: Array
    scale: Scale
    n_raters: int
    clusters: Clusters | None = None
    split: tuple[int, int] | None = None

    def __init__(
        self,
        counts: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        scale: Scale,
        n_raters: int | None = None,
        clusters: Clusters | None = None,
    ) -> None:
        rows = whole(WHAT, counts)
        if rows.ndim != 2 or rows.shape[1] != len(scale.names):
            raise RatingsError(
                f"{WHAT}: found shape {rows.shape}; expected (P, {len(scale.names)}) for the "
                "scale. Give a column for every category."
            )
        born(
            self,
            counts=rows,
            weights=checked_weights(weights, len(rows)),
            scale=scale,
            n_raters=int(rows.sum(1).max(initial=0)) if n_raters is None else n_raters,
            clusters=checked_clusters(clusters, len(rows)),
            split=None,
        )

    @OfRows
    def sizes(self) -> Array:
        """Ratings a row. Shape (P,)."""
        return np.asarray(self.counts.sum(1))

    @OfRows
    def pairable(self) -> NDArray[np.bool_]:
        """True for rows with two ratings or more. Shape (P,)."""
        return np.asarray(self.sizes >= 2)

    @property
    def readable(self) -> NDArray[np.bool_]:
        """True for rows that show agreement: those with two ratings or more."""
        return self.pairable

    @property
    def paired(self) -> Array:
        """The weights of rows with two ratings or more, and 0 for other rows. Shape (..., P)."""
        if self.pairable.all():
            return self.weights
        return np.where(self.pairable, self.weights, 0.0)

    @property
    def n_items(self) -> int:
        """Items with at least one rating."""
        return total(self.weights[..., self.sizes > 0])

    @property
    def n_used(self) -> int:
        """Items with two ratings or more."""
        return total(self.weights[..., self.pairable])

    @property
    def n_ratings(self) -> int:
        """Ratings in all."""
        return total(self.weights * self.sizes)

    def reweighted(self, weights: Array) -> Self:
        """Give the rows other weights."""
        return self.with_same_rows(weights=weights)

    def in_clusters(self, clusters: Clusters) -> Self:
        """Put each row into its cluster."""
        return changed(self, clusters=checked_clusters(clusters, len(self.counts)))

    def split_between(self, split: tuple[int, int]) -> Self:
        """Split unseen items between these two categories."""
        return changed(self, split=split)

    @property
    def meeting(self) -> Array:
        """How often each category was given in rows where ratings meet. Shape (K,).

        If no ratings meet, all rows are counted.
        """
        return np.asarray((self.paired if self.paired.any() else self.weights) @ self.counts)

    def with_unseen(self, mass: float, category: int | None = None) -> Self:
        """Add every split of a typical item between two categories. The rows weigh `mass` in all.

        The two categories are read off the ratings that meet another.
        """
        pair = self.split or split_between(self.meeting, self.scale, category)
        rows = category_splits(typical_size(self.sizes, self.weights), pair, self.counts.shape[1])
        return changed(
            self,
            counts=np.vstack([self.counts, rows]),
            weights=extended(self.weights, mass, len(rows)),
            clusters=None,
        )

    def without_each_rater(self) -> Iterator[Self]:
        """Refuse because counts do not say which rater gave which label.

        Raises
        ------
        PolicyError
            Always.
        """
        raise PolicyError(
            "raters at large: found category counts; expected a statistic that names its raters. "
            "Give labels by rater."
        )

    def items_by_rater(self, rows: NDArray[np.bool_]) -> Array:
        """Refuse as `without_each_rater` does."""
        raise PolicyError(
            "items by rater: found category counts; expected a statistic that names its raters. "
            "Give labels by rater."
        )

    def unnamed(self) -> "CategoryCounts":
        """The counts themselves: they name nobody."""
        return self

    def with_scale(self, scale: Scale) -> Self:
        """The counts on a scale that lists the same categories in another order."""
        if scale.categories == self.scale.categories:
            return self
        return changed(
            self,
            counts=self.counts[:, self.scale.positions_of(scale)],
            scale=scale,
            split=split_at(self.split, scale.positions_of(self.scale)),
        )

    def in_order(self) -> "CategoryCounts":
        """The counts with equal rows made one, however the categories are listed."""
        return self.with_scale(self.scale.canonical).merged()

    def merged(self) -> "CategoryCounts":
        """Make equal rows of a cluster one row. The order is fixed."""
        rows, weights, clusters = distinct_in(
            self.counts.astype(np.int64), self.weights, self.clusters
        )
        return CategoryCounts(
            rows, weights, scale=self.scale, n_raters=self.n_raters, clusters=clusters
        )

    def __add__(self, other: "CategoryCounts") -> "CategoryCounts":
        refuse_other_scale(WHAT, self.scale, other.scale)
        refuse_sum(WHAT, self.clusters, other.clusters)
        return CategoryCounts(
            np.vstack([self.counts, other.counts]),
            np.concatenate([self.weights, other.weights]),
            scale=self.scale,
            n_raters=max(self.n_raters, other.n_raters),
        ).merged()


__all__ = ["CategoryCounts"]
