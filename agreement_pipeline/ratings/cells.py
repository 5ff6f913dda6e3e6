"""The cells of ratings as a source wrote them, in a table of a session. Errors name their rows."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from mmap import ACCESS_READ, MADV_DONTNEED, mmap
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from agreement_pipeline.engine import BATCH_ROWS, ZONE, Relation, Session
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings.arrays import (
    PART_BYTES,
    as_whole_numbers_or_missing,
    numbers_as_arrow,
    pack_texts,
)
from agreement_pipeline.ratings.scale import MEMBERS, SPELT, Codes, category_text
from agreement_pipeline.text import called

if TYPE_CHECKING:
    import pandas as pd
Kind = Literal["text", "whole", "float", "flag"]

STRATUM = "stratum:"
PART_PREFIX = "part:"
"""Columns of units: `unit_of`, the item of a unit, and what the unit is in it, such as `member`."""
PART_UNIT_OF = f"{PART_PREFIX}unit_of"
CONTENT_PREFIX = "content:"
"""Columns of a delivery that no measure reads, such as a prompt. They go with the items."""
WITHOUT_WIDTH = "\u00ad\u180e\u200b\u200c\u200d\u2060\u2800\u3164\ufeff"
BLANKS = "".join(chr(code) for code in range(0x3001) if chr(code).isspace()) + WITHOUT_WIDTH
MAX_WHOLE_FLOAT = 9e18
VECTOR_TYPES = (tuple, list, np.ndarray)
MAX_SHOWN = 5
ISO_TIME = (
    "^[0-9]{4}-[0-9]{2}(-[0-9]{2}([T ]([01][0-9]|2[0-3])(:[0-5][0-9](:[0-5][0-9]([.][0-9]+)?)?)?"
    " ?(Z|[+-][0-9]{2}(:?[0-9]{2})?)?)?)?$"
)
"""A time of ISO 8601, as `seconds` reads it."""


@dataclass(frozen=True)
class Cells:
    """Ratings as they were written, a row each, not checked yet.

    `nth` is the order of the rows, `row` is how an error names one, and `column` the rater's column
    of a wide table. `columns` says what each column is called in the source.
    """

    relation: Relation
    source: str = "ratings"
    columns: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def kind_by_column(self) -> dict[str, Kind]:
        """The kind of each column whose type has one."""
        return {
            field.name: kind
            for field in self.relation.schema
            for kind, test in TEST_BY_KIND.items()
            if test(field.type)
        }

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(self.relation.schema.names)

    def quote_column(self, name: str) -> str:
        """The column as SQL."""
        return self.relation.session.column_sql(name)

    def text_sql(self, name: str) -> str:
        """A column as text in SQL. Whole numbers have no decimal point."""
        column, kind = self.quote_column(name), self.kind_by_column.get(name)
        if kind == "text":
            return column
        if kind == "flag":
            return f"CASE WHEN {column} THEN 'True' WHEN NOT {column} THEN 'False' END"
        text = f"CAST({column} AS STRING)"
        if kind != "float":
            return text
        is_whole = f"{column} = FLOOR({column}) AND ABS({column}) < {MAX_WHOLE_FLOAT!r}"
        return f"CASE WHEN {is_whole} THEN CAST(CAST({column} AS BIGINT) AS STRING) ELSE {text} END"

    def number_sql(self, name: str) -> str:
        """A column as a number in SQL. NULL where it is none."""
        column = self.quote_column(name)
        if self.kind_by_column[name] != "text":
            return f"CAST({column} AS DOUBLE)"
        return (
            f"CASE WHEN {self.is_spelt_as_number_sql(name)} THEN TRY_CAST({column} AS DOUBLE) END"
        )

    def is_spelt_as_number_sql(self, name: str, dimensions: int = 1) -> str:
        """The test of SQL whether a text is spelt as a number, or as a vector of so many."""
        pattern = "[|]".join([rf"\s*{SPELT}\s*"] * dimensions)
        return self.relation.session.matches_sql(self.quote_column(name), f"^{pattern}$")

    def is_blank_sql(self, name: str) -> str:
        """The test of SQL whether a cell is missing, or has nothing that prints."""
        if self.kind_by_column[name] != "text":
            return f"({self.quote_column(name)} IS NULL)"
        text = self.quote_column(name)
        unusual = f"{text} < '!' OR {text} >= '\u0080'"
        blanks = self.relation.session.literal_sql(BLANKS)
        return (
            f"({text} IS NULL OR CASE WHEN {unusual} THEN TRANSLATE({text}, {blanks}, '') = '' "
            "ELSE FALSE END)"
        )

    def with_labels_missing(self, test: str) -> "Cells":
        """The cells in which labels that meet the test of SQL are missing."""
        label_sql = f"CASE WHEN {test} THEN NULL ELSE label END AS label"
        columns = [label_sql if name == "label" else self.quote_column(name) for name in self.names]
        query = f"SELECT {', '.join(columns)} FROM {self.relation}"
        return replace(self, relation=self.relation.create_view(query))

    def is_among_sql(self, name: str, values: Collection[object]) -> str:
        """The test of SQL whether a column has one of some values, of which None is NULL."""
        literals = [self.value_sql(value) for value in values if value is not None]
        tests = [f"{self.quote_column(name)} IN ({', '.join(literals)})"] if literals else []
        tests += [f"{self.quote_column(name)} IS NULL"] if None in values else []
        return f"({' OR '.join(tests) or 'FALSE'})"

    def is_nan_sql(self, name: str) -> str:
        """The test of SQL whether a number is NaN."""
        return f"{self.quote_column(name)} = CAST('NaN' AS DOUBLE)"

    def refuse_nan(self, names: Iterable[str]) -> None:
        for name in names:
            if self.kind_by_column.get(name) == "float" and self.has_row(
                test := self.is_nan_sql(name)
            ):
                raise RatingsError(
                    f"{self.describe_place(test, name)}: found nan; expected one value, or null. "
                    "Correct the row."
                )

    def source_name(self, name: str) -> str:
        """What the source calls a column."""
        return self.columns.get(name, name).removeprefix(STRATUM).removeprefix(CONTENT_PREFIX)

    def has_row(self, test: str) -> bool:
        """True if a row meets the test of SQL."""
        return bool(
            self.relation.query_column(f"SELECT 1 FROM {self.relation} WHERE {test} LIMIT 1")
        )

    def describe_place(self, test: str, *names: str) -> str:
        """The first rows that meet a test, how many more, and the columns, as errors say it."""
        by_column = "column" in self.names and {"rater", "label"} & {*names}
        keys = ", ".join(map(self.quote_column, ("row", "column") if by_column else ("row",)))
        table = self.relation
        grouped = f"SELECT {keys}, MIN(nth) AS nth FROM {table} WHERE {test} GROUP BY {keys}"
        first_rows = table.query(
            f"SELECT * FROM ({grouped}) AS g ORDER BY nth, row LIMIT {MAX_SHOWN}"
        )
        (total,) = table.query_column(f"SELECT COUNT(*) FROM ({grouped}) AS g")
        rows = first_rows["row"].to_pylist()
        in_columns = first_rows["column"].to_pylist() if by_column else []
        if any(in_columns):
            default_column = self.source_name(names[-1])
            cells = zip(rows, in_columns, strict=True)
            places = ", ".join(
                f"row {row} column {column or default_column!r}" for row, column in cells
            )
            remainder = f", … {total - MAX_SHOWN} more" if total > MAX_SHOWN else ""
            return f"{self.source}: {places}{remainder}"
        listed = called("row", [*rows, *range(total - len(rows))])
        return f"{self.source}: {listed}, {called('column', map(self.source_name, names))}"

    def values_where(self, test: str, name: str) -> list[object]:
        """The first values in rows that meet a test, then fillers up to the number of rows."""
        table = self.relation
        values = table.query_column(
            f"SELECT {self.quote_column(name)} FROM {table} WHERE {test} ORDER BY nth, row LIMIT "
            f"{MAX_SHOWN}"
        )
        (total,) = table.query_column(f"SELECT COUNT(*) FROM {table} WHERE {test}")
        return [*values, *range(total - len(values))]

    def value_sql(self, value: object) -> str:
        """A value as SQL."""
        if isinstance(value, str):
            return self.relation.session.literal_sql(value)
        return repr(value) if isinstance(value, int) else f"CAST('{value!r}' AS DOUBLE)"


@dataclass(eq=False)
class ItemTexts:
    """The texts of items, by the `nth` of a row. They are read when one is asked. Many letters are
    put on disk.
    """

    cells: Cells
    known: Relation

    def texts_at(self, nth: pa.Array) -> pa.Array:
        """The texts that stand in these rows. NULL where there is no row."""
        rows, order, texts, data = self._rows_order_texts_and_data
        texts_found = texts.take(
            numbers_as_arrow(
                order[np.searchsorted(rows, as_whole_numbers_or_missing(nth), sorter=order[:-1])]
            )
        )
        if isinstance(data, mmap):
            data.madvise(MADV_DONTNEED)
        return pc.if_else(pc.is_valid(nth), texts_found, None).cast(pa.string())

    @cached_property
    def _rows_order_texts_and_data(self) -> tuple[Codes, Codes, pa.Array, mmap | bytes]:
        cells, text, session = self.cells, self.cells.text_sql("text"), self.cells.relation.session
        length = f"SELECT CAST(LENGTH({text}) AS DOUBLE) AS n FROM {cells.relation}"
        usual_length = f"SELECT SUM(n * n) / NULLIF(SUM(n), 0) FROM ({length}) AS lengths"
        (letters,) = cells.relation.query_column(usual_length)
        batch_rows = PART_BYTES // max(int(letters or 0), PART_BYTES // BATCH_ROWS) or 1
        is_text_row = f"nth IN (SELECT text FROM {self.known})"
        query = f"SELECT nth, {text} AS text FROM {cells.relation} WHERE {is_text_row}"
        rows, lengths = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        with SpooledTemporaryFile(PART_BYTES) as file:
            for batch in session.query_batches(query, batch_rows):
                sizes, data_of_texts = pack_texts(batch["text"])
                rows.append(as_whole_numbers_or_missing(batch["nth"]))
                lengths.append(sizes)
                file.write(data_of_texts)
            is_large = file.tell() > PART_BYTES
            file.seek(0)
            data = mmap(file.fileno(), 0, access=ACCESS_READ) if is_large else file.read()
        nth, offsets = np.concatenate(rows), np.cumsum(np.concatenate([[0], *lengths, [0]]))
        texts = pa.LargeStringArray.from_buffers(
            len(nth) + 1, pa.py_buffer(offsets), pa.py_buffer(data)
        )
        return nth, np.append(np.argsort(nth, kind="stable"), len(nth)), texts, data


def with_cell_types(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch of a stored table, with the types that cells have."""
    columns = []
    for column in batch.columns:
        kind = column.type
        if types.is_list(kind):
            texts = [values and _cell_text(values) for values in column.to_pylist()]
            columns.append(pa.array(texts, pa.string()))
        elif types.is_boolean(kind) or (types.is_timestamp(kind) and kind.tz == ZONE):
            columns.append(column)
        else:
            columns.append(as_plain_array(column))
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def iterate_frame_as_cells(frame: "pd.DataFrame") -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """None, NaN, `pd.NA` and NaT are missing. A vector of numbers becomes text; no digit is lost.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"label": [True, 2, {"b", "a"}, (1, 2.5)]})
    >>> schema, batches = iterate_frame_as_cells(frame)
    >>> next(batches)["label"].to_pylist()
    ['True', '2', 'a|b', '1.0|2.5']
    """
    columns = [
        _series_as_arrow_with_whole_texts(frame.iloc[:, index]) for index in range(frame.shape[1])
    ]
    table = pa.table(columns, names=[str(name) for name in frame.columns])
    schema = pa.schema([field.with_type(plain_type(field.type)) for field in table.schema])
    return schema, (
        pa.RecordBatch.from_arrays([*map(as_plain_array, batch.columns)], schema=schema)
        for batch in table.to_batches(BATCH_ROWS)
    )


def load_frame_as_cells(
    session: Session,
    frame: "pd.DataFrame",
    source: str,
    columns: Mapping[str, str],
    first_row: int,
) -> Cells:
    """A DataFrame as cells in a session."""
    repeated = sorted({str(name) for name in frame.columns[frame.columns.duplicated()]})
    if repeated:
        raise RatingsError(
            f"{source}: found {called('column', [columns.get(name, name) for name in repeated])} "
            "twice; expected each once. Drop or rename the other one."
        )
    refuse_names_differing_by_capitals("column", [str(name) for name in frame.columns], source)
    levels = {
        name: frame.index.get_level_values(name)
        for name in ("row", "column")
        if name in frame.index.names
    }
    times = frame.select_dtypes("datetime64").columns.difference(["timestamp"])
    written_out = {name: frame[name].map(category_text, na_action="ignore") for name in times}
    texts = frame.assign(**written_out).reset_index(drop=True)
    table = session.load_batches(*iterate_frame_as_cells(texts.assign(**levels)))
    if "row" not in levels:
        table = table.create_view(f"SELECT *, nth + {first_row} AS row FROM {table}")
    return Cells(table, source, dict(columns))


def refuse_names_differing_by_capitals(noun: str, names: Sequence[str], source: str) -> None:
    """An engine takes names of columns that differ in capital letters only for one."""
    alike = Counter(name.lower() for name in names)
    repeated = [name for name in names if alike[name.lower()] > 1]
    if repeated:
        raise RatingsError(
            f"{source}: found {called(noun, repeated)}, which differ in capital letters only; "
            "expected one of them to be read. Rename the other."
        )


class NoTextError(RatingsError):
    """A value has no text."""


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type under which an engine holds cells of this type."""
    if types.is_dictionary(kind):
        return plain_type(kind.value_type)
    if types.is_float16(kind):
        return pa.float32()
    is_whole = types.is_integer(kind) and not types.is_uint64(kind)
    return kind if is_whole or types.is_floating(kind) or is_time_type(kind) else pa.large_string()


def is_read_like_arrow(kind: pa.DataType, name: str = "") -> bool:
    """True if an engine reads a column as Arrow does. Times stay times in `timestamp` only."""
    if is_time_type(kind):
        return name == "timestamp"
    return bool(types.is_boolean(kind) or kind == pa.string() or plain_type(kind) == kind)


def is_time_type(kind: pa.DataType) -> bool:
    return bool(types.is_timestamp(kind) and kind.tz is None)


def is_text_type(kind: pa.DataType) -> bool:
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


TEST_BY_KIND: dict[Kind, Callable[[pa.DataType], bool]] = {
    "whole": types.is_integer,
    "float": types.is_floating,
    "flag": types.is_boolean,
    "text": is_text_type,
}


def as_plain_array(cells: pa.Array) -> pa.Array:
    cells = cells.storage if isinstance(cells, pa.ExtensionArray) else cells
    kind = cells.type
    if types.is_dictionary(kind):
        return as_plain_array(cells.dictionary).take(cells.indices)
    to = plain_type(kind)
    if kind == to:
        return cells
    if is_text_type(kind) or types.is_null(kind):
        return cells.cast(to)
    return write_as_texts(cells) if to == pa.large_string() else cells.cast(to)


def as_python_values(cells: Any) -> list[Any]:
    """The cells as Python objects. Times that no calendar writes are refused."""
    try:
        return list(cells.to_pylist())
    except (OverflowError, KeyError) as error:
        raise NoTextError(
            f"found a value that cannot be written ({error}); expected times of the years 1 to "
            "9999, in zones that are known. Correct them, or leave the cells empty."
        ) from None


def write_as_texts(cells: pa.Array) -> pa.Array:
    """Each distinct value is written once."""
    kind = cells.type
    if types.is_decimal32(kind) or types.is_decimal64(kind):
        cells = cells.cast(pa.decimal128(kind.precision, kind.scale))
    coded = cells.dictionary_encode()
    distinct_values = as_python_values(coded.dictionary)
    texts = [None if value is None else category_text(value) for value in distinct_values]
    return pa.array(texts, pa.large_string()).take(coded.indices)


def _series_as_arrow_with_whole_texts(values: "pd.Series") -> Any:
    try:
        return _series_as_arrow(values)
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        row = next(row_number for row_number, value in enumerate(values, 1) if half in str(value))
        raise RatingsError(
            f"DataFrame: row {row}, column {str(values.name)!r}: found half a character "
            f"(\\u{ord(half):04x}); expected whole characters. Correct the text."
        ) from None
    except NoTextError as error:
        raise RatingsError(f"DataFrame: column {str(values.name)!r}: {error}") from None


def _series_as_arrow(values: "pd.Series") -> Any:
    import pandas as pd

    kind = values.dtype
    if isinstance(kind, pd.CategoricalDtype):
        codes = values.cat.codes.to_numpy()
        categories = pa.chunked_array(_series_as_arrow(pd.Series(values.cat.categories)))
        return pa.DictionaryArray.from_arrays(
            pa.array(codes, mask=codes < 0), categories.combine_chunks()
        )
    if kind == np.dtype(object):
        return _objects_as_arrow(values)
    if kind.kind in "mc" or isinstance(kind, pd.PeriodDtype | pd.IntervalDtype | pd.SparseDtype):
        return _texts_as_arrow_column(values.astype(object))
    if kind == np.dtype("longdouble"):
        values = values.astype(float)
    return _plain_chunks(pa.array(values, from_pandas=True))


def _plain_chunks(cells: Any) -> Any:
    chunks = cells.chunks if isinstance(cells, pa.ChunkedArray) else [cells]
    return pa.chunked_array([as_plain_array(chunk) for chunk in chunks], plain_type(cells.type))


def _objects_as_arrow(values: "pd.Series") -> Any:
    """A column of Python objects as Arrow, by what pandas infers of them."""
    import pandas as pd

    inferred = pd.api.types.infer_dtype(values.dropna())
    kinds = {"string": pa.large_string(), "integer": pa.int64(), "datetime": None, "empty": None}
    if inferred == "floating" and set(map(type, values)) <= {float, np.float64, type(None)}:
        kinds["floating"] = pa.float64()
    of_zone = inferred == "datetime" and any(time.tzinfo is not None for time in values.dropna())
    if inferred not in kinds or of_zone:
        return _texts_as_arrow_column(values)
    try:
        return _plain_chunks(pa.array(values, kinds[inferred], from_pandas=True))
    except (pa.ArrowException, OverflowError):
        return _texts_as_arrow_column(values)


def _texts_as_arrow_column(values: "pd.Series") -> pa.Array:
    cells = zip(values, values.isna(), strict=True)
    return pa.array(
        [None if lacks else _cell_text(value) for value, lacks in cells], pa.large_string()
    )


def _cell_text(value: object) -> str:
    if isinstance(value, set | frozenset) and not value:
        return MEMBERS  # the empty text is a missing label
    if not isinstance(value, VECTOR_TYPES):
        return category_text(value)
    try:
        return MEMBERS.join(repr(float(number)) for number in value)
    except (TypeError, ValueError):
        return category_text(value)
