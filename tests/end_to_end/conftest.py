"""A real webserver and daemon, started once for the tests of a file and stopped after them.

They use the project's own workspace.yaml, and one more location. The daemon runs all runs in its
own process: tests/deployment has a process for each.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
import pytest
import yaml

from agreement_pipeline.store import Store
from tests.deployment.services import stop_pages
from tests.orchestration.conftest import Line, ratings_frame

ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 300
PROJECT = """project: reviews
inbox: inbox
scale: {categories: [safe, offensive, hateful]}
policy: strict
deliveries: independent
settle_seconds: 0.5
"""
POLICY = "policy: strict\nversion: 1\nn_resamples: 1000\nrules:\n  - measure: krippendorff_alpha\n"
INSTANCE = """telemetry: {enabled: false}
run_launcher:
  module: dagster._core.launcher.sync_in_memory_run_launcher
  class: SyncInMemoryRunLauncher
"""
STARTED = "... on LaunchRunSuccess { run { runId } }"
LAUNCH = f"""mutation($params: ExecutionParams!) {{
    launchPipelineExecution(executionParams: $params) {{ __typename {STARTED} }}
}}"""
REEXECUTE = f"""mutation($params: ExecutionParams!) {{
    launchPipelineReexecution(executionParams: $params) {{ __typename {STARTED} }}
}}"""
BACKFILL = """mutation($params: LaunchBackfillParams!) {
    launchPartitionBackfill(backfillParams: $params) {
        __typename ... on LaunchBackfillSuccess { backfillId }
    }
}"""
ADD_ROUND = """mutation($round: String!) {
    addDynamicPartition(
        partitionKey: $round, partitionsDefName: "reviews_rounds",
        repositorySelector: {
            repositoryLocationName: "agreement_pipeline", repositoryName: "__repository__"
        }
    ) { __typename }
}"""
WHY = """query($id: ID!) {
    runOrError(runId: $id) { ... on Run { eventConnection { events {
        __typename ... on ExecutionStepFailureEvent {
            error { className message }
            failureMetadata {
                description metadataEntries { label ... on TextMetadataEntry { text } }
            }
        }
    } } } }
}"""
CHECKS = """query($key: AssetKeyInput!, $round: String) {
    assetCheckExecutions(
        assetKey: $key, checkName: "admitted", partition: $round, limit: 100
    ) { runId evaluation { success description } }
}"""
MATERIALIZATIONS = """query($key: AssetKeyInput!, $rounds: [String!]) {
    assetOrError(assetKey: $key) { ... on Asset {
        assetMaterializations(partitions: $rounds, limit: 100) { runId partition }
    } }
}"""
BACKFILLED = """query($id: String!) {
    partitionBackfillOrError(backfillId: $id) {
        ... on PartitionBackfill { status runs { runId } }
    }
}"""
REPORT_CHECK = """mutation($params: ReportAssetCheckEvaluationsParams!) {
    reportAssetCheckEvaluations(eventParams: $params) { __typename }
}"""
REPORT_ASSET = """mutation($params: ReportRunlessAssetEventsParams!) {
    reportRunlessAssetEvents(eventParams: $params) { __typename }
}"""
RUNS = """{ runsOrError { ... on Runs { results {
    runId status tags { key value } assetSelection { path }
} } } }"""


class Live:
    """A running webserver, and the folder it works on."""

    def __init__(self, root: Path, port: int) -> None:
        self.root, self.url = root, f"http://127.0.0.1:{port}"

    def post(self, path: str, body: dict) -> dict:
        request = urllib.request.Request(
            self.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read() or b"{}")

    def query(self, query: str, **variables: object) -> dict:
        """The answer of the webserver. An error of the query is never taken for a refusal."""
        said = self.post("/graphql", {"query": query, "variables": variables})
        assert "errors" not in said, said["errors"]
        kinds = [
            part["__typename"]
            for part in said["data"].values()
            if isinstance(part, dict) and "__typename" in part
        ]
        if "UnauthorizedError" in kinds:
            raise PermissionError("UnauthorizedError")
        assert not [kind for kind in kinds if kind.endswith("Error")], said
        return said["data"]

    def runs(self) -> list[dict]:
        return self.query(RUNS)["runsOrError"]["results"]

    def finished(self, round_name: str) -> list[str]:
        """The states of the round's runs that have ended, once there is one."""

        def ended() -> list[str]:
            mine = [
                run
                for run in self.runs()
                if {"key": "dagster/partition", "value": round_name} in run["tags"]
            ]
            return [run["status"] for run in mine if run["status"] in ("SUCCESS", "FAILURE")]

        return wait_for(lambda: ended() or None)

    def launch(self, asset: str, round_name: str | None, **tags: str) -> str:
        """A run of one asset. That of a round is without any check."""
        job = "reviews_release" if asset == "release" else "reviews_round"
        selector = {
            **repository("reviews"),
            "jobName": job,
            "assetSelection": [asset_key(asset)],
            "assetCheckSelection": OWN_CHECKS.get(asset, []),
        }
        said = {**tags, **({"dagster/partition": round_name} if round_name else {})}
        params = {
            "selector": selector,
            "runConfigData": {},
            "executionMetadata": {"tags": tags_of(said)},
        }
        return self.query(LAUNCH, params=params)["launchPipelineExecution"]["run"]["runId"]

    def reexecute(self, round_name: str, *assets: str) -> str:
        """The step of the round's first run once more, for some of its assets or for all."""
        parent = [
            run["runId"]
            for run in self.runs()
            if {"key": "dagster/partition", "value": round_name} in run["tags"]
        ][-1]
        metadata = {
            "parentRunId": parent,
            "rootRunId": parent,
            "tags": tags_of({"dagster/partition": round_name}),
        }
        of_assets = {
            "assetSelection": [asset_key(asset) for asset in assets],
            "assetCheckSelection": [],
        }
        selector = {**repository("reviews"), "jobName": "reviews_round"}
        params = {
            "selector": {**selector, **of_assets} if assets else selector,
            "runConfigData": {},
            "stepKeys": ["reviews__round"],
            "executionMetadata": metadata,
        }
        return self.query(REEXECUTE, params=params)["launchPipelineReexecution"]["run"]["runId"]

    def backfill(self, rounds: list[str], *assets: str) -> str:
        params = {
            "assetSelection": [asset_key(asset) for asset in assets],
            "partitionNames": rounds,
        }
        return self.query(BACKFILL, params=params)["launchPartitionBackfill"]["backfillId"]

    def add_round(self, round_name: str) -> str:
        return self.query(ADD_ROUND, round=round_name)["addDynamicPartition"]["__typename"]

    def report_check(self, round_name: str) -> str:
        said = {
            "checkName": "admitted",
            "passed": True,
            "severity": "ERROR",
            "serializedMetadata": "{}",
        }
        params = {**said, "assetKey": asset_key("acceptability"), "partitionKeys": [round_name]}
        return self.query(REPORT_CHECK, params=params)["reportAssetCheckEvaluations"]["__typename"]

    def report_asset(self, round_name: str, asset: str) -> str:
        params = {
            "eventType": "ASSET_MATERIALIZATION",
            "assetKey": asset_key(asset),
            "partitionKeys": [round_name],
        }
        return self.query(REPORT_ASSET, params=params)["reportRunlessAssetEvents"]["__typename"]

    def ended(self, run_id: str) -> str:
        """The state in which a run ended."""
        return wait_for(
            lambda: {
                run["runId"]: run["status"]
                for run in self.runs()
                if run["status"] in ("SUCCESS", "FAILURE")
            }.get(run_id)
        )

    def backfill_ended(self, backfill_id: str) -> str:
        """The state in which a backfill ended."""

        def ended() -> str | None:
            status = self.query(BACKFILLED, id=backfill_id)["partitionBackfillOrError"]["status"]
            return None if status in ("REQUESTED", "FAILING", "CANCELING") else status

        return wait_for(ended)

    def runs_of(self, backfill_id: str) -> list[str]:
        """The runs of a backfill."""
        return [
            run["runId"]
            for run in self.query(BACKFILLED, id=backfill_id)["partitionBackfillOrError"]["runs"]
        ]

    def why(self, run_id: str) -> list[str]:
        """Why the steps of a run failed: a code and a sentence each.

        They are the package's own, or the kind of Dagster's error and its message.
        """
        events = self.query(WHY, id=run_id)["runOrError"]["eventConnection"]["events"]
        return [
            said_by(event) for event in events if event["__typename"] == "ExecutionStepFailureEvent"
        ]

    def checks(self, asset: str, round_name: str) -> list[dict]:
        """What the check `admitted` of an asset said of a round, the latest first.

        A check that was reported by hand has no run.
        """
        found = self.query(CHECKS, key=asset_key(asset), round=round_name)["assetCheckExecutions"]
        return [
            {"run": each["runId"], **each["evaluation"]} for each in found if each["evaluation"]
        ]

    def materializations(self, asset: str, round_name: str) -> list[str]:
        """The runs that materialized an asset for a round, the latest first.

        A materialization that was reported by hand has no run.
        """
        found = self.query(MATERIALIZATIONS, key=asset_key(asset), rounds=[round_name])[
            "assetOrError"
        ]["assetMaterializations"]
        return [each["runId"] for each in found]

    def automated(self, round_name: str) -> dict:
        """The run of a round that an automation condition asked for, with its assets."""

        def asked() -> dict | None:
            mine = [
                run
                for run in self.runs()
                if {"key": "dagster/partition", "value": round_name} in run["tags"]
            ]
            found = [
                run
                for run in mine
                if {"key": "dagster/from_automation_condition", "value": "true"} in run["tags"]
            ]
            return found[0] if found else None

        return wait_for(asked)

    def decision(self, round_name: str) -> str:
        """What the gate itself decided on a round last, by the log of the store."""
        return [
            entry["decision"]
            for entry in Store(self.root / ".agreement/store/reviews").history(round_name)
            if entry["event"] == "decided"
        ][-1]

    def released(self) -> set[str]:
        """The rounds in releases that nobody withdrew."""
        return released_rounds(self.root)


def said_by(event: dict) -> str:
    """The code and the sentence of a failed step."""
    failure, error = event["failureMetadata"], event["error"]
    if failure is None:
        return f"{error['className']}: {error['message'].partition(': ')[2].strip()}"
    code = {entry["label"]: entry.get("text") for entry in failure["metadataEntries"]}.get(
        "reason_code"
    )
    return f"{code}: {failure['description']}"


def releases_in(root: Path) -> list[Path]:
    """The folders with a manifest in the stores under a folder, links followed."""
    return [
        Path(at)
        for at, _, names in os.walk(root / ".agreement", followlinks=True)
        if "manifest.json" in names
    ]


def released_rounds(root: Path) -> set[str]:
    """The rounds in releases under a folder that nobody withdrew, by what their manifests say."""
    standing = [
        path / "manifest.json"
        for path in releases_in(root)
        if not (path / "WITHDRAWN.json").exists()
    ]
    return {entry["round"] for path in standing for entry in json.loads(path.read_text())["rounds"]}


def asset_key(name: str) -> dict[str, list[str]]:
    return {"path": ["reviews", name]}


OWN_CHECKS = {
    "release": [{"assetKey": asset_key("release"), "name": "released_together"}],
}


def repository(project: str) -> dict[str, str]:
    return {
        "repositoryLocationName": "agreement_pipeline" if project == "reviews" else project,
        "repositoryName": "__repository__",
    }


def tags_of(said: dict[str, str]) -> list[dict[str, str]]:
    return [{"key": key, "value": value} for key, value in said.items()]


def wait_for(look):
    """The first value of `look` that is not None. Other tests may slow the machine down."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        try:
            if (found := look()) is not None:
                return found
        except OSError:
            pass  # not listening yet
        time.sleep(1)
    raise AssertionError(f"nothing after {PATIENCE_SECONDS} s")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def deliver(root: Path, round_name: str, agreement: float) -> None:
    partial = root / f"{round_name}.csv"
    ratings_frame(agreement).to_csv(partial, index=False)
    partial.rename(root / "inbox" / partial.name)


def write_project(root: Path, name: str) -> None:
    """The files of a project under a folder."""
    (root / "inbox").mkdir(parents=True)
    for path, text in (
        (f"projects/{name}.yaml", PROJECT.replace("reviews", name)),
        ("policies/strict.yaml", POLICY),
    ):
        (root / "configs" / path).parent.mkdir(parents=True)
        (root / "configs" / path).write_text(text)


def write_workspace(root: Path) -> None:
    """Write the project's own workspace, with the location of an automated project."""
    workspace = yaml.safe_load((ROOT / "workspace.yaml").read_text())
    workspace["load_from"].append(
        {
            "python_file": {
                "relative_path": str(ROOT / "tests/end_to_end/automated.py"),
                "location_name": "automated",
            }
        }
    )
    (root / "workspace.yaml").write_text(yaml.safe_dump(workspace))


@pytest.fixture(autouse=True)
def _known_keys(known_keys):
    """Rounds of these tests are often the same."""


@pytest.fixture
def line(tmp_path: Path, instance: dg.DagsterInstance) -> Line:
    """A project of its own, without a webserver."""
    return Line(tmp_path, instance)


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    root = tmp_path_factory.mktemp("live")
    write_project(root, "reviews")
    write_project(root / "elsewhere", "automated")
    write_workspace(root)
    (root / "home").mkdir()
    (root / "home/dagster.yaml").write_text(INSTANCE)
    with running(root, "dagster", "dev", "-w", "workspace.yaml") as found:
        stop_pages(found.url, "agreement_pipeline", "automated")
        for name, agreement in (("good", 0.99), ("bad", 0.55), ("worse", 0.55)):
            deliver(root, name, agreement)
        for name in ("good", "bad", "worse"):
            found.finished(name)
        deliver(root / "elsewhere", "later", 0.55)
        yield found


@pytest.fixture(scope="module")
def read_only(live: Live) -> Iterator[Live]:
    """A second webserver on the same instance, for those who only look, at the one location."""
    location = ("-m", "agreement_pipeline.orchestration.definitions")
    with running(live.root, "dagster-webserver", "--read-only", *location) as found:
        yield found


@contextmanager
def running(root: Path, program: str, *options: str) -> Iterator[Live]:
    port = free_port()
    environment = {
        **os.environ,
        "DAGSTER_HOME": str(root / "home"),
        "AGREEMENT_ROOT": str(root),
        "PYTHONPATH": str(ROOT),
    }
    command = [
        Path(sys.executable).parent / program,
        *options,
        "-p",
        str(port),
    ]
    with (root / f"{program}.log").open("w") as log:
        process = subprocess.Popen(
            command,
            cwd=root,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            found = Live(root, port)
            wait_for(lambda: found.query("{ version }") or None)
            yield found
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(10)
