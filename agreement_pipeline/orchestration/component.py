"""A project as a Dagster component."""

from typing import Annotated, Any

import dagster as dg
from pydantic import BaseModel

from agreement_pipeline.orchestration.alerts import build_alert_sensor
from agreement_pipeline.orchestration.assets import build_assets
from agreement_pipeline.orchestration.compat import TranslationFn, TranslationFnResolver
from agreement_pipeline.orchestration.described import descriptions
from agreement_pipeline.orchestration.host import Host, Translate, unchanged
from agreement_pipeline.orchestration.scaffolding import ProjectScaffolder
from agreement_pipeline.orchestration.schedules import build_jobs, build_schedule
from agreement_pipeline.orchestration.sensors import build_round_sensor
from agreement_pipeline.orchestration.trainers import host
from agreement_pipeline.orchestration.watching import build_adjudicated_sensor, build_history_sensor
from agreement_pipeline.projects import Project, ProjectSettings
from agreement_pipeline.ratings import Scale
from agreement_pipeline.readers import Columns, Limits
from agreement_pipeline.units import UnitSettings

MAPPING = dg.Resolver.default(model_field_type=dict[str, Any])
"""Dagster resolves these keys as a plain mapping; `ProjectSettings` checks what is in it."""

MAPPING_OR_NOTHING = dg.Resolver.default(model_field_type=dict[str, Any] | None)

TRANSLATION = TranslationFnResolver[ProjectSettings](lambda project: {"project": project.project})


@dg.scaffold_with(ProjectScaffolder)
class AnnotationProject(dg.Component, ProjectSettings, dg.Resolvable):
    """An annotation project: its rounds are measured, judged, and released or held.

    A round is a batch of items that raters have labelled. A file in the inbox is a round. A sensor
    starts a run for each. The run measures how far raters agree. It judges the intervals by the
    policy. Training data exist only for rounds that the policy admits.

    Attributes
    ----------
    translation
        Another key, key_prefix, group_name, description, metadata, tags or owners for the assets.
        {{ spec }} is the asset, {{ project }} the project's name.
    """

    scale: Annotated[Scale, MAPPING]
    columns: Annotated[Columns, MAPPING] = Columns()
    limits: Annotated[Limits, MAPPING] = Limits()
    units: Annotated[UnitSettings | None, MAPPING_OR_NOTHING] = None
    translation: Annotated[TranslationFn[ProjectSettings] | None, TRANSLATION] = None

    @classmethod
    def model(cls) -> type[BaseModel]:
        """The fields of a component's file, each with its description."""
        model = super().model()
        said = {**descriptions(ProjectSettings), **descriptions(AnnotationProject)}
        for name, field in model.model_fields.items():
            field.description = said.get(name)
        model.model_rebuild(force=True)
        return model

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """The definitions of the project."""
        settings = (
            self
            if "root" in self.model_fields_set
            else self.model_copy(update={"root": str(context.project_root)})
        )
        translation = self.translation
        if translation is None:
            return project_definitions(settings)
        return project_definitions(settings, lambda spec: translation(spec, settings))


def project_definitions(
    settings: ProjectSettings, translate: Translate = unchanged
) -> dg.Definitions:
    """The definitions of one project, however its settings were written.

    Parameters
    ----------
    settings
        The settings of the project.
    translate
        Gives an asset another key, group, description, metadata, tags or owners.
    """
    project = Project(settings).checked()
    hosted = Host(project, translate)
    jobs = build_jobs(hosted)
    host(project)
    return dg.Definitions(
        assets=build_assets(hosted),
        jobs=list(jobs),
        sensors=[
            build_round_sensor(project, jobs.rounds),
            build_history_sensor(hosted, jobs.history),
            *build_adjudicated_sensor(hosted, jobs.again),
            *build_alert_sensor(project),
        ],
        schedules=[build_schedule(hosted, jobs)],
    )
