"""The decision on a round, and the verdicts that it rests on."""

from typing import Literal

from agreement_pipeline.policy import Verdict
from agreement_pipeline.report.answer import Answer, Cell, Row, grid
from agreement_pipeline.report.cells import (
    READINGS,
    about,
    counted,
    interval_cell,
    title_of,
    value_cell,
    verdict_cell,
    without_numbers,
)
from agreement_pipeline.report.figure import NAMES_OF_TONES, Figure, Mark, Series
from agreement_pipeline.report.judged import JudgedRound
from agreement_pipeline.report.sections.record import section

Effect = Literal["hold", "warn"]
MOST_DRAWN = 20
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
    return Answer(
        (_decided(judged), *found.reasons),
        (*_figure(verdicts, "hold"), *_figure(verdicts, "warn")),
        (grid("Each rule of the policy", COLUMNS, [_row(each) for each in verdicts], "verdicts"),),
    )


def _decided(judged: JudgedRound) -> str:
    found = judged.decision
    if found.admitted:
        return "Admitted: every rule that can hold a release is met."
    holding, unmet = len({each.rule for each in found.holding}), {each.rule for each in found.unmet}
    of = f"{len(unmet)} of {counted(holding, 'rule')} that can hold a release"
    why = (
        (len(unmet), f"{of} {'is' if len(unmet) == 1 else 'are'} not met"),
        (len(found.broken), f"{counted(len(found.broken), 'check')} of the data contract failed"),
    )
    return f"Held: {' and '.join(words for n, words in why if n) or 'no rule admits it'}."


def _figure(verdicts: list[Verdict], effect: Effect) -> list[Figure]:
    """The interval of each verdict of rules with an effect, with the cut-offs of its rule."""
    mine = [verdict for verdict in verdicts if verdict.rule.effect == effect]
    drawn = [verdict for verdict in mine if verdict.estimate is not None][:MOST_DRAWN]
    if not drawn:
        return []
    return [
        Figure(
            "intervals",
            TITLES[effect],
            "A rule is met if the whole line stands to the right of its longer stroke. "
            "The shorter stroke is the tentative cut-off.",
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
