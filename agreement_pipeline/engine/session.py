"""What the queries ask of an SQL engine, and what they ask about: a table or a view of it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol
from weakref import finalize

from agreement_pipeline.errors import RatingsError

if TYPE_CHECKING:
    import pyarrow as pa

BATCH = 100_000
"""How many rows of an answer come at once."""
ZONE = "UTC"
"""The zone of times that have one. That of the machine must not be in a digest."""
_numbers = count()


class Unreadable(RatingsError):  # noqa: N818
    """An SQL engine cannot answer."""

    code = "engine_cannot_read"

    @classmethod
    def of(cls, engine: str, error: Exception) -> "Unreadable":
        """Make the error for what the library of an engine says."""
        said = str(error).strip().splitlines()[0]
        return cls(
            f"{engine}: found a source that the engine cannot read ({said}); expected a plain "
            "table. Correct it, or save it in another format."
        )


class Session(Protocol):
    """A connection to an SQL engine."""

    @property
    def engine(self) -> str:
        """The name of the engine."""

    @property
    def numbers_rows(self) -> bool:
        """True if `nth` tells the rows of a source apart."""

    def load(self, schema: "pa.Schema", batches: Iterable["pa.RecordBatch"]) -> "Relation":
        """Put Arrow batches into a table. A column `nth` counts its rows from 0.

        What is raised while the batches are made is raised here, and leaves no table.
        """

    def parquet(self, path: str, columns: Mapping[str, str]) -> "Relation":
        """See some columns of a Parquet file, under other names, and `nth`, where the file lies."""

    def schema_of(self, path: str) -> "pa.Schema":
        """The columns of a Parquet file, where the file lies."""

    def view(self, sql: str, *of: "Relation") -> "Relation":
        """Keep a query that asks some relations."""

    def keep(self, sql: str) -> "Relation":
        """Keep the answer to a query."""

    def ordered(self, table: "Relation", columns: Sequence[str], order: str) -> "Relation":
        """Keep some columns of a table. A query of all rows gives them in an order."""

    def ask(self, sql: str) -> "pa.Table":
        """The answer to a query."""

    def batches(self, sql: str, rows: int = BATCH) -> Iterator["pa.RecordBatch"]:
        """The answer to a query in batches of some rows. It is never held whole."""

    def literal(self, text: str) -> str:
        """A text as it stands in a query."""

    def column(self, name: str) -> str:
        """The name of a column as it stands in a query."""

    def hashed(self, *columns: str) -> str:
        """A whole number for some columns, in a query. Equal cells have equal numbers."""

    def shifted(self, number: str, bits: str) -> str:
        """A whole number, shifted to the left by some bits."""

    def matches(self, text: str, pattern: str) -> str:
        """A test of a text by a regular expression."""

    def forget(self, name: str) -> None:
        """Drop a table or a view, once nothing runs."""


class Relation:
    """A table or a view of a session, by its name. It is dropped when nobody holds it any more.

    What it asks (`of`) stays as long as it does.
    """

    def __init__(self, session: Session, name: str, of: Sequence["Relation"] = ()) -> None:
        self.session, self.name, self.of = session, name, tuple(of)
        finalize(self, session.forget, name).atexit = False

    def __str__(self) -> str:
        return self.name

    def view(self, sql: str, *others: "Relation") -> "Relation":
        """Keep a query that asks it, and perhaps others."""
        return self.session.view(sql, self, *others)

    def ask(self, sql: str) -> "pa.Table":
        """The answer to a query that asks it."""
        return self.session.ask(sql)

    def values(self, sql: str) -> list[Any]:
        """The only column of the answer to a query that asks it."""
        (column,) = self.ask(sql).columns
        return list(column.to_pylist())

    @cached_property
    def schema(self) -> "pa.Schema":
        """Its columns."""
        return self.session.ask(f"SELECT * FROM {self} LIMIT 0").schema


def new_name(kind: str) -> str:
    """A name that no other table or view of this process has."""
    return f"{kind}_{next(_numbers)}"


def quoted(text: str, mark: str) -> str:
    """A text between two marks. The mark within it is doubled."""
    return mark + text.replace(mark, mark * 2) + mark


__all__ = ["BATCH", "ZONE", "Relation", "Session", "Unreadable", "new_name", "quoted"]
