"""Tables of all kinds, and how their cells get into a session as they are written."""

import math
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from glob import glob
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from agreement_pipeline.engine import Relation, Session, Spark, duckdb_session, is_spark_frame
from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.mistakes import value_in_message
from agreement_pipeline.ratings import (
    LIMITS,
    Array,
    Limits,
    NoTextError,
    Scale,
    as_number_array,
    as_plain_array,
    category_text,
    is_read_like_arrow,
    is_text_type,
    is_time_type,
    iterate_frame_as_cells,
    refuse_names_differing_by_capitals,
    write_as_texts,
)
from agreement_pipeline.readers.columns import (
    COLUMNS,
    FRAME,
    OPTIONAL,
    REQUIRED,
    Columns,
    choose_columns,
    choose_rater_columns,
    refuse_repeated_names,
)
from agreement_pipeline.readers.delimited import Delimited, skip_separator_line
from agreement_pipeline.readers.exports import TABLE as TABLE_READER
from agreement_pipeline.readers.exports import (
    DeliveredRows,
    Export,
    Reader,
    ReadRequest,
    Source,
    register,
    select_reader,
    select_wanted_columns,
)
from agreement_pipeline.readers.files import (
    detect_kind,
    no_row_error,
    refuse_unfinished,
    unpack_for_reading,
)
from agreement_pipeline.readers.periods import FIELD_PREFIX
from agreement_pipeline.readers.rows import Rows
from agreement_pipeline.readers.rules import (
    Rules,
    apply_row_rules,
    arrange_ratings,
    use_first_labels,
)
from agreement_pipeline.readers.times import with_iso_times
from agreement_pipeline.text import called, listed, suggest_name

if TYPE_CHECKING:
    import pandas as pd

    from agreement_pipeline.readers.parquet import LabelLookup

SEPARATOR_BY_SUFFIX = {".csv": ",", ".tsv": "\t"}
KIND_BY_SUFFIX = {
    ".csv": "text",
    ".tsv": "text",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
}
FORMAT_SETTINGS_BY_KIND = {
    "text": ("delimited text", "encoding", "decimal", "header_row", "time_format"),
    "workbook": ("a workbook", "decimal", "sheet", "header_row", "time_format"),
}
OTHER_FORMAT_SETTINGS = ("a table that is neither text nor a workbook", "decimal", "time_format")
COMMA_NUMBER = r"[+-]?([0-9]+|[0-9]*,[0-9]+)([eE][+-]?[0-9]+)?"
POINT_NUMBER = (
    r"(^|[|])\s*[+-]?([0-9,]+[.]|[.][0-9])[0-9.,]*([eE][+-]?[0-9]+)?\s*($|[|])"
    r"|^\s*[+-]?[0-9,]+[.][0-9.,]*[eE][+-]?[0-9]+\s*$"
)
TEXT = pa.large_string()
BINARY = (bytes, bytearray, memoryview)
COMPOUND_TYPES = (list, tuple, dict, *BINARY)
TIME_LENGTH = len("2026-11-01 10:00:00.123000")
ODD_LIST = "found a list with a member that is no label"
ReadColumns = Callable[[Sequence[str], Collection[str]], Iterator[Any]]
ViewColumns = Callable[[Any, Mapping[str, str]], Relation | None]
GuardReading = Callable[[Relation], AbstractContextManager[None]]


@dataclass(frozen=True)
class OpenTable:
    """A table whose cells are not yet read.

    Attributes
    ----------
    read
        Reads columns, of which some may hold lists, some rows at a time. A column is an Arrow
        array, or a list of Python objects.
    view
        Sees columns under other names where they lie. None if they must be read.
    reading
        Refuses a source that is not whole while what was seen is read.
    first_row
        The number of the first row of data, as an editor or a spreadsheet counts.
    fault_by_column
        Why a column is refused if it is read.
    tells_empty
        True if an empty cell is another one than a missing cell. Only a text may then be empty.
    """

    source: str
    header: list[str]
    read: ReadColumns = lambda *_: iter(())
    view: ViewColumns = lambda *_: None
    reading: GuardReading | None = None
    first_row: int = 1
    lookup_by_column: "Mapping[str, LabelLookup]" = field(default_factory=dict)
    fault_by_column: Mapping[str, str] = field(default_factory=dict)
    tells_empty: bool = False

    def load_rows(
        self, session: Session, columns: Mapping[str, str], columns_of_lists: Collection[str] = ()
    ) -> Rows:
        """Lists of labels in `lists` become text with `|` between them. `nth` counts the rows from
        0, and `row` is what errors call a row.
        """
        for column in columns.values():
            if column in self.fault_by_column:
                raise RatingsError(f"{self.source}: {self.fault_by_column[column]}")
        number = f"nth + {self.first_row}"
        view = self.view(session, columns)
        if view is None:
            batches = self._iterate_canonical_batches(columns, columns_of_lists)
            first_batch = next(batches, None)
            if first_batch is None:
                raise no_row_error(self.source)
            loaded = session.load_batches(first_batch.schema, chain([first_batch], batches))
            return Rows(loaded, self.source).with_computed({"row": number})
        rows, sql_by_column = Rows(view, self.source), dict[str, str]()
        if self.reading is not None:
            rows = replace(rows, reading=partial(self.reading, view))
        if {*columns} != {*REQUIRED["long"]}:  # not all others are read by the checks of ratings
            rows = rows.read_through()
        for name, column in columns.items():
            if sql := _single_value_sql(
                rows, name, column in columns_of_lists, f"{self.source}: column {column!r}"
            ):
                sql_by_column[name] = sql
        rows = rows.with_computed(sql_by_column) if sql_by_column else rows
        if session.engine == "spark":
            item = rows.text_sql("item") if "item" in columns else "''"
            number = f"CONCAT('of item ', COALESCE({item}, 'null'))"
        return rows.with_computed({"row": number})

    def _iterate_canonical_batches(
        self, columns: Mapping[str, str], lists: Collection[str]
    ) -> Iterator[pa.RecordBatch]:
        """Times are text, except when a rating was given."""
        start = self.first_row
        for batch in self.read(list(dict.fromkeys(columns.values())), lists):
            arrays: dict[str, pa.Array] = {}
            for name, column in columns.items():
                try:
                    cells = self._single_values(batch[column], column, column in lists, start)
                    if self.tells_empty and name != "text":
                        cells = _empty_texts_as_missing(cells)
                    becomes_text = is_time_type(cells.type) and name != "timestamp"
                    arrays[name] = write_as_texts(cells) if becomes_text else cells
                except NoTextError as error:
                    raise RatingsError(f"{self.source}: column {column!r}: {error}") from None
            record_batch = pa.record_batch(arrays)
            if record_batch.num_rows:
                yield record_batch
                start += record_batch.num_rows

    def _single_values(self, cells: Any, name: str, lists: bool, start: int) -> pa.Array:
        if name in self.lookup_by_column:
            from agreement_pipeline.readers.parquet import look_up_labels

            cells = look_up_labels(cells, self.lookup_by_column[name])
        if isinstance(cells, pa.Array):
            if not _is_unsupported_type(cells.type):
                return as_plain_array(cells)
            cells = cells.to_pylist()
        texts = [
            _single_value(cell, lists, f"{self.source}: row {start + index}, column {name!r}")
            for index, cell in enumerate(cells)
        ]
        return pa.array([None if e is None else category_text(e) for e in texts], TEXT)


def open_table(path: Path, limits: Limits, columns: Columns = COLUMNS) -> OpenTable:
    """A file as a table whose cells are not yet read."""
    limits.refuse_beyond("file_bytes", path.stat().st_size, path.name, "bytes")
    kind = KIND_BY_SUFFIX.get(path.suffix.lower()) or detect_kind(path)
    first_row = columns.header_row + 1
    columns.refuse_format_settings(
        path.name, *FORMAT_SETTINGS_BY_KIND.get(kind, OTHER_FORMAT_SETTINGS)
    )
    if kind == "text":
        columns = skip_separator_line(path, columns)
        first_row = columns.header_row + 1
        text = Delimited(path, SEPARATOR_BY_SUFFIX.get(path.suffix.lower(), ","), limits, columns)
        return OpenTable(path.name, text.header, text.iterate_batches, first_row=first_row)
    if kind == "parquet":
        from agreement_pipeline.readers.parquet import ParquetTable

        file = ParquetTable(path, limits)
        names, lookup_by_column = file.schema.names, file.lookup_by_column
        return OpenTable(
            path.name,
            names,
            file.iterate_batches,
            file.create_view,
            file.reading_cells,
            lookup_by_column=lookup_by_column,
        )
    if kind == "workbook":
        from agreement_pipeline.readers.workbooks import load_sheet

        sheet, faults = load_sheet(path, limits, columns)
        return open_arrow_table(
            sheet, path.name, limits, first_row=first_row, fault_by_column=faults
        )
    from agreement_pipeline.readers.json_files import JsonLines

    lines = JsonLines(path, limits)
    return OpenTable(path.name, lines.header, lines.iterate_batches, tells_empty=True)


def _empty_texts_as_missing(cells: pa.Array) -> pa.Array:
    return pc.if_else(pc.equal(cells, ""), None, cells) if cells.type == TEXT else cells


def open_source(source: Any, limits: Limits, columns: Columns = COLUMNS) -> OpenTable:
    """A path, DataFrame or Arrow table as a table whose cells are not yet read."""
    if isinstance(source, Path):
        return open_table(source, limits, columns)
    columns.refuse_format_settings(f"a {FRAME}", *OTHER_FORMAT_SETTINGS)
    if is_spark_frame(source):
        header = list(map(str, source.columns))
        _refuse_beyond_limits(header, 0, FRAME, limits)
        return OpenTable(
            FRAME, header, view=lambda session, columns: session.load_frame(source, columns)
        )
    pandas = sys.modules.get("pandas")  # it is not imported to find out
    if pandas is not None and isinstance(source, pandas.DataFrame):
        header = [str(name) for name in source.columns]
        _refuse_beyond_limits(header, len(source), FRAME, limits)
        named_columns = columns.column_by_role.values()
        index_names = [
            name for name in source.index.names if name in named_columns and name not in header
        ]
        if columns.item in index_names:
            raise RatingsError(
                f"{FRAME}: found {called('column', index_names)} in the index; expected named "
                "columns among the columns. Call frame.reset_index() first."
            )

        def read_columns(names: Sequence[str], lists: Collection[str]) -> Iterator[pa.RecordBatch]:
            places = [header.index(name) for name in names]
            selected = source.iloc[:, places].set_axis(list(names), axis=1)
            objects = [name for name in names if _may_hold_lists(selected[name])]
            single = {
                name: _single_values_of_series(selected[name], name in lists) for name in objects
            }
            return iterate_frame_as_cells(selected.assign(**single))[1]

        return OpenTable(FRAME, header, read_columns)
    type_name = type(source).__name__
    if hasattr(source, "__arrow_c_stream__"):
        try:
            return open_arrow_table(pa.table(source), FRAME, limits)
        except pa.ArrowException as error:
            type_name += f" that Arrow cannot read ({error})"
    raise RatingsError(
        f"a table: found {type_name}; expected a path, a DataFrame, or a table of "
        "Arrow. Save the table, or convert it."
    )


def open_arrow_table(
    table: pa.Table,
    source: str,
    limits: Limits,
    lookup_by_column: "Mapping[str, LabelLookup] | None" = None,
    first_row: int = 1,
    fault_by_column: Mapping[str, str] | None = None,
) -> OpenTable:
    _refuse_beyond_limits(table.column_names, len(table), source, limits)

    def read_columns(names: Sequence[str], _: Collection[str]) -> Iterator[pa.RecordBatch]:
        return iter(table.select(list(names)).to_batches())

    return OpenTable(
        source,
        table.column_names,
        read_columns,
        first_row=first_row,
        lookup_by_column=lookup_by_column or {},
        fault_by_column=fault_by_column or {},
    )


def _may_hold_lists(values: "pd.Series") -> bool:
    kind: Any = values.dtype
    if hasattr(kind, "pyarrow_dtype"):
        return _is_unsupported_type(kind.pyarrow_dtype)
    if getattr(kind, "categories", values).dtype != object:
        return False
    return not hasattr(kind, "categories") or any(
        isinstance(category, COMPOUND_TYPES) for category in kind.categories
    )


def _single_values_of_series(values: "pd.Series", lists: bool) -> "pd.Series":
    cells = values.tolist()
    for index, cell in enumerate(cells):
        is_tuple = lists and isinstance(cell, tuple)
        if is_tuple or isinstance(cell, (np.ndarray, list, dict, *BINARY)):
            value = np.atleast_1d(cell).tolist() if isinstance(cell, np.ndarray) else cell
            value = list(cell) if is_tuple else value
            cells[index] = _single_value(
                value, lists, f"{FRAME}: row {index + 1}, column {values.name!r}"
            )
    return type(values)(cells, index=values.index, dtype=object, name=values.name)


def _single_value_sql(rows: Rows, name: str, lists: bool, place: str) -> str | None:
    kind, column = rows.relation.schema.field(name).type, rows.quote_column(name)
    if pa.types.is_boolean(kind):
        return rows.text_sql(name)
    if not _is_unsupported_type(kind):
        if is_read_like_arrow(kind, name):
            return None
        if pa.types.is_timestamp(kind):
            return _time_as_text_sql(column, is_of_zone=not is_time_type(kind))
        return f"CAST({column} AS STRING)"
    types = pa.types
    is_list = types.is_list(kind) or types.is_large_list(kind)
    is_read = is_list and (is_text_type(kind.value_type) or types.is_integer(kind.value_type))
    if not (lists and rows.relation.session.engine == "spark" and is_read):
        raise RatingsError(
            f"{place}: found {kind}; expected text, numbers or flags. Write such cells as text."
        )
    texts = f"TRANSFORM({column}, x -> CAST(x AS STRING))"
    odd = f"EXISTS({texts}, x -> x IS NULL OR x = '' OR CONTAINS(x, '|'))"
    return (
        f"CASE WHEN {column} IS NULL THEN NULL WHEN {odd} THEN RAISE_ERROR('{ODD_LIST}') "
        f"WHEN SIZE({column}) = 0 THEN '|' ELSE ARRAY_JOIN({texts}, '|') END"
    )


def _time_as_text_sql(column: str, *, is_of_zone: bool) -> str:
    """A time of Spark is written as by `category_text`. The zone of its session does not matter."""
    if is_of_zone:
        seconds = f"CAST(UNIX_MICROS({column}) AS DECIMAL(20)) / 1000000"
        column = f"TIMESTAMP_NTZ '1970-01-01 00:00:00' + MAKE_DT_INTERVAL(0, 0, 0, {seconds})"
    text = f"CAST({column} AS STRING)"
    length = f"CASE WHEN CONTAINS({text}, '.') THEN {TIME_LENGTH} ELSE LENGTH({text}) END"
    return f"CONCAT(RPAD({text}, {length}, '0'), '{'+00:00' if is_of_zone else ''}')"


def _single_value(cell: object, lists: bool, place: str) -> object:
    if not isinstance(cell, COMPOUND_TYPES):
        return cell
    expected = "text" if isinstance(cell, BINARY) else "one value"
    if lists and isinstance(cell, list):
        numbers = [member for member in cell if isinstance(member, float)]
        is_odd = any(isinstance(member, (*COMPOUND_TYPES, type(None))) for member in cell)
        is_odd = is_odd or any(map(math.isnan, numbers))
        texts = [""] if is_odd else list(map(category_text, cell))
        if not any(not text or "|" in text for text in texts):
            return "|".join(texts) or "|"
        expected = "one label, a list of labels (none empty, none with |)"
    raise RatingsError(
        f"{place}: found {value_in_message(cell)}; expected {expected}, or null. Correct the row."
    )


def _is_unsupported_type(kind: pa.DataType) -> bool:
    types = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return _is_unsupported_type(kind.storage_type)
    if types.is_dictionary(kind):
        return _is_unsupported_type(kind.value_type)
    is_binary = types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind)
    return bool(types.is_nested(kind) or is_binary or types.is_fixed_size_binary(kind))


def _refuse_beyond_limits(header: list[str], n_rows: int, source: str, limits: Limits) -> None:
    limits.refuse_beyond("columns", len(header), source, "columns")
    limits.refuse_beyond("rows", n_rows, source, "rows")
    refuse_repeated_names(header, source)


# Ratings in tables

RATER_COLUMN_PREFIX = "rater:"
"""How the name of a column begins that holds the labels of a rater, before it is unpivoted."""
RATERS_PER_QUERY = 32
URL_MARK = "://"
SINGLE_TABLE = ""
LABEL_COLUMNS = ("label", "first_label")


class TableReader(Reader):
    """Tables. The files of a folder or a pattern are one table.

    Cells of text are kept as they are written, so `NA` and `001` are text. Only an empty cell is
    missing. A list of labels is text with `|` between them, and `|` alone is the empty list.
    """

    def read_rows(self, source: Source, request: ReadRequest) -> Rows:
        _refuse_settings_of_other_layout(request)
        units = request.rules.units
        if units is not None and units.kind != "sets":
            name = Path(source).name if isinstance(source, str | Path) else f"a {FRAME}"
            raise RatingsError(
                f"{name}: found {self.title} for units of {units.kind}; expected the export of a "
                "tool, or units of sets, which are labels in a cell. Export the objects, or make "
                "units of them with agreement_pipeline.units, or leave `units` out."
            )
        parts = dict[str, Rows]()
        for name, table in _iterate_tables(source, request):
            rows = _load_ratings(table, request)
            parts[name] = rows if name == SINGLE_TABLE else rows.read_through()
        several = [*parts] != [SINGLE_TABLE]
        rows = (
            _union_tables(parts, Path(source).name, request.limits)
            if several
            else parts[SINGLE_TABLE]
        )
        rows = with_iso_times(rows, request.columns.time_format)
        rules, models = request.rules, request.columns.models
        if rules == Rules(all_rounds=rules.all_rounds) and not models:
            return rows
        rated = arrange_ratings(apply_row_rules(rows.read_through(), rules), rules, models)
        if units is None:
            return rated
        is_known = rules.requires is not None and "none" not in rules.requires
        # Units need pandas, which no other table is worth waiting for.
        from agreement_pipeline.readers.label_sets import expand_member_rows

        of_members = expand_member_rows(rated, units, empty_cells_are_missing=is_known)
        return replace(of_members, are_units=True)

    def read_delivered_rows(
        self, source: Source, request: ReadRequest, names: Collection[str] | None
    ) -> DeliveredRows:
        """A row a rating: of a wide table, each cell of a rater that has a value."""
        _refuse_settings_of_other_layout(request)
        parts, tables = dict[str, Rows](), list[DeliveredRows]()
        for name, table in _iterate_tables(source, request):
            tables.append(_load_delivered_rows(table, request, names))
            rows = tables[-1].rows
            parts[name] = rows if name == SINGLE_TABLE else rows.read_through()
        if [*parts] == [SINGLE_TABLE]:
            return tables[0]
        return replace(tables[0], rows=_union_tables(parts, Path(source).name, request.limits))

    def read_round_column(self, path: Path, request: ReadRequest) -> Iterator[Rows]:
        column = request.columns.round or "round"
        for _, table in _iterate_tables(path, request):
            if column not in table.header:
                raise RatingsError(
                    f"{table.source}: found no column {column!r} among {listed(table.header)}; "
                    "expected the round of every row. Name the column that holds it."
                )
            yield table.load_rows(request.session, {"round": column})


def _iterate_tables(source: Source, request: ReadRequest) -> Iterator[tuple[str, OpenTable]]:
    limits = request.limits
    if isinstance(source, str) and URL_MARK in source:
        if not isinstance(request.session, Spark):
            raise RatingsError(
                f"{source}: found a URL; expected a file of this machine. Download it, or let "
                "Spark read it (--engine spark)."
            )
        header, name = request.session.schema_of(source).names, Path(source).name
        request.columns.refuse_format_settings(name, *OTHER_FORMAT_SETTINGS)
        _refuse_beyond_limits(header, 0, name, limits)
        yield (
            SINGLE_TABLE,
            OpenTable(
                name, header, view=lambda session, columns: session.scan_parquet(source, columns)
            ),
        )
        return
    path = Path(source) if isinstance(source, str) else source
    if not isinstance(path, Path) or path.is_file():
        yield SINGLE_TABLE, open_source(path, limits, request.columns)
    elif not path.is_dir():
        for file in _find_files_like(path):
            yield file.name, open_table(file, limits, request.columns)
    elif is_data_set(export := Export(path)):
        from agreement_pipeline.readers.parquet import read_data_set

        table, lookup_by_column = read_data_set(path)
        yield SINGLE_TABLE, open_arrow_table(table, path.name, limits, lookup_by_column)
    else:
        for file in export.files:
            yield export.file_name_in_export(file), open_table(file, limits, request.columns)


def read_header(path: Path, columns: Columns = COLUMNS, limits: Limits = LIMITS) -> list[str]:
    """The names of a table's columns."""
    export = Export(path)
    first_record = {} if columns.changed_format_settings else export.first_record
    if first_record or not export.files:
        return list(map(str, first_record))
    return open_table(export.files[0], limits, columns).header


def read_first_rows(path: Path, columns: Columns, n_rows: int, limits: Limits = LIMITS) -> pa.Table:
    """The first rows of a table as texts under the names of its columns.

    Columns that a reading would refuse are left out.
    """
    table = open_table(Export(path).files[0], limits, columns)
    names = [name for name in dict.fromkeys(table.header) if name not in table.fault_by_column]
    loaded = {f"column_{place}": name for place, name in enumerate(names)}
    rows = table.load_rows(duckdb_session(), loaded)
    texts = ", ".join(f"{rows.text_sql(role)} AS {role}" for role in loaded)
    first_rows = rows.relation.query(f"SELECT {texts} FROM {rows} ORDER BY nth LIMIT {n_rows}")
    return first_rows.rename_columns(names)


def _find_files_like(pattern: Path) -> list[Path]:
    paths = sorted(map(Path, glob(str(pattern), recursive=True)))
    files = [path for path in paths if not path.is_dir()]
    if not files:
        raise RatingsError(
            f"{pattern}: found no table; expected files with names ending as those of tables do. "
            "Check the path."
        )
    for path in files:
        refuse_unfinished(path)
    return files


def is_pattern(source: Path) -> bool:
    """True if no such path exists, and it has marks of a pattern."""
    return not source.exists() and any(mark in str(source) for mark in "*?[")


def find_unnamed_label_columns(
    path: Path, columns: Columns, scale: Scale, limits: Limits = LIMITS
) -> tuple[str, ...]:
    """Columns of a wide table whose cells are labels: a rater whose dissent is missing, or a
    settled label.
    """
    with unpack_for_reading(path, limits) as place:
        if scale.categories is None or select_reader(place, columns=columns).name != TABLE_READER:
            return ()
        table = open_table(place, limits, columns)
        named_columns = {
            *columns.column_by_role.values(),
            *columns.raters,
            *columns.models.values(),
            *OPTIONAL,
        }
        labels, label_columns = set(map(str, scale.categories)), list[str]()
        for name in table.header:
            if name not in named_columns:
                rows = replace(table, fault_by_column={}).load_rows(
                    duckdb_session(), {"label": name}
                )
                distinct_labels = f"SELECT DISTINCT {rows.text_sql('label')} AS label FROM {rows}"
                texts = {
                    *rows.relation.query_column(f"{distinct_labels} LIMIT {len(labels) + 2}")
                } - {None}
                label_columns += [name] if texts and texts <= labels else []
    return tuple(label_columns)


def _load_ratings(table: OpenTable, request: ReadRequest) -> Rows:
    """The ratings of a table under canonical names, loaded into the session."""
    columns, name, header = request.columns, table.source, table.header
    column_by_role = choose_columns(header, columns, request.layout, name)
    is_wide = request.layout == "wide"
    raters = choose_rater_columns(header, columns, column_by_role, name) if is_wide else []
    extra_columns = request.extra_columns
    absent = [column for column in extra_columns if column not in header]
    if absent:
        raise RatingsError(
            f"{name}: found no {called('column', absent)} among {listed(header, 12)}; expected "
            "every column that a rule, a stratum or a model names. "
            f"{suggest_name(absent[0], header, 'Correct the names.')}"
        )
    refuse_names_differing_by_capitals("column", extra_columns, name)
    read_names = {column.lower() for column in column_by_role.values()}
    refuse_names_differing_by_capitals(
        "column", [column for column in header if column.lower() in read_names], name
    )
    for column in (*column_by_role.values(), *raters):
        unit = "characters in the name of a column"
        request.limits.refuse_beyond("name_length", len(column), f"{name}: row 1", unit)
    places = {f"{RATER_COLUMN_PREFIX}{index}": rater for index, rater in enumerate(raters)}
    loaded_columns = {
        **column_by_role,
        **places,
        **{FIELD_PREFIX + column: column for column in extra_columns},
    }
    labels = [column_by_role[name] for name in LABEL_COLUMNS if name in column_by_role]
    of_models = [FIELD_PREFIX + column for column in columns.models.values()]
    rows = table.load_rows(request.session, loaded_columns, raters or labels)
    if columns.decimal == ",":
        numbers = {"label", "first_label", "confidence", "gold_label", *places}
        numbers |= {*of_models}
        rows = _decimal_commas_as_points(
            rows.read_through(),
            {name: source_name for name, source_name in loaded_columns.items() if name in numbers},
        )
    are_alike = len({rows.relation.schema.field(place).type for place in places}) <= 1
    if extra_columns or not are_alike:  # some columns become text
        rows = _nan_labels_as_missing(rows, [*places, *LABEL_COLUMNS, *of_models])
        replace(rows, columns=loaded_columns).refuse_nan(loaded_columns)
    if raters:
        labels = [
            rows.quote_column(place) if are_alike else rows.text_sql(place) for place in places
        ]
        rows = _unpivot_raters(rows, raters, labels)
    # The columns of a wide table may have names of raters, which a release does not say.
    carried = {*column_by_role.values(), *request.carried_columns}
    unread = () if is_wide else tuple(name for name in header if name not in carried)
    return use_first_labels(replace(rows, columns=column_by_role, unread=unread))


def _load_delivered_rows(
    table: OpenTable, request: ReadRequest, names: Collection[str] | None
) -> DeliveredRows:
    source, columns = table.source, request.columns
    column_by_role = choose_columns(table.header, columns, request.layout, source)
    is_wide = request.layout == "wide"
    raters = choose_rater_columns(table.header, columns, column_by_role, source) if is_wide else []
    added_names = [name for name in ("rater", "label") if raters and name not in table.header]
    header = (*(name for name in table.header if name not in raters), *added_names)
    canonical = {name: column for name, column in column_by_role.items() if name != column}
    wanted_names = select_wanted_columns(names, header, canonical)
    refuse_names_differing_by_capitals("column", wanted_names, source)
    rounds = request.rules.rounds
    read_names = [name for name in wanted_names if name not in added_names]
    read_names += [rounds.column] if rounds is not None and rounds.column not in read_names else []
    places = {f"{RATER_COLUMN_PREFIX}{index}": rater for index, rater in enumerate(raters)}
    loaded_columns: dict[str, str] = {
        name: column_by_role[name] for name in ("item", "rater", "round") if name in column_by_role
    }
    loaded_columns |= {FIELD_PREFIX + name: name for name in read_names} | places
    rows = table.load_rows(request.session, loaded_columns, {*loaded_columns.values()})
    if raters:
        rows = _unpivot_raters(rows, raters, [rows.text_sql(place) for place in places])
        rows = rows.create_view(f"SELECT * FROM {rows} WHERE NOT {rows.is_blank_sql('label')}")
    column_by_name = {
        name: name if name in added_names else FIELD_PREFIX + name for name in wanted_names
    }
    return DeliveredRows(replace(rows, columns=column_by_role), column_by_name, header, canonical)


def _nan_labels_as_missing(rows: Rows, names: Iterable[str]) -> Rows:
    """A label that is no number is missing, and would be the text nan."""
    sql_by_column = {
        name: f"CASE WHEN NOT {rows.is_nan_sql(name)} THEN {rows.quote_column(name)} END"
        for name in names
        if rows.kind_by_column.get(name) == "float" and rows.has_row(rows.is_nan_sql(name))
    }
    return rows.with_computed(sql_by_column) if sql_by_column else rows


def _decimal_commas_as_points(rows: Rows, columns: Mapping[str, str]) -> Rows:
    session, sql_by_column = rows.relation.session, dict[str, str]()
    for name, column in columns.items():
        if rows.kind_by_column.get(name) == "text":
            cell = rows.quote_column(name)
            if rows.has_row(test := session.matches_sql(cell, POINT_NUMBER)):
                raise RatingsError(
                    f"{replace(rows, columns=columns).describe_place(test, name)}: found "
                    f"{listed(rows.values_where(test, name))}; expected numbers with a decimal "
                    f"comma, as in 4,52, without points. Correct {column!r}, or leave out that the "
                    "decimal sign is a comma."
                )
            is_number = session.matches_sql(
                cell, rf"^\s*{COMMA_NUMBER}(\s*[|]\s*{COMMA_NUMBER})*\s*$"
            )
            sql_by_column[name] = (
                f"CASE WHEN {is_number} THEN REPLACE({cell}, ',', '.') ELSE {cell} END"
            )
    return rows.with_computed(sql_by_column) if sql_by_column else rows


def _unpivot_raters(rows: Rows, raters: Sequence[str], labels: Sequence[str]) -> Rows:
    """The rows are in the order of the wide table's."""
    shared = [
        column_name
        for column_name in rows.names
        if not column_name.startswith(RATER_COLUMN_PREFIX) and column_name != "nth"
    ]
    names = pa.table({"name": pa.array(raters, TEXT)})
    rater_names = rows.relation.session.load_batches(names.schema, names.to_batches())
    parts = []
    for start in range(0, len(raters), RATERS_PER_QUERY):
        indices = range(start, min(start + RATERS_PER_QUERY, len(raters)))
        label = " ".join(f"WHEN {index} THEN {labels[index]}" for index in indices)
        parts.append(
            f"SELECT {', '.join(map(rows.quote_column, shared))}, name AS rater, "
            f"CASE place {label} END AS label, name AS {rows.quote_column('column')}, "
            f"{rows}.nth * {len(raters)} + place AS nth FROM {rows} CROSS JOIN "
            f"(SELECT name, nth AS place FROM {rater_names} "
            f"WHERE nth BETWEEN {start} AND {indices[-1]}) AS named"
        )
    return rows.create_view(" UNION ALL ".join(parts), rater_names)


def _union_tables(parts: Mapping[str, Rows], source: str, limits: Limits) -> Rows:
    """The rows of several files as one table. Their columns must be the same."""
    (name, first_rows), *other_parts = parts.items()
    columns = first_rows.columns
    for other_file, rows in other_parts:
        if rows.columns != columns:
            raise RatingsError(
                f"{source}: found columns {listed(rows.columns.values(), 12)} in {other_file}, "
                f"and {listed(columns.values(), 12)} in {name}; expected the same in each file of "
                "a folder, which is one table. Give each file the same columns, or move the file."
            )
    schemas = [rows.relation.schema for rows in parts.values()]
    texts = [
        column
        for column in first_rows.names
        if len({schema.field(column).type for schema in schemas}) > 1
    ]
    n_rows, queries = 0, []
    parts = {
        file: _nan_labels_as_missing(rows, {*texts} & {*LABEL_COLUMNS})
        for file, rows in parts.items()
    }
    for file, rows in parts.items():
        replace(rows, source=file).refuse_nan(texts)
        row = f"CONCAT(CAST(row AS STRING), {rows.value_sql(f' of {file}')})"
        sql_by_column = {
            **{column: rows.text_sql(column) for column in texts},
            "nth": f"nth + {n_rows}",
            "row": row,
        }
        queries.append(
            f"SELECT {rows.select_list_sql(sql_by_column, first_rows.names)} FROM {rows}"
        )
        n_rows += rows.relation.query_column(f"SELECT COUNT(*) AS n FROM {rows}")[0]
    limits.refuse_beyond("rows", n_rows, source, "rows")
    union = first_rows.create_view(
        " UNION ALL ".join(queries), *(rows.relation for rows in parts.values())
    )
    return replace(union, source=source)


def _refuse_settings_of_other_layout(request: ReadRequest) -> None:
    columns, layout = request.columns, request.layout
    if layout == "long" and columns.raters:
        raise ProjectError(
            f"columns: found raters {listed(columns.raters)} in the layout long; expected raters "
            "for a wide table only. Choose the layout wide, or name no raters."
        )
    misplaced = [
        f"{name} {getattr(columns, name)!r}"
        for name in ("rater", "label", "first_label", "changed_at")
        if getattr(columns, name) != getattr(COLUMNS, name)
    ]
    if layout == "wide" and misplaced:
        raise ProjectError(
            f"columns: found {' and '.join(misplaced)} in the layout wide; expected them for a "
            "long table only. Choose the layout long, or name only the columns of raters."
        )


def _is_table_file(export: Export) -> bool:
    if export.path.is_dir():
        return bool(export.files) and all(
            file.suffix.lower() in KIND_BY_SUFFIX for file in export.files
        )
    return export.kind in ("text", "json", "parquet", "workbook")


def is_data_set(export: Export) -> bool:
    return export.path.is_dir() and any(file.parent in export.data_sets for file in export.files)


TABLE = register(TableReader(TABLE_READER, "a table", _is_table_file))
register(TableReader("hugging_face", "a Hugging Face data set", is_data_set))


# Tables of whole numbers

MAX_EXACT_INTEGER = 2**53
"""Larger whole numbers are not exact."""
TOTAL_NAMES = {"total", "totals", "sum", "all", "margin"}


class NumberTable(NamedTuple):
    source: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: Array


def read_whole_numbers(
    source: Source,
    names: str | None = None,
    limits: Limits = LIMITS,
    format_columns: Columns = COLUMNS,
) -> NumberTable:
    """The first column, or `names`, says what each row is. Totals and two rows of one name are
    refused.
    """
    if isinstance(source, str | Path):
        source = Path(source)
        refuse_unfinished(source)
    table = open_source(source, limits, format_columns)
    name_column = table.header[0] if names is None else names
    if name_column not in table.header:
        raise RatingsError(
            f"{table.source}: found no column {name_column!r} among {listed(table.header, 12)}; "
            "expected the column that names the rows. Name it."
        )
    columns = [name for name in table.header if name != name_column]
    if not columns:
        raise RatingsError(
            f"{table.source}: found no column beside {name_column!r}; expected a column of whole "
            "numbers for each category. Check the separator of the table."
        )
    places = {f"c{index}": name for index, name in enumerate(table.header)}
    rows = replace(table.load_rows(duckdb_session(), places), columns=places)
    (names_in,) = (place for place, name in places.items() if name == name_column)
    row_by_name = dict[str, str]()
    names_and_rows = rows.relation.query(
        f"SELECT {rows.text_sql(names_in)} AS name, row FROM {rows} ORDER BY nth"
    )
    for name, row in zip(*(column.to_pylist() for column in names_and_rows.columns), strict=True):
        if name is None or name in row_by_name:
            finding = (
                "no name" if name is None else f"{name!r}, which is in {row_by_name[name]} too"
            )
            raise RatingsError(
                f"{table.source}: row {row}, column {name_column!r}: found {finding}; expected a "
                "name of its own in every row. Fill it in, correct it, or leave one row out."
            )
        row_by_name[name] = f"row {row}"
    numbers = [_whole_number_sql(rows, place) for place in places if place != names_in]
    counts = rows.relation.query(f"SELECT {', '.join(numbers)} FROM {rows} ORDER BY nth")
    values = np.column_stack([as_number_array(column) for column in counts.columns])
    _refuse_total(values, columns, f"{table.source}: column")
    _refuse_total(values.T, list(row_by_name), f"{table.source}: row")
    return NumberTable(table.source, tuple(row_by_name), tuple(columns), values)


def _whole_number_sql(rows: Rows, name: str) -> str:
    """A column as whole numbers in SQL. Other cells are refused."""
    number = rows.number_sql(name)
    is_count = f"{number} BETWEEN 0 AND {MAX_EXACT_INTEGER} AND {number} = FLOOR({number})"
    odd = f"NOT COALESCE({is_count}, FALSE)"
    if rows.has_row(odd):
        first_value = rows.values_where(odd, name)[0]
        raise RatingsError(
            f"{rows.describe_place(odd, name)}: found "
            f"{'nothing' if first_value is None else repr(first_value)}; expected a whole number "
            f"from 0 to {MAX_EXACT_INTEGER}. Write 0 where there is none."
        )
    return number


def _refuse_total(values: Array, names: Sequence[str], label: str) -> None:
    for place, name in enumerate(names):
        is_total = np.array_equal(values.sum(1), 2 * values[:, place])
        if is_total and name.strip().casefold() in TOTAL_NAMES:
            raise RatingsError(
                f"{label} {name!r}: found the sum of all others; expected no totals. Leave it out."
            )
