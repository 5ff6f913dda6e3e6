"""Tables as Parquet files, written and read a part at a time."""

import io
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from agreement_pipeline.engine import PATTERN_MARKS, DuckDB, Relation, Unreadable, duckdb_session
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.large_files import Content, LargeFile
from agreement_pipeline.ratings.arrays import FIRST_PART_ROWS, PART_BYTES
from agreement_pipeline.ratings.cells import Cells, is_read_like_arrow, with_cell_types
from agreement_pipeline.ratings.origin import Origin
from agreement_pipeline.ratings.ratings import Ratings
from agreement_pipeline.ratings.scale import Scale
from agreement_pipeline.ratings.validation import EXTRAS, content_columns
from agreement_pipeline.text import called

ROW_GROUP_ROWS, ROW_GROUP_BYTES = 100_000, 2**26
"""A row group ends after so many rows, or after so many bytes."""
MAX_EXPANDED_BYTES = 1_000_000_000

EXPANDED_BATCH_BYTES = 2**26
MIN_BYTES_TO_READ_IN_PLACE = 2**20
"""So few bytes are sooner put into a table than asked for in their file."""
SCHEMA, WRITTEN_BY = b"ARROW:schema", "parquet-cpp-arrow version "
N_BYTES_AROUND = 12
"""The mark PAR1 at both ends of a Parquet file, and the length of its footer."""
BY_PREFIX = "DELTA_BYTE_ARRAY"
"""An encoding that keeps of a text only what differs from the one before it."""


class BatchRows(Protocol):
    @property
    def schema(self) -> pa.Schema:
        """The columns."""

    def __len__(self) -> int:
        """The number of rows."""

    def to_batches(self) -> Iterable[pa.RecordBatch]:
        """The rows in order."""


class RowQueue:
    def __init__(self, rows: BatchRows) -> None:
        self._schema, self._batches = rows.schema, iter(rows.to_batches())
        self._ahead = rows.schema.empty_table()

    def take_next(self, n_rows: int) -> pa.Table:
        """The next rows, or fewer at the end."""
        parts, lacking = [self._ahead], n_rows - len(self._ahead)
        while lacking > 0 and (batch := next(self._batches, None)) is not None:
            parts.append(pa.Table.from_batches([batch], self._schema))
            lacking -= len(batch)
        table = pa.concat_tables(parts)
        self._ahead = table.slice(n_rows)
        return table.slice(0, n_rows).combine_chunks()


def write_parquet_content(rows: BatchRows, metadata: Mapping[bytes, str] | None = None) -> Content:
    """A table as Parquet: bytes if it is small, else a file on disk."""
    if len(rows) <= ROW_GROUP_ROWS:
        return parquet_bytes(rows, metadata)
    return LargeFile(lambda path: _write_row_groups(rows, path, metadata))


def parquet_bytes(rows: BatchRows, metadata: Mapping[bytes, str] | None = None) -> bytes:
    """Equal rows give equal bytes.

    The footer has nothing that readers could use in the place of the rows: no statistics, no index,
    no filter.
    """
    sink = io.BytesIO()
    _write_row_groups(rows, sink, metadata)
    return sink.getvalue()


def _write_row_groups(
    rows: BatchRows, sink: Path | io.BytesIO, metadata: Mapping[bytes, str] | None
) -> None:
    schema = rows.schema
    with pq.ParquetWriter(
        sink,
        schema if metadata is None else schema.with_metadata(dict(metadata)),
        version="2.6",
        data_page_version="1.0",
        compression="zstd",
        write_statistics=False,
    ) as writer:
        in_turn = RowQueue(rows)
        writer.write_table(_take_row_group(in_turn), row_group_size=ROW_GROUP_ROWS)
        while len(group := _take_row_group(in_turn)):
            writer.write_table(group, row_group_size=ROW_GROUP_ROWS)


def _take_row_group(rows: RowQueue) -> pa.Table:
    parts, n_rows, size, n_part_rows = list[pa.Table](), 0, 0, FIRST_PART_ROWS
    while n_rows < ROW_GROUP_ROWS and size < ROW_GROUP_BYTES:
        parts.append(part := rows.take_next(min(n_part_rows, ROW_GROUP_ROWS - n_rows)))
        if not len(part):
            break
        n_rows, size = n_rows + len(part), size + part.nbytes
        n_part_rows *= 2 if part.nbytes < PART_BYTES else 1
    return pa.concat_tables(parts).combine_chunks()


@dataclass(frozen=True, eq=False)
class ParquetRows:
    """A Parquet file, read a row group at a time."""

    data: Content

    def __post_init__(self) -> None:
        _ = self.schema

    @cached_property
    def schema(self) -> pa.Schema:
        return self._file.schema_arrow

    def __len__(self) -> int:
        return int(self._file.metadata.num_rows)

    def iterate_row_groups(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """A table a row group, of all columns or of these."""
        names, file = self.schema.names if columns is None else columns, self._file
        for group in range(file.num_row_groups):
            self._refuse_too_many_bytes(group)
            with _refusing_unreadable_parquet():
                part = file.read_row_group(group, names)
                part.validate(full=True)
            yield part

    def read_in_place(self, session: DuckDB) -> Relation | None:
        """The rows in their file, after all were read once. None if they are few, or if the session
        might read them in another way than Arrow.
        """
        names = self.schema.names
        if len(self.data) < MIN_BYTES_TO_READ_IN_PLACE or not all(
            map(is_read_like_arrow, self.schema.types)
        ):
            return None
        file = LargeFile.from_parts([self.data]) if isinstance(self.data, bytes) else self.data
        if any(mark in str(file.path) for mark in PATTERN_MARKS):
            return None
        if max(self._expanded_bytes(names).values(), default=0) > MAX_EXPANDED_BYTES:
            for group in range(self._file.num_row_groups):
                self._refuse_too_many_bytes(group)
        rows = session.scan_parquet(str(file.path), {name: name for name in names}, file)
        with _refusing_unreadable_parquet():
            rows.read_through()
        return rows

    def _refuse_too_many_bytes(self, group: int) -> None:
        for name, n_bytes in self._expanded_bytes(self.schema.names, group).items():
            if n_bytes > MAX_EXPANDED_BYTES:
                raise RatingsError(
                    f"Parquet file: found more than {MAX_EXPANDED_BYTES} bytes in column {name!r} "
                    "of one row group; expected at most that. Restore the file."
                )

    def _expanded_bytes(self, names: Collection[str], group: int | None = None) -> dict[str, int]:
        with _refusing_unreadable_parquet():
            return expanded_bytes(self._open_source(), names, MAX_EXPANDED_BYTES, group)

    def describes_only_rows(self, metadata: Mapping[bytes, bytes]) -> bool:
        """False if the file has more than rows, and the footer more than where they are.

        A reader passes over rows by statistics or Bloom filters, takes columns from other files,
        and names labels by metadata, so a release has none of these beside its own.
        """
        footer = self._file.metadata
        groups = [footer.row_group(group) for group in range(footer.num_row_groups)]
        columns = [group.column(index) for group in groups for index in range(footer.num_columns)]
        n_bytes = sum(column.total_compressed_size for column in columns) + footer.serialized_size
        return (
            {**(footer.metadata or {}), SCHEMA: b""} == {**metadata, SCHEMA: b""}
            and footer.created_by.startswith(WRITTEN_BY)
            and not any(group.sorting_columns for group in groups)
            and not any(
                column.is_stats_set
                or column.has_offset_index
                or column.has_column_index
                or column.file_path
                for column in columns
            )
            and len(self.data) == n_bytes + N_BYTES_AROUND
        )

    @cached_property
    def _file(self) -> pq.ParquetFile:
        with _refusing_unreadable_parquet():
            return pq.ParquetFile(self._open_source())

    def _open_source(self) -> Path | pa.NativeFile:
        return pa.BufferReader(self.data) if isinstance(self.data, bytes) else self.data.path


@contextmanager
def _refusing_unreadable_parquet() -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, Unreadable, OSError, UnicodeDecodeError) as cause:
        raise RatingsError(
            f"Parquet file: found one that cannot be read ({cause}); "
            "expected a readable file. Restore the file."
        ) from None


def expanded_bytes(
    source: Path | pa.NativeFile,
    names: Collection[str],
    max_bytes: int,
    group: int | None = None,
) -> dict[str, int]:
    """An upper limit for the bytes of each column, or of its chunk in one row group, as texts.

    A file keeps each text of a chunk once, so a text of a megabyte in a thousand rows is a small
    file, and a gigabyte in memory. The limit is exact, or it is a number over `max_bytes`. It
    rests on the sizes that the footer states.
    """
    metadata = pq.read_metadata(source)
    chunks_by_name: dict[str, list[tuple[int, Any]]] = {name: [] for name in names}
    for group_index in range(metadata.num_row_groups) if group is None else [group]:
        for chunk in map(metadata.row_group(group_index).column, range(metadata.num_columns)):
            repeats_texts = chunk.has_dictionary_page or BY_PREFIX in chunk.encodings
            if chunk.physical_type == "BYTE_ARRAY" and repeats_texts:
                path = chunk.path_in_schema
                for name in {path, path.partition(".")[0]} & chunks_by_name.keys():
                    chunks_by_name[name].append((group_index, chunk))
    return {
        name: _expanded_bytes(source, name, chunks, max_bytes)
        for name, chunks in chunks_by_name.items()
    }


def _expanded_bytes(
    source: Path | pa.NativeFile, name: str, chunks: Sequence[tuple[int, Any]], max_bytes: int
) -> int:
    sizes = [(chunk.total_uncompressed_size, chunk.num_values) for _, chunk in chunks]
    if sum(size * n_values for size, n_values in sizes) <= max_bytes:
        return int(sum(size for size, _ in sizes))
    coded = [
        (group_index, chunk) for group_index, chunk in chunks if BY_PREFIX not in chunk.encodings
    ]
    file = pq.ParquetFile(source, read_dictionary=[chunk.path_in_schema for _, chunk in coded])
    total = sum(
        _count_bytes(file, name, group_index, chunk.total_uncompressed_size, max_bytes)
        for group_index, chunk in chunks
        if BY_PREFIX in chunk.encodings
    )
    bounds = [
        (_longest_text(file, name, group_index) * chunk.num_values, group_index)
        for group_index, chunk in coded
    ]
    total += sum(bound for bound, _ in bounds)
    for bound, group_index in sorted(bounds, reverse=True):
        if total <= max_bytes:
            break
        total += _bytes_of_texts(file, name, group_index) - bound
    return int(total)


def _count_bytes(file: pq.ParquetFile, name: str, group: int, largest: int, max_bytes: int) -> int:
    """The bytes of a column in a row group, counted until they are over `max_bytes`."""
    total, rows = 0, max(EXPANDED_BATCH_BYTES // max(largest, 1), 1)
    for part in file.iter_batches(batch_size=rows, row_groups=[group], columns=[name]):
        total += part.nbytes
        if total > max_bytes:
            break
    return total


def _longest_text(file: pq.ParquetFile, name: str, group: int) -> int:
    """One row is read, and with it all texts."""
    batch = next(file.iter_batches(batch_size=1, row_groups=[group], columns=[name]), None)
    coded = None if batch is None else _dictionary_codes_inside(batch.column(0))
    return 0 if coded is None else pc.max(pc.binary_length(coded.dictionary)).as_py() or 0


def _bytes_of_texts(file: pq.ParquetFile, name: str, group: int) -> int:
    chunks = file.read_row_group(group, columns=[name]).column(0).chunks
    coded = [column for column in map(_dictionary_codes_inside, chunks) if column is not None]
    return sum(
        pc.sum(pc.binary_length(column.dictionary).take(column.indices)).as_py() or 0
        for column in coded
    )


def _dictionary_codes_inside(array: Any) -> Any:
    """The dictionary-encoded array inside lists. None if it is not dictionary-encoded."""
    while pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        array = array.flatten()
    return array if pa.types.is_dictionary(array.type) else None


TYPE_BY_COLUMN = {
    "occurrence": pa.int64(),
    "earlier": pa.bool_(),
    "confidence": pa.float64(),
    "assisted": pa.bool_(),
    "drawn": pa.large_string(),
    "gold": pa.bool_(),
    "weight": pa.int64(),
}


@dataclass(frozen=True, eq=False)
class RatingsRows:
    """The ratings as the rows of a table, with the contents of their items.

    Each item without a rating has a row without rater and label. These rows come last. Columns:

    - always: `item`, `rater`, `kind` (panel or classifier), `label`, `occurrence`, `earlier`
    - as far as ratings have it: `confidence`, `assisted`, `drawn`, `timestamp`, `last_label`,
      `changed_at`
    - as far as items have it: `text`, `gold`, `gold_label`, `cluster`, `weight`, `stratum:NAME`,
      `part:NAME`, `content:NAME`
    """

    ratings: Ratings

    @cached_property
    def schema(self) -> pa.Schema:
        has = self.ratings.has
        names = ["item", "rater", "kind", "label", "occurrence", "earlier"]
        names += [*(name for name in EXTRAS if name in has), *content_columns(has)]
        scale, kinds = self.ratings.scale, dict(TYPE_BY_COLUMN)
        if scale.numeric:
            kinds["label"] = pa.list_(pa.float64()) if scale.dimensions > 1 else pa.float64()
        if "timestamp" in names:
            (timestamp_type,) = self.ratings.first_ratings(["timestamp"], items=()).schema.types
            kinds["timestamp"] = (
                pa.large_string() if pa.types.is_string(timestamp_type) else timestamp_type
            )
        return pa.schema([(name, kinds.get(name, pa.string())) for name in names])

    def __len__(self) -> int:
        return len(self.ratings) + len(self._unrated)

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        ratings = self.ratings
        kinds = [
            "classifier" if name in ratings.classifiers else "panel" for name in ratings.everyone
        ]
        column_names = ["place" if name == "kind" else name for name in self.schema.names]
        for batch in ratings.iterate_ratings(column_names):
            columns = dict(zip(column_names, batch.columns, strict=True))
            columns["kind"] = pa.array(kinds, pa.string()).take(columns["place"])
            yield self._batch(columns, len(batch))
        for unrated in self._unrated.to_batches():
            yield self._batch(
                dict(zip(unrated.schema.names, unrated.columns, strict=True)), len(unrated)
            )

    def _batch(self, columns: Mapping[str, pa.Array], n_rows: int) -> pa.RecordBatch:
        arrays = [
            columns[field.name].cast(field.type)
            if field.name in columns
            else pa.nulls(n_rows, field.type)
            for field in self.schema
        ]
        return pa.record_batch(arrays, schema=self.schema)

    @cached_property
    def _unrated(self) -> pa.Table:
        ratings, item_table = self.ratings, self.ratings.items()
        items = item_table["item"]
        if not len(items) or items.equals(rated := ratings.rated_items()):
            return item_table.slice(0, 0)
        unrated_items = items.filter(pc.invert(pc.is_in(items, rated)))
        return ratings.items(content_columns(ratings.has), names=unrated_items.to_pylist())


def open_stored_cells(rows: ParquetRows, source: str) -> Cells:
    """The cells of a stored table, read where they lie if that is possible."""
    session = duckdb_session()
    relation = rows.read_in_place(session)
    if relation is None:
        batches = (
            with_cell_types(batch)
            for part in rows.iterate_row_groups()
            for batch in part.to_batches()
        )
        empty = with_cell_types(pa.RecordBatch.from_pylist([], rows.schema))
        relation = session.load_batches(empty.schema, batches)
    return Cells(relation.create_view(f"SELECT *, nth + 1 AS row FROM {relation}"), source)


def ratings_from_stored_cells(cells: Cells, scale: Scale, origin: Origin | None = None) -> Ratings:
    """The ratings in cells that were stored."""
    required_columns = ("item", "rater", "occurrence", "label", "kind", "earlier")
    missing = [name for name in required_columns if name not in cells.names]
    if missing:
        raise RatingsError(
            f"{cells.source}: found no {called('column', missing)}; expected them in stored "
            "ratings. Store the round again."
        )
    models = f"SELECT DISTINCT rater FROM {cells.relation} WHERE kind = 'classifier'"
    classifiers = cells.relation.query_column(f"{models} ORDER BY rater")
    return Ratings.from_cells(cells, scale, classifiers=classifiers, origin=origin, in_order=True)
