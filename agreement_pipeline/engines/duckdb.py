"""DuckDB: files larger than the memory, on one machine."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from os import cpu_count
from pathlib import Path
from typing import Any

from agreement_pipeline.engines.protocol import ENGINES
from agreement_pipeline.engines.queried import Queried
from agreement_pipeline.engines.session import (
    ODD_LIST,
    SEPARATORS,
    Files,
    Unreadable,
    is_list_of_labels,
    refuse_numbered_labels,
)
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers import footer_of
from agreement_pipeline.text import listed

ENGINE = "duckdb"
BATCH = 100_000
LINE, BUFFER = 20_000_000, 24_000_000
"""The bytes of the longest line of text, and of the part of a file that is read at once."""
MANY_THREADS = 400_000_000
"""Bytes from which all cores count. On less, they take more time in all than one core."""


@cache
def duckdb_session(memory_limit: str | None = None) -> "DuckDB":
    """The session of this process under a memory limit, such as 500MB.

    Raises
    ------
    RatingsError
        The limit is no size.
    """
    return DuckDB(memory_limit)


class DuckDB:
    """A connection to a DuckDB of its own, in memory. What exceeds the limit goes to disk."""

    engine = ENGINE

    def __init__(self, memory_limit: str | None) -> None:
        import duckdb

        self.errors = duckdb.Error
        self.connection = duckdb.connect(
            config={"preserve_insertion_order": "false", "autoload_known_extensions": "false"}
        )
        if memory_limit is not None:
            self._limit(memory_limit)
        self._use_threads(1 if memory_limit is None else 2)

    def _limit(self, memory: str) -> None:
        try:
            self.connection.execute(f"SET memory_limit = {_quoted(memory)}")
        except self.errors:
            raise RatingsError(
                f"memory limit: found {memory!r}; expected a size such as 500MB or 4GB. Correct it."
            ) from None

    def _use_threads(self, number: int) -> None:
        """Use so many threads at least. One thread alone would not move groups to disk."""
        self.threads = max(number, getattr(self, "threads", 0))
        self.connection.execute(f"SET threads = {self.threads}")

    def header(self, source: Files) -> list[str]:
        """The names of the columns. All files must have the same."""
        if source.size >= MANY_THREADS:
            self._use_threads(max(2, cpu_count() or 1))
        found = [self._header(path, source) for path in source.paths]
        for path, names in zip(source.paths, found, strict=True):
            if names != found[0]:
                raise RatingsError(
                    f"{Path(path).name}: found columns {names}; expected {found[0]}, as in "
                    f"{Path(source.paths[0]).name}. Give all files the same columns."
                )
        return found[0]

    def _header(self, path: str, source: Files) -> list[str]:
        if source.form in SEPARATORS:
            return delimited_header(Path(path), SEPARATORS[source.form])
        if source.form == "json":
            keys = f"SELECT DISTINCT UNNEST(json_keys(json)) AS name FROM ({_lines([path])})"
            return sorted(self.ask(keys)["name"].to_pylist())
        if Path(path).is_file():
            footer_of(Path(path))
        return [str(name) for name in self.ask(f"{_parquet([path])} LIMIT 0").column_names]

    def open(self, view: str, source: Files, columns: Mapping[str, str]) -> None:
        """Make a view of some columns of the files, under other names."""
        self.view(view, self._select(source, list(source.paths), columns))

    def numbered(self, view: str, source: Files, columns: Mapping[str, str]) -> Sequence[str]:
        """Make a view for each file, with its rows numbered."""
        names = [f"{view}_{at}" for at in range(len(source.paths))]
        number = f"ROW_NUMBER() OVER () + {source.first_row - 1} AS row"
        for name, path in zip(names, source.paths, strict=True):
            self.view(name, f"SELECT *, {number} FROM ({self._select(source, [path], columns)})")
        return names

    def _select(self, source: Files, paths: list[str], columns: Mapping[str, str]) -> str:
        if source.form == "json":
            chosen = ", ".join(
                f"{_json(column, lists=name == 'label')} AS {name}"
                for name, column in columns.items()
            )
            return f"SELECT {chosen} FROM ({_lines(paths)})"
        if source.form == "parquet":
            self._refuse_numbered_labels(source, paths, columns)
            lists = self._holds_lists(paths, columns.get("label"))
            chosen = ", ".join(
                f"{_joined(_named(column)) if lists and name == 'label' else _named(column)} "
                f"AS {name}"
                for name, column in columns.items()
            )
            return f"SELECT {chosen} FROM ({_parquet(paths)})"
        separator = SEPARATORS[source.form]
        header = delimited_header(Path(paths[0]), separator)
        chosen = ", ".join(
            f"NULLIF(c{header.index(column)}, '') AS {name}" for name, column in columns.items()
        )
        return f"SELECT {chosen} FROM {_delimited(paths, separator, len(header))}"

    def _refuse_numbered_labels(
        self, source: Files, paths: list[str], columns: Mapping[str, str]
    ) -> None:
        described = self.ask(f"SELECT key, value FROM parquet_kv_metadata({_array(paths)})")
        for each in described.to_pylist():
            refuse_numbered_labels({each["key"]: each["value"]}, columns.values(), source.name)

    def _holds_lists(self, paths: list[str], column: str | None) -> bool:
        """True if a column of Parquet files holds lists of texts or whole numbers."""
        if column is None:
            return False
        schema = self.ask(f"SELECT {_named(column)} FROM ({_parquet(paths)}) LIMIT 0").schema
        return is_list_of_labels(schema.field(0).type)

    def view(self, name: str, sql: str) -> None:
        """Keep a query under a name."""
        self._run(f"CREATE OR REPLACE TEMP VIEW {name} AS {sql}")

    def table(self, name: str, data: Any) -> None:
        """Keep an Arrow table under a name."""
        self.connection.register(f"{name}_arrow", data)
        self._run(f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT * FROM {name}_arrow")
        self.connection.unregister(f"{name}_arrow")

    def ask(self, sql: str) -> Any:
        """The answer to a query as an Arrow table."""
        try:
            return self.connection.sql(sql).to_arrow_table()
        except self.errors as error:
            raise Unreadable.of(ENGINE, error) from None

    def batches(self, sql: str) -> Iterator[Any]:
        """The answer to a query in Arrow batches."""
        yield from self.connection.sql(sql).to_arrow_reader(BATCH)

    def literal(self, text: str) -> str:
        """A text as it stands in a query."""
        return _quoted(text)

    def matches(self, text: str, pattern: str) -> str:
        """A test of a text by a regular expression."""
        return f"regexp_matches({text}, {_quoted(pattern)})"

    def _run(self, sql: str) -> Any:
        try:
            return self.connection.execute(sql)
        except self.errors as error:
            raise Unreadable.of(ENGINE, error) from None


def _parquet(paths: list[str]) -> str:
    return f"SELECT * FROM read_parquet({_array(paths)})"


def _lines(paths: list[str]) -> str:
    """The objects of JSON Lines. Anything else in a line stops the query."""
    keys = "json_keys(json)"
    right = f"json_type(json) = 'OBJECT' AND LEN({keys}) = LIST_UNIQUE({keys})"
    wrong = "ERROR('found a line that is no object, or has a name twice')"
    read = f"read_ndjson_objects({_array(paths)})"
    return f"SELECT CASE WHEN {right} THEN json ELSE {wrong} END AS json FROM {read}"


def _json(column: str, *, lists: bool) -> str:
    """A cell of JSON as the text that the reader in memory makes of it."""
    path = _quoted('$."' + column.replace('"', '\\"') + '"')
    kind, text = f"json_type(json, {path})", f"json_extract_string(json, {path})"
    number = f"CAST({text} AS DOUBLE)"
    size = f"ABS({number})"
    array = f"WHEN 'ARRAY' THEN {_json_list(path)} " if lists else ""
    return (
        f"CASE {kind} WHEN 'VARCHAR' THEN NULLIF({text}, '') {array}"
        f"WHEN 'UBIGINT' THEN {text} WHEN 'BIGINT' THEN {text} WHEN 'NULL' THEN NULL "
        f"WHEN 'BOOLEAN' THEN CASE {text} WHEN 'true' THEN 'True' ELSE 'False' END "
        f"WHEN 'DOUBLE' THEN CASE WHEN regexp_matches({text}, '^-?[0-9]+$') THEN {text} "
        f"WHEN {size} < 1e15 AND {number} = FLOOR({number}) "
        f"THEN CAST(CAST({number} AS BIGINT) AS VARCHAR) "
        f"WHEN {size} BETWEEN 1e-4 AND 1e15 THEN {text} "
        "ELSE ERROR('found a number that is spelt with an exponent') END "
        f"ELSE CASE WHEN {kind} IS NULL THEN NULL "
        "ELSE ERROR('found a list or an object as a cell') END END"
    )


def _json_list(path: str) -> str:
    """A list of texts and whole numbers in JSON as one text."""
    array = f"json_extract(json, {path})"
    kinds = f"list_distinct(json_type({array}, '$[*]'))"
    plain = f"len(list_filter({kinds}, lambda x: x NOT IN ('VARCHAR', 'UBIGINT', 'BIGINT'))) = 0"
    joined = _joined(f"json_extract_string({array}, '$[*]')")
    return f"CASE WHEN {plain} THEN {joined} ELSE ERROR('{ODD_LIST}') END"


def _joined(labels: str) -> str:
    """A list of labels as one text with `|` between them."""
    texts = f"list_transform({labels}, lambda x: CAST(x AS VARCHAR))"
    odd = f"list_filter({texts}, lambda x: x IS NULL OR x = '' OR contains(x, '|'))"
    whole = f"CASE WHEN len({texts}) = 0 THEN '|' ELSE array_to_string({texts}, '|') END"
    return (
        f"CASE WHEN {labels} IS NULL THEN NULL WHEN len({odd}) > 0 THEN ERROR('{ODD_LIST}') "
        f"ELSE {whole} END"
    )


def _delimited(paths: list[str], separator: str, width: int) -> str:
    names = ", ".join(f"'c{at}': 'VARCHAR'" for at in range(width))
    return (
        f"read_csv({_array(paths)}, auto_detect = false, header = true, delim = "
        f"{_quoted(separator)}, quote = '\"', escape = '\"', nullstr = '', strict_mode = true, "
        f"max_line_size = {LINE}, buffer_size = {BUFFER}, columns = {{{names}}})"
    )


def delimited_header(path: Path, separator: str) -> list[str]:
    """The first row of delimited text."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            header = next(csv.reader(file, delimiter=separator, strict=True), [])
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise Unreadable(
            f"{path.name}: row 1: found a header that cannot be read ({error}); expected delimited "
            "text in UTF-8. Save the table again."
        ) from None
    if len(set(header)) < max(len(header), 1) or header == [""]:
        raise Unreadable(
            f"{path.name}: row 1: found {listed(header, 12)}; expected a name for each column, and "
            "no name twice. Rename the columns."
        )
    return header


def _array(paths: list[str]) -> str:
    return f"[{', '.join(map(_quoted, paths))}]"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _named(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


ENGINES[ENGINE] = Queried()

__all__ = ["DuckDB", "duckdb_session"]
