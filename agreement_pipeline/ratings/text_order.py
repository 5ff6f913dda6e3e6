"""The ascending order of many texts."""

from itertools import takewhile
from typing import Any

import numpy as np

BYTES_A_KEY = 8
Places = np.ndarray[Any, np.dtype[np.int64]]


def order_of_texts(texts: Any) -> Places:
    """The places of the texts of an Arrow array in ascending order of their bytes.

    The first bytes after those that all texts share are compared as one whole number. Only texts
    with equal numbers are compared as texts. No text is missing.

    >>> import pyarrow as pa
    >>> order_of_texts(pa.array(["item-10", "item-2", "item-1"])).tolist()
    [2, 0, 1]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not len(texts):
        return np.empty(0, dtype=np.int64)
    keys = _first_bytes(texts.cast(pa.large_string()), _shared(texts))
    order = np.argsort(keys)
    equal = np.diff(keys[order]) == 0
    tied = np.flatnonzero(np.append(False, equal) | np.append(equal, False))
    rows = order[tied]
    order[tied] = rows[pc.array_sort_indices(texts.take(pa.array(rows))).to_numpy()]
    return order


def _shared(texts: Any) -> int:
    """How many bytes at the start all texts have in common."""
    import pyarrow.compute as pc

    ends = pc.min_max(texts).as_py()
    first, last = ends["min"].encode(), ends["max"].encode()
    alike = (one == other for one, other in zip(first, last, strict=False))
    return sum(takewhile(bool, alike))


def _first_bytes(texts: Any, start: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Some bytes of each large string as one number. A shorter text has zeros behind it."""
    _, ends, data = texts.buffers()
    offsets = np.frombuffer(ends, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    letters = np.frombuffer(data or b"", dtype=np.uint8)
    keys = np.zeros(len(texts), dtype=np.uint64)
    for place in range(start, start + BYTES_A_KEY):
        there = offsets[:-1] + place < offsets[1:]
        keys <<= np.uint64(8)
        keys[there] |= letters[offsets[:-1][there] + place]
    return keys
