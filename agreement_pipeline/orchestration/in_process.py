"""Run projects in this process, with the jobs that their sensors would start."""

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import dagster as dg
import pandas as pd

from agreement_pipeline.errors import ProjectError
from agreement_pipeline.evidence import NOT_JUDGED, admitted_rounds, round_table, rounds_in_words
from agreement_pipeline.orchestration.component import project_definitions
from agreement_pipeline.orchestration.runs import UNRELEASED
from agreement_pipeline.projects import JOINT_RELEASE_NAME, Project, joint_release
from agreement_pipeline.report import align_table, printable
from agreement_pipeline.text import join_sentences

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


@dataclass(frozen=True, eq=False)
class ProjectRun:
    """What became of a project in one run.

    Attributes
    ----------
    rounds
        The table of all its rounds, as `round_table` makes it.
    new
        The rounds that were judged now.
    unreleased
        Why a release could not be made, by its round. The release of all admitted rounds together
        has no name.
    withdrawn
        Why releases were withdrawn that trained on gold items of other rounds.
    """

    project: Project
    rounds: pd.DataFrame
    new: tuple[str, ...]
    unreleased: Mapping[str, str]
    withdrawn: tuple[str, ...] = ()

    @property
    def exit_status(self) -> int:
        """2 if a round could not be judged or released, 1 if one that is new is held, else 0."""
        if self.unreleased or (self.rounds["decision"] == NOT_JUDGED).any():
            return 2
        is_new = self.rounds["round"].isin(self.new)
        return int((is_new & (self.rounds["decision"] == "held")).any())


def run_projects(projects: Iterable[Project], *, release: bool = False) -> list[ProjectRun]:
    """Judge what is new in each inbox, and release what is admitted.

    A round is not run again on the same bytes, unless it is admitted now and has no release. With
    `release`, all admitted rounds are released together even where the project says `by_hand`.
    Dagster keeps the runs in `.agreement/dagster` of the folder that holds `configs/`.
    """
    with ExitStack() as opened:
        instance_of = cache(lambda root: opened.enter_context(_open_instance(root)))
        return [_run_project(project, instance_of(project.root), release) for project in projects]


def describe_runs(runs: Sequence[ProjectRun], width: int | None = None) -> str:
    """The rounds of each project as a table, what could not be released, and where releases are."""
    folders = "\n".join(f"  {_seen_from_here(run.project.store.root / 'releases')}" for run in runs)
    roots = dict.fromkeys(_seen_from_here(run.project.root) for run in runs)
    show = " and ".join(f"agreement-pipeline ui{_root_option(root)}" for root in roots)
    footer = f"Releases:\n{folders}\nSee it all in the Dagster UI: {show}"
    return "\n\n".join([*(_describe_run(run, width) for run in runs), footer])


def _run_project(project: Project, instance: dg.DagsterInstance, release: bool) -> ProjectRun:
    """A failed run is no error here: the store says why a round is held or could not be judged."""
    source = project.settings.rounds_from
    if source is not None and source.asset is not None:
        raise ProjectError(
            f"project {project.name}: found rounds_from {source}; expected an inbox, since only "
            "Dagster can load an asset. Run the project in Dagster: "
            "agreement-pipeline guide in-dagster."
        )
    unpulled = project.pull().failed if project.source is not None else {}
    exchange = project.exchange_disputed()
    definitions = project_definitions(project.settings)
    new, store = tuple(delivery.round for delivery in project.due()), project.store
    with_new_answers = {name for name, state in exchange.rounds.items() if state.is_changed}
    waiting = sorted({*project.awaiting_release(), *with_new_answers} - {*new})
    unreleased: dict[str, str] = {**exchange.failed, **unpulled}
    n_withdrawals = len(project.gold_withdrawals())

    def run_job(job: str, round_name: str | None = None) -> None:
        result = definitions.resolve_job_def(f"{project.name}_{job}").execute_in_process(
            instance=instance,
            partition_key=round_name,
            raise_on_error=False,
            run_config=WITHOUT_LOG,
        )
        for reason in _reasons_not_released(result, instance):
            unreleased[round_name or ""] = reason

    instance.add_dynamic_partitions(f"{project.name}_rounds", [*new, *waiting])
    for round_name in new:
        run_job("round", round_name)
    for round_name in waiting:
        run_job("again", round_name)
    if new or waiting:
        run_job("history")
    if admitted_rounds(store) and (release or _is_release_due(project, bool(new or waiting))):
        run_job("release")
    if new:
        unreleased |= project.exchange_disputed().failed
    rounds = round_table(store, project.unjudged())
    withdrawn = tuple(
        join_sentences(entry["reasons"]) for entry in project.gold_withdrawals()[n_withdrawals:]
    )
    return ProjectRun(project, rounds, new, unreleased, withdrawn)


def _is_release_due(project: Project, has_changes: bool) -> bool:
    by_itself = project.settings.release == "by_itself"
    return by_itself and (has_changes or joint_release(project).is_due)


def _reasons_not_released(
    result: dg.ExecuteInProcessResult, instance: dg.DagsterInstance
) -> Iterator[str]:
    """Why a step that releases failed. One that was not begun, since the round is held, did not."""
    run = instance.get_run_by_id(result.run_id)
    if run is None or UNRELEASED not in run.tags:
        return
    for event in result.all_events:
        if event.is_step_failure:
            failure = event.step_failure_data
            by_us, error = failure.user_failure_data, failure.error
            by_library = error and (error.cause or error).message.strip()
            yield (by_us and by_us.description) or by_library or "the run does not say why"


def prepare_instance(root: Path) -> Path:
    """The folder of the Dagster instance of the projects below `root`, with its settings."""
    home = root / ".agreement" / "dagster"
    home.mkdir(parents=True, exist_ok=True)
    settings = home / "dagster.yaml"
    if not settings.exists():
        settings.write_text(INSTANCE_SETTINGS.format(n_cores=os.cpu_count() or 1))
    return home


def _open_instance(root: Path) -> dg.DagsterInstance:
    """The environment's DAGSTER_HOME does not count, since it may be that of another deployment."""
    return dg.DagsterInstance.from_config(str(prepare_instance(root)))


def _describe_run(run: ProjectRun, width: int | None) -> str:
    rounds = rounds_in_words(run.rounds)
    table = align_table(
        list(rounds.columns), rounds.to_numpy().tolist(), wrapped="reason", width=width
    )
    title = ": ".join(filter(None, (run.project.name, run.project.settings.description)))
    notes = [f"withdrawn: {printable(reason)}" for reason in run.withdrawn]
    notes += [
        f"not released: {f'round {name}' if name else JOINT_RELEASE_NAME}: {printable(reason)}"
        for name, reason in run.unreleased.items()
    ]
    return "\n".join([title, "", table, *([""] if notes else []), *notes])


def _root_option(root: str) -> str:
    return "" if root == "." else f" --root {shlex.quote(root)}"


def _seen_from_here(place: object) -> str:
    """A path below the working directory without it, and any other place in full."""
    working_folder = Path.cwd()
    if isinstance(place, Path) and place.is_relative_to(working_folder):
        return str(place.relative_to(working_folder))
    return str(place)
