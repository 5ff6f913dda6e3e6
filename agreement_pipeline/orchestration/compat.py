"""Every name of Dagster's that is private or not yet stable, in one place."""

import warnings

import dagster as dg
from dagster._core.definitions.data_version import DATA_VERSION_TAG as DATA_VERSION
from dagster._core.definitions.unresolved_asset_job_definition import (
    UnresolvedAssetJobDefinition as AssetJob,
)
from dagster._core.errors import DagsterUserCodeUnreachableError as CodeServerUnreachable
from dagster._core.launcher import CheckRunHealthResult, DefaultRunLauncher, WorkerStatus
from dagster._core.storage.dagster_run import FINISHED_STATUSES, IN_PROGRESS_RUN_STATUSES
from dagster._grpc.types import CanCancelExecutionRequest, CanCancelExecutionResult
from dagster._serdes import deserialize_value
from dagster.components.utils.translation import TranslationFn, TranslationFnResolver

__all__ = [
    "DATA_VERSION",
    "ENDED",
    "IN_PROGRESS",
    "WAITING",
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
    "deserialize_value",
]

IN_PROGRESS = [dg.DagsterRunStatus.QUEUED, *IN_PROGRESS_RUN_STATUSES]
WAITING = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
]
ENDED = FINISHED_STATUSES


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
