"""A page as one file of HTML, which needs no network and no other file."""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from agreement_pipeline.report.answer import Answer
from agreement_pipeline.report.drawing import svg
from agreement_pipeline.report.figure import Figure
from agreement_pipeline.report.judged import JudgedProject, JudgedRound
from agreement_pipeline.report.sections import PageSection, sections_of
from agreement_pipeline.version import __version__

if TYPE_CHECKING:
    from jinja2 import Template

TEMPLATES = Path(__file__).with_name("templates")
MADE_BY = (
    f"Made by agreement-pipeline {__version__}. "
    "This page is one file. It loads nothing from a network."
)


@dataclass(frozen=True)
class Part:
    """A section with its answer."""

    section: PageSection
    answer: Answer


def page_of_round(judged: JudgedRound) -> str:
    """The page of a round as HTML."""
    of = f"Round of project {judged.project}" if judged.project else "Table"
    parts = [
        Part(each, found)
        for each in sections_of("round")
        if (found := each.answer(judged)) is not None
    ]
    return _page(of, judged.name, (), parts)


def page_of_project(judged: JudgedProject) -> str:
    """The page of a project as HTML."""
    parts = [
        Part(each, found)
        for each in sections_of("project")
        if (found := each.answer(judged)) is not None
    ]
    return _page("Project", judged.name, (judged.description,), parts)


def _page(kind: str, title: str, lead: Sequence[str], parts: Sequence[Part]) -> str:
    style, script = _file("page.css"), _file("page.js")
    return _template().render(
        kind=kind,
        title=title,
        lead=lead,
        parts=parts,
        style=style,
        style_digest=_digest(style),
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
    lines = [(f"c{place % 8}", each.name) for place, each in enumerate(figure.series)]
    crossed = [("crossed", "withdrawn")] if any(mark.crossed for mark in figure.marks) else []
    return [*tones, *crossed, *(lines if figure.kind == "lines" else [])]


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _file(name: str) -> str:
    from markupsafe import Markup

    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))
