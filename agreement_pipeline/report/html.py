"""A page as one file of HTML, which needs no network and no other file."""

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from agreement_pipeline.report.drawing import COLOURS, SHADES, svg
from agreement_pipeline.report.figure import WITHDRAWN, Figure
from agreement_pipeline.report.page import Page
from agreement_pipeline.version import __version__

if TYPE_CHECKING:
    from jinja2 import Template

TEMPLATES = Path(__file__).with_name("templates")
MADE_BY = (
    f"Made by agreement-pipeline {__version__}. "
    "This page is one file. It loads nothing from a network."
)


def as_html(page: Page) -> str:
    """The page as HTML."""
    style, script = _file("figures.css") + _file("page.css"), _file("page.js")
    return _template().render(
        kind=page.kind,
        title=page.title,
        badge=page.badge,
        lead=page.lead,
        parts=page.parts,
        style=style,
        style_digest=_digest(style),
        has_pictures=any(figure.picture for part in page.parts for figure in part.answer.figures),
        script=script,
        script_digest=_digest(script),
        made_by=MADE_BY,
    )


@cache
def _template() -> "Template":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined
    )
    environment.globals |= {"svg": _drawn, "legend": _legend}
    return environment.get_template("page.html.jinja")


def _drawn(figure: Figure, name: str) -> str:
    from markupsafe import Markup

    return Markup(svg(figure, name))


def _legend(figure: Figure) -> list[tuple[str, str]]:
    """What marks, lines and strokes of a figure mean, each with the class of its key."""
    used = {mark.tone for mark in figure.marks}
    tones = [(tone, words) for tone, words in figure.legend if tone in used]
    lines = [(f"c{place % COLOURS}", each.name) for place, each in enumerate(figure.series)]
    crossed = [("crossed", WITHDRAWN)] if any(mark.crossed for mark in figure.marks) else []
    low, high = figure.bounds or (0.0, 1.0)
    shades = [("shade0", f"{low:g}"), (f"shade{SHADES - 1}", f"{high:g}")]
    own = {"lines": lines, "matrix": shades}.get(figure.kind, [])
    return [*tones, *crossed, *own]


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _file(name: str) -> str:
    from markupsafe import Markup

    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))
