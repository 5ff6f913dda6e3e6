"""How large a column of a Parquet file is once its codes are texts again.

A file keeps each text of a chunk once, and its rows as codes. Or it keeps only how a text differs
from the one before. So a text of a megabyte in a thousand rows is a small file, and a gigabyte in
memory.
"""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from agreement_pipeline.ratings.footer import Chunk, Footer

AT_ONCE = 1 << 26


def expanded_bytes(
    source: Path | pa.NativeFile, footer: Footer, name: str, most: int, group: int | None = None
) -> int:
    """An upper limit for the bytes of a column, or of its chunk in one row group.

    It is exact where the limit would be over `most`, or it is a number over `most`.
    """
    chunks = [
        each
        for each in footer.chunks
        if each.text
        and (each.coded or each.by_prefix)
        and group in (None, each.group)
        and name in (each.path, each.path.partition(".")[0])
    ]
    if sum(each.size * each.values for each in chunks) <= most:
        return sum(each.size for each in chunks)
    file = pq.ParquetFile(source, read_dictionary=[each.path for each in chunks if each.coded])
    total = sum(_counted(file, name, each, most) for each in chunks if each.by_prefix)
    coded = [each for each in chunks if not each.by_prefix]
    bounds = {each: _longest(file, name, each.group) * each.values for each in coded}
    total += sum(bounds.values())
    for each in sorted(coded, key=lambda chunk: -bounds[chunk]):
        if total <= most:
            break
        total += _exact(file, name, each.group) - bounds[each]
    return total


def _counted(file: pq.ParquetFile, name: str, chunk: Chunk, most: int) -> int:
    """The bytes of a chunk, counted in small parts. No text is longer than its page."""
    total, rows = 0, max(AT_ONCE // max(chunk.largest, 1), 1)
    for part in file.iter_batches(batch_size=rows, row_groups=[chunk.group], columns=[name]):
        total += part.nbytes
        if total > most:
            break
    return total


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
