"""A figure as an image that stands by itself, such as in Markdown."""

import base64
from functools import cache
from pathlib import Path

from agreement_pipeline.report.drawing.canvas import WIDTH, Canvas
from agreement_pipeline.report.drawing.svg import drawn, named
from agreement_pipeline.report.figure import WITHDRAWN, Figure

STYLE = Path(__file__).parents[1] / "templates" / "figures.css"
SIDE, LINE, LETTER, GAP = 10.0, 18.0, 6.4, 30.0
DISPLAYED = 600


def image(figure: Figure) -> str:
    """The figure as a data URI, with its colours and its legend."""
    canvas = drawn(figure)
    _add_legend(canvas, figure)
    canvas.finish(DISPLAYED, _style())
    return f"data:image/svg+xml;base64,{base64.b64encode(named(canvas, figure, 'f')).decode()}"


def _add_legend(canvas: Canvas, figure: Figure) -> None:
    """Below the figure: each tone with its meaning, and what a cross means."""
    used = {mark.tone for mark in figure.marks}
    tones = [each for each in figure.legend if each[0] in used]
    crossed = [("crossed", WITHDRAWN)] if any(mark.crossed for mark in figure.marks) else []
    x, y = SIDE, canvas.height + LINE / 2
    for sign, words in (*tones, *crossed):
        wide = GAP + LETTER * len(words)
        if x > SIDE and x + wide > WIDTH:
            x, y = SIDE, y + LINE
        canvas.sign((x, y - 4), sign)
        canvas.text((x + 10, y), words, "label")
        x += wide
    canvas.height = y + LINE / 2


@cache
def _style() -> str:
    return STYLE.read_text(encoding="utf-8")
