"""Reading the project files that people write."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import ValidationError

from agreement_pipeline.errors import ProjectError
from agreement_pipeline.projects.project import Project
from agreement_pipeline.projects.settings import ProjectSettings
from agreement_pipeline.text import listed
from agreement_pipeline.yaml_files import Place, read_yaml


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
