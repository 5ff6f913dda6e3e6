"""The decision on a round, and the verdicts that it rests on."""

from agreement_pipeline.policy import Verdict
from agreement_pipeline.report.answer import Answer, Cell, grid
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

MOST_DRAWN = 20
COLUMNS = ("measure", "of", "value", "interval", "cut-off (tentative)", "verdict", "effect", "why")


@section("Decision", "May this round be trained on, and why?", place=10)
def decision(judged: JudgedRound) -> Answer:
    """The decision, its reasons, and each rule with its interval against its own cut-offs."""
    found = judged.decision
    verdicts = sorted(found.verdicts, key=lambda verdict: verdict.rule.effect != "hold")
    return Answer(
        (_decided(judged), *found.reasons),
        tuple(_figure(verdicts)),
        (grid("Each rule of the policy", COLUMNS, [_row(each) for each in verdicts], "verdicts"),),
    )


def _decided(judged: JudgedRound) -> str:
    found = judged.decision
    if found.admitted:
        return "Admitted: every rule that can hold a release is met."
    broken, unmet = len(found.broken), len(found.unmet)
    why = (
        (unmet, f"{counted(unmet, 'verdict')} of rules that can hold a release fell short"),
        (broken, f"{counted(broken, 'check')} of the data contract failed"),
    )
    return f"Held: {' and '.join(words for n, words in why if n) or 'no rule admits it'}."


def _figure(verdicts: list[Verdict]) -> list[Figure]:
    """The interval of each verdict, with the cut-offs of its rule."""
    drawn = [verdict for verdict in verdicts if verdict.estimate is not None][:MOST_DRAWN]
    if not drawn:
        return []
    return [
        Figure(
            "intervals",
            "Intervals against the cut-offs of the policy",
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
    warns = "" if verdict.rule.effect == "hold" else " (warns)"
    return Mark(
        f"{title_of(verdict.rule.measure)}: {about(verdict.scope)}{warns}",
        found.value,
        found.low,
        found.high,
        tone=NAMES_OF_TONES[verdict.kind],
        cutoffs=(verdict.rule.tentative, verdict.rule.reliable),
    )


def _row(verdict: Verdict) -> list[Cell | str]:
    found, rule = verdict.estimate, verdict.rule
    return [
        title_of(rule.measure),
        about(verdict.scope),
        value_cell(found),
        interval_cell(found),
        Cell(f"{rule.reliable:g} ({rule.tentative:g})", rule.reliable),
        verdict_cell(verdict),
        "holds" if rule.effect == "hold" else "warns",
        without_numbers(verdict.reason),
    ]
