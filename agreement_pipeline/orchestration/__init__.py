"""The Dagster layer."""

from agreement_pipeline.orchestration.component import (
    AnnotationProject as AnnotationProject,
    project_definitions as project_definitions,
)
from agreement_pipeline.orchestration.overview import AllProjects as AllProjects
from agreement_pipeline.orchestration.host import rounds_of as rounds_of
from agreement_pipeline.orchestration.host import release_of as release_of
