"""Marked objects at their places: spans on a line for each rater, or boxes in a frame.

What raters differ on is tall, or has a thick edge. So no colour is needed to see it.
"""

from agreement_pipeline.report.drawing.axis import Axis
from agreement_pipeline.report.drawing.canvas import WIDTH, Canvas
from agreement_pipeline.report.drawing.intervals import shortened
from agreement_pipeline.report.figure import Figure, Mark
from agreement_pipeline.text import number

ROW, SIDE, LETTERS = 46.0, 6.0, 48
LETTER = 5.5
"""How wide a letter is."""
TALL, LOW = 12.0, 5.0
FRAME, TALLEST = 260.0, 420.0
"""The height of a frame without an image, and the most with one."""


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
    widest, deepest = _reach(figure)
    tall = FRAME
    if figure.picture:
        tall = min(TALLEST, (WIDTH - 2 * SIDE) * deepest / widest) + 2 * SIDE
    canvas = Canvas(tall + 20)
    place, size = (SIDE, SIDE), (WIDTH - 2 * SIDE, tall - 2 * SIDE)
    canvas.box(place, size, "track")
    if figure.picture:
        canvas.image(place, size, figure.picture.address)
    across, down = Axis(0.0, widest, SIDE, WIDTH - SIDE), Axis(0.0, deepest, SIDE, tall - SIDE)
    for mark in figure.marks:
        _frame(canvas, mark, across, down)
    canvas.text((WIDTH / 2, tall + 12), figure.axis, "tick", "middle")
    return canvas


def _reach(figure: Figure) -> tuple[float, float]:
    """How wide and how tall the image is, or what of it the boxes fill if it is not at hand."""
    if figure.picture:
        return figure.picture.width, figure.picture.height
    widest = max((mark.across_high or 0.0 for mark in figure.marks), default=0.0) or 1.0
    return widest, max((mark.high or 0.0 for mark in figure.marks), default=0.0) or 1.0


def _frame(canvas: Canvas, mark: Mark, across: Axis, down: Axis) -> None:
    corners = (mark.across_low, mark.low, mark.across_high, mark.high)
    if None in corners:
        return
    left, top, right, foot = (
        axis.at(value or 0.0) for axis, value in zip((across, down) * 2, corners, strict=True)
    )
    canvas.box((left, top), (right - left, foot - top), f"edge {mark.tone}", mark.label)
    if mark.tone != "plain":
        canvas.text((left + 2, top + 11), _within(mark.label, right - left), "tick")


def _within(text: str, width: float) -> str:
    """As much of a text as its object has room for. The tip has all of it."""
    return shortened(text, max(1, int(width / LETTER)))


def _axis(bounds: tuple[float, float] | None, ends: list[float | None]) -> Axis:
    highest = max((end or 0.0 for end in ends), default=0.0) or 1.0
    return Axis(*(bounds or (0.0, highest)), SIDE, WIDTH - SIDE)
