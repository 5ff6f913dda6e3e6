"""Marks on two axes with the limits of both numbers."""

from itertools import product
from typing import NamedTuple, Self

from agreement_pipeline.report.drawing.axis import Axis, bounds_of, spread, tick_text
from agreement_pipeline.report.drawing.canvas import SIZE, WIDTH, Canvas, Place
from agreement_pipeline.report.drawing.course import LEFT, RIGHT, TOP, draw_frame
from agreement_pipeline.report.drawing.intervals import shortened
from agreement_pipeline.report.figure import Figure, Mark
from agreement_pipeline.text import SENTENCE, number

TALL, FOOT, LETTERS = 270.0, 40.0, 14
LETTER, LINE, GAP = 6.3, 11.0, 7.0
"""How wide a letter is, how tall a line of text, and how far it lies from its mark."""


class Space(NamedTuple):
    """The part of the sheet that a mark or its name fills."""

    left: float
    top: float
    right: float
    foot: float

    @classmethod
    def around(cls, place: Place) -> Self:
        """The space of a mark."""
        x, y = place
        return cls(x - SIZE, y - SIZE, x + SIZE, y + SIZE)

    @classmethod
    def beside(cls, place: Place, width: float, side: int, level: int) -> Self:
        """The space of a name to the left or right (-1, 1) of a mark, below or above it."""
        (x, y), wide = place, side * (GAP + width)
        left, right = sorted((x + side * GAP, x + wide))
        foot = y - LINE / 2 if level > 0 else y + LINE * 1.5
        return cls(left, foot - LINE, right, foot)

    def shared_with(self, other: "Space") -> float:
        """The area that both fill."""
        wide = min(self.right, other.right) - max(self.left, other.left)
        tall = min(self.foot, other.foot) - max(self.top, other.top)
        return max(0.0, wide) * max(0.0, tall)


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
    shown = [each for each in figure.marks if None not in (each.value, each.across)]
    places = [(across.at(each.across or 0.0), axis.at(each.value or 0.0)) for each in shown]
    for mark, place in zip(shown, places, strict=True):
        _mark(canvas, axis, across, mark, place)
    _names(canvas, [shortened(each.label, LETTERS) for each in shown], places)
    return canvas


def _across(figure: Figure) -> tuple[float, float]:
    if figure.bounds is not None:
        return figure.bounds
    numbers = [(mark.across, mark.across_low, mark.across_high) for mark in figure.marks]
    return spread([*(at for at, _ in figure.cutoffs), *(each for row in numbers for each in row)])


def _mark(canvas: Canvas, axis: Axis, across: Axis, mark: Mark, place: Place) -> None:
    value, other = mark.value or 0.0, mark.across or 0.0
    x, y = place
    low, high = axis.span(mark)
    canvas.line((x, low), (x, high), f"span thin {mark.tone}")
    sideways = Mark(mark.label, other, mark.across_low, mark.across_high)
    start, end = across.span(sideways)
    canvas.line((start, y), (end, y), f"span thin {mark.tone}")
    tip = f"{mark.label}: {number(value, SENTENCE)}, {number(other, SENTENCE)}"
    canvas.mark(place, mark.tone, tip)


def _names(canvas: Canvas, names: list[str], places: list[Place]) -> None:
    """Write each name beside its mark, where it covers least of the marks and names so far."""
    taken = [Space.around(place) for place in places]
    for name, place in zip(names, places, strict=True):
        width = LETTER * len(name)
        sides = product((1, -1), (1, -1))
        spaces = [Space.beside(place, width, side, level) for level, side in sides]
        inside = [each for each in spaces if each.left >= 0 and each.right <= WIDTH] or spaces
        space = min(inside, key=lambda each: sum(map(each.shared_with, taken)))
        canvas.text((space.left, space.foot - 2), name, "label")
        taken.append(space)
