"""A code location that a user may write around the package's own.

The training data of a project are asked for whenever something changed.
"""

import os
from pathlib import Path

import dagster as dg

from agreement_pipeline.orchestration import project_definitions
from agreement_pipeline.projects import load_project

TRAINING_DATA = dg.AssetSelection.assets(dg.AssetKey(["automated", "training_data"]))


def asked_for(spec: dg.AssetSpec) -> dg.AssetSpec:
    return spec.replace_attributes(automation_condition=dg.AutomationCondition.eager())


@dg.definitions
def defs() -> dg.Definitions:
    project = project_definitions(
        load_project(
            Path(os.environ["AGREEMENT_ROOT"]) / "elsewhere/configs/projects/automated.yaml"
        )
    )
    eager = project.map_resolved_asset_specs(func=asked_for, selection=TRAINING_DATA)
    running = dg.DefaultSensorStatus.RUNNING
    sensor = dg.AutomationConditionSensorDefinition(
        "automation", target=TRAINING_DATA, default_status=running, minimum_interval_seconds=5
    )
    return dg.Definitions.merge(
        eager, dg.Definitions(sensors=[sensor], executor=dg.in_process_executor)
    )
