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
FIRST_PART_ROWS, PART_BYTES = 64, 2**22
"""A part has few rows first, and from so many bytes on no more rows than the last."""


def as_whole_numbers_or_missing(column: Any) -> Codes:
    """A missing whole number or flag is -1."""
    return _fill_missing(_as_one_chunk(column), MISSING).astype(np.int64, copy=False)


def as_number_array(values: Any) -> np.ndarray:
    """Numbers as an array, nan where missing. Lists of numbers are rows of it."""
    from pyarrow import types

    column = _as_one_chunk(values)
    if types.is_list(column.type):
        flat = as_number_array(column.flatten())
        return np.asarray(flat.reshape(len(column), -1) if len(column) else flat.reshape(0, 0))
    return _fill_missing(column, np.nan)


def unify_nan_and_zero(numbers: Array) -> Array:
    """There are several bits for nan, and for zero."""
    if numbers.dtype.kind != "f":
        return numbers
    return np.asarray(np.where(np.isnan(numbers), np.nan, numbers) + 0.0)


def numbers_as_arrow(numbers: np.ndarray) -> "pa.Array":
    """An Arrow column.

    >>> numbers_as_arrow(np.array([2, 1])).to_pylist()
    [2, 1]
    """
    import pyarrow as pa

    whole_array = np.ascontiguousarray(numbers)
    kind, data = pa.from_numpy_dtype(numbers.dtype), pa.py_buffer(whole_array)
    return pa.Array.from_buffers(kind, len(whole_array), [None, data])


def texts_as_arrow(texts: Sequence[str]) -> "pa.Array":
    """An Arrow column.

    >>> texts_as_arrow(["no", "", "yes"]).to_pylist()
    ['no', '', 'yes']
    """
    import pyarrow as pa

    encoded = [text.encode() for text in texts]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    data = pa.py_buffer(b"".join(encoded))
    return pa.StringArray.from_buffers(len(encoded), pa.py_buffer(offsets), data)


def pack_texts(texts: Any) -> tuple[Codes, bytes]:
    """The lengths of texts in bytes, -1 of a missing one, and their bytes one after the other."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = _as_one_chunk(texts).cast(pa.large_string())
    lengths, texts_present = (
        as_whole_numbers_or_missing(pc.binary_length(column)),
        column.drop_null(),
    )
    if not len(texts_present):
        return lengths, b""
    offsets = np.frombuffer(texts_present.buffers()[1], np.int64)
    start, stop = offsets[texts_present.offset], offsets[texts_present.offset + len(texts_present)]
    return lengths, bytes(
        memoryview(texts_present.buffers()[2])[start:stop]
    ) if stop > start else b""


def iterate_growing_batches(
    n_rows: int, build_batch: "Callable[[slice], pa.RecordBatch]"
) -> "Iterator[pa.RecordBatch]":
    """Parts of rows, of which each has twice as many as the one before while they are small."""
    start, n_part_rows = 0, FIRST_PART_ROWS
    while start < n_rows:
        batch = build_batch(slice(start, min(start + n_part_rows, n_rows)))
        yield batch
        start += len(batch)
        n_part_rows *= 2 if batch.nbytes < PART_BYTES else 1


def _as_one_chunk(column: Any) -> Any:
    import pyarrow as pa

    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _fill_missing(column: Any, missing: float) -> np.ndarray:
    import pyarrow as pa

    integers = column.cast(pa.int64()) if pa.types.is_boolean(column.type) else column
    parts = [None, integers.buffers()[1] or pa.py_buffer(b"")]
    bare = pa.Array.from_buffers(integers.type, len(integers), parts, offset=integers.offset)
    numbers = np.from_dlpack(bare)
    if not column.null_count:
        return numbers
    return np.where(np.from_dlpack(column.is_valid().cast(pa.int8())), numbers, missing)


BLOCK_ROWS = 1 << 18


def take_in_blocks(values: Array, places: Array) -> Array:
    """The values at some places.

    >>> take_in_blocks(np.array([5, 7, 9]), np.array([2, 0, -1], dtype=np.int8)).tolist()
    [9, 5, 9]
    """
    values_taken = np.empty(len(places), dtype=values.dtype)
    for part in slices_of_rows(len(places)):
        values_taken[part] = values[places[part]]
    return values_taken


def count_codes(codes: Array, n_codes: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """How often each code occurs. It is fast where near rows have near codes.

    >>> count_codes(np.array([0, 2, 2], dtype=np.int8), 4).tolist()
    [1, 0, 2, 0]
    """
    totals = np.zeros(n_codes, dtype=np.int64)
    for part in slices_of_rows(len(codes)):
        lowest = int(codes[part].min())
        part_counts = np.bincount(codes[part] - lowest)
        totals[lowest : lowest + len(part_counts)] += part_counts
    return totals


def slices_of_rows(n_rows: int, size: int = BLOCK_ROWS) -> Iterator[slice]:
    """Slices of so many rows."""
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))
