"""The three doors to the same definitions: a Dagster component, a YAML file, Python."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import dagster as dg
from pydantic import ValidationError

from agreement_pipeline.configuration import read_yaml
from agreement_pipeline.errors import Place, ProjectError, listed
from agreement_pipeline.orchestration.assets import build_assets
from agreement_pipeline.orchestration.project import Project, ProjectSettings
from agreement_pipeline.orchestration.schedules import build_jobs, build_schedule
from agreement_pipeline.orchestration.sensors import build_round_sensor


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


def load_project(path: Path) -> ProjectSettings:
    """The settings in a project's YAML file; relative paths in it start from the folder above configs/.

    Raises
    ------
    ProjectError
        The file is not what it must be; the message names file and line.
    """
    data, place = read_yaml(path, ProjectError)
    _refuse_templates(data, place)
    try:
        settings = ProjectSettings.model_validate(data)
    except ValidationError as error:
        raise ProjectError(
            f"{'; '.join(_mistakes(error, place))}. See docs/guide.md for the keys of a project."
        ) from None
    if path.stem != settings.project:
        raise ProjectError(
            f"{place / 'project'}: project {settings.project!r} found in {path.name}; {path.stem!r} is required. Name the file after the project."
        )
    settings = settings.model_copy(
        update={"root": str((path.parent / "../..").resolve() / settings.root)}
    )
    for key, why in Project(settings).absent():
        raise ProjectError(f"{place / key}: {why}")
    return settings


def load_projects(folder: Path) -> tuple[ProjectSettings, ...]:
    """The settings of all projects in a folder of YAML files.

    Raises
    ------
    ProjectError
        There is none, or one is not what it must be.
    """
    files = sorted(folder.glob("*.yaml"))
    if not files:
        raise ProjectError(
            f"{folder}: {listed(sorted(path.name for path in folder.glob('*')))} found; a project's YAML file is required. Write one, see docs/guide.md."
        )
    return tuple(load_project(path) for path in files)


def _refuse_templates(data: object, place: Place) -> None:
    """Refuse what Dagster would evaluate in a component's file: here nothing is, and a text that seems to be is a mistake."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            _refuse_templates(value, place / key)
    elif isinstance(data, list):
        for number, value in enumerate(data):
            _refuse_templates(value, place / number)
    elif isinstance(data, str) and ("{{" in data or "{%" in data):
        raise ProjectError(
            f"{place}: a template found; the value itself is required, since nothing in this file is evaluated. Write the value."
        )


def _mistakes(error: ValidationError, place: Place) -> Iterator[str]:
    """What is wrong in a project file, each mistake with its line."""
    for each in error.errors():
        at = place
        for step in each["loc"]:
            at = at / step
        name = str(at.path[-1]) if at.path else "project"
        yield f"{at}: {name}: {each['msg'].removeprefix('Value error, ').removeprefix(f'{name}: ')}"
