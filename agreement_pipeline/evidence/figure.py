"""Figures as data, and the axes on them. Any page can draw them, and a test can read them."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from agreement_pipeline.text import in_words, interval

if TYPE_CHECKING:
    from agreement_pipeline.estimates import Estimate
    from agreement_pipeline.ratings import Array

Kind = Literal[
    "intervals",
    "course",
    "matrix",
    "lines",
    "spans",
    "frames",
    "outlines",
    "bodies",
]
Tone = Literal["plain", "good", "partly", "bad", "unknown"]
Point = tuple[float, float]

COLOURS, SHADES = 8, 6
STEPS, MOST_TICKS = (1, 2, 2.5, 5, 10), 6

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


class Picture(NamedTuple):
    address: str
    width: float
    height: float


@dataclass(frozen=True)
class Mark:
    """A point of a figure, or a cell of a matrix.

    Attributes
    ----------
    across, across_low, across_high
        Its number on the other axis of lines, or its ends across an image.
    crossed
        True if what was decided was taken back later.
    points
        The corners of a polygon, or the points of a body: across, and down.
    to
        The part of the page that a cell of a matrix leads to.
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
    points: tuple[Point, ...] = ()
    to: str = ""

    @classmethod
    def of(cls, estimate: "Estimate", label: str = "", **fields: Any) -> "Mark":
        return cls(
            label or estimate.scope.name, estimate.value, estimate.low, estimate.high, **fields
        )

    @property
    def value_in_words(self) -> str:
        if self.value is None:
            return "no value"
        limits = interval(self.low, self.high, cutoffs=self.cutoffs)
        return f"{in_words(self.value, cutoffs=self.cutoffs)} ({limits})"


@dataclass(frozen=True)
class RoundLine:
    """A round in a line: what was decided, the rule that decided it in short numbers, and what
    helps.

    The numbers are those of the first rule that holds the round, or of the policy's first rule.
    `reading` is how that rule reads them.
    """

    round: str
    decision: str
    tone: Tone
    numbers: str = ""
    step: str = ""
    reading: Tone = "unknown"
    value: float | None = None
    low: float | None = None
    high: float | None = None
    cutoffs: tuple[float, ...] = ()


@dataclass(frozen=True)
class Series:
    name: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class Figure:
    """A figure as data. `says` is what a reader sees in it; screen readers read it aloud.

    Each series has a row of its own, but in *intervals* each mark has one.
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
    by_powers: bool = False
    picture: Picture | None = None

    @property
    def marks(self) -> tuple[Mark, ...]:
        return tuple(mark for series in self.series for mark in series.marks)

    @property
    def key(self) -> list[tuple[str, str]]:
        used = {mark.tone for mark in self.marks}
        signs: list[tuple[str, str]] = [entry for entry in self.legend if entry[0] in used]
        if any(mark.crossed for mark in self.marks):
            signs.append(("crossed", "withdrawn"))
        signs += [("cutoff", name) for _, name in self.cutoffs]
        if self.kind == "lines":
            signs += [
                (f"c{place % COLOURS}", series.name) for place, series in enumerate(self.series)
            ]
        if self.kind == "matrix":
            low, high = self.bounds or (0.0, 1.0)
            signs += [("shade0", f"{low:g}"), (f"shade{SHADES - 1}", f"{high:g}")]
        return signs


def build_interval_figure(
    title: str, says: str, marks: Iterable[Mark], axis: str, **fields: Any
) -> Figure:
    return Figure("intervals", title, says, (Series("", tuple(marks)),), axis=axis, **fields)


def build_matrix_figure(  # a figure has many parts
    title: str,
    says: str,
    names: Sequence[str],
    values: "Array",
    axis: str,
    lowest: float = 0.0,
    part_by_pair: Mapping[frozenset[str], str] = MappingProxyType({}),
) -> Figure:
    """`part_by_pair` names the part of the page that the cell of a pair leads to."""
    series = (
        Series(
            name,
            tuple(
                Mark(
                    column_name,
                    None if math.isnan(value) else float(value),
                    to=part_by_pair.get(frozenset({name, column_name}), ""),
                )
                for column_name, value in zip(names, row, strict=True)
            ),
        )
        for name, row in zip(names, values, strict=True)
    )
    return Figure("matrix", title, says, tuple(series), axis=axis, bounds=(lowest, 1.0))


def cut_text(text: str, max_length: int) -> str:
    """The text, or its beginning.

    >>> cut_text("krippendorff_alpha", 8)
    'krippen…'
    """
    return text if len(text) <= max_length else f"{text[: max_length - 1]}…"


@dataclass(frozen=True)
class Axis:
    low: float
    high: float
    start: float
    end: float

    def position_of(self, value: float) -> float:
        """Numbers outside the axis stand at its end."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def span(self, low: float | None, high: float | None) -> tuple[float, float]:
        start = self.start if low is None else self.position_of(low)
        return start, self.end if high is None else self.position_of(high)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Round numbers on the axis, as they are written.

        >>> [text for _, text in Axis(-0.5, 1.0, 0.0, 100.0).ticks]
        ['−0.5', '−0.25', '0', '0.25', '0.5', '0.75', '1']
        """
        rough = (self.high - self.low) / MOST_TICKS
        size = 10.0 ** math.floor(math.log10(rough))
        step = next(step * size for step in STEPS if step * size >= rough)
        first_step = math.ceil(self.low / step - 1e-9)
        last_step = math.floor(self.high / step + 1e-9)
        numbers = (round(place * step, 10) for place in range(first_step, last_step + 1))
        return [(number, tick_text(number)) for number in numbers]

    @property
    def log_ticks(self) -> list[tuple[float, str]]:
        tens = range(max(0, math.floor(self.low)), math.ceil(self.high) + 1)
        numbers = (step * 10.0**power for power in tens for step in (1, 2, 5))
        ticks = ((math.log10(number), tick_text(number)) for number in numbers)
        return [tick for tick in ticks if self.low <= tick[0] <= self.high]


def axis_bounds(figure: Figure) -> tuple[float, float]:
    if figure.bounds is not None:
        return figure.bounds
    cutoff_values = [cutoff for cutoff, _ in figure.cutoffs]
    return least_and_greatest(
        [*cutoff_values, *(n for m in figure.marks for n in (m.value, m.low, m.high, *m.cutoffs))]
    )


def least_and_greatest(numbers: Iterable[float | None]) -> tuple[float, float]:
    finite = [number for number in numbers if number is not None and math.isfinite(number)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    room = (high - low) * 0.04 or 0.1
    return low - room, high + room


def tick_text(value: float) -> str:
    """A number under an axis.

    >>> tick_text(-0.5), tick_text(1000.0)
    ('−0.5', '1,000')
    """
    return f"{value:,g}".replace("-", "−")
