"""Asset checks: they show what was found and stop a run early.

The lock on a release is not here. It is in `release_round`.
"""

from collections.abc import Iterable, Iterator, Sequence

import dagster as dg
import pandas as pd

from agreement_pipeline.contract import Contract, Finding
from agreement_pipeline.estimates import Estimate
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.orchestration.compat import partitioned_check
from agreement_pipeline.orchestration.metadata import (
    decision_metadata,
    finding_metadata,
    first_of,
    number,
    table,
)
from agreement_pipeline.policy import Decision, Policy, Verdict
from agreement_pipeline.report import headlines, not_admitted, verdict_rows, why_undefined

ADMITTED, NO_ROUND_HELD = "admitted", "no_round_held"


def contract_specs(
    asset: dg.AssetKey, contract: Contract, partitions: dg.PartitionsDefinition
) -> list[dg.AssetCheckSpec]:
    """A check for each expectation of the contract."""
    return [
        partitioned_check(
            spec.check, asset=asset, description=spec.description, partitions=partitions
        )
        for spec in contract.specs
    ]


def contract_results(
    asset: dg.AssetKey, findings: Iterable[Finding]
) -> Iterator[dg.AssetCheckResult]:
    """A result for each finding. The contract says if a failure is an error or a warning."""
    for finding in findings:
        yield dg.AssetCheckResult(
            asset_key=asset,
            check_name=finding.check,
            passed=finding.passed,
            severity=dg.AssetCheckSeverity.ERROR
            if finding.severity == "error"
            else dg.AssetCheckSeverity.WARN,
            description=finding.description,
            metadata=finding_metadata(finding),
        )


def defined_specs(
    asset: dg.AssetKey, measures: Iterable[str], partitions: dg.PartitionsDefinition
) -> list[dg.AssetCheckSpec]:
    """A check for each measure: does this round have a value?"""
    return [
        partitioned_check(
            f"{name}_defined",
            asset=asset,
            description=f"{MEASURES[name].title} has a value for this round.",
            partitions=partitions,
        )
        for name in measures
    ]


def defined_results(
    asset: dg.AssetKey, measures: Iterable[str], estimates: Sequence[Estimate]
) -> Iterator[dg.AssetCheckResult]:
    """A result for each measure: a warning with the reason if it has no value."""
    for name in measures:
        mine = [found for found in headlines(estimates) if found.measure == name]
        reasons = why_undefined(mine)
        yield dg.AssetCheckResult(
            asset_key=asset,
            check_name=f"{name}_defined",
            passed=not reasons,
            severity=dg.AssetCheckSeverity.WARN,
            description="; ".join(reasons) or "defined",
            metadata={
                str(found.scope): number(found.value) for found in mine if found.value is not None
            },
        )


def policy_specs(
    asset: dg.AssetKey, policy: Policy, partitions: dg.PartitionsDefinition
) -> list[dg.AssetCheckSpec]:
    """A check for each rule, and a blocking one for the decision."""
    rules = [
        partitioned_check(
            rule.name, asset=asset, description=rule.description, partitions=partitions
        )
        for rule in policy.rules
    ]
    admitted = partitioned_check(
        ADMITTED,
        asset=asset,
        blocking=True,
        description=f"Policy {policy.policy}, version {policy.version}, admits this round.",
        partitions=partitions,
    )
    return [admitted, *rules]


def policy_results(
    asset: dg.AssetKey, policy: Policy, decision: Decision
) -> Iterator[dg.AssetCheckResult]:
    """A result for the decision and for each rule."""
    yield dg.AssetCheckResult(
        asset_key=asset,
        check_name=ADMITTED,
        passed=decision.admitted,
        severity=dg.AssetCheckSeverity.ERROR,
        description="; ".join(decision.reasons),
        metadata=decision_metadata(decision),
    )
    for rule in policy.rules:
        verdicts = [verdict for verdict in decision.verdicts if verdict.rule == rule]
        yield dg.AssetCheckResult(
            asset_key=asset,
            check_name=rule.name,
            passed=all(
                verdict.kind in policy.admit or decision.waives(verdict) for verdict in verdicts
            ),
            severity=dg.AssetCheckSeverity.WARN,
            description="; ".join(first_of([verdict.reason for verdict in verdicts])),
            metadata={**table("verdicts", verdict_rows(verdicts)), **_numbers(verdicts)},
        )


def history_spec(asset: dg.AssetKey) -> dg.AssetCheckSpec:
    """A check over all rounds: is every round admitted?"""
    return dg.AssetCheckSpec(NO_ROUND_HELD, asset=asset, description="Every round is admitted.")


def history_result(asset: dg.AssetKey, rounds: pd.DataFrame) -> dg.AssetCheckResult:
    """A warning that names the rounds that are held or were not judged."""
    found = not_admitted(rounds)
    return dg.AssetCheckResult(
        asset_key=asset,
        check_name=NO_ROUND_HELD,
        passed=not found,
        severity=dg.AssetCheckSeverity.WARN,
        description="; ".join(found) or "every round is admitted",
    )


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
