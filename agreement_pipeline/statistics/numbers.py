"""Numbers by rater: item rows of numbers or vectors of numbers.

No two items need be alike on a scale where any number may occur. So the rows are the items
themselves.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import LARGEST, Array, Codes, Scale
from agreement_pipeline.statistics.by_rater import ByRater, placed, refuse_other_classifier
from agreement_pipeline.statistics.clusters import Clusters, checked_clusters, refuse_sum
from agreement_pipeline.statistics.order import Hashes, hashes_of
from agreement_pipeline.statistics.unseen import (
    far_values,
    is_open,
    number_splits,
    rows_agree,
    turned,
    two_numbers,
    typical_size,
    typical_values,
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
    total,
)
from agreement_pipeline.text import counted

WHAT = "numbers by rater"


@dataclass(frozen=True, eq=False)
class NumbersByRater(ByRater):
    """Item rows of numbers or vectors of numbers by rater; raters keep their names.

    The method `with_classifier` sets one classifier (or one isolated rater) apart.

    Parameters
    ----------
    values
        Shape (N, R, D): what each rater gave each item in each dimension, nan in all dimensions
        if missing. Shape (N, R) on a scale of one dimension.
    weights
        Shape (..., N): how many items show each row. Finite and non-negative; 1 each if omitted.
    scale, raters
        A scale of numbers, and the R rater names.
    left_out
        How many items with missing ratings `crossed` left out.
    clusters
        The cluster of each row, if items come in clusters.

    Attributes
    ----------
    classifier, labels
        The name of the one who stands apart and what they gave each item (N, D). The name is None
        if nobody stands apart. A missing label is nan.

    Examples
    --------
    >>> scale = Scale(None, "interval")
    >>> numbers = NumbersByRater([[1.5, 1.7], [3.1, np.nan]], scale=scale, raters=("a", "b"))
    >>> numbers.n_items, numbers.n_ratings
    (2, 3)
    >>> numbers.crossed().n_items, numbers.crossed().left_out
    (1, 1)
    """

    holds: ClassVar[Literal["numbers"]] = "numbers"
    missing: ClassVar[float] = np.nan

    values: Array
    weights: Array
    scale: Scale
    raters: tuple[str, ...]
    left_out: int
    clusters: Clusters | None
    classifier: str | None
    labels: Array

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
        born(
            self,
            values=rows,
            weights=checked_weights(weights, len(rows)),
            scale=scale,
            raters=checked_raters(WHAT, raters),
            left_out=left_out,
            clusters=checked_clusters(clusters, len(rows)),
            classifier=None,
            labels=np.full((len(rows), scale.dimensions), np.nan),
        )

    def with_classifier(self, labels: ArrayLike, classifier: str) -> "NumbersByRater":
        """Set one classifier or isolated rater apart. `labels` are what they gave (N, D)."""
        expected = (len(self.values), self.scale.dimensions)
        if np.shape(labels) != expected:
            raise RatingsError(
                f"{WHAT}: classifier's labels: found shape {np.shape(labels)}; "
                f"expected {expected}. Give one label a row."
            )
        beside = changed(self, labels=np.asarray(labels, dtype=float), classifier=classifier)
        beside.joined()
        return beside

    @property
    def said(self) -> Array:
        """What was given in the columns: the values."""
        return self.values

    @OfRows
    def given(self) -> NDArray[np.bool_]:
        """True for each rating in the columns. Shape (N, R)."""
        return np.asarray(~np.isnan(self.values[:, :, 0]))

    @property
    def rated(self) -> NDArray[np.bool_]:
        """True for each rating of the panel. Shape (N, R)."""
        return self.given

    @OfRows
    def labelled(self) -> NDArray[np.bool_]:
        """True for rows with a label from the classifier. Shape (N,)."""
        return np.asarray(~np.isnan(self.labels[:, 0]))

    @property
    def some_apart(self) -> bool:
        """True if a classifier stands apart from the panel."""
        return self.classifier is not None

    def with_scale(self, scale: Scale) -> Self:
        """The numbers on a scale that lists the same categories in another order."""
        return changed(self, scale=scale)

    def merged(self) -> Self:
        """The numbers themselves: their rows are the items."""
        return self

    @property
    def hashes(self) -> Hashes:
        """A number for what each rater gave in each row. Shape (N, R)."""
        return hashes_of(*np.moveaxis(self.values, 2, 0))

    @OfRows
    def sizes(self) -> Array:
        """Ratings a row. Shape (N,)."""
        return np.asarray(self.rated.sum(1), dtype=float)

    @OfRows
    def pairable(self) -> NDArray[np.bool_]:
        """True for rows with two ratings or more. Shape (N,)."""
        return np.asarray(self.sizes >= 2)

    @cached_property
    def seen(self) -> NDArray[np.bool_]:
        """True for rows with weight in some resample. Shape (N,)."""
        return np.asarray((self.weights > 0).any(axis=tuple(range(self.weights.ndim - 1))))

    def unnamed(self) -> "NumbersByRater":
        """The numbers themselves: numbers keep the names of their raters."""
        return self

    def with_unseen(self, mass: float, category: int | None = None) -> Self:
        """Add every split of a typical item over two values. The rows weigh `mass` in all.

        Each split is turned through the raters. On declared categories, the two values are the one
        used most and the one farthest from it. Else they are those of `far_values`. In the next
        dimension a split is turned by one rater more. So the ratings do not lie on one line.
        """
        if self.classifier is not None:
            return self._with_unseen_beside_classifier(mass)
        meeting = self._meeting()
        rows = self._splits(two_numbers(meeting.values, meeting.weights, self.scale, far_values))
        return self.with_rows(rows, np.full((len(rows), self.scale.dimensions), np.nan), mass)

    def _with_unseen_beside_classifier(self, mass: float) -> Self:
        """Add the panel's unseen rows with the classifier on the lower and on the higher value.

        Only what the classifier met says how they look. Items that it never met do not say how
        well it is known. Values are typical ones: measures beside a classifier compare, and a
        large difference of any rater would hide what the others do.
        """
        met = self._met()
        panel, joined = met.panel, met.joined()
        meeting = panel._meeting()
        rows = panel._splits(
            two_numbers(meeting.values, meeting.weights, self.scale, typical_values)
        )
        pair, _ = two_numbers(joined.values, joined.weights, self.scale, typical_values)
        labels = np.repeat(pair, len(rows), axis=0)
        return self.with_rows(np.concatenate([rows, rows]), labels, mass)

    def _meeting(self) -> "NumbersByRater":
        """The rows with two ratings or more; all if there is none."""
        return self.at(self.pairable) if self.pairable.any() else self

    def _splits(self, numbers: Array) -> Array:
        """Every split of a typical item between two values, turned through the raters."""
        size = min(typical_size(self.sizes, self.weights), self.n_raters)
        return turned(number_splits(size, self.n_raters, numbers))

    def only_raising(self, n_unseen: int) -> NDArray[np.bool_]:
        """Agreed numbers on an open scale: they lie far out, and no lower limit counts them."""
        if self.classifier is not None or not is_open(self.scale):
            return super().only_raising(n_unseen)
        return rows_agree(self.values[len(self.values) - n_unseen :])

    def with_rows(self, rows: Array, labels: Array, mass: float) -> Self:
        """Add unseen rows that weigh `mass` in all."""
        return changed(
            self,
            values=np.concatenate([self.values, rows]),
            weights=extended(self.weights, mass, len(rows)),
            clusters=None,
            labels=np.concatenate([self.labels, labels]),
        )

    def _met(self) -> "NumbersByRater":
        """The items that the classifier labelled and the panel rated; all if there is none."""
        met = self.readable & (self.weights > 0)
        return self.at(met) if met.any() else self

    def crossed(self) -> "NumbersByRater":
        """Keep the items that every rater rated and count those left out."""
        complete = np.asarray(self.given.all(1))
        if complete.all():
            return self
        left_out = self.left_out + total(self.weights[..., ~complete & (self.sizes > 0)])
        return changed(self.at(complete), left_out=left_out)

    def at(self, rows: NDArray[np.bool_]) -> "NumbersByRater":
        """Keep some of the rows; the last choice is remembered for all reweighted copies."""
        if rows.all():
            return self
        last = self.kept(_LastRows)
        if last.rows is None or not np.array_equal(last.rows, rows):
            last.rows, last.numbers = rows, _at(self, rows)
        return last.numbers.reweighted(self.weights[..., rows])

    def with_columns(self, places: Sequence[int] | Codes) -> Self:
        """Keep the columns at some places in this order."""
        names = checked_raters(WHAT, [self.raters[place] for place in places])
        return changed(self, values=self.values[:, places], raters=names)

    def __add__(self, other: "NumbersByRater") -> "NumbersByRater":
        refuse_other_classifier(WHAT, self.classifier, other.classifier)
        if self.classifier is not None:
            return (self.joined() + other.joined()).against(self.classifier)
        refuse_other_scale(WHAT, self.scale, other.scale)
        refuse_sum(WHAT, self.clusters, other.clusters)
        raters = joint_raters(self.raters, other.raters)
        return NumbersByRater(
            np.concatenate(
                [placed(each.values, each.raters, raters, np.nan) for each in (self, other)]
            ),
            np.concatenate([self.weights, other.weights]),
            scale=self.scale,
            raters=raters,
            left_out=self.left_out + other.left_out,
        )


class _LastRows:
    """The rows that `NumbersByRater.at` kept last."""

    def __init__(self, numbers: NumbersByRater) -> None:
        self.rows: NDArray[np.bool_] | None = None
        self.numbers = numbers


def _at(numbers: NumbersByRater, rows: NDArray[np.bool_]) -> NumbersByRater:
    return changed(
        numbers,
        values=numbers.values[rows],
        weights=np.ones(int(rows.sum())),
        labels=numbers.labels[rows],
        clusters=None if numbers.clusters is None else numbers.clusters.at(rows),
    )


def _check(values: Array, scale: Scale, raters: Sequence[str]) -> None:
    if not scale.numeric:
        raise RatingsError(
            f"{WHAT}: found a {scale.level} scale with categories; expected a scale of numbers. "
            "Use labels by rater."
        )
    if values.ndim != 3 or values.shape[1:] != (len(raters), scale.dimensions):
        raise RatingsError(
            f"{WHAT}: found shape {values.shape}; "
            f"expected (N, {len(raters)}, {scale.dimensions}) for the raters and the scale. "
            "Give a value for every rater and dimension, nan where missing."
        )
    missing = np.isnan(values)
    impossible = (np.abs(values) > LARGEST) | ((values < 0) if scale.level == "ratio" else False)
    bad = np.argwhere((missing.any(-1) != missing.all(-1)) | impossible.any(-1))
    if len(bad):
        row, column = bad[0]
        found = f"{values[row, column].tolist()} ({counted(len(bad), 'such rating')} in all)"
        sign = "non-negative " if scale.level == "ratio" else ""
        raise RatingsError(
            f"{WHAT}: row {row + 1}, column {raters[column]!r}: found {found}; "
            f"expected finite {sign}numbers up to {LARGEST:g} in size, or nan in all dimensions, "
            f"on the {scale.level} level. Correct the rating."
        )
