"""Asset checks: they show what was found and stop a run early. Each asks a question.

The lock on a release is not here. It is in `release_round`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import dagster as dg
import pandas as pd

from agreement_pipeline.contract import Finding
from agreement_pipeline.estimates import Charted, registered
from agreement_pipeline.orchestration.compat import partitioned_check
from agreement_pipeline.orchestration.metadata import (
    finding_rows,
    first_of,
    number,
    rendered,
    table,
)
from agreement_pipeline.policy import Decision, Policy, Rule, Verdict
from agreement_pipeline.report import fallen_out, health, not_admitted, printable, verdict_grid

ADMITTED, NO_ROUND_HELD, IN_FORCE = "admitted", "no_round_held", "in_force"
IN_TIME, LIKE_BEFORE = "in_time", "like_before"
EVERY_ROUND_JUDGED = "every_round_judged"
KEPT, ADVICE = "contract_kept", "contract_advice"
MOST_RULES = 16
"""A round has twenty checks at most. Rules beyond these stand in the table of the decision."""

ONLY_WITH = {"replicated_items": "replicates"}
"""Advice that applies only if the policy judges measures that need this."""


class Question(NamedTuple):
    """A check of every round.

    Parameters
    ----------
    name
        Its name.
    asks
        Its question, which *yes* answers if the check passes.
    blocking
        True if what follows in the same run waits for the answer.
    """

    name: str
    asks: str
    blocking: bool = False


CONTRACT = (
    Question(KEPT, "Does the round keep every critical check of the data contract?"),
    Question(ADVICE, "Does the round follow the advice of the data contract? It holds nothing."),
)
RELEASED = Question(IN_FORCE, "Is the latest release of this round in force?")


def of_rounds(
    partitions: dg.PartitionsDefinition[str], asset: dg.AssetKey, question: Question
) -> dg.AssetCheckSpec:
    """A check with an answer for every round."""
    return partitioned_check(
        question.name,
        asset=asset,
        description=question.asks,
        partitions=partitions,
        blocking=question.blocking,
    )


def contract_results(findings: Sequence[Finding], policy: Policy) -> Iterator[dg.AssetCheckResult]:
    """One result for what holds a round, and one for what is only advice."""
    holding = [finding for finding in findings if finding.severity == "error"]
    advice = [finding for finding in findings if finding.severity != "error"]
    yield _contract_result(KEPT, dg.AssetCheckSeverity.ERROR, holding, holding)
    applying = [finding for finding in advice if _applies(finding, policy)]
    yield _contract_result(ADVICE, dg.AssetCheckSeverity.WARN, advice, applying)


def of_policy(policy: Policy) -> list[Question]:
    """A blocking question for the decision, and one for each rule."""
    admits = f"Does policy {policy.policy}, version {policy.version}, admit this round?"
    rules = [Question(rule.name, rule.question) for rule in _with_check(policy)]
    return [Question(ADMITTED, admits, blocking=True), *rules]


def policy_results(policy: Policy, decision: Decision) -> Iterator[dg.AssetCheckResult]:
    """A result for the decision and for each rule."""
    yield dg.AssetCheckResult(
        check_name=ADMITTED,
        passed=decision.admitted,
        severity=dg.AssetCheckSeverity.ERROR,
        description=_answer(decision.admitted, decision.reasons),
        metadata=rendered({"verdicts": verdict_grid(decision.verdicts)}),
    )
    for rule in _with_check(policy):
        verdicts = [verdict for verdict in decision.verdicts if verdict.rule.name == rule.name]
        met = all(
            verdict.kind in policy.admit or decision.waives(verdict)
            for verdict in verdicts
            if verdict.rule == rule
        )
        yield dg.AssetCheckResult(
            check_name=rule.name,
            passed=met,
            severity=dg.AssetCheckSeverity.WARN,
            description=_answer(met, [verdict.reason for verdict in verdicts]),
            metadata={**rendered({"verdicts": verdict_grid(verdicts)}), **_numbers(verdicts)},
        )


def released_result() -> dg.AssetCheckResult:
    """The release that was just made is in force. A withdrawal says so under the same name."""
    return dg.AssetCheckResult(
        check_name=IN_FORCE, passed=True, description="Yes: released, and not withdrawn."
    )


def history_specs(asset: dg.AssetKey, days: int) -> list[dg.AssetCheckSpec]:
    """Checks over all rounds: are all admitted, did the last come in time, is it like before?"""
    asks = {
        NO_ROUND_HELD: "Is every round admitted?",
        IN_TIME: f"Did a round come in the last {days} days?",
        LIKE_BEFORE: "Is the latest round like those before?",
    }
    return [dg.AssetCheckSpec(name, asset=asset, description=asked) for name, asked in asks.items()]


def every_round_judged(asset: dg.AssetKey) -> dg.AssetCheckSpec:
    """Could every round of the store be judged again?"""
    asked = "Does every stored round have a decision by today's policy?"
    return dg.AssetCheckSpec(EVERY_ROUND_JUDGED, asset=asset, description=asked)


def reassessed(failed: Mapping[str, str]) -> dg.AssetCheckResult:
    """An error if a round could not be judged again."""
    said = [f"round {name}: {why}" for name, why in failed.items()]
    return dg.AssetCheckResult(
        check_name=EVERY_ROUND_JUDGED,
        passed=not failed,
        severity=dg.AssetCheckSeverity.ERROR,
        description=_answer(not failed, said),
    )


def like_before(chart: Sequence[Charted]) -> dg.AssetCheckResult:
    """A warning if the latest round falls out of the control chart. It never holds a round."""
    found = fallen_out(chart[-1:])
    return dg.AssetCheckResult(
        check_name=LIKE_BEFORE,
        passed=not found,
        severity=dg.AssetCheckSeverity.WARN,
        description="; ".join(found)
        or "the latest round is within its limits, or has too few before it",
    )


def history_results(
    rounds: pd.DataFrame, unused: Mapping[str, str], late: str
) -> Iterator[dg.AssetCheckResult]:
    """A warning that names the rounds that are not admitted, and one if the next is overdue.

    The first names the unused waivers too.
    """
    found = [*not_admitted(rounds), *(f"unused waiver {name}" for name in unused)]
    yield dg.AssetCheckResult(
        check_name=NO_ROUND_HELD,
        passed=not found,
        severity=dg.AssetCheckSeverity.WARN,
        description=printable("; ".join(found)) or "every round is admitted",
        metadata={"health": health(rounds, late)},
    )
    yield dg.AssetCheckResult(
        check_name=IN_TIME,
        passed=not late,
        severity=dg.AssetCheckSeverity.WARN,
        description=_answer(not late, [late] if late else []),
    )


def _contract_result(
    name: str,
    severity: dg.AssetCheckSeverity,
    findings: Sequence[Finding],
    applying: Sequence[Finding],
) -> dg.AssetCheckResult:
    failed = [finding.description for finding in applying if not finding.passed]
    return dg.AssetCheckResult(
        check_name=name,
        passed=not failed,
        severity=severity,
        description=_answer(not failed, failed),
        metadata=table("findings", finding_rows(findings)),
    )


def _applies(finding: Finding, policy: Policy) -> bool:
    needed = ONLY_WITH.get(finding.check)
    return needed is None or any(registered(name).needs == needed for name in policy.measures)


def _with_check(policy: Policy) -> Sequence[Rule]:
    """The rules that have a check of their own: those that hold a release come first."""
    holding = sorted(policy.rules, key=lambda rule: rule.effect != "hold")
    return holding[:MOST_RULES]


def _answer(passed: bool, reasons: Iterable[str]) -> str:
    """The answer to the question of a check, in a sentence."""
    said = printable("; ".join(first_of(list(reasons))))
    return f"{'Yes' if passed else 'No'}{f': {said}' if said else '.'}"


def _numbers(verdicts: Sequence[Verdict]) -> dict[str, float]:
    """What the UI plots of a rule with one verdict: its value, limits and p."""
    if len(verdicts) != 1:
        return {}
    said = verdicts[0].to_mapping()
    return {
        name: number(said[name])
        for name in ("value", "low", "high", "p_reliable", "p_tentative")
        if said[name] is not None
    }
