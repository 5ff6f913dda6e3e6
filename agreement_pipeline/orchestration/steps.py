"""How a step becomes an asset: its name is the function's, its description the docstring."""

from collections.abc import Callable, Sequence
from inspect import getdoc
from typing import Any, TypeVar

import dagster as dg

from agreement_pipeline.errors import AgreementError
from agreement_pipeline.projects import Project
from agreement_pipeline.version import __version__

Result = dg.MaterializeResult[None]
StepOfRound = Callable[[Project, str], Result]
StepOfAll = Callable[[Project], Result]
T = TypeVar("T")


def partitions_of(project: Project) -> dg.DynamicPartitionsDefinition:
    """The rounds of a project."""
    return dg.DynamicPartitionsDefinition(name=f"{project.name}_rounds")


def key_of(project: Project, name: str) -> dg.AssetKey:
    """The key of an asset of a project."""
    return dg.AssetKey([project.name, name])


def of_each_round(
    project: Project,
    step: StepOfRound,
    after: Sequence[str] = (),
    checks: Sequence[dg.AssetCheckSpec] = (),
    **more: Any,
) -> dg.AssetsDefinition:
    """An asset with a partition for every round."""

    def of_round(context: dg.AssetExecutionContext) -> dg.MaterializeResult:  # type: ignore[type-arg]  # Dagster reads the bare class
        return _or_fail(lambda: step(project, context.partition_key))

    partitions = partitions_of(project)
    return _asset(project, step, of_round, after, checks, partitions_def=partitions, **more)


def of_all_rounds(
    project: Project,
    step: StepOfAll,
    after: Sequence[str],
    checks: Sequence[dg.AssetCheckSpec] = (),
    **more: Any,
) -> dg.AssetsDefinition:
    """An asset over all rounds."""

    def of_all() -> dg.MaterializeResult:  # type: ignore[type-arg]  # Dagster reads the bare class
        return _or_fail(lambda: step(project))

    return _asset(project, step, of_all, after, checks, **more)


def _asset(
    project: Project,
    step: StepOfRound | StepOfAll,
    compute: Callable[..., Result],
    after: Sequence[str],
    checks: Sequence[dg.AssetCheckSpec],
    **more: Any,
) -> dg.AssetsDefinition:
    decorate = dg.asset(
        key=key_of(project, step.__name__),
        description=getdoc(step),
        deps=[key_of(project, name) for name in after],
        check_specs=list(checks),
        group_name=project.name,
        owners=list(project.settings.owners),
        code_version=__version__,
        kinds={"python"},
        **more,
    )
    asset: dg.AssetsDefinition = decorate(compute)
    return asset


def _or_fail(step: Callable[[], T]) -> T:
    """Run a step. An error of this package fails the asset with its reason, without retries."""
    try:
        return step()
    except AgreementError as error:
        raise dg.Failure(
            description=str(error), metadata={"reason_code": error.code}, allow_retries=False
        ) from error
