"""Figures drawn as SVG: a function a kind of figure.

What raters differ on is tall, or has a thick edge. So no colour is needed to see it. Shapes have
classes, so that the colours of a page hold in light and in dark.
"""

import base64
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
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
    RoundLine,
    Tone,
    axis_bounds,
    cut_text,
    least_and_greatest,
    tick_text,
)
from agreement_pipeline.text import PROBABILITY, SENTENCE, number_in_table

STYLE = Path(__file__).with_name("templates") / "figures.css"
SHEET_WIDTH = 400.0
"""In the units of the drawing, as all lengths here."""
SIGN_SIZE = 6.0
DISPLAY_WIDTH = 600
"""In pixels."""

LEFT_MARGIN = 38.0
"""With room for the numbers of the axis. Rows have `SIDE_MARGIN` instead."""
RIGHT_MARGIN = 8.0
TOP_MARGIN = 26.0
SIDE_MARGIN = 10.0

LETTER_WIDTH = 6.4
LINE_HEIGHT = 11.0
MIN_TICK_GAP = 34.0

MAX_NAMES_BELOW = 14
MAX_COLUMNS_WITH_NUMBERS = 8

MAX_CELL_HEIGHT = 34.0
MIN_IMAGE_HEIGHT = 60.0
MAX_IMAGE_HEIGHT = 420.0
ROW_HEIGHT = 40.0
GRID_HALF_HEIGHT = 9.0
SINGLE_RATER_TONE: Tone = "plain"
"""What a single rater drew elsewhere lies below the units."""

IMAGE_MARGIN_FACTOR = 1.05

URL_SAFE = "/:='-.,;+*!~_"
AXIS_MARGIN = 0.2
STRIP_WIDTH, STRIP_HEIGHT, TREND_WIDTH, TREND_GAP = 212, 22, 116, 24
STRIP_FROM = 0.4
MAX_TREND_ROUNDS = 12
SIGN_MARGIN = 6
STRIP_SIGNS: dict[Tone, tuple[str, str]] = {
    "good": ("#38c", "M0,11m-5,0a5,5,0,1,0,10,0a5,5,0,1,0,-10,0"),
    "partly": ("#b81", "M0,5l6,11h-12z"),
    "bad": ("#d53", "M-5,6h10v10h-10z"),
    "unknown": ("#889", "M0,11m-4,0a4,4,0,1,0,8,0a4,4,0,1,0,-8,0"),
    "plain": ("#889", "M0,11m-4,0a4,4,0,1,0,8,0a4,4,0,1,0,-8,0"),
}
"""Colours that read on a light and on a dark page, and a shape for each, round the point 0, 11."""


@dataclass
class Sheet:
    """Shapes on a sheet of a fixed width. Text from the data stays text."""

    height: float
    root: Xml.Element = field(
        default_factory=lambda: Xml.Element("svg", {"class": "figure", "role": "img"})
    )

    def add_shape(
        self, tag: str, kind: str, tip: str = "", words: str = "", **attributes: float | str
    ) -> None:
        places = {
            name.replace("_", "-"): _format_number(value) for name, value in attributes.items()
        }
        element = Xml.SubElement(self.root, tag, {"class": kind, **places})
        element.text = words or None
        if tip:
            Xml.SubElement(element, "title").text = tip

    def leading_to(self, part: str, name: str) -> "Sheet":
        """Where shapes are drawn that lead to a part of the page."""
        link = {"href": f"#{part}", "aria-label": name}
        return Sheet(self.height, Xml.SubElement(self.root, "a", link))

    def add_line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        self.add_shape("line", kind, x1=x1, y1=y1, x2=x2, y2=y2)

    def add_box(
        self, x: float, y: float, width: float, height: float, kind: str, tip: str = ""
    ) -> None:
        self.add_shape("rect", kind, tip, x=x, y=y, width=width, height=height)

    def add_path(self, points: Sequence[Point], tag: str, kind: str, tip: str = "") -> None:
        places = " ".join(f"{_format_number(x)},{_format_number(y)}" for x, y in points)
        self.add_shape(tag, kind, tip, points=places)

    def add_text(
        self, x: float, y: float, words: str, kind: str = "tick", anchor: str = "start"
    ) -> None:
        self.add_shape("text", kind, words=words, x=x, y=y, text_anchor=anchor)

    def add_upright_text(self, x: float, y: float, words: str, anchor: str = "end") -> None:
        rotation = f"rotate(-60 {_format_number(x)} {_format_number(y)})"
        self.add_shape(
            "text", "tick", words=words, x=x, y=y, text_anchor=anchor, transform=rotation
        )

    def add_sign(
        self, x: float, y: float, sign: str, tip: str = "", size: float = SIGN_SIZE
    ) -> None:
        if sign in ("good", "plain", "unknown"):
            self.add_shape("circle", f"mark {sign}", tip, cx=x, cy=y, r=size * 0.8)
        elif sign == "partly":
            corners = ((x, y - size), (x + size, y), (x, y + size), (x - size, y))
            self.add_path(corners, "polygon", "mark partly", tip)
        elif sign == "bad":
            half = size * 0.75
            self.add_box(x - half, y - half, 2 * half, 2 * half, "mark bad", tip)
        elif sign == "crossed":
            self.add_line(x - size, y - size, x + size, y + size, "cross")
            self.add_line(x - size, y + size, x + size, y - size, "cross")
        elif sign.startswith("shade"):
            self.add_box(x - size, y - size, 2 * size, 2 * size, f"cell {sign}")
        else:
            self.add_line(x - size - 2, y, x + size + 2, y, f"line {sign}")


def _format_number(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.1f}".removesuffix(".0")


def draw_svg(figure: Figure, name: str) -> str:
    """No other figure of a page may have the `name`."""
    return _sheet_as_svg(DRAW_BY_KIND[figure.kind](figure), figure, name)


def svg_data_url(figure: Figure) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg_file(figure).encode()).decode()}"


def svg_file(figure: Figure) -> str:
    sheet = DRAW_BY_KIND[figure.kind](figure)
    x, y = SIDE_MARGIN, sheet.height + 9
    for sign, words in figure.key:
        wide = 30 + LETTER_WIDTH * len(words)
        if x > SIDE_MARGIN and x + wide > SHEET_WIDTH:
            x, y = SIDE_MARGIN, y + 18
        sheet.add_sign(x, y - 4, sign, size=SIGN_SIZE - 1)
        sheet.add_text(x + 10, y, words, "label")
        x += wide
    sheet.height = y + 9
    paper = Xml.Element("rect", {"class": "paper", "width": "100%", "height": "100%"})
    style = Xml.Element("style")
    style.text = STYLE.read_text(encoding="utf-8")
    sheet.root[:0] = [style, paper]
    sheet.root.set("xmlns", "http://www.w3.org/2000/svg")
    sheet.root.set("width", f"{DISPLAY_WIDTH}")
    sheet.root.set("height", f"{sheet.height * DISPLAY_WIDTH / SHEET_WIDTH:g}")
    return _sheet_as_svg(sheet, figure, "f")


def draw_key(sign: str) -> str:
    sheet = Sheet(16)
    sheet.add_sign(8, 8, sign)
    sheet.root.attrib.clear()
    sheet.root.attrib |= {"class": "key", "viewBox": "0 0 16 16", "aria-hidden": "true"}
    return Xml.tostring(sheet.root, encoding="unicode")


def _sheet_as_svg(sheet: Sheet, figure: Figure, name: str) -> str:
    for place, (tag, words) in enumerate((("title", figure.title), ("desc", figure.says))):
        element = Xml.Element(tag, {"id": f"{name}-{tag}"})
        element.text = words
        sheet.root.insert(place, element)
    sheet.root.set("aria-labelledby", f"{name}-title {name}-desc")
    sheet.root.set("viewBox", f"0 0 {SHEET_WIDTH:g} {sheet.height:g}")
    if any(mark.to for mark in figure.marks):  # an image has no links that a reader may follow
        sheet.root.set("role", "group")
    return Xml.tostring(sheet.root, encoding="unicode")


def _draw_intervals(figure: Figure) -> Sheet:
    """The lines of the axis keep to their part of a row, so that no stroke runs through a
    number.
    """
    axis = Axis(*axis_bounds(figure), SIDE_MARGIN, SHEET_WIDTH - SIDE_MARGIN)
    sheet, bottom = _start_rows(figure, [mark.label for mark in figure.marks], ROW_HEIGHT, 37)
    ticks = _axis_ticks(figure, axis)
    for tick, tick_label in ticks:
        sheet.add_text(axis.position_of(tick), bottom + 18, tick_label, anchor="middle")
    for place, mark in enumerate(figure.marks):
        y = place * ROW_HEIGHT + 27
        for tick in {tick for tick, _ in ticks} - {*mark.cutoffs}:
            sheet.add_line(
                axis.position_of(tick),
                y - GRID_HALF_HEIGHT,
                axis.position_of(tick),
                y + GRID_HALF_HEIGHT,
                "grid",
            )
        for cutoff_value, _ in figure.cutoffs:
            sheet.add_line(
                axis.position_of(cutoff_value),
                y - GRID_HALF_HEIGHT,
                axis.position_of(cutoff_value),
                y + GRID_HALF_HEIGHT,
                "cutoff",
            )
        sheet.add_text(
            SHEET_WIDTH - SIDE_MARGIN, place * ROW_HEIGHT + 13, mark.value_in_words, "number", "end"
        )
        for position, cutoff in enumerate(mark.cutoffs):
            half = 5 + 4 * position
            sheet.add_line(
                axis.position_of(cutoff), y - half, axis.position_of(cutoff), y + half, "cutoff"
            )
        if mark.value is not None:
            low, high = axis.span(mark.low, mark.high)
            sheet.add_line(low, y, high, y, f"span {mark.tone}")
            sheet.add_sign(
                axis.position_of(mark.value), y, mark.tone, f"{mark.label}: {mark.value_in_words}"
            )
    return sheet


def _axis_ticks(figure: Figure, axis: Axis) -> list[tuple[float, str]]:
    shared = {mark.cutoffs for mark in figure.marks}
    cutoffs = shared.pop() if len(shared) == 1 else ()
    places = [axis.position_of(cutoff) for cutoff in cutoffs]
    if not places or any(
        next_place - place < MIN_TICK_GAP for place, next_place in pairwise(places)
    ):
        return axis.ticks
    return [(cutoff, tick_text(cutoff)) for cutoff in cutoffs]


def _draw_spans(figure: Figure) -> Sheet:
    bounds = figure.bounds or (0.0, _greatest_number_or_zero(mark.high for mark in figure.marks))
    axis = Axis(*bounds, SIDE_MARGIN, SHEET_WIDTH - SIDE_MARGIN)
    sheet, _ = _start_rows(figure, [series.name for series in figure.series], 46, 22)
    for place, series in enumerate(figure.series):
        y = place * 46 + 40
        sheet.add_box(SIDE_MARGIN, y, axis.end - SIDE_MARGIN, 2, "track")
        for mark in series.marks:
            if mark.low is None or mark.high is None:
                continue
            tall = 12 if mark.tone == "bad" else 5
            left_edge, right_edge = axis.span(mark.low, mark.high)
            tip = (
                f"{mark.label}: {number_in_table(mark.low, 'g')} to "
                f"{number_in_table(mark.high, 'g')}"
            )
            sheet.add_box(
                left_edge, y - tall, right_edge - left_edge, tall, f"bar {mark.tone}", tip
            )
            sheet.add_text(left_edge, y - 15, _fit_text(mark.label, right_edge - left_edge))
    return sheet


def _start_rows(
    figure: Figure, names: Sequence[str], row: float, foot: float
) -> tuple[Sheet, float]:
    bottom = row * len(names)
    sheet = Sheet(bottom + foot)
    for place, name in enumerate(names):
        sheet.add_text(SIDE_MARGIN, place * row + 13, cut_text(name, 40), "label")
    sheet.add_text(SHEET_WIDTH / 2, bottom + foot - 4, figure.axis, anchor="middle")
    return sheet, bottom


def _greatest_number_or_zero(numbers: Iterable[float | None]) -> float:
    return max((number or 0.0 for number in numbers), default=0.0) or 1.0


def _start_frame(figure: Figure, tall: float, foot: float) -> tuple[Sheet, Axis]:
    """No number beside the cut-offs stands on another."""
    sheet = Sheet(TOP_MARGIN + tall + foot)
    axis = Axis(*axis_bounds(figure), TOP_MARGIN + tall, TOP_MARGIN)
    cutoffs = {value: tick_text(value) for value, _ in figure.cutoffs}
    label_ys: list[float] = []
    for value, tick_label in (cutoffs | dict(axis.ticks)).items():
        y = axis.position_of(value)
        sheet.add_line(
            LEFT_MARGIN, y, SHEET_WIDTH - RIGHT_MARGIN, y, "cutoff" if value in cutoffs else "grid"
        )
        if all(abs(y - label_y) >= LINE_HEIGHT for label_y in label_ys):
            sheet.add_text(LEFT_MARGIN - 4, y + 4, tick_label, anchor="end")
            label_ys.append(y)
    sheet.add_text(2, 10, figure.axis)
    if figure.other_axis:
        sheet.add_text(
            SHEET_WIDTH - RIGHT_MARGIN, sheet.height - 4, figure.other_axis, anchor="end"
        )
    return sheet, axis


def _write_names_below(
    sheet: Sheet, bottom: float, name_places: Sequence[tuple[float, str]]
) -> None:
    for x, name in name_places[:: -(-len(name_places) // MAX_NAMES_BELOW) or 1]:
        sheet.add_upright_text(x + 4, bottom + 12, cut_text(name, 12))


def _draw_course(figure: Figure) -> Sheet:
    sheet, axis = _start_frame(figure, 190, 66)
    x_axis = Axis(-0.5, len(figure.marks) - 0.5, LEFT_MARGIN, SHEET_WIDTH - RIGHT_MARGIN)
    name_places = [
        (x_axis.position_of(place), mark.label) for place, mark in enumerate(figure.marks)
    ]
    _write_names_below(sheet, axis.start, name_places)
    for (x, _), mark in zip(name_places, figure.marks, strict=True):
        if mark.value is None:
            sheet.add_text(x, axis.start - 5, "none", anchor="middle")
            continue
        y = axis.position_of(mark.value)
        low, high = axis.span(mark.low, mark.high)
        sheet.add_line(x, low, x, high, f"span {mark.tone}")
        sheet.add_sign(x, y, mark.tone, f"{mark.label}: {mark.value_in_words}")
        if mark.crossed:
            sheet.add_sign(x, y, "crossed", size=SIGN_SIZE + 3)
    return sheet


def _draw_lines(figure: Figure) -> Sheet:
    longest = max((series.marks for series in figure.series), key=len)
    has_labels = any(mark.label for mark in longest)
    sheet, axis = _start_frame(figure, 190, 72 if has_labels else 36)
    x_axis = Axis(
        *least_and_greatest([mark.across for mark in figure.marks]),
        LEFT_MARGIN,
        SHEET_WIDTH - RIGHT_MARGIN,
    )
    if has_labels:
        places = [(x_axis.position_of(mark.across or 0.0), mark.label) for mark in longest]
        _write_names_below(sheet, axis.start, places)
    else:
        for tick, tick_label in x_axis.log_ticks if figure.by_powers else x_axis.ticks:
            sheet.add_text(x_axis.position_of(tick), axis.start + 14, tick_label, anchor="middle")
    for place, series in enumerate(figure.series):
        kind = f"line c{place % COLOURS}"
        points = [
            (x_axis.position_of(mark.across), axis.position_of(mark.value), mark)
            for mark in series.marks
            if mark.value is not None and mark.across is not None
        ]
        sheet.add_path([(x, y) for x, y, _ in points], "polyline", kind)
        for x, y, mark in points:
            tip = f"{series.name}, {mark.label}: {number_in_table(mark.value, SENTENCE)}"
            sheet.add_shape("circle", kind, tip, cx=x, cy=y, r=2.5)
    return sheet


def _draw_matrix(figure: Figure) -> Sheet:
    heads = [mark.label for mark in figure.series[0].marks]
    left_edge = _width_of_names([series.name for series in figure.series])
    top = 14 + 0.87 * _width_of_names(heads)
    wide = (SHEET_WIDTH - left_edge - 24) / len(heads)
    tall = min(wide, MAX_CELL_HEIGHT)
    bottom = top + tall * len(figure.series)
    sheet, shade = Sheet(bottom + 20), Axis(*axis_bounds(figure), 0, SHADES - 1)
    for place, head in enumerate(heads):
        sheet.add_upright_text(
            left_edge + (place + 0.6) * wide, top - 6, cut_text(head, 15), "start"
        )
    for row, series in enumerate(figure.series):
        y = top + row * tall
        sheet.add_text(left_edge - 5, y + tall / 2 + 4, cut_text(series.name, 15), "label", "end")
        for place, mark in enumerate(series.marks):
            x, level = left_edge + place * wide, round(shade.position_of(mark.value or 0.0))
            kind = "none" if mark.value is None else f"shade{level}"
            value_text = number_in_table(mark.value, SENTENCE) or "no value"
            tip = f"{series.name}, {mark.label}: {value_text}"
            cell = sheet.leading_to(mark.to, tip) if mark.to else sheet
            cell.add_box(x, y, wide - 1.5, tall - 1.5, f"cell {kind}", tip)
            if mark.value is not None and len(heads) <= MAX_COLUMNS_WITH_NUMBERS:
                ink = "on-dark" if level >= SHADES // 2 else "on-light"
                digits = number_in_table(mark.value, PROBABILITY)
                cell.add_text(x + wide / 2, y + tall / 2 + 4, digits, ink, "middle")
    sheet.add_text(SHEET_WIDTH - 24, bottom + 14, figure.axis, anchor="end")
    return sheet


def _width_of_names(names: Sequence[str]) -> float:
    return 10 + 6.6 * min(15, max(map(len, names)))


def _draw_in_image(figure: Figure) -> Sheet:
    widest = IMAGE_MARGIN_FACTOR * _greatest_number_or_zero(
        mark.across_high for mark in figure.marks
    )
    deepest = IMAGE_MARGIN_FACTOR * _greatest_number_or_zero(mark.high for mark in figure.marks)
    if figure.picture:
        _, widest, deepest = figure.picture
    wide = SHEET_WIDTH - 12
    tall = min(MAX_IMAGE_HEIGHT, max(MIN_IMAGE_HEIGHT, wide * deepest / widest))
    sheet = Sheet(tall + 32)
    sheet.add_box(6, 6, wide, tall, "track")
    if figure.picture:
        picture_attributes = {"href": figure.picture.address, "preserveAspectRatio": "none"}
        sheet.add_shape(
            "image", "picture", "", "", x=6, y=6, width=wide, height=tall, **picture_attributes
        )
    x_axis, y_axis = Axis(0.0, widest, 6, 6 + wide), Axis(0.0, deepest, 6, 6 + tall)
    for mark in sorted(figure.marks, key=lambda mark: mark.tone != SINGLE_RATER_TONE):
        _draw_object(sheet, figure.kind, mark, x_axis, y_axis)
    sheet.add_text(SHEET_WIDTH / 2, tall + 24, figure.axis, anchor="middle")
    return sheet


def _draw_object(sheet: Sheet, kind: Kind, mark: Mark, x_axis: Axis, y_axis: Axis) -> None:
    if None in (mark.across_low, mark.low, mark.across_high, mark.high):
        return
    left_edge, right_edge = x_axis.span(mark.across_low, mark.across_high)
    top, foot = y_axis.span(mark.low, mark.high)
    points = [(x_axis.position_of(x), y_axis.position_of(y)) for x, y in mark.points]
    edge, wide, tall = f"edge {mark.tone}", right_edge - left_edge, foot - top
    if kind == "frames":
        sheet.add_box(left_edge, top, wide, tall, edge, mark.label)
        x, y, anchor = left_edge + 2, top + 11, "start"
    elif kind == "outlines":
        sheet.add_path(points, "polygon", edge, mark.label)
        x, y, anchor = left_edge + wide / 2, top + tall / 2, "middle"
    else:
        sheet.add_box(left_edge - 6, top - 6, wide + 12, tall + 12, edge, mark.label)
        for point in points:
            sheet.add_sign(*point, mark.tone, mark.label, size=3.5)
        is_in_right_half = left_edge > SHEET_WIDTH / 2
        x, y, anchor = (
            right_edge + 6 if is_in_right_half else left_edge - 6,
            top - 9,
            "end" if is_in_right_half else "start",
        )
        wide = SHEET_WIDTH / 2
    if mark.tone != SINGLE_RATER_TONE:
        sheet.add_text(x, y, _fit_text(mark.label, wide), anchor=anchor)


def _fit_text(text: str, width: float) -> str:
    """As much of a text as its object has room for. The tip has all of it."""
    return cut_text(text, max(1, int(width / 5.5)))


DRAW_BY_KIND: dict[Kind, Callable[[Figure], Sheet]] = {
    "intervals": _draw_intervals,
    "course": _draw_course,
    "matrix": _draw_matrix,
    "lines": _draw_lines,
    "spans": _draw_spans,
    "frames": _draw_in_image,
    "outlines": _draw_in_image,
    "bodies": _draw_in_image,
}


def strip_data_url(line: RoundLine, trend: Sequence[float] = ()) -> str | None:
    """A strip as the address of an image. None if the round has no value."""
    strip = draw_strip(line, trend)
    return f"data:image/svg+xml,{quote(strip, safe=URL_SAFE)}" if strip else None


def draw_strip(line: RoundLine, trend: Sequence[float] = (), attributes: str = "") -> str:
    """The interval of a round beside its cut-offs, and the values of the rounds until it, so small
    that both stand in a line of text. Empty if the round has no value.

    The axis is the same in each drawing with the same cut-offs, so that rows compare by eye. An
    arrow at its left end stands for what lies below.
    """
    if line.value is None:
        return ""
    values = trend[-MAX_TREND_ROUNDS:]
    lowest = min([STRIP_FROM, *(cutoff - AXIS_MARGIN for cutoff in line.cutoffs)])
    axis = Axis(lowest, 1.0, 0, STRIP_WIDTH)
    width = STRIP_WIDTH + (TREND_GAP + TREND_WIDTH if len(values) > 1 else 0)
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{STRIP_HEIGHT}' "
        f"viewBox='0 0 {width} {STRIP_HEIGHT}' fill='none' stroke='#888'{attributes}>",
        f"<path stroke-width='8' stroke-opacity='.25' d='M0,11h{STRIP_WIDTH}'/>",
    ]
    for place, cutoff in enumerate(line.cutoffs):
        dashes = "4,2" if place == len(line.cutoffs) - 1 else "1,2"
        parts.append(
            f"<path stroke-dasharray='{dashes}' d='M{round(axis.position_of(cutoff))},1v20'/>"
        )
    colour, sign = STRIP_SIGNS[line.reading]
    low, high = (
        min(max(round(axis.position_of(limit)), 0), STRIP_WIDTH)
        for limit in (
            line.value if line.low is None else line.low,
            line.value if line.high is None else line.high,
        )
    )
    position_of = round(axis.position_of(line.value))
    if position_of < SIGN_MARGIN:  # it lies below the axis
        sign, position_of = "M2,11l7,-5v10z", 0
    parts.append(
        f"<g stroke='{colour}' fill='{colour}'><path stroke-width='4' d='M{low},11H{high}'/>"
        f"<path d='{sign}' transform='translate({position_of})'/></g>"
    )
    if len(values) > 1:
        parts += _draw_trend(values, line.cutoffs[-1:], lowest)
    return "".join([*parts, "</svg>"])


def _draw_trend(values: Sequence[float], cutoffs: Sequence[float], lowest: float) -> Iterator[str]:
    start = STRIP_WIDTH + TREND_GAP
    across = Axis(0, len(values) - 1, start, start + TREND_WIDTH)
    upwards = Axis(lowest, 1.0, STRIP_HEIGHT - 2, 2)
    points = (
        f"{round(across.position_of(place))},{round(upwards.position_of(max(value, lowest)))}"
        for place, value in enumerate(values)
    )
    for cutoff in cutoffs:
        y = round(upwards.position_of(cutoff))
        yield f"<path stroke-dasharray='4,2' d='M{start},{y}h{TREND_WIDTH}'/>"
    yield f"<path stroke-width='1.5' d='M{'L'.join(points)}'/>"
