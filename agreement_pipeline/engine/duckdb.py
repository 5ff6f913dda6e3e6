"""DuckDB: an engine inside this process. What does not fit in its memory goes to disk."""

from atexit import register
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from os import cpu_count, getpid
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any
from weakref import finalize

from agreement_pipeline.engine.session import (
    BATCH_ROWS,
    ROW_NUMBER,
    ZONE,
    Relation,
    Unreadable,
    new_relation_name,
    quote,
    translating_errors,
)
from agreement_pipeline.errors import RatingsError

if TYPE_CHECKING:
    import pyarrow as pa

ENGINE = "duckdb"
TABLE, VIEW = "table", "view"
LARGE_TABLE_BYTES, DEFAULT_MEMORY_LIMIT = 300_000_000, "300MB"
"""A larger table that is put in goes to disk in part, and this memory then holds."""
SORT_BYTES_PER_CELL = 24
"""Of a cell while rows are put in order, about."""
BOUNDS_OPTIMIZERS = "filter_pushdown,statistics_propagation"
"""What passes over rows by the bounds that a Parquet file states. The bounds may be false."""
NO_FOLDER_COLUMNS = "hive_partitioning = false"
"""A folder called `label=yes` says nothing of the labels in its files."""
MANY_THREADS_BYTES = 400_000_000
"""Bytes from which all cores count. On less, they take more time in all than one core."""


def duckdb_session(memory_limit: str | None = None) -> "DuckDB":
    """The session of this process with this memory limit."""
    return _session_of_process(getpid(), memory_limit)


@cache
def _session_of_process(_process: int, memory_limit: str | None) -> "DuckDB":
    """A forked process must not use the session of its parent."""
    session = DuckDB(memory_limit)
    register(session.connection.close)
    return session


class DuckDB:
    """A DuckDB of its own, in memory. What exceeds the limit goes to disk."""

    engine = ENGINE
    numbers_rows = True

    def __init__(self, memory_limit: str | None) -> None:
        import duckdb

        self.errors = duckdb.Error
        self.threads = 1 if memory_limit is None else 2
        # Nobody else can read this folder.
        temporary_folder = mkdtemp(prefix="agreement_pipeline_")
        finalize(self, rmtree, temporary_folder, ignore_errors=True)
        self.connection = duckdb.connect(
            config={
                "preserve_insertion_order": "true",
                "autoload_known_extensions": "false",
                "python_enable_replacements": "false",
                "temp_directory": temporary_folder,
                "disabled_optimizers": BOUNDS_OPTIMIZERS,
                "threads": self.threads,
            }
        )
        self.connection.execute(f"SET GLOBAL TimeZone = '{ZONE}'")
        # A filter would gather 2,048 rows before it passes them on, however long their texts are.
        self.connection.execute("SET GLOBAL enable_caching_operators = false")
        self._forgotten: deque[str] = deque()
        self.limited = memory_limit is not None
        if memory_limit is not None:
            self._set_memory_limit(memory_limit)

    def load_batches(self, schema: "pa.Schema", batches: Iterable["pa.RecordBatch"]) -> Relation:
        """What is raised while the batches are made is raised here, and leaves no table."""
        import pyarrow as pa

        refusals: list[Exception] = []
        reader = pa.RecordBatchReader.from_batches(
            schema, self._limit_memory_while_reading(batches, refusals)
        )
        name, cursor = new_relation_name(TABLE), self._cursor()
        cursor.register(f"{name}_arrow", reader)
        try:
            cursor.execute(f"CREATE TABLE {name} AS SELECT * FROM {name}_arrow")
        except (self.errors, OSError) as error:
            raise refusals[0] if refusals else Unreadable.from_error(ENGINE, error) from None
        finally:
            cursor.unregister(f"{name}_arrow")
        table = Relation(self, name)
        return table.create_view(f"SELECT *, rowid AS nth FROM {table}")

    def scan_parquet(
        self, path: str, columns: Mapping[str, str], *dependencies: object
    ) -> Relation:
        """What the file belongs to stays as long as the rows do."""
        place = Path(path)
        if not place.exists() or place.stat().st_size >= MANY_THREADS_BYTES:
            self._use_threads(max(2, cpu_count() or 1))
        selected = [
            f"{self.column_sql(column)} AS {self.column_sql(name)}"
            for name, column in columns.items()
        ]
        return self.create_view(
            f"SELECT {', '.join(selected)}, {ROW_NUMBER} AS nth "
            f"FROM read_parquet([{self.literal_sql(path)}], {ROW_NUMBER} = true, "
            f"{NO_FOLDER_COLUMNS})",
            *dependencies,
        )

    def create_view(self, sql: str, *dependencies: object) -> Relation:
        """A view, which is asked anew each time."""
        return self._create_relation(VIEW, sql, dependencies)

    def materialize(self, sql: str) -> Relation:
        """A table with the answer to a query."""
        return self._create_relation(TABLE, sql)

    def sort_table(
        self, table: Relation, rows: int, columns: Sequence[str], order: str
    ) -> Relation:
        """A table with some columns in an order."""
        self._limit_if_large(rows * len(columns) * SORT_BYTES_PER_CELL)
        selected = ", ".join(map(self.column_sql, columns))
        return self.materialize(f"SELECT {selected} FROM {table} ORDER BY {order}")

    def query(self, sql: str) -> "pa.Table":
        """The answer to a query, as a table of Arrow."""
        with translating_errors(ENGINE, self.errors):
            return self.connection.cursor().sql(sql).to_arrow_table()

    def query_batches(self, sql: str, rows: int = BATCH_ROWS) -> Iterator["pa.RecordBatch"]:
        cursor = self.connection.cursor()
        with translating_errors(ENGINE, self.errors, OSError):
            yield from cursor.sql(sql).to_arrow_reader(rows)

    def literal_sql(self, text: str) -> str:
        """A text as SQL."""
        return quote(text, "'")

    def column_sql(self, name: str) -> str:
        """The name of a column as SQL."""
        return quote(name, '"')

    def hash_sql(self, *columns: str) -> str:
        """A number for the values of some columns, as SQL. Equal values have equal numbers."""
        return f"hash({', '.join(columns)})"

    def shift_left_sql(self, number: str, bits: str) -> str:
        """A number shifted to the left by some bits, as SQL."""
        return f"(CAST({number} AS BIGINT) << {bits})"

    def matches_sql(self, text: str, pattern: str) -> str:
        """The test of SQL whether a pattern occurs in a text."""
        return f"regexp_matches({text}, {self.literal_sql(pattern)})"

    def captured_groups_sql(self, text: str, pattern: str, n_groups: int, separator: str) -> str:
        """The groups that a pattern captures, with a separator between them, as SQL."""
        groups = separator.join(f"\\{number}" for number in range(1, n_groups + 1))
        return f"regexp_replace({text}, {self.literal_sql(pattern)}, {self.literal_sql(groups)})"

    def drop_later(self, name: str) -> None:
        """Drop a table or view with the next query. Nobody holds it any more."""
        self._forgotten.append(name)

    def _limit_memory_while_reading(
        self, batches: Iterable["pa.RecordBatch"], refusals: list[Exception]
    ) -> Iterator["pa.RecordBatch"]:
        """What is large goes to disk in part, if no limit was given.

        Arrow keeps only the words of an error that stops batches, so it is kept here.
        """
        size = 0
        try:
            for batch in batches:
                size += batch.nbytes
                self._limit_if_large(size)
                yield batch
        except Exception as error:
            refusals.append(error)
            raise

    def _limit_if_large(self, size: int) -> None:
        """Limit the memory once a table is large, unless a limit was given."""
        if size >= LARGE_TABLE_BYTES and not self.limited:
            self.limited = True
            self._set_memory_limit(DEFAULT_MEMORY_LIMIT)
            self._use_threads(2)

    def _create_relation(
        self, kind: str, sql: str, dependencies: Sequence[object] = ()
    ) -> Relation:
        name = new_relation_name(kind)
        with translating_errors(ENGINE, self.errors):
            self._cursor().execute(f"CREATE {kind} {name} AS {sql}")
        return Relation(self, name, dependencies)

    def _cursor(self) -> Any:
        cursor = self.connection.cursor()
        while self._forgotten:
            name = self._forgotten.popleft()
            cursor.execute(f"DROP {name.partition('_')[0]} IF EXISTS {name}")
        return cursor

    def _set_memory_limit(self, memory: str) -> None:
        try:
            self.connection.execute(f"SET memory_limit = {self.literal_sql(memory)}")
        except self.errors:
            raise RatingsError(
                f"memory limit: found {memory!r}; expected a size such as 500MB or 4GB. Correct it."
            ) from None

    def _use_threads(self, number: int) -> None:
        """One thread alone would not move groups to disk."""
        if number > self.threads:
            self.threads = number
            self.connection.execute(f"SET threads = {number}")
