from pathlib import Path

import click

from agreement_pipeline.cli.options import (
    FILE,
    OF_PROJECT,
    OUTPUT,
    command,
    option,
    root_option,
)
from agreement_pipeline.cli.output import say, terminal_width
from agreement_pipeline.errors import ProjectError
from agreement_pipeline.text import listed, suggest_name


@command(
    "agreement-pipeline run",
    "agreement-pipeline run configs/projects/posts.yaml",
)
@click.argument(
    "projects",
    nargs=-1,
    type=FILE,
    metavar="[PROJECT]...",
    help="A project's YAML file, or its name. By default, all of configs/projects.",
)
@root_option
@option(
    "--release",
    group=OUTPUT,
    is_flag=True,
    help="Release all admitted rounds together, also where a project says release: by_hand.",
)
def run(projects: tuple[Path, ...], root: Path, release: bool) -> int:
    """Judge what is new in the inboxes of your projects, and release what is admitted.

    Each project is run once, as Dagster would run it.

    The exit status is 1 if a round that is new is held. It is 2 if a round could not be judged, or
    a release could not be made: the last lines say why.
    """
    from agreement_pipeline.orchestration import describe_runs, run_projects
    from agreement_pipeline.projects import Project, load_project, load_projects

    folder = root / "configs" / "projects"
    files = [_find_project_file(name, folder) for name in projects]
    settings = [load_project(file) for file in files] if files else load_projects(folder)
    loaded_projects = [Project(project_settings) for project_settings in settings]
    runs = run_projects(loaded_projects, release=release)
    say(describe_runs(runs, terminal_width()))
    return max(run.exit_status for run in runs)


def _find_project_file(project: Path, folder: Path) -> Path:
    """The file of a project, which may be called by its name alone."""
    file = folder / f"{project}.yaml"
    if project.is_file() or project.suffix in OF_PROJECT:
        return project
    if not file.is_file():
        names = sorted(path.stem for path in folder.glob("*.yaml"))
        raise ProjectError(
            f"found no project {str(project)!r} among {listed(names)} of {folder}; expected a "
            "project's name or its YAML file. "
            f"{suggest_name(str(project), names, 'Correct the name.')}"
        )
    return file
