"""The pages of a table of ratings, of a round and of a project, as plain data."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from agreement_pipeline.contract import Contract
from agreement_pipeline.counting import require_ratings
from agreement_pipeline.evidence.advice import Step
from agreement_pipeline.evidence.disputed import items
from agreement_pipeline.evidence.figure import NAMES_OF_TONES, Figure, Mark
from agreement_pipeline.evidence.history import round_counts
from agreement_pipeline.evidence.judged import (
    Before,
    JudgedProject,
    JudgedRound,
    ProjectState,
    numbered,
)
from agreement_pipeline.evidence.parts import labels, strata
from agreement_pipeline.evidence.raters import classifiers, raters
from agreement_pipeline.evidence.rounds import (
    control,
    course,
    prevalence,
    rounds,
    since_the_round_before,
    state_grid,
)
from agreement_pipeline.evidence.section import Answer, Cell, about, title_of
from agreement_pipeline.evidence.tables import without_numbers
from agreement_pipeline.evidence.verdicts import (
    against_cutoffs,
    decided,
    method,
    policy,
    rules,
)
from agreement_pipeline.integrity import Finding
from agreement_pipeline.policy import (
    NONE,
    Decision,
    Policy,
    Verdict,
    Waivers,
    assess,
    beyond_agreement,
)
from agreement_pipeline.ratings import Ratings, Trains, like_models
from agreement_pipeline.text import counted

MOST_REASONS = 2
BELOW = "The section Items lists them."
Judged = TypeVar("Judged", JudgedRound, JudgedProject)


@dataclass(frozen=True)
class Top:
    why: tuple[str, ...]
    figure: Figure | None
    who: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Page:
    kind: str
    title: str
    badge: Cell
    lead: tuple[str, ...]
    parts: tuple[tuple[str, Answer], ...]
    top: Top | None = None
    links: Mapping[str, str] = field(default_factory=dict)


OF_ROUND: Mapping[str, Callable[[JudgedRound], Answer | None]] = {
    "Since the round before": since_the_round_before,
    "Labels": labels,
    "Raters": raters,
    "Items": items,
    "Strata": strata,
    "Models": classifiers,
    "Rules": rules,
    "Method": method,
}
OF_PROJECT: Mapping[str, Callable[[JudgedProject], Answer | None]] = {
    "Rounds": rounds,
    "Agreement over rounds": course,
    "Change over time": control,
    "Prevalence over rounds": prevalence,
    "Method": policy,
}


def judge_page(  # noqa: PLR0913  # a page has many parts, each given by its name
    ratings: Ratings,
    policy: Policy,
    *,
    name: str = "ratings",
    project: str = "",
    contract: Contract | None = None,
    waivers: Waivers = NONE,
    also: Sequence[Finding] = (),
    version: int | None = None,
    names: Mapping[str, str] | None = None,
    before: Before | None = None,
    links: Mapping[str, str] = MappingProxyType({}),
    in_commands: tuple[str, str] = ("", ""),
    images: Path | None = None,
    warnings: Sequence[str] = (),
    trains: Trains | None = None,
) -> Page:
    """Judge ratings under the names that a page shows, and gather all that it says of them.

    `report.report_page`, which draws the page, says what each argument means.
    """
    require_ratings(ratings)
    called = numbered(ratings) if names is None else names
    renamed = ratings.renamed(called)
    terms = contract or Contract.default()
    found = assess(renamed, policy, terms, waivers.renamed(called), also, version, trains=trains)
    earlier = before and before._replace(ratings=before.ratings.renamed(called))
    likely = tuple(called.get(each, each) for each in like_models(ratings.raters))
    judged = JudgedRound(
        project,
        name,
        renamed,
        policy,
        found,
        earlier,
        likely,
        in_commands,
        links,
        images,
        tuple(warnings),
        trains,
    )
    return page_of_round(judged)


def page_of_round(judged: JudgedRound) -> Page:
    of = f"Round of project {judged.project}" if judged.project else "Table of ratings"
    decision, word = judged.decision, judged.decision.word
    said = f"{'Yes' if decision.admitted else 'No'}: {word}"
    summary = judged.summary
    why = (decided(decision), *_shortly(decision, judged.policy), summary.who_differs)
    if decision.admitted:
        why = (*why, beyond_agreement(len(judged.ratings.gold)))
    steps = list(summary.steps)
    if not judged.project:
        steps = [
            step._replace(why=f"{step.why} {BELOW}", by="")
            if step.by == summary.command_for_disputed
            else step
            for step in steps
        ]
    alike = (f"labels {group} print alike" for group in summary.labels_alike)
    warnings = (*summary.warnings, *alike)
    top = Top(
        (*filter(None, why), *(f"Warning: {sentence}." for sentence in warnings)),
        against_cutoffs(judged.policy, summary.results),
        " ".join(
            filter(
                None,
                (
                    summary.who_rated,
                    summary.what_is_new,
                    summary.first_labels,
                    judged.fate_of_singles,
                ),
            )
        ),
        tuple(steps),
    )
    badge = Cell(said, tone=NAMES_OF_TONES[word])
    parts = _answered(OF_ROUND, judged)
    return Page(of, judged.name, badge, (), parts, top, judged.links)


def _shortly(found: Decision, policy: Policy) -> Iterator[str]:
    """What helps is left out, since it stands in the steps."""
    verdicts = found.holding if found.admitted else found.unmet
    yield from (each.description for each in found.broken[:MOST_REASONS])
    for verdict in verdicts[:MOST_REASONS]:
        whole = verdict.scope.kind == "round"
        of = "the round" if whole else about(verdict.scope)
        title = f"{title_of(verdict.rule.measure)} of {of}"
        if verdict.estimate is None or verdict.kind == "not_evaluated":
            yield verdict.reason
        else:
            said, asked = _said(verdict), ""
            if verdict.code in ("unreliable", "inconclusive") and "tentative" not in policy.admit:
                asked = f" The policy asks for a lower limit of {verdict.rule.reliable:g}."
            mark = Mark.of(verdict.estimate, cutoffs=verdict.rule.cutoffs)
            yield f"{title} is {mark.said}: {said}.{asked}"
    if max(len(verdicts), len(found.broken)) > MOST_REASONS:
        yield "The table of rules has all reasons."
    yield from map(str, found.waived)


def _said(verdict: Verdict) -> str:
    parts = without_numbers(verdict.reason).split("; ")
    lowest = [parts.pop(0)] if parts[0].startswith("lowest: ") else []
    said = [parts[0].partition(" (p ")[0], *lowest]
    if verdict.code != verdict.kind:  # it was taken back: the other verdict's numbers stand below
        said.append("; ".join(parts[1:]).partition(f": {verdict.rule.measure} ")[0])
    return "; ".join(said)


def page_of_project(judged: JudgedProject) -> Page:
    counts = round_counts(judged.rounds)
    said = (("held_rounds", "held"), ("not_judged", "not judged"))
    words = [f"{counts[name]} {word}" for name, word in said if counts[name]]
    rounds = counted(len(set(judged.rounds["round"])), "round")
    badge = Cell("every round is admitted", tone="good")
    if judged.rounds.empty:
        badge = Cell("no round yet", tone="unknown")
    elif words:
        badge = Cell(f"{' and '.join(words)} of {rounds}", tone="bad")
    lead = (judged.description,) if judged.description else ()
    parts = _answered(OF_PROJECT, judged)
    return Page("Project", judged.name, badge, lead, parts, links=judged.links)


def page_of_projects(states: Sequence[ProjectState]) -> Page:
    waiting = sum(bool(each.why) for each in states)
    said = f"{waiting} of {counted(len(states), 'project')} need{'s' * (waiting == 1)} somebody"
    badge = Cell(said if waiting else "no project needs anybody", tone="bad" if waiting else "good")
    held, waits = (sum(len(getattr(each, of)) for each in states) for of in ("held", "waiting"))
    late = sum(each.overdue for each in states)
    counts = f"{counted(held, 'round')} held, {waits} waiting, {late} overdue."
    answer = Answer((counts,), tables=(state_grid(states),))
    return Page("Projects", "All projects", badge, (), (("Projects", answer),))


def _answered(
    sections: Mapping[str, Callable[[Judged], Answer | None]], judged: Judged
) -> tuple[tuple[str, Answer], ...]:
    answers = ((title, answer(judged)) for title, answer in sections.items())
    return tuple((title, found) for title, found in answers if found is not None)
