"""Tables of all kinds, and how their cells get into a session as they are written."""

import math
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa

from agreement_pipeline.engine import Relation, Session, is_spark_frame
from agreement_pipeline.errors import MissingExtraError, RatingsError
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
from agreement_pipeline.readers.columns import refuse_twice
from agreement_pipeline.readers.delimited import Delimited, separator_in
from agreement_pipeline.readers.exports import kind_of
from agreement_pipeline.readers.files import no_row
from agreement_pipeline.readers.rows import Rows
from agreement_pipeline.text import listed

if TYPE_CHECKING:
    import pandas as pd

    from agreement_pipeline.readers.parquet import Named

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
TIME_LENGTH = len("2026-11-01 10:00:00.123000")
ODD_LIST = "found a list with a member that is no label"
Batches = tuple[pa.Schema, Iterator[Any]]
"""The types of columns, and the columns in parts."""


@dataclass(frozen=True)
class Table:
    """A table whose cells are not yet read.

    Attributes
    ----------
    source
        The name of the table, for errors.
    header
        The names of its columns.
    read
        Reads the columns of some names, of which some may hold lists.
    see
        Sees columns under other names where they lie. None if they must be read.
    first
        The number of the first row of data, as an editor or a spreadsheet counts.
    named
        Of each column of numbered labels, what names a number.
    """

    source: str
    header: list[str]
    read: Callable[[Sequence[str], Collection[str]], Batches] | None = None
    see: Callable[[Session, Mapping[str, str]], Relation | None] = lambda *_: None
    first: int = 1
    named: "Mapping[str, Named]" = field(default_factory=dict)

    def load(
        self, session: Session, columns: Mapping[str, str], lists: Collection[str] = ()
    ) -> Rows:
        """Put columns into a table of a session, under other names.

        Lists of labels become text with `|` between them, in the columns that are named last. The
        column `nth` counts the rows from 0, and `row` is what errors call a row.

        Raises
        ------
        RatingsError
            There is no row, or a cell is no single value.
        """
        seen = self.see(session, columns)
        if seen is not None:
            return self._of_seen(Rows(seen, self.source), columns, lists)
        assert self.read is not None
        schema, batches = self.read(list(dict.fromkeys(columns.values())), lists)
        kinds = pa.schema([(name, self._kind(schema, name, of)) for name, of in columns.items()])
        loaded = session.load(kinds, self._plain(batches, columns, lists, kinds))
        return _numbered(Rows(loaded, self.source), self.first)

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
            from agreement_pipeline.readers.parquet import in_names

            cells = in_names(cells, self.named[name])
        if isinstance(cells, pa.Array):
            cells = cells.storage if isinstance(cells, pa.ExtensionArray) else cells
            if not _is_odd(cells.type):
                return plain(cells)
            cells = cells.to_pylist()
        texts = [_as_text(each) if lists else each for each in cells]
        for at, each in enumerate(texts):
            if isinstance(each, NO_VALUES):
                _refuse_no_single_value(self.source, start + at, name, each, lists)
        return pa.array([None if e is None else category_text(e) for e in texts], TEXT)

    def _of_seen(self, rows: Rows, columns: Mapping[str, str], lists: Collection[str]) -> Rows:
        """The rows that the engine sees, with single values, and a name for each row."""
        made = {}
        for name, of in columns.items():
            sql = _single_in_sql(rows, name, of in lists, f"{self.source}: column {of!r}")
            if sql is not None:
                made[name] = sql
        rows = rows.made(made) if made else rows
        if rows.relation.session.engine != "spark":
            return _numbered(rows, self.first)
        item = rows.text("item") if "item" in columns else "''"
        return rows.made({"row": f"CONCAT('of item ', COALESCE({item}, 'null'))"})


def _numbered(rows: Rows, first: int) -> Rows:
    """The rows, each named by its number. That of the first is given."""
    found = rows.made({"row": f"nth + {first}"})
    found.relation.schema = rows.relation.schema.append(pa.field("row", pa.int64()))
    return found


def file_table(path: Path, limits: Limits) -> Table:
    """The table in a file. Its cells are as the file writes them.

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
        return _text_table(path.name, text.header, text.batches, first=2)
    if kind == "parquet":
        from agreement_pipeline.readers.parquet import ParquetTable

        file = ParquetTable(path, limits)
        return Table(
            path.name,
            list(file.schema.names),
            lambda names, _: (file.schema, file.batches(names)),
            file.seen,
            named=file.named,
        )
    if kind == "excel":
        return arrow_table(_sheet(path, limits), path.name, limits, first=2)
    from agreement_pipeline.readers.json_files import JsonLines

    lines = JsonLines(path, limits)
    return _text_table(path.name, lines.header, lines.blocks, first=1)


def _text_table(
    source: str, header: list[str], batches: Callable[[Sequence[str]], Iterator[Any]], first: int
) -> Table:
    def read(names: Sequence[str], _: Collection[str]) -> Batches:
        return pa.schema([(name, TEXT) for name in names]), batches(names)

    return Table(source, header, read, first=first)


def is_named_table(path: Path) -> bool:
    """True for a file that its name calls a table."""
    return path.suffix.lower() in KINDS


def table_of(source: Any, limits: Limits) -> Table:
    """The table in a file, in a DataFrame, or in what gives Arrow batches.

    Raises
    ------
    RatingsError
        The file is broken, or the table is too large. Or the source is no table.
    """
    if isinstance(source, Path):
        return file_table(source, limits)
    if is_spark_frame(source):
        header = list(map(str, source.columns))
        limits.refuse_beyond("columns", len(header), FRAME, "columns")
        refuse_twice(header, FRAME)

        def see(session: Any, columns: Mapping[str, str]) -> Relation:
            found: Relation = session.frame(source, columns)
            return found

        return Table(FRAME, header, see=see)
    pandas = sys.modules.get("pandas")  # it is not imported to find out
    if pandas is not None and isinstance(source, pandas.DataFrame):
        return _frame_table(source, limits)
    if hasattr(source, "__arrow_c_stream__"):
        return arrow_table(pa.table(source), FRAME, limits)
    raise RatingsError(
        f"a table: found {type(source).__name__}; expected a path, a DataFrame, or a table of "
        "Arrow. Save the table, or convert it."
    )


def arrow_table(
    table: pa.Table,
    source: str,
    limits: Limits,
    named: "Mapping[str, Named] | None" = None,
    first: int = 1,
) -> Table:
    """A table of Arrow.

    Raises
    ------
    RatingsError
        The table is too large or has a column twice.
    """
    _refuse_large(table.column_names, len(table), source, limits)

    def read(names: Sequence[str], _: Collection[str]) -> Batches:
        return table.schema, iter(table.select(list(names)).to_batches())

    return Table(source, table.column_names, read, first=first, named=named or {})


def far_table(address: str, session: Session, limits: Limits) -> Table:
    """A Parquet file on another machine, which the engine reads.

    Raises
    ------
    RatingsError
        The engine cannot read it, or it has too many columns.
    """
    header, name = list(session.schema_of(address).names), Path(address).name
    limits.refuse_beyond("columns", len(header), name, "columns")
    return Table(name, header, see=lambda session, columns: session.parquet(address, columns))


def _frame_table(frame: "pd.DataFrame", limits: Limits) -> Table:
    """A pandas DataFrame. None, NaN and `pd.NA` are missing."""
    header = [str(name) for name in frame.columns]
    _refuse_large(header, len(frame), FRAME, limits)

    def read(names: Sequence[str], lists: Collection[str]) -> Batches:
        some = frame.iloc[:, [header.index(name) for name in names]].set_axis(list(names), axis=1)
        objects = [name for name in names if some[name].dtype == object]
        single = {name: _single_in(some[name], name in lists) for name in objects}
        return cells_of_frame(some.assign(**single))

    return Table(FRAME, header, read)


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
            cells[at] = _as_text(each) if lists else each
            if not isinstance(cells[at], str):
                _refuse_no_single_value(FRAME, at + 1, str(values.name), cells[at], lists)
    return type(values)(cells, index=values.index, dtype=object, name=values.name)


def _sheet(path: Path, limits: Limits) -> pa.Table:
    """The only sheet of an Excel workbook, as text. The first row names the columns."""
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise MissingExtraError.of(f"{path.name}, an Excel file", "openpyxl", "excel") from None
    try:
        book = load_workbook(path, read_only=True, data_only=True)
    except Exception as error:
        raise RatingsError(
            f"{path.name}: found no Excel workbook ({error}); expected a whole one. "
            "Save the table again, or as CSV."
        ) from None
    if len(book.sheetnames) > 1:
        raise RatingsError(
            f"{path.name}: found sheets {listed(book.sheetnames)}; expected one. "
            "Save the sheet of the ratings as a file of its own."
        )
    rows = book.active.iter_rows(values_only=True)
    names = {at: str(name) for at, name in enumerate(next(rows, ())) if name is not None}
    refuse_twice(list(names.values()), f"{path.name}: row 1")
    limits.refuse_beyond("columns", len(names), path.name, "columns")
    cells = []
    for number, row in enumerate(rows, 1):
        limits.refuse_beyond("rows", number, path.name, "rows or more")
        cells.append([None if value is None else category_text(value) for value in row])
    return pa.table(
        {
            name: pa.array([row[at] if at < len(row) else None for row in cells], TEXT)
            for at, name in names.items()
        }
    )


def _single_in_sql(rows: Rows, name: str, lists: bool, where: str) -> str | None:
    """A column as text in SQL. None if it stays what it is."""
    kind, column = rows.relation.schema.field(name).type, rows.quoted(name)
    if pa.types.is_boolean(kind):
        return rows.text(name)
    if not _is_odd(kind):
        is_kept = plain_type(kind) == kind or is_text(kind) or is_time(kind)
        is_kept = is_kept and (name == "timestamp" or not is_time(kind))
        if not is_kept and pa.types.is_timestamp(kind):
            return _time_in_sql(column, is_of_zone=not is_time(kind))
        return None if is_kept else f"CAST({column} AS STRING)"
    if not (lists and rows.relation.session.engine == "spark" and _is_list_of_labels(kind)):
        raise RatingsError(
            f"{where}: found {kind}; expected text, numbers or flags. Write such cells as text."
        )
    texts = f"TRANSFORM({column}, x -> CAST(x AS STRING))"
    odd = f"EXISTS({texts}, x -> x IS NULL OR x = '' OR CONTAINS(x, '|'))"
    return (
        f"CASE WHEN {column} IS NULL THEN NULL WHEN {odd} THEN RAISE_ERROR('{ODD_LIST}') "
        f"WHEN SIZE({column}) = 0 THEN '|' ELSE ARRAY_JOIN({texts}, '|') END"
    )


def _time_in_sql(column: str, *, is_of_zone: bool) -> str:
    """A time of Spark as `category_text` writes it. The zone of its session does not matter."""
    if is_of_zone:
        seconds = f"CAST(UNIX_MICROS({column}) AS DECIMAL(20)) / 1000000"
        column = f"TIMESTAMP_NTZ '1970-01-01 00:00:00' + MAKE_DT_INTERVAL(0, 0, 0, {seconds})"
    text = f"CAST({column} AS STRING)"
    length = f"CASE WHEN CONTAINS({text}, '.') THEN {TIME_LENGTH} ELSE LENGTH({text}) END"
    return f"CONCAT(RPAD({text}, {length}, '0'), '{'+00:00' if is_of_zone else ''}')"


def _is_list_of_labels(kind: pa.DataType) -> bool:
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        return False
    return bool(is_text(kind.value_type) or pa.types.is_integer(kind.value_type))


def _as_text(cell: object) -> object:
    """A list as text with `|` between its members. A list with an odd member stays a list."""
    if not isinstance(cell, list):
        return cell
    if any(
        each is None
        or isinstance(each, NO_VALUES)
        or (isinstance(each, float) and math.isnan(each))
        for each in cell
    ):
        return cell
    texts = list(map(category_text, cell))
    return cell if any(not text or "|" in text for text in texts) else "|".join(texts) or "|"


def _refuse_no_single_value(
    source: str, row: int, column: str, found: object, lists: bool
) -> NoReturn:
    """Refuse a cell that holds several values, or none that is text."""
    several = "one label, a list of labels (none empty, none with |)"
    expected = several if lists and isinstance(found, list) else "one value"
    expected = "text" if isinstance(found, BINARY) else expected
    raise RatingsError(
        f"{source}: row {row}, column {column!r}: found {shown(found)}; "
        f"expected {expected}, or null. Correct the row."
    )


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
