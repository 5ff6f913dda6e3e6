"""What a section of the page answers: sentences, figures and tables as data."""

from collections.abc import Sequence
from dataclasses import dataclass

from agreement_pipeline.report.figure import Figure, Tone

MOST_ROWS = 40
"""No table of a page has more rows."""


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes
    ----------
    text
        What stands in it.
    by
        The number that it is sorted by. None: it is sorted by its text.
    to
        The anchor of the part of the page that says more.
    page
        The address of another page that says more.
    tone
        How it reads.
    """

    text: str
    by: float | None = None
    to: str = ""
    page: str = ""
    tone: Tone = "plain"


Row = Sequence[Cell | str]


@dataclass(frozen=True)
class Grid:
    """A table as data.

    Attributes
    ----------
    caption
        What the table shows.
    columns
        The heads of the columns. The first column names the row.
    rows
        The cells.
    left_out
        How many rows are not shown, and what they are. Empty if all are shown.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    left_out: str = ""

    def __post_init__(self) -> None:
        wrong = [row for row in self.rows if len(row) != len(self.columns)]
        if wrong or len(self.rows) > MOST_ROWS:
            raise ValueError(
                f"table {self.caption!r}: found {len(self.rows)} rows, {len(wrong)} of them "
                f"without {len(self.columns)} cells; expected at most {MOST_ROWS} whole rows."
            )


@dataclass(frozen=True)
class Detail:
    """A part of an answer that is opened on demand. Links of tables lead to its anchor."""

    anchor: str
    title: str
    answer: "Answer"


@dataclass(frozen=True)
class Answer:
    """What a section answers.

    Attributes
    ----------
    sentences
        How to read it. The first one is the answer in short.
    figures, tables
        What it rests on.
    details
        What is opened on demand.
    """

    sentences: tuple[str, ...]
    figures: tuple[Figure, ...] = ()
    tables: tuple[Grid, ...] = ()
    details: tuple[Detail, ...] = ()


def grid(
    caption: str,
    columns: Sequence[str],
    rows: Sequence[Row],
    rest: str = "rows",
    most: int = MOST_ROWS,
    n: int | None = None,
) -> Grid:
    """A table of the first rows, which says how many more there are.

    A column in which nothing stands is left out.

    >>> grid("Items", ["item"], [["i1"], ["i2"], ["i3"]], "items", most=2).left_out
    '1 more items are not shown.'
    """
    cells = tuple(
        tuple(cell if isinstance(cell, Cell) else Cell(cell) for cell in row) for row in rows[:most]
    )
    more = len(rows) - len(cells) if n is None else n - len(cells)
    left_out = f"{more:,} more {rest} are not shown." if more else ""
    kept = [at for at in range(len(columns)) if not cells or any(row[at].text for row in cells)]
    shown = tuple(tuple(row[at] for at in kept) for row in cells)
    return Grid(caption, tuple(columns[at] for at in kept), shown, left_out)
