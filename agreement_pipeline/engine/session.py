"""What queries ask about: a table or a view of a session."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any
from weakref import finalize

from agreement_pipeline.errors import RatingsError

if TYPE_CHECKING:
    import pyarrow as pa

    from agreement_pipeline.engine.duckdb import DuckDB
    from agreement_pipeline.engine.spark import Spark

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
    def of(cls, engine: str, error: Exception) -> "Unreadable":
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
        raise Unreadable.of(engine, error) from None


class Relation:
    """A table or a view of a session. It is dropped when nobody holds it any more.

    What it asks (`dependencies`) stays as long as it does.
    """

    def __init__(
        self, session: "DuckDB | Spark", name: str, dependencies: Sequence[object] = ()
    ) -> None:
        self.session, self.name, self.dependencies = session, name, tuple(dependencies)
        finalize(self, session.forget, name).atexit = False

    def __str__(self) -> str:
        return self.name

    def view(self, sql: str, *relations: "Relation") -> "Relation":
        return self.session.view(sql, self, *relations)

    def ask(self, sql: str) -> "pa.Table":
        return self.session.ask(sql)

    def values(self, sql: str) -> list[Any]:
        (column,) = self.ask(sql).columns
        return list(column.to_pylist())

    def read_through(self) -> None:
        counts = ", ".join(f"COUNT({self.session.column(name)})" for name in self.schema.names)
        self.ask(f"SELECT {counts} FROM {self}")

    @cached_property
    def schema(self) -> "pa.Schema":
        return self.session.ask(f"SELECT * FROM {self} WHERE FALSE").schema


def new_name(kind: str) -> str:
    return f"{kind}_{next(_numbers)}"


def quoted(text: str, mark: str) -> str:
    return mark + text.replace(mark, mark * 2) + mark
