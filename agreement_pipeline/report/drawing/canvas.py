"""A sheet of SVG: shapes with classes, so that the page's colours hold in light and in dark."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import cast, get_args
from xml.etree import ElementTree as Xml

from agreement_pipeline.report.figure import Tone

WIDTH = 400.0
SIZE = 6.0
TONES = get_args(Tone)
NOTHING: Mapping[str, str] = MappingProxyType({})
Place = tuple[float, float]


@dataclass
class Canvas:
    """Shapes on a sheet of a fixed width. Text from the data stays text."""

    height: float
    root: Xml.Element = field(init=False)

    def __post_init__(self) -> None:
        self.root = Xml.Element(
            "svg", {"viewBox": f"0 0 {WIDTH:g} {self.height:g}", "class": "figure", "role": "img"}
        )

    def finish(self, displayed: float, style: str) -> None:
        """Make it a file of its own: its size on a screen, its colours, and its background."""
        tall = self.height * displayed / WIDTH
        self.root.set("xmlns", "http://www.w3.org/2000/svg")
        self.root.set("viewBox", f"0 0 {WIDTH:g} {self.height:g}")
        self.root.set("width", _number(displayed))
        self.root.set("height", _number(tall))
        paper = Xml.Element("rect", {"class": "paper", "width": "100%", "height": "100%"})
        styled = Xml.Element("style")
        styled.text = style
        self.root[:0] = [styled, paper]

    def line(self, one: Place, other: Place, kind: str) -> None:
        """A straight line."""
        (x1, y1), (x2, y2) = one, other
        self._add("line", kind, x1=x1, y1=y1, x2=x2, y2=y2)

    def path(self, points: list[Place], kind: str) -> None:
        """A line through points."""
        said = " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
        Xml.SubElement(self.root, "polyline", {"class": kind, "points": said})

    def box(self, at: Place, size: Place, kind: str, tip: str = "") -> None:
        """A rectangle."""
        (x, y), (width, height) = at, size
        _tell(self._add("rect", kind, x=x, y=y, width=width, height=height), tip)

    def area(self, corners: Sequence[Place], kind: str, tip: str = "") -> None:
        """A polygon."""
        _tell(self._polygon(corners, kind), tip)

    def image(self, at: Place, size: Place, address: str) -> None:
        """A picture. It fills its rectangle."""
        (x, y), (width, height) = at, size
        more = {"href": address, "preserveAspectRatio": "none"}
        self._add("image", "", more, x=x, y=y, width=width, height=height)

    def dot(self, at: Place, kind: str, tip: str) -> None:
        """A small mark on a line."""
        _tell(self._add("circle", kind, cx=at[0], cy=at[1], r=2.5), tip)

    def text(self, at: Place, said: str, kind: str = "", anchor: str = "start") -> None:
        """A line of text."""
        made = self._add("text", kind, {"text-anchor": anchor}, x=at[0], y=at[1])
        made.text = said

    def upright(self, at: Place, said: str, anchor: str = "end") -> None:
        """A line of text that reads upwards, and ends or starts at a place."""
        x, y = map(_number, at)
        turned = {"text-anchor": anchor, "transform": f"rotate(-60 {x} {y})"}
        self._add("text", "tick", turned, x=at[0], y=at[1]).text = said

    def mark(self, at: Place, tone: Tone, tip: str, size: float = SIZE) -> None:
        """The shape of a tone: tones differ in shape as well as in colour."""
        x, y = at
        if tone in ("good", "plain", "unknown"):
            made = self._add("circle", f"mark {tone}", cx=x, cy=y, r=size * 0.8)
        elif tone == "partly":
            corners = ((x, y - size), (x + size, y), (x, y + size), (x - size, y))
            made = self._polygon(corners, f"mark {tone}")
        else:
            half, side = size * 0.75, size * 1.5
            made = self._add(
                "rect", f"mark {tone}", x=x - half, y=y - half, width=side, height=side
            )
        _tell(made, tip)

    def cross(self, at: Place, size: float = SIZE + 3) -> None:
        """Two strokes through a mark."""
        x, y = at
        self.line((x - size, y - size), (x + size, y + size), "cross")
        self.line((x - size, y + size), (x + size, y - size), "cross")

    def sign(self, at: Place, sign: str) -> None:
        """The shape of a tone, or a cross, beside its meaning."""
        if sign in TONES:
            self.mark(at, cast(Tone, sign), "")
        else:
            self.cross(at, SIZE - 1)

    def _polygon(self, corners: Sequence[Place], kind: str) -> Xml.Element:
        said = " ".join(f"{_number(x)},{_number(y)}" for x, y in corners)
        return Xml.SubElement(self.root, "polygon", {"class": kind, "points": said})

    def _add(
        self, tag: str, kind: str, more: Mapping[str, str] = NOTHING, **numbers: float
    ) -> Xml.Element:
        said = {name: _number(value) for name, value in numbers.items()}
        styled = {"class": kind} if kind else {}
        return Xml.SubElement(self.root, tag, {**styled, **said, **more})


def _tell(made: Xml.Element, tip: str) -> None:
    """Show words when somebody points at a shape."""
    if tip:
        Xml.SubElement(made, "title").text = tip


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
