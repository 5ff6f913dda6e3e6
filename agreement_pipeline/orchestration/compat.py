"""Every name of Dagster's that is not public, or not yet settled, in one place."""

import warnings

import dagster as dg
from dagster._core.definitions.unresolved_asset_job_definition import (
    UnresolvedAssetJobDefinition as AssetJob,
)
from dagster._core.definitions.utils import is_valid_owner
from dagster._utils.schedules import is_valid_cron_schedule

__all__ = ["AssetJob", "is_valid_cron_schedule", "is_valid_owner", "partitioned_check"]


def partitioned_check(
    name: str,
    *,
    asset: dg.AssetKey,
    description: str,
    partitions: dg.PartitionsDefinition[str],
    blocking: bool = False,
) -> dg.AssetCheckSpec:
    """A check with a result for every partition.

    Without partitions on the check, one round's pass would hide another's failure. Dagster announces them as a preview, once for each check;
    `tests/test_dagster_contract.py` holds what is relied on.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.PreviewWarning)
        return dg.AssetCheckSpec(
            name, asset=asset, description=description, partitions_def=partitions, blocking=blocking
        )
