"""A delivered Parquet file: read where it lies, or decoded, and looked at before that."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from agreement_pipeline.engine import Relation, Session, Unreadable
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import (
    Footer,
    FooterError,
    Limits,
    expanded_bytes,
    is_time,
    plain_type,
)
from agreement_pipeline.readers.class_labels import Named, named_in_schema
from agreement_pipeline.readers.columns import refuse_twice
from agreement_pipeline.readers.files import WAIT, Steady, no_row

BATCH = 65_536
PATTERN = "*?[{"
"""Marks in a path that engines take for those of a pattern."""


def footer_of(path: Path) -> Footer:
    """What a Parquet file says of itself.

    Raises
    ------
    RatingsError
        It contradicts itself. Arrow could end the process on it.
    """
    try:
        return Footer.of(path)
    except FooterError as error:
        raise RatingsError(
            f"{path.name}: found no whole Parquet file ({error}); expected a finished one whose "
            f"footer and pages agree. {WAIT}"
        ) from None


class ParquetTable:
    """A Parquet file of ratings.

    Attributes
    ----------
    schema
        Its columns.
    named
        Of each column of numbered labels, what names a number.

    Raises
    ------
    RatingsError
        The file is broken or too large.
    """

    def __init__(self, path: Path, limits: Limits) -> None:
        import pyarrow.parquet as pq

        self._path, self._limits, self._delivered = path, limits, Steady.at(path)
        with _as_refusal(path.name):
            self._footer = footer_of(path)
            _refuse_large(self._footer, path.name, limits)
            self._file = pq.ParquetFile(path)
            self.schema: pa.Schema = self._file.schema_arrow
        self.named: dict[str, Named] = named_in_schema(self.schema.metadata, path.name)
        self._delivered.refuse_change()
        refuse_twice(self.schema.names, path.name)
        if not self._footer.rows:
            raise no_row(path.name)

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Some columns, decoded and checked."""
        self._refuse_expanded(names)
        with _as_refusal(self._path.name):
            for batch in self._file.iter_batches(BATCH, columns=list(names)):
                batch.validate(full=True)
                yield batch
        self._delivered.refuse_change()

    def seen(self, session: Session, columns: Mapping[str, str]) -> Relation | None:
        """Some columns where they lie, under other names. None if they must be decoded."""
        names = list(columns.values())
        is_odd = any(mark in str(self._path) for mark in PATTERN) or {*names} & {*self.named}
        if is_odd or not all(self._is_plain(each, name) for name, each in columns.items()):
            return None
        self._refuse_expanded(names)
        cells = session.parquet(str(self._path), columns)
        self._refuse_broken(cells, columns)
        self._delivered.refuse_change()
        return cells

    def _kind(self, name: str) -> pa.DataType:
        return self.schema.field(name).type

    def _is_plain(self, column: str, name: str) -> bool:
        """True if an engine reads a column as Arrow does, and its cells become no other ones."""
        kind = self._kind(column)
        if is_time(kind):
            return name == "timestamp"
        return bool(pa.types.is_boolean(kind) or plain_type(kind) == kind or kind == pa.string())

    def _refuse_expanded(self, names: Sequence[str]) -> None:
        most = self._limits.file_bytes
        for name in names:
            with _as_refusal(self._path.name):
                expanded = expanded_bytes(self._path, self._footer, name, most)
            where = f"{self._path.name}: column {name!r}"
            self._limits.refuse_beyond("file_bytes", expanded, where, "bytes once expanded")

    def _refuse_broken(self, cells: Relation, columns: Mapping[str, str]) -> None:
        """Refuse what the engine cannot decode, with the name of the file."""
        counted = ", ".join(f"COUNT({cells.session.column(name)})" for name in columns)
        try:
            cells.ask(f"SELECT {counted} FROM {cells}")
        except Unreadable as error:
            raise _broken(self._path.name, error.__context__ or error) from None


@contextmanager
def _as_refusal(source: str) -> Iterator[None]:
    """Whatever Arrow says of a broken file, as one refusal."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise _broken(source, error) from None


def _broken(source: str, error: BaseException) -> RatingsError:
    return RatingsError(
        f"{source}: found no whole Parquet file ({str(error).splitlines()[0]}); expected a "
        f"finished one. {WAIT}"
    )


def _refuse_large(footer: Footer, source: str, limits: Limits) -> None:
    """Refuse by what the file says of itself: a small Parquet file can hold a large table."""
    limits.refuse_beyond("columns", len(footer.leaves), source, "columns")
    limits.refuse_beyond("rows", footer.rows, source, "rows")
    limits.refuse_beyond("file_bytes", footer.size, source, "bytes once expanded")
