"""What queries ask about: a table or a view of a session."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol
from weakref import finalize

from agreement_pipeline.errors import RatingsError

if TYPE_CHECKING:
    import pyarrow as pa


BATCH_ROWS = 100_000
PATTERN_MARKS = "*?[{"
"""Marks in a path that engines take for those of a pattern."""
ROW_NUMBER = "file_row_number"
"""An engine adds this column to those of a Parquet file."""
ZONE = "UTC"
"""The zone of the machine must not be in a digest."""
_numbers = count()


class Unreadable(RatingsError):  # noqa: N818
    """An SQL engine cannot answer."""

    code = "engine_cannot_read"

    @classmethod
    def from_error(cls, engine: str, error: Exception) -> "Unreadable":
        first_line = str(error).strip().splitlines()[0]
        return cls(
            f"{engine}: found a source that the engine cannot read ({first_line}); expected a "
            "plain table. Correct it, or save it in another format."
        )


@contextmanager
def translating_errors(engine: str, *errors: type[Exception]) -> Iterator[None]:
    """What is raised while an engine answers is told in the words of this package."""
    try:
        yield
    except errors as error:
        raise Unreadable.from_error(engine, error) from None


class Session(Protocol):
    """What an SQL engine offers, in its own dialect.

    `numbers_rows` is true if rows have an order. Else `nth` is 0 in each.
    """

    engine: str
    numbers_rows: bool

    def load_batches(
        self, schema: "pa.Schema", batches: Iterable["pa.RecordBatch"]
    ) -> "Relation": ...

    def scan_parquet(self, path: str, columns: Mapping[str, str]) -> "Relation": ...

    def create_view(self, sql: str, *dependencies: "Relation") -> "Relation": ...

    def materialize(self, sql: str) -> "Relation": ...

    def sort_table(
        self, table: "Relation", rows: int, columns: Sequence[str], order: str
    ) -> "Relation":
        """Some columns of a table in an order. It is known how many rows it has."""
        ...

    def query(self, sql: str) -> "pa.Table": ...

    def query_batches(self, sql: str, rows: int = BATCH_ROWS) -> Iterator["pa.RecordBatch"]: ...

    def literal_sql(self, text: str) -> str: ...

    def column_sql(self, name: str) -> str: ...

    def hash_sql(self, *columns: str) -> str: ...

    def shift_left_sql(self, number: str, bits: str) -> str: ...

    def matches_sql(self, text: str, pattern: str) -> str: ...

    def captured_groups_sql(
        self, text: str, pattern: str, n_groups: int, separator: str
    ) -> str: ...

    def drop_later(self, name: str) -> None: ...


class Relation:
    """A table or a view of a session. It is dropped when nobody holds it any more.

    What it asks (`dependencies`) stays as long as it does.
    """

    def __init__(self, session: "Session", name: str, dependencies: Sequence[object] = ()) -> None:
        self.session, self.name, self.dependencies = session, name, tuple(dependencies)
        finalize(self, session.drop_later, name).atexit = False

    def __str__(self) -> str:
        return self.name

    def create_view(self, sql: str, *relations: "Relation") -> "Relation":
        """A view that asks this relation and perhaps others."""
        return self.session.create_view(sql, self, *relations)

    def query(self, sql: str) -> "pa.Table":
        return self.session.query(sql)

    def query_column(self, sql: str) -> list[Any]:
        """The values of the only column of a query."""
        (column,) = self.query(sql).columns
        return list(column.to_pylist())

    def read_through(self) -> None:
        """Read all cells once, so that a broken source is told now."""
        counts = ", ".join(f"COUNT({self.session.column_sql(name)})" for name in self.schema.names)
        self.query(f"SELECT {counts} FROM {self}")

    @cached_property
    def schema(self) -> "pa.Schema":
        return self.session.query(f"SELECT * FROM {self} WHERE FALSE").schema


def new_relation_name(kind: str) -> str:
    """A name that no table or view of the process has yet."""
    return f"{kind}_{next(_numbers)}"


def quote(text: str, mark: str) -> str:
    """A text in quotes, in which such marks are doubled."""
    return mark + text.replace(mark, mark * 2) + mark
