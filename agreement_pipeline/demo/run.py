"""The projects of a folder, the bundled ones where they are there, run as their sensor would run them, with the main job of each."""

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

import dagster as dg

from agreement_pipeline.demo.rounds import write_moderation_rounds
from agreement_pipeline.orchestration import project_definitions
from agreement_pipeline.projects import Project, load_projects
from agreement_pipeline.report import admitted_rounds, round_table, round_text, text_table

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


def run_demo(root: Path) -> str:
    """Run every project of the folder and say what became of every round.

    The bundled moderation rounds are delivered twice: the last of them is admitted first, and then comes again, worse.
    A round whose bytes were run before is not run again.
    """
    projects = {
        settings.project: Project(settings)
        for settings in load_projects(root / "configs" / "projects")
    }
    with _instance(root) as instance:
        for deliver in _deliveries(projects):
            deliver()
            for project in projects.values():
                _run_project(project, instance)
    return "\n\n".join([*(_said(project) for project in projects.values()), _where(root, projects)])


def _deliveries(projects: Mapping[str, Project]) -> tuple[Callable[[], object], ...]:
    """What is to be delivered before each look at the inboxes: both moderation deliveries, once the second has been run that one alone."""
    moderation = projects.get("moderation")
    if moderation is None:
        return (lambda: None,)
    again = any(len(moderation.store.versions(name)) > 1 for name in moderation.store.rounds())
    return tuple(
        partial(write_moderation_rounds, moderation.inbox, delivery)
        for delivery in ((2,) if again else (1, 2))
    )


def _run_project(project: Project, instance: dg.DagsterInstance) -> None:
    definitions = project_definitions(project.settings)
    new = [delivery.round for delivery in project.due()]
    if not new:
        return
    instance.add_dynamic_partitions(f"{project.name}_rounds", new)
    run = _Runner(project.name, definitions, instance)
    for name in new:
        run("round", name)
    run("history")
    if admitted_rounds(project.store):
        run("release")


class _Runner(NamedTuple):
    """Runs a project's jobs on an instance; a run that fails has said why in the store and the event log."""

    project: str
    definitions: dg.Definitions
    instance: dg.DagsterInstance

    def __call__(self, job: str, round_name: str | None = None) -> None:
        definition = self.definitions.resolve_job_def(f"{self.project}_{job}")
        definition.execute_in_process(
            instance=self.instance, partition_key=round_name, raise_on_error=False, run_config=QUIET
        )


def _instance(root: Path) -> dg.DagsterInstance:
    home = (root / ".agreement" / "dagster").resolve()
    home.mkdir(parents=True, exist_ok=True)
    settings = home / "dagster.yaml"
    if not settings.exists():
        settings.write_text(
            "telemetry:\n  enabled: false\nnux:\n  enabled: false\nconcurrency:\n  runs:\n    max_concurrent_runs: 1\n"
        )
    os.environ["DAGSTER_HOME"] = str(home)
    return dg.DagsterInstance.get()


def _said(project: Project) -> str:
    rounds = round_table(project.store, [delivery.round for delivery in project.due()])
    return f"{project.name}: {project.settings.description}\n\n{text_table(round_text(rounds), wrapped='reason')}"


def _where(root: Path, projects: dict[str, Project]) -> str:
    folders = "\n".join(
        f"  {project.store.root / 'releases'}".replace(f"{root.resolve()}/", "")
        for project in projects.values()
    )
    return f"Releases:\n{folders}\nSee it all in the Dagster UI: make ui"
