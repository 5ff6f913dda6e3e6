"""Figures drawn as SVG: a function a kind of figure.

What raters differ on is tall, or has a thick edge. So no colour is needed to see it. Shapes have
classes, so that the colours of a page hold in light and in dark.
"""

import base64
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree as Xml

from agreement_pipeline.evidence import (
    COLOURS,
    SHADES,
    Axis,
    Figure,
    Kind,
    Mark,
    Point,
    Tone,
    bounds_of,
    cut,
    spread,
    tick_text,
)
from agreement_pipeline.text import PROBABILITY, SENTENCE, number

STYLE = Path(__file__).with_name("templates") / "figures.css"
WIDTH, SIZE, DISPLAYED = 400.0, 6.0, 600

LEFT, RIGHT, TOP, SIDE = 38.0, 8.0, 26.0, 10.0

LETTER, LINE, APART = 6.4, 11.0, 34.0

MOST_NAMED, MOST_WITH_NUMBERS = 14, 8

TALLEST_CELL, LOWEST_IMAGE, TALLEST_IMAGE = 34.0, 60.0, 420.0
ROW, REACH = 40.0, 9.0
ELSEWHERE: Tone = "plain"
"""What a single rater drew elsewhere lies below the units."""

BEYOND = 1.05

LONGEST, MOST_ROUNDS, LONGEST_NAME = 960, 24, 16
"""Dagster's UI shows Markdown in place only if it has fewer than 1,000 characters."""
UNQUOTED = "/:='-.,;+*!~_"
SHORTEST_AXIS, WIDEST_STEP = 0.05, 120
SIGNS: dict[Tone, tuple[str, str, str]] = {
    "good": ("round", "#0b62a8", "●"),
    "partly": ("butt", "#8a5a00", "▮"),
    "bad": ("square", "#b5280f", "■"),
}


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


def svg(figure: Figure, name: str) -> str:
    """No other figure of a page may have the `name`."""
    return _named(DRAWN[figure.kind](figure), figure, name)


def image(figure: Figure) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(file_of(figure).encode()).decode()}"


def file_of(figure: Figure) -> str:
    sheet = DRAWN[figure.kind](figure)
    x, y = SIDE, sheet.height + 9
    for sign, words in figure.key:
        wide = 30 + LETTER * len(words)
        if x > SIDE and x + wide > WIDTH:
            x, y = SIDE, y + 18
        sheet.sign(x, y - 4, sign, size=SIZE - 1)
        sheet.text(x + 10, y, words, "label")
        x += wide
    sheet.height = y + 9
    paper = Xml.Element("rect", {"class": "paper", "width": "100%", "height": "100%"})
    style = Xml.Element("style")
    style.text = STYLE.read_text(encoding="utf-8")
    sheet.root[:0] = [style, paper]
    sheet.root.set("xmlns", "http://www.w3.org/2000/svg")
    sheet.root.set("width", f"{DISPLAYED}")
    sheet.root.set("height", f"{sheet.height * DISPLAYED / WIDTH:g}")
    return _named(sheet, figure, "f")


def key_of(sign: str) -> str:
    sheet = Sheet(16)
    sheet.sign(8, 8, sign)
    sheet.root.attrib.clear()
    sheet.root.attrib |= {"class": "key", "viewBox": "0 0 16 16", "aria-hidden": "true"}
    return Xml.tostring(sheet.root, encoding="unicode")


def _named(sheet: Sheet, figure: Figure, name: str) -> str:
    for place, (tag, words) in enumerate((("title", figure.title), ("desc", figure.says))):
        made = Xml.Element(tag, {"id": f"{name}-{tag}"})
        made.text = words
        sheet.root.insert(place, made)
    sheet.root.set("aria-labelledby", f"{name}-title {name}-desc")
    sheet.root.set("viewBox", f"0 0 {WIDTH:g} {sheet.height:g}")
    return Xml.tostring(sheet.root, encoding="unicode")


def _intervals(figure: Figure) -> Sheet:
    """The lines of the axis keep to their part of a row, so that no stroke runs through a
    number.
    """
    axis = Axis(*bounds_of(figure), SIDE, WIDTH - SIDE)
    sheet, bottom = _in_rows(figure, [mark.label for mark in figure.marks], ROW, 37)
    ticks = _ticks(figure, axis)
    for tick, said in ticks:
        sheet.text(axis.at(tick), bottom + 18, said, anchor="middle")
    for place, mark in enumerate(figure.marks):
        y = place * ROW + 27
        for tick in {tick for tick, _ in ticks} - {*mark.cutoffs}:
            sheet.line(axis.at(tick), y - REACH, axis.at(tick), y + REACH, "grid")
        for at, _ in figure.cutoffs:
            sheet.line(axis.at(at), y - REACH, axis.at(at), y + REACH, "cutoff")
        sheet.text(WIDTH - SIDE, place * ROW + 13, mark.said, "number", "end")
        for nth, cutoff in enumerate(mark.cutoffs):
            half = 5 + 4 * nth
            sheet.line(axis.at(cutoff), y - half, axis.at(cutoff), y + half, "cutoff")
        if mark.value is not None:
            low, high = axis.span(mark.low, mark.high)
            sheet.line(low, y, high, y, f"span {mark.tone}")
            sheet.sign(axis.at(mark.value), y, mark.tone, f"{mark.label}: {mark.said}")
    return sheet


def _ticks(figure: Figure, axis: Axis) -> list[tuple[float, str]]:
    shared = {mark.cutoffs for mark in figure.marks}
    cutoffs = shared.pop() if len(shared) == 1 else ()
    places = [axis.at(cutoff) for cutoff in cutoffs]
    if not places or any(other - one < APART for one, other in pairwise(places)):
        return axis.ticks
    return [(cutoff, tick_text(cutoff)) for cutoff in cutoffs]


def _spans(figure: Figure) -> Sheet:
    bounds = figure.bounds or (0.0, _highest(mark.high for mark in figure.marks))
    axis = Axis(*bounds, SIDE, WIDTH - SIDE)
    sheet, _ = _in_rows(figure, [series.name for series in figure.series], 46, 22)
    for place, series in enumerate(figure.series):
        y = place * 46 + 40
        sheet.box(SIDE, y, axis.end - SIDE, 2, "track")
        for mark in series.marks:
            if mark.low is None or mark.high is None:
                continue
            tall = 12 if mark.tone == "bad" else 5
            left, right = axis.span(mark.low, mark.high)
            tip = f"{mark.label}: {number(mark.low, 'g')} to {number(mark.high, 'g')}"
            sheet.box(left, y - tall, right - left, tall, f"bar {mark.tone}", tip)
            sheet.text(left, y - 15, _within(mark.label, right - left))
    return sheet


def _in_rows(figure: Figure, names: Sequence[str], row: float, foot: float) -> tuple[Sheet, float]:
    bottom = row * len(names)
    sheet = Sheet(bottom + foot)
    for place, name in enumerate(names):
        sheet.text(SIDE, place * row + 13, cut(name, 40), "label")
    sheet.text(WIDTH / 2, bottom + foot - 4, figure.axis, anchor="middle")
    return sheet, bottom


def _highest(numbers: Iterable[float | None]) -> float:
    return max((number or 0.0 for number in numbers), default=0.0) or 1.0


def _framed(figure: Figure, tall: float, foot: float) -> tuple[Sheet, Axis]:
    """No number beside the cut-offs stands on another."""
    sheet = Sheet(TOP + tall + foot)
    axis = Axis(*bounds_of(figure), TOP + tall, TOP)
    cutoffs = {at: tick_text(at) for at, _ in figure.cutoffs}
    taken: list[float] = []
    for at, said in (cutoffs | dict(axis.ticks)).items():
        y = axis.at(at)
        sheet.line(LEFT, y, WIDTH - RIGHT, y, "cutoff" if at in cutoffs else "grid")
        if all(abs(y - other) >= LINE for other in taken):
            sheet.text(LEFT - 4, y + 4, said, anchor="end")
            taken.append(y)
    sheet.text(2, 10, figure.axis)
    if figure.other_axis:
        sheet.text(WIDTH - RIGHT, sheet.height - 4, figure.other_axis, anchor="end")
    return sheet, axis


def _name_below(sheet: Sheet, bottom: float, named: Sequence[tuple[float, str]]) -> None:
    for x, name in named[:: -(-len(named) // MOST_NAMED) or 1]:
        sheet.upright(x + 4, bottom + 12, cut(name, 12))


def _course(figure: Figure) -> Sheet:
    sheet, axis = _framed(figure, 190, 66)
    across = Axis(-0.5, len(figure.marks) - 0.5, LEFT, WIDTH - RIGHT)
    named = [(across.at(place), mark.label) for place, mark in enumerate(figure.marks)]
    _name_below(sheet, axis.start, named)
    for (x, _), mark in zip(named, figure.marks, strict=True):
        if mark.value is None:
            sheet.text(x, axis.start - 5, "none", anchor="middle")
            continue
        y = axis.at(mark.value)
        low, high = axis.span(mark.low, mark.high)
        sheet.line(x, low, x, high, f"span {mark.tone}")
        sheet.sign(x, y, mark.tone, f"{mark.label}: {mark.said}")
        if mark.crossed:
            sheet.sign(x, y, "crossed", size=SIZE + 3)
    return sheet


def _lines(figure: Figure) -> Sheet:
    longest = max((series.marks for series in figure.series), key=len)
    named = any(mark.label for mark in longest)
    sheet, axis = _framed(figure, 190, 72 if named else 36)
    across = Axis(*spread([mark.across for mark in figure.marks]), LEFT, WIDTH - RIGHT)
    if named:
        places = [(across.at(mark.across or 0.0), mark.label) for mark in longest]
        _name_below(sheet, axis.start, places)
    else:
        for at, said in across.powers if figure.by_powers else across.ticks:
            sheet.text(across.at(at), axis.start + 14, said, anchor="middle")
    for place, series in enumerate(figure.series):
        kind = f"line c{place % COLOURS}"
        points = [
            (across.at(mark.across), axis.at(mark.value), mark)
            for mark in series.marks
            if mark.value is not None and mark.across is not None
        ]
        sheet.through([(x, y) for x, y, _ in points], "polyline", kind)
        for x, y, mark in points:
            tip = f"{series.name}, {mark.label}: {number(mark.value, SENTENCE)}"
            sheet.shape("circle", kind, tip, cx=x, cy=y, r=2.5)
    return sheet


def _matrix(figure: Figure) -> Sheet:
    heads = [mark.label for mark in figure.series[0].marks]
    left = _room([series.name for series in figure.series])
    top = 14 + 0.87 * _room(heads)
    wide = (WIDTH - left - 24) / len(heads)
    tall = min(wide, TALLEST_CELL)
    bottom = top + tall * len(figure.series)
    sheet, shade = Sheet(bottom + 20), Axis(*bounds_of(figure), 0, SHADES - 1)
    for place, head in enumerate(heads):
        sheet.upright(left + (place + 0.6) * wide, top - 6, cut(head, 15), "start")
    for row, series in enumerate(figure.series):
        y = top + row * tall
        sheet.text(left - 5, y + tall / 2 + 4, cut(series.name, 15), "label", "end")
        for place, mark in enumerate(series.marks):
            x, level = left + place * wide, round(shade.at(mark.value or 0.0))
            kind = "none" if mark.value is None else f"shade{level}"
            said = number(mark.value, SENTENCE) or "no value"
            tip = f"{series.name}, {mark.label}: {said}"
            sheet.box(x, y, wide - 1.5, tall - 1.5, f"cell {kind}", tip)
            if mark.value is not None and len(heads) <= MOST_WITH_NUMBERS:
                ink = "on-dark" if level >= SHADES // 2 else "on-light"
                written = number(mark.value, PROBABILITY)
                sheet.text(x + wide / 2, y + tall / 2 + 4, written, ink, "middle")
    sheet.text(WIDTH - 24, bottom + 14, figure.axis, anchor="end")
    return sheet


def _room(names: Sequence[str]) -> float:
    return 10 + 6.6 * min(15, max(map(len, names)))


def _in_image(figure: Figure) -> Sheet:
    widest = BEYOND * _highest(mark.across_high for mark in figure.marks)
    deepest = BEYOND * _highest(mark.high for mark in figure.marks)
    if figure.picture:
        _, widest, deepest = figure.picture
    wide = WIDTH - 12
    tall = min(TALLEST_IMAGE, max(LOWEST_IMAGE, wide * deepest / widest))
    sheet = Sheet(tall + 32)
    sheet.box(6, 6, wide, tall, "track")
    if figure.picture:
        more = {"href": figure.picture.address, "preserveAspectRatio": "none"}
        sheet.shape("image", "picture", "", "", x=6, y=6, width=wide, height=tall, **more)
    across, down = Axis(0.0, widest, 6, 6 + wide), Axis(0.0, deepest, 6, 6 + tall)
    for mark in sorted(figure.marks, key=lambda mark: mark.tone != ELSEWHERE):
        _object(sheet, figure.kind, mark, across, down)
    sheet.text(WIDTH / 2, tall + 24, figure.axis, anchor="middle")
    return sheet


def _object(sheet: Sheet, kind: Kind, mark: Mark, across: Axis, down: Axis) -> None:
    if None in (mark.across_low, mark.low, mark.across_high, mark.high):
        return
    left, right = across.span(mark.across_low, mark.across_high)
    top, foot = down.span(mark.low, mark.high)
    points = [(across.at(x), down.at(y)) for x, y in mark.points]
    edge, wide, tall = f"edge {mark.tone}", right - left, foot - top
    if kind == "frames":
        sheet.box(left, top, wide, tall, edge, mark.label)
        x, y, anchor = left + 2, top + 11, "start"
    elif kind == "outlines":
        sheet.through(points, "polygon", edge, mark.label)
        x, y, anchor = left + wide / 2, top + tall / 2, "middle"
    else:
        sheet.box(left - 6, top - 6, wide + 12, tall + 12, edge, mark.label)
        for at in points:
            sheet.sign(*at, mark.tone, mark.label, size=3.5)
        far = left > WIDTH / 2
        x, y, anchor = right + 6 if far else left - 6, top - 9, "end" if far else "start"
        wide = WIDTH / 2
    if mark.tone != ELSEWHERE:
        sheet.text(x, y, _within(mark.label, wide), anchor=anchor)


def _within(text: str, width: float) -> str:
    """As much of a text as its object has room for. The tip has all of it."""
    return cut(text, max(1, int(width / 5.5)))


DRAWN: dict[Kind, Callable[[Figure], Sheet]] = {
    "intervals": _intervals,
    "course": _course,
    "matrix": _matrix,
    "lines": _lines,
    "spans": _spans,
    "frames": _in_image,
    "outlines": _in_image,
    "bodies": _in_image,
}


def glance(course: Figure) -> str | None:
    """The last rounds, in a drawing small enough to stand in a page without a click."""
    known = [mark for mark in course.marks if mark.value is not None][-MOST_ROUNDS:]
    drawn = (_small(course, known[start:]) for start in range(len(known)))
    return next((each for each in drawn if len(each) <= LONGEST), None)


def _small(course: Figure, marks: Sequence[Mark]) -> str:
    wide, high, left, below = 430, 128, 46, 0
    cutoffs = [cutoff for cutoff, _ in course.cutoffs]
    numbers = [number for mark in marks for number in (mark.value, mark.low) if number is not None]
    axis = Axis(max(-1.0, min(*cutoffs, *numbers) - SHORTEST_AXIS), 1.0, high - 20, 24)
    step = min(WIDEST_STEP, (wide - left - 10) // len(marks))
    placed = [(left + step // 2 + nth * step, mark) for nth, mark in enumerate(marks)]
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{wide}' height='{high}' "
        "font-size='11' fill='#778' stroke-width='2'>"
    ]
    for cutoff in cutoffs:
        y = round(axis.at(cutoff))
        below = max(y + 4, below + 11)
        parts.append(
            f"<text y='{below}'>{cutoff:g}</text>"
            f"<path stroke='#99a' stroke-dasharray='4' d='M{left - 8},{y}h{wide - left}'/>"
        )
    legend = []
    for tone, words in course.legend:
        mine = [(x, m) for x, m in placed if (m.tone if m.tone in SIGNS else "bad") == tone]
        if mine:
            end, colour, sign = SIGNS[tone]
            legend.append(f"<tspan fill='{colour}'>{sign}{words}</tspan>")
            flat, lines, values = 2 if end == "butt" else 0, "", ""
            for x, mark in mine:
                bottom, top = map(round, axis.span(mark.low, mark.high))
                lines += f"M{x},{top}v{bottom - top}"
                values += f"M{x - flat},{round(axis.at(mark.value or 0.0))}h{2 * flat}"
            parts.append(
                f"<g stroke='{colour}'><path d='{lines}'/>"
                f"<path stroke-width='8' stroke-linecap='{end}' d='{values}'/></g>"
            )
    parts.append(f"<text x='{left}' y='10'>{' '.join(legend)}</text>")
    parts += [
        f"<text x='{x - 18}' y='{high - 4}'>{escape(mark.label[:LONGEST_NAME], quote=False)}</text>"
        for x, mark in dict([placed[0], placed[-1]]).items()
    ]
    return f"data:image/svg+xml,{quote(''.join([*parts, '</svg>']), safe=UNQUOTED)}"
