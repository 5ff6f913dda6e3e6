"""A real webserver and daemon on the project's own workspace.yaml, started once for all that try them."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.orchestration.conftest import ratings_frame

ROOT = Path(__file__).parents[2]
PROJECT = "project: reviews\ninbox: inbox\nscale: {categories: [safe, offensive, hateful]}\npolicy: strict\nsettle_seconds: 0.5\n"
POLICY = "policy: strict\nversion: 1\nn_resamples: 1000\nrules:\n  - measure: krippendorff_alpha\n"
REPOSITORY = {"repositoryLocationName": "agreement_pipeline", "repositoryName": "__repository__"}
STARTED = "... on LaunchRunSuccess { run { runId } }"
LAUNCH = f"mutation($params: ExecutionParams!) {{ launchPipelineExecution(executionParams: $params) {{ __typename {STARTED} }} }}"
REEXECUTE = f"mutation($params: ExecutionParams!) {{ launchPipelineReexecution(executionParams: $params) {{ __typename {STARTED} }} }}"
BACKFILL = """mutation($params: LaunchBackfillParams!) {
    launchPartitionBackfill(backfillParams: $params) { __typename ... on LaunchBackfillSuccess { backfillId } }
}"""
ADD_ROUND = """mutation($round: String!) {
    addDynamicPartition(partitionKey: $round, partitionsDefName: "reviews_rounds", repositorySelector:
        {repositoryLocationName: "agreement_pipeline", repositoryName: "__repository__"}) { __typename }
}"""
REPORT_CHECK = "mutation($params: ReportAssetCheckEvaluationsParams!) { reportAssetCheckEvaluations(eventParams: $params) { __typename } }"
REPORT_ASSET = "mutation($params: ReportRunlessAssetEventsParams!) { reportRunlessAssetEvents(eventParams: $params) { __typename } }"


class Live:
    """A running webserver, and the folder it works on."""

    def __init__(self, root: Path, port: int) -> None:
        self.root, self.url = root, f"http://127.0.0.1:{port}"

    def post(self, path: str, body: dict) -> dict:
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read() or b"{}")

    def query(self, query: str, **variables: object) -> dict:
        answer = self.post("/graphql", {"query": query, "variables": variables})["data"]
        refused = [part["__typename"] for part in answer.values() if isinstance(part, dict) and part.get("__typename") == "UnauthorizedError"]
        if refused:
            raise PermissionError(refused[0])
        return answer

    def runs(self) -> list[dict]:
        return self.query("{ runsOrError { ... on Runs { results { runId status tags { key value } } } } }")["runsOrError"]["results"]

    def finished(self, round_name: str) -> list[str]:
        """The states of the round's runs that have ended, once there is one."""

        def ended() -> list[str]:
            mine = [run for run in self.runs() if {"key": "dagster/partition", "value": round_name} in run["tags"]]
            return [run["status"] for run in mine if run["status"] in ("SUCCESS", "FAILURE")]

        return wait_for(lambda: ended() or None)

    def launch(self, asset: str, round_name: str | None, **tags: str) -> str:
        """A run of one asset and none of the checks."""
        job = "reviews_release" if asset == "release" else "reviews_round"
        selector = {**REPOSITORY, "jobName": job, "assetSelection": [asset_key(asset)], "assetCheckSelection": []}
        said = {**tags, **({"dagster/partition": round_name} if round_name else {})}
        params = {"selector": selector, "runConfigData": {}, "executionMetadata": {"tags": tags_of(said)}}
        return self.query(LAUNCH, params=params)["launchPipelineExecution"]["run"]["runId"]

    def reexecute(self, round_name: str, step: str) -> str:
        """One selected step of the round's first run, once more."""
        parent = [run["runId"] for run in self.runs() if {"key": "dagster/partition", "value": round_name} in run["tags"]][-1]
        metadata = {"parentRunId": parent, "rootRunId": parent, "tags": tags_of({"dagster/partition": round_name})}
        params = {"selector": {**REPOSITORY, "jobName": "reviews_round"}, "runConfigData": {}, "stepKeys": [step], "executionMetadata": metadata}
        return self.query(REEXECUTE, params=params)["launchPipelineReexecution"]["run"]["runId"]

    def backfill(self, rounds: list[str], *assets: str) -> str:
        params = {"assetSelection": [asset_key(asset) for asset in assets], "partitionNames": rounds}
        return self.query(BACKFILL, params=params)["launchPartitionBackfill"]["backfillId"]

    def add_round(self, round_name: str) -> str:
        return self.query(ADD_ROUND, round=round_name)["addDynamicPartition"]["__typename"]

    def report_check(self, round_name: str) -> str:
        said = {"checkName": "admitted", "passed": True, "severity": "ERROR", "serializedMetadata": "{}"}
        params = {**said, "assetKey": asset_key("acceptability"), "partitionKeys": [round_name]}
        return self.query(REPORT_CHECK, params=params)["reportAssetCheckEvaluations"]["__typename"]

    def report_asset(self, round_name: str, asset: str) -> str:
        params = {"eventType": "ASSET_MATERIALIZATION", "assetKey": asset_key(asset), "partitionKeys": [round_name]}
        return self.query(REPORT_ASSET, params=params)["reportRunlessAssetEvents"]["__typename"]

    def ended(self, run_id: str) -> str:
        """The state in which a run ended."""
        return wait_for(lambda: {run["runId"]: run["status"] for run in self.runs() if run["status"] in ("SUCCESS", "FAILURE")}.get(run_id))

    def backfill_ended(self, backfill_id: str) -> str:
        """The state in which a backfill ended."""
        query = "query($id: String!) { partitionBackfillOrError(backfillId: $id) { ... on PartitionBackfill { status } } }"

        def ended() -> str | None:
            status = self.query(query, id=backfill_id)["partitionBackfillOrError"]["status"]
            return None if status in ("REQUESTED", "FAILING", "CANCELING") else status

        return wait_for(ended)

    def released(self) -> set[str]:
        """The rounds in releases that nobody withdrew."""
        return released_rounds(self.root)


def releases_in(root: Path) -> list[Path]:
    """The folders with a manifest in the stores under a folder, links followed."""
    return [Path(at) for at, _, names in os.walk(root / ".agreement", followlinks=True) if "manifest.json" in names]


def released_rounds(root: Path) -> set[str]:
    """The rounds in releases under a folder that nobody withdrew, by what their manifests say."""
    standing = [path / "manifest.json" for path in releases_in(root) if not (path / "WITHDRAWN.json").exists()]
    return {entry["round"] for path in standing for entry in json.loads(path.read_text())["rounds"]}


def asset_key(name: str) -> dict[str, list[str]]:
    return {"path": ["reviews", name]}


def tags_of(said: dict[str, str]) -> list[dict[str, str]]:
    return [{"key": key, "value": value} for key, value in said.items()]


def wait_for(look, seconds: float = 120):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if (found := look()) is not None:
                return found
        except OSError:
            pass  # not listening yet
        time.sleep(0.5)
    raise AssertionError(f"nothing after {seconds} s")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def deliver(root: Path, round_name: str, agreement: float) -> None:
    partial = root / f"{round_name}.csv"
    ratings_frame(agreement).to_csv(partial, index=False)
    partial.rename(root / "inbox" / partial.name)


@pytest.fixture(scope="session")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    root = tmp_path_factory.mktemp("live")
    for name, text in (("projects/reviews.yaml", PROJECT), ("policies/strict.yaml", POLICY)):
        (root / "configs" / name).parent.mkdir(parents=True)
        (root / "configs" / name).write_text(text)
    (root / "inbox").mkdir()
    (root / "home").mkdir()
    (root / "home/dagster.yaml").write_text("telemetry: {enabled: false}\n")
    shutil.copy(ROOT / "workspace.yaml", root)
    with running(root, "dagster", "dev") as found:
        deliver(root, "good", 0.99)
        deliver(root, "bad", 0.55)
        found.finished("good")
        found.finished("bad")
        yield found


@pytest.fixture(scope="session")
def read_only(live: Live) -> Iterator[Live]:
    """A second webserver on the same instance, for those who only look."""
    with running(live.root, "dagster-webserver", "--read-only") as found:
        yield found


@contextmanager
def running(root: Path, program: str, *options: str) -> Iterator[Live]:
    port = free_port()
    environment = {**os.environ, "DAGSTER_HOME": str(root / "home"), "AGREEMENT_ROOT": str(root), "PYTHONPATH": str(ROOT)}
    command = [Path(sys.executable).parent / program, *options, "-w", "workspace.yaml", "-p", str(port)]
    with (root / f"{program}.log").open("w") as log:
        process = subprocess.Popen(command, cwd=root, env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
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
