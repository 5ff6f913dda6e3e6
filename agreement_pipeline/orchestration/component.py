"""The three doors to the same definitions: a Dagster component, a YAML file, Python."""

import dagster as dg

from agreement_pipeline.orchestration.assets import build_assets
from agreement_pipeline.orchestration.schedules import build_jobs, build_schedule
from agreement_pipeline.orchestration.sensors import build_round_sensor
from agreement_pipeline.projects import Project, ProjectSettings


class AnnotationProject(dg.Component, ProjectSettings, dg.Resolvable):
    """An annotation project: its rounds are ingested, measured, judged and, where the policy is met, released."""

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """The project's assets, checks, jobs, sensor and schedule."""
        settings = (
            self
            if "root" in self.model_fields_set
            else self.model_copy(update={"root": str(context.project_root)})
        )
        return project_definitions(settings)


def project_definitions(settings: ProjectSettings) -> dg.Definitions:
    """The definitions of one project: what all three doors open on."""
    project = Project(settings).checked()
    jobs = build_jobs(project)
    return dg.Definitions(
        assets=build_assets(project),
        jobs=list(jobs),
        sensors=[build_round_sensor(project, jobs.rounds)],
        schedules=[build_schedule(project, jobs)],
    )
