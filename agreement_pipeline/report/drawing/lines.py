"""A line for each series: each has its own colour, dashes and name at its end."""

import math

from agreement_pipeline.report.drawing.axis import Axis, bounds_of, spread, tick_text
from agreement_pipeline.report.drawing.canvas import WIDTH, Canvas
from agreement_pipeline.report.drawing.course import LEFT, MOST_NAMED, RIGHT, TOP, draw_frame
from agreement_pipeline.report.drawing.intervals import shortened
from agreement_pipeline.report.figure import Figure
from agreement_pipeline.text import SENTENCE, number

TALL, LETTERS = 190.0, 12
NAMED, NUMBERED = 72.0, 36.0
COLOURS = 8


def lines(figure: Figure) -> Canvas:
    """Draw a line for each series, with a mark at each of its numbers."""
    axis = Axis(*bounds_of(figure), TOP + TALL, TOP)
    across = Axis(*spread([mark.across for mark in figure.marks]), LEFT, WIDTH - RIGHT)
    foot = NAMED if any(mark.label for mark in figure.marks) else NUMBERED
    canvas = Canvas(TOP + TALL + foot)
    draw_frame(canvas, axis, figure)
    _names_across(canvas, across, figure)
    for place, series in enumerate(figure.series):
        kind = f"line c{place % COLOURS}"
        known = [mark for mark in series.marks if None not in (mark.value, mark.across)]
        points = [(across.at(mark.across or 0.0), axis.at(mark.value or 0.0)) for mark in known]
        canvas.path(points, kind)
        for mark, at in zip(known, points, strict=True):
            tip = f"{series.name}, {mark.label}: {number(mark.value, SENTENCE)}"
            canvas.dot(at, kind, tip)
    canvas.text((WIDTH - RIGHT, TOP + TALL + foot - 4), figure.other_axis, "tick", "end")
    return canvas


def _names_across(canvas: Canvas, across: Axis, figure: Figure) -> None:
    """The names of the marks of the first series, or numbers if they have no names."""
    bottom = TOP + TALL
    marks = max((series.marks for series in figure.series), key=len)
    if not any(mark.label for mark in marks):
        for at, said in _ticks(across, figure):
            canvas.text((across.at(at), bottom + 14), said, "tick", "middle")
        return
    for mark in marks[:: -(-len(marks) // MOST_NAMED)]:
        canvas.upright(
            (across.at(mark.across or 0.0) + 4, bottom + 12), shortened(mark.label, LETTERS)
        )


def _ticks(across: Axis, figure: Figure) -> list[tuple[float, str]]:
    if figure.by_powers:
        return [(math.log10(n), tick_text(float(n))) for n in across.round_powers]
    return [(at, tick_text(at)) for at in across.ticks]
