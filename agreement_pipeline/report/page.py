"""A page as one file of HTML, which needs no network and no other file."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from agreement_pipeline.contract import Contract
from agreement_pipeline.policy import NONE, Decision, Policy, Waivers, assess
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.report.answer import Answer, Cell
from agreement_pipeline.report.cells import counted
from agreement_pipeline.report.drawing import COLOURS, SHADES, svg
from agreement_pipeline.report.figure import NAMES_OF_TONES, WITHDRAWN, Figure
from agreement_pipeline.report.history import decision_word, round_counts
from agreement_pipeline.report.judged import JudgedProject, JudgedRound
from agreement_pipeline.report.names import numbered
from agreement_pipeline.report.sections import Of, PageSection, sections_of
from agreement_pipeline.report.since import Before
from agreement_pipeline.version import __version__

if TYPE_CHECKING:
    import pandas as pd
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


def report_page(
    ratings: Ratings,
    policy: Policy,
    *,
    name: str = "ratings",
    project: str = "",
    contract: Contract | None = None,
    waivers: Waivers = NONE,
    names: Mapping[str, str] | None = None,
    before: Before | None = None,
) -> str:
    """The page of a table of ratings as HTML: the decision, and what it rests on.

    Parameters
    ----------
    ratings
        What `read_ratings` gives.
    policy
        The policy that judges them.
    name, project
        What the page calls the ratings, and their project if they are a round of one.
    contract, waivers
        The data contract (the usual one if none is given), and waivers.
    names
        What the page calls each rater. None: raters are numbered. An empty mapping shows
        the names as they are.
    before
        The round before, with which this one is compared.

    Examples
    --------
    >>> import pandas as pd
    >>> from agreement_pipeline import load_policy, read_ratings
    >>> rows = [(item, rater, item % 2) for item in range(9) for rater in ("ana", "ben")]
    >>> ratings = read_ratings(pd.DataFrame(rows, columns=["item", "rater", "label"]))
    >>> "ana" in report_page(ratings, load_policy("standard"))
    False
    """
    called = numbered(ratings) if names is None else names
    renamed = ratings.renamed(called)
    terms = contract or Contract.default()
    found = assess(renamed, policy, terms, waivers.renamed(called))
    earlier = before and before._replace(ratings=before.ratings.renamed(called))
    return page_of_round(JudgedRound(project, name, renamed, policy, found, earlier))


def page_of_round(judged: JudgedRound) -> str:
    """The page of a judged round as HTML."""
    of = f"Round of project {judged.project}" if judged.project else "Table of ratings"
    return _page(of, judged.name, _badge(judged.decision), (), _answered("round", judged))


def page_of_project(judged: JudgedProject) -> str:
    """The page of a project as HTML."""
    lead = (judged.description,) if judged.description else ()
    badge = _state(judged.rounds)
    return _page("Project", judged.name, badge, lead, _answered("project", judged))


def _state(rounds: "pd.DataFrame") -> Cell:
    """How many rounds are held, and how many were not judged."""
    counts = round_counts(rounds)
    said = (("held_rounds", "held"), ("not_judged", "not judged"))
    words = [f"{counts[name]} {word}" for name, word in said if counts[name]]
    if not words:
        return Cell("every round is admitted", tone="good")
    return Cell(
        f"{' and '.join(words)} of {counted(len(set(rounds['round'])), 'round')}", tone="bad"
    )


def _badge(decision: Decision) -> Cell:
    """The decision in a word or two."""
    word = decision_word("admitted" if decision.admitted else "held", decision.tentative)
    return Cell(word, tone=NAMES_OF_TONES[word])


def _answered(of: Of, judged: JudgedRound | JudgedProject) -> list[Part]:
    """The sections of a page that have something to say."""
    answers = ((each, each.answer(judged)) for each in sections_of(of))
    return [Part(each, found) for each, found in answers if found is not None]


def _page(kind: str, title: str, badge: Cell, lead: Sequence[str], parts: Sequence[Part]) -> str:
    style, script = _file("figures.css") + _file("page.css"), _file("page.js")
    return _template().render(
        kind=kind,
        title=title,
        badge=badge,
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
