"""What is looked up for many codes, block by block.

NumPy makes a number of eight bytes of each code before it looks anything up. Of a block, these are
few.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

BLOCK = 1 << 18
Array = np.ndarray[Any, Any]


def taken(values: Array, places: Array) -> Array:
    """The values at some places.

    >>> taken(np.array([5, 7, 9]), np.array([2, 0, -1], dtype=np.int8)).tolist()
    [9, 5, 9]
    """
    found = np.empty(len(places), dtype=values.dtype)
    for part in parts(len(places)):
        found[part] = values[places[part]]
    return found


def counts(codes: Array, n_codes: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """How often each code occurs. It is fast where near rows have near codes.

    >>> counts(np.array([0, 2, 2], dtype=np.int8), 4).tolist()
    [1, 0, 2, 0]
    """
    found = np.zeros(n_codes, dtype=np.int64)
    for part in parts(len(codes)):
        least = int(codes[part].min())
        here = np.bincount(codes[part] - least)
        found[least : least + len(here)] += here
    return found


def parts(n_rows: int, size: int = BLOCK) -> Iterator[slice]:
    """The rows of a column, a block at a time."""
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


def of_whole_items(item: Array, size: int) -> list[slice]:
    """Rows in order of item, in parts that hold all rows of their items.

    >>> of_whole_items(np.array([0, 0, 1, 1, 1, 2]), 3)
    [slice(0, 5, None), slice(5, 6, None)]
    """
    found, start = [], 0
    while start + size < len(item):
        stop = int(np.searchsorted(item, item[start + size], side="right"))
        found.append(slice(start, stop))
        start = stop
    return [*found, slice(start, len(item))]


def given_back() -> None:
    """Give memory that Arrow no longer uses back to the system."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()


__all__ = ["counts", "given_back", "of_whole_items", "parts", "taken"]
