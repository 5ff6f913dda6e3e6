"""How a step becomes an asset: its name is the function's, its description the docstring."""

from collections.abc import Callable, Iterator, Sequence
from inspect import getdoc
from typing import Any

import dagster as dg

from agreement_pipeline.orchestration.checks import IN_FORCE
from agreement_pipeline.orchestration.host import Host
from agreement_pipeline.orchestration.outcomes import (
    ADMITTED,
    HELD,
    Judged,
    Result,
    failure,
    or_fail,
    show_withdrawn,
    tag,
)
from agreement_pipeline.orchestration.progress import progress
from agreement_pipeline.projects import Project

StepOfRound = Callable[[Project, str], Result | Judged]
StepOfAll = Callable[[Project], Result]


def of_each_round(
    host: Host,
    step: StepOfRound,
    after: Sequence[str] = (),
    checks: Sequence[dg.AssetCheckSpec] = (),
    **more: Any,
) -> dg.AssetsDefinition:
    """An asset with a partition for every round."""

    def of_round(context: dg.AssetExecutionContext) -> Iterator[dg.MaterializeResult]:  # type: ignore[type-arg]  # Dagster reads the bare class
        what = f"{step.__name__} of {context.partition_key}"
        with progress(context.log.info, what):
            found = or_fail(context, lambda: step(host.project, context.partition_key))
        if isinstance(found, Judged):
            yield from _judged(host, context, found._replace(result=fitting(found.result, checks)))
        else:
            yield found

    return _asset(host, step, of_round, after, checks, partitions_def=host.partitions, **more)


def of_all_rounds(
    host: Host,
    step: StepOfAll,
    after: Sequence[str],
    checks: Sequence[dg.AssetCheckSpec] = (),
    **more: Any,
) -> dg.AssetsDefinition:
    """An asset over all rounds."""

    def of_all(context: dg.AssetExecutionContext) -> dg.MaterializeResult:  # type: ignore[type-arg]  # Dagster reads the bare class
        with progress(context.log.info, step.__name__):
            return or_fail(context, lambda: step(host.project))

    return _asset(host, step, of_all, after, checks, **more)


def of_the_store(
    host: Host,
    step: Callable[[Host, dg.AssetExecutionContext], Iterator[Result]],
    after: Sequence[str],
    checks: Sequence[dg.AssetCheckSpec] = (),
) -> dg.AssetsDefinition:
    """An asset over all rounds that shows events of other assets while it is at work."""

    def of_the_store(context: dg.AssetExecutionContext) -> Iterator[dg.MaterializeResult]:  # type: ignore[type-arg]  # Dagster reads the bare class
        with progress(context.log.info, step.__name__):
            yield from step(host, context)

    return _asset(host, step, of_the_store, after, checks)


def fitting(result: Result, checks: Sequence[dg.AssetCheckSpec]) -> Result:
    """The result with an answer to each check that was loaded, and to no other.

    The policy may have other rules than when the definitions were loaded. Its decision stands.
    """
    asked = {spec.name for spec in checks}
    answered = [each for each in result.check_results if each.check_name in asked]
    gone = sorted(asked - {each.check_name for each in answered})
    unanswered = [
        dg.AssetCheckResult(
            check_name=name,
            passed=False,
            severity=dg.AssetCheckSeverity.WARN,
            description="The policy has no such rule now. Reload the definitions.",
        )
        for name in gone
    ]
    return dg.MaterializeResult(
        metadata=result.metadata,
        check_results=[*answered, *unanswered],
        data_version=result.data_version,
    )


def _judged(host: Host, context: dg.AssetExecutionContext, found: Judged) -> Iterator[Result]:
    """Show the decision. If the round is held, the run ends, and its first line says why."""
    yield found.result
    if found.admitted:
        tag(context, ADMITTED)
        return
    why = "; ".join(found.reasons)
    if found.withdrawn:
        show_withdrawn(context, host.key("training_data"), IN_FORCE, context.partition_key, why)
    tag(context, HELD, why)
    raise failure(f"held: round {context.partition_key}: {why}", "held")


def _asset(
    host: Host,
    step: Callable[..., Any],
    compute: Callable[..., Any],
    after: Sequence[str],
    checks: Sequence[dg.AssetCheckSpec],
    **more: Any,
) -> dg.AssetsDefinition:
    spec = host.spec(step.__name__, getdoc(step))
    decorate = dg.asset(
        key=spec.key,
        description=spec.description,
        deps=[host.key(name) for name in after],
        check_specs=list(checks),
        group_name=spec.group_name,
        owners=spec.owners,
        tags=spec.tags,
        metadata=spec.metadata,
        code_version=spec.code_version,
        pool=host.pool,
        **more,
    )
    asset: dg.AssetsDefinition = decorate(compute)
    return asset
