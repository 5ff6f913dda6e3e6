"""A figure as SVG."""

from collections.abc import Callable
from xml.etree import ElementTree as Xml

from agreement_pipeline.report.drawing.bars import bars
from agreement_pipeline.report.drawing.canvas import Canvas
from agreement_pipeline.report.drawing.course import course
from agreement_pipeline.report.drawing.intervals import intervals
from agreement_pipeline.report.drawing.lines import lines
from agreement_pipeline.report.drawing.matrix import matrix
from agreement_pipeline.report.drawing.places import bodies, frames, outlines, spans
from agreement_pipeline.report.drawing.plane import plane
from agreement_pipeline.report.figure import Figure, Kind

DRAWN: dict[Kind, Callable[[Figure], Canvas]] = {
    "intervals": intervals,
    "course": course,
    "matrix": matrix,
    "plane": plane,
    "bars": bars,
    "lines": lines,
    "spans": spans,
    "frames": frames,
    "outlines": outlines,
    "bodies": bodies,
}


def svg(figure: Figure, name: str) -> str:
    """The figure as SVG, for a page whose style sheet has the colours.

    Parameters
    ----------
    figure
        What to draw.
    name
        The beginning of the identifiers in it. No other figure of a page may have it.
    """
    return named(drawn(figure), figure, name).decode()


def drawn(figure: Figure) -> Canvas:
    """The shapes of the figure."""
    return DRAWN[figure.kind](figure)


def named(canvas: Canvas, figure: Figure, name: str) -> bytes:
    """The shapes as SVG, with the title and the sentence of the figure."""
    root, said = canvas.root, (("title", figure.title), ("desc", figure.says))
    for place, (tag, words) in enumerate(said):
        made = Xml.Element(tag, {"id": f"{name}-{tag}"})
        made.text = words
        root.insert(place, made)
    root.set("aria-labelledby", f"{name}-title {name}-desc")
    return bytes(Xml.tostring(root, encoding="utf-8"))
