"""A bar for each mark, with its name above."""

from agreement_pipeline.report.drawing.axis import Axis
from agreement_pipeline.report.drawing.canvas import WIDTH, Canvas
from agreement_pipeline.report.drawing.intervals import shortened
from agreement_pipeline.report.figure import Figure
from agreement_pipeline.text import number

ROW, SIDE, LETTERS = 32.0, 6.0, 48


def bars(figure: Figure) -> Canvas:
    """Draw each mark as a bar from zero."""
    highest = max((mark.value or 0.0 for mark in figure.marks), default=0.0) or 1.0
    axis = Axis(*(figure.bounds or (0.0, highest)), SIDE, WIDTH - SIDE)
    canvas = Canvas(ROW * len(figure.marks) + 20)
    for place, mark in enumerate(figure.marks):
        top, value = place * ROW, mark.value or 0.0
        said = "no value" if mark.value is None else number(mark.value, figure.form)
        canvas.text((SIDE, top + 12), shortened(mark.label, LETTERS), "label")
        canvas.text((WIDTH - SIDE, top + 12), said, "number", "end")
        canvas.box((SIDE, top + 17), (axis.end - SIDE, 9), "track")
        canvas.box((SIDE, top + 17), (axis.at(value) - SIDE, 9), f"bar {mark.tone}")
    canvas.text((WIDTH / 2, ROW * len(figure.marks) + 12), figure.axis, "tick", "middle")
    return canvas
