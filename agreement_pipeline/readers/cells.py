"""The cells of a table, put into a table of a session as they are written."""

import math
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa

from agreement_pipeline.engine import Relation, Session, is_spark_frame
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.mistakes import shown
from agreement_pipeline.ratings import (
    Limits,
    category_text,
    cells_of_frame,
    is_text,
    is_time,
    plain,
    plain_type,
    written,
)
from agreement_pipeline.readers.class_labels import Named, in_names
from agreement_pipeline.readers.columns import refuse_twice
from agreement_pipeline.readers.delimited import Delimited
from agreement_pipeline.readers.exports import kind_of, separator_in
from agreement_pipeline.readers.files import no_row
from agreement_pipeline.readers.rules import columns_of, text_of

if TYPE_CHECKING:
    import pandas as pd

SEPARATORS = {".csv": ",", ".tsv": "\t"}
KINDS = {
    ".csv": "text",
    ".tsv": "text",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
}
"""What a file is that ends so. Of another file, its content says it."""
FRAME = "DataFrame"
TEXT = pa.large_string()
BINARY = (bytes, bytearray, memoryview)
NO_VALUES = (list, tuple, dict, *BINARY)
ODD_LIST = "found a list with a member that is no label"
Load = Callable[[Session, Mapping[str, str], Collection[str]], Relation]


@dataclass(frozen=True)
class Cells:
    """The cells of a table, not yet read.

    Attributes
    ----------
    source
        The name of the table, for errors.
    header
        The names of its columns.
    load
        Puts columns into a table of a session, under other names. Lists of labels become text with
        `|` between them, in the columns that are named last. The column `nth` counts the rows from
        0, and `row` is what errors call a row.
    """

    source: str
    header: list[str]
    load: Load


@dataclass(frozen=True)
class _Batches:
    """Columns in Arrow batches.

    Attributes
    ----------
    source
        The name of the table, for errors.
    first
        The number of the first row of data, as an editor or a spreadsheet counts.
    read
        Reads the columns of some names, of which some may hold lists: their types, and batches.
    named
        Of each column of numbered labels, what names a number.
    """

    source: str
    first: int
    read: Callable[[Sequence[str], Collection[str]], tuple[pa.Schema, Iterator[Any]]]
    named: Mapping[str, Named] = field(default_factory=dict)

    def load(
        self, session: Session, columns: Mapping[str, str], lists: Collection[str]
    ) -> Relation:
        """Put columns into a table of a session.

        Raises
        ------
        RatingsError
            There is no row, or a cell is no single value.
        """
        schema, batches = self.read(list(dict.fromkeys(columns.values())), lists)
        kinds = pa.schema([(name, self._kind(schema, name, of)) for name, of in columns.items()])
        return numbered(
            session.load(kinds, self._plain(batches, columns, lists, kinds)), self.first
        )

    def _kind(self, schema: pa.Schema, name: str, of: str) -> pa.DataType:
        kind = TEXT if of in self.named else plain_type(schema.field(of).type)
        return TEXT if is_time(kind) and name != "timestamp" else kind

    def _plain(
        self,
        batches: Iterator[Any],
        columns: Mapping[str, str],
        lists: Collection[str],
        kinds: pa.Schema,
    ) -> Iterator[pa.RecordBatch]:
        start = self.first
        for batch in batches:
            arrays = []
            for name, of in columns.items():
                cells = self._single(batch[of], of, of in lists, start)
                is_other = is_time(cells.type) and kinds.field(name).type == TEXT
                arrays.append(written(cells) if is_other else cells)
            yield pa.record_batch(arrays, schema=kinds)
            start += len(arrays[0])
        if start == self.first:
            raise no_row(self.source)

    def _single(self, cells: Any, name: str, lists: bool, start: int) -> pa.Array:
        """The cells of a column, each a single value."""
        if name in self.named:
            cells = in_names(cells, self.named[name])
        if isinstance(cells, pa.Array):
            cells = cells.storage if isinstance(cells, pa.ExtensionArray) else cells
            if not _is_odd(cells.type):
                return plain(cells)
            cells = cells.to_pylist()
        texts = [as_text(each) if lists else each for each in cells]
        for at, each in enumerate(texts):
            if isinstance(each, NO_VALUES):
                refuse_no_single_value(self.source, start + at, name, each, lists)
        return pa.array([None if e is None else category_text(e) for e in texts], TEXT)


def file_cells(path: Path, limits: Limits) -> Cells:
    """The cells of a table, as its file writes them.

    Cells of delimited text and JSON Lines become text. Only an empty cell or null is missing.
    Parquet keeps its types.

    Raises
    ------
    RatingsError
        The file is broken or too large.
    """
    limits.refuse_beyond("file_bytes", path.stat().st_size, path.name, "bytes")
    kind = KINDS.get(path.suffix.lower()) or kind_of(path)
    if kind == "text":
        separator = separator_in(path, SEPARATORS.get(path.suffix.lower(), ","))
        text = Delimited(path, separator, limits)
        return _text_cells(path.name, text.header, text.batches, first=2)
    if kind == "parquet":
        return _parquet_cells(path, limits)
    if kind == "excel":
        from agreement_pipeline.readers.excel import sheet

        return arrow_cells(sheet(path, limits), path.name, limits, first=2)
    from agreement_pipeline.readers.json_lines import JsonLines

    lines = JsonLines(path, limits)
    return _text_cells(path.name, lines.header, lines.blocks, first=1)


def is_named_table(path: Path) -> bool:
    """True for a file that its name calls a table."""
    return path.suffix.lower() in KINDS


def cells_of(source: Any, limits: Limits) -> Cells:
    """The cells of a file, of a DataFrame, or of what gives Arrow batches.

    Raises
    ------
    RatingsError
        The file is broken, or the table is too large. Or the source is no table.
    """
    if isinstance(source, Path):
        return file_cells(source, limits)
    if is_spark_frame(source):
        return _spark_cells(source, limits)
    if is_frame(source):
        return _frame_cells(source, limits)
    if hasattr(source, "__arrow_c_stream__"):
        return arrow_cells(pa.table(source), FRAME, limits)
    raise RatingsError(
        f"a table: found {type(source).__name__}; expected a path, a DataFrame, or a table of "
        "Arrow. Save the table, or convert it."
    )


def is_frame(source: Any) -> bool:
    """True for a pandas DataFrame. pandas is not imported to find out."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(source, pandas.DataFrame)


def arrow_cells(
    table: pa.Table,
    source: str,
    limits: Limits,
    named: Mapping[str, Named] | None = None,
    first: int = 1,
) -> Cells:
    """The cells of an Arrow table.

    Raises
    ------
    RatingsError
        The table is too large or has a column twice.
    """
    _refuse_large(table.column_names, len(table), source, limits)

    def read(names: Sequence[str], _: Collection[str]) -> tuple[pa.Schema, Iterator[Any]]:
        return table.schema, iter(table.select(list(names)).to_batches())

    return Cells(source, table.column_names, _Batches(source, first, read, named or {}).load)


def far_cells(address: str, session: Session, limits: Limits) -> Cells:
    """The cells of a Parquet file on another machine, which the engine reads.

    Raises
    ------
    RatingsError
        The engine cannot read it, or it has too many columns.
    """
    header, name = list(session.schema_of(address).names), Path(address).name
    limits.refuse_beyond("columns", len(header), name, "columns")

    def load(session: Session, columns: Mapping[str, str], lists: Collection[str]) -> Relation:
        return _in_sql(session.parquet(address, columns), columns, lists, name)

    return Cells(name, header, load)


def _text_cells(source: str, header: list[str], batches: Any, first: int) -> Cells:
    """The cells of a file of text."""

    def read(names: Sequence[str], _: Collection[str]) -> tuple[pa.Schema, Iterator[Any]]:
        return pa.schema([(name, TEXT) for name in names]), batches(names)

    return Cells(source, header, _Batches(source, first, read).load)


def _parquet_cells(path: Path, limits: Limits) -> Cells:
    from agreement_pipeline.readers.parquet import ParquetTable

    table = ParquetTable(path, limits)

    def read(names: Sequence[str], _: Collection[str]) -> tuple[pa.Schema, Iterator[Any]]:
        return table.schema, table.batches(names)

    decoded = _Batches(path.name, 1, read, table.named)

    def load(session: Session, columns: Mapping[str, str], lists: Collection[str]) -> Relation:
        if (seen := table.seen(session, columns)) is None:
            return decoded.load(session, columns, lists)
        return _in_sql(seen, columns, lists, path.name)

    return Cells(path.name, list(table.schema.names), load)


def _frame_cells(frame: "pd.DataFrame", limits: Limits) -> Cells:
    """The cells of a pandas DataFrame. None, NaN and `pd.NA` are missing."""
    header = [str(name) for name in frame.columns]
    _refuse_large(header, len(frame), FRAME, limits)

    def read(names: Sequence[str], lists: Collection[str]) -> tuple[pa.Schema, Iterator[Any]]:
        some = frame.iloc[:, [header.index(name) for name in names]].set_axis(list(names), axis=1)
        objects = [name for name in names if some[name].dtype == object]
        single = {name: _single_in(some[name], name in lists) for name in objects}
        return cells_of_frame(some.assign(**single))

    return Cells(FRAME, header, _Batches(FRAME, 1, read).load)


def _single_in(values: "pd.Series", lists: bool) -> "pd.Series":
    """A column of objects. Lists become text. What is then no single value is refused."""
    import numpy as np

    odd = (np.ndarray, list, dict, *BINARY)
    if not values.map(lambda each: isinstance(each, odd)).any():
        return values
    cells = values.tolist()
    for at, cell in enumerate(cells):
        if isinstance(cell, odd):
            each = np.atleast_1d(cell).tolist() if isinstance(cell, np.ndarray) else cell
            cells[at] = as_text(each) if lists else each
            if not isinstance(cells[at], str):
                refuse_no_single_value(FRAME, at + 1, str(values.name), cells[at], lists)
    return type(values)(cells, index=values.index, dtype=object, name=values.name)


def _spark_cells(frame: Any, limits: Limits) -> Cells:
    header = list(map(str, frame.columns))
    limits.refuse_beyond("columns", len(header), FRAME, "columns")
    refuse_twice(header, FRAME)

    def load(session: Any, columns: Mapping[str, str], lists: Collection[str]) -> Relation:
        return _in_sql(session.frame(frame, columns), columns, lists, FRAME)

    return Cells(FRAME, header, load)


def _in_sql(
    cells: Relation, columns: Mapping[str, str], lists: Collection[str], source: str
) -> Relation:
    """The rows of a table that the engine sees, with single values, and a name for each row."""
    made = {}
    for name, of in columns.items():
        sql = _single_in_sql(cells, name, of in lists, f"{source}: column {of!r}")
        if sql is not None:
            made[name] = sql
    seen = cells.view(f"SELECT {columns_of(cells, made)} FROM {cells}") if made else cells
    if cells.session.engine != "spark":
        return numbered(seen, 1)
    item = text_of(seen, "item") if "item" in columns else "''"
    row = {"row": f"CONCAT('of item ', COALESCE({item}, 'null'))"}
    return seen.view(f"SELECT {columns_of(seen, row)} FROM {seen}")


def _single_in_sql(cells: Relation, name: str, lists: bool, where: str) -> str | None:
    """A column as text in SQL. None if it stays what it is."""
    kind, column = cells.schema.field(name).type, cells.session.column(name)
    if pa.types.is_boolean(kind):
        return f"CASE WHEN {column} THEN 'True' WHEN NOT {column} THEN 'False' END"
    if not _is_odd(kind):
        is_kept = plain_type(kind) == kind or is_text(kind) or is_time(kind)
        is_kept = is_kept and (name == "timestamp" or not is_time(kind))
        return None if is_kept else f"CAST({column} AS STRING)"
    if not (lists and cells.session.engine == "spark" and is_list_of_labels(kind)):
        raise RatingsError(
            f"{where}: found {kind}; expected text, numbers or flags. Write such cells as text."
        )
    texts = f"TRANSFORM({column}, x -> CAST(x AS STRING))"
    odd = f"EXISTS({texts}, x -> x IS NULL OR x = '' OR CONTAINS(x, '|'))"
    return (
        f"CASE WHEN {column} IS NULL THEN NULL WHEN {odd} THEN RAISE_ERROR('{ODD_LIST}') "
        f"WHEN SIZE({column}) = 0 THEN '|' ELSE ARRAY_JOIN({texts}, '|') END"
    )


def is_list_of_labels(kind: pa.DataType) -> bool:
    """True for the Arrow type of lists of texts or whole numbers."""
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        return False
    return bool(is_text(kind.value_type) or pa.types.is_integer(kind.value_type))


def numbered(cells: Relation, first: int) -> Relation:
    """The rows, each named by its number. That of the first is given."""
    rows = cells.view(f"SELECT {columns_of(cells, {'row': f'nth + {first}'})} FROM {cells}")
    rows.schema = cells.schema.append(pa.field("row", pa.int64()))
    return rows


def as_text(cell: object) -> object:
    """A list as text with `|` between its members. A list with an odd member stays a list."""
    if not isinstance(cell, list):
        return cell
    if any(member is None or _no_single_value(member) for member in cell):
        return cell
    texts = list(map(category_text, cell))
    return cell if any(not text or "|" in text for text in texts) else "|".join(texts) or "|"


def refuse_no_single_value(
    source: str, row: int, column: str, found: object, lists: bool
) -> NoReturn:
    """Refuse a cell that holds several values, or none that is text.

    Raises
    ------
    RatingsError
        Always.
    """
    several = "one label, a list of labels (none empty, none with |)"
    expected = several if lists and isinstance(found, list) else "one value"
    expected = "text" if isinstance(found, BINARY) else expected
    raise RatingsError(
        f"{source}: row {row}, column {column!r}: found {shown(found)}; "
        f"expected {expected}, or null. Correct the row."
    )


def _no_single_value(value: object) -> bool:
    return isinstance(value, NO_VALUES) or (isinstance(value, float) and math.isnan(value))


def _is_odd(kind: pa.DataType) -> bool:
    """True for the Arrow types whose cells are no single values."""
    types = pa.types
    if types.is_dictionary(kind):
        return _is_odd(kind.value_type)
    tests = (types.is_nested, types.is_binary, types.is_large_binary, types.is_fixed_size_binary)
    return any(test(kind) for test in (*tests, types.is_binary_view))


def _refuse_large(header: list[str], n_rows: int, source: str, limits: Limits) -> None:
    limits.refuse_beyond("columns", len(header), source, "columns")
    limits.refuse_beyond("rows", n_rows, source, "rows")
    refuse_twice(header, source)
