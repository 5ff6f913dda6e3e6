"""Pages: one for each round of a project, one for all its rounds, and one for all projects."""

from collections.abc import Collection, Iterable, Mapping
from datetime import date
from functools import partial
from types import MappingProxyType

import pandas as pd

from agreement_pipeline.errors import EXPECTED, ProjectError, in_a_sentence
from agreement_pipeline.evidence import (
    Before,
    JudgedProject,
    ProjectState,
    decisions,
    in_text,
    page_of_project,
    page_of_projects,
    policy_changed,
    round_table,
    shares_of,
    shortened,
    table_of_rows,
)
from agreement_pipeline.policy import BUNDLED, for_round
from agreement_pipeline.projects.notices import overdue
from agreement_pipeline.projects.project import Project, round_before
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.release import warn_of_gold_elsewhere
from agreement_pipeline.report import Render, as_html, report_page
from agreement_pipeline.text import natural

INDEX, MOST_READ = "index.html", 40


def page_of(round_name: str) -> str:
    return f"{round_name}.html"


def round_page(
    project: Project,
    round_name: str,
    *,
    on: date,
    names: bool = False,
    beside: Collection[str] = (),
    render: Render = as_html,
) -> str:
    """Judged by the present policy. Waivers must hold `on` this day. With `names` it shows the
    raters' names, else the pseudonyms of releases, cut short.
    """
    ratings = project.store.ratings(round_name)
    last = round_before(round_name, project.store)
    known = {} if names else project.store.pseudonyms(ratings)
    policy, gate = project.settings.policy, project.found_by_gate(round_name, ratings, on)
    return report_page(
        ratings,
        project.policy,
        name=round_name,
        project=project.name,
        contract=project.contract,
        waivers=for_round(project.waivers, round_name, on),
        also=gate.findings,
        version=gate.number,
        names=shortened(known, ratings.classifiers),
        before=None if last is None else Before(*last),
        links={"All rounds": INDEX, **_beside(round_name, beside)} if beside else {},
        in_commands=("", policy if policy in BUNDLED else f"configs/policies/{policy}.yaml"),
        images=project.images,
        warnings=warn_of_gold_elsewhere(project.store, round_name, ratings),
        trains=project.settings.trains,
        render=render,
    )


def _beside(round_name: str, rounds: Collection[str]) -> dict[str, str]:
    order = sorted({*rounds, round_name}, key=natural)
    at = order.index(round_name)
    before = {f"‹ {name}": page_of(name) for name in order[max(0, at - 1) : at]}
    return before | {f"{name} ›": page_of(name) for name in order[at + 1 : at + 2]}


def project_page(
    project: Project,
    beside: Collection[str] = (),
    *,
    rounds: pd.DataFrame | None = None,
    names: bool = False,
    links: Mapping[str, str] = MappingProxyType({}),
    render: Render = as_html,
) -> str:
    """With `names` it shows the raters' names where a reason has some, else pseudonyms."""
    rounds, shares = round_table(project.store) if rounds is None else rounds.copy(), {}
    for name in sorted(rounds["round"].unique())[-MOST_READ:]:
        ratings = project.store.ratings(name)
        if not ratings.scale.continuous:
            shares[name] = shares_of(ratings)
        if not names:
            known = _pseudonyms(project, ratings)
            of_round = rounds["round"] == name
            for column in ("reason", "broken"):
                renamed = rounds.loc[of_round, column].map(partial(in_text, names=known))
                rounds.loc[of_round, column] = renamed
            renamed = rounds.loc[of_round, "scope"].map(partial(_in_scope, names=known))
            rounds.loc[of_round, "scope"] = renamed
    pages = {name: page_of(name) for name in beside}
    judged = JudgedProject(
        project.name, project.settings.description, project.policy, rounds, shares, pages, links
    )
    return render(page_of_project(judged))


def _in_scope(scope: str, names: Mapping[str, str]) -> str:
    kind, _, of = scope.partition(" ")
    if kind not in ("rater", "without", "pair"):
        return scope
    raters = of.split(" and ") if kind == "pair" else [of]
    known = " and ".join(names.get(each, "") for each in raters)
    return f"{kind} {known}" if {*raters} <= names.keys() else kind


def projects_page(
    projects: Iterable[Project],
    now: float,
    pages: Mapping[str, str] = MappingProxyType({}),
    *,
    names: bool = False,
    render: Render = as_html,
) -> str:
    states = [state_of(each, now, page=pages.get(each.name, ""), names=names) for each in projects]
    return render(page_of_projects(states))


def state_of(project: Project, now: float, *, page: str = "", names: bool = False) -> ProjectState:
    try:
        return _state(project, now, page, names)
    except EXPECTED as error:
        return ProjectState(project.name, page=page, why=in_a_sentence(error), broken=True)


def _state(project: Project, now: float, page: str, names: bool) -> ProjectState:
    if wrong := project.no_inbox():
        raise ProjectError(wrong)
    found = project.look()
    rounds = table_of_rows(project.standings.now().rows)
    decided = decisions(rounds).to_dict("records")
    held = [row["round"] for row in decided if row["decision"] == "held"]
    due = {each.round for each in project.due(found=found)}
    pending = [row["round"] for row in decided if row["decision"] == "pending"]
    waiting = [*found.refused, *sorted({*due, *pending}, key=natural)]
    last, late = decided[0] if decided else None, overdue(project, now)
    changed = policy_changed(rounds, project.policy)
    reasons = [
        *(
            _why(project, row["round"], row["why"], names)
            for row in decided
            if row["round"] in held[:1]
        ),
        *found.refused.values(),
        *(["delivered, and not judged yet"] if waiting else []),
        *([changed] if changed else []),
    ]
    return ProjectState(
        project.name,
        held,
        waiting,
        overdue=late is not None,
        policy_changed=bool(changed),
        last=f"{last['round']}: {last['decision']}" if last else "",
        why="; ".join([*reasons[:1], *(late.why if late else ())]),
        page=page,
    )


def _why(project: Project, round_name: str, why: str, names: bool) -> str:
    if names:
        return f"{round_name}: {why}"
    try:
        known = _pseudonyms(project, project.store.ratings(round_name))
    except EXPECTED as error:
        return f"{round_name}: held; its ratings cannot be read: {in_a_sentence(error)}"
    return f"{round_name}: {in_text(why, names=known)}"


def _pseudonyms(project: Project, ratings: Ratings) -> Mapping[str, str]:
    return shortened(project.store.pseudonyms(ratings), ratings.classifiers)
