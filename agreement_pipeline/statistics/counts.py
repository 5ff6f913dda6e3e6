"""Counts by category: the statistic that has forgotten who the raters are."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Array, Flags, Scale
from agreement_pipeline.statistics.clusters import Clusters, validate_clusters
from agreement_pipeline.statistics.unseen import (
    categories_to_split_between,
    category_splits,
    places_of_split,
    typical_size,
)
from agreement_pipeline.statistics.weighted import (
    RowProperty,
    Statistic,
    append_mass,
    as_whole_numbers,
    copy_with,
    merge_equal_rows,
    raise_if_not_addable,
    set_fields,
    total_as_int,
    validate_weights,
)

STATISTIC_NAME = "category counts"
MANY_CATEGORIES = 20
"""Of more categories, less is kept than each category of every item."""


class OneCategory(NamedTuple):
    place: int
    times_seen: Array


@dataclass(frozen=True, eq=False)
class CategoryCounts(Statistic):
    """Distinct item rows of counts by category; raters are forgotten.

    Parameters
    ----------
    counts
        Shape (P, K): how often each category was given in each row. Whole and non-negative.
    n_raters
        How many raters gave the ratings that meet another; the largest row total if omitted.
    split
        The two categories between which an unseen item is split, if not the usual ones.
    one
        The only category that is asked for, if not all. Of many categories, `counts` then has two
        columns: it, and all others.

    Examples
    --------
    >>> counts = CategoryCounts([[3, 0], [2, 1]], [4, 2], scale=Scale(("no", "yes")))
    >>> counts.n_items, counts.n_ratings, (counts + counts).weights.tolist()
    (6, 18, [4.0, 8.0])
    """

    holds: ClassVar[Literal["labels"]] = "labels"
    raters: ClassVar[None] = None

    counts: Array
    weights: Array
    scale: Scale
    n_raters: int
    clusters: Clusters | None
    split: tuple[int, int] | None
    one: OneCategory | None

    def __init__(
        self,
        counts: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        scale: Scale,
        n_raters: int | None = None,
        clusters: Clusters | None = None,
    ) -> None:
        rows = as_whole_numbers(STATISTIC_NAME, counts)
        if rows.ndim != 2 or rows.shape[1] != len(scale.names):
            raise RatingsError(
                f"{STATISTIC_NAME}: found shape {rows.shape}; expected (P, {len(scale.names)}) for "
                "the scale. Give a column for every category."
            )
        set_fields(
            self,
            counts=rows,
            weights=validate_weights(weights, len(rows)),
            scale=scale,
            n_raters=int(rows.sum(1).max(initial=0)) if n_raters is None else n_raters,
            clusters=validate_clusters(clusters, len(rows)),
            split=None,
            one=None,
        )

    @RowProperty
    def sizes(self) -> Array:
        """Ratings a row. Shape (P,)."""
        return np.asarray(self.counts.sum(1))

    @RowProperty
    def pairable(self) -> Flags:
        return np.asarray(self.sizes >= 2)

    readable = pairable

    @property
    def weights_of_paired(self) -> Array:
        return self.weights_of(self.pairable)

    @property
    def n_items(self) -> int:
        return total_as_int(self.weights[..., self.sizes > 0])

    @property
    def n_ratings(self) -> int:
        return total_as_int(self.weights * self.sizes)

    def with_split_between(self, split: tuple[int, int]) -> Self:
        return copy_with(self, split=split)

    @property
    def places_to_compute(self) -> Sequence[int]:
        """The places of the categories that a measure is to compute."""
        return range(len(self.scale.names)) if self.one is None else (self.one.place,)

    def counts_of_category(self, place: int) -> Array:
        """How often each row has the category (P,)."""
        return self.counts[:, place if self.counts.shape[1] == len(self.scale.names) else 0]

    def times_seen(self, possible: Self) -> Array:
        return super().times_seen(possible) if possible.one is None else possible.one.times_seen

    @property
    def label_counts_by_mix(self) -> Array | None:
        return self.counts

    @property
    def n_pairable_by_category(self) -> Array:
        """Shape (K,). If no ratings meet, all rows are counted."""
        return np.asarray(
            (self.weights_of_paired if self.weights_of_paired.any() else self.weights) @ self.counts
        )

    def with_unseen(self, mass: float, category: int | None = None) -> Self:
        """The two categories are read off the ratings that meet another."""
        pair = self.split or categories_to_split_between(
            self.n_pairable_by_category, self.scale, category
        )
        rows = category_splits(typical_size(self.sizes, self.weights), pair, self.counts.shape[1])
        form = copy_with(
            self,
            counts=np.vstack([self.counts, rows]),
            weights=append_mass(self.weights, mass, len(rows)),
            clusters=None,
        )
        if category is None:
            return form
        only_category = OneCategory(category, self.times_seen(form))
        if len(self.scale.names) <= MANY_CATEGORIES:
            return copy_with(form, one=only_category)
        category_counts = form.counts[:, category]
        return copy_with(
            form,
            counts=np.column_stack([category_counts, form.sizes - category_counts]),
            one=only_category,
        )

    def in_full_agreement(self, n_items: int) -> "CategoryCounts":
        """Items of the most common size, and categories with the shares that they have here."""
        size, shares = (
            typical_size(self.sizes, self.weights),
            self.n_pairable_by_category / self.n_pairable_by_category.sum(),
        )
        rows, used = size * np.eye(len(shares)), shares > 0
        return CategoryCounts(rows[used], n_items * shares[used], scale=self.scale)

    def with_scale(self, scale: Scale) -> Self:
        if scale.categories == self.scale.categories:
            return self
        return copy_with(
            self,
            counts=self.counts[:, self.scale.positions_of(scale)],
            scale=scale,
            split=places_of_split(self.split, scale.positions_of(self.scale)),
        )

    def in_canonical_order(self) -> "CategoryCounts":
        return self.with_scale(self.scale.canonical).merged()

    def merged(self) -> "CategoryCounts":
        rows, weights, clusters = merge_equal_rows(
            self.counts.astype(np.int64), self.weights, self.clusters
        )
        return CategoryCounts(
            rows, weights, scale=self.scale, n_raters=self.n_raters, clusters=clusters
        )

    def __add__(self, other: "CategoryCounts") -> "CategoryCounts":
        return self.with_rows_of(other).merged()

    def with_rows_of(self, other: "CategoryCounts") -> "CategoryCounts":
        """The rows of both, one after the other."""
        raise_if_not_addable(STATISTIC_NAME, self, other)
        return CategoryCounts(
            np.vstack([self.counts, other.counts]),
            np.concatenate([self.weights, other.weights]),
            scale=self.scale,
            n_raters=max(self.n_raters, other.n_raters),
        )


def missing_at_random_p_value(counts: CategoryCounts) -> float:
    """The p-value of the hypothesis that ratings are missing completely at random.

    It is 1 if all items with two ratings or more have equally many. Items that come in clusters
    count as the number of items that would tell as much.

    >>> from agreement_pipeline import Scale
    >>> scale, alike = Scale(("no", "yes")), [[2, 0], [0, 2]]
    >>> missing_at_random_p_value(CategoryCounts([*alike, [1, 1]], [40, 40, 20], scale=scale))
    1.0
    """
    used = counts.pairable & (counts.weights > 0)
    sizes, weights = counts.sizes[used], counts.weights[used]
    pairs = sizes * (sizes - 1)
    unlike = (pairs - (counts.counts[used] * (counts.counts[used] - 1)).sum(1)) / pairs
    steps = np.unique(sizes)[:-1]
    if not len(steps):
        return 1.0
    effective_share = 1.0
    if counts.clusters is not None:
        effective_share = float(counts.clusters.effective_number(counts.weights, used)) / float(
            weights.sum()
        )
    x = effective_share * max(_divergence(unlike, weights, sizes > step) for step in steps)
    return min(1.0, 2 * len(steps) * (1 + x) * math.exp(-x))


def _divergence(unlike: Array, weights: Array, is_larger: Flags) -> float:
    """How far the means of two groups lie from the pooled mean, as an exponent.

    It is their divergence of Kullback and Leibler, weighted by the items of each.
    """
    pooled, exponent = float(np.average(unlike, weights=weights)), 0.0
    for group in (is_larger, ~is_larger):
        share = float(np.average(unlike[group], weights=weights[group]))
        parts = ((share, pooled), (1 - share, 1 - pooled))
        divergence = sum(p * math.log(p / q) for p, q in parts if p > 0 and q > 0)
        exponent += float(weights[group].sum()) * divergence
    return exponent


@dataclass(frozen=True, eq=False)
class CountsOfStratum(CategoryCounts):
    """The counts of a whole round, and which rows (P,) are inside the stratum that is spoken of.

    The round says how often its labels differ by chance. The stratum says how often they do.

    >>> whole = CategoryCounts([[3, 0], [2, 1]], [4, 2], scale=Scale(("no", "yes")))
    >>> stratum = CountsOfStratum(whole, [False, True])
    >>> stratum.n_items, stratum.n_ratings
    (2, 6)
    """

    inside: Flags

    def __init__(self, round_counts: CategoryCounts, in_stratum: ArrayLike) -> None:
        rows = np.asarray(in_stratum, dtype=bool)
        if rows.shape != (len(round_counts.counts),):
            raise RatingsError(
                f"stratum: found shape {rows.shape}; expected ({len(round_counts.counts)},). "
                "Say of each row whether it is in the stratum."
            )
        set_fields(
            self,
            counts=round_counts.counts,
            weights=round_counts.weights,
            scale=round_counts.scale,
            n_raters=int(round_counts.sizes[rows].max(initial=0)),
            clusters=round_counts.clusters,
            split=round_counts.split,
            one=None,
            inside=rows,
        )

    @RowProperty
    def readable(self) -> Flags:
        return np.asarray(self.pairable & self.inside)

    @property
    def label_counts_by_mix(self) -> None:
        return

    @property
    def n_items(self) -> int:
        return total_as_int(self.weights[..., self.inside & (self.sizes > 0)])

    @property
    def n_ratings(self) -> int:
        return total_as_int(np.where(self.inside, self.weights * self.sizes, 0.0))

    def with_unseen(self, mass: float, category: int | None = None) -> Self:
        """Unseen rows are taken to be of the stratum."""
        counts = super().with_unseen(mass, category)
        unseen = np.ones(len(counts.counts) - len(self.inside), dtype=bool)
        return copy_with(counts, inside=np.append(self.inside, unseen))

    def merged(self) -> "CountsOfStratum":
        rows = np.column_stack([self.inside, self.counts]).astype(np.int64)
        distinct_rows, weights, clusters = merge_equal_rows(rows, self.weights, self.clusters)
        counts = CategoryCounts(distinct_rows[:, 1:], weights, scale=self.scale, clusters=clusters)
        return CountsOfStratum(counts, distinct_rows[:, 0] == 1)

    def __add__(self, other: "CategoryCounts") -> "CountsOfStratum":
        masks = [counts.inside for counts in (self, other) if isinstance(counts, CountsOfStratum)]
        return CountsOfStratum(self.with_rows_of(other), np.concatenate(masks)).merged()
