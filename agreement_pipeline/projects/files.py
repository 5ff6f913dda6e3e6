"""Reading the project files that people write."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from agreement_pipeline.errors import ProjectError
from agreement_pipeline.projects.configs import absent_configs, written_waivers
from agreement_pipeline.projects.settings import ProjectSettings
from agreement_pipeline.text import listed
from agreement_pipeline.yaml_files import Place, read_yaml, validated


def load_project(path: Path) -> ProjectSettings:
    """The settings in a project's YAML file. Relative paths start from the folder above configs/.

    Raises
    ------
    ProjectError
        The file is not what it must be. The message names every mistake with file and line.
    """
    data, place = read_yaml(path, ProjectError)
    _refuse_templates(data, place)
    settings = validated(ProjectSettings, data, place, ProjectError)
    root = (path.parent / "../..").resolve()
    absent = absent_configs(settings, root / "configs")
    mistakes = [*_misnamed(settings, path), *_moved(data), *_store_in_inbox(settings), *absent]
    if mistakes:
        raise ProjectError(" ".join(f"{place / key}: {key}: {words}" for key, words in mistakes))
    return settings.model_copy(update={"root": str(root)})


def load_projects(folder: Path) -> tuple[ProjectSettings, ...]:
    """The settings of all projects in a folder of YAML files.

    Raises
    ------
    ProjectError
        The folder has no project, or one is not what it must be.
    """
    _refuse_unread(folder)
    files = sorted(folder.glob("*.yaml"))
    if not files:
        there = sorted(path.name for path in folder.glob("*"))
        found = listed(there) if there else "no file" if folder.is_dir() else "no such folder"
        raise ProjectError(
            f"{folder}: found {found}; expected a project's YAML file. "
            "Write one, see docs/guide/project.md."
        )
    _refuse_unknown_projects(folder, [path.stem for path in files])
    return tuple(load_project(path) for path in files)


def _refuse_unknown_projects(folder: Path, projects: list[str]) -> None:
    """Refuse a waiver for a project that does not exist: nothing would ever read it."""
    for name, waiver in written_waivers(folder.parent).items():
        if waiver.project not in projects:
            raise ProjectError(
                f"{folder.parent / 'waivers' / name}: project: found {waiver.project!r}; "
                f"expected one of {listed(projects)}. Correct the name."
            )


def _refuse_unread(folder: Path) -> None:
    """Refuse files that look like a project, a policy or a waiver, and that nothing reads."""
    places = [folder, *(folder.parent / each for each in ("policies", "waivers"))]
    unread = sorted(str(path) for place in places for path in place.rglob("*.yml"))
    unread += sorted(
        str(path)
        for path in (folder.parent / "waivers").rglob("*.yaml")
        if path.parent.name != "waivers"
    )
    if unread:
        raise ProjectError(
            f"{folder.parent}: found {listed(unread)}, which nothing reads; "
            "expected names that end in .yaml, and no folders in waivers. Move or rename them."
        )


def _misnamed(settings: ProjectSettings, path: Path) -> Iterator[tuple[str, str]]:
    if path.stem != settings.project:
        yield (
            "project",
            f"found {settings.project!r} in {path.name}; expected {path.stem!r}. "
            "Name the file after the project.",
        )


def _moved(data: object) -> Iterator[tuple[str, str]]:
    """A project's file must not choose the folder of its policies: those are reviewed."""
    if isinstance(data, Mapping) and "root" in data:
        yield (
            "root",
            "found a folder; expected none, since the folder above configs/ is the root. "
            "Leave it out.",
        )


def _store_in_inbox(settings: ProjectSettings) -> Iterator[tuple[str, str]]:
    """A store inside the inbox would be delivered as rounds."""
    inbox, store = Path(settings.inbox), Path(settings.store or "")
    if settings.store and (inbox == store or inbox in store.parents):
        yield (
            "store",
            f"found {settings.store!r} inside the inbox {settings.inbox!r}; expected another "
            "place. Move one of them.",
        )


def _refuse_templates(data: object, place: Place) -> None:
    """Refuse templates: Dagster evaluates them in a component's file, but nothing does here."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            _refuse_templates(value, place / key)
    elif isinstance(data, list):
        for number, value in enumerate(data):
            _refuse_templates(value, place / number)
    elif isinstance(data, str) and ("{{" in data or "{%" in data):
        raise ProjectError(
            f"{place}: found a template; expected the value itself, since nothing in this file is "
            "evaluated. Write the value."
        )
