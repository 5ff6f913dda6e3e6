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

from agreement_pipeline.ratings import MISSING, Array, Codes, Flags, one_way, parts

Hashes = NDArray[np.uint64]

MOST_TRIALS = 64
"""Raters alike after so many trials stay as they came."""
OWN, CELLS = np.uint64(0x9E3779B97F4A7C15), 2**16


class Said:
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
    def where(cls, given: Flags, *cells: NDArray[Any]) -> "Said":
        # A part of no rating is -1, or nan.
        row, rater = np.nonzero(given)
        nothing = [np.full(1, np.nan if each.dtype.kind == "f" else MISSING) for each in cells]
        number = hashes_of(*(each[row, rater] for each in cells))
        return cls(row, rater, number, hashes_of(*nothing), given.shape[1])

    def differ(self, one: Codes, other: Codes) -> bool:
        parts = ((each[one], each[other]) for each in (self.row, self.number))
        return not all(np.array_equal(*pair) for pair in parts)


def order_of_raters(said: Said, weights: Array) -> Codes:
    """It does not depend on how the raters came."""
    mass = _mixed(weights.astype(np.float64).view(np.uint64))
    colours = _refined(said, mass, np.zeros(len(said.ends), dtype=np.uint64))
    left = MOST_TRIALS
    while len(alike := _first_alike(said, colours)[:left]):
        trials = []
        for rater in alike:
            marked = colours.copy()
            marked[rater] = _mixed(marked[rater : rater + 1] ^ OWN)[0]
            trials.append(_refined(said, mass, marked))
        colours = min(trials, key=lambda colours: sorted(colours.tolist()))
        left -= len(alike)
    return np.argsort(colours, kind="stable")


def hashes_of(*parts: NDArray[np.float64] | Codes) -> Hashes:
    found = np.zeros(parts[0].shape, dtype=np.uint64)
    for part in map(one_way, parts):
        found = _mixed(found * OWN + np.ascontiguousarray(part).view(np.uint64))
    return found


def seed_of(statistic: object) -> int:
    """A seed that the arrays of a statistic fix: the first 8 bytes of their SHA-256.

    >>> from agreement_pipeline.ratings import Scale
    >>> from agreement_pipeline.statistics import CategoryCounts
    >>> scales = Scale(("no", "yes")), Scale(("bad", "good"))
    >>> len({seed_of(CategoryCounts([[2, 0]], scale=scale)) for scale in scales})
    1
    """
    digest = hashlib.sha256()
    for part in _arrays(statistic):
        digest.update(f"{part.dtype.str}{part.shape}".encode())
        for some in parts(len(part), 1 + CELLS // max(1, part[:1].size)):
            digest.update(part[some].tobytes())
    return int.from_bytes(digest.digest()[:8], "big")


def _arrays(statistic: object) -> Iterator[NDArray[np.generic]]:
    for field in fields(statistic):  # type: ignore[arg-type]
        value = getattr(statistic, field.name)
        if isinstance(value, np.ndarray):
            yield one_way(value)
        elif is_dataclass(value):
            yield from _arrays(value)


def _mixed(values: Hashes) -> Hashes:
    """Bits that depend on all bits of the given ones (Steele, Lea and Flood 2014).

    https://doi.org/10.1145/2660193.2660195
    """
    mixed = values + OWN
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def _sums(numbers: Hashes, ends: Codes) -> Hashes:
    until = np.append(np.uint64(0), np.cumsum(numbers))
    return np.asarray(np.diff(until[np.append(0, ends)]))


def _refined(said: Said, mass: Hashes, colours: Hashes) -> Hashes:
    row, rater, number, nothing = said.row, said.rater, _mixed(said.number), _mixed(said.nothing)
    ends = np.searchsorted(row, np.arange(len(mass)), side="right")
    before, found = 0, len({*colours.tolist()})
    while before < found < len(colours):
        own = _mixed(colours)
        silent = _mixed(said.nothing ^ own)
        speaks = _mixed(said.number ^ own[rater]) - silent[rater]
        rows = _mixed(silent.sum(dtype=np.uint64) + _sums(speaks, ends) + mass)
        unmet = _mixed(rows ^ nothing)
        met = (_mixed(rows[row] ^ number) - unmet[row])[said.by_rater]
        colours = _mixed(colours * OWN + unmet.sum(dtype=np.uint64) + _sums(met, said.ends))
        before, found = found, len({*colours.tolist()})
    return colours


def _first_alike(said: Said, colours: Hashes) -> Codes:
    ordered, times = np.unique(colours, return_counts=True)
    of_raters = np.split(said.by_rater, said.ends[:-1])
    for colour in ordered[times > 1]:
        first, *others = alike = np.flatnonzero(colours == colour)
        if any(said.differ(of_raters[first], of_raters[other]) for other in others):
            return alike
    return np.empty(0, dtype=np.int64)
