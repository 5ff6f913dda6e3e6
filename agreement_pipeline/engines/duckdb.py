"""DuckDB: files larger than the memory, on one machine."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from os import cpu_count, getpid
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from agreement_pipeline.engines._old_reading import Cells, file_cells, text_batches
from agreement_pipeline.engines.protocol import ENGINES
from agreement_pipeline.engines.queried import Queried
from agreement_pipeline.engines.session import (
    ODD_LIST,
    Files,
    Unreadable,
    is_list_of_labels,
    refuse_numbered_labels,
)
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers import LIMITS, footer_of

ENGINE = "duckdb"
BATCH = 100_000
TABLE = "_read"
"""How the name of a table ends that holds the cells of files of text."""
BOUNDLESS = replace(LIMITS, file_bytes=2**62, rows=2**62, columns=2**31)
"""A file of text goes through in batches, so only the limits of names hold."""
BY_BOUNDS = "filter_pushdown,statistics_propagation"
"""What passes over rows by the bounds that a Parquet file states. The bounds may be false."""
MANY_THREADS = 400_000_000
"""Bytes from which all cores count. On less, they take more time in all than one core."""


def duckdb_session(memory_limit: str | None = None) -> "DuckDB":
    """The session of this process under a memory limit, such as 500MB.

    Raises
    ------
    RatingsError
        The limit is no size.
    """
    return _of_process(getpid(), memory_limit)


@cache
def _of_process(_process: int, memory_limit: str | None) -> "DuckDB":
    """A session of one process: a forked one must not use that of its parent."""
    return DuckDB(memory_limit)


class DuckDB:
    """A connection to a DuckDB of its own, in memory. What exceeds the limit goes to disk."""

    engine = ENGINE

    def __init__(self, memory_limit: str | None) -> None:
        import duckdb

        self.errors = duckdb.Error
        self.connection = duckdb.connect(
            config={
                "preserve_insertion_order": "true",
                "autoload_known_extensions": "false",
                "python_enable_replacements": "false",
                "temp_directory": str(Path(gettempdir(), f"agreement_pipeline_{getpid()}")),
            }
        )
        self.connection.execute(f"SET disabled_optimizers = '{BY_BOUNDS}'")
        self._looked_at: dict[str, Cells] = {}
        self._forgotten: deque[str] = deque()
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
        self._looked_at.clear()
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
        if source.form != "parquet":
            return self._cells(path).header
        if Path(path).is_file():
            footer_of(Path(path))
        return [str(name) for name in self.ask(f"{_parquet([path])} LIMIT 0").column_names]

    def _cells(self, path: str) -> Cells:
        """The cells of a file of text. A file that was looked at is not looked at again."""
        if path not in self._looked_at:
            self._looked_at[path] = file_cells(Path(path), BOUNDLESS)
        return self._looked_at[path]

    def open(self, view: str, source: Files, columns: Mapping[str, str]) -> None:
        """Make a view of some columns of the files, under other names. Text is read into a table.

        Parquet files are read where they lie.
        """
        if source.form == "parquet":
            self.view(view, self._select(source, list(source.paths), columns))
            return
        self._drop_forgotten()
        for at, path in enumerate(source.paths):
            self._load(f"{view}{TABLE}{at}", self._cells(path), columns)
        self._looked_at.clear()
        tables = [f"SELECT * FROM {view}{TABLE}{at}" for at in range(len(source.paths))]
        self.view(view, " UNION ALL ".join(tables))

    def forget(self, view: str, source: Files) -> None:
        """Drop what `open` read of a source, once nothing runs."""
        if source.form != "parquet":
            self._forgotten.extend(f"{view}{TABLE}{at}" for at in range(len(source.paths)))

    def _drop_forgotten(self) -> None:
        while self._forgotten:
            self._run(f"DROP TABLE IF EXISTS {self._forgotten.popleft()}")

    def _load(self, table: str, cells: Cells, columns: Mapping[str, str]) -> None:
        """Read the cells of a file into a table. What is wrong with them leaves no table."""
        import pyarrow as pa

        schema = pa.schema([(name, pa.large_string()) for name in columns])
        refusals: list[RatingsError] = []
        batches = _noting(text_batches(cells, columns), refusals)
        try:
            self.table(table, pa.RecordBatchReader.from_batches(schema, batches))
        except (Unreadable, OSError):
            if refusals:
                raise refusals[0] from None
            raise

    def numbered(
        self, view: str, opened: str, source: Files, columns: Mapping[str, str]
    ) -> Sequence[str]:
        """Make a view for each file of a source that was opened, with its rows numbered."""
        names = [f"{view}_{at}" for at in range(len(source.paths))]
        for at, (name, path) in enumerate(zip(names, source.paths, strict=True)):
            if source.form == "parquet":
                cells = self._select(source, [path], columns)
                self.view(name, f"SELECT *, ROW_NUMBER() OVER () AS row FROM ({cells})")
            else:
                row = f"rowid + {source.first_row} AS row"
                self.view(name, f"SELECT *, {row} FROM {opened}{TABLE}{at}")
        return names

    def _select(self, source: Files, paths: list[str], columns: Mapping[str, str]) -> str:
        self._refuse_numbered_labels(source, paths, columns)
        lists = self._holds_lists(paths, columns.get("label"))
        chosen = ", ".join(
            f"{_joined(_named(column)) if lists and name == 'label' else _named(column)} AS {name}"
            for name, column in columns.items()
        )
        return f"SELECT {chosen} FROM ({_parquet(paths)})"

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
        self._run(f"CREATE OR REPLACE VIEW {name} AS {sql}")

    def table(self, name: str, data: Any) -> None:
        """Keep an Arrow table, or what a reader of batches gives, under a name."""
        cursor = self.connection.cursor()
        cursor.register(f"{name}_arrow", data)
        try:
            cursor.execute(f"CREATE OR REPLACE TABLE {name} AS SELECT * FROM {name}_arrow")
        except self.errors as error:
            raise Unreadable.of(ENGINE, error) from None
        finally:
            cursor.unregister(f"{name}_arrow")

    def ask(self, sql: str) -> Any:
        """The answer to a query as an Arrow table."""
        try:
            return self.connection.cursor().sql(sql).to_arrow_table()
        except self.errors as error:
            raise Unreadable.of(ENGINE, error) from None

    def batches(self, sql: str) -> Iterator[Any]:
        """The answer to a query in Arrow batches."""
        cursor = self.connection.cursor()
        try:
            yield from cursor.sql(sql).to_arrow_reader(BATCH)
        except (self.errors, OSError) as error:
            raise Unreadable.of(ENGINE, error) from None

    def literal(self, text: str) -> str:
        """A text as it stands in a query."""
        return _quoted(text)

    def matches(self, text: str, pattern: str) -> str:
        """A test of a text by a regular expression."""
        return f"regexp_matches({text}, {_quoted(pattern)})"

    def _run(self, sql: str) -> None:
        try:
            self.connection.cursor().execute(sql)
        except self.errors as error:
            raise Unreadable.of(ENGINE, error) from None


def _parquet(paths: list[str]) -> str:
    return f"SELECT * FROM read_parquet({_array(paths)})"


def _joined(labels: str) -> str:
    """A list of labels as one text with `|` between them."""
    texts = f"list_transform({labels}, lambda x: CAST(x AS VARCHAR))"
    odd = f"list_filter({texts}, lambda x: x IS NULL OR x = '' OR contains(x, '|'))"
    whole = f"CASE WHEN len({texts}) = 0 THEN '|' ELSE array_to_string({texts}, '|') END"
    return (
        f"CASE WHEN {labels} IS NULL THEN NULL WHEN len({odd}) > 0 THEN ERROR('{ODD_LIST}') "
        f"ELSE {whole} END"
    )


def _noting(batches: Iterator[Any], refusals: list[RatingsError]) -> Iterator[Any]:
    """Batches. Arrow keeps only the words of an error that stops them, so it is kept here."""
    try:
        yield from batches
    except RatingsError as error:
        refusals.append(error)
        raise


def _array(paths: list[str]) -> str:
    return f"[{', '.join(map(_quoted, paths))}]"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _named(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


ENGINES[ENGINE] = Queried()

__all__ = ["DuckDB", "duckdb_session"]
