"""The counts of a round, and which of its rows are in one stratum."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Array, Scale
from agreement_pipeline.statistics.clusters import Clusters, refuse_sum
from agreement_pipeline.statistics.counts import CategoryCounts
from agreement_pipeline.statistics.weighted import (
    RowMemory,
    born,
    changed,
    distinct_in,
    refuse_other_scale,
    total,
)

WHAT = "stratum"


@dataclass(frozen=True, eq=False)
class CountsOfStratum(RowMemory):
    """The counts of a whole round, and which rows are of the stratum that is spoken of.

    The round says how often its labels differ by chance. The stratum says how often they do.

    Parameters
    ----------
    whole
        The counts of the round.
    inside
        Shape (P,): True for the rows of the stratum.

    Examples
    --------
    >>> whole = CategoryCounts([[3, 0], [2, 1]], [4, 2], scale=Scale(("no", "yes")))
    >>> stratum = CountsOfStratum(whole, [False, True])
    >>> stratum.n_items, stratum.n_ratings
    (2, 6)
    """

    holds: ClassVar[Literal["labels"]] = "labels"
    raters: ClassVar[None] = None

    whole: CategoryCounts
    inside: NDArray[np.bool_]

    def __init__(self, whole: CategoryCounts, inside: ArrayLike) -> None:
        rows = np.asarray(inside, dtype=bool)
        if rows.shape != (len(whole.counts),):
            raise RatingsError(
                f"{WHAT}: found shape {rows.shape}; expected ({len(whole.counts)},). "
                "Say of each row whether it is in the stratum."
            )
        born(self, whole=whole, inside=rows)

    @property
    def weights(self) -> Array:
        """How many items show each row. Shape (..., P)."""
        return self.whole.weights

    @property
    def scale(self) -> Scale:
        """The scale of the labels."""
        return self.whole.scale

    @property
    def clusters(self) -> Clusters | None:
        """The cluster of each row, if items come in clusters."""
        return self.whole.clusters

    @property
    def readable(self) -> NDArray[np.bool_]:
        """True for rows of the stratum that show agreement."""
        return np.asarray(self.whole.readable & self.inside)

    @property
    def n_raters(self) -> int:
        """The largest number of ratings of an item of the stratum."""
        return int(self.whole.sizes[self.inside].max(initial=0))

    @property
    def n_items(self) -> int:
        """Items of the stratum with at least one rating."""
        return total(self.weights[..., self.inside & (self.whole.sizes > 0)])

    @property
    def n_used(self) -> int:
        """Items of the stratum that show agreement."""
        return total(self.weights[..., self.readable])

    @property
    def n_ratings(self) -> int:
        """Ratings of the stratum."""
        return total(np.where(self.inside, self.weights * self.whole.sizes, 0.0))

    def reweighted(self, weights: Array) -> Self:
        """Give the rows other weights."""
        return self.with_same_rows(whole=self.whole.reweighted(weights))

    def in_clusters(self, clusters: Clusters) -> Self:
        """Put each row into its cluster."""
        return changed(self, whole=self.whole.in_clusters(clusters))

    def with_unseen(self, mass: float, category: int | None = None) -> Self:
        """Add unseen rows to the round. They are taken to be of the stratum."""
        whole = self.whole.with_unseen(mass, category)
        unseen = np.ones(len(whole.counts) - len(self.inside), dtype=bool)
        return changed(self, whole=whole, inside=np.append(self.inside, unseen))

    def without_each_rater(self) -> Iterator[Self]:
        """Refuse because counts do not say which rater gave which label."""
        self.whole.without_each_rater()
        yield from ()

    def items_by_rater(self, rows: NDArray[np.bool_]) -> Array:
        """Refuse as `without_each_rater` does."""
        return self.whole.items_by_rater(rows)

    def unnamed(self) -> CategoryCounts:
        """The counts of the round: they name nobody."""
        return self.whole

    def merged(self) -> "CountsOfStratum":
        """Make equal rows of a cluster one row, in the stratum and beside it."""
        whole = self.whole
        rows = np.column_stack([self.inside, whole.counts]).astype(np.int64)
        apart, weights, clusters = distinct_in(rows, whole.weights, whole.clusters)
        counts = CategoryCounts(
            apart[:, 1:], weights, scale=whole.scale, n_raters=whole.n_raters, clusters=clusters
        )
        return CountsOfStratum(counts, apart[:, 0] == 1)

    def __add__(self, other: "CountsOfStratum") -> "CountsOfStratum":
        one, two = self.whole, other.whole
        refuse_other_scale(WHAT, one.scale, two.scale)
        refuse_sum(WHAT, one.clusters, two.clusters)
        whole = CategoryCounts(
            np.vstack([one.counts, two.counts]),
            np.concatenate([one.weights, two.weights]),
            scale=one.scale,
            n_raters=max(one.n_raters, two.n_raters),
        )
        return CountsOfStratum(whole, np.append(self.inside, other.inside)).merged()


__all__ = ["CountsOfStratum"]
