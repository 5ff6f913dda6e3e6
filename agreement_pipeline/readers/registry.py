"""The registered readers: one for each export format."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers.columns import Columns, Layout
from agreement_pipeline.readers.files import refuse_unfinished
from agreement_pipeline.readers.limits import Limits
from agreement_pipeline.text import listed

Source = Path | pd.DataFrame


@dataclass(frozen=True, eq=False)
class Rows:
    """The ratings of a source under canonical names.

    Parameters
    ----------
    frame
        One row a rating, in the order of the source. The index level `row` is the row of the
        source. A wide table has a level `column` too.
    columns
        The name in the source of each canonical column, for errors.
    source
        The name of the source, for errors.
    """

    frame: pd.DataFrame
    columns: dict[str, str]
    source: str


@dataclass(frozen=True)
class Reader:
    """One export format.

    Parameters
    ----------
    name
        The format's name.
    suffixes
        How the names of its files end, in lower case.
    rows
        Reads all ratings of a source.
    rounds
        Reads only the names of the rounds in a source, sorted.
    """

    name: str
    suffixes: tuple[str, ...]
    rows: Callable[[Source, Columns, Layout, Limits], Rows]
    rounds: Callable[[Path, Columns, Limits], tuple[str, ...]]

    def recognises(self, path: Path) -> bool:
        """True if the file's name ends in one of the suffixes, in any case."""
        return path.suffix.lower() in self.suffixes


READERS: dict[str, Reader] = {}


def register(reader: Reader) -> Reader:
    """Add a reader to `READERS`.

    Raises
    ------
    ValueError
        A reader of that name is registered, or one for a file of the same ending.
    """
    for other in READERS.values():
        same = {reader.name, *reader.suffixes} & {other.name, *other.suffixes}
        if same:
            raise ValueError(
                f"reader {reader.name}: found {listed(sorted(same))} in reader {other.name} too; "
                "expected names and endings of its own. Rename the reader or remove the ending."
            )
    READERS[reader.name] = reader
    return reader


def reader_of(path: Path) -> Reader:
    """The registered reader for a file.

    Raises
    ------
    RatingsError
        The file is absent or unfinished, or no reader recognises its name.
    """
    refuse_unfinished(path)
    found = next((each for each in READERS.values() if each.recognises(path)), None)
    if found is None:
        endings = [suffix for each in READERS.values() for suffix in each.suffixes]
        raise RatingsError(
            f"{path.name}: found a name ending in {path.suffix.lower()!r}; expected one of "
            f"{listed(endings, 20)}. Save the table as one of these."
        )
    return found
