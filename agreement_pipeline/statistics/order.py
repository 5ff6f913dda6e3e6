"""An order of raters that their ratings fix, and seeds that a statistic fixes. Names do not enter.

Raters are told apart by colour refinement. Each round of it colours a row by what all raters said
there, and a rater by the rows where they said something. Raters that stay alike are told apart by
trial: one of them gets a colour of its own, and the others follow.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agreement_pipeline.ratings import (
    MISSING,
    Array,
    Codes,
    Flags,
    slices_of_rows,
    unify_nan_and_zero,
)

Hashes = NDArray[np.uint64]

MAX_TRIALS = 64
"""Raters alike after so many trials stay as they came."""
GOLDEN_GAMMA, HASHED_CELLS_AT_ONCE = np.uint64(0x9E3779B97F4A7C15), 2**16


class RatingHashes:
    """A number for what each rater gave in each row, in order, and (1,) for no rating.

    Equal ratings have equal numbers.
    """

    def __init__(
        self, row: Codes, rater: Codes, number: Hashes, nothing: Hashes, n_raters: int
    ) -> None:
        self.row, self.rater, self.number, self.nothing = row, rater, number, nothing
        # NumPy sorts small whole numbers faster.
        small = rater.astype(np.min_scalar_type(n_raters))
        self.by_rater = np.argsort(small, kind="stable")
        self.ends = np.searchsorted(rater[self.by_rater], np.arange(n_raters), side="right")

    @classmethod
    def of_cells(cls, is_rated: Flags, *cells: NDArray[Any]) -> "RatingHashes":
        # A part of no rating is -1, or nan.
        row, rater = np.nonzero(is_rated)
        nothing = [np.full(1, np.nan if cell.dtype.kind == "f" else MISSING) for cell in cells]
        number = hash_cells(*(cell[row, rater] for cell in cells))
        return cls(row, rater, number, hash_cells(*nothing), is_rated.shape[1])

    def differ(self, first_cells: Codes, other_cells: Codes) -> bool:
        """True if two raters rated different rows, or gave one row different labels."""
        parts = ((values[first_cells], values[other_cells]) for values in (self.row, self.number))
        return not all(np.array_equal(*pair) for pair in parts)


def canonical_order_of_raters(hashes: RatingHashes, weights: Array) -> Codes:
    """It does not depend on how the raters came."""
    mass = _mix_bits(weights.astype(np.float64).view(np.uint64))
    colours = _refine_colours(hashes, mass, np.zeros(len(hashes.ends), dtype=np.uint64))
    n_trials_left = MAX_TRIALS
    while len(alike := _first_raters_of_one_colour(hashes, colours)[:n_trials_left]):
        trials = []
        for rater in alike:
            marked = colours.copy()
            marked[rater] = _mix_bits(marked[rater : rater + 1] ^ GOLDEN_GAMMA)[0]
            trials.append(_refine_colours(hashes, mass, marked))
        colours = min(trials, key=lambda colours: sorted(colours.tolist()))
        n_trials_left -= len(alike)
    return np.argsort(colours, kind="stable")


def hash_cells(*parts: NDArray[np.float64] | Codes) -> Hashes:
    """A number for each cell from its parts. Equal cells have equal numbers."""
    hashes = np.zeros(parts[0].shape, dtype=np.uint64)
    for part in map(unify_nan_and_zero, parts):
        hashes = _mix_bits(hashes * GOLDEN_GAMMA + np.ascontiguousarray(part).view(np.uint64))
    return hashes


def seed_from_arrays(statistic: object) -> int:
    """A seed that the arrays of a statistic fix: the first 8 bytes of their SHA-256.

    >>> from agreement_pipeline.ratings import Scale
    >>> from agreement_pipeline.statistics import CategoryCounts
    >>> scales = Scale(("no", "yes")), Scale(("bad", "good"))
    >>> len({seed_from_arrays(CategoryCounts([[2, 0]], scale=scale)) for scale in scales})
    1
    """
    digest = hashlib.sha256()
    for part in _iterate_arrays(statistic):
        digest.update(f"{part.dtype.str}{part.shape}".encode())
        for block in slices_of_rows(len(part), 1 + HASHED_CELLS_AT_ONCE // max(1, part[:1].size)):
            digest.update(part[block].tobytes())
    return int.from_bytes(digest.digest()[:8], "big")


def _iterate_arrays(statistic: object) -> Iterator[NDArray[np.generic]]:
    for field in fields(statistic):  # type: ignore[arg-type]
        value = getattr(statistic, field.name)
        if isinstance(value, np.ndarray):
            yield unify_nan_and_zero(value)
        elif is_dataclass(value):
            yield from _iterate_arrays(value)


def _mix_bits(values: Hashes) -> Hashes:
    """Bits that depend on all bits of the given ones (Steele, Lea and Flood 2014).

    https://doi.org/10.1145/2660193.2660195
    """
    mixed = values + GOLDEN_GAMMA
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def _sum_groups(numbers: Hashes, group_ends: Codes) -> Hashes:
    until = np.append(np.uint64(0), np.cumsum(numbers))
    return np.asarray(np.diff(until[np.append(0, group_ends)]))


def _refine_colours(hashes: RatingHashes, mass: Hashes, colours: Hashes) -> Hashes:
    """Colours of raters, told apart until no round of refinement tells more."""
    row = hashes.row
    rater = hashes.rater
    number = _mix_bits(hashes.number)
    nothing = _mix_bits(hashes.nothing)
    row_ends = np.searchsorted(row, np.arange(len(mass)), side="right")
    n_before, n_colours = 0, len({*colours.tolist()})
    while n_before < n_colours < len(colours):
        own_colours = _mix_bits(colours)
        silent = _mix_bits(hashes.nothing ^ own_colours)
        speaks = _mix_bits(hashes.number ^ own_colours[rater]) - silent[rater]
        rows = _mix_bits(silent.sum(dtype=np.uint64) + _sum_groups(speaks, row_ends) + mass)
        unmet = _mix_bits(rows ^ nothing)
        contributions = (_mix_bits(rows[row] ^ number) - unmet[row])[hashes.by_rater]
        colours = _mix_bits(
            colours * GOLDEN_GAMMA
            + unmet.sum(dtype=np.uint64)
            + _sum_groups(contributions, hashes.ends)
        )
        n_before, n_colours = n_colours, len({*colours.tolist()})
    return colours


def _first_raters_of_one_colour(hashes: RatingHashes, colours: Hashes) -> Codes:
    """The first raters of one colour whose ratings differ. Empty if there are none."""
    ordered, times = np.unique(colours, return_counts=True)
    of_raters = np.split(hashes.by_rater, hashes.ends[:-1])
    for colour in ordered[times > 1]:
        reference, *candidates = alike = np.flatnonzero(colours == colour)
        if any(
            hashes.differ(of_raters[reference], of_raters[candidate]) for candidate in candidates
        ):
            return alike
    return np.empty(0, dtype=np.int64)
