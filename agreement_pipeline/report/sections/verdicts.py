"""The decision on a round, and the verdicts that it rests on."""

from collections.abc import Sequence
from typing import Literal

from agreement_pipeline.policy import Decision, Policy, Verdict
from agreement_pipeline.report.answer import Answer, Cell, Grid, Row, grid
from agreement_pipeline.report.cells import (
    READINGS,
    about,
    interval_cell,
    title_of,
    value_cell,
    verdict_cell,
    without_numbers,
)
from agreement_pipeline.report.figure import NAMES_OF_TONES, Figure, Mark, Series
from agreement_pipeline.report.judged import JudgedRound
from agreement_pipeline.report.sections.record import section
from agreement_pipeline.text import counted

Effect = Literal["hold", "warn"]
MOST_DRAWN, MOST_REASONS = 20, 8
TITLES: dict[Effect, str] = {
    "hold": "Rules that can hold a release: intervals against their cut-offs",
    "warn": "Rules that only warn: intervals against their cut-offs",
}
COLUMNS = (
    "measure",
    "of",
    "verdict",
    "value",
    "interval",
    "cut-off (tentative)",
    "effect",
    "why",
)


@section("Decision", "May this round be trained on, and why?", place=10)
def decision(judged: JudgedRound) -> Answer:
    """The decision, its reasons, and each rule with its interval against its own cut-offs."""
    found = judged.decision
    verdicts = sorted(found.verdicts, key=lambda verdict: verdict.rule.effect != "hold")
    rules = grid("Each rule of the policy", COLUMNS, [_row(each) for each in verdicts], "verdicts")
    return Answer(
        (_decided(judged), *_first(found.reasons)),
        (*_figure(judged.policy, verdicts, "hold"), *_figure(judged.policy, verdicts, "warn")),
        (rules, *_failed(found)),
    )


def _first(reasons: Sequence[str]) -> list[str]:
    more = len(reasons) - MOST_REASONS
    rest = [f"{more} more reasons stand in the table."] if more > 0 else []
    return [*reasons[:MOST_REASONS], *rest]


def _failed(found: Decision) -> list[Grid]:
    """The checks of the data contract that failed."""
    failed = sorted(
        (each for each in found.findings if not each.passed), key=lambda each: not each.holds
    )
    rows: list[Row] = [
        [each.check, "holds" if each.holds else "warns", each.description] for each in failed
    ]
    columns = ("check", "effect", "found")
    return (
        [grid("Checks of the data contract that failed", columns, rows, "checks")] if rows else []
    )


def _decided(judged: JudgedRound) -> str:
    found = judged.decision
    if found.admitted:
        rest = "is met" if not found.waived else "is met, or overridden by a waiver"
        return f"Admitted: every rule that can hold a release {rest}."
    holding, unmet = len({each.rule for each in found.holding}), {each.rule for each in found.unmet}
    of = f"{len(unmet)} of {counted(holding, 'rule')} that can hold a release"
    why = (
        (len(unmet), f"{of} {'is' if len(unmet) == 1 else 'are'} not met"),
        (len(found.broken), f"{counted(len(found.broken), 'check')} of the data contract failed"),
    )
    return f"Held: {' and '.join(words for n, words in why if n) or 'no rule admits it'}."


def _figure(policy: Policy, verdicts: list[Verdict], effect: Effect) -> list[Figure]:
    """The interval of each verdict of rules with an effect, with the cut-offs of its rule."""
    mine = [verdict for verdict in verdicts if verdict.rule.effect == effect]
    drawn = [verdict for verdict in mine if verdict.estimate is not None][:MOST_DRAWN]
    if not drawn:
        return []
    met = "shorter" if "tentative" in policy.admit else "longer"
    return [
        Figure(
            "intervals",
            TITLES[effect],
            f"A rule is met if the whole line stands to the right of its {met} stroke. "
            "The longer stroke is the reliable cut-off, the shorter one the tentative.",
            (Series("verdicts", tuple(map(_mark, drawn))),),
            axis="agreement",
            legend=READINGS,
        )
    ]


def _mark(verdict: Verdict) -> Mark:
    found = verdict.estimate
    assert found is not None
    return Mark(
        f"{title_of(verdict.rule.measure)}: {about(verdict.scope)}",
        found.value,
        found.low,
        found.high,
        tone=NAMES_OF_TONES[verdict.kind],
        cutoffs=(verdict.rule.tentative, verdict.rule.reliable),
    )


def _row(verdict: Verdict) -> Row:
    found, rule = verdict.estimate, verdict.rule
    return [
        title_of(rule.measure),
        about(verdict.scope),
        verdict_cell(verdict),
        value_cell(found),
        interval_cell(found),
        Cell(f"{rule.reliable:g} ({rule.tentative:g})", rule.reliable),
        "holds" if rule.effect == "hold" else "warns",
        without_numbers(verdict.reason),
    ]
