"""How large a column of a Parquet file is once its codes are texts again.

A file keeps each text of a chunk once, and its rows as codes. So a text of a megabyte in a
thousand rows is a small file, and a gigabyte in memory.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq


class _Chunk(NamedTuple):
    """A chunk of texts: its row group, the path of its column, its bytes and its values."""

    group: int
    path: str
    size: int
    values: int


def expanded_bytes(
    source: Path | pa.NativeFile,
    name: str,
    most: int,
    *,
    group: int | None = None,
    footer: pq.FileMetaData | None = None,
) -> int:
    """An upper limit for the bytes of a column, or of its chunk in one row group.

    It is exact where the limit would be over `most`. The footer is read if it is not given.
    """
    footer = pq.read_metadata(source) if footer is None else footer
    groups = range(footer.num_row_groups) if group is None else [group]
    chunks = [
        each for each in _chunks(footer, groups) if name in (each.path, each.path.partition(".")[0])
    ]
    if sum(each.size * each.values for each in chunks) <= most:
        return sum(each.size for each in chunks)
    file = pq.ParquetFile(source, metadata=footer, read_dictionary=[each.path for each in chunks])
    bounds = {each: _longest(file, name, each.group) * each.values for each in chunks}
    total = sum(bounds.values())
    for each in sorted(chunks, key=lambda chunk: -bounds[chunk]):
        if total <= most:
            break
        total += _exact(file, name, each.group) - bounds[each]
    return total


def _chunks(footer: pq.FileMetaData, groups: Iterable[int]) -> list[_Chunk]:
    found = []
    for group in groups:
        part = footer.row_group(group)
        columns = (part.column(at) for at in range(footer.num_columns))
        found += [
            _Chunk(group, each.path_in_schema, each.total_uncompressed_size, each.num_values)
            for each in columns
            if each.physical_type == "BYTE_ARRAY" and each.has_dictionary_page
        ]
    return found


def _longest(file: pq.ParquetFile, name: str, group: int) -> int:
    """The bytes of the longest text of a chunk. One row is read, and with it all the texts."""
    batch = next(file.iter_batches(batch_size=1, row_groups=[group], columns=[name]), None)
    coded = None if batch is None else _codes_in(batch.column(0))
    return 0 if coded is None else pc.max(pc.binary_length(coded.dictionary)).as_py() or 0


def _exact(file: pq.ParquetFile, name: str, group: int) -> int:
    chunks = file.read_row_group(group, columns=[name]).column(0).chunks
    coded = [each for each in map(_codes_in, chunks) if each is not None]
    return sum(
        pc.sum(pc.binary_length(each.dictionary).take(each.indices)).as_py() or 0 for each in coded
    )


def _codes_in(array: Any) -> Any:
    """The codes in an array, also in one of lists. None if it has no codes."""
    while pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        array = array.flatten()
    return array if pa.types.is_dictionary(array.type) else None
