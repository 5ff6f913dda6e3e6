"""What a panel says of each item: votes, the category that leads, the mean, and soft labels."""

import math
from typing import Any

import numpy as np

from agreement_pipeline.ratings.blocks import parts
from agreement_pipeline.ratings.scale import Array

RESOLUTIONS = ("unanimous", "plurality", "mean", "adjudicated", "tie", "single", "conflict")
UNANIMOUS, PLURALITY, MEAN, ADJUDICATED, TIE, SINGLE, CONFLICT = range(len(RESOLUTIONS))
Rows = np.ndarray[Any, Any]


def votes_of(item: Rows, code: Rows, shape: tuple[int, int]) -> Rows:
    """The number of ratings of each item in each category. The ratings are in order of items."""
    votes = np.zeros(shape, dtype=np.int32)
    for part in parts(len(item)):
        cells = item[part] * shape[1] + code[part]
        least = int(cells.min())
        here = np.bincount(cells - least)
        votes.reshape(-1)[least : least + len(here)] += here.astype(np.int32)
    return votes


def leaders_of(votes: Rows) -> tuple[Rows, Rows]:
    """For each item: the first category with the most votes, and the resolution."""
    label = np.empty(len(votes), dtype=np.int32)
    resolution = np.empty(len(votes), dtype=np.int8)
    for part in parts(len(votes)):
        label[part], resolution[part] = _leaders(votes[part])
    return label, resolution


def _leaders(votes: Rows) -> tuple[Rows, Rows]:
    most, total = votes.max(1), votes.sum(1)
    leading = (votes == most[:, None]).sum(1)
    resolution = np.select(
        [total == 1, most == total, leading > 1], [SINGLE, UNANIMOUS, TIE], PLURALITY
    )
    return votes.argmax(1), resolution


def means_of(labels: Array, n_raters: Rows) -> tuple[Rows, Rows]:
    """For each item: the mean label and the resolution. The labels are in the order of items.

    The mean is exact to the last digit in every order of the raters.
    """
    if not len(n_raters):
        return np.empty(0), np.empty(0, dtype=np.int8)
    starts = np.cumsum(n_raters) - n_raters
    equal = np.maximum.reduceat(labels, starts) == np.minimum.reduceat(labels, starts)
    resolution = np.select([n_raters == 1, equal], [SINGLE, UNANIMOUS], MEAN)
    return exact_sums(labels, starts) / n_raters, resolution.astype(np.int8)


def exact_sums(values: Rows, starts: Rows) -> Rows:
    """The sum of each part of the values, rounded once, as that of `math.fsum`.

    Each sum is kept as two numbers: its digits, and what they leave out. If that leaves out
    something again, `math.fsum` adds the part up.

    Parameters
    ----------
    values
        Numbers that neither overflow nor are nan.
    starts
        Where each part starts. No part is empty.

    Examples
    --------
    >>> exact_sums(np.array([1e16, 1.0, -1e16, 0.5]), np.array([0, 3])).tolist()
    [1.0, 0.5]
    """
    ends = np.append(starts[1:], len(values))
    sums, rest = np.zeros(len(starts)), np.zeros(len(starts))
    inexact = np.zeros(len(starts), dtype=bool)
    parts = np.argsort(starts - ends, kind="stable")
    sizes = (ends - starts)[parts]
    for nth in range(int(sizes.max(initial=0))):
        parts = parts[: np.searchsorted(-sizes[: len(parts)], -nth)]
        sums[parts], lost = _added(sums[parts], values[starts[parts] + nth])
        rest[parts], lost = _added(rest[parts], lost)
        inexact[parts] |= lost != 0
    found = sums + rest
    for part in np.flatnonzero(inexact):
        found[part] = math.fsum(values[starts[part] : ends[part]])
    return found


def _added(one: Rows, other: Rows) -> tuple[Rows, Rows]:
    """The rounded sum of two numbers, and exactly what it leaves out (Knuth's two-sum)."""
    total = one + other
    back = total - one
    return total, (one - (total - back)) + (other - back)


def soft_of(votes: Rows) -> Array:
    """The share of the votes in each category. Shape (N, K)."""
    return np.asarray(votes / votes.sum(1, keepdims=True))


def entropy_of(soft: Array) -> Array:
    """-Σ p log2 p of each row."""
    return np.asarray(-(soft * np.log2(np.where(soft > 0, soft, 1))).sum(1) + 0.0)
