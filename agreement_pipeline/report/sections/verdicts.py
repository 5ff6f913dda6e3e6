"""The decision on a round, where to look first, and how many items would have decided."""

import math
from collections.abc import Sequence
from typing import Literal

from agreement_pipeline.errors import AgreementError
from agreement_pipeline.estimates import Scope
from agreement_pipeline.policy import Decision, Plan, Policy, Verdict, plan, unplanned_look
from agreement_pipeline.report.figure import (
    NAMES_OF_TONES,
    Figure,
    Mark,
    Series,
    Tone,
    intervals,
)
from agreement_pipeline.report.judged import JudgedRound, differ
from agreement_pipeline.report.section import (
    Answer,
    Cell,
    Grid,
    Row,
    grid,
    section,
    title_of,
    value_and_interval,
)
from agreement_pipeline.report.tables import without_numbers
from agreement_pipeline.text import PERCENT, SENTENCE, counted, in_words, number, tenths

Effect = Literal["hold", "warn"]
MOST_DRAWN, MOST_REASONS, N_ROUNDS = 20, 8, 60
TITLES: dict[Effect, str] = {
    "hold": "Rules that can hold a release: intervals against their cut-offs",
    "warn": "Rules that only warn: intervals against their cut-offs",
}
HOLDS = {"hold": "holds", "warn": "warns"}
READINGS: tuple[tuple[Tone, str], ...] = (
    ("good", "reliable"),
    ("partly", "tentative"),
    ("bad", "unreliable"),
    ("unknown", "cannot tell"),
)
"""The legend of verdicts."""

TAKEN = (
    "This takes the value here for the true one, and rests on few simulated rounds. "
    "The command plan simulates more."
)


@section("Decision", "May this round be trained on, and why?", place=10)
def decision(judged: JudgedRound) -> Answer:
    """The decision, its reasons, and each rule with its interval against its own cut-offs."""
    found = judged.decision
    verdicts = sorted(found.verdicts, key=lambda verdict: verdict.rule.effect != "hold")
    more = len(found.reasons) - MOST_REASONS
    rest = [f"{more} more reasons stand in the table."] if more > 0 else []
    return Answer(
        (_decided(found), *found.reasons[:MOST_REASONS], *rest),
        (*_figure(judged.policy, verdicts, "hold"), *_figure(judged.policy, verdicts, "warn")),
        (verdict_grid(verdicts), *_failed(found)),
    )


def _decided(found: Decision) -> str:
    if found.admitted:
        rest = "is met, or overridden by a waiver" if found.waived else "is met"
        return f"Admitted: every rule that can hold a release {rest}."
    holding, unmet = len({each.rule for each in found.holding}), {each.rule for each in found.unmet}
    of = f"{len(unmet)} of {counted(holding, 'rule')} that can hold a release"
    why = (
        (len(unmet), f"{of} {'is' if len(unmet) == 1 else 'are'} not met"),
        (len(found.broken), f"{counted(len(found.broken), 'check')} of the data contract failed"),
    )
    return f"Held: {' and '.join(words for n, words in why if n) or 'no rule admits it'}."


def verdict_grid(verdicts: Sequence[Verdict]) -> Grid:
    """A row for each verdict: what it judges, the numbers that it rests on, and why."""
    rows: list[Row] = [
        [
            title_of(verdict.rule.measure),
            about(verdict.scope),
            Cell(verdict.kind.replace("_", " "), tone=NAMES_OF_TONES[verdict.kind]),
            *value_and_interval(verdict.estimate),
            Cell(f"{verdict.rule.reliable:g} ({verdict.rule.tentative:g})", verdict.rule.reliable),
            HOLDS[verdict.rule.effect],
            without_numbers(verdict.reason),
        ]
        for verdict in verdicts
    ]
    columns = (
        "measure",
        "of",
        "verdict",
        "value",
        "interval",
        "cut-off (tentative)",
        "effect",
        "why",
    )
    return grid("Each rule of the policy", columns, rows, "verdicts")


def about(scope: Scope) -> str:
    """What an estimate is about. Raters and pairs need no word beside their names.

    >>> about(Scope("rater", "rater-0f6a")), about(Scope("category", "safe")), about(Scope("round"))
    ('rater-0f6a', 'category safe', 'round')
    """
    return scope.name if scope.kind in ("rater", "pair") and scope.name else str(scope)


def _figure(policy: Policy, verdicts: Sequence[Verdict], effect: Effect) -> list[Figure]:
    """The interval of each verdict of rules with an effect, with the cut-offs of its rule."""
    marks = [
        Mark.of(
            verdict.estimate,
            f"{title_of(verdict.rule.measure)}: {about(verdict.scope)}",
            tone=NAMES_OF_TONES[verdict.kind],
            cutoffs=(verdict.rule.tentative, verdict.rule.reliable),
        )
        for verdict in verdicts
        if verdict.rule.effect == effect and verdict.estimate is not None
    ]
    met = "shorter" if "tentative" in policy.admit else "longer"
    says = (
        f"A rule is met if the whole line stands to the right of its {met} stroke. "
        "The longer stroke is the reliable cut-off, the shorter one the tentative."
    )
    drawn = intervals(TITLES[effect], says, marks[:MOST_DRAWN], "agreement", legend=READINGS)
    return [drawn] if marks else []


def _failed(found: Decision) -> list[Grid]:
    """The checks of the data contract that failed."""
    failed = [each for each in found.findings if not each.passed]
    rows: list[Row] = [
        [each.check, "holds" if each.holds else "warns", each.description]
        for each in sorted(failed, key=lambda each: not each.holds)
    ]
    columns = ("check", "effect", "found")
    checks = grid("Checks of the data contract that failed", columns, rows, "checks")
    return [checks] if rows else []


@section("Where to look", "Which category or item should we talk about?", place=15)
def where_to_look(judged: JudgedRound) -> Answer:
    """The lowest category and the most disputed item, with a link to what lies behind each."""
    rows: list[Row] = []
    for found in judged.categories[:1]:
        if found.value is not None and differ(judged.categories):
            name = Cell(found.scope.name, to=judged.anchor_of_category(found.scope.name))
            rows.append(["category", name, *value_and_interval(found), "against all others"])
    for at in judged.most_disputed[:1]:
        item = judged.by_item[0][at]
        part = in_words(judged.disagreement[at], PERCENT)
        said = f"{part} of all disagreement. {judged.texts_of([item])[0]}"
        rows.append(["item", Cell(item, to="items"), "", "", said])
    if not rows:
        return Answer(("There is no disagreement to talk about.",))
    columns = ("what", "which", "agreement", "interval", "read")
    said = "These agree least. Each leads to its numbers and its items."
    return Answer((said,), tables=(grid("The lowest of each kind", columns, rows),))


@section("Items needed", "How many items would have decided?", place=75)
def power(judged: JudgedRound) -> Answer | None:
    """The share of rounds like this one that would be admitted, by the number of items."""
    try:
        plans = plan(judged.policy, judged.ratings, n_rounds=N_ROUNDS, where=judged.name)
    except AgreementError as why:
        return Answer((f"This cannot be said. {why}",))
    rows: list[Row] = [
        [
            title_of(found.measure),
            Cell(number(found.expected, SENTENCE), found.expected),
            Cell(f"{found.reliable:g}", found.reliable),
            "none would do" if found.n_items is None else found.n_items,
            Cell(number(found.decided, PERCENT), found.decided),
            found.impossible,
        ]
        for found in plans
    ]
    columns = ("measure", "value here", "cut-off", "items that decide", "decides", "note")
    table = grid("Items that would decide", columns, rows, "rules")
    cost = unplanned_look(judged.policy)
    said = (*(_needed(judged, each) for each in plans), TAKEN, *([cost] if cost else []))
    figure = plan_figure(plans, [title_of(found.measure) for found in plans])
    return Answer(said, () if figure is None else (figure,), (table,))


def _needed(judged: JudgedRound, found: Plan) -> str:
    title = title_of(found.measure)
    if found.n_items is None:
        return f"{title}: too few rounds like this one would decide, since {found.impossible}."
    estimates = judged.assessment.estimates
    used = [each.n_used for each in estimates if each.measure == found.measure]
    n_used = used[0] if used else judged.ratings.n_items
    return (
        f"{title}: about {found.n_items:,} items decide in {in_words(found.probability, PERCENT)} "
        f"of rounds like this one. This round has {n_used:,} that the measure can use."
    )


def plan_figure(plans: Sequence[Plan], names: Sequence[str] | None = None) -> Figure | None:
    """The share of rounds that decide by the number of items, a curve for each plan.

    Curves are called by their labels an item, or by `names`. None if no plan tried a number of
    items.
    """
    labels = [f"{each.measure}, {tenths(each.labels_an_item)} labels an item" for each in plans]
    series = tuple(
        Series(name, tuple(Mark("", share, across=math.log10(n)) for n, share in found.curve))
        for name, found in zip(names or labels, plans, strict=True)
        if found.curve
    )
    if not series:
        return None
    return Figure(
        "lines",
        "What number of items would have decided",
        "Each point is a simulation of rounds like this one: "
        "the share of them whose lower limit reaches the cut-off.",
        series,
        axis="share of rounds that decide",
        other_axis="items",
        cutoffs=((plans[0].probability, f"{plans[0].probability:.0%}"),),
        bounds=(0.0, 1.0),
        by_powers=True,
    )
