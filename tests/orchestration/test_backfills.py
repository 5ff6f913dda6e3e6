"""What Dagster's daemon does with rounds that come from partitions of another asset: backfills,
runs that it makes again, and two code locations on one instance.

The steps of the daemon are called here one after the other, and its runs are done in this process.
"""

import logging
import pickle
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
import pandas as pd
import pytest
import yaml
from dagster._core.execution.backfill import (
    BULK_ACTION_TERMINAL_STATUSES,
    BulkActionStatus,
    PartitionBackfill,
)
from dagster._core.instance import InstanceType
from dagster._core.launcher.sync_in_memory_run_launcher import SyncInMemoryRunLauncher
from dagster._core.remote_origin import InProcessCodeLocationOrigin
from dagster._core.remote_representation.grpc_server_registry import GrpcServerRegistry
from dagster._core.run_coordinator import QueuedRunCoordinator
from dagster._core.storage.event_log import InMemoryEventLogStorage
from dagster._core.storage.noop_compute_log_manager import NoOpComputeLogManager
from dagster._core.storage.root import LocalArtifactStorage
from dagster._core.storage.runs import InMemoryRunStorage
from dagster._core.storage.tags import WILL_RETRY_TAG
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import InProcessWorkspaceLoadTarget
from dagster._daemon.auto_run_reexecution.auto_run_reexecution import (
    consume_new_runs_for_automatic_reexecution,
    retry_run,
)
from dagster._daemon.backfill import execute_backfill_iteration
from dagster._grpc.server import GrpcServerCommand

from agreement_pipeline.orchestration.host import PROJECT
from agreement_pipeline.orchestration.runs import DECISION, REASON_TAG
from agreement_pipeline.projects import Project, load_project
from agreement_pipeline.store import Store
from tests.orchestration.checks import BAD, GOOD
from tests.orchestration.conftest import CATEGORIES, POLICY
from tests.orchestration.test_rounds_from_asset import LINE

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of Dagster, in its own code
]

LOCATION = """
from pathlib import Path

import dagster as dg
import pandas as pd

from agreement_pipeline.orchestration import project_definitions
from agreement_pipeline.orchestration.overview import overview_definitions
from agreement_pipeline.projects import load_project

ROOT = Path(__file__).parent
SETTINGS = load_project(ROOT / "configs/projects/{project}.yaml")


@dg.asset(
    key=["staging", "{project}"],
    partitions_def=dg.WeeklyPartitionsDefinition(start_date="2026-01-05"),
)
def staged(context: dg.AssetExecutionContext) -> pd.DataFrame:
    return pd.read_parquet(ROOT / f"{{context.partition_key}}.parquet")


defs = dg.Definitions.merge(
    dg.Definitions(
        assets=[staged],
        resources={{"io_manager": dg.FilesystemIOManager(base_dir=str(ROOT / "storage"))}},
        executor=dg.in_process_executor,
    ),
    project_definitions(SETTINGS),
    overview_definitions(name="{project}_page"),
)
"""
WEEKS = [f"{day:%Y-%m-%d}" for day in pd.date_range("2026-01-11", periods=12, freq="7D")]
LOG = logging.getLogger(__name__)
MAX_ITERATIONS = 12


def write_location(folder: Path, project: str) -> InProcessCodeLocationOrigin:
    """A code location with a project whose rounds are the weeks of `staging/PROJECT`."""
    (folder / "configs/policies").mkdir(parents=True)
    (folder / "configs/projects").mkdir()
    (folder / "configs/policies/strict.yaml").write_text(yaml.safe_dump(POLICY))
    settings = {
        "project": project,
        "policy": "strict",
        "scale": {"categories": CATEGORIES},
        "deliveries": "independent",
        "rounds_from": {"asset": f"staging/{project}"},
    }
    (folder / f"configs/projects/{project}.yaml").write_text(yaml.safe_dump(settings))
    (folder / "location.py").write_text(LOCATION.format(project=project))
    return origin_of(folder, folder.name)


def origin_of(folder: Path, name: str) -> InProcessCodeLocationOrigin:
    target = LoadableTargetOrigin(python_file=str(folder / "location.py"), attribute="defs")
    return InProcessCodeLocationOrigin(target, location_name=name)


class Daemon:
    def __init__(self, process: WorkspaceProcessContext) -> None:
        self.process, self.instance = process, process.instance

    def backfill(self, weeks: list[str], *assets: dg.AssetKey) -> BulkActionStatus:
        """Start a backfill as the UI does, and follow it to its end."""
        name = f"backfill-{len(self.instance.get_backfills())}"
        backfill = PartitionBackfill.from_asset_partitions(
            backfill_id=name,
            asset_graph=self.process.create_request_context().asset_graph,
            partition_names=weeks,
            asset_selection=list(assets),
            backfill_timestamp=pd.Timestamp("2026-06-01", tz="UTC").timestamp(),
            tags={},
            dynamic_partitions_store=self.instance,
            all_partitions=False,
            title=None,
            description=None,
            run_config=None,
        )
        self.instance.add_backfill(backfill)
        for _ in range(MAX_ITERATIONS):
            errors = [error for error in execute_backfill_iteration(self.process, LOG) if error]
            assert errors == []
            self.launch_queued()
            self.retry_failed()
            current = self.instance.get_backfill(name)
            assert current is not None
            if current.status in BULK_ACTION_TERMINAL_STATUSES:
                return current.status
        waiting = [
            (run.run_id, run.status, dict(run.tags))
            for run in self.instance.get_runs()
            if run.status is not dg.DagsterRunStatus.SUCCESS
        ]
        raise AssertionError(f"{name} did not end. Runs without success: {waiting}")

    def retry_failed(self) -> None:
        records = self.instance.get_run_records()
        list(consume_new_runs_for_automatic_reexecution(self.process, records, LOG))
        self.launch_queued()

    def reexecute(self, run: dg.DagsterRun) -> dg.DagsterRun:
        """Make a failed run again, as the UI does: with its tags."""
        retry_run(run, self.process)
        self.launch_queued()
        return self.instance.get_runs(limit=1)[0]

    def launch_queued(self) -> None:
        queued = dg.RunsFilter(statuses=[dg.DagsterRunStatus.QUEUED])
        for run in reversed(self.instance.get_runs(queued)):
            self.instance.launch_run(run.run_id, self.process.create_request_context())


def create_instance(folder: Path) -> dg.DagsterInstance:
    """An instance in memory, whose runs are queued and then done in this process."""
    return dg.DagsterInstance(
        instance_type=InstanceType.EPHEMERAL,
        local_artifact_storage=LocalArtifactStorage(str(folder)),
        run_storage=InMemoryRunStorage(),
        event_storage=InMemoryEventLogStorage(),
        compute_log_manager=NoOpComputeLogManager(),
        run_coordinator=QueuedRunCoordinator(),
        run_launcher=SyncInMemoryRunLauncher(),
        settings={"run_retries": {"enabled": True, "max_retries": 2}},
    )


@contextmanager
def daemon_of(folder: Path, *origins: InProcessCodeLocationOrigin) -> Iterator[Daemon]:
    with (
        create_instance(folder) as instance,
        GrpcServerRegistry(
            instance_ref=None,
            server_command=GrpcServerCommand.API_GRPC,
            heartbeat_ttl=30,
            startup_timeout=30,
            wait_for_processes_on_shutdown=True,
        ) as unused,  # by code locations in this process
        WorkspaceProcessContext(
            instance,
            InProcessWorkspaceLoadTarget([*origins]),
            grpc_server_registry=unused,
        ) as process,
    ):
        yield Daemon(process)


def line_of(project: str) -> list[dg.AssetKey]:
    return [dg.AssetKey([project, name]) for name in LINE]


def upstream_of(project: str) -> dg.AssetKey:
    return dg.AssetKey(["staging", project])


def project_in(folder: Path, name: str) -> Project:
    return Project(load_project(folder / f"configs/projects/{name}.yaml"))


def released_weeks(project: Project) -> set[str]:
    return {
        path.parent.parent.name
        for path in project.store.root.rglob("manifest.json")
        if not (path.parent / "WITHDRAWN.json").exists()
    }


def decisions_by_week(daemon: Daemon) -> dict[str, list[str]]:
    """What became of each run of a round, the latest first."""
    decisions: dict[str, list[str]] = {}
    for run in daemon.instance.get_runs():
        if DECISION in run.tags:
            decisions.setdefault(run.tags["dagster/partition"], []).append(run.tags[DECISION])
    return decisions


def test_backfill_over_twelve_weeks_ends_and_only_admitted_weeks_are_released(tmp_path):
    origin = write_location(tmp_path, "reviews")
    held, broken = {WEEKS[2], WEEKS[8]}, {WEEKS[5]}
    admitted = {*WEEKS} - held - broken
    tables = dict.fromkeys(WEEKS, GOOD) | dict.fromkeys(held, BAD)
    for week, table in tables.items():
        shown = table.drop(columns="rater") if week in broken else table
        shown.to_parquet(tmp_path / f"{week}.parquet")
    project = project_in(tmp_path, "reviews")
    with daemon_of(tmp_path, origin) as daemon:
        daemon.instance.add_dynamic_partitions("reviews_rounds", WEEKS)
        status = daemon.backfill(WEEKS, upstream_of("reviews"), *line_of("reviews"))
        assert status is BulkActionStatus.COMPLETED_FAILED
        assert decisions_by_week(daemon) == {
            **{key: ["admitted"] for key in admitted},
            **{key: ["held"] for key in held},
            **{key: ["not judged"] for key in broken},
        }
        failed = daemon.instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.FAILURE]))
        assert [run.tags[WILL_RETRY_TAG] for run in failed] == ["false"] * 3
        assert released_weeks(project) == admitted
        assert {project.times_arrived(week) for week in admitted | held} == {1}

        # One asset of the step again, for a week of each decision.
        training_data = dg.AssetKey(["reviews", "training_data"])
        status = daemon.backfill([WEEKS[0], WEEKS[2]], training_data)
        assert status is BulkActionStatus.COMPLETED_FAILED
        assert decisions_by_week(daemon)[WEEKS[2]] == ["held", "held"]
        assert daemon.instance.get_runs(limit=2)[0].asset_selection == {training_data}
        assert released_weeks(project) == admitted


def test_backfill_waits_for_the_retry_of_a_passing_fault_and_no_held_round_is_retried(
    tmp_path, monkeypatch
):
    origin, (good, bad, *_) = write_location(tmp_path, "reviews"), WEEKS
    GOOD.to_parquet(tmp_path / f"{good}.parquet")
    BAD.to_parquet(tmp_path / f"{bad}.parquet")
    project = project_in(tmp_path, "reviews")
    faults = [OSError(28, "No space left on device")]
    read = Store.ratings_of

    def ratings_of(*args: object) -> object:  # the lock reads what was stored
        if faults:
            raise faults.pop()
        return read(*args)

    monkeypatch.setattr(Store, "ratings_of", ratings_of)
    with daemon_of(tmp_path, origin) as daemon:
        daemon.instance.add_dynamic_partitions("reviews_rounds", [good, bad])
        status = daemon.backfill([good], upstream_of("reviews"), *line_of("reviews"))
        assert status is BulkActionStatus.COMPLETED_SUCCESS
        assert released_weeks(project) == {good}
        (retry,) = [run for run in daemon.instance.get_runs() if run.parent_run_id]
        assert retry.tags["dagster/partition"] == good
        assert retry.tags[DECISION] == "admitted"
        assert not retry.tags[REASON_TAG]

        status = daemon.backfill([bad], upstream_of("reviews"), *line_of("reviews"))
        assert status is BulkActionStatus.COMPLETED_FAILED
        assert decisions_by_week(daemon)[bad] == ["held"]
        (run,) = daemon.instance.get_runs(dg.RunsFilter(tags={DECISION: "held"}))
        assert run.tags[WILL_RETRY_TAG] == "false"

        # Somebody makes the run again once the week is better.
        (tmp_path / "storage/staging/reviews" / bad).write_bytes(pickle.dumps(GOOD))
        again = daemon.reexecute(run)
        assert (again.tags[DECISION], again.tags[REASON_TAG]) == ("admitted", "")
        assert released_weeks(project) == {good, bad}


def test_two_code_locations_of_one_instance_decide_for_their_own_projects(tmp_path):
    projects = {"one": "reviews", "two": "posts"}
    origins = [write_location(tmp_path / name, project) for name, project in projects.items()]
    (week, later, *_) = WEEKS
    for name in projects:
        GOOD.to_parquet(tmp_path / name / f"{week}.parquet")
    with daemon_of(tmp_path, *origins) as daemon:
        keys = daemon.process.create_request_context().asset_graph.get_all_asset_keys()
        pages = {key.path[0] for key in keys if key.path[0].endswith("_page")}
        assert pages == {"reviews_page", "posts_page"}
        for name, project in projects.items():
            daemon.instance.add_dynamic_partitions(f"{project}_rounds", [week])
            daemon.backfill([week], upstream_of(project), *line_of(project))
            loaded = project_in(tmp_path / name, project)
            assert released_weeks(loaded) == {week}
            assert {entry["location"] for entry in loaded.store.history()} == {name}
        tagged = Counter(run.tags.get(PROJECT) for run in daemon.instance.get_runs())
        assert tagged == {None: 2, "reviews": 1, "posts": 1}

    # Another location with the same project may not write into its store.
    GOOD.to_parquet(tmp_path / "one" / f"{later}.parquet")
    with daemon_of(tmp_path, origin_of(tmp_path / "one", "laptop")) as daemon:
        daemon.instance.add_dynamic_partitions("reviews_rounds", [later])
        daemon.backfill([later], upstream_of("reviews"), *line_of("reviews"))
        (run,) = daemon.instance.get_runs(dg.RunsFilter(tags={DECISION: "not judged"}))
        assert "code location 'one' decides for; expected 'laptop'" in run.tags[REASON_TAG]
    assert released_weeks(project_in(tmp_path / "one", "reviews")) == {week}
