"""What the folder configs/ holds for a project: its policy, its contract and its waivers."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from agreement_pipeline.errors import ProjectError
from agreement_pipeline.policy import BUNDLED, Waiver, load_waiver
from agreement_pipeline.projects.settings import ProjectSettings
from agreement_pipeline.text import listed
from agreement_pipeline.yaml_files import Place, read_yaml, validated


def written_waivers(configs: Path) -> dict[str, Waiver]:
    return {path.name: load_waiver(path) for path in sorted((configs / "waivers").glob("*.yaml"))}


def absent_configs(settings: ProjectSettings, configs: Path) -> Iterator[tuple[str, str]]:
    policies, contracts = configs / "policies", configs / "contracts"
    there = sorted(path.stem for path in policies.glob("*.yaml"))
    if settings.policy not in (*there, *BUNDLED):
        yield (
            "policy",
            f"found {settings.policy!r}; expected one of {listed(there, 20)}, those in {policies}, "
            f"or of the bundled {listed(sorted(BUNDLED))}. Correct the name, or write that policy.",
        )
    there = sorted(path.name for path in contracts.glob("*"))
    if settings.contract not in (None, *there):
        yield (
            "contract",
            f"found {settings.contract!r}; expected one of {listed(there, 20)}, those in "
            f"{contracts}. Correct the name, or write that contract.",
        )

    yield from _absent_certificate(settings, configs)


def _absent_certificate(settings: ProjectSettings, configs: Path) -> Iterator[tuple[str, str]]:
    if settings.certified_by is None:
        return
    project = configs / "projects" / f"{settings.certified_by}.yaml"
    identity = configs / "classifiers" / f"{settings.classifiers[0]}.yaml"
    for file, step in ((project, "Correct the name."), (identity, "Say which classifier it is.")):
        if not file.is_file():
            yield "certified_by", f"found no file {file}; expected one. {step}"


def load_project(path: Path) -> ProjectSettings:
    """Relative paths start from the folder above configs/. One error names every mistake with its
    line.
    """
    data, place = read_yaml(path, ProjectError)
    _refuse_templates(data, place)
    settings = validated(ProjectSettings, data, place, ProjectError)
    root = (path.parent / "../..").resolve()
    absent = absent_configs(settings, root / "configs")
    mistakes = [*_mistakes(settings, data, path), *absent]
    if mistakes:
        raise ProjectError(" ".join(f"{place / key}: {key}: {words}" for key, words in mistakes))
    return settings.model_copy(update={"root": str(root)})


def load_projects(folder: Path) -> tuple[ProjectSettings, ...]:
    _refuse_unread(folder)
    files = sorted(folder.glob("*.yaml"))
    if not files:
        there = sorted(path.name for path in folder.glob("*"))
        found = listed(there) if there else "no file" if folder.is_dir() else "no such folder"
        raise ProjectError(
            f"{folder}: found {found}; expected a project's YAML file. "
            "Write one: see agreement-pipeline guide project."
        )
    projects = [path.stem for path in files]
    for name, waiver in written_waivers(folder.parent).items():
        if waiver.project not in projects:  # nothing would ever read it
            raise ProjectError(
                f"{folder.parent / 'waivers' / name}: project: found {waiver.project!r}; "
                f"expected one of {listed(projects)}. Correct the name."
            )
    return tuple(load_project(path) for path in files)


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


def _mistakes(settings: ProjectSettings, data: object, path: Path) -> Iterator[tuple[str, str]]:
    """What is wrong in a file that is well formed, by the key.

    The folder of its policies is reviewed, so the file must not choose it. A store inside the inbox
    would be delivered as rounds.
    """
    if path.stem != settings.project:
        yield (
            "project",
            f"found {settings.project!r} in {path.name}; expected {path.stem!r}. "
            "Name the file after the project.",
        )
    if isinstance(data, Mapping) and "root" in data:
        yield (
            "root",
            "found a folder; expected none, since the folder above configs/ is the root. "
            "Leave it out.",
        )
    inbox, store = Path(settings.inbox), Path(settings.store or "")
    if settings.store and (inbox == store or inbox in store.parents):
        yield (
            "store",
            f"found {settings.store!r} inside the inbox {settings.inbox!r}; expected another "
            "place. Move one of them.",
        )


def _refuse_templates(data: object, place: Place) -> None:
    """Dagster evaluates templates in a component's file, but nothing does here."""
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
