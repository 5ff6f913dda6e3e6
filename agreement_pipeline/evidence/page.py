"""The pages of a table of ratings, of a round and of a project, as plain data."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from agreement_pipeline.contract import Contract
from agreement_pipeline.counting import require_ratings
from agreement_pipeline.evidence.advice import Step
from agreement_pipeline.evidence.disputed import answer_about_items
from agreement_pipeline.evidence.figure import NAMES_OF_TONES, Figure, Mark
from agreement_pipeline.evidence.history import round_counts
from agreement_pipeline.evidence.judged import (
    JudgedProject,
    JudgedRound,
    ProjectState,
    RoundBefore,
    number_by_rater,
)
from agreement_pipeline.evidence.parts import answer_about_labels, answer_about_strata
from agreement_pipeline.evidence.raters import answer_about_classifiers, answer_about_raters
from agreement_pipeline.evidence.rounds import (
    answer_about_control,
    answer_about_course,
    answer_about_prevalence,
    answer_about_rounds,
    answer_since_the_round_before,
    build_state_grid,
)
from agreement_pipeline.evidence.section import Answer, Cell, measure_title, scope_in_words
from agreement_pipeline.evidence.tables import reason_without_numbers
from agreement_pipeline.evidence.verdicts import (
    answer_about_method,
    answer_about_policy,
    answer_about_rules,
    build_cutoff_figure,
    decision_sentence,
)
from agreement_pipeline.integrity import Finding
from agreement_pipeline.policy import (
    NO_WAIVERS,
    Decision,
    Policy,
    Verdict,
    Waivers,
    assess,
    describe_limits_of_agreement,
)
from agreement_pipeline.ratings import Ratings, Trains, names_like_models
from agreement_pipeline.text import counted

MOST_REASONS = 2
NUMBERED = "Raters are numbered here. The option --names shows their names."
PSEUDONYMS = (
    "Raters have pseudonyms here, the same in all rounds of the project. The option --names shows "
    "their names."
)
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
    "Since the round before": answer_since_the_round_before,
    "Labels": answer_about_labels,
    "Raters": answer_about_raters,
    "Items": answer_about_items,
    "Strata": answer_about_strata,
    "Models": answer_about_classifiers,
    "Rules": answer_about_rules,
    "Method": answer_about_method,
}
OF_PROJECT: Mapping[str, Callable[[JudgedProject], Answer | None]] = {
    "Rounds": answer_about_rounds,
    "Agreement over rounds": answer_about_course,
    "Change over time": answer_about_control,
    "Prevalence over rounds": answer_about_prevalence,
    "Method": answer_about_policy,
}


def judge_page(  # noqa: PLR0913  # a page has many parts, each given by its name
    ratings: Ratings,
    policy: Policy,
    *,
    name: str = "ratings",
    project: str = "",
    contract: Contract | None = None,
    waivers: Waivers = NO_WAIVERS,
    also: Sequence[Finding] = (),
    version: int | None = None,
    names: Mapping[str, str] | None = None,
    before: RoundBefore | None = None,
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
    shown_names = number_by_rater(ratings) if names is None else names
    renamed = ratings.renamed(shown_names)
    terms = contract or Contract.none()
    assessment = assess(
        renamed, policy, terms, waivers.renamed(shown_names), also, version, trains=trains
    )
    earlier = before and before._replace(ratings=before.ratings.renamed(shown_names))
    likely_models = tuple(
        shown_names.get(rater, rater) for rater in names_like_models(ratings.raters)
    )
    judged_round = JudgedRound(
        project,
        name,
        renamed,
        policy,
        assessment,
        earlier,
        likely_models,
        in_commands,
        links,
        images,
        tuple(warnings),
        trains,
        NUMBERED if names is None else PSEUDONYMS if names else "",
    )
    return build_round_page(judged_round)


def build_round_page(judged_round: JudgedRound) -> Page:
    kind = (
        f"Round of project {judged_round.project}" if judged_round.project else "Table of ratings"
    )
    decision, word = judged_round.decision, judged_round.decision.word
    badge_text = f"{'Yes' if decision.admitted else 'No'}: {word}"
    summary = judged_round.summary
    reasons = (
        decision_sentence(decision),
        *_iterate_short_sentences(decision, judged_round.policy),
        summary.who_differs,
    )
    if decision.admitted:
        reasons = (*reasons, describe_limits_of_agreement(len(judged_round.ratings.gold)))
    steps = list(summary.steps)
    if not judged_round.project:
        steps = [
            step._replace(why=f"{step.why} {BELOW}", by="")
            if step.by == summary.command_for_disputed
            else step
            for step in steps
        ]
    alike = (f"labels {group} print alike" for group in summary.labels_alike)
    warnings = (*summary.warnings, *alike)
    top = Top(
        (*filter(None, reasons), *(f"Warning: {sentence}." for sentence in warnings)),
        build_cutoff_figure(judged_round.policy, summary.results),
        " ".join(
            filter(
                None,
                (
                    summary.who_rated,
                    summary.what_is_new,
                    summary.first_labels,
                    judged_round.fate_of_singles,
                    judged_round.about_names,
                ),
            )
        ),
        tuple(steps),
    )
    badge = Cell(badge_text, tone=NAMES_OF_TONES[word])
    parts = _answer_sections(OF_ROUND, judged_round)
    return Page(kind, judged_round.name, badge, (), parts, top, judged_round.links)


def _iterate_short_sentences(decision: Decision, policy: Policy) -> Iterator[str]:
    """What helps is left out, since it stands in the steps."""
    verdicts = decision.holding_verdicts if decision.admitted else decision.unmet
    yield from (finding.description for finding in decision.broken[:MOST_REASONS])
    for verdict in verdicts[:MOST_REASONS]:
        is_round = verdict.scope.kind == "round"
        scope_text = "the round" if is_round else scope_in_words(verdict.scope)
        title = f"{measure_title(verdict.rule.measure)} of {scope_text}"
        if verdict.estimate is None or verdict.kind == "not_evaluated":
            yield verdict.reason
        else:
            reading, requirement = _verdict_text(verdict), ""
            if verdict.code in ("unreliable", "inconclusive") and "tentative" not in policy.admit:
                requirement = f" The policy asks for a lower limit of {verdict.rule.reliable:g}."
            mark = Mark.of(verdict.estimate, cutoffs=verdict.rule.cutoffs)
            yield f"{title} is {mark.value_in_words}: {reading}.{requirement}"
    if max(len(verdicts), len(decision.broken)) > MOST_REASONS:
        yield "The table of rules has all reasons."
    yield from map(str, decision.waived)


def _verdict_text(verdict: Verdict) -> str:
    parts = reason_without_numbers(verdict.reason).split("; ")
    lowest = [parts.pop(0)] if parts[0].startswith("lowest: ") else []
    sentences = [parts[0].partition(" (p ")[0], *lowest]
    if verdict.code != verdict.kind:  # it was taken back: the other verdict's numbers stand below
        sentences.append("; ".join(parts[1:]).partition(f": {verdict.rule.measure} ")[0])
    return "; ".join(sentences)


def build_project_page(judged_project: JudgedProject) -> Page:
    counts = round_counts(judged_project.rounds)
    count_names = (("held_rounds", "held"), ("not_judged", "not judged"))
    words = [f"{counts[name]} {word}" for name, word in count_names if counts[name]]
    rounds = counted(len(set(judged_project.rounds["round"])), "round")
    badge = Cell("every round is admitted", tone="good")
    if judged_project.rounds.empty:
        badge = Cell("no round yet", tone="unknown")
    elif words:
        badge = Cell(f"{' and '.join(words)} of {rounds}", tone="bad")
    lead = tuple(filter(None, (judged_project.description, judged_project.about_names)))
    parts = _answer_sections(OF_PROJECT, judged_project)
    return Page("Project", judged_project.name, badge, lead, parts, links=judged_project.links)


def build_projects_page(states: Sequence[ProjectState]) -> Page:
    waiting = sum(bool(state.why) for state in states)
    badge_text = (
        f"{waiting} of {counted(len(states), 'project')} need{'s' * (waiting == 1)} somebody"
    )
    badge = Cell(
        badge_text if waiting else "no project needs anybody", tone="bad" if waiting else "good"
    )
    n_held, waits = (
        sum(len(getattr(state, field_name)) for state in states)
        for field_name in ("held", "waiting")
    )
    late = sum(state.overdue for state in states)
    counts = f"{counted(n_held, 'round')} held, {waits} waiting, {late} overdue."
    answer = Answer((counts,), tables=(build_state_grid(states),))
    return Page("Projects", "All projects", badge, (), (("Projects", answer),))


def _answer_sections(
    sections: Mapping[str, Callable[[Judged], Answer | None]], subject: Judged
) -> tuple[tuple[str, Answer], ...]:
    answers = ((title, answer(subject)) for title, answer in sections.items())
    return tuple((title, answer) for title, answer in answers if answer is not None)
