"""The Dagster layer."""

from agreement_pipeline.orchestration.component import AnnotationProject, project_definitions
from agreement_pipeline.orchestration.overview import AllProjects
from agreement_pipeline.orchestration.host import rounds_of
from agreement_pipeline.orchestration.releases import release_of
from agreement_pipeline.orchestration.in_process import (
    ProjectRun,
    describe_runs,
    prepare_instance,
    run_projects,
)

__all__ = [
    "AllProjects",
    "AnnotationProject",
    "ProjectRun",
    "describe_runs",
    "prepare_instance",
    "project_definitions",
    "release_of",
    "rounds_of",
    "run_projects",
]
