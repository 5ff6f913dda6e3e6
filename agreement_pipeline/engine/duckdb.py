"""DuckDB: an engine inside this process. What does not fit in its memory goes to disk."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from functools import cache
from os import cpu_count, getpid
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from typing import TYPE_CHECKING, Any
from weakref import finalize

from agreement_pipeline.engine.session import Relation, Unreadable, new_name, quoted
from agreement_pipeline.errors import RatingsError

if TYPE_CHECKING:
    import pyarrow as pa

ENGINE = "duckdb"
BATCH = 100_000
VIEW = "v"
GROUP = 4_000_000
"""How many bytes of a table are in memory at least before they go to its file."""
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
    """A connection to a DuckDB of its own. Each of its tables is a file without a name.

    What exceeds the limit of memory goes to disk.
    """

    engine = ENGINE

    def __init__(self, memory_limit: str | None) -> None:
        import duckdb

        self.errors = duckdb.Error
        self.connection = duckdb.connect(
            config={
                "preserve_insertion_order": "true",
                "autoload_known_extensions": "false",
                "python_enable_replacements": "false",
                "enable_external_file_cache": "false",
                "temp_directory": str(Path(gettempdir(), f"agreement_pipeline_{getpid()}")),
            }
        )
        self.connection.execute(f"SET disabled_optimizers = '{BY_BOUNDS}'")
        self._forgotten: deque[str] = deque()
        if memory_limit is not None:
            self._limit(memory_limit)
        self._use_threads(1 if memory_limit is None else 2)

    def load(self, schema: "pa.Schema", batches: Iterable["pa.RecordBatch"]) -> Relation:
        """Put Arrow batches into a file, in their order. It is gone with the table."""
        import pyarrow.parquet as pq

        with ExitStack() as opened:
            file = opened.enter_context(TemporaryFile())
            options = {"compression": "zstd", "write_statistics": False}
            with pq.ParquetWriter(file, schema, **options) as writer:
                for group in _groups(batches):
                    writer.write_table(group, row_group_size=len(group))
            file.flush()
            table = self.parquet(f"/dev/fd/{file.fileno()}", {name: name for name in schema.names})
            finalize(table, opened.pop_all().close)
        return table

    def parquet(self, path: str, columns: Mapping[str, str]) -> Relation:
        """See some columns of a Parquet file, under other names, where the file lies."""
        place = Path(path)
        if not place.exists() or place.stat().st_size >= MANY_THREADS:
            self._use_threads(max(2, cpu_count() or 1))
        chosen = [f"{self.column(of)} AS {self.column(name)}" for name, of in columns.items()]
        return self.view(
            f"SELECT {', '.join(chosen)}, file_row_number AS nth "
            f"FROM read_parquet([{self.literal(path)}], file_row_number = true)"
        )

    def schema_of(self, path: str) -> "pa.Schema":
        """The columns of a Parquet file, where the file lies."""
        return self.ask(f"SELECT * FROM read_parquet([{self.literal(path)}]) LIMIT 0").schema

    def view(self, sql: str, *of: Relation) -> Relation:
        """Keep a query that asks some relations."""
        name = new_name(VIEW)
        try:
            self._cursor().execute(f"CREATE VIEW {name} AS {sql}")
        except self.errors as error:
            raise Unreadable.of(ENGINE, error) from None
        return Relation(self, name, of)

    def ask(self, sql: str) -> "pa.Table":
        """The answer to a query."""
        try:
            return self.connection.cursor().sql(sql).to_arrow_table()
        except self.errors as error:
            raise Unreadable.of(ENGINE, error) from None

    def batches(self, sql: str) -> Iterator["pa.RecordBatch"]:
        """The answer to a query in batches."""
        cursor = self.connection.cursor()
        try:
            yield from cursor.sql(sql).to_arrow_reader(BATCH)
        except (self.errors, OSError) as error:
            raise Unreadable.of(ENGINE, error) from None

    def literal(self, text: str) -> str:
        """A text as it stands in a query."""
        return quoted(text, "'")

    def column(self, name: str) -> str:
        """The name of a column as it stands in a query."""
        return quoted(name, '"')

    def hashed(self, *columns: str) -> str:
        """A whole number for some columns, in a query. Equal cells have equal numbers."""
        return f"hash({', '.join(columns)})"

    def matches(self, text: str, pattern: str) -> str:
        """A test of a text by a regular expression."""
        return f"regexp_matches({text}, {self.literal(pattern)})"

    def forget(self, name: str) -> None:
        """Drop a view before something new is made."""
        self._forgotten.append(name)

    def _cursor(self) -> Any:
        """A cursor that makes something. What nobody holds any more is dropped before."""
        cursor = self.connection.cursor()
        while self._forgotten:
            cursor.execute(f"DROP VIEW IF EXISTS {self._forgotten.popleft()}")
        return cursor

    def _limit(self, memory: str) -> None:
        try:
            self.connection.execute(f"SET memory_limit = {self.literal(memory)}")
        except self.errors:
            raise RatingsError(
                f"memory limit: found {memory!r}; expected a size such as 500MB or 4GB. Correct it."
            ) from None

    def _use_threads(self, number: int) -> None:
        """Use so many threads at least. One thread alone would not move groups to disk."""
        self.threads = max(number, getattr(self, "threads", 0))
        self.connection.execute(f"SET threads = {self.threads}")


def _groups(batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.Table"]:
    """Batches together, so many that a table has few groups of rows, and none is large."""
    import pyarrow as pa

    new: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        new.append(batch)
        size += batch.nbytes
        if size >= GROUP:
            yield pa.Table.from_batches(new)
            new.clear()
            size = 0
    if new:
        yield pa.Table.from_batches(new)


__all__ = ["DuckDB", "duckdb_session"]
