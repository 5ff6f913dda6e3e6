"""A sheet of SVG, and the axes on it.

Shapes have classes, so that the colours of a page hold in light and in dark.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from xml.etree import ElementTree as Xml

from agreement_pipeline.report.figure import Figure, Point

WIDTH, SIZE = 400.0, 6.0
STEPS, MOST_TICKS = (1, 2, 2.5, 5, 10), 6


@dataclass
class Sheet:
    """Shapes on a sheet of a fixed width. Text from the data stays text."""

    height: float
    root: Xml.Element = field(
        default_factory=lambda: Xml.Element("svg", {"class": "figure", "role": "img"})
    )

    def shape(self, tag: str, kind: str, tip: str = "", said: str = "", **at: float | str) -> None:
        places = {name.replace("_", "-"): _written(value) for name, value in at.items()}
        made = Xml.SubElement(self.root, tag, {"class": kind, **places})
        made.text = said or None
        if tip:
            Xml.SubElement(made, "title").text = tip

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        self.shape("line", kind, x1=x1, y1=y1, x2=x2, y2=y2)

    def box(
        self, x: float, y: float, width: float, height: float, kind: str, tip: str = ""
    ) -> None:
        self.shape("rect", kind, tip, x=x, y=y, width=width, height=height)

    def picture(self, x: float, y: float, width: float, height: float, address: str) -> None:
        more = {"href": address, "preserveAspectRatio": "none"}
        self.shape("image", "picture", "", "", x=x, y=y, width=width, height=height, **more)

    def through(self, points: Sequence[Point], tag: str, kind: str, tip: str = "") -> None:
        places = " ".join(f"{_written(x)},{_written(y)}" for x, y in points)
        self.shape(tag, kind, tip, points=places)

    def text(
        self, x: float, y: float, said: str, kind: str = "tick", anchor: str = "start"
    ) -> None:
        self.shape("text", kind, said=said, x=x, y=y, text_anchor=anchor)

    def upright(self, x: float, y: float, said: str, anchor: str = "end") -> None:
        turned = f"rotate(-60 {_written(x)} {_written(y)})"
        self.shape("text", "tick", said=said, x=x, y=y, text_anchor=anchor, transform=turned)

    def sign(self, x: float, y: float, sign: str, tip: str = "", size: float = SIZE) -> None:
        if sign in ("good", "plain", "unknown"):
            self.shape("circle", f"mark {sign}", tip, cx=x, cy=y, r=size * 0.8)
        elif sign == "partly":
            corners = ((x, y - size), (x + size, y), (x, y + size), (x - size, y))
            self.through(corners, "polygon", "mark partly", tip)
        elif sign == "bad":
            half = size * 0.75
            self.box(x - half, y - half, 2 * half, 2 * half, "mark bad", tip)
        elif sign == "crossed":
            self.line(x - size, y - size, x + size, y + size, "cross")
            self.line(x - size, y + size, x + size, y - size, "cross")
        elif sign.startswith("shade"):
            self.box(x - size, y - size, 2 * size, 2 * size, f"cell {sign}")
        else:
            self.line(x - size - 2, y, x + size + 2, y, f"line {sign}")


def _written(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.1f}".removesuffix(".0")


@dataclass(frozen=True)
class Axis:
    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Numbers outside the axis stand at its end."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def span(self, low: float | None, high: float | None) -> tuple[float, float]:
        start = self.start if low is None else self.at(low)
        return start, self.end if high is None else self.at(high)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Round numbers on the axis, as they are written.

        >>> [said for _, said in Axis(-0.5, 1.0, 0.0, 100.0).ticks]
        ['−0.5', '−0.25', '0', '0.25', '0.5', '0.75', '1']
        """
        rough = (self.high - self.low) / MOST_TICKS
        size = 10.0 ** math.floor(math.log10(rough))
        step = next(step * size for step in STEPS if step * size >= rough)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        numbers = (round(place * step, 10) for place in range(first, last + 1))
        return [(number, tick_text(number)) for number in numbers]

    @property
    def powers(self) -> list[tuple[float, str]]:
        tens = range(max(0, math.floor(self.low)), math.ceil(self.high) + 1)
        numbers = (step * 10.0**power for power in tens for step in (1, 2, 5))
        found = ((math.log10(number), tick_text(number)) for number in numbers)
        return [each for each in found if self.low <= each[0] <= self.high]


def bounds_of(figure: Figure) -> tuple[float, float]:
    if figure.bounds is not None:
        return figure.bounds
    said = [at for at, _ in figure.cutoffs]
    return spread([*said, *(n for m in figure.marks for n in (m.value, m.low, m.high, *m.cutoffs))])


def spread(numbers: Iterable[float | None]) -> tuple[float, float]:
    known = [each for each in numbers if each is not None and math.isfinite(each)]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    room = (high - low) * 0.04 or 0.1
    return low - room, high + room


def tick_text(value: float) -> str:
    """A number under an axis.

    >>> tick_text(-0.5), tick_text(1000.0)
    ('−0.5', '1,000')
    """
    return f"{value:,g}".replace("-", "−")
