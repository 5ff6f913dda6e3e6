"""All stored rounds judged again in one run, and what is shown of it."""

from collections.abc import Iterator, Mapping
from typing import Any

import dagster as dg
import pandas as pd

from agreement_pipeline.errors import AgreementError
from agreement_pipeline.orchestration import checks
from agreement_pipeline.orchestration.compat import DATA_VERSION
from agreement_pipeline.orchestration.host import Host
from agreement_pipeline.orchestration.metadata import (
    decision_metadata,
    refused_files,
    release_metadata,
    table,
)
from agreement_pipeline.orchestration.outcomes import Result, failure, or_fail, show_withdrawn
from agreement_pipeline.orchestration.pages import link, page_of
from agreement_pipeline.orchestration.trainers import released_round
from agreement_pipeline.policy import Decision
from agreement_pipeline.projects import Project
from agreement_pipeline.release import Reassessed, reassess


def reassessment(host: Host, context: dg.AssetExecutionContext) -> Iterator[Result]:
    """Every stored round, judged again where something changed since its last decision.

    Ratings, policy, contract, waivers, settings and code are compared by their digests. A release
    that is no longer admitted is withdrawn, and a round that is admitted now is released. If the
    run is ended in the middle, the next one goes on from there.
    """
    counts = {"rounds": 0, "decided_anew": 0, "withdrawn": 0}
    changed: list[dict[str, str]] = []
    failed: dict[str, str] = {}
    looked_at = _looked_at(host.project)
    while each := or_fail(context, lambda: next(looked_at, None)):
        counts["rounds"] += 1
        counts["decided_anew"] += each.decision is not None
        counts["withdrawn"] += each.withdrawn
        if each.error is not None:
            failed[each.round] = str(each.error)
        elif each.decision is not None and each.changed:
            _show(host, context, each, each.decision)
            changed.append(_row(each, each.decision))
            failed |= _released(host, context, each, each.decision)
    yield dg.MaterializeResult(
        check_results=[checks.reassessed(failed)],
        metadata={
            **counts,
            "changed": len(changed),
            **(table("decisions_changed", pd.DataFrame(changed)) if changed else {}),
            **refused_files("rounds_not_judged", failed),
        },
    )
    if failed:
        why = "; ".join(f"round {name}: {said}" for name, said in failed.items())
        raise failure(f"not judged again: {why}", "not_judged")


def _looked_at(project: Project) -> Iterator[Reassessed]:
    return reassess(
        project.store,
        project.policy,
        project.contract,
        waivers=project.waivers,
        settings_digest=project.settings.reading_digest,
    )


def _show(
    host: Host, context: dg.AssetExecutionContext, each: Reassessed, decision: Decision
) -> None:
    """Show a changed decision on `acceptability`, as the run of the round itself would."""
    asset, page = host.key("acceptability"), link(host.project, page_of(each.round))
    told = {**decision_metadata(decision, page), "release_withdrawn": each.withdrawn}
    _materialized(context, asset, each.round, decision.digest, told)
    for result in checks.policy_results(host.project.policy, decision):
        context.log_event(
            dg.AssetCheckEvaluation(
                asset_key=asset,
                check_name=str(result.check_name),
                passed=result.passed,
                metadata=result.metadata,
                severity=result.severity,
                description=result.description,
                partition=each.round,
            )
        )
    if each.withdrawn:
        why = "; ".join(decision.reasons)
        show_withdrawn(context, host.key("training_data"), checks.IN_FORCE, each.round, why)


def _released(
    host: Host, context: dg.AssetExecutionContext, each: Reassessed, decision: Decision
) -> dict[str, str]:
    """Release a round that is admitted and was not before. Why that failed, by its name."""
    if not decision.admitted or each.before == "admitted":
        return {}
    try:
        release = released_round(host.project, each.round)
    except AgreementError as error:
        return {each.round: str(error)}
    told = release_metadata(release)
    _materialized(context, host.key("training_data"), each.round, release.path.name, told)
    return {}


def _materialized(
    context: dg.AssetExecutionContext,
    asset: dg.AssetKey,
    round_name: str,
    version: str,
    metadata: Mapping[str, Any],
) -> None:
    context.log_event(
        dg.AssetMaterialization(
            asset, partition=round_name, metadata=metadata, tags={DATA_VERSION: version}
        )
    )


def _row(each: Reassessed, decision: Decision) -> dict[str, str]:
    return {
        "round": each.round,
        "before": each.before or "not decided",
        "now": "admitted" if decision.admitted else "held",
        "why": "; ".join(decision.reasons),
        "release": "withdrawn" if each.withdrawn else "",
    }
