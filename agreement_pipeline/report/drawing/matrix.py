"""A row for each series and a cell for each mark: the legend says what its shade means."""

from agreement_pipeline.report.drawing.axis import Axis, bounds_of
from agreement_pipeline.report.drawing.canvas import WIDTH, Canvas, Place
from agreement_pipeline.report.drawing.intervals import shortened
from agreement_pipeline.report.figure import Figure, Mark
from agreement_pipeline.text import SENTENCE, number

LETTERS, MOST_WITH_NUMBERS = 15, 8
LETTER = 6.6
TALLEST = 34.0
SHADES = 6


def matrix(figure: Figure) -> Canvas:
    """Draw the cells, with their numbers if there is room."""
    columns = len(figure.series[0].marks)
    names = [series.name for series in figure.series]
    left, top = _room(names), 14 + 0.87 * _room([mark.label for mark in figure.series[0].marks])
    wide = (WIDTH - left - 24) / columns
    tall = min(wide, TALLEST)
    canvas = Canvas(top + tall * len(figure.series) + 20)
    low, high = bounds_of(figure)
    shade = Axis(low, high, 0, SHADES - 1)
    for place, mark in enumerate(figure.series[0].marks):
        canvas.upright(
            (left + (place + 0.6) * wide, top - 6), shortened(mark.label, LETTERS), "start"
        )
    for row, series in enumerate(figure.series):
        y = top + row * tall
        canvas.text(
            (left - 5, y + tall / 2 + 4), shortened(series.name, LETTERS), "label", anchor="end"
        )
        for place, mark in enumerate(series.marks):
            tip = f"{series.name}, {mark.label}"
            _cell(canvas, shade, mark, tip, (left + place * wide, y), (wide, tall))
            if mark.value is not None and columns <= MOST_WITH_NUMBERS:
                kind = _ink(shade, mark.value)
                at = (left + (place + 0.5) * wide, y + tall / 2 + 4)
                canvas.text(at, number(mark.value, figure.form), kind, "middle")
    canvas.text((WIDTH - 24, top + tall * len(figure.series) + 14), figure.axis, "tick", "end")
    return canvas


def _cell(canvas: Canvas, shade: Axis, mark: Mark, tip: str, at: Place, size: Place) -> None:
    gap = (size[0] - 1.5, size[1] - 1.5)
    kind = "none" if mark.value is None else f"shade{round(shade.at(mark.value))}"
    said = "no value" if mark.value is None else number(mark.value, SENTENCE)
    canvas.box(at, gap, f"cell {kind}", tip=f"{tip}: {said}")


def _ink(shade: Axis, value: float) -> str:
    return "on-dark" if round(shade.at(value)) >= SHADES // 2 else "on-light"


def _room(names: list[str]) -> float:
    """The length of the longest name on the sheet."""
    return 10 + LETTER * min(LETTERS, max(map(len, names)))
