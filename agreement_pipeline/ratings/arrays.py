"""Columns of Arrow as arrays of numbers, and back.

Arrow's own functions for this load pandas, which takes longer than to count a small table.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from agreement_pipeline.ratings.scale import MISSING, Codes

if TYPE_CHECKING:
    import pyarrow as pa


def whole(found: Any) -> Codes:
    """An Arrow column of whole numbers or flags; -1 where it has none."""
    import pyarrow as pa

    return _filled(_one(found).cast(pa.int64()), np.int64, MISSING)


def flags(found: Any) -> np.ndarray:
    """An Arrow column of flags; False where it has none."""
    return whole(found) > 0


def numbers_in(found: Any) -> np.ndarray:
    """The codes or numbers of an Arrow column. Vectors have shape (n, D)."""
    import pyarrow as pa

    column = _one(found)
    if pa.types.is_list(column.type):
        flat = numbers_in(column.flatten())
        return np.asarray(flat.reshape(len(column), -1) if len(column) else flat.reshape(0, 0))
    if pa.types.is_integer(column.type) and not column.null_count:
        return whole(column)
    return _filled(column.cast(pa.float64()), np.float64, np.nan)


def column_of(numbers: np.ndarray) -> "pa.Array":
    """An array of numbers as an Arrow column.

    >>> column_of(np.array([2, 1])).to_pylist()
    [2, 1]
    """
    import pyarrow as pa

    whole_array = np.ascontiguousarray(numbers)
    kind, data = pa.from_numpy_dtype(numbers.dtype), pa.py_buffer(whole_array)
    return pa.Array.from_buffers(kind, len(whole_array), [None, data])


def texts_of(texts: Sequence[str]) -> "pa.Array":
    r"""Texts as an Arrow column.

    >>> texts_of(["no", "", "caf\u00e9"]).to_pylist()
    ['no', '', 'caf\u00e9']
    """
    import pyarrow as pa

    each = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, each)], dtype=np.int32)
    data = pa.py_buffer(b"".join(each))
    return pa.StringArray.from_buffers(len(each), pa.py_buffer(ends), data)


def _one(found: Any) -> Any:
    """An Arrow column in one piece."""
    import pyarrow as pa

    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


def _filled(column: Any, kind: Any, missing: float) -> np.ndarray:
    """A column of eight bytes a number, with a number where it has none."""
    import pyarrow as pa

    if not len(column):
        return np.empty(0, kind)
    data = np.frombuffer(column.buffers()[1], kind, len(column), column.offset * 8)
    if not column.null_count:
        return data
    absent = column.is_null().cast(pa.int64())
    return np.where(_filled(absent, np.int64, 0) > 0, missing, data)
