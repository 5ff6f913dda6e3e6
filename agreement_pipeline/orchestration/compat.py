"""Every name of Dagster's that is private or not yet stable, in one place."""

import warnings
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import dagster as dg
from dagster._core.definitions.data_version import DATA_VERSION_TAG as DATA_VERSION
from dagster._core.definitions.unresolved_asset_job_definition import (
    UnresolvedAssetJobDefinition as AssetJob,
)
from dagster._core.errors import DagsterUserCodeUnreachableError as CodeServerUnreachable
from dagster._core.launcher import CheckRunHealthResult, DefaultRunLauncher, WorkerStatus
from dagster._core.storage.dagster_run import FINISHED_STATUSES, IN_PROGRESS_RUN_STATUSES
from dagster._core.types.dagster_type import Any as AnyType
from dagster._grpc.types import CanCancelExecutionRequest, CanCancelExecutionResult
from dagster._serdes import deserialize_value
from dagster._utils.schedules import get_next_cron_tick, is_valid_cron_schedule
from dagster.components.core.defs_module import ComponentFileModel
from dagster.components.utils.translation import TranslationFn, TranslationFnResolver

__all__ = [
    "DATA_VERSION",
    "ENDED",
    "IN_PROGRESS",
    "WAITING",
    "AnyType",
    "AssetJob",
    "CanCancelExecutionRequest",
    "CanCancelExecutionResult",
    "CheckRunHealthResult",
    "CodeServerUnreachable",
    "DefaultRunLauncher",
    "TranslationFn",
    "TranslationFnResolver",
    "WorkerStatus",
    "check_spec",
    "definitions_around",
    "definitions_of_location",
    "deserialize_value",
    "is_cron_schedule",
    "metadata_of",
    "partitions_of",
    "post_processing_of",
    "resource_config_of",
    "storage_ids_by_partition",
]

IN_PROGRESS = [dg.DagsterRunStatus.QUEUED, *IN_PROGRESS_RUN_STATUSES]
WAITING = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
]
ENDED = FINISHED_STATUSES


def partitions_of(
    context: dg.AssetExecutionContext, asset: dg.AssetKey
) -> dg.PartitionsDefinition[str] | None:
    """The partitions of an asset that this run knows, also if it does not make it."""
    partitions: dg.PartitionsDefinition[str] | None
    partitions = context.job_def.asset_layer.get(asset).partitions_def
    return partitions


def metadata_of(context: dg.AssetExecutionContext, asset: dg.AssetKey) -> Mapping[str, Any]:
    """The metadata of the definition of an asset that this run knows."""
    return context.job_def.asset_layer.get(asset).metadata


def resource_config_of(context: dg.AssetExecutionContext, key: str) -> Mapping[str, Any]:
    """The configuration with which a run made one of its resources."""
    resources = context.get_step_execution_context().resolved_run_config.resources
    return dict(resources[key].config or {}) if key in resources else {}


def post_processing_of(context: dg.ComponentLoadContext) -> Sequence[Mapping[str, Any]]:
    """What the file of a component changes on its assets after they were made. Nothing in Python.

    A component does not see it otherwise.
    """
    file = getattr(context.component_decl, "component_file_model", None)
    if not isinstance(file, ComponentFileModel) or file.post_processing is None:
        return []
    return list(file.post_processing.get("assets") or ())


def definitions_around(context: dg.AssetExecutionContext) -> list[dg.AssetsDefinition]:
    """The assets that a run knows: those of its code location, and of its job.

    A job that is executed in process knows no code location, but the parents of its assets.
    """
    of_job = context.job_def.asset_layer.asset_graph.assets_defs
    repository = context.get_step_execution_context()._execution_data.repository_def
    of_location = repository.asset_graph.assets_defs if repository else ()
    return [*of_job, *of_location]


def definitions_of_location(context: dg.SensorEvaluationContext) -> list[dg.AssetsDefinition]:
    """The assets of the code location of a sensor."""
    repository = context.repository_def
    return list(repository.asset_graph.assets_defs) if repository else []


def storage_ids_by_partition(instance: dg.DagsterInstance, asset: dg.AssetKey) -> Mapping[str, int]:
    """The number of the last materialization of each partition."""
    kind = dg.DagsterEventType.ASSET_MATERIALIZATION
    return instance.get_latest_storage_id_by_partition(asset, kind)


def check_spec(
    name: str,
    *,
    asset: dg.AssetKey,
    description: str,
    partitions: dg.PartitionsDefinition[str] | None,
    blocking: bool = False,
) -> dg.AssetCheckSpec:
    """Without a result for each partition, one round's pass would hide another round's failure.

    Dagster calls such checks a preview and warns. `tests/orchestration/test_dagster_contract.py`
    tests what is needed here.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.PreviewWarning)
        return dg.AssetCheckSpec(
            name, asset=asset, description=description, partitions_def=partitions, blocking=blocking
        )


def is_cron_schedule(text: str) -> bool:
    """True if Dagster takes it, and has a next time for it. It has none for 31 April."""
    try:
        return is_valid_cron_schedule(text) and bool(
            get_next_cron_tick(text, datetime.now(UTC), "UTC")
        )
    except ValueError:
        return False
