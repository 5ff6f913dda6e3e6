"""Asset checks: they show what was found and stop a run early. Each asks a question.

The lock on a release is not here. It is in `release_round`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import dagster as dg
import pandas as pd

from agreement_pipeline.contract import Finding
from agreement_pipeline.estimates import Charted, registered
from agreement_pipeline.orchestration.compat import partitioned_check
from agreement_pipeline.orchestration.host import Host
from agreement_pipeline.orchestration.metadata import (
    first_of,
    number,
    rendered,
    table,
)
from agreement_pipeline.policy import Decision, Policy, Rule, Verdict
from agreement_pipeline.report import fallen_out, health, not_admitted, printable, verdict_grid
from agreement_pipeline.report import like_before as like_others

ADMITTED, NO_ROUND_HELD, IN_FORCE = "admitted", "no_round_held", "in_force"
IN_TIME, LIKE_BEFORE = "in_time", "like_before"
EVERY_ROUND_JUDGED = "every_round_judged"
WARN, ERROR = dg.AssetCheckSeverity.WARN, dg.AssetCheckSeverity.ERROR
KEPT, ADVICE = "contract_kept", "contract_advice"
MOST_RULES = 16
"""A round has twenty checks at most. Rules beyond these stand in the table of the decision."""

ONLY_WITH = {"replicated_items": "replicates"}
"""Advice that applies only if the policy judges measures that need this."""


def of_contract(host: Host) -> list[dg.AssetCheckSpec]:
    """Is the delivery a round, and does it follow the advice?"""
    asks = (
        (KEPT, "Does the round keep every critical check of the data contract?"),
        (ADVICE, "Does the round follow the advice of the data contract? It holds nothing."),
    )
    return _of_each_round(host, "annotations", asks)


def of_policy(host: Host) -> list[dg.AssetCheckSpec]:
    """A blocking check for the decision, and one for each rule."""
    policy = host.project.policy
    admits = f"Does policy {policy.policy}, version {policy.version}, admit this round?"
    rules = [(rule.name, rule.question) for rule in _with_check(policy)]
    return _of_each_round(host, "acceptability", [(ADMITTED, admits), *rules])


def of_release(host: Host) -> list[dg.AssetCheckSpec]:
    """Was the latest release withdrawn?"""
    asks = ((IN_FORCE, "Is the latest release of this round in force?"),)
    return _of_each_round(host, "training_data", asks)


def of_history(host: Host) -> list[dg.AssetCheckSpec]:
    """Checks over all rounds: are all admitted, did the last come in time, is it like before?"""
    asks = {
        NO_ROUND_HELD: "Is every round admitted?",
        IN_TIME: f"Did a round come in the last {host.project.settings.overdue_after_days} days?",
        LIKE_BEFORE: "Is the latest round like those before?",
    }
    asset = host.key("agreement_history")
    return [dg.AssetCheckSpec(name, asset=asset, description=asked) for name, asked in asks.items()]


def of_reassessment(host: Host) -> list[dg.AssetCheckSpec]:
    """Could every round of the store be judged again?"""
    asked = "Does every stored round have a decision by today's policy?"
    asset = host.key("reassessment")
    return [dg.AssetCheckSpec(EVERY_ROUND_JUDGED, asset=asset, description=asked)]


def contract_results(findings: Sequence[Finding], policy: Policy) -> Iterator[dg.AssetCheckResult]:
    """One result for what holds a round, and one for what is only advice."""
    holding = [finding for finding in findings if finding.severity == "error"]
    advice = [finding for finding in findings if finding.severity != "error"]
    yield _contract_result(KEPT, ERROR, holding, holding)
    applying = [finding for finding in advice if _applies(finding, policy)]
    yield _contract_result(ADVICE, WARN, advice, applying)


def policy_results(policy: Policy, decision: Decision) -> Iterator[dg.AssetCheckResult]:
    """A result for the decision and for each rule."""
    grid = rendered({"verdicts": verdict_grid(decision.verdicts)})
    said = _answer(decision.admitted, decision.reasons)
    yield _result(ADMITTED, decision.admitted, said, ERROR, grid)
    for rule in _with_check(policy):
        verdicts = [verdict for verdict in decision.verdicts if verdict.rule.name == rule.name]
        met = all(
            verdict.kind in policy.admit or decision.waives(verdict)
            for verdict in verdicts
            if verdict.rule == rule
        )
        grid = rendered({"verdicts": verdict_grid(verdicts)})
        said = _answer(met, [verdict.reason for verdict in verdicts])
        yield _result(rule.name, met, said, metadata={**grid, **_numbers(verdicts)})


def without_rule(name: str) -> dg.AssetCheckResult:
    """The answer to a check that was loaded for a rule that the policy no longer has."""
    return _result(name, False, "The policy has no such rule now. Reload the definitions.")


def released() -> dg.AssetCheckResult:
    """The release that was just made is in force. A withdrawal says so under the same name."""
    return _result(IN_FORCE, True, "Yes: released, and not withdrawn.", ERROR)


def withdrawn(said: str) -> dg.AssetCheckResult:
    """The release of a round is no longer in force."""
    return _result(IN_FORCE, False, said, ERROR, {"release": said})


def reassessed(failed: Mapping[str, str]) -> dg.AssetCheckResult:
    """An error if a round could not be judged again."""
    said = [f"round {name}: {why}" for name, why in failed.items()]
    return _result(EVERY_ROUND_JUDGED, not failed, _answer(not failed, said), ERROR)


def history_results(
    rounds: pd.DataFrame, unused: Mapping[str, str], late: str, chart: Sequence[Charted]
) -> Iterator[dg.AssetCheckResult]:
    """Warnings: rounds are not admitted, the next is overdue, the latest is unlike those before.

    The first names the unused waivers too.
    """
    found = [*not_admitted(rounds), *(f"unused waiver {name}" for name in unused)]
    said = printable("; ".join(found)) or "every round is admitted"
    yield _result(NO_ROUND_HELD, not found, said, metadata={"health": health(rounds, late)})
    yield _result(IN_TIME, not late, _answer(not late, [late] if late else []))
    yield like_before(chart)


def like_before(chart: Sequence[Charted]) -> dg.AssetCheckResult:
    """A warning if the latest round falls out of the control chart. It never holds a round."""
    found = fallen_out(chart[-1:])
    return _result(LIKE_BEFORE, not found, "; ".join(found) or like_others(chart))


def _of_each_round(
    host: Host, asset: str, asks: Iterable[tuple[str, str]]
) -> list[dg.AssetCheckSpec]:
    """A check with an answer for every round. What follows in the same run waits for `admitted`."""
    return [
        partitioned_check(
            name,
            asset=host.key(asset),
            description=asked,
            partitions=host.partitions,
            blocking=name == ADMITTED,
        )
        for name, asked in asks
    ]


def _result(
    name: str,
    passed: bool,
    said: str,
    severity: dg.AssetCheckSeverity = WARN,
    metadata: Mapping[str, Any] | None = None,
) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        check_name=name, passed=passed, severity=severity, description=said, metadata=metadata
    )


def _contract_result(
    name: str,
    severity: dg.AssetCheckSeverity,
    findings: Sequence[Finding],
    applying: Sequence[Finding],
) -> dg.AssetCheckResult:
    failed = [finding.description for finding in applying if not finding.passed]
    rows = pd.DataFrame(
        {
            "check": finding.check,
            "passed": "yes" if finding.passed else "no",
            "found": finding.description,
            "observed": "; ".join(f"{name}: {value}" for name, value in finding.observed),
        }
        for finding in findings
    )
    shown = table("findings", rows)
    return _result(name, not failed, _answer(not failed, failed), severity, shown)


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
