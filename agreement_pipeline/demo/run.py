"""Run the projects of a folder with the jobs that their sensors would start."""

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

import dagster as dg

from agreement_pipeline.demo.objects import WRITTEN
from agreement_pipeline.demo.rounds import write_moderation_rounds
from agreement_pipeline.orchestration import project_definitions
from agreement_pipeline.projects import Project, load_projects
from agreement_pipeline.report import admitted_rounds, aligned, round_table, round_text

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


def run_demo(root: Path, width: int | None = None) -> str:
    """Run every project of the folder and return the result of every round as text.

    The bundled rounds of spans and boxes are delivered once. The bundled moderation rounds are
    delivered twice. The last round is admitted at first, and its
    second delivery is worse. A round is not run again on the same bytes.
    """
    projects = {
        settings.project: Project(settings)
        for settings in load_projects(root / "configs" / "projects")
    }
    for name in WRITTEN.keys() & projects.keys():
        WRITTEN[name](root / projects[name].settings.inbox)
    with _instance(root) as instance:
        for deliver in _deliveries(projects):
            deliver()
            for project in projects.values():
                _run_project(project, instance)
    return "\n\n".join(
        [*(_said(project, width) for project in projects.values()), _where(root, projects)]
    )


def _deliveries(projects: Mapping[str, Project]) -> tuple[Callable[[], object], ...]:
    """The deliveries of moderation rounds, each before a look at the inboxes.

    There are two of them. If the second has been run before, only that one is made again.
    """
    moderation = projects.get("moderation")
    if moderation is None:
        return (lambda: None,)
    inbox = moderation.root / moderation.settings.inbox
    again = any(len(moderation.store.versions(name)) > 1 for name in moderation.store.rounds())
    return tuple(
        partial(write_moderation_rounds, inbox, delivery)
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
    """Runs a project's jobs on an instance.

    A failed run is no error here. The store and the event log say why it failed.
    """

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
            "telemetry:\n  enabled: false\n"
            "nux:\n  enabled: false\n"
            f"concurrency:\n  runs:\n    max_concurrent_runs: {os.cpu_count() or 1}\n"
            "run_coordinator:\n  module: dagster\n  class: QueuedRunCoordinator\n"
            "  config:\n    dequeue_interval_seconds: 1\n"
        )
    os.environ["DAGSTER_HOME"] = str(home)
    return dg.DagsterInstance.get()


def _said(project: Project, width: int | None) -> str:
    rounds = round_table(project.store, project.unjudged())
    said = round_text(rounds)
    table = aligned(list(said.columns), said.to_numpy().tolist(), wrapped="reason", width=width)
    title = ": ".join(filter(None, (project.name, project.settings.description)))
    return f"{title}\n\n{table}"


def _where(root: Path, projects: dict[str, Project]) -> str:
    folders = "\n".join(
        f"  {project.store.root / 'releases'}".replace(f"{root.resolve()}/", "")
        for project in projects.values()
    )
    return f"Releases:\n{folders}\nSee it all in the Dagster UI: make ui"
