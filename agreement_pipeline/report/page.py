"""The pages of a table of ratings, of a round and of a project: as data, and as HTML."""

import base64
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from agreement_pipeline.contract import Contract
from agreement_pipeline.counting import refuse_unread
from agreement_pipeline.policy import NONE, Policy, Waivers, assess
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.report.drawing import key_of, svg
from agreement_pipeline.report.figure import NAMES_OF_TONES, Figure
from agreement_pipeline.report.history import decision_word, round_counts
from agreement_pipeline.report.judged import Before, JudgedProject, JudgedRound
from agreement_pipeline.report.names import numbered
from agreement_pipeline.report.section import Answer, Cell, Of, PageSection
from agreement_pipeline.report.sections import sections_of
from agreement_pipeline.text import counted
from agreement_pipeline.version import __version__

if TYPE_CHECKING:
    from jinja2 import Template

TEMPLATES = Path(__file__).with_name("templates")
MADE_BY = (
    f"Made by agreement-pipeline {__version__}. "
    "This page is one file. It loads nothing from a network."
)


@dataclass(frozen=True)
class Page:
    """A page as data, whatever shows it.

    Attributes
    ----------
    kind, title
        What it is about.
    badge
        The decision or the state, in a word or two.
    lead
        What is said of the whole.
    parts
        Its sections, each with its answer.
    """

    kind: str
    title: str
    badge: Cell
    lead: tuple[str, ...]
    parts: tuple[tuple[PageSection, Answer], ...]


Render = Callable[[Page], str]
"""Shows a page: `as_html` or `as_text`."""


def as_html(page: Page) -> str:
    """The page as one file of HTML, which needs no network and no other file."""
    style, script = _file("figures.css") + _file("page.css"), _file("page.js")
    return _template().render(
        page=page,
        style=style,
        style_digest=_digest(style),
        has_pictures=any(figure.picture for _, answer in page.parts for figure in answer.figures),
        script=script,
        script_digest=_digest(script),
        made_by=MADE_BY,
    )


@cache
def _template() -> "Template":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    def drawn(figure: Figure, name: str) -> str:
        return Markup(svg(figure, name))

    def key(sign: str) -> str:
        return Markup(key_of(sign))

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined
    )
    environment.globals |= {"svg": drawn, "key": key}
    return environment.get_template("page.html.jinja")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _file(name: str) -> str:
    from markupsafe import Markup

    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))


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
    images: Path | None = None,
    render: Render = as_html,
) -> str:
    """The page of a table of ratings: the decision, and what it rests on.

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
    images
        The folder with the images that raters marked. Small pictures of some come into the page.
    render
        Shows the page: as HTML, or by `as_text` as text for a terminal.

    Examples
    --------
    >>> import pandas as pd
    >>> from agreement_pipeline import load_policy, read_ratings
    >>> rows = [(item, rater, item % 2) for item in range(9) for rater in ("ana", "ben")]
    >>> ratings = read_ratings(pd.DataFrame(rows, columns=["item", "rater", "label"]))
    >>> "ana" in report_page(ratings, load_policy("standard"))
    False
    """
    refuse_unread(ratings)
    called = numbered(ratings) if names is None else names
    renamed = ratings.renamed(called)
    terms = contract or Contract.default()
    found = assess(renamed, policy, terms, waivers.renamed(called))
    earlier = before and before._replace(ratings=before.ratings.renamed(called))
    return page_of_round(
        JudgedRound(project, name, renamed, policy, found, earlier, images), render
    )


def page_of_round(judged: JudgedRound, render: Render = as_html) -> str:
    """The page of a judged round."""
    of = f"Round of project {judged.project}" if judged.project else "Table of ratings"
    decision = judged.decision
    word = decision_word("admitted" if decision.admitted else "held", decision.tentative)
    badge = Cell(word, tone=NAMES_OF_TONES[word])
    return render(Page(of, judged.name, badge, (), _answered("round", judged)))


def page_of_project(judged: JudgedProject, render: Render = as_html) -> str:
    """The page of a project, with how many rounds are held and how many were not judged."""
    counts = round_counts(judged.rounds)
    said = (("held_rounds", "held"), ("not_judged", "not judged"))
    words = [f"{counts[name]} {word}" for name, word in said if counts[name]]
    rounds = counted(len(set(judged.rounds["round"])), "round")
    badge = Cell("every round is admitted", tone="good")
    if words:
        badge = Cell(f"{' and '.join(words)} of {rounds}", tone="bad")
    lead = (judged.description,) if judged.description else ()
    return render(Page("Project", judged.name, badge, lead, _answered("project", judged)))


def _answered(
    of: Of, judged: JudgedRound | JudgedProject
) -> tuple[tuple[PageSection, Answer], ...]:
    """The sections of a page that have something to say."""
    answers = ((each, each.answer(judged)) for each in sections_of(of))
    return tuple((each, found) for each, found in answers if found is not None)
