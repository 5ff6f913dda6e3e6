"""The pages of a project: one for each round, and one for all rounds."""

from collections.abc import Mapping
from datetime import date
from functools import partial
from types import MappingProxyType

import pandas as pd

from agreement_pipeline.policy import BUNDLED, for_round
from agreement_pipeline.projects.project import Project, round_before
from agreement_pipeline.report import (
    Before,
    JudgedProject,
    Render,
    as_html,
    in_text,
    page_of_project,
    report_page,
    round_table,
    shares_of,
    shortened,
)
from agreement_pipeline.text import natural

MOST_READ = 40
"""So many rounds are read for the page of a project, the last ones."""


def round_page(
    project: Project,
    round_name: str,
    *,
    on: date,
    names: bool = False,
    pages: Mapping[str, str] = MappingProxyType({}),
    index: str = "",
    render: Render = as_html,
) -> str:
    """The page of a round of the store, judged by the present policy.

    Parameters
    ----------
    on
        The day on which a waiver must hold.
    names
        True shows the raters' names. Else they have the pseudonyms of releases, cut short.
    pages, index
        The address of each round's page, and of the page of all rounds, if the page shall link to
        them.
    render
        Shows the page: as HTML, or as text.

    Raises
    ------
    StoreError
        The store has no such round.
    """
    ratings = project.store.ratings(round_name)
    last = round_before(round_name, project.store)
    known = {} if names else project.store.pseudonyms(ratings)
    policy = project.settings.policy
    return report_page(
        ratings,
        project.policy,
        name=round_name,
        project=project.name,
        contract=project.contract,
        waivers=for_round(project.waivers, round_name, on),
        names=shortened(known, ratings.classifiers),
        before=None if last is None else Before(*last),
        links={"All rounds": index, **_beside(round_name, pages)} if index else {},
        in_commands=("", policy if policy in BUNDLED else f"configs/policies/{policy}.yaml"),
        images=project.images,
        render=render,
    )


def _beside(round_name: str, pages: Mapping[str, str]) -> dict[str, str]:
    """The addresses of the pages of the round before and of the one after, by their words."""
    order = sorted({*pages, round_name}, key=natural)
    at = order.index(round_name)
    before = {f"‹ {name}": pages[name] for name in order[max(0, at - 1) : at]}
    return before | {f"{name} ›": pages[name] for name in order[at + 1 : at + 2]}


def project_page(
    project: Project,
    pages: Mapping[str, str] = MappingProxyType({}),
    *,
    rounds: pd.DataFrame | None = None,
    names: bool = False,
    render: Render = as_html,
) -> str:
    """The page of all rounds of a project, from the decisions in its store.

    Parameters
    ----------
    pages
        The address of each round's page, if the page shall link to it.
    rounds
        What `round_table` gives, if it is known already.
    names
        True shows the raters' names where a reason has some. Else they have pseudonyms.
    render
        Shows the page: as HTML, or as text.
    """
    rounds, shares = round_table(project.store) if rounds is None else rounds.copy(), {}
    for name in sorted(rounds["round"].unique())[-MOST_READ:]:
        ratings = project.store.ratings(name)
        if not ratings.scale.continuous:
            shares[name] = shares_of(ratings)
        if not names:
            known = shortened(project.store.pseudonyms(ratings), ratings.classifiers)
            of_round = rounds["round"] == name
            for column in ("reason", "broken"):
                renamed = rounds.loc[of_round, column].map(partial(in_text, names=known))
                rounds.loc[of_round, column] = renamed
    judged = JudgedProject(
        project.name, project.settings.description, project.policy, rounds, shares, pages
    )
    return page_of_project(judged, render)
