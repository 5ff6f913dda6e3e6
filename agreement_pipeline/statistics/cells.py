"""What replicated labels and replicated numbers share: cells of items that raters met again.

One *cell* is one rater on one item with what they said at each meeting. Weights belong to items.
Resampling then keeps together all that was said of one item.

Replicated labels and replicated numbers are two statistics because their unseen items differ in
kind. Unseen labels are split between two categories that are the same for all raters. Unseen
numbers are split between two values of each rater's own.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Array, Codes
from agreement_pipeline.statistics.weighted import OfRows, RowMemory, total
from agreement_pipeline.text import listed


class Cells(RowMemory):
    """Cells of items that raters met again; weights belong to the items.

    A class that builds on this one holds the `weights` of the items and the `sizes` of the cells.
    It holds the names of all `raters`.
    """

    item: Codes
    rater: Codes

    if TYPE_CHECKING:

        @property
        def weights(self) -> Array:
            """How many items stand behind each item. Shape (..., P)."""

        @property
        def raters(self) -> tuple[str, ...]:
            """All rater names with replicates or without."""

        @property
        def sizes(self) -> Array:
            """Ratings a cell. Shape (C,)."""

    def of_cells(self, kept: NDArray[np.bool_]) -> Self:
        """Keep some of the cells; items and raters stay."""
        raise NotImplementedError

    def without_rater(self, rater: int) -> Self:
        """Leave out the rater at a position and all they said."""
        raise NotImplementedError

    @property
    def cell_weights(self) -> Array:
        """The weight of each cell, shape (..., C): that of its item."""
        return np.asarray(self.weights[..., self.item])

    @OfRows
    def readable(self) -> NDArray[np.bool_]:
        """True for items that some rater met again. Shape (P,)."""
        return np.isin(np.arange(self.weights.shape[-1]), self.item)

    @property
    def n_items(self) -> int:
        """Items that some rater met again."""
        return total(self.weights[..., self.readable])

    @property
    def n_used(self) -> int:
        """Items that show agreement: all that some rater met again."""
        return self.n_items

    @property
    def n_ratings(self) -> int:
        """Ratings of items met again; a vector is one rating."""
        return total(self.cell_weights * self.sizes)

    def of(self, rater: str) -> Self:
        """Keep the cells of one rater."""
        return self.of_cells(self.rater == self.raters.index(rater))

    def unnamed(self) -> Self:
        """The replicates themselves: they are read rater by rater."""
        return self

    def without_each_rater(self) -> Iterator[Self]:
        """Leave out each rater with replicates in turn. One table is made at a time."""
        return (self.without_rater(int(rater)) for rater in np.unique(self.rater))

    def items_by_rater(self, rows: NDArray[np.bool_]) -> Array:
        """How many items of some rows each rater with replicates met again."""
        raters, places = np.unique(self.rater, return_inverse=True)
        weights = self.cell_weights * rows[self.item]
        return np.asarray(np.bincount(places, weights, minlength=len(raters)), dtype=float)


def moved_up(raters: Codes, gone: int) -> Codes:
    """Positions of raters without the gap that a rater leaves."""
    return raters - (raters > gone)


def positions_among(raters: tuple[str, ...], cells: Cells) -> Codes:
    """The raters of cells by their positions among `raters`."""
    return np.array([raters.index(name) for name in cells.raters], dtype=np.int64)[cells.rater]


def widened(values: Array, meetings: int) -> Array:
    """The values with a place for each of `meetings`. It is nan if there was none."""
    wide = np.full((len(values), meetings, values.shape[2]), np.nan)
    wide[:, : values.shape[1]] = values
    return wide


def checked_cells(
    what: str, item: ArrayLike, rater: ArrayLike, shape: tuple[int, int, int]
) -> dict[str, Codes]:
    """The item and the rater of each cell; `shape` counts cells, items and raters.

    Raises
    ------
    RatingsError
        A position is impossible, or two cells are of one item and rater.
    """
    cells, items, raters = shape
    found = {
        "item": _positions(f"{what}: item", item, cells, items),
        "rater": _positions(f"{what}: rater", rater, cells, raters),
    }
    _refuse_two_cells(what, **found)
    return found


def refuse_single(what: str, sizes: Array) -> None:
    """Refuse cells with fewer than two ratings.

    Raises
    ------
    RatingsError
        A cell has fewer than two ratings.
    """
    if sizes.size and sizes.min() < 2:
        raise RatingsError(
            f"{what}: found a cell of fewer than two ratings; expected at least two, since they "
            "show whether raters agree with themselves. Leave out the other cells."
        )


def _positions(what: str, values: ArrayLike, cells: int, places: int) -> Codes:
    """One position from 0 to places - 1 for each cell."""
    codes = np.asarray(values, dtype=np.int64)
    if codes.shape != (cells,) or (cells and not (codes.min() >= 0 and codes.max() < places)):
        raise RatingsError(
            f"{what} positions: found {listed(codes.ravel().tolist())}; expected one from 0 to "
            f"{places - 1} for each of {cells} cells. Correct the positions."
        )
    return codes


def _refuse_two_cells(what: str, item: Codes, rater: Codes) -> None:
    """Refuse two cells of one item and rater. One cell holds all that a rater said of an item."""
    raters = 1 + int(rater.max(initial=0))
    cells, times = np.unique(item * raters + rater, return_counts=True)
    if (times > 1).any():
        found = [divmod(cell, raters) for cell in cells[times > 1].tolist()]
        raise RatingsError(
            f"{what}: found two cells of one item and rater {listed(found)}; expected one. "
            "Put all meetings into one cell."
        )


__all__ = ["Cells", "checked_cells", "moved_up", "positions_among", "refuse_single", "widened"]
