"""Marks on two axes with the limits of both numbers."""

from agreement_pipeline.report.drawing.axis import Axis, bounds_of, spread, tick_text
from agreement_pipeline.report.drawing.canvas import WIDTH, Canvas
from agreement_pipeline.report.drawing.course import LEFT, RIGHT, TOP, draw_frame
from agreement_pipeline.report.drawing.intervals import shortened
from agreement_pipeline.report.figure import Figure, Mark
from agreement_pipeline.text import SENTENCE, number

TALL, FOOT, LETTERS = 270.0, 40.0, 14


def plane(figure: Figure) -> Canvas:
    """Draw each mark where its two numbers meet."""
    axis = Axis(*bounds_of(figure), TOP + TALL, TOP)
    across = Axis(*_across(figure), LEFT, WIDTH - RIGHT)
    canvas = Canvas(TOP + TALL + FOOT)
    draw_frame(canvas, axis, figure)
    bottom = TOP + TALL
    for tick in across.ticks:
        canvas.text((across.at(tick), bottom + 14), tick_text(tick), "tick", "middle")
    for at, _ in figure.cutoffs:
        canvas.line((across.at(at), TOP), (across.at(at), bottom), "cutoff")
    canvas.text((WIDTH - RIGHT, bottom + 30), figure.other_axis, "tick", "end")
    for mark in figure.marks:
        if mark.value is not None and mark.across is not None:
            _mark(canvas, axis, across, mark)
    return canvas


def _across(figure: Figure) -> tuple[float, float]:
    if figure.bounds is not None:
        return figure.bounds
    numbers = [(mark.across, mark.across_low, mark.across_high) for mark in figure.marks]
    return spread([*(at for at, _ in figure.cutoffs), *(each for row in numbers for each in row)])


def _mark(canvas: Canvas, axis: Axis, across: Axis, mark: Mark) -> None:
    value, other = mark.value or 0.0, mark.across or 0.0
    x, y = across.at(other), axis.at(value)
    low, high = axis.span(mark)
    canvas.line((x, low), (x, high), f"span thin {mark.tone}")
    sideways = Mark(mark.label, other, mark.across_low, mark.across_high)
    start, end = across.span(sideways)
    canvas.line((start, y), (end, y), f"span thin {mark.tone}")
    tip = f"{mark.label}: {number(value, SENTENCE)}, {number(other, SENTENCE)}"
    canvas.mark((x, y), mark.tone, tip)
    right = x < WIDTH * 0.7
    at = (x + 7 if right else x - 7, y - 6)
    canvas.text(at, shortened(mark.label, LETTERS), "label", "start" if right else "end")
