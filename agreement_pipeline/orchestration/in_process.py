"""Run projects in this process, with the jobs that their sensors would start."""

import os
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import dagster as dg

from agreement_pipeline.orchestration.component import project_definitions
from agreement_pipeline.projects import Project, joint_release
from agreement_pipeline.report import admitted_rounds, aligned, round_table, round_text

WITHOUT_LOG = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
INSTANCE_SETTINGS = """telemetry:
  enabled: false
nux:
  enabled: false
concurrency:
  runs:
    max_concurrent_runs: {n_cores}
run_coordinator:
  module: dagster
  class: QueuedRunCoordinator
  config:
    dequeue_interval_seconds: 1
"""


def run_projects(projects: Iterable[Project], *, release: bool = False) -> None:
    """Judge what is new in each inbox, and release what is admitted.

    A round is not run again on the same bytes, unless it is admitted now and has no release. With
    `release`, all admitted rounds are released together even where the project says `by_hand`.
    Dagster keeps the runs in `.agreement/dagster` of the folder that holds `configs/`.
    """
    with ExitStack() as opened:
        instance_of = cache(lambda root: opened.enter_context(_open_instance(root)))
        for project in projects:
            _run_project(project, instance_of(project.root), release)


def describe_runs(projects: Sequence[Project], width: int | None = None) -> str:
    """The rounds of each project as a table, and where the releases are."""
    folders = "\n".join(f"  {_seen_from_here(each.store.root / 'releases')}" for each in projects)
    where = (
        f"Releases:\n{folders}\nSee it all in the Dagster UI: agreement-pipeline guide in-dagster"
    )
    return "\n\n".join([*(_describe_rounds(each, width) for each in projects), where])


def _run_project(project: Project, instance: dg.DagsterInstance, release: bool) -> None:
    """A failed run is no error here: the store says why it failed."""
    definitions = project_definitions(project.settings)
    new, store = [delivery.round for delivery in project.due()], project.store
    waiting = {name for name in admitted_rounds(store) if not store.in_force(name)} - {*new}
    by_itself = project.settings.release == "by_itself"
    if (
        not new
        and not waiting
        and not release
        and not (by_itself and joint_release(project).is_due)
    ):
        return
    instance.add_dynamic_partitions(f"{project.name}_rounds", [*new, *waiting])

    def run_job(job: str, round_name: str | None = None) -> None:
        definitions.resolve_job_def(f"{project.name}_{job}").execute_in_process(
            instance=instance,
            partition_key=round_name,
            raise_on_error=False,
            run_config=WITHOUT_LOG,
        )

    for round_name in new:
        run_job("round", round_name)
    for round_name in sorted(waiting):
        run_job("again", round_name)
    run_job("history")
    if (release or by_itself) and admitted_rounds(store):
        run_job("release")


def _open_instance(root: Path) -> dg.DagsterInstance:
    """The environment's DAGSTER_HOME does not count, since it may be that of another deployment."""
    home = root / ".agreement" / "dagster"
    home.mkdir(parents=True, exist_ok=True)
    settings = home / "dagster.yaml"
    if not settings.exists():
        settings.write_text(INSTANCE_SETTINGS.format(n_cores=os.cpu_count() or 1))
    return dg.DagsterInstance.from_config(str(home))


def _describe_rounds(project: Project, width: int | None) -> str:
    rounds = round_text(round_table(project.store, project.unjudged()))
    table = aligned(list(rounds.columns), rounds.to_numpy().tolist(), wrapped="reason", width=width)
    title = ": ".join(filter(None, (project.name, project.settings.description)))
    return f"{title}\n\n{table}"


def _seen_from_here(place: object) -> str:
    """A path below the working directory without it, and any other place in full."""
    here = Path.cwd()
    if isinstance(place, Path) and place.is_relative_to(here):
        return str(place.relative_to(here))
    return str(place)
