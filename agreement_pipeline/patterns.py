"""The sufficient statistics: distinct rows of ratings, and how many items show each.

A statistic is rows of data with `weights` of shape `(..., P)`. With `(P,)` a measure returns its point value; with
`(B, P)`, one draw of weights a row, it returns B resampled values. Two rounds' statistics add.

Missing ratings are the code -1. Shapes: `N` items, `R` raters, `K` categories, `P` patterns, `B` resamples.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agreement_pipeline.errors import RatingsError, listed
from agreement_pipeline.scale import MISSING, Scale
from agreement_pipeline.unseen import Array, Codes, category_splits, first_labels, rater_splits, split_between, typical_size

T = TypeVar("T")


class Statistic(Protocol):
    """What every statistic offers to `estimate()`."""

    @property
    def weights(self) -> Array:
        """How many items show each row, shape (..., P)."""

    @property
    def scale(self) -> Scale:
        """The scale the codes are read on."""

    @property
    def n_items(self) -> int:
        """How many items it rests on."""

    @property
    def n_raters(self) -> int:
        """How many raters it rests on."""

    @property
    def n_used(self) -> int:
        """Those of them that agreement can be read on."""

    @property
    def n_ratings(self) -> int:
        """How many ratings it rests on."""

    def reweighted(self, weights: Array) -> Self:
        """The same rows under other weights."""

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
        How many raters gave them; the largest row total when omitted.

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

    def __init__(self, counts: ArrayLike, weights: ArrayLike | None = None, *, scale: Scale, n_raters: int | None = None) -> None:
        rows = _whole("category counts", counts)
        if rows.ndim != 2 or rows.shape[1] != len(scale.names):
            raise RatingsError(
                f"category counts: shape {rows.shape} found; (P, {len(scale.names)}) is required by the scale. Give a column for every category."
            )
        object.__setattr__(self, "counts", rows)
        object.__setattr__(self, "weights", _weights(weights, len(rows)))
        object.__setattr__(self, "scale", scale)
        object.__setattr__(self, "n_raters", int(rows.sum(1).max(initial=0)) if n_raters is None else n_raters)

    @cached_property
    def sizes(self) -> Array:
        """Ratings a row, shape (P,)."""
        return np.asarray(self.counts.sum(1))

    @cached_property
    def pairable(self) -> NDArray[np.bool_]:
        """Which rows hold two ratings or more, shape (P,)."""
        return self.sizes >= 2

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
        return _with(self, weights=weights)

    def with_unseen(self, mass: float, category: int | None = None) -> Self:
        """Add every split of a typical item between two categories of ratings that meet another, `mass` in all."""
        pair = split_between(_meeting(self) @ self.counts, self.scale, category)
        rows = category_splits(typical_size(self.sizes, self.weights), pair, self.counts.shape[1])
        return _with(self, counts=np.vstack([self.counts, rows]), weights=_extended(self.weights, mass, len(rows)))

    def one_vs_rest(self, category: int) -> "CategoryCounts":
        """The two-category table of one category against all others."""
        of = self.counts[:, category]
        names = self.scale.names
        scale = Scale(("the rest", names[category]) if names[category] != "the rest" else ("other", "the rest"))
        return merged(CategoryCounts(np.column_stack([self.sizes - of, of]), self.weights, scale=scale, n_raters=self.n_raters))

    def __add__(self, other: "CategoryCounts") -> "CategoryCounts":
        if self.scale != other.scale:
            raise RatingsError(f"category counts: cannot add over different scales {self.scale} and {other.scale}; one is required.")
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
    """

    codes: Codes
    weights: Array
    scale: Scale
    raters: tuple[str, ...]

    def __init__(self, codes: ArrayLike, weights: ArrayLike | None = None, *, scale: Scale, raters: Sequence[str]) -> None:
        rows = np.asarray(codes, dtype=np.int64)
        if rows.ndim != 2 or rows.shape[1] != len(raters):
            raise RatingsError(f"rating patterns: shape {rows.shape} found; (P, {len(raters)}) is required by the raters. Give a column for every rater.")
        if len(set(raters)) != len(raters):
            raise RatingsError(f"rating patterns: raters {listed(sorted(raters), 12)} found; each name is required once. Name the raters apart.")
        if rows.size and (rows.min() < MISSING or rows.max() >= len(scale.names)):
            raise RatingsError(f"rating patterns: codes from {rows.min()} to {rows.max()} found; -1 to {len(scale.names) - 1} are required by the scale.")
        object.__setattr__(self, "codes", rows)
        object.__setattr__(self, "weights", _weights(weights, len(rows)))
        object.__setattr__(self, "scale", scale)
        object.__setattr__(self, "raters", tuple(raters))

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
        return round(float(self.weights[..., (self.codes >= 0).sum(1) >= 2].sum()))

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
        return CategoryCounts(self.indicators.sum(1), self.weights, scale=self.scale, n_raters=self.n_raters)

    def reweighted(self, weights: Array) -> Self:
        """The same rows under other weights."""
        return _with(self, weights=weights)

    def with_unseen(self, mass: float, category: int | None = None) -> Self:
        """Add every split of a typical item between two categories of ratings that meet another, each turned through all raters."""
        counts = self.counts()
        rows = self.unseen(split_between(_meeting(counts) @ counts.counts, self.scale, category))
        return _with(self, codes=np.vstack([self.codes, rows]), weights=_extended(self.weights, mass, len(rows)))

    @property
    def used(self) -> Array:
        """How often each category was given, shape (..., K)."""
        return np.asarray(self.weights @ self.indicators.sum(1))

    def unseen(self, pair: tuple[int, int]) -> Codes:
        """The splits of a typical item between two categories."""
        size = typical_size((self.codes >= 0).sum(1), self.weights)
        return rater_splits(min(size, self.n_raters), pair, self.n_raters)

    def only(self, raters: Sequence[str]) -> "RatingPatterns":
        """The columns of some raters."""
        columns = [self.raters.index(rater) for rater in raters]
        return RatingPatterns(self.codes[:, columns], self.weights, scale=self.scale, raters=tuple(raters))

    def without(self, rater: str) -> "RatingPatterns":
        """The columns of all raters but one."""
        return self.only([name for name in self.raters if name != rater])

    def against_the_rest(self, rater: str) -> "PanelPatterns":
        """One rater set apart from the others, as a classifier is from its panel."""
        return PanelPatterns(self.without(rater), self.codes[:, self.raters.index(rater)], classifier=rater)

    def __add__(self, other: "RatingPatterns") -> "RatingPatterns":
        return merged_codes(_stacked(self, other))


@dataclass(frozen=True, eq=False)
class PanelPatterns:
    """A panel of raters, and a classifier (or an isolated rater) that stands apart from it.

    Parameters
    ----------
    panel
        The raters' patterns, P rows.
    labels
        Shape (P,): the code the classifier gave to the items of each row, -1 where it gave none.
    classifier
        Its name.
    """

    panel: RatingPatterns
    labels: Codes
    classifier: str

    def __post_init__(self) -> None:
        labels = np.asarray(self.labels, dtype=np.int64)
        if labels.shape != self.panel.codes.shape[:1]:
            raise RatingsError(f"panel patterns: labels of shape {labels.shape} found; {self.panel.codes.shape[:1]} is required. Give one label a row.")
        object.__setattr__(self, "labels", labels)

    @property
    def weights(self) -> Array:
        """How many items show each row, shape (..., P)."""
        return self.panel.weights

    @property
    def scale(self) -> Scale:
        """The scale the codes are read on."""
        return self.panel.scale

    @property
    def n_raters(self) -> int:
        """Raters of the panel."""
        return self.panel.n_raters

    @property
    def n_items(self) -> int:
        """Items with a label from the classifier and a rating from the panel."""
        return round(float(self.weights[..., (self.labels >= 0) & (self.panel.codes >= 0).any(1)].sum()))

    @property
    def n_used(self) -> int:
        """The same: on each of them the classifier meets the panel."""
        return self.n_items

    @property
    def n_ratings(self) -> int:
        """Ratings of the panel on items the classifier labelled."""
        return round(float((self.weights * ((self.panel.codes >= 0).sum(1) * (self.labels >= 0))).sum()))

    @cached_property
    def indicators(self) -> Array:
        """1 where the classifier gave a category, shape (P, K)."""
        return np.asarray(self.labels[:, None] == np.arange(len(self.scale.names)), dtype=float)

    def reweighted(self, weights: Array) -> Self:
        """The same rows under other weights."""
        return _with(self, panel=self.panel.reweighted(weights))

    def with_unseen(self, mass: float, category: int | None = None) -> Self:
        """Add the panel's unseen rows, once with the classifier on each of the two categories."""
        panel = self.panel
        first, second = split_between(panel.used, self.scale, category)
        rows = panel.unseen((first, second))
        labels = np.concatenate([self.labels, np.full(len(rows), first), np.full(len(rows), second)])
        weights = _extended(panel.weights, mass, 2 * len(rows))
        return _with(self, panel=_with(panel, codes=np.vstack([panel.codes, rows, rows]), weights=weights), labels=labels)

    def __add__(self, other: "PanelPatterns") -> "PanelPatterns":
        name = self.classifier
        if other.classifier != name:
            raise RatingsError(f"panel patterns: classifiers {name!r} and {other.classifier!r} found; one is required. Add the statistics of one classifier.")
        both = self.joined() + other.joined()
        return PanelPatterns(both.without(name), both.codes[:, both.raters.index(name)], name)

    def joined(self) -> RatingPatterns:
        """The panel with the classifier as one more rater, the last."""
        panel = self.panel
        codes = np.column_stack([panel.codes, self.labels])
        return RatingPatterns(codes, panel.weights, scale=panel.scale, raters=(*panel.raters, self.classifier))


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
        counts = _whole("replicate counts", self.counts).reshape(-1, len(self.patterns.scale.names))
        if counts.size and counts.sum(1).min() < 2:
            raise RatingsError("replicate counts: a cell of fewer than two ratings found; two occurrences are required to see a rater agree with herself.")
        object.__setattr__(self, "counts", counts)
        for name, rows in (("item", self.patterns.codes.shape[0]), ("rater", self.patterns.codes.shape[1])):
            object.__setattr__(self, name, _places(name, getattr(self, name), len(counts), rows))

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
    def raters(self) -> tuple[str, ...]:
        """All rater names, with replicates or without."""
        return self.patterns.raters

    @property
    def n_raters(self) -> int:
        """Raters who met an item again."""
        return len(np.unique(self.rater))

    @property
    def n_items(self) -> int:
        """Items that some rater met again."""
        return round(float(self.weights[..., np.unique(self.item)].sum()))

    @property
    def n_used(self) -> int:
        """The same: on each of them a rater meets herself."""
        return self.n_items

    @property
    def n_ratings(self) -> int:
        """Ratings of items met again."""
        return round(float((self.cell_weights * self.sizes).sum()))

    def reweighted(self, weights: Array) -> Self:
        """The same rows under other weights."""
        return _with(self, patterns=self.patterns.reweighted(weights))

    def of(self, rater: str) -> "ReplicateCounts":
        """The cells of one rater."""
        mine = self.rater == self.raters.index(rater)
        return ReplicateCounts(self.counts[mine], self.item[mine], self.rater[mine], self.patterns)

    def with_unseen(self, mass: float, category: int | None = None) -> Self:
        """Add one item for each split of a typical cell between two categories, met again by every rater here.

        The raters' first labels of such an item are split as the cell is, so that neither a rater's agreement with herself nor the
        raters' with each other is ever certain. The cells decide how little is known, so the mass is spread over the items that have some.
        """
        if not len(self.counts):
            return self
        m = typical_size(self.sizes, self.cell_weights)
        pair = split_between(self.patterns.used, self.scale, category)
        raters = np.unique(self.rater)
        splits = category_splits(m, pair, self.counts.shape[1])
        start = self.patterns.codes.shape[0]
        codes = np.full((m + 1, len(self.raters)), MISSING)
        codes[:, raters] = first_labels(m, pair, len(raters))
        return _with(
            self,
            counts=np.vstack([self.counts, np.repeat(splits, len(raters), axis=0)]),
            item=np.concatenate([self.item, np.repeat(np.arange(start, start + m + 1), len(raters))]),
            rater=np.concatenate([self.rater, np.tile(raters, m + 1)]),
            patterns=_with(self.patterns, codes=np.vstack([self.patterns.codes, codes]), weights=_extended(self.weights, mass, m + 1)),
        )

    def __add__(self, other: "ReplicateCounts") -> "ReplicateCounts":
        patterns = _stacked(self.patterns, other.patterns)
        rater = np.array([patterns.raters.index(name) for name in other.raters], dtype=np.int64)[other.rater]
        return ReplicateCounts(
            np.vstack([self.counts, other.counts]),
            np.concatenate([self.item, other.item + len(self.patterns.codes)]),
            np.concatenate([self.rater, rater]),
            patterns,
        )


def _meeting(counts: CategoryCounts) -> Array:
    """The weights of the items with two ratings or more, 0 for the others; where there is no such item, all weights. Shape (..., P)."""
    paired = np.where(counts.pairable, counts.weights, 0.0)
    return paired if paired.any() else counts.weights


def merged(counts: CategoryCounts) -> CategoryCounts:
    """The same table with equal rows made one, in a fixed order."""
    rows, weights = _distinct(counts.counts.astype(np.int64), counts.weights)
    return CategoryCounts(rows, weights, scale=counts.scale, n_raters=counts.n_raters)


def merged_codes(patterns: RatingPatterns) -> RatingPatterns:
    """The same table with equal rows made one, in a fixed order."""
    rows, weights = _distinct(patterns.codes, patterns.weights)
    return RatingPatterns(rows, weights, scale=patterns.scale, raters=patterns.raters)


def _distinct(rows: Codes, weights: Array) -> tuple[Codes, Array]:
    """Distinct rows in lexicographic order, and their summed weights."""
    if rows.shape[0] == 0 or rows.shape[1] == 0:
        return rows, weights
    low = int(rows.min())
    base = int(rows.max()) - low + 1
    if base ** rows.shape[1] < 2**62:
        keys = (rows - low) @ (base ** np.arange(rows.shape[1] - 1, -1, -1, dtype=np.int64))
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        return rows[first], np.bincount(inverse, weights).astype(float)
    distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
    return distinct, np.bincount(inverse.ravel(), weights).astype(float)


def _stacked(one: RatingPatterns, other: RatingPatterns) -> RatingPatterns:
    """The rows of both under the raters of both."""
    if one.scale != other.scale:
        raise RatingsError(f"rating patterns: cannot add over different scales {one.scale} and {other.scale}; one is required.")
    raters = (*one.raters, *(name for name in other.raters if name not in one.raters))
    codes = np.vstack([_columns(one, raters), _columns(other, raters)])
    return RatingPatterns(codes, np.concatenate([one.weights, other.weights]), scale=one.scale, raters=raters)


def _columns(patterns: RatingPatterns, raters: Sequence[str]) -> Codes:
    """The codes with a column for each of `raters`, missing where the table has none."""
    codes = np.full((len(patterns.codes), len(raters)), MISSING)
    codes[:, [raters.index(name) for name in patterns.raters]] = patterns.codes
    return codes


def _extended(weights: Array, mass: float, rows: int) -> Array:
    return np.concatenate([weights, np.full(rows, mass / rows)])


def _weights(weights: ArrayLike | None, rows: int) -> Array:
    array = np.ones(rows) if weights is None else _finite("weights", weights)
    if array.shape[-1:] != (rows,):
        raise RatingsError(f"weights: shape {array.shape} found; (..., {rows}) is required. Give one weight a row.")
    return array


def _places(what: str, values: ArrayLike, cells: int, places: int) -> Codes:
    codes = np.asarray(values, dtype=np.int64)
    if codes.shape != (cells,) or (cells and not (codes.min() >= 0 and codes.max() < places)):
        raise RatingsError(
            f"replicate counts: {what} positions {listed(codes.ravel().tolist())} found; one from 0 to {places - 1} is required for each of {cells} cells."
        )
    return codes


def _whole(what: str, values: ArrayLike) -> Array:
    array = _finite(what, values)
    if (array % 1).any():
        raise RatingsError(f"{what}: a fraction found; whole numbers of ratings are required. Put fractions into the weights.")
    return array


def _finite(what: str, values: ArrayLike) -> Array:
    array = np.asarray(values, dtype=float)
    if array.size and not (np.isfinite(array).all() and array.min() >= 0):
        raise RatingsError(f"{what}: a negative or non-finite number found; finite numbers of 0 or more are required.")
    return array


def _with(statistic: T, **changes: object) -> T:
    """A copy with some fields changed; what was checked at birth is not checked again."""
    copy = object.__new__(type(statistic))
    for name in statistic.__dataclass_fields__:  # type: ignore[attr-defined]
        object.__setattr__(copy, name, changes.get(name, getattr(statistic, name)))
    return copy


__all__ = [
    "MISSING",
    "Array",
    "CategoryCounts",
    "Codes",
    "PanelPatterns",
    "RatingPatterns",
    "ReplicateCounts",
    "Statistic",
    "merged",
    "merged_codes",
]
