"""Tables as Parquet files, written and read a part at a time."""

import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.large_files import Content, LargeFile
from agreement_pipeline.ratings.expanded import expanded_bytes

ROW_GROUP = 100_000
MOST_BYTES = 1_000_000_000
"""The most that the texts of one column may need in one row group."""

SCHEMA, WRITER = b"ARROW:schema", "parquet-cpp-arrow version "


class Rows(Protocol):
    """The rows of a table, made a part at a time. A `pyarrow.Table` is one."""

    @property
    def schema(self) -> pa.Schema:
        """The columns."""

    def __len__(self) -> int:
        """The number of rows."""

    def slice(self, offset: int, length: int) -> pa.Table:
        """Some rows. There are fewer where the rows end."""


def parquet_of(rows: Rows, metadata: Mapping[bytes, str] | None = None) -> Content:
    """Rows as a Parquet file, as `parquet_bytes` writes it. Many rows are never in memory at once.

    One row group at a time is.
    """
    if len(rows) <= ROW_GROUP:
        return parquet_bytes(rows, metadata)
    return LargeFile(lambda path: _write(rows, path, metadata))


def parquet_bytes(rows: Rows, metadata: Mapping[bytes, str] | None = None) -> bytes:
    """Rows as a Parquet file, with the metadata of their schema or with others.

    Equal rows give equal bytes. The footer has nothing that readers could use in the place of the
    rows: no statistics, no index, no filter.
    """
    sink = io.BytesIO()
    _write(rows, sink, metadata)
    return sink.getvalue()


def _write(rows: Rows, sink: Path | io.BytesIO, metadata: Mapping[bytes, str] | None) -> None:
    schema = rows.schema
    with pq.ParquetWriter(
        sink,
        schema if metadata is None else schema.with_metadata(dict(metadata)),
        version="2.6",
        data_page_version="1.0",
        compression="zstd",
        write_statistics=False,
    ) as writer:
        for start in range(0, max(len(rows), 1), ROW_GROUP):
            writer.write_table(rows.slice(start, ROW_GROUP), row_group_size=ROW_GROUP)


@dataclass(frozen=True, eq=False)
class ParquetRows:
    """The rows of a Parquet file, read a row group at a time.

    Raises
    ------
    RatingsError
        The bytes are not a Parquet file.
    """

    data: Content

    def __post_init__(self) -> None:
        _ = self.schema

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns."""
        return _read(lambda: self._file().schema_arrow)

    def __len__(self) -> int:
        return int(self._file().metadata.num_rows)

    def parts(self, coded: Collection[str] = ()) -> Iterator[pa.Table]:
        """The row groups, each checked. Some texts may come in the codes that the file holds."""
        texts = {each.name for each in self.schema if pa.types.is_string(each.type)}
        file = self._file(sorted(texts & set(coded)))
        for group in range(file.num_row_groups):
            _read(lambda at=group: self._refuse_large(at, file.metadata))
            yield _read(lambda at=group: _whole(file.read_row_group(at)))

    def _refuse_large(self, group: int, footer: pq.FileMetaData) -> None:
        for name in self.schema.names:
            found = expanded_bytes(self._source(), name, MOST_BYTES, group=group, footer=footer)
            if found > MOST_BYTES:
                raise RatingsError(
                    f"Parquet file: found more than {MOST_BYTES} bytes in column {name!r} of one "
                    "row group; expected at most that. Restore the file."
                )

    def has_plain_footer(self, metadata: Mapping[bytes, bytes]) -> bool:
        """True if the footer says no more than `parquet_bytes` writes, with these metadata.

        Readers believe a footer. With false statistics they leave out rows, and with other
        metadata they call labels by other names.
        """
        file = self._file().metadata
        groups = [file.row_group(at) for at in range(file.num_row_groups)]
        chunks = [group.column(at) for group in groups for at in range(file.num_columns)]
        said = {key: value for key, value in (file.metadata or {}).items() if key != SCHEMA}
        return (
            said == dict(metadata)
            and all(self._footer.count(_written(key)) == 1 for key in (SCHEMA, *metadata))
            and file.created_by.startswith(WRITER)
            and sum(group.num_rows for group in groups) == file.num_rows
            and not any(group.sorting_columns for group in groups)
            and not any(map(_says_more, chunks))
        )

    @property
    def _footer(self) -> bytes:
        size = int.from_bytes(self._last(8)[:4], "little")
        return self._last(8 + size)[:-8]

    def _last(self, size: int) -> bytes:
        if isinstance(self.data, bytes):
            return self.data[-size:]
        with self.data.path.open("rb") as file:
            file.seek(max(len(self.data) - size, 0))
            return file.read()

    def _file(self, coded: Sequence[str] = ()) -> pq.ParquetFile:
        return pq.ParquetFile(self._source(), read_dictionary=list(coded))

    def _source(self) -> Path | pa.NativeFile:
        return pa.BufferReader(self.data) if isinstance(self.data, bytes) else self.data.path


def _written(key: bytes) -> bytes:
    """A short text as a footer has it: its length, and its bytes."""
    return bytes([len(key)]) + key


def _says_more(chunk: pq.ColumnChunkMetaData) -> bool:
    """True if a footer says more of a column than where it is and how it is written."""
    return bool(
        chunk.is_stats_set
        or chunk.is_geo_stats_set
        or chunk.has_column_index
        or chunk.has_offset_index
        or chunk.bloom_filter_offset is not None
        or chunk.file_path
    )


def _whole(part: pa.Table) -> pa.Table:
    part.validate(full=True)
    return part


def _read(what: Any) -> Any:
    try:
        return what()
    except (pa.ArrowException, OSError, UnicodeDecodeError) as cause:
        raise RatingsError(
            f"Parquet file: found one that cannot be read ({cause}); "
            "expected a readable file. Restore the file."
        ) from None
