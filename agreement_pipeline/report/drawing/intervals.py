"""A row for each mark: its name, its number, and its limits on one axis."""

from agreement_pipeline.report.drawing.axis import Axis, bounds_of, tick_text
from agreement_pipeline.report.drawing.canvas import WIDTH, Canvas
from agreement_pipeline.report.figure import Figure, Mark
from agreement_pipeline.text import SENTENCE, interval, number

ROW, FOOT, SIDE = 36.0, 34.0, 10.0
LETTERS = 38


def intervals(figure: Figure) -> Canvas:
    """Draw each mark in a row of its own."""
    low, high = bounds_of(figure)
    axis = Axis(low, high, SIDE, WIDTH - SIDE)
    canvas = Canvas(ROW * len(figure.marks) + FOOT)
    bottom = ROW * len(figure.marks) + 4
    for tick in axis.ticks:
        canvas.line((axis.at(tick), 0), (axis.at(tick), bottom), "grid")
        canvas.text((axis.at(tick), bottom + 14), tick_text(tick), "tick", "middle")
    for at, _ in figure.cutoffs:
        canvas.line((axis.at(at), 0), (axis.at(at), bottom), "cutoff")
    for place, mark in enumerate(figure.marks):
        _row(canvas, axis, mark, place * ROW)
    canvas.text((WIDTH / 2, bottom + 28), figure.axis, "tick", "middle")
    return canvas


def _row(canvas: Canvas, axis: Axis, mark: Mark, top: float) -> None:
    said = f"{number(mark.value, SENTENCE)} ({interval(mark.low, mark.high)})"
    said = said if mark.value is not None else "no value"
    canvas.text((SIDE, top + 13), shortened(mark.label, LETTERS), "label")
    canvas.text((WIDTH - SIDE, top + 13), said, "number", "end")
    y = top + 25
    for place, cutoff in enumerate(mark.cutoffs):
        half = 5 + 4 * place
        canvas.line((axis.at(cutoff), y - half), (axis.at(cutoff), y + half), "cutoff")
    if mark.value is None:
        return
    low, high = axis.span(mark)
    canvas.line((low, y), (high, y), f"span {mark.tone}")
    canvas.mark((axis.at(mark.value), y), mark.tone, f"{mark.label}: {said}")


def shortened(text: str, most: int) -> str:
    """The text, or its beginning.

    >>> shortened("krippendorff_alpha", 8)
    'krippen…'
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"
