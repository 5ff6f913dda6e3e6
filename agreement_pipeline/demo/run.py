"""The demo: simulated rounds of four projects, in a folder of their own."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from agreement_pipeline.demo.objects import WRITE_ROUNDS_BY_PROJECT
from agreement_pipeline.demo.rounds import write_atomically, write_moderation_rounds
from agreement_pipeline.errors import ProjectError
from agreement_pipeline.orchestration import ProjectRun, run_projects
from agreement_pipeline.projects import Project, load_project

PROJECTS = ("cells", "entities", "moderation", "serology")
COPIED_FOLDERS = ("policies", "rounds")
MARK = "MADE-BY-DEMO.txt"
MARK_TEXT = """This folder was made by `agreement-pipeline demo`, which overwrites it the next time.
Nothing outside of it was touched. You may delete it.
Your own projects are run by `agreement-pipeline run`: see `agreement-pipeline guide tutorial`.
"""


def run_demo(folder: Path) -> list[ProjectRun]:
    """Run the four bundled projects in a folder of their own, and return what became of each.

    The rounds of spans and boxes are delivered once, and the moderation rounds twice: the last is
    admitted at first and held when it comes again.

    Raises
    ------
    ProjectError
        The folder holds something that no demo wrote, or a project would write outside of it.
    """
    _create_demo_folder(folder)
    configs = _bundled_configs()
    for name in COPIED_FOLDERS:
        shutil.copytree(configs / name, folder / "configs" / name, dirs_exist_ok=True)
    projects = {name: _copy_project(configs, folder, name) for name in PROJECTS}
    for name, write_rounds in WRITE_ROUNDS_BY_PROJECT.items():
        write_rounds(folder / str(projects[name].settings.inbox))
    for delivery in _deliveries_to_run(projects["moderation"]):
        write_moderation_rounds(folder / str(projects["moderation"].settings.inbox), delivery)
        runs = run_projects(projects.values())
    return runs


def _create_demo_folder(folder: Path) -> None:
    """Only a folder that is new, empty or of an earlier demo is written into."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise ProjectError(
            f"{folder}: found a link or a file; expected the folder of the demo, or nothing. Name "
            "another folder: agreement-pipeline demo FOLDER."
        )
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARK).is_file():
        raise ProjectError(
            f"{folder}: found a folder that no demo made; expected an empty one, or none, since "
            "the demo overwrites files. Name another folder: agreement-pipeline demo FOLDER. Your "
            "own projects are run by: agreement-pipeline run."
        )
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / MARK, MARK_TEXT.encode())


def _bundled_configs() -> Path:
    """They come with the package, or stand beside it in a checkout."""
    packaged = Path(__file__).parent / "configs"
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "configs"


def _copy_project(configs: Path, folder: Path, name: str) -> Project:
    """In a checkout, somebody may have changed a bundled project so that it writes elsewhere."""
    source = configs / "projects" / f"{name}.yaml"
    copy = write_atomically(folder / "configs" / "projects" / source.name, source.read_bytes())
    project = Project(load_project(copy))
    demo_folder = folder.resolve()
    for place in _places_written_to(project):
        if not (folder / place).resolve().is_relative_to(demo_folder):
            raise ProjectError(
                f"{source}: found {place!r}, which leads out of the demo's folder {folder}; "
                "expected places inside it. Correct the project, or move it to a folder of yours "
                "and run it there: agreement-pipeline run."
            )
    return project


def _places_written_to(project: Project) -> Iterator[str]:
    settings = project.settings
    yield ".agreement/dagster"
    yield settings.store or f".agreement/store/{project.name}"
    yield from filter(None, (settings.inbox, settings.pages, settings.populations))


def _deliveries_to_run(moderation: Project) -> tuple[int, ...]:
    """If the second delivery has been run before, only that one is made again."""
    store = moderation.store
    return (2,) if any(len(store.versions(name)) > 1 for name in store.rounds()) else (1, 2)
