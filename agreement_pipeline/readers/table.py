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
from agreement_pipeline.mistakes import shown
from agreement_pipeline.ratings import (
    LIMITS,
    Array,
    Limits,
    NoTextError,
    Scale,
    category_text,
    cells_of_frame,
    is_as_given,
    is_text,
    is_time,
    numbers_in,
    plain,
    refuse_capitals,
    written,
)
from agreement_pipeline.readers.columns import (
    COLUMNS,
    FRAME,
    OPTIONAL,
    REQUIRED,
    Columns,
    chosen_columns,
    rater_columns,
    refuse_twice,
)
from agreement_pipeline.readers.delimited import Delimited, below_separator_line
from agreement_pipeline.readers.exports import TABLE as NAME
from agreement_pipeline.readers.exports import (
    Asked,
    DeliveredRows,
    Export,
    Reader,
    Source,
    reader_of,
    register,
    wanted_columns,
)
from agreement_pipeline.readers.files import kind_of, no_row, refuse_unfinished, unpacked
from agreement_pipeline.readers.rules import (
    FIELD,
    Rows,
    Rules,
    arranged,
    kept,
    of_first_labels,
)
from agreement_pipeline.readers.times import with_iso_times
from agreement_pipeline.text import called, listed, meant

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
SAID_OF = {
    "text": ("delimited text", "encoding", "decimal", "header_row", "time_format"),
    "workbook": ("a workbook", "decimal", "sheet", "header_row", "time_format"),
}
OF_OTHERS = ("a table that is neither text nor a workbook", "decimal", "time_format")
COMMA = r"[+-]?([0-9]+|[0-9]*,[0-9]+)([eE][+-]?[0-9]+)?"
POINT = (
    r"(^|[|])\s*[+-]?([0-9,]+[.]|[.][0-9])[0-9.,]*([eE][+-]?[0-9]+)?\s*($|[|])"
    r"|^\s*[+-]?[0-9,]+[.][0-9.,]*[eE][+-]?[0-9]+\s*$"
)
TEXT = pa.large_string()
BINARY = (bytes, bytearray, memoryview)
NO_VALUES = (list, tuple, dict, *BINARY)
TIME_LENGTH = len("2026-11-01 10:00:00.123000")
ODD_LIST = "found a list with a member that is no label"
Read = Callable[[Sequence[str], Collection[str]], Iterator[Any]]
See = Callable[[Any, Mapping[str, str]], Relation | None]
Reading = Callable[[Relation], AbstractContextManager[None]]


@dataclass(frozen=True)
class Table:
    """A table whose cells are not yet read.

    Attributes
    ----------
    read
        Reads columns, of which some may hold lists, some rows at a time. A column is an Arrow
        array, or a list of Python objects.
    see
        Sees columns under other names where they lie. None if they must be read.
    reading
        Refuses a source that is not whole while what was seen is read.
    first
        The number of the first row of data, as an editor or a spreadsheet counts.
    wrong
        Why a column is refused if it is read.
    tells_empty
        True if an empty cell is another one than a missing cell. Only a text may then be empty.
    """

    source: str
    header: list[str]
    read: Read = lambda *_: iter(())
    see: See = lambda *_: None
    reading: Reading | None = None
    first: int = 1
    named: "Mapping[str, Named]" = field(default_factory=dict)
    wrong: Mapping[str, str] = field(default_factory=dict)
    tells_empty: bool = False

    def load(
        self, session: Session, columns: Mapping[str, str], lists: Collection[str] = ()
    ) -> Rows:
        """Lists of labels in `lists` become text with `|` between them. `nth` counts the rows from
        0, and `row` is what errors call a row.
        """
        if wrong := [self.wrong[of] for of in columns.values() if of in self.wrong]:
            raise RatingsError(f"{self.source}: {wrong[0]}")
        number = f"nth + {self.first}"
        seen = self.see(session, columns)
        if seen is None:
            batches = self._plain(columns, lists)
            first = next(batches, None)
            if first is None:
                raise no_row(self.source)
            loaded = session.load(first.schema, chain([first], batches))
            return Rows(loaded, self.source).made({"row": number})
        rows, made = Rows(seen, self.source), dict[str, str]()
        if self.reading is not None:
            rows = replace(rows, reading=partial(self.reading, seen))
        if {*columns} != {*REQUIRED["long"]}:  # not all others are read by the checks of ratings
            rows = rows.read_through()
        for name, of in columns.items():
            if sql := _single_in_sql(rows, name, of in lists, f"{self.source}: column {of!r}"):
                made[name] = sql
        rows = rows.made(made) if made else rows
        if session.engine == "spark":
            item = rows.text("item") if "item" in columns else "''"
            number = f"CONCAT('of item ', COALESCE({item}, 'null'))"
        return rows.made({"row": number})

    def _plain(
        self, columns: Mapping[str, str], lists: Collection[str]
    ) -> Iterator[pa.RecordBatch]:
        """Times are text, except when a rating was given."""
        start = self.first
        for batch in self.read(list(dict.fromkeys(columns.values())), lists):
            arrays: dict[str, pa.Array] = {}
            for name, of in columns.items():
                try:
                    cells = self._single(batch[of], of, of in lists, start)
                    if self.tells_empty and name != "text":
                        cells = _with_empty_missing(cells)
                    becomes_text = is_time(cells.type) and name != "timestamp"
                    arrays[name] = written(cells) if becomes_text else cells
                except NoTextError as error:
                    raise RatingsError(f"{self.source}: column {of!r}: {error}") from None
            made = pa.record_batch(arrays)
            if made.num_rows:
                yield made
                start += made.num_rows

    def _single(self, cells: Any, name: str, lists: bool, start: int) -> pa.Array:
        if name in self.named:
            from agreement_pipeline.readers.parquet import in_names

            cells = in_names(cells, self.named[name])
        if isinstance(cells, pa.Array):
            if not _is_odd(cells.type):
                return plain(cells)
            cells = cells.to_pylist()
        texts = [
            _single_value(each, lists, f"{self.source}: row {start + at}, column {name!r}")
            for at, each in enumerate(cells)
        ]
        return pa.array([None if e is None else category_text(e) for e in texts], TEXT)


def file_table(path: Path, limits: Limits, columns: Columns = COLUMNS) -> Table:
    limits.refuse_beyond("file_bytes", path.stat().st_size, path.name, "bytes")
    kind, first = KINDS.get(path.suffix.lower()) or kind_of(path), columns.header_row + 1
    columns.refuse_written(path.name, *SAID_OF.get(kind, OF_OTHERS))
    if kind == "text":
        columns = below_separator_line(path, columns)
        first = columns.header_row + 1
        text = Delimited(path, SEPARATORS.get(path.suffix.lower(), ","), limits, columns)
        return Table(path.name, text.header, text.batches, first=first)
    if kind == "parquet":
        from agreement_pipeline.readers.parquet import ParquetTable

        file = ParquetTable(path, limits)
        names, named = file.schema.names, file.named
        return Table(path.name, names, file.batches, file.seen, file.reading, named=named)
    if kind == "workbook":
        from agreement_pipeline.readers.workbooks import sheet_of

        sheet, wrong = sheet_of(path, limits, columns)
        return arrow_table(sheet, path.name, limits, first=first, wrong=wrong)
    from agreement_pipeline.readers.json_files import JsonLines

    lines = JsonLines(path, limits)
    return Table(path.name, lines.header, lines.batches, tells_empty=True)


def _with_empty_missing(cells: pa.Array) -> pa.Array:
    return pc.if_else(pc.equal(cells, ""), None, cells) if cells.type == TEXT else cells


def table_of(source: Any, limits: Limits, columns: Columns = COLUMNS) -> Table:
    if isinstance(source, Path):
        return file_table(source, limits, columns)
    columns.refuse_written(f"a {FRAME}", *OF_OTHERS)
    if is_spark_frame(source):
        header = list(map(str, source.columns))
        _refuse_large(header, 0, FRAME, limits)
        return Table(FRAME, header, see=lambda session, columns: session.frame(source, columns))
    pandas = sys.modules.get("pandas")  # it is not imported to find out
    if pandas is not None and isinstance(source, pandas.DataFrame):
        header = [str(name) for name in source.columns]
        _refuse_large(header, len(source), FRAME, limits)
        named = columns.named.values()
        inside = [name for name in source.index.names if name in named and name not in header]
        if columns.item in inside:
            raise RatingsError(
                f"{FRAME}: found {called('column', inside)} in the index; expected named columns "
                "among the columns. Call frame.reset_index() first."
            )

        def read(names: Sequence[str], lists: Collection[str]) -> Iterator[pa.RecordBatch]:
            places = [header.index(name) for name in names]
            some = source.iloc[:, places].set_axis(list(names), axis=1)
            objects = [name for name in names if _may_hold_lists(some[name])]
            single = {name: _single_in(some[name], name in lists) for name in objects}
            return cells_of_frame(some.assign(**single))[1]

        return Table(FRAME, header, read)
    found = type(source).__name__
    if hasattr(source, "__arrow_c_stream__"):
        try:
            return arrow_table(pa.table(source), FRAME, limits)
        except pa.ArrowException as error:
            found += f" that Arrow cannot read ({error})"
    raise RatingsError(
        f"a table: found {found}; expected a path, a DataFrame, or a table of "
        "Arrow. Save the table, or convert it."
    )


def arrow_table(
    table: pa.Table,
    source: str,
    limits: Limits,
    named: "Mapping[str, Named] | None" = None,
    first: int = 1,
    wrong: Mapping[str, str] | None = None,
) -> Table:
    _refuse_large(table.column_names, len(table), source, limits)

    def read(names: Sequence[str], _: Collection[str]) -> Iterator[pa.RecordBatch]:
        return iter(table.select(list(names)).to_batches())

    names, odd = table.column_names, wrong or {}
    return Table(source, names, read, first=first, named=named or {}, wrong=odd)


def _may_hold_lists(values: "pd.Series") -> bool:
    kind: Any = values.dtype
    if hasattr(kind, "pyarrow_dtype"):
        return _is_odd(kind.pyarrow_dtype)
    if getattr(kind, "categories", values).dtype != object:
        return False
    return not hasattr(kind, "categories") or any(
        isinstance(each, NO_VALUES) for each in kind.categories
    )


def _single_in(values: "pd.Series", lists: bool) -> "pd.Series":
    cells = values.tolist()
    for at, cell in enumerate(cells):
        is_tuple = lists and isinstance(cell, tuple)
        if is_tuple or isinstance(cell, (np.ndarray, list, dict, *BINARY)):
            each = np.atleast_1d(cell).tolist() if isinstance(cell, np.ndarray) else cell
            each = list(cell) if is_tuple else each
            cells[at] = _single_value(each, lists, f"{FRAME}: row {at + 1}, column {values.name!r}")
    return type(values)(cells, index=values.index, dtype=object, name=values.name)


def _single_in_sql(rows: Rows, name: str, lists: bool, where: str) -> str | None:
    kind, column = rows.relation.schema.field(name).type, rows.quoted(name)
    if pa.types.is_boolean(kind):
        return rows.text(name)
    if not _is_odd(kind):
        if is_as_given(kind, name):
            return None
        if pa.types.is_timestamp(kind):
            return _time_in_sql(column, is_of_zone=not is_time(kind))
        return f"CAST({column} AS STRING)"
    types = pa.types
    is_list = types.is_list(kind) or types.is_large_list(kind)
    is_read = is_list and (is_text(kind.value_type) or types.is_integer(kind.value_type))
    if not (lists and rows.relation.session.engine == "spark" and is_read):
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
    """A time of Spark is written as by `category_text`. The zone of its session does not matter."""
    if is_of_zone:
        seconds = f"CAST(UNIX_MICROS({column}) AS DECIMAL(20)) / 1000000"
        column = f"TIMESTAMP_NTZ '1970-01-01 00:00:00' + MAKE_DT_INTERVAL(0, 0, 0, {seconds})"
    text = f"CAST({column} AS STRING)"
    length = f"CASE WHEN CONTAINS({text}, '.') THEN {TIME_LENGTH} ELSE LENGTH({text}) END"
    return f"CONCAT(RPAD({text}, {length}, '0'), '{'+00:00' if is_of_zone else ''}')"


def _single_value(cell: object, lists: bool, where: str) -> object:
    if not isinstance(cell, NO_VALUES):
        return cell
    expected = "text" if isinstance(cell, BINARY) else "one value"
    if lists and isinstance(cell, list):
        numbers = [each for each in cell if isinstance(each, float)]
        is_odd = any(isinstance(each, (*NO_VALUES, type(None))) for each in cell)
        is_odd = is_odd or any(map(math.isnan, numbers))
        texts = [""] if is_odd else list(map(category_text, cell))
        if not any(not text or "|" in text for text in texts):
            return "|".join(texts) or "|"
        expected = "one label, a list of labels (none empty, none with |)"
    raise RatingsError(
        f"{where}: found {shown(cell)}; expected {expected}, or null. Correct the row."
    )


def _is_odd(kind: pa.DataType) -> bool:
    types = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return _is_odd(kind.storage_type)
    if types.is_dictionary(kind):
        return _is_odd(kind.value_type)
    is_binary = types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind)
    return bool(types.is_nested(kind) or is_binary or types.is_fixed_size_binary(kind))


def _refuse_large(header: list[str], n_rows: int, source: str, limits: Limits) -> None:
    limits.refuse_beyond("columns", len(header), source, "columns")
    limits.refuse_beyond("rows", n_rows, source, "rows")
    refuse_twice(header, source)


# Ratings in tables

RATER = "rater:"
"""How the name of a column begins that holds the labels of a rater, before it is unpivoted."""
TOGETHER = 32
AFAR = "://"
WHOLE = ""
OF_LABELS = ("label", "first_label")


class Tables(Reader):
    """Tables. The files of a folder or a pattern are one table.

    Cells of text are kept as they are written, so `NA` and `001` are text. Only an empty cell is
    missing. A list of labels is text with `|` between them, and `|` alone is the empty list.
    """

    def rows(self, source: Source, asked: Asked) -> Rows:
        _refuse_of_other_layout(asked)
        units = asked.rules.units
        if units is not None and units.kind != "sets":
            name = Path(source).name if isinstance(source, str | Path) else f"a {FRAME}"
            raise RatingsError(
                f"{name}: found {self.title} for units of {units.kind}; expected the export of a "
                "tool, or units of sets, which are labels in a cell. Export the objects, or make "
                "units of them with agreement_pipeline.units, or leave `units` out."
            )
        parts = dict[str, Rows]()
        for name, table in _tables_of(source, asked):
            rows = _rows(table, asked)
            parts[name] = rows if name == WHOLE else rows.read_through()
        several = [*parts] != [WHOLE]
        rows = _joined(parts, Path(source).name, asked.limits) if several else parts[WHOLE]
        rows = with_iso_times(rows, asked.columns.time_format)
        rules, models = asked.rules, asked.columns.models
        if rules == Rules(all_rounds=rules.all_rounds) and not models:
            return rows
        rated = arranged(kept(rows.read_through(), rules), rules, models)
        if units is None:
            return rated
        is_known = rules.requires is not None and "none" not in rules.requires
        # Units need pandas, which no other table is worth waiting for.
        from agreement_pipeline.readers.label_sets import rows_of_members

        of_members = rows_of_members(rated, units, empty_cells_are_missing=is_known)
        return replace(of_members, are_units=True)

    def delivered(
        self, source: Source, asked: Asked, names: Collection[str] | None
    ) -> DeliveredRows:
        """A row a rating: of a wide table, each cell of a rater that has a value."""
        _refuse_of_other_layout(asked)
        parts, tables = dict[str, Rows](), list[DeliveredRows]()
        for name, table in _tables_of(source, asked):
            tables.append(_delivered_rows(table, asked, names))
            rows = tables[-1].rows
            parts[name] = rows if name == WHOLE else rows.read_through()
        if [*parts] == [WHOLE]:
            return tables[0]
        return replace(tables[0], rows=_joined(parts, Path(source).name, asked.limits))

    def rounds(self, path: Path, asked: Asked) -> Iterator[Rows]:
        column = asked.columns.round or "round"
        for _, table in _tables_of(path, asked):
            if column not in table.header:
                raise RatingsError(
                    f"{table.source}: found no column {column!r} among {listed(table.header)}; "
                    "expected the round of every row. Name the column that holds it."
                )
            yield table.load(asked.session, {"round": column})


def _tables_of(source: Source, asked: Asked) -> Iterator[tuple[str, Table]]:
    limits = asked.limits
    if isinstance(source, str) and AFAR in source:
        if not isinstance(asked.session, Spark):
            raise RatingsError(
                f"{source}: found a URL; expected a file of this machine. Download it, or let "
                "Spark read it (--engine spark)."
            )
        header, name = asked.session.schema_of(source).names, Path(source).name
        asked.columns.refuse_written(name, *OF_OTHERS)
        _refuse_large(header, 0, name, limits)
        yield WHOLE, Table(name, header, see=lambda session, of: session.parquet(source, of))
        return
    path = Path(source) if isinstance(source, str) else source
    if not isinstance(path, Path) or path.is_file():
        yield WHOLE, table_of(path, limits, asked.columns)
    elif not path.is_dir():
        for each in _files_like(path):
            yield each.name, file_table(each, limits, asked.columns)
    elif is_data_set(export := Export(path)):
        from agreement_pipeline.readers.parquet import data_set

        whole, named = data_set(path)
        yield WHOLE, arrow_table(whole, path.name, limits, named)
    else:
        for each in export.files:
            yield export.place(each), file_table(each, limits, asked.columns)


def header_of(path: Path, columns: Columns = COLUMNS, limits: Limits = LIMITS) -> list[str]:
    export = Export(path)
    first = {} if columns.written else export.first
    if first or not export.files:
        return list(map(str, first))
    return file_table(export.files[0], limits, columns).header


def _files_like(pattern: Path) -> list[Path]:
    every = sorted(map(Path, glob(str(pattern), recursive=True)))
    found = [each for each in every if not each.is_dir()]
    if not found:
        raise RatingsError(
            f"{pattern}: found no table; expected files with names ending as those of tables do. "
            "Check the path."
        )
    for each in found:
        refuse_unfinished(each)
    return found


def is_pattern(source: Path) -> bool:
    return not source.exists() and any(mark in str(source) for mark in "*?[")


def labels_left_out(
    path: Path, columns: Columns, scale: Scale, limits: Limits = LIMITS
) -> tuple[str, ...]:
    """Columns of a wide table whose cells are labels: a rater whose dissent is missing, or a
    settled label.
    """
    with unpacked(path, limits) as place:
        if scale.categories is None or reader_of(place, columns=columns).name != NAME:
            return ()
        table = file_table(place, limits, columns)
        named = {*columns.named.values(), *columns.raters, *columns.models.values(), *OPTIONAL}
        labels, found = set(map(str, scale.categories)), list[str]()
        for name in table.header:
            if name not in named:
                rows = replace(table, wrong={}).load(duckdb_session(), {"label": name})
                some = f"SELECT DISTINCT {rows.text('label')} AS label FROM {rows}"
                texts = {*rows.relation.values(f"{some} LIMIT {len(labels) + 2}")} - {None}
                found += [name] if texts and texts <= labels else []
    return tuple(found)


def _rows(table: Table, asked: Asked) -> Rows:
    columns, name, header = asked.columns, table.source, table.header
    chosen = chosen_columns(header, columns, asked.layout, name)
    is_wide = asked.layout == "wide"
    raters = rater_columns(header, columns, chosen, name) if is_wide else []
    others = asked.others
    absent = [each for each in others if each not in header]
    if absent:
        raise RatingsError(
            f"{name}: found no {called('column', absent)} among {listed(header, 12)}; expected "
            "every column that a rule, a stratum or a model names. "
            f"{meant(absent[0], header, 'Correct the names.')}"
        )
    refuse_capitals("column", others, name)
    read_names = {each.lower() for each in chosen.values()}
    refuse_capitals("column", [each for each in header if each.lower() in read_names], name)
    for each in (*chosen.values(), *raters):
        what = "characters in the name of a column"
        asked.limits.refuse_beyond("name_length", len(each), f"{name}: row 1", what)
    places = {f"{RATER}{at}": rater for at, rater in enumerate(raters)}
    taken = {**chosen, **places, **{FIELD + each: each for each in others}}
    labels = [chosen[name] for name in OF_LABELS if name in chosen]
    of_models = [FIELD + each for each in columns.models.values()]
    rows = table.load(asked.session, taken, raters or labels)
    if columns.decimal == ",":
        numbers = {"label", "first_label", "confidence", "gold_label", *places}
        numbers |= {*of_models}
        rows = _with_points(
            rows.read_through(), {name: of for name, of in taken.items() if name in numbers}
        )
    are_alike = len({rows.relation.schema.field(place).type for place in places}) <= 1
    if others or not are_alike:  # some columns become text
        rows = _with_nan_missing(rows, [*places, *OF_LABELS, *of_models])
        replace(rows, columns=taken).refuse_nan(taken)
    if raters:
        labels = [rows.quoted(place) if are_alike else rows.text(place) for place in places]
        rows = _by_rater(rows, raters, labels)
    # The columns of a wide table may have names of raters, which a release does not say.
    carried = {*chosen.values(), *asked.carried}
    unread = () if is_wide else tuple(name for name in header if name not in carried)
    return of_first_labels(replace(rows, columns=chosen, unread=unread))


def _delivered_rows(table: Table, asked: Asked, names: Collection[str] | None) -> DeliveredRows:
    source, columns = table.source, asked.columns
    chosen = chosen_columns(table.header, columns, asked.layout, source)
    is_wide = asked.layout == "wide"
    raters = rater_columns(table.header, columns, chosen, source) if is_wide else []
    made = [name for name in ("rater", "label") if raters and name not in table.header]
    header = (*(name for name in table.header if name not in raters), *made)
    canonical = {name: of for name, of in chosen.items() if name != of}
    wanted = wanted_columns(names, header, canonical)
    refuse_capitals("column", wanted, source)
    rounds = asked.rules.rounds
    read = [name for name in wanted if name not in made]
    read += [rounds.column] if rounds is not None and rounds.column not in read else []
    places = {f"{RATER}{at}": rater for at, rater in enumerate(raters)}
    taken: dict[str, str] = {
        name: chosen[name] for name in ("item", "rater", "round") if name in chosen
    }
    taken |= {FIELD + name: name for name in read} | places
    rows = table.load(asked.session, taken, {*taken.values()})
    if raters:
        rows = _by_rater(rows, raters, [rows.text(place) for place in places])
        rows = rows.view(f"SELECT * FROM {rows} WHERE NOT {rows.blank('label')}")
    of = {name: name if name in made else FIELD + name for name in wanted}
    return DeliveredRows(replace(rows, columns=chosen), of, header, canonical)


def _with_nan_missing(rows: Rows, names: Iterable[str]) -> Rows:
    """A label that is no number is missing, and would be the text nan."""
    made = {
        name: f"CASE WHEN NOT {rows.nan(name)} THEN {rows.quoted(name)} END"
        for name in names
        if rows.kinds.get(name) == "float" and rows.any(rows.nan(name))
    }
    return rows.made(made) if made else rows


def _with_points(rows: Rows, columns: Mapping[str, str]) -> Rows:
    session, made = rows.relation.session, dict[str, str]()
    for name, of in columns.items():
        if rows.kinds.get(name) == "text":
            cell = rows.quoted(name)
            if rows.any(test := session.matches(cell, POINT)):
                raise RatingsError(
                    f"{replace(rows, columns=columns).at(test, name)}: found "
                    f"{listed(rows.found(test, name))}; expected numbers with a decimal comma, as "
                    f"in 4,52, without points. Correct {of!r}, or leave out that the decimal sign "
                    "is a comma."
                )
            is_number = session.matches(cell, rf"^\s*{COMMA}(\s*[|]\s*{COMMA})*\s*$")
            made[name] = f"CASE WHEN {is_number} THEN REPLACE({cell}, ',', '.') ELSE {cell} END"
    return rows.made(made) if made else rows


def _by_rater(rows: Rows, raters: Sequence[str], labels: Sequence[str]) -> Rows:
    """The rows are in the order of the wide table's."""
    shared = [each for each in rows.names if not each.startswith(RATER) and each != "nth"]
    names = pa.table({"name": pa.array(raters, TEXT)})
    named = rows.relation.session.load(names.schema, names.to_batches())
    parts = []
    for start in range(0, len(raters), TOGETHER):
        some = range(start, min(start + TOGETHER, len(raters)))
        label = " ".join(f"WHEN {at} THEN {labels[at]}" for at in some)
        parts.append(
            f"SELECT {', '.join(map(rows.quoted, shared))}, name AS rater, "
            f"CASE place {label} END AS label, name AS {rows.quoted('column')}, "
            f"{rows}.nth * {len(raters)} + place AS nth FROM {rows} CROSS JOIN "
            f"(SELECT name, nth AS place FROM {named} "
            f"WHERE nth BETWEEN {start} AND {some[-1]}) AS named"
        )
    return rows.view(" UNION ALL ".join(parts), named)


def _joined(parts: Mapping[str, Rows], source: str, limits: Limits) -> Rows:
    (name, first), *others = parts.items()
    columns = first.columns
    for other, rows in others:
        if rows.columns != columns:
            raise RatingsError(
                f"{source}: found columns {listed(rows.columns.values(), 12)} in {other}, "
                f"and {listed(columns.values(), 12)} in {name}; expected the same in each file of "
                "a folder, which is one table. Give each file the same columns, or move the file."
            )
    schemas = [rows.relation.schema for rows in parts.values()]
    texts = [
        each for each in first.names if len({schema.field(each).type for schema in schemas}) > 1
    ]
    before, queries = 0, []
    parts = {file: _with_nan_missing(rows, {*texts} & {*OF_LABELS}) for file, rows in parts.items()}
    for file, rows in parts.items():
        replace(rows, source=file).refuse_nan(texts)
        row = f"CONCAT(CAST(row AS STRING), {rows.literal(f' of {file}')})"
        made = {**{each: rows.text(each) for each in texts}, "nth": f"nth + {before}", "row": row}
        queries.append(f"SELECT {rows.with_columns(made, first.names)} FROM {rows}")
        before += rows.relation.values(f"SELECT COUNT(*) AS n FROM {rows}")[0]
    limits.refuse_beyond("rows", before, source, "rows")
    whole = first.view(" UNION ALL ".join(queries), *(rows.relation for rows in parts.values()))
    return replace(whole, source=source)


def _refuse_of_other_layout(asked: Asked) -> None:
    columns, layout = asked.columns, asked.layout
    if layout == "long" and columns.raters:
        raise ProjectError(
            f"columns: found raters {listed(columns.raters)} in the layout long; expected raters "
            "for a wide table only. Choose the layout wide, or name no raters."
        )
    named = [
        f"{name} {getattr(columns, name)!r}"
        for name in ("rater", "label", "first_label", "changed_at")
        if getattr(columns, name) != getattr(COLUMNS, name)
    ]
    if layout == "wide" and named:
        raise ProjectError(
            f"columns: found {' and '.join(named)} in the layout wide; expected them for a long "
            "table only. Choose the layout long, or name only the columns of raters."
        )


def _is_table(export: Export) -> bool:
    if export.path.is_dir():
        return bool(export.files) and all(each.suffix.lower() in KINDS for each in export.files)
    return export.kind in ("text", "json", "parquet", "workbook")


def is_data_set(export: Export) -> bool:
    return export.path.is_dir() and any(each.parent in export.data_sets for each in export.files)


TABLE = register(Tables(NAME, "a table", _is_table))
register(Tables("hugging_face", "a Hugging Face data set", is_data_set))


# Tables of whole numbers

MOST = 2**53
"""Larger whole numbers are not exact."""
TOTALS = {"total", "totals", "sum", "all", "margin"}


class Numbers(NamedTuple):
    source: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: Array


def whole_numbers(
    source: Source,
    names: str | None = None,
    limits: Limits = LIMITS,
    written: Columns = COLUMNS,
) -> Numbers:
    """The first column, or `names`, says what each row is. Totals and two rows of one name are
    refused.
    """
    if isinstance(source, str | Path):
        source = Path(source)
        refuse_unfinished(source)
    table = table_of(source, limits, written)
    first = table.header[0] if names is None else names
    if first not in table.header:
        raise RatingsError(
            f"{table.source}: found no column {first!r} among {listed(table.header, 12)}; expected "
            "the column that names the rows. Name it."
        )
    columns = [name for name in table.header if name != first]
    if not columns:
        raise RatingsError(
            f"{table.source}: found no column beside {first!r}; expected a column of whole numbers "
            "for each category. Check the separator of the table."
        )
    places = {f"c{at}": name for at, name in enumerate(table.header)}
    rows = replace(table.load(duckdb_session(), places), columns=places)
    (names_in,) = (place for place, name in places.items() if name == first)
    named = dict[str, str]()
    said = rows.relation.ask(f"SELECT {rows.text(names_in)} AS name, row FROM {rows} ORDER BY nth")
    for name, row in zip(*(each.to_pylist() for each in said.columns), strict=True):
        if name is None or name in named:
            what = "no name" if name is None else f"{name!r}, which is in {named[name]} too"
            raise RatingsError(
                f"{table.source}: row {row}, column {first!r}: found {what}; expected a name of "
                "its own in every row. Fill it in, correct it, or leave one row out."
            )
        named[name] = f"row {row}"
    numbers = [_whole(rows, place) for place in places if place != names_in]
    found = rows.relation.ask(f"SELECT {', '.join(numbers)} FROM {rows} ORDER BY nth")
    values = np.column_stack([numbers_in(each) for each in found.columns])
    _refuse_total(values, columns, f"{table.source}: column")
    _refuse_total(values.T, list(named), f"{table.source}: row")
    return Numbers(table.source, tuple(named), tuple(columns), values)


def _whole(rows: Rows, name: str) -> str:
    number = rows.number(name)
    odd = f"NOT COALESCE({number} BETWEEN 0 AND {MOST} AND {number} = FLOOR({number}), FALSE)"
    if rows.any(odd):
        first = rows.found(odd, name)[0]
        raise RatingsError(
            f"{rows.at(odd, name)}: found {'nothing' if first is None else repr(first)}; expected "
            f"a whole number from 0 to {MOST}. Write 0 where there is none."
        )
    return number


def _refuse_total(values: Array, names: Sequence[str], where: str) -> None:
    for place, name in enumerate(names):
        is_total = np.array_equal(values.sum(1), 2 * values[:, place])
        if is_total and name.strip().casefold() in TOTALS:
            raise RatingsError(
                f"{where} {name!r}: found the sum of all others; expected no totals. Leave it out."
            )
