"""An order of raters that their ratings fix, and seeds that a statistic fixes. Names do not enter.

Raters are told apart by colour refinement. Each round of it colours a row by what all raters said
there, and a rater by the rows where they said something. Raters that stay alike are told apart by
trial: one of them gets a colour of its own, and the others follow.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import numpy as np
from numpy.typing import NDArray

from agreement_pipeline.ratings import Array, Codes, one_way, parts

Hashes = NDArray[np.uint64]

MOST_TRIALS = 64
"""Raters that are alike after so many trials stay in the order they came in."""
OWN, CELLS = np.uint64(0x9E3779B97F4A7C15), 2**16


def order_of_raters(said: Hashes, weights: Array) -> Codes:
    """An order that does not depend on how the raters came.

    `said` (P, R) is a number for what each rater gave in each row, equal for equal ratings and 0
    for nothing.
    """
    mass = _mixed(weights.astype(np.float64).view(np.uint64))
    colours = _refined(said, mass, np.zeros(said.shape[1], dtype=np.uint64))
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
        digest.update(np.ascontiguousarray(part).tobytes())
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


def _refined(said: Hashes, mass: Hashes, colours: Hashes) -> Hashes:
    before, found = 0, len({*colours.tolist()})
    while before < found < len(colours):
        own, met = _mixed(colours), np.zeros(len(colours), dtype=np.uint64)
        for part in parts(len(said), 1 + CELLS // len(colours)):
            rows = _mixed(_mixed(said[part] ^ own).sum(1, dtype=np.uint64) + mass[part])
            met += _mixed(rows[:, None] ^ _mixed(said[part])).sum(0, dtype=np.uint64)
        colours = _mixed(colours * OWN + met)
        before, found = found, len({*colours.tolist()})
    return colours


def _first_alike(said: Hashes, colours: Hashes) -> Codes:
    ordered, times = np.unique(colours, return_counts=True)
    for colour in ordered[times > 1]:
        alike = np.flatnonzero(colours == colour)
        if (said[:, alike] != said[:, alike[:1]]).any():
            return alike
    return np.empty(0, dtype=np.int64)
