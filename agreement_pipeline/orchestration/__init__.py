"""The Dagster layer."""

from agreement_pipeline.orchestration.assets import build_assets
from agreement_pipeline.orchestration.component import AnnotationProject, project_definitions
from agreement_pipeline.orchestration.schedules import build_jobs, build_schedule
from agreement_pipeline.orchestration.sensors import build_round_sensor

__all__ = [
    "AnnotationProject",
    "build_assets",
    "build_jobs",
    "build_round_sensor",
    "build_schedule",
    "project_definitions",
]
