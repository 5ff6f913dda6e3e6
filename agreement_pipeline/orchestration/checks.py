"""Asset checks: the display of what was found, and the early stop. The lock is elsewhere, in `release_round`."""

from collections.abc import Iterable, Iterator, Sequence

import dagster as dg

from agreement_pipeline.contract import Contract, Finding
from agreement_pipeline.estimates import Estimate
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.orchestration.compat import partitioned_check
from agreement_pipeline.orchestration.metadata import (
    decision_metadata,
    finding_metadata,
    number,
    verdict_table,
)
from agreement_pipeline.policy import Decision, Policy, Verdict

ADMITTED = "admitted"


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
    """A result for each finding; a failure is an error or a warning as the contract says."""
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
    """A check for each measure: has it a value for this round?"""
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
    """A warning for each measure without a value, with the reason."""
    for name in measures:
        mine = [
            e for e in estimates if e.measure == name and e.scope.kind in ("round", "classifier")
        ]
        reasons = [f"{e.scope}: {e.undefined}" for e in mine if e.undefined] or (
            [] if mine else ["nothing in this round that it could be computed from"]
        )
        values = {str(e.scope): number(e.value) for e in mine if e.value is not None}
        yield dg.AssetCheckResult(
            asset_key=asset,
            check_name=f"{name}_defined",
            passed=not reasons,
            severity=dg.AssetCheckSeverity.WARN,
            description="; ".join(reasons) or "defined",
            metadata=values,
        )


def policy_specs(
    asset: dg.AssetKey, policy: Policy, partitions: dg.PartitionsDefinition
) -> list[dg.AssetCheckSpec]:
    """A check for each rule, and the one that blocks: is the round admitted?"""
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
    """The decision, and a result for each rule."""
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
            description="; ".join(verdict.reason for verdict in verdicts),
            metadata={"verdicts": verdict_table(verdicts), **_numbers(verdicts)},
        )


def _numbers(verdicts: Sequence[Verdict]) -> dict[str, float]:
    """The value, limits and q of a rule on one single estimate, which the UI plots."""
    if len(verdicts) != 1:
        return {}
    said = verdicts[0].to_mapping()
    return {
        name: number(said[name])
        for name in ("value", "low", "high", "q_reliable", "q_tentative")
        if said[name] is not None
    }
