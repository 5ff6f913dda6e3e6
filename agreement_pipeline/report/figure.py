"""Figures as data. Any page can draw them, and a test can read them."""

from dataclasses import dataclass
from typing import Literal

from agreement_pipeline.report.pictures import Picture
from agreement_pipeline.text import PROBABILITY

Kind = Literal[
    "intervals",
    "course",
    "matrix",
    "plane",
    "bars",
    "lines",
    "spans",
    "frames",
    "outlines",
    "bodies",
]
Tone = Literal["plain", "good", "partly", "bad", "unknown"]

WITHDRAWN = "withdrawn"
"""What a cross means."""

NAMES_OF_TONES: dict[str, Tone] = {
    "reliable": "good",
    "tentative": "partly",
    "unreliable": "bad",
    "inconclusive": "unknown",
    "not_evaluated": "unknown",
    "admitted": "good",
    "admitted (tentative)": "partly",
    "held": "bad",
    "pending": "unknown",
    "not judged": "unknown",
}
"""The tone of each verdict and of each decision."""


@dataclass(frozen=True)
class Mark:
    """A point of a figure, or a cell of a matrix.

    Attributes
    ----------
    label
        What it is about.
    value, low, high
        Its number with the limits. None: there is none, or the limit is infinite.
    across, across_low, across_high
        Its number on the other axis of a plane or of lines.
    tone
        How it reads: the drawing gives each tone a colour and a shape.
    cutoffs
        The cut-offs for this mark alone.
    crossed
        True if what was decided was taken back later.
    points
        The corners of a polygon, or the points of a body: across, and down.
    """

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    across: float | None = None
    across_low: float | None = None
    across_high: float | None = None
    tone: Tone = "plain"
    cutoffs: tuple[float, ...] = ()
    crossed: bool = False
    points: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class Series:
    """Marks that belong together: a line, or a row of a matrix."""

    name: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class Figure:
    """A figure as data.

    Attributes
    ----------
    kind
        How it is drawn.

        - *intervals*: a row for each mark, with its limits on one axis;
        - *course*: marks from left to right, with their limits;
        - *matrix*: a row for each series, and a cell for each mark;
        - *plane*: marks on two axes;
        - *bars*: a bar for each mark;
        - *lines*: a line for each series;
        - *spans*: a line for each series, with marks from their low to their high ends;
        - *frames*: a box for each mark;
        - *outlines*: a polygon for each mark;
        - *bodies*: points in a box for each mark.
    title
        What is drawn.
    says
        What a reader sees in it, in a sentence. Screen readers read it aloud.
    series
        What is drawn.
    axis, other_axis
        What the numbers are; in a plane and in lines, what the numbers across are.
    cutoffs
        Numbers that a mark is compared with, each with its name.
    legend
        What each tone means, if tones mean something.
    bounds
        The ends of the axis. None: those of the numbers.
    form
        How a number in a bar or a cell is written.
    by_powers
        True if numbers across are decimal logarithms.
    picture
        The image that lies behind what was drawn in it. None: there is none at hand.
    """

    kind: Kind
    title: str
    says: str
    series: tuple[Series, ...]
    axis: str = ""
    other_axis: str = ""
    cutoffs: tuple[tuple[float, str], ...] = ()
    legend: tuple[tuple[Tone, str], ...] = ()
    bounds: tuple[float, float] | None = None
    form: str = PROBABILITY
    by_powers: bool = False
    picture: Picture | None = None

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The marks of all series."""
        return tuple(mark for series in self.series for mark in series.marks)
