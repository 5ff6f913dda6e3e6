"""The delivered table: one row a rating, as it was written, before any rule of a project.

A data contract is asked of this table. Columns have the names that the delivery gives them. What
raters skipped is there too, if the export has it.
"""

import json
import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from agreement_pipeline.engine import duckdb_session, is_spark_frame
from agreement_pipeline.errors import ContractError
from agreement_pipeline.large_files import Content
from agreement_pipeline.ratings import LIMITS, Limits, ParquetRows, write_parquet_content
from agreement_pipeline.readers.columns import COLUMNS, Columns, Layout
from agreement_pipeline.readers.exports import (
    DeliveredRows,
    ReadRequest,
    Source,
    select_reader,
    source_name_of_column,
)
from agreement_pipeline.readers.files import unpack_for_reading
from agreement_pipeline.readers.periods import FIELD_PREFIX, cut_into_rounds
from agreement_pipeline.readers.rules import RULES, Rules, merge_raters
from agreement_pipeline.readers.table import TABLE, URL_MARK, is_pattern

KEY_PREFIX = "key:"
KEYS = ("row", "item", "rater")
ALWAYS_TEXT = ("item", "rater", "label", "cluster", "round")
HEADER, OWN_NAMES = b"agreement_pipeline.header", b"agreement_pipeline.own_names"
BYTES_PER_CELL, BYTES_AT_LEAST = 45, 350_000_000
"""What a cell and a small table take at the peak of a validation: docs/proofs/suites.md."""
SHARE_OF_MEMORY = 0.8
EXACT_DIGITS = 15
"""Whole numbers of so many digits are exact as floats, which columns with gaps have in pandas."""
CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
UNITS |= {f"{unit}i": 2 ** (10 * power) for power, unit in enumerate("kmgt", 1)}
FLAGS = pa.array(["True", "False", "true", "false", "TRUE", "FALSE"], pa.large_string())
TRUE = pa.array(["True", "true", "TRUE"], pa.large_string())
WHOLE_NUMBER = r"^[+-]?(0|[1-9][0-9]*)$"
NUMBER = r"^[+-]?((0|[1-9][0-9]*)([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?$"
COMMA_NUMBER = NUMBER.replace("[.]", "[,]")
TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?"
TIME_WITHOUT_ZONE = TIME + ")?$"
TIME_WITH_ZONE = TIME + r"(Z|[+-][0-9]{2}:?[0-9]{2}))$"


@dataclass(frozen=True, eq=False)
class DeliveredTable:
    """The columns of a delivery that a contract names, typed as far as whole columns allow.

    Attributes
    ----------
    columns
        A column each under its own name.
    keys
        `row` as errors call it, the `item`, and the `rater` under the name that ratings have, for
        each row.
    header
        All columns of the delivery, also those that were not loaded.
    own_name_by_canonical
        What the delivery calls `item`, `rater` and so on, where it has no column of that name.
    """

    columns: pa.Table
    keys: pa.Table
    header: tuple[str, ...]
    own_name_by_canonical: Mapping[str, str]

    def __len__(self) -> int:
        return int(self.keys.num_rows)

    def source_name(self, name: str) -> str:
        return source_name_of_column(name, self.header, self.own_name_by_canonical)

    def missing_columns(self, names: Collection[str] | None) -> list[str]:
        """Columns that were delivered and are not in this table. None asks for all columns."""
        wanted_names = self.header if names is None else map(self.source_name, names)
        present = {*self.columns.column_names}
        return sorted({name for name in wanted_names if name in self.header} - present)

    def to_parquet(self) -> Content:
        """Equal tables give equal bytes."""
        keys = self.keys.rename_columns([KEY_PREFIX + name for name in self.keys.column_names])
        table = keys
        for name in self.columns.column_names:
            table = table.append_column(name, self.columns[name])
        own_names = dict(sorted(self.own_name_by_canonical.items()))
        return write_parquet_content(
            table, {HEADER: json.dumps(self.header), OWN_NAMES: json.dumps(own_names)}
        )

    @classmethod
    def from_parquet(
        cls, content: Content, *, without_rater: str | None = None
    ) -> "DeliveredTable":
        """It may be without the rows of a rater."""
        rows = ParquetRows(content)
        metadata = rows.schema.metadata
        table = pa.concat_tables([rows.schema.empty_table(), *rows.iterate_row_groups()])
        if without_rater is not None:
            is_other = pc.not_equal(table[f"{KEY_PREFIX}rater"], without_rater)
            table = table.filter(pc.fill_null(is_other, True))
        keys = table.select([KEY_PREFIX + name for name in KEYS]).rename_columns(list(KEYS))
        columns = [
            column for column in table.column_names if column not in map(KEY_PREFIX.__add__, KEYS)
        ]
        header = tuple(json.loads(metadata[HEADER]))
        return cls(table.select(columns), keys, header, json.loads(metadata[OWN_NAMES]))


def read_delivered(
    source: str | Source,
    names: Collection[str] | None,
    columns: Columns = COLUMNS,
    *,
    layout: Layout = "long",
    round_name: str | None = None,
    limits: Limits = LIMITS,
    rules: Rules = RULES,
    memory_limit: str | None = None,
) -> DeliveredTable:
    """The delivered table of a source, with the columns of these names that it has.

    Rules that choose rows or raters are not followed. Without `names` it has all columns.

    Raises
    ------
    RatingsError
        The source cannot be read.
    ContractError
        The table would need more memory than there is.
    """
    if is_spark_frame(source) or (isinstance(source, str) and URL_MARK in source):
        raise ContractError(
            f"{'a Spark DataFrame' if is_spark_frame(source) else source}: found a source outside "
            "this process; expected a file or a table of this machine, since a suite of Great "
            "Expectations is run on one. Leave the suite out of the project."
        )
    request = ReadRequest(columns, layout, limits, rules, duckdb_session(memory_limit))
    is_path = isinstance(source, str | Path)
    if not is_path or is_pattern(Path(source)):
        return _load_delivered(
            TABLE.read_delivered_rows(source, request, names), request, round_name, memory_limit
        )
    path = Path(source)
    path = path if path.name else path.resolve()
    with unpack_for_reading(path, limits) as place:
        reader = select_reader(place, rules.reader, columns)
        rows = reader.read_delivered_rows(place, request, names)
        return _load_delivered(rows, request, round_name, memory_limit)


def _load_delivered(
    delivered: DeliveredRows, request: ReadRequest, round_name: str | None, memory_limit: str | None
) -> DeliveredTable:
    rows = delivered.rows
    if request.rules.rounds is not None:
        rows = cut_into_rounds(rows, request.rules.rounds)
    if request.rules.same_rater:
        rows = merge_raters(rows, request.rules.same_rater)
    where_sql = ""
    if round_name is not None and "round" in rows.names:
        where_sql = f" WHERE {rows.text_sql('round')} = {rows.value_sql(round_name)}"
    (n_rows,) = rows.relation.query_column(f"SELECT COUNT(*) FROM {rows}{where_sql}")
    _require_memory(rows.source, n_rows, len(delivered.columns) + len(KEYS), memory_limit)
    keys = [f"{rows.text_sql(name)} AS {rows.quote_column(KEY_PREFIX + name)}" for name in KEYS]
    selected_columns = [
        f"{rows.quote_column(column)} AS {rows.quote_column(FIELD_PREFIX + name)}"
        for name, column in delivered.columns.items()
    ]
    with rows.reading():
        table = rows.relation.query(
            f"SELECT {', '.join([*keys, *selected_columns])} FROM {rows}{where_sql} ORDER BY nth"
        )
    text_columns = {
        source_name_of_column(name, delivered.header, delivered.canonical) for name in ALWAYS_TEXT
    }
    typed = {
        name: column_as_texts(table[FIELD_PREFIX + name])
        if name in text_columns
        else column_as_typed(table[FIELD_PREFIX + name], request.columns.decimal)
        for name in delivered.columns
    }
    return DeliveredTable(
        pa.table(typed) if typed else pa.table({}),
        pa.table({name: column_as_texts(table[KEY_PREFIX + name]) for name in KEYS}),
        delivered.header,
        delivered.canonical,
    )


def _require_memory(source: str, n_rows: int, n_columns: int, memory_limit: str | None) -> None:
    needed_bytes = BYTES_AT_LEAST + n_rows * n_columns * BYTES_PER_CELL
    available_bytes = memory_limit_bytes(memory_limit)
    if needed_bytes > available_bytes:
        raise ContractError(
            f"{source}: found {n_rows:,} rows of {n_columns} columns, which need about "
            f"{needed_bytes / 1e9:.1f} GB when they are checked; expected at most "
            f"{available_bytes / 1e9:.1f} GB. Name fewer columns in the suite, or write "
            "contract: none into the project, which asks nothing and says so."
        )


def memory_limit_bytes(memory_limit: str | None) -> float:
    """How many bytes a validation may take: a limit such as 4GB, or most of the memory there is."""
    if memory_limit is not None:
        number, unit = re.fullmatch(r"\s*([0-9.]+)\s*([A-Za-z]*)\s*", memory_limit).groups()  # type: ignore[union-attr]  # the project checks its form
        return float(number) * UNITS[unit.lower().removesuffix("b")]
    available_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if CGROUP_LIMIT.exists() and (limit := CGROUP_LIMIT.read_text().strip()).isdecimal():
        available_bytes = min(available_bytes, int(limit))
    return available_bytes * SHARE_OF_MEMORY


def column_as_texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column as Arrow texts."""
    return column.cast(pa.large_string())


def column_as_typed(column: pa.ChunkedArray, decimal: str = ".") -> pa.ChunkedArray:
    """Numbers, times or flags, if all texts of a column are such ones. Else text.

    Each distinct text is read once. A text with a leading zero, such as 007, is no number.

    >>> column_as_typed(pa.chunked_array([["1", None, "0.5"]])).type
    DataType(double)
    >>> column_as_typed(pa.chunked_array([["007", "1"]])).to_pylist()
    ['007', '1']
    """
    kind = column.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return column
    text = column_as_texts(column)
    coded = text.dictionary_encode().combine_chunks()
    coded = coded.chunk(0) if isinstance(coded, pa.ChunkedArray) else coded
    values = _typed_values(coded.dictionary, decimal, has_gaps=coded.null_count > 0)
    if values is None:
        return text
    return pa.chunked_array([values.take(coded.indices)], values.type)


def _typed_values(texts: pa.Array, decimal: str, *, has_gaps: bool) -> pa.Array | None:
    """None if they are none of numbers, times and flags."""
    if not len(texts):
        return None
    if _are_all_true(pc.is_in(texts, FLAGS)):
        return pc.is_in(texts, TRUE)
    numbers = _texts_as_numbers(texts, decimal, has_gaps=has_gaps)
    return _texts_as_times(texts) if numbers is None else numbers


def _texts_as_numbers(texts: pa.Array, decimal: str, *, has_gaps: bool) -> pa.Array | None:
    if _are_all_true(pc.match_substring_regex(texts, WHOLE_NUMBER)):
        digits = pc.utf8_length(pc.replace_substring_regex(texts, "^[+-]", ""))
        is_exact = pc.max(digits).as_py() <= (EXACT_DIGITS if has_gaps else EXACT_DIGITS + 3)
        return _strip_plus_signs(texts).cast(pa.int64()) if is_exact else None
    is_comma = decimal == ","
    if not _are_all_true(pc.match_substring_regex(texts, COMMA_NUMBER if is_comma else NUMBER)):
        return None
    numbers = pc.replace_substring(texts, ",", ".") if is_comma else texts
    return _strip_plus_signs(numbers).cast(pa.float64())


def _texts_as_times(texts: pa.Array) -> pa.Array | None:
    for pattern, type_ in (
        (TIME_WITH_ZONE, pa.timestamp("us", "UTC")),
        (TIME_WITHOUT_ZONE, pa.timestamp("us")),
    ):
        if _are_all_true(pc.match_substring_regex(texts, pattern)):
            try:
                return texts.cast(type_)
            except pa.ArrowInvalid:  # the 31st of February
                return None
    return None


def _are_all_true(flags: pa.Array) -> bool:
    return bool(pc.all(flags).as_py())


def _strip_plus_signs(texts: pa.Array) -> pa.Array:
    return pc.replace_substring_regex(texts, "^[+]", "")
