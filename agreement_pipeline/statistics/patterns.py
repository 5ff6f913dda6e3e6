"""The sufficient statistics: distinct rows of ratings, and how many items show each.

A statistic is rows of data with `weights` of shape `(..., P)`. With `(P,)` a measure returns its point value; with
`(B, P)`, one draw of weights a row, it returns B resampled values. Two rounds' statistics add. Where items come in clusters, rows of different
clusters stay rows of their own, and a statistic holds the cluster of each.

Missing ratings are the code -1. Shapes: `N` items, `R` raters, `K` categories, `P` patterns, `B` resamples.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import MISSING, Array, Codes, Scale
from agreement_pipeline.statistics.clusters import Clusters, checked_clusters, refuse_sum
from agreement_pipeline.statistics.rows import (
    changed,
    checked_codes,
    checked_raters,
    checked_weights,
    distinct_in,
    extended,
    reweighted,
    whole,
)
from agreement_pipeline.statistics.unseen import (
    MAX_TURNS,
    category_splits,
    rater_splits,
    split_between,
    typical_size,
)


class Statistic(Protocol):
    """What every statistic offers to `estimate()`."""

    @property
    def weights(self) -> Array:
        """How many items show each row, shape (..., P)."""

    @property
    def scale(self) -> Scale:
        """The scale the codes are read on."""

    @property
    def clusters(self) -> Clusters | None:
        """The cluster of each row; None where items come one by one, and of rows some of which were not seen."""

    @property
    def readable(self) -> NDArray[np.bool_]:
        """Which rows agreement can be read on, shape (P,)."""

    @property
    def n_items(self) -> int:
        """How many items it rests on."""

    @property
    def n_used(self) -> int:
        """Those of them that agreement can be read on."""

    @property
    def n_ratings(self) -> int:
        """How many ratings it rests on."""

    def reweighted(self, weights: Array) -> Self:
        """The same rows under other weights."""

    def in_clusters(self, clusters: Clusters) -> Self:
        """The same rows, each in its cluster."""

    def with_unseen(self, mass: float, category: int | None = None) -> Self:
        """The rows and, with total weight `mass`, rows that were not seen but could have been; of one category, where its own value is asked."""


@dataclass(frozen=True, eq=False)
class CategoryCounts:
    """Distinct item rows of counts by category; raters are forgotten.

    Parameters
    ----------
    counts
        Shape (P, K): how often each category was given, row by row. Whole and non-negative.
    weights
        Shape (..., P): how many items show each row. Finite and non-negative; 1 each when omitted.
    scale
        The K categories.
    n_raters
        How many raters gave those that meet another; the largest row total when omitted.
    clusters
        The cluster of each row, where items come in clusters.
    split
        The two categories that an item which was not seen is split between; when omitted, the most used and the farthest from it in use.

    Examples
    --------
    >>> counts = CategoryCounts([[3, 0], [2, 1]], [4, 2], scale=Scale(("no", "yes")))
    >>> counts.n_items, counts.n_ratings
    (6, 18)
    >>> (counts + counts).weights.tolist()
    [4.0, 8.0]
    """

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
        rows = whole("category counts", counts)
        if rows.ndim != 2 or rows.shape[1] != len(scale.names):
            raise RatingsError(
                f"category counts: shape {rows.shape} found; (P, {len(scale.names)}) is required by the scale. Give a column for every category."
            )
        object.__setattr__(self, "counts", rows)
        object.__setattr__(self, "weights", checked_weights(weights, len(rows)))
        object.__setattr__(self, "scale", scale)
        object.__setattr__(
            self, "n_raters", int(rows.sum(1).max(initial=0)) if n_raters is None else n_raters
        )
        object.__setattr__(self, "clusters", checked_clusters(clusters, len(rows)))
        object.__setattr__(self, "split", None)

    @cached_property
    def sizes(self) -> Array:
        """Ratings a row, shape (P,)."""
        return np.asarray(self.counts.sum(1))

    @cached_property
    def pairable(self) -> NDArray[np.bool_]:
        """Which rows hold two ratings or more, shape (P,)."""
        return self.sizes >= 2

    @property
    def readable(self) -> NDArray[np.bool_]:
        """The same: agreement can be read on them."""
        return self.pairable

    @property
    def n_items(self) -> int:
        """Items with at least one rating."""
        return round(float(self.weights[..., self.sizes > 0].sum()))

    @property
    def n_used(self) -> int:
        """Items with two ratings or more."""
        return round(float(self.weights[..., self.pairable].sum()))

    @property
    def n_ratings(self) -> int:
        """Ratings in all."""
        return round(float((self.weights * self.sizes).sum()))

    def reweighted(self, weights: Array) -> Self:
        """The same rows under other weights."""
        return reweighted(self, weights, "sizes", "pairable")

    def in_clusters(self, clusters: Clusters) -> Self:
        """The same rows, each in its cluster."""
        return changed(self, clusters=checked_clusters(clusters, len(self.counts)))

    def split_between(self, split: tuple[int, int]) -> Self:
        """The same rows, and items that were not seen split between these two categories."""
        return changed(self, split=split)

    @property
    def meeting(self) -> Array:
        """How often each category was given where ratings meet, shape (K,); where none do, how often it was given."""
        return np.asarray(_meeting(self) @ self.counts)

    def with_unseen(self, mass: float, category: int | None = None) -> Self:
        """Add every split of a typical item between two categories of ratings that meet another, `mass` in all."""
        pair = self.split or split_between(self.meeting, self.scale, category)
        rows = category_splits(typical_size(self.sizes, self.weights), pair, self.counts.shape[1])
        return changed(
            self,
            counts=np.vstack([self.counts, rows]),
            weights=extended(self.weights, mass, len(rows)),
            clusters=None,
        )

    def __add__(self, other: "CategoryCounts") -> "CategoryCounts":
        if self.scale != other.scale:
            raise RatingsError(
                f"category counts: cannot add over different scales {self.scale} and {other.scale}; one is required."
            )
        refuse_sum("category counts", self.clusters, other.clusters)
        both = CategoryCounts(
            np.vstack([self.counts, other.counts]),
            np.concatenate([self.weights, other.weights]),
            scale=self.scale,
            n_raters=max(self.n_raters, other.n_raters),
        )
        return merged(both)


@dataclass(frozen=True, eq=False)
class RatingPatterns:
    """Distinct item rows of codes by rater; raters keep their names.

    Parameters
    ----------
    codes
        Shape (P, R): the position of each rater's label on the scale, -1 where missing.
    weights
        Shape (..., P): how many items show each row.
    scale, raters
        The categories, and the R rater names.
    clusters
        The cluster of each row, where items come in clusters.
    """

    codes: Codes
    weights: Array
    scale: Scale
    raters: tuple[str, ...]
    clusters: Clusters | None = None

    def __init__(
        self,
        codes: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        scale: Scale,
        raters: Sequence[str],
        clusters: Clusters | None = None,
    ) -> None:
        rows = checked_codes("rating patterns: codes", codes, len(scale.names))
        if rows.ndim != 2 or rows.shape[1] != len(raters):
            raise RatingsError(
                f"rating patterns: shape {rows.shape} found; (P, {len(raters)}) is required by the raters. Give a column for every rater."
            )
        object.__setattr__(self, "codes", rows)
        object.__setattr__(self, "weights", checked_weights(weights, len(rows)))
        object.__setattr__(self, "scale", scale)
        object.__setattr__(self, "raters", checked_raters("rating patterns", raters))
        object.__setattr__(self, "clusters", checked_clusters(clusters, len(rows)))

    @property
    def readable(self) -> NDArray[np.bool_]:
        """Which rows hold two ratings or more, shape (P,)."""
        return np.asarray((self.codes >= 0).sum(1) >= 2)

    @property
    def n_raters(self) -> int:
        """How many raters there are."""
        return len(self.raters)

    @property
    def n_items(self) -> int:
        """Items with at least one rating."""
        return round(float(self.weights[..., (self.codes >= 0).any(1)].sum()))

    @property
    def n_used(self) -> int:
        """Items with two ratings or more."""
        return round(float(self.weights[..., self.readable].sum()))

    @property
    def n_ratings(self) -> int:
        """Ratings in all."""
        return round(float((self.weights * (self.codes >= 0).sum(1)).sum()))

    @cached_property
    def indicators(self) -> Array:
        """1 where a rater gave a category, shape (P, R, K)."""
        return np.asarray(self.codes[:, :, None] == np.arange(len(self.scale.names)), dtype=float)

    def counts(self) -> CategoryCounts:
        """The same rows with the raters forgotten, row for row."""
        return self._row_counts.reweighted(self.weights)

    @cached_property
    def _row_counts(self) -> CategoryCounts:
        met = int((self.codes[self.readable] >= 0).any(0).sum())
        return CategoryCounts(
            self.indicators.sum(1), scale=self.scale, n_raters=met, clusters=self.clusters
        )

    def reweighted(self, weights: Array) -> Self:
        """The same rows under other weights."""
        return reweighted(self, weights, "indicators", "_row_counts")

    def in_clusters(self, clusters: Clusters) -> Self:
        """The same rows, each in its cluster."""
        return changed(self, clusters=checked_clusters(clusters, len(self.codes)))

    def with_unseen(self, mass: float, category: int | None = None) -> Self:
        """Add every split of a typical item between two categories of ratings that meet another, each turned through all raters."""
        counts = self.counts()
        rows = self.unseen(split_between(counts.meeting, self.scale, category))
        return changed(
            self,
            codes=np.vstack([self.codes, rows]),
            weights=extended(self.weights, mass, len(rows)),
            clusters=None,
        )

    @property
    def used(self) -> Array:
        """How often each category was given, shape (..., K)."""
        return np.asarray(self.weights @ self.indicators.sum(1))

    def unseen(self, pair: tuple[int, int], most_turns: int = MAX_TURNS) -> Codes:
        """The splits of a typical item between two categories, each turned through the raters."""
        size = typical_size((self.codes >= 0).sum(1), self.weights)
        return rater_splits(min(size, self.n_raters), pair, self.n_raters, most_turns)

    def only(self, raters: Sequence[str]) -> "RatingPatterns":
        """The columns of some raters."""
        columns = [self.raters.index(rater) for rater in raters]
        return RatingPatterns(
            self.codes[:, columns],
            self.weights,
            scale=self.scale,
            raters=tuple(raters),
            clusters=self.clusters,
        )

    def without(self, rater: str) -> "RatingPatterns":
        """The columns of all raters but one."""
        return self.only([name for name in self.raters if name != rater])

    def __add__(self, other: "RatingPatterns") -> "RatingPatterns":
        return merged_codes(stacked(self, other))


def _meeting(counts: CategoryCounts) -> Array:
    """The weights of the items with two ratings or more, 0 for the others; where there is no such item, all weights. Shape (..., P)."""
    paired = np.where(counts.pairable, counts.weights, 0.0)
    return paired if paired.any() else counts.weights


def merged(counts: CategoryCounts) -> CategoryCounts:
    """The same table with equal rows of a cluster made one, in a fixed order."""
    rows, weights, clusters = distinct_in(
        counts.counts.astype(np.int64), counts.weights, counts.clusters
    )
    return CategoryCounts(
        rows, weights, scale=counts.scale, n_raters=counts.n_raters, clusters=clusters
    )


def merged_codes(patterns: RatingPatterns) -> RatingPatterns:
    """The same table with equal rows of a cluster made one, in a fixed order."""
    rows, weights, clusters = distinct_in(patterns.codes, patterns.weights, patterns.clusters)
    return RatingPatterns(
        rows, weights, scale=patterns.scale, raters=patterns.raters, clusters=clusters
    )


def stacked(one: RatingPatterns, other: RatingPatterns) -> RatingPatterns:
    """The rows of both under the raters of both."""
    if one.scale != other.scale:
        raise RatingsError(
            f"rating patterns: cannot add over different scales {one.scale} and {other.scale}; one is required."
        )
    refuse_sum("rating patterns", one.clusters, other.clusters)
    raters = (*one.raters, *(name for name in other.raters if name not in one.raters))
    codes = np.vstack([_columns(one, raters), _columns(other, raters)])
    return RatingPatterns(
        codes, np.concatenate([one.weights, other.weights]), scale=one.scale, raters=raters
    )


def _columns(patterns: RatingPatterns, raters: Sequence[str]) -> Codes:
    """The codes with a column for each of `raters`, missing where the table has none."""
    codes = np.full((len(patterns.codes), len(raters)), MISSING)
    codes[:, [raters.index(name) for name in patterns.raters]] = patterns.codes
    return codes


__all__ = [
    "MISSING",
    "Array",
    "CategoryCounts",
    "Codes",
    "RatingPatterns",
    "Statistic",
    "merged",
    "merged_codes",
    "stacked",
]
