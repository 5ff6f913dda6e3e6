"""Rounds that a query gives, through ADBC: batches of Arrow, and rounds bound as parameters."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote, unquote, urlsplit

import pyarrow as pa

from agreement_pipeline.errors import MissingExtraError, ProjectError, RatingsError
from agreement_pipeline.sources.tables import write_batches
from agreement_pipeline.text import listed

T = TypeVar("T")
ROUND = "round"
DRIVERS = {
    "sqlite": "adbc_driver_sqlite",
    "postgresql": "adbc_driver_postgresql",
    "postgres": "adbc_driver_postgresql",
    "snowflake": "adbc_driver_snowflake",
}
MARKS = {"sqlite": "?1", "postgresql": "$1", "postgres": "$1"}
"""How a driver writes its first parameter. Others have one question mark for each place."""
PLACES = re.compile(
    r"""
    '(?:[^']|'')*' | "(?:[^"]|"")*"             # texts and quoted names
    | \$(?P<tag>\w*)\$.*?\$(?P=tag)\$           # texts of PostgreSQL
    | --[^\n]* | /\*.*?\*/                      # comments
    | ::                                        # a cast
    | (?P<round>(?<![\w:]):round\b)
    """,
    re.VERBOSE | re.DOTALL,
)


class ListedRound(NamedTuple):
    """A round as the database names it, with the version of its rows if the query gives one."""

    value: pa.Array
    version: str


@dataclass(frozen=True)
class QuerySource:
    """`query` gives the rows of the round that `:round` stands for, and `rounds` lists them all.

    `connection_from` is the environment variable with the URL of the database.
    """

    query: str
    rounds: str
    connection_from: str

    ending = ".parquet"
    interval_seconds = 300

    def list_versions(self) -> dict[str, str]:
        with _open_database(self.connection_from) as database:
            return {name: listed.version for name, listed in self._rounds(database).items()}

    def write(self, round_name: str | None, path: Path) -> None:
        with _open_database(self.connection_from) as database:
            rounds = self._rounds(database)
            if round_name not in rounds:
                raise RatingsError(
                    f"rounds_from.rounds: found no round {round_name!r} among "
                    f"{listed(rounds)}; expected it, since it is asked for. Look at the query.",
                    may_pass=True,
                )
            parameter = rounds[round_name].value
            name = "rounds_from.query"
            n_rows = _write_rows(database, self.query, name, path, parameter)
        if not n_rows:
            raise RatingsError(
                f"rounds_from.query, round {round_name}: found no rows; expected a row for each "
                "rating. Look at the query."
            )

    def _rounds(self, database: "Database") -> dict[str, ListedRound]:
        with database.run(self.rounds, "rounds_from.rounds") as (schema, batches):
            names = pa.Table.from_batches(batches, schema)
        rounds: dict[str, ListedRound] = {}
        for row in range(len(names)):
            name, *version = (str(column[row].as_py()) for column in names.columns)
            if not names.column(0)[row].is_valid:
                raise RatingsError(
                    "rounds_from.rounds: found a round without a name (NULL); expected a name in "
                    "every row. Leave such rows out with a condition."
                )
            if name in rounds:
                raise RatingsError(
                    f"rounds_from.rounds: found round {name!r} twice; expected each once. Select "
                    "distinct rounds, or group by the round."
                )
            value = names.column(0).slice(row, 1).combine_chunks()
            rounds[name] = ListedRound(value, " ".join(version))
        return rounds


def write_query(query: str, connection_from: str, path: Path) -> int:
    """Write the rows of a query as Parquet, a batch at a time. How many there are."""
    with _open_database(connection_from) as database:
        return _write_rows(database, query, "query", path)


class Database(NamedTuple):
    connection: Any
    scheme: str
    secrets: tuple[str, ...]

    @contextmanager
    def run(
        self, query: str, name: str, parameter: pa.Array | None = None
    ) -> Iterator[tuple[pa.Schema, Iterator[pa.RecordBatch]]]:
        """Errors call the query by its `name`."""
        text, n_places = _replace_place_marks(query, MARKS.get(self.scheme, "?"))
        if parameter is not None and not n_places:
            raise ProjectError(
                f"{name}: found no :{ROUND}; expected it in a condition, as where week = :{ROUND}. "
                "Else each round would have all rows."
            )
        if parameter is None and n_places:
            raise ProjectError(
                f"{name}: found :{ROUND}; expected no parameter, since no round is asked for. "
                "Leave the condition out."
            )
        n_values = 1 if self.scheme in MARKS else n_places
        values = [] if parameter is None else [parameter] * n_values
        bound = pa.RecordBatch.from_arrays(values, [f"p{n}" for n in range(len(values))])

        cursor = self.connection.cursor()
        try:
            self.call(name, lambda: cursor.execute(text, bound if values else None))
            reader = self.call(name, cursor.fetch_record_batch)
            yield reader.schema, self._batches(reader, name)
        finally:
            cursor.close()

    def _batches(self, reader: pa.RecordBatchReader, name: str) -> Iterator[pa.RecordBatch]:
        rows = iter(reader)
        while (batch := self.call(name, lambda: next(rows, None))) is not None:
            yield batch

    def call(self, name: str, step: Callable[[], T]) -> T:
        """Errors of the database come without its URL and password, and without their cause."""
        try:
            return step()
        except (_database_errors(), pa.ArrowException, OSError) as error:
            message, may_pass = " ".join(str(error).split()), not _is_mistake_in_query(error)
        # Raised outside of the handler, so that nothing shows the first error beside it.
        for secret in self.secrets:
            message = message.replace(secret, "…")
        raise RatingsError(
            f"{name}: found an error of the database ({message}); expected rows. "
            "Correct the query, or look at the database.",
            may_pass=may_pass,
        )


def _write_rows(
    database: Database, query: str, name: str, path: Path, parameter: pa.Array | None = None
) -> int:
    with database.run(query, name, parameter) as (schema, batches):
        return write_batches(schema, batches, path)


def _replace_place_marks(query: str, mark: str) -> tuple[str, int]:
    """The query with the driver's mark in each place of the round, and how many places there are.

    >>> _replace_place_marks("select a::text, ':round' from t where week = :round", "$1")
    ("select a::text, ':round' from t where week = $1", 1)
    """
    n_places = 0

    def mark_place(match: re.Match[str]) -> str:
        nonlocal n_places
        if match["round"] is None:
            return match[0]
        n_places += 1
        return mark

    return PLACES.sub(mark_place, query), n_places


@contextmanager
def _open_database(connection_from: str) -> Iterator[Database]:
    url = os.environ.get(connection_from, "")
    scheme = url.partition("://")[0] if "://" in url else ""
    if scheme not in DRIVERS:
        # The value may be the secret itself, so it is not repeated.
        problem = "another value" if url else "no such environment variable"
        raise ProjectError(
            f"connection_from: {connection_from}: found {problem}; expected a URL that begins with "
            f"one of {listed([f'{name}://' for name in DRIVERS])}. Set the variable."
        )
    try:
        driver = import_module(f"{DRIVERS[scheme]}.dbapi")
    except ImportError:
        raise MissingExtraError.for_feature("a query", DRIVERS[scheme], "sql") from None
    database = Database(None, scheme, _secrets_in(url))
    place = _read_only_sqlite_url(url) if scheme == "sqlite" else url
    connection = database.call(f"connection_from: {connection_from}", lambda: driver.connect(place))
    try:
        yield database._replace(connection=connection)
    finally:
        connection.close()


def _read_only_sqlite_url(url: str) -> str:
    """Opened to read: a file that is missing is an error, not made."""
    path = url.removeprefix("sqlite://").removeprefix("/")
    return f"file:{quote(path)}?mode=ro"


def _secrets_in(url: str) -> tuple[str, ...]:
    """The longest first, so that no part of one is left."""
    try:
        password = urlsplit(url).password or ""
    except ValueError:
        password = ""
    return tuple(filter(None, (url, password, unquote(password))))


def _database_errors() -> type[Exception]:
    errors: type[Exception] = import_module("adbc_driver_manager").Error
    return errors


def _is_mistake_in_query(error: BaseException) -> bool:
    """True if the query is wrong. A database that does not answer may do so later."""
    return type(error).__name__ in ("ProgrammingError", "NotSupportedError", "DataError")
