"""Marks from left to right with their limits, such as the rounds of a project."""

from agreement_pipeline.report.drawing.axis import Axis, bounds_of, tick_text
from agreement_pipeline.report.drawing.canvas import WIDTH, Canvas
from agreement_pipeline.report.drawing.intervals import shortened
from agreement_pipeline.report.figure import Figure, Mark
from agreement_pipeline.text import SENTENCE, interval, number

LEFT, RIGHT, TOP, TALL, FOOT = 34.0, 8.0, 26.0, 190.0, 66.0
MOST_NAMED = 14
LETTERS = 12


def course(figure: Figure) -> Canvas:
    """Draw the marks of each series beside each other."""
    low, high = bounds_of(figure)
    axis = Axis(low, high, TOP + TALL, TOP)
    canvas = Canvas(TOP + TALL + FOOT)
    draw_frame(canvas, axis, figure)
    marks = figure.marks
    across = Axis(-0.5, len(marks) - 0.5, LEFT, WIDTH - RIGHT)
    step = -(-len(marks) // MOST_NAMED)
    for place, mark in enumerate(marks):
        x = across.at(place)
        if place % step == 0:
            canvas.upright((x + 4, TOP + TALL + 12), shortened(mark.label, LETTERS))
        if mark.value is None:
            canvas.text((x, TOP + TALL - 5), "none", "tick", "middle")
        else:
            _mark(canvas, axis, mark, x)
    return canvas


def draw_frame(canvas: Canvas, axis: Axis, figure: Figure) -> None:
    """Draw the lines of an upright axis, and the cut-offs with their names."""
    for tick in axis.ticks:
        canvas.line((LEFT, axis.at(tick)), (WIDTH - RIGHT, axis.at(tick)), "grid")
        canvas.text((LEFT - 4, axis.at(tick) + 4), tick_text(tick), "tick", "end")
    for at, name in figure.cutoffs:
        canvas.line((LEFT, axis.at(at)), (WIDTH - RIGHT, axis.at(at)), "cutoff")
        canvas.text((LEFT + 3, axis.at(at) - 3), name, "tick")
    canvas.text((2, 10), figure.axis, "tick")


def _mark(canvas: Canvas, axis: Axis, mark: Mark, x: float) -> None:
    value = mark.value or 0.0
    low, high = axis.span(mark)
    said = f"{mark.label}: {number(value, SENTENCE)} ({interval(mark.low, mark.high)})"
    canvas.line((x, low), (x, high), f"span {mark.tone}")
    canvas.mark((x, axis.at(value)), mark.tone, said)
    if mark.crossed:
        canvas.cross((x, axis.at(value)))
