"""Exports, and the registered readers of their formats."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from agreement_pipeline.engine import Session, duckdb_session
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import CAPABILITIES, LIMITS, Limits
from agreement_pipeline.readers.columns import COLUMNS, Columns, Layout
from agreement_pipeline.readers.delimited import read_delimited_rows
from agreement_pipeline.readers.files import (
    DATA_SET_FILES,
    CutOffError,
    FileKind,
    detect_kind,
    read_first_bytes,
    refuse_unfinished,
)
from agreement_pipeline.readers.rows import Rows, Submission
from agreement_pipeline.readers.rules import RULES, Rules
from agreement_pipeline.text import listed

Record = tuple[str, Mapping[str, Any]]
"""The place and the fields of what was written."""


@dataclass(eq=False)
class Export:
    """A file or a folder. It remembers the place of the record that was read last, for errors."""

    path: Path
    last_place: str = ""

    @cached_property
    def files(self) -> tuple[Path, ...]:
        """The data files of a folder in order, or the file itself."""
        if not self.path.is_dir():
            return (self.path,)
        paths = tuple(
            path
            for path in sorted(self.path.rglob("*"))
            if (path.is_symlink() or not path.is_dir())
            and not any(part.startswith(".") for part in path.relative_to(self.path).parts)
            and not (path.name in DATA_SET_FILES and path.parent in self.data_sets)
        )
        for path in paths:
            if path.is_dir():
                raise RatingsError(
                    f"{path}: found a link to a folder; expected the folder itself, since what a "
                    "link leads to would be left out. Copy the folder, or remove the link."
                )
            refuse_unfinished(path)
        return paths

    @cached_property
    def data_sets(self) -> frozenset[Path]:
        described, stated = (
            {path.parent for path in self.path.rglob(name)} for name in DATA_SET_FILES
        )
        return frozenset(described & stated)

    @cached_property
    def kind(self) -> FileKind:
        return detect_kind(self.files[0]) if self.files else "text"

    @cached_property
    def first_record(self) -> Mapping[str, Any]:
        """The first record, or nothing if there is none or it cannot be read."""
        if not self.files:
            return {}
        try:
            return next(read_records(self.files[0], self.files[0].name, "replace"))[1]
        except CutOffError:
            raise
        except (RatingsError, StopIteration):
            return {}

    def records(self, *files: Path) -> Iterator[Record]:
        """All records. The place of the last one is kept for errors."""
        for path in files or self.files:
            for record in read_records(path, self.file_name_in_export(path)):
                self.last_place = record[0]
                yield record

    def file_name_in_export(self, path: Path) -> str:
        """A file's name in the export."""
        return str(path.relative_to(self.path)) if self.path.is_dir() else path.name

    def folder_names_of(self, path: Path) -> tuple[str, ...]:
        return path.relative_to(self.path).parts[:-1]


def read_records(path: Path, source_name: str, errors: str = "strict") -> Iterator[Record]:
    """The records of a file of any kind, each with its place."""
    kind, row_word = detect_kind(path), "record"
    rows: Iterable[tuple[int, Mapping[str, Any]]] = ()
    if kind == "text":
        rows, row_word = read_delimited_rows(path, source_name, errors), "row"
    elif kind == "json":
        from agreement_pipeline.readers.json_files import read_json_objects

        rows = read_json_objects(path, source_name)
    elif kind in ("parquet", "arrow"):
        from agreement_pipeline.readers.parquet import read_columnar_rows

        rows = enumerate(read_columnar_rows(path, kind), 1)
    for number, value in rows:
        yield f"{source_name}: {row_word} {number}", value


Source = Any
"""A path, a DataFrame of pandas or Spark, or anything that gives Arrow batches."""
TABLE = "table"
OF_TOKENS = re.compile(r"#|-DOCSTART-|.*\s(O|[BIESLU][-_]\S+)$")


@dataclass(frozen=True)
class ReadRequest:
    columns: Columns = COLUMNS
    layout: Layout = "long"
    limits: Limits = LIMITS
    rules: Rules = RULES
    session: Session = field(default_factory=duckdb_session)

    @property
    def extra_columns(self) -> list[str]:
        """Columns that rules and models name, beside those of `columns`."""
        return list(dict.fromkeys((*self.rules.fields, *self.columns.models.values())))

    @property
    def carried_columns(self) -> list[str]:
        """Those of the others that stand in the ratings. Some only say which rows count."""
        return [*self.rules.strata, *self.rules.keep, *self.columns.models.values()]


@dataclass(frozen=True, eq=False)
class DeliveredRows:
    """All rows of a source, as it has them.

    Attributes
    ----------
    rows
        With `item`, `rater`, `row`, `nth` and, if the source names it, `round`.
    columns
        Which of the rows' columns has what the source calls so.
    header
        Every name that the source has.
    canonical
        What the source calls `item` and so on, where that is another name.
    """

    rows: Rows
    columns: Mapping[str, str]
    header: tuple[str, ...]
    canonical: Mapping[str, str]


def source_name_of_column(name: str, header: Collection[str], canonical: Mapping[str, str]) -> str:
    """What a source calls a column. A column under the very name comes first."""
    return name if name in header else canonical.get(name, name)


def select_wanted_columns(
    names: Collection[str] | None, header: Collection[str], canonical: Mapping[str, str]
) -> list[str]:
    """The columns of a source that are among the names. None stands for all."""
    wanted_names = (
        header
        if names is None
        else (source_name_of_column(name, header, canonical) for name in names)
    )
    return [name for name in dict.fromkeys(wanted_names) if name in header]


@dataclass(frozen=True)
class Reader(ABC):
    """One export format.

    Parameters
    ----------
    recognises
        True if an export has this format, by its content.
    shows
        What the format can show, of `CAPABILITIES`. A table shows what it has a column for.
    needs
        What it cannot show and a project must say, and how.
    kinds
        The kinds of label objects that `init` looks for.
    column_endings
        How a name of a column ends if the export is text with a header. A table with no such
        column is no export of a tool.
    """

    name: str
    title: str
    recognises: Callable[[Export], bool]
    _: KW_ONLY
    shows: AbstractSet[str] = frozenset()
    needs: Mapping[str, str] = field(default_factory=dict)
    kinds: tuple[str, ...] = ()
    column_endings: tuple[str, ...] = ()

    @abstractmethod
    def read_rows(self, source: Source, request: ReadRequest) -> Rows:
        """All ratings of a source."""

    @abstractmethod
    def read_round_column(self, path: Path, request: ReadRequest) -> Iterator[Rows]:
        """The rows in the column `round` alone."""

    def read_delivered_rows(
        self, source: Source, request: ReadRequest, names: Collection[str] | None
    ) -> DeliveredRows:
        """Every row with the columns of these names, or with all, before any rule is followed.

        A reader that does not say more gives its ratings.
        """
        rows = self.read_rows(
            source, replace(request, rules=Rules(reader=self.name, all_rounds=True))
        )
        header = tuple(name for name in rows.names if name not in ("nth", "row", "column"))
        columns = {name: name for name in select_wanted_columns(names, header, {})}
        return DeliveredRows(rows, columns, header, {})

    @property
    def submissions(self) -> Callable[[Export], Iterator[Submission]] | None:
        return None

    @property
    def lacks(self) -> tuple[str, ...]:
        """The capabilities that the format does not show."""
        return tuple(name for name in CAPABILITIES if name not in self.shows)


READERS: dict[str, Reader] = {}


def register(reader: Reader) -> Reader:
    if reader.name in READERS:
        raise ValueError(
            f"reader {reader.name}: found a reader of that name; expected a name of its own. "
            "Rename the reader."
        )
    unknown = sorted({*reader.shows, *reader.needs} - set(CAPABILITIES))
    if unknown:
        raise ValueError(
            f"reader {reader.name}: found {listed(unknown)}; expected some of "
            f"{listed(CAPABILITIES, 20)}. Correct what it shows."
        )
    READERS[reader.name] = reader
    return reader


def select_reader(path: Path, name: str | None = None, columns: Columns = COLUMNS) -> Reader:
    """The registered reader for an export: the one of that name, or the one that recognises it.

    Columns that say how a table is written also say that the export is one.
    """
    refuse_unfinished(path)
    export = Export(path)
    if name not in (None, TABLE):
        columns.refuse_format_settings(path.name, f"the reader {name}")
    if name == TABLE or columns.changed_format_settings:
        import_module("agreement_pipeline.readers.table")  # which registers the reader of tables
        return READERS[TABLE]
    import_module("agreement_pipeline.readers.tools")  # which registers all
    if name is None and _is_plain_table(export):
        return READERS[TABLE]
    if name is not None:
        if name not in READERS:
            raise RatingsError(
                f"reader: found {name!r}; expected one of {listed(sorted(READERS), 40)}. "
                "Correct the name."
            )
        return READERS[name]
    if not export.files:
        raise RatingsError(
            f"{export.path}: found a folder without a finished file; expected an export. "
            "Check the path."
        )
    matching = [reader for reader in READERS.values() if reader.recognises(export)]
    if not matching:
        raise RatingsError(
            f"{path.name}: found no format that is known; expected an export of one of "
            f"{listed([reader.title for reader in READERS.values()], 40)}. Save the ratings as a "
            "table."
        )
    return min(matching, key=lambda reader: reader.submissions is None)


def _is_plain_table(export: Export) -> bool:
    if export.path.is_dir() or export.path.suffix == ".json" or export.kind != "text":
        return False
    start = read_first_bytes(export.path).decode("utf-8-sig", errors="replace").lstrip()
    endings = tuple(ending for reader in READERS.values() for ending in reader.column_endings)
    is_of_a_tool = any(str(name).endswith(endings) for name in export.first_record)
    return not OF_TOKENS.match(start.partition("\n")[0].rstrip()) and not is_of_a_tool
