"""Sums that are exact to the last digit in every order, as those of `math.fsum`."""

import math
from typing import Any

import numpy as np

Numbers = np.ndarray[Any, np.dtype[np.float64]]
Places = np.ndarray[Any, np.dtype[np.signedinteger[Any]]]


def exact_sums(values: Numbers, starts: Places) -> Numbers:
    """The sum of each part of the values, rounded once.

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


def _added(one: Numbers, other: Numbers) -> tuple[Numbers, Numbers]:
    """The rounded sum of two numbers, and exactly what it leaves out (Knuth's two-sum)."""
    total = one + other
    back = total - one
    return total, (one - (total - back)) + (other - back)


__all__ = ["exact_sums"]
