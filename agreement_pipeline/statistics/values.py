"""The statistic of ratings that are numbers or vectors of numbers: one row an item, one value a rater and dimension.

Where any number may occur no two items need be alike, so the rows are the items themselves, each of weight 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import LARGEST, Array, Scale
from agreement_pipeline.statistics.clusters import Clusters, checked_clusters, refuse_sum
from agreement_pipeline.statistics.patterns import RatingPatterns
from agreement_pipeline.statistics.rows import (
    Known,
    changed,
    checked_raters,
    checked_weights,
    extended,
    reweighted,
)
from agreement_pipeline.statistics.unseen import MAX_TURNS, typical_size


@dataclass(frozen=True, eq=False)
class RatingValues(Known):
    """Item rows of real-valued or multivariate ratings by rater; raters keep their names.

    Parameters
    ----------
    values
        Shape (N, R, D): what each rater gave each item in each dimension, nan in all dimensions where missing.
        Shape (N, R) on a scale of one dimension.
    weights
        Shape (..., N): how many items show each row. Finite and non-negative; 1 each when omitted.
    scale, raters
        A scale of numbers, and the R rater names.
    left_out
        How many items with missing ratings `crossed` left out.
    clusters
        The cluster of each row, where items come in clusters.

    Examples
    --------
    >>> values = RatingValues([[1.5, 1.7], [3.1, np.nan]], scale=Scale(None, "interval"), raters=("a", "b"))
    >>> values.n_items, values.n_ratings
    (2, 3)
    >>> values.crossed().n_items, values.crossed().left_out
    (1, 1)
    """

    values: Array
    weights: Array
    scale: Scale
    raters: tuple[str, ...]
    left_out: int = 0
    clusters: Clusters | None = None

    def __init__(
        self,
        values: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        scale: Scale,
        raters: Sequence[str],
        left_out: int = 0,
        clusters: Clusters | None = None,
    ) -> None:
        rows = np.asarray(values, dtype=float)
        rows = rows[:, :, None] if rows.ndim == 2 else rows
        _check(rows, scale, raters)
        object.__setattr__(self, "values", rows)
        object.__setattr__(self, "weights", checked_weights(weights, len(rows)))
        object.__setattr__(self, "scale", scale)
        object.__setattr__(self, "raters", checked_raters("rating values", raters))
        object.__setattr__(self, "left_out", left_out)
        object.__setattr__(self, "clusters", checked_clusters(clusters, len(rows)))

    @classmethod
    def of_patterns(cls, patterns: RatingPatterns) -> "RatingValues":
        """The numbers that the codes of an interval or ratio scale stand for, row for row."""
        numbers = np.append(patterns.scale.scores, np.nan)
        return cls(
            numbers[patterns.codes],
            patterns.weights,
            scale=patterns.scale,
            raters=patterns.raters,
            clusters=patterns.clusters,
        )

    @cached_property
    def rated(self) -> NDArray[np.bool_]:
        """Which rater rated which item, shape (N, R)."""
        return ~np.isnan(self.values[:, :, 0])

    @cached_property
    def sizes(self) -> Array:
        """Ratings a row, shape (N,)."""
        return np.asarray(self.rated.sum(1), dtype=float)

    @cached_property
    def pairable(self) -> NDArray[np.bool_]:
        """Which rows hold two ratings or more, shape (N,)."""
        return np.asarray(self.sizes >= 2)

    @property
    def readable(self) -> NDArray[np.bool_]:
        """The same: agreement can be read on them."""
        return self.pairable

    @cached_property
    def seen(self) -> NDArray[np.bool_]:
        """Which rows have weight in some draw, shape (N,)."""
        return np.asarray((self.weights > 0).any(axis=tuple(range(self.weights.ndim - 1))))

    @property
    def n_raters(self) -> int:
        """How many raters there are."""
        return len(self.raters)

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
        """Ratings in all; a vector is one rating."""
        return round(float((self.weights * self.sizes).sum()))

    def reweighted(self, weights: Array) -> Self:
        """The same rows under other weights, with what is known of them."""
        return reweighted(self, weights, "rated", "sizes", "pairable", "_kept")

    def in_clusters(self, clusters: Clusters) -> Self:
        """The same rows, each in its cluster."""
        return changed(self, clusters=checked_clusters(clusters, len(self.values)))

    def with_unseen(self, mass: float, category: int | None = None) -> Self:
        """Add every split of a typical item over two values, each turned through the raters, `mass` in all.

        In each dimension they are the values of the two-valued rating with the mean, the variance and the skewness of all
        ratings that meet another: on ratings of 0 and 1, 0 and 1; where a few ratings hold most of the variance, far apart. In the next
        dimension a split is turned by one rater more, so that the ratings do not lie on one line.
        """
        meeting = self.at(self.pairable) if self.pairable.any() else self
        low, high = two_values(meeting.values, meeting.weights)
        rows = _turned(
            splits(
                min(typical_size(self.sizes, self.weights), self.n_raters), self.n_raters, low, high
            )
        )
        return replace(
            self,
            values=np.concatenate([self.values, rows]),
            weights=extended(self.weights, mass, len(rows)),
            clusters=None,
        )

    def crossed(self) -> "RatingValues":
        """The items that every rater rated, and the number of those that are left out."""
        complete = np.asarray(self.rated.all(1))
        if complete.all():
            return self
        left_out = self.left_out + round(
            float(self.weights[..., ~complete & (self.sizes > 0)].sum())
        )
        return replace(self.at(complete), left_out=left_out)

    def at(self, rows: NDArray[np.bool_]) -> "RatingValues":
        """Some of the rows; of the same rows under other weights what is known is known again."""
        if rows.all():
            return self
        known = self.kept(_Rows)
        if known.rows is None or not np.array_equal(known.rows, rows):
            clusters = None if self.clusters is None else self.clusters.at(rows)
            known.rows, known.values = (
                rows,
                replace(
                    self,
                    values=self.values[rows],
                    weights=np.ones(int(rows.sum())),
                    clusters=clusters,
                ),
            )
        return known.values.reweighted(self.weights[..., rows])

    def only(self, raters: Sequence[str]) -> "RatingValues":
        """The columns of some raters."""
        columns = [self.raters.index(rater) for rater in raters]
        return replace(self, values=self.values[:, columns], raters=tuple(raters))

    def without(self, rater: str) -> "RatingValues":
        """The columns of all raters but one."""
        return self.only([name for name in self.raters if name != rater])

    def __add__(self, other: "RatingValues") -> "RatingValues":
        if self.scale != other.scale:
            raise RatingsError(
                f"rating values: cannot add over different scales {self.scale} and {other.scale}; one is required."
            )
        refuse_sum("rating values", self.clusters, other.clusters)
        raters = (*self.raters, *(name for name in other.raters if name not in self.raters))
        values = np.concatenate([_columns(self, raters), _columns(other, raters)])
        return RatingValues(
            values,
            np.concatenate([self.weights, other.weights]),
            scale=self.scale,
            raters=raters,
            left_out=self.left_out + other.left_out,
        )


class _Rows:
    """The rows that `RatingValues.at` took last."""

    def __init__(self, values: RatingValues) -> None:
        self.rows: NDArray[np.bool_] | None = None
        self.values = values


def _check(values: Array, scale: Scale, raters: Sequence[str]) -> None:
    if not scale.numeric:
        raise RatingsError(
            f"rating values: a {scale.level} scale with categories found; a scale of numbers is required. Use rating patterns."
        )
    if values.ndim != 3 or values.shape[1:] != (len(raters), scale.dimensions):
        raise RatingsError(
            f"rating values: shape {values.shape} found; (N, {len(raters)}, {scale.dimensions}) is required by the raters and the scale. "
            "Give a value for every rater and dimension, nan where missing."
        )
    missing = np.isnan(values)
    impossible = (np.abs(values) > LARGEST) | ((values < 0) if scale.level == "ratio" else False)
    bad = np.argwhere((missing.any(-1) != missing.all(-1)) | impossible.any(-1))
    if len(bad):
        row, column = bad[0]
        raise RatingsError(
            f"rating values: row {row + 1}, column {raters[column]!r}: {values[row, column].tolist()} found ({len(bad)} such ratings in all); "
            f"finite {'non-negative ' if scale.level == 'ratio' else ''}numbers up to {LARGEST:g} in size, or nan in all dimensions, are required "
            f"on the {scale.level} level. Correct the rating."
        )


def two_values(values: Array, weights: Array) -> tuple[Array, Array]:
    """The two nodes of the Gauss quadrature over all ratings, dimension by dimension; they never lie outside the ratings, rounding included."""
    numbers = values[~np.isnan(values[:, :, 0])]
    each = np.repeat(weights, (~np.isnan(values[:, :, 0])).sum(1))
    each = each / max(each.sum(), np.finfo(float).tiny)
    apart = numbers - each @ numbers
    spread = np.sqrt(each @ apart**2)
    skewness = each @ (apart / np.where(spread > 0, spread, 1.0)) ** 3
    gap = np.sqrt(skewness**2 + 4)
    nodes = each @ numbers + spread * (skewness + np.stack([-gap, gap])) / 2
    low, high = np.clip(nodes, numbers.min(0), numbers.max(0)) if len(numbers) else nodes
    return low, high


def splits(size: int, places: int, low: Array, high: Array) -> Array:
    """Rows of `size` ratings in the first places, with k high ones in each dimension, k from all to none; shape (size + 1, places, D)."""
    place = np.arange(size)[:, None] + np.arange(len(low))
    rows = np.full((size + 1, places, len(low)), np.nan)
    rows[:, :size] = np.where(
        place % max(1, size) < np.arange(size, -1, -1)[:, None, None], high, low
    )
    return rows


def _turned(rows: Array) -> Array:
    """Each row turned so that raters stand in every place; in a large panel, in several evenly spread ones."""
    n_raters = rows.shape[1]
    turns = min(n_raters, MAX_TURNS)
    return np.concatenate(
        [np.roll(rows, turn * n_raters // turns, axis=1) for turn in range(turns)]
    )


def _columns(values: RatingValues, raters: Sequence[str]) -> Array:
    """The values with a column for each of `raters`, nan where the table has none."""
    columns = np.full((len(values.values), len(raters), values.scale.dimensions), np.nan)
    columns[:, [raters.index(name) for name in values.raters]] = values.values
    return columns


__all__ = ["RatingValues", "splits", "two_values"]
