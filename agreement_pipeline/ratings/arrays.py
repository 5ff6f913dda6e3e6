"""Columns of Arrow as arrays of numbers, and back.

Arrow's own functions for this load pandas, which takes longer than to count a small table.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from agreement_pipeline.ratings.scale import MISSING, Codes

if TYPE_CHECKING:
    import pyarrow as pa

Array = np.ndarray[Any, Any]
FIRST, PART_BYTES = 64, 2**22
"""A part has few rows first, and from so many bytes on no more rows than the last."""


def whole(found: Any) -> Codes:
    """A missing whole number or flag is -1."""
    return _filled(_one(found), MISSING).astype(np.int64, copy=False)


def numbers_in(found: Any) -> np.ndarray:
    from pyarrow import types

    column = _one(found)
    if types.is_list(column.type):
        flat = numbers_in(column.flatten())
        return np.asarray(flat.reshape(len(column), -1) if len(column) else flat.reshape(0, 0))
    return _filled(column, np.nan)


def one_way(numbers: Array) -> Array:
    """There are several bits for nan, and for zero."""
    if numbers.dtype.kind != "f":
        return numbers
    return np.asarray(np.where(np.isnan(numbers), np.nan, numbers) + 0.0)


def column_of(numbers: np.ndarray) -> "pa.Array":
    """An Arrow column.

    >>> column_of(np.array([2, 1])).to_pylist()
    [2, 1]
    """
    import pyarrow as pa

    whole_array = np.ascontiguousarray(numbers)
    kind, data = pa.from_numpy_dtype(numbers.dtype), pa.py_buffer(whole_array)
    return pa.Array.from_buffers(kind, len(whole_array), [None, data])


def texts_of(texts: Sequence[str]) -> "pa.Array":
    """An Arrow column.

    >>> texts_of(["no", "", "yes"]).to_pylist()
    ['no', '', 'yes']
    """
    import pyarrow as pa

    each = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, each)], dtype=np.int32)
    data = pa.py_buffer(b"".join(each))
    return pa.StringArray.from_buffers(len(each), pa.py_buffer(ends), data)


def packed(texts: Any) -> tuple[Codes, bytes]:
    """The lengths of texts in bytes, -1 of a missing one, and their bytes one after the other."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = _one(texts).cast(pa.large_string())
    lengths, known = whole(pc.binary_length(column)), column.drop_null()
    if not len(known):
        return lengths, b""
    offsets = np.frombuffer(known.buffers()[1], np.int64)
    first, last = offsets[known.offset], offsets[known.offset + len(known)]
    return lengths, bytes(memoryview(known.buffers()[2])[first:last]) if last > first else b""


def growing(n_rows: int, made: "Callable[[slice], pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
    start, many = 0, FIRST
    while start < n_rows:
        batch = made(slice(start, min(start + many, n_rows)))
        yield batch
        start += len(batch)
        many *= 2 if batch.nbytes < PART_BYTES else 1


def _one(found: Any) -> Any:
    import pyarrow as pa

    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


def _filled(column: Any, missing: float) -> np.ndarray:
    import pyarrow as pa

    each = column.cast(pa.int64()) if pa.types.is_boolean(column.type) else column
    parts = [None, each.buffers()[1] or pa.py_buffer(b"")]
    told = pa.Array.from_buffers(each.type, len(each), parts, offset=each.offset)
    found = np.from_dlpack(told)
    if not column.null_count:
        return found
    return np.where(np.from_dlpack(column.is_valid().cast(pa.int8())), found, missing)


BLOCK = 1 << 18


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
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


def of_whole_items(item: Array, size: int) -> list[slice]:
    """Parts of rows, which are in order of item, that hold all rows of their items.

    >>> of_whole_items(np.array([0, 0, 1, 1, 1, 2]), 3)
    [slice(0, 5, None), slice(5, 6, None)]
    """
    found, start = [], 0
    while start + size < len(item):
        stop = int(np.searchsorted(item, item[start + size], side="right"))
        found.append(slice(start, stop))
        start = stop
    return [*found, slice(start, len(item))]
