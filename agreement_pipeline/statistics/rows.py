"""What all statistics do with their rows: check them, make equal ones one, add to their weights."""

from collections.abc import Callable, Collection
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Array, Codes
from agreement_pipeline.statistics.clusters import Clusters
from agreement_pipeline.text import listed

T = TypeVar("T")


class Known:
    """A statistic that remembers what was read off its rows."""

    def kept(self, read: Callable[[Self], T]) -> T:
        """What `read` finds in the rows, whatever their weights: read once, and known to every reweighted copy."""
        if read not in self._kept:
            self._kept[read] = read(self)
        return self._kept[read]  # type: ignore[no-any-return]

    @cached_property
    def _kept(self) -> dict[Callable[[Any], Any], Any]:
        return {}


def distinct(rows: Codes, weights: Array) -> tuple[Codes, Array]:
    """Distinct rows in lexicographic order, and their summed weights."""
    if rows.shape[0] == 0 or rows.shape[1] == 0:
        return rows, weights
    low = int(rows.min())
    base = int(rows.max()) - low + 1
    if base ** rows.shape[1] < 2**62:
        keys = (rows - low) @ (base ** np.arange(rows.shape[1] - 1, -1, -1, dtype=np.int64))
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        return rows[first], np.bincount(inverse, weights).astype(float)
    different, inverse = np.unique(rows, axis=0, return_inverse=True)
    return different, np.bincount(inverse.ravel(), weights).astype(float)


def distinct_in(
    rows: Codes, weights: Array, clusters: Clusters | None
) -> tuple[Codes, Array, Clusters | None]:
    """The same, rows of different clusters apart; and the cluster of each row."""
    if clusters is None:
        return *distinct(rows, weights), None
    apart, summed = distinct(np.column_stack([clusters.places, rows]), weights)
    return apart[:, 1:], summed, Clusters(apart[:, 0], clusters.times)


def extended(weights: Array, mass: float, rows: int) -> Array:
    """The weights, and those of `rows` rows more, `mass` in all."""
    return np.concatenate([weights, np.full(rows, mass / rows)])


def checked_weights(weights: ArrayLike | None, rows: int) -> Array:
    """Finite, non-negative weights of shape (..., rows); 1 each when omitted."""
    array = np.ones(rows) if weights is None else finite("weights", weights)
    if array.shape[-1:] != (rows,):
        raise RatingsError(
            f"weights: shape {array.shape} found; (..., {rows}) is required. Give one weight a row."
        )
    return array


def checked_raters(what: str, raters: Collection[str]) -> tuple[str, ...]:
    """The raters' names, each once."""
    if len(set(raters)) != len(raters):
        raise RatingsError(
            f"{what}: raters {listed(sorted(raters), 12)} found; each name is required once. Name the raters apart."
        )
    return tuple(raters)


def checked_codes(what: str, values: ArrayLike, categories: int) -> Codes:
    """Positions on a scale of so many categories, -1 where missing."""
    array = np.asarray(values)
    if array.dtype.kind not in "iu" and array.size and (array.astype(float) % 1 != 0).any():
        raise RatingsError(
            f"{what}: a fraction or no number found; whole numbers from -1 to {categories - 1} are required. Give positions on the scale."
        )
    codes = array.astype(np.int64)
    if codes.size and (codes.min() < -1 or codes.max() >= categories):
        raise RatingsError(
            f"{what} from {codes.min()} to {codes.max()} found; -1 to {categories - 1} are required by the scale. Give positions on the scale."
        )
    return codes


def refuse_two_cells(what: str, item: Codes, rater: Codes) -> None:
    """One cell holds all that a rater said of an item."""
    raters = 1 + int(rater.max(initial=0))
    cells, times = np.unique(item * raters + rater, return_counts=True)
    if (times > 1).any():
        found = [divmod(cell, raters) for cell in cells[times > 1].tolist()]
        raise RatingsError(
            f"{what}: two cells of one item and rater {listed(found)} found; one is required. Put all meetings into one cell."
        )


def positions(what: str, values: ArrayLike, cells: int, places: int) -> Codes:
    """One position from 0 to places - 1 for each cell."""
    codes = np.asarray(values, dtype=np.int64)
    if codes.shape != (cells,) or (cells and not (codes.min() >= 0 and codes.max() < places)):
        raise RatingsError(
            f"{what} positions {listed(codes.ravel().tolist())} found; one from 0 to {places - 1} is required for each of {cells} cells."
        )
    return codes


def whole(what: str, values: ArrayLike) -> Array:
    """Whole, non-negative numbers."""
    array = finite(what, values)
    if (array % 1).any():
        raise RatingsError(
            f"{what}: a fraction found; whole numbers of ratings are required. Put fractions into the weights."
        )
    return array


def finite(what: str, values: ArrayLike) -> Array:
    """Finite, non-negative numbers."""
    array = np.asarray(values, dtype=float)
    if array.size and not (np.isfinite(array).all() and array.min() >= 0):
        raise RatingsError(
            f"{what}: a negative or non-finite number found; finite numbers of 0 or more are required."
        )
    return array


def changed(statistic: T, **changes: object) -> T:
    """A copy with some fields changed; what was checked at birth is not checked again."""
    copy = object.__new__(type(statistic))
    for name in statistic.__dataclass_fields__:  # type: ignore[attr-defined]
        object.__setattr__(copy, name, changes.get(name, getattr(statistic, name)))
    return copy


def reweighted(statistic: T, weights: Array, *known: str) -> T:
    """The same rows under other weights; what is `known` of them whatever their weights is found once and goes along."""
    copy = changed(statistic, weights=weights)
    vars(copy).update({name: getattr(statistic, name) for name in known})
    return copy
