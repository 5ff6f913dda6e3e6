"""Pages: one for each round of a project, one for all its rounds, and one for all projects."""

from collections.abc import Collection, Iterable, Mapping
from datetime import date
from functools import partial
from types import MappingProxyType

import pandas as pd

from agreement_pipeline.errors import EXPECTED, ProjectError, error_in_a_sentence
from agreement_pipeline.evidence import (
    PSEUDONYMS,
    JudgedProject,
    ProjectState,
    RoundBefore,
    RoundLine,
    build_project_page,
    build_projects_page,
    decisions_by_round,
    describe_policy_change,
    rename_raters,
    round_lines,
    round_table,
    share_by_category,
    shorten_pseudonyms,
    table_of_rows,
    trend,
)
from agreement_pipeline.policy import BUNDLED, select_round_waivers
from agreement_pipeline.projects.notices import build_overdue_notice
from agreement_pipeline.projects.project import Project, round_before
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.release import warn_of_gold_elsewhere
from agreement_pipeline.report import Render, render_html, report_page
from agreement_pipeline.text import natural_sort_key

INDEX = "index.html"
MAX_ROUNDS_READ = 40


def page_of(round_name: str) -> str:
    return f"{round_name}.html"


def round_page(
    project: Project,
    round_name: str,
    *,
    on: date,
    names: bool = False,
    other_rounds: Collection[str] = (),
    render: Render = render_html,
) -> str:
    """Judged by the present policy. Waivers must hold `on` this day. With `names` it shows the
    raters' names, else the pseudonyms of releases, cut short.
    """
    ratings = project.store.ratings(round_name)
    previous_round = round_before(round_name, project.store)
    pseudonym_by_rater = {} if names else project.store.pseudonyms(ratings)
    policy, gate = project.settings.policy, project.found_by_gate(round_name, ratings, on)
    return report_page(
        ratings,
        project.policy,
        name=round_name,
        project=project.name,
        contract=project.contract,
        waivers=select_round_waivers(project.waivers, round_name, on),
        also=gate.findings,
        version=gate.number,
        names=shorten_pseudonyms(pseudonym_by_rater, ratings.classifiers),
        before=None if previous_round is None else RoundBefore(*previous_round),
        links={"All rounds": INDEX, **_neighbour_links(round_name, other_rounds)}
        if other_rounds
        else {},
        in_commands=("", policy if policy in BUNDLED else f"configs/policies/{policy}.yaml"),
        images=project.images,
        warnings=warn_of_gold_elsewhere(project.store, round_name, ratings),
        trains=project.settings.trains,
        render=render,
    )


def _neighbour_links(round_name: str, rounds: Collection[str]) -> dict[str, str]:
    order = sorted({*rounds, round_name}, key=natural_sort_key)
    position = order.index(round_name)
    links = {f"‹ {name}": page_of(name) for name in order[max(0, position - 1) : position]}
    return links | {f"{name} ›": page_of(name) for name in order[position + 1 : position + 2]}


def project_page(
    project: Project,
    other_rounds: Collection[str] = (),
    *,
    rounds: pd.DataFrame | None = None,
    names: bool = False,
    links: Mapping[str, str] = MappingProxyType({}),
    render: Render = render_html,
) -> str:
    """With `names` it shows the raters' names where a reason has some, else pseudonyms."""
    rounds, shares = round_table(project.store) if rounds is None else rounds, {}
    with_names = rounds
    for name in rounds["round"].unique()[-MAX_ROUNDS_READ:]:  # the ones that the page shows
        ratings = project.store.ratings(name)
        if not ratings.scale.continuous:
            shares[name] = share_by_category(ratings)
        if not names:
            rounds = _rename_raters(rounds, name, _pseudonym_by_name(project, ratings))
    pages = {name: page_of(name) for name in other_rounds}
    judged_project = JudgedProject(
        project.name,
        project.settings.description,
        project.policy,
        rounds,
        shares,
        pages,
        links,
        about_names="" if rounds.equals(with_names) else PSEUDONYMS,
    )
    return render(build_project_page(judged_project))


def _rename_raters(rounds: pd.DataFrame, round_name: str, names: Mapping[str, str]) -> pd.DataFrame:
    """The table with other names of raters in all that it says of one round."""
    renamed, of_round = rounds.copy(), rounds["round"] == round_name
    for column, rename in (
        ("reason", partial(rename_raters, names=names)),
        ("broken", partial(rename_raters, names=names)),
        ("scope", partial(_rename_scope, names=names)),
    ):
        renamed.loc[of_round, column] = rounds.loc[of_round, column].map(rename)
    return renamed


def _rename_scope(scope: str, names: Mapping[str, str]) -> str:
    kind, _, names_text = scope.partition(" ")
    if kind not in ("rater", "without", "pair"):
        return scope
    raters = names_text.split(" and ") if kind == "pair" else [names_text]
    renamed = " and ".join(names.get(rater, "") for rater in raters)
    return f"{kind} {renamed}" if {*raters} <= names.keys() else kind


def projects_page(
    projects: Iterable[Project],
    current_time: float,
    pages: Mapping[str, str] = MappingProxyType({}),
    *,
    names: bool = False,
    render: Render = render_html,
) -> str:
    states = [
        state_of(project, current_time, page=pages.get(project.name, ""), names=names)
        for project in projects
    ]
    return render(build_projects_page(states))


def state_of(
    project: Project, current_time: float, *, page: str = "", names: bool = False
) -> ProjectState:
    try:
        return _judge_state(project, current_time, page, names)
    except EXPECTED as error:
        return ProjectState(project.name, page=page, why=error_in_a_sentence(error), broken=True)


def _judge_state(project: Project, current_time: float, page: str, names: bool) -> ProjectState:
    if wrong := project.no_inbox():
        raise ProjectError(wrong)
    contents = project.look()
    rounds = table_of_rows(project.statuses.refresh().rows)
    decided = decisions_by_round(rounds).to_dict("records")
    held_rounds = [row["round"] for row in decided if row["decision"] == "held"]
    due = {delivery.round for delivery in project.due(contents=contents)}
    pending = [row["round"] for row in decided if row["decision"] == "pending"]
    waiting = [*contents.refused, *sorted({*due, *pending}, key=natural_sort_key)]
    newest_decision, late = (
        decided[0] if decided else None,
        build_overdue_notice(project, current_time),
    )
    policy_change = describe_policy_change(rounds, project.policy)
    # Of other rounds than a held one, only numbers are shown.
    scopes = rounds["scope"] if names else rounds["scope"].map(partial(_rename_scope, names={}))
    lines, held_reasons = round_lines(rounds.assign(scope=scopes)), list[str]()
    for name in held_rounds[:1]:
        lines, reason = _lines_and_reason(project, rounds, name, names=names)
        held_reasons.append(f"{name}: {reason}")
    reasons = [
        *held_reasons,
        *contents.refused.values(),
        *(["delivered, and not judged yet"] if waiting else []),
        *([policy_change] if policy_change else []),
    ]
    return ProjectState(
        project.name,
        held_rounds,
        waiting,
        overdue=late is not None,
        policy_changed=bool(policy_change),
        last=f"{newest_decision['round']}: {newest_decision['decision']}"
        if newest_decision
        else "",
        why="; ".join([*reasons[:1], *(late.why if late else ())]),
        page=page,
        lines=lines,
        trend=trend(rounds, project.policy),
    )


def _lines_and_reason(
    project: Project, rounds: pd.DataFrame, held_round: str, *, names: bool
) -> tuple[list[RoundLine], str]:
    """The lines of the rounds and why one is held, by pseudonyms unless names are shown."""
    if not names:
        try:
            pseudonyms = _pseudonym_by_name(project, project.store.ratings(held_round))
        except EXPECTED as error:
            reason = f"held; its ratings cannot be read: {error_in_a_sentence(error)}"
            unread = RoundLine(held_round, "held", "bad", step=reason)
            lines = round_lines(rounds, [held_round])
            return [unread if line.round == held_round else line for line in lines], reason
        rounds = _rename_raters(rounds, held_round, pseudonyms)
    decided = decisions_by_round(rounds[rounds["round"] == held_round])
    return round_lines(rounds, [held_round]), str(decided["why"].iloc[0])


def _pseudonym_by_name(project: Project, ratings: Ratings) -> Mapping[str, str]:
    return shorten_pseudonyms(project.store.pseudonyms(ratings), ratings.classifiers)
