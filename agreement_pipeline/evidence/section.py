"""What a section of a report is: sentences, tables and figures as data."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from agreement_pipeline.estimates import Estimate, Scope
from agreement_pipeline.evidence.figure import Figure, RoundLine, Tone
from agreement_pipeline.measures import find_measure
from agreement_pipeline.text import PERCENT, in_words, interval

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 40
ITEMS = "How many items the row rests on."
INTERVAL = "The interval of the value to its left, at the confidence level of the policy."
NOTE = "What else to know about the value."
MEASURE = "The measure of agreement."
VERDICT = "How the rule reads the interval: reliable, tentative, unreliable or inconclusive."
ROUND, DECISION = "The round.", "Whether the round is admitted, held, pending or not judged."
REASON = "The reason, in words."


@dataclass(frozen=True)
class Cell:
    """A cell of a table. On a page, that of a `line` draws its interval below the text, and the
    values of the rounds until it.
    """

    text: str
    by: float | None = None
    to: str = ""
    page: str = ""
    tone: Tone = "plain"
    line: RoundLine | None = None
    trend: tuple[float, ...] = ()


Row = Sequence[Cell | str | int | None]


@dataclass(frozen=True)
class Grid:
    """A table. `descriptions` says what stands in a column, for people who point at its name."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    left_out: str = ""
    descriptions: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        wrong = [row for row in self.rows if len(row) != len(self.columns)]
        if wrong or len(self.rows) > MOST_ROWS:
            raise ValueError(
                f"table {self.caption!r}: found {len(self.rows)} rows, {len(wrong)} of them "
                f"without {len(self.columns)} cells; expected at most {MOST_ROWS} whole rows."
            )

    @property
    def texts(self) -> list[list[str]]:
        return [[cell.text for cell in row] for row in self.rows]

    def to_frame(self) -> "pd.DataFrame":
        import pandas as pd

        return pd.DataFrame(self.texts, columns=list(self.columns))


@dataclass(frozen=True)
class Detail:
    """A part that opens by a click, and on paper if it is printed."""

    anchor: str
    title: str
    answer: "Answer"
    is_printed: bool = True


@dataclass(frozen=True)
class Answer:
    sentences: tuple[str, ...]
    figures: tuple[Figure, ...] = ()
    tables: tuple[Grid, ...] = ()
    details: tuple[Detail, ...] = ()


Content: TypeAlias = "int | float | str | pd.DataFrame | Grid | Figure | None"

Section: TypeAlias = "dict[str, Content]"


def build_grid(
    caption: str,
    columns: Sequence[str] | Mapping[str, str],
    rows: Sequence[Row],
    row_noun: str = "rows",
    max_rows: int = MOST_ROWS,
    n: int | None = None,
) -> Grid:
    """The first rows, and how many more there are. A column in which nothing stands is left out.

    Columns are names, or names with their descriptions.

    >>> build_grid("Items", ["item"], [["i1"], ["i2"], ["i3"]], "items", max_rows=2).left_out
    '1 more is not shown.'
    """
    cells = [[_as_cell(value) for value in row] for row in rows[:max_rows]]
    n_left_out = (len(rows) if n is None else n) - len(cells)
    names = list(columns)
    used_columns = [
        column
        for column in range(len(names))
        if not cells or any(row[column].text for row in cells)
    ]
    return Grid(
        caption,
        tuple(names[column] for column in used_columns),
        tuple(tuple(row[column] for column in used_columns) for row in cells),
        f"{n_left_out:,} more {f'{row_noun} are' if n_left_out > 1 else 'is'} not shown."
        if n_left_out
        else "",
        columns if isinstance(columns, Mapping) else {},
    )


def _as_cell(value: Cell | str | int | None) -> Cell:
    if isinstance(value, Cell):
        return value
    return Cell(f"{value:,}", value) if isinstance(value, int) else Cell(value or "")


def share_cell(value: float) -> Cell:
    return Cell(in_words(value, PERCENT), float(value))


def value_and_interval(
    estimate: Estimate | None, cutoffs: Collection[float] = ()
) -> tuple[Cell, Cell]:
    if estimate is None:
        return Cell(""), Cell("")
    return number_cells(estimate.value, estimate.low, estimate.high, cutoffs)


def number_cells(
    value: float | None, low: float | None, high: float | None, cutoffs: Collection[float] = ()
) -> tuple[Cell, Cell]:
    """A value and its interval, or two empty cells if there is no value."""
    if value is None:
        return Cell(""), Cell("")
    limits = Cell(interval(low, high, cutoffs=cutoffs), low)
    return Cell(in_words(value, cutoffs=cutoffs), value), limits


def scope_in_words(scope: Scope) -> str:
    """Raters and pairs need no word beside their names.

    >>> scopes = Scope("rater", "rater-0f6a"), Scope("category", "safe"), Scope("round")
    >>> [scope_in_words(scope) for scope in scopes]
    ['rater-0f6a', 'category safe', 'round']
    """
    return scope.name if scope.kind in ("rater", "pair") and scope.name else str(scope)


def measure_title(measure: str) -> str:
    """The name of a measure for people. One of an old log that is not known keeps its own.

    >>> measure_title("krippendorff_alpha")
    "Krippendorff's α"
    """
    known_measure = find_measure(measure)
    return measure if known_measure is None else known_measure.title
