"""A project as a Dagster component."""

from typing import Annotated, Any

import dagster as dg

from agreement_pipeline.orchestration.assets import build_assets
from agreement_pipeline.orchestration.schedules import build_jobs, build_schedule
from agreement_pipeline.orchestration.sensors import build_round_sensor
from agreement_pipeline.projects import Project, ProjectSettings
from agreement_pipeline.ratings import Scale
from agreement_pipeline.readers import Columns, Limits

MAPPING = dg.Resolver.default(model_field_type=dict[str, Any])
"""Dagster resolves these keys as a plain mapping; `ProjectSettings` checks what is in it."""


class AnnotationProject(dg.Component, ProjectSettings, dg.Resolvable):
    """An annotation project as a component.

    Its rounds are ingested, measured and judged. The policy decides which rounds are released.
    """

    scale: Annotated[Scale, MAPPING]
    columns: Annotated[Columns, MAPPING] = Columns()
    limits: Annotated[Limits, MAPPING] = Limits()

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """The definitions of the project."""
        settings = (
            self
            if "root" in self.model_fields_set
            else self.model_copy(update={"root": str(context.project_root)})
        )
        return project_definitions(settings)


def project_definitions(settings: ProjectSettings) -> dg.Definitions:
    """The definitions of one project, however its settings were written."""
    project = Project(settings).checked()
    jobs = build_jobs(project)
    return dg.Definitions(
        assets=build_assets(project),
        jobs=list(jobs),
        sensors=[build_round_sensor(project, jobs.rounds)],
        schedules=[build_schedule(project, jobs)],
    )
