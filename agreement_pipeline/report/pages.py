"""The pages of a table of ratings, of a round and of a project."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agreement_pipeline.contract import Contract
from agreement_pipeline.counting import refuse_unread
from agreement_pipeline.policy import NONE, Decision, Policy, Waivers, assess
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.report.answer import Cell
from agreement_pipeline.report.figure import NAMES_OF_TONES
from agreement_pipeline.report.history import decision_word, round_counts
from agreement_pipeline.report.html import as_html
from agreement_pipeline.report.judged import JudgedProject, JudgedRound
from agreement_pipeline.report.names import numbered
from agreement_pipeline.report.page import Page, Part, Render
from agreement_pipeline.report.sections import Of, sections_of
from agreement_pipeline.report.since import Before
from agreement_pipeline.text import counted

if TYPE_CHECKING:
    import pandas as pd


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
    badge = _badge(judged.decision)
    return render(Page(of, judged.name, badge, (), _answered("round", judged)))


def page_of_project(judged: JudgedProject, render: Render = as_html) -> str:
    """The page of a project."""
    lead = (judged.description,) if judged.description else ()
    badge = _state(judged.rounds)
    return render(Page("Project", judged.name, badge, lead, _answered("project", judged)))


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


def _answered(of: Of, judged: JudgedRound | JudgedProject) -> tuple[Part, ...]:
    """The sections of a page that have something to say."""
    answers = ((each, each.answer(judged)) for each in sections_of(of))
    return tuple(Part(each, found) for each, found in answers if found is not None)
