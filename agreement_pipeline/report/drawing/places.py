"""Marked objects at their places: spans on a line for each rater, or others in their image.

What raters differ on is tall, or has a thick edge. So no colour is needed to see it.
"""

from collections.abc import Callable

from agreement_pipeline.report.drawing.axis import Axis
from agreement_pipeline.report.drawing.canvas import WIDTH, Canvas, Place
from agreement_pipeline.report.drawing.intervals import shortened
from agreement_pipeline.report.figure import Figure, Mark, Tone
from agreement_pipeline.text import number

ROW, SIDE, LETTERS = 46.0, 6.0, 48
LETTER = 5.5
"""How wide a letter is."""
TALL, LOW = 12.0, 5.0
ELSEWHERE: Tone = "plain"
"""The tone of what a single rater drew elsewhere. It lies below the units."""
ROOM, JOINT = 6.0, 3.5
"""What lies between the points of a body and its box, and how large a point is."""
LOWEST, TALLEST = 60.0, 420.0
"""The least and the most height of a frame. Between them it has the form of its image."""
BEYOND = 1.05
"""How much of a frame without an image lies beyond its marks."""


def spans(figure: Figure) -> Canvas:
    """Draw a line for each series, with its marks from their low to their high ends."""
    axis = _axis(figure.bounds, [mark.high for mark in figure.marks])
    canvas = Canvas(ROW * len(figure.series) + 20)
    for place, series in enumerate(figure.series):
        foot = (place + 1) * ROW - 6
        canvas.text((SIDE, foot - 30), shortened(series.name, LETTERS), "label")
        canvas.box((SIDE, foot), (WIDTH - 2 * SIDE, 2), "track")
        for mark in series.marks:
            if mark.low is None or mark.high is None:
                continue
            left, high = axis.at(mark.low), TALL if mark.tone == "bad" else LOW
            width = axis.at(mark.high) - left
            tip = f"{mark.label}: {number(mark.low, 'g')} to {number(mark.high, 'g')}"
            canvas.box((left, foot - high), (width, high), f"bar {mark.tone}", tip)
            canvas.text((left, foot - 15), _within(mark.label, width), "tick")
    canvas.text((WIDTH / 2, ROW * len(figure.series) + 12), figure.axis, "tick", "middle")
    return canvas


def frames(figure: Figure) -> Canvas:
    """Draw each mark as a box. Its limits across are left and right, the others top and foot."""
    return _in_image(figure, _frame)


def outlines(figure: Figure) -> Canvas:
    """Draw each mark as a polygon."""
    return _in_image(figure, _outline)


def bodies(figure: Figure) -> Canvas:
    """Draw the points of each mark, and a box around them."""
    return _in_image(figure, _body)


def _in_image(figure: Figure, draw: Callable[[Canvas, Mark, Axis, Axis], None]) -> Canvas:
    widest, deepest = _reach(figure)
    tall = min(TALLEST, max(LOWEST, (WIDTH - 2 * SIDE) * deepest / widest)) + 2 * SIDE
    canvas = Canvas(tall + 20)
    place, size = (SIDE, SIDE), (WIDTH - 2 * SIDE, tall - 2 * SIDE)
    canvas.box(place, size, "track")
    if figure.picture:
        canvas.image(place, size, figure.picture.address)
    across, down = Axis(0.0, widest, SIDE, WIDTH - SIDE), Axis(0.0, deepest, SIDE, tall - SIDE)
    for mark in sorted(figure.marks, key=lambda mark: mark.tone != ELSEWHERE):
        draw(canvas, mark, across, down)
    canvas.text((WIDTH / 2, tall + 12), figure.axis, "tick", "middle")
    return canvas


def _reach(figure: Figure) -> tuple[float, float]:
    """How wide and how tall the image is, or what of it the marks fill if it is not at hand."""
    if figure.picture:
        return figure.picture.width, figure.picture.height
    widest = max((mark.across_high or 0.0 for mark in figure.marks), default=0.0) or 1.0
    deepest = max((mark.high or 0.0 for mark in figure.marks), default=0.0) or 1.0
    return BEYOND * widest, BEYOND * deepest


def _frame(canvas: Canvas, mark: Mark, across: Axis, down: Axis) -> None:
    found = _corners(mark, across, down)
    if found is not None:
        (left, top), (right, foot) = found
        canvas.box((left, top), (right - left, foot - top), f"edge {mark.tone}", mark.label)
        _name(canvas, mark, (left + 2, top + 11), right - left)


def _outline(canvas: Canvas, mark: Mark, across: Axis, down: Axis) -> None:
    found = _corners(mark, across, down)
    if found is not None:
        (left, top), (right, foot) = found
        canvas.area(_points(mark, across, down), f"edge {mark.tone}", mark.label)
        _name(canvas, mark, ((left + right) / 2, (top + foot) / 2), right - left, "middle")


def _body(canvas: Canvas, mark: Mark, across: Axis, down: Axis) -> None:
    found = _corners(mark, across, down)
    if found is not None:
        (left, top), (right, foot) = found
        place, size = (left - ROOM, top - ROOM), (right - left + 2 * ROOM, foot - top + 2 * ROOM)
        canvas.box(place, size, f"edge {mark.tone}", mark.label)
        for point in _points(mark, across, down):
            canvas.mark(point, mark.tone, mark.label, JOINT)
        end, anchor = (right + ROOM, "end") if left > WIDTH / 2 else (left - ROOM, "start")
        _name(canvas, mark, (end, top - ROOM - 3), WIDTH / 2, anchor)


def _corners(mark: Mark, across: Axis, down: Axis) -> tuple[Place, Place] | None:
    """The upper left and the lower right end of a mark. None if it has none."""
    left, top, right, foot = mark.across_low, mark.low, mark.across_high, mark.high
    if left is None or top is None or right is None or foot is None:
        return None
    return (across.at(left), down.at(top)), (across.at(right), down.at(foot))


def _points(mark: Mark, across: Axis, down: Axis) -> list[Place]:
    return [(across.at(x), down.at(y)) for x, y in mark.points]


def _name(canvas: Canvas, mark: Mark, at: Place, width: float, anchor: str = "start") -> None:
    """What a unit is called. What a single rater drew elsewhere has its name in its tip."""
    if mark.tone != ELSEWHERE:
        canvas.text(at, _within(mark.label, width), "tick", anchor)


def _within(text: str, width: float) -> str:
    """As much of a text as its object has room for. The tip has all of it."""
    return shortened(text, max(1, int(width / LETTER)))


def _axis(bounds: tuple[float, float] | None, ends: list[float | None]) -> Axis:
    highest = max((end or 0.0 for end in ends), default=0.0) or 1.0
    return Axis(*(bounds or (0.0, highest)), SIDE, WIDTH - SIDE)
