"""The registered readers: one for each export format."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from agreement_pipeline.engine import Relation, Session
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import CAPABILITIES, Limits, Origin
from agreement_pipeline.readers.columns import Columns, Layout
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.files import refuse_unfinished
from agreement_pipeline.readers.plain import is_plain
from agreement_pipeline.readers.rules import LeftOut, Rules
from agreement_pipeline.text import listed

if TYPE_CHECKING:
    from agreement_pipeline.readers.submissions import Submission
    from agreement_pipeline.units import Marked

Source = Any
"""A path, a DataFrame of pandas or Spark, or anything that gives Arrow batches."""
TABLE = "table"


@dataclass(frozen=True, eq=False)
class Rows:
    """The ratings of a source under canonical names.

    Parameters
    ----------
    cells
        One row a rating, not checked yet. Beside the canonical columns there are

        - `nth`: the order of the ratings in the source, or 0 where it has none;
        - `row`: what errors call a row of the source;
        - `column`: the name of the rater's column, in a wide table only.
    columns
        The name in the source of each canonical column, for errors.
    source
        The name of the source, for errors.
    classifiers
        The raters that the source calls models.
    left_out
        How many rows of the source are no ratings, by round and reason.
    reader, shows
        The name of the reader, and what the source can show. Empty if it is not known.
    """

    cells: Relation
    columns: dict[str, str]
    source: str
    classifiers: tuple[str, ...] = ()
    left_out: LeftOut = field(default_factory=Counter)
    reader: str = ""
    shows: frozenset[str] = frozenset()

    @property
    def origin(self) -> Origin | None:
        """Where the rows came from, if it is known."""
        if not self.reader:
            return None
        left_out: Counter[str] = Counter()
        for (_, reason), count in self.left_out.items():
            left_out[reason] += count
        return Origin.of(self.reader, self.shows, left_out)


class ReadsRows(Protocol):
    """Reads the ratings of a source into a session. None: the session of DuckDB."""

    def __call__(
        self,
        source: Source,
        columns: Columns = ...,
        layout: Layout = ...,
        limits: Limits = ...,
        rules: Rules = ...,
        session: Session | None = ...,
    ) -> Rows:
        """The rows of the source."""


class MarkedRows(NamedTuple):
    """Label objects of a source: its rows, and what is marked in each of them."""

    rows: Rows
    marked_in: Callable[[Rows], "list[Marked]"]


@dataclass(frozen=True)
class Reader:
    """One export format.

    Parameters
    ----------
    name, title
        The format's name in settings, and in words.
    recognises
        True if an export has this format, by its content.
    rows
        Reads all ratings of a source.
    rounds
        Reads only the names of the rounds in a source, sorted.
    submissions
        All submissions of an export. None for tables, whose rows are ratings already.
    shows
        What the format can show, of `CAPABILITIES`.
    needs
        What the format cannot show, and must be said by the project, else its numbers are wrong.
    omits_none
        True if the export writes nothing where a rater ticked nothing.
    marked
        Reads the label objects of one kind. None for tables, which have none.
    kinds
        The kinds of label objects that `init` looks for.
    """

    name: str
    title: str
    recognises: Callable[[Export], bool]
    rows: ReadsRows
    rounds: Callable[[Path, Columns, Limits], tuple[str, ...]]
    submissions: "Callable[[Export], Iterator[Submission]] | None" = None
    shows: frozenset[str] = frozenset()
    needs: Mapping[str, str] = field(default_factory=dict)
    omits_none: bool = False
    marked: Callable[[Path, str, Columns, Limits, Rules], MarkedRows] | None = None
    kinds: tuple[str, ...] = ()

    @property
    def lacks(self) -> tuple[str, ...]:
        """What the format cannot show."""
        return tuple(name for name in CAPABILITIES if name not in self.shows)


READERS: dict[str, Reader] = {}


def register(reader: Reader) -> Reader:
    """Add a reader to `READERS`.

    Raises
    ------
    ValueError
        A reader of that name is registered, or it shows something that is not in `CAPABILITIES`.
    """
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


def reader_of(path: Path, name: str | None = None) -> Reader:
    """The registered reader for an export: the one of that name, or the one that recognises it.

    Raises
    ------
    RatingsError
        The file is absent or unfinished, or no reader recognises its content.
    """
    refuse_unfinished(path)
    if name is not None:
        return _named(name)
    export = Export(path)
    if is_plain(export):
        return _table()
    if path.is_dir():
        _refuse_mixed(export)
    found = [each for each in _all().values() if each.recognises(export)]
    if not found:
        raise RatingsError(
            f"{path.name}: found no format that is known; expected an export of one of "
            f"{listed([each.title for each in _all().values()], 40)}. Save the ratings as a table."
        )
    return min(found, key=lambda each: each.name == TABLE)


def is_of_a_tool(path: Path) -> bool:
    """True for anything but a plain table: its rows are not ratings yet."""
    export = Export(path)
    if is_plain(export):
        return False
    return any(each.name != TABLE and each.recognises(export) for each in _all().values())


def _named(name: str) -> Reader:
    if name == TABLE:
        return _table()
    if name not in _all():
        raise RatingsError(
            f"reader: found {name!r}; expected one of {listed(sorted(_all()), 40)}. "
            "Correct the name."
        )
    return READERS[name]


def _table() -> Reader:
    """The reader of tables. No tool is loaded for it."""
    from agreement_pipeline.readers.table import TABLE

    return TABLE


def _all() -> dict[str, Reader]:
    """All readers, each loaded."""
    from agreement_pipeline.readers import registered

    return registered.READERS


def _refuse_mixed(export: Export) -> None:
    if not export.files:
        raise RatingsError(
            f"{export.path}: found a folder without a finished file; expected an export. "
            "Check the path."
        )
