"""Run the projects of a folder with the jobs that their sensors would start."""

import os
from collections.abc import Mapping
from pathlib import Path

import dagster as dg

from agreement_pipeline.demo.objects import WRITTEN
from agreement_pipeline.demo.rounds import write_moderation_rounds
from agreement_pipeline.orchestration import project_definitions
from agreement_pipeline.projects import Project, load_projects
from agreement_pipeline.report import admitted_rounds, aligned, round_table, round_text

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


def run_demo(root: Path, width: int | None = None) -> str:
    """Run every project of the folder and return the result of every round as text.

    The bundled rounds of spans and boxes are delivered once, and the moderation rounds twice: the
    last is admitted at first and held when it comes again. A round is not run again on the same
    bytes, unless it is admitted now and has no release.
    """
    projects = {
        settings.project: Project(settings)
        for settings in load_projects(root / "configs" / "projects")
    }
    for name in WRITTEN.keys() & projects.keys():
        WRITTEN[name](root / projects[name].settings.inbox)
    with _instance(root) as instance:
        for delivery in _deliveries(projects):
            if delivery:
                moderation = projects["moderation"]
                write_moderation_rounds(moderation.root / moderation.settings.inbox, delivery)
            for project in projects.values():
                _run_project(project, instance)
    return "\n\n".join(
        [*(_said(project, width) for project in projects.values()), _where(root, projects)]
    )


def _deliveries(projects: Mapping[str, Project]) -> tuple[int, ...]:
    """The deliveries of moderation rounds, each before a look at the inboxes. 0 stands for none.

    If the second has been run before, only that one is made again.
    """
    if "moderation" not in projects:
        return (0,)
    store = projects["moderation"].store
    return (2,) if any(len(store.versions(name)) > 1 for name in store.rounds()) else (1, 2)


def _run_project(project: Project, instance: dg.DagsterInstance) -> None:
    """A failed run is no error here: the store says why it failed."""
    definitions = project_definitions(project.settings)
    new, store = [delivery.round for delivery in project.due()], project.store
    waiting = {name for name in admitted_rounds(store) if not store.in_force(name)} - {*new}
    if not new and not waiting:
        return
    instance.add_dynamic_partitions(f"{project.name}_rounds", [*new, *waiting])

    def run(job: str, round_name: str | None = None) -> None:
        definitions.resolve_job_def(f"{project.name}_{job}").execute_in_process(
            instance=instance, partition_key=round_name, raise_on_error=False, run_config=QUIET
        )

    for name in new:
        run("round", name)
    for name in sorted(waiting):
        run("again", name)
    run("history")
    if admitted_rounds(store):
        run("release")


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
    return (
        f"Releases:\n{folders}\nSee it all in the Dagster UI: `make ui` in a checkout, or: "
        "agreement-pipeline guide in-dagster"
    )
