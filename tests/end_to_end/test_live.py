"""A real webserver and daemon on the project's own workspace.yaml: rounds arrive, and the gate is tried by those who reach the webserver."""

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
LAUNCH = (
    """mutation($params: ExecutionParams!) { launchPipelineExecution(executionParams: $params) { __typename ... on LaunchRunSuccess { run { runId } } } }"""
)
pytestmark = pytest.mark.slow


class Live:
    """A running webserver, and the folder it works on."""

    def __init__(self, root: Path, port: int) -> None:
        self.root, self.url = root, f"http://127.0.0.1:{port}"

    def post(self, path: str, body: dict) -> dict:
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read() or b"{}")

    def query(self, query: str, **variables: object) -> dict:
        return self.post("/graphql", {"query": query, "variables": variables})["data"]

    def runs(self) -> list[dict]:
        return self.query("{ runsOrError { ... on Runs { results { runId status tags { key value } } } } }")["runsOrError"]["results"]

    def finished(self, round_name: str, n: int = 1) -> list[str]:
        """The states of the round's runs, once `n` of them have ended."""

        def ended() -> list[str]:
            mine = [run for run in self.runs() if {"key": "dagster/partition", "value": round_name} in run["tags"]]
            return [run["status"] for run in mine if run["status"] in ("SUCCESS", "FAILURE")]

        return wait_for(lambda: states if len(states := ended()) >= n else None)

    def launch_training_data(self, round_name: str) -> None:
        selector = {
            "repositoryLocationName": "agreement_pipeline",
            "repositoryName": "__repository__",
            "jobName": "reviews_round",
            "assetSelection": [{"path": ["reviews", "training_data"]}],
            "assetCheckSelection": [],
        }
        tags = [{"key": "dagster/partition", "value": round_name}]
        answer = self.query(LAUNCH, params={"selector": selector, "runConfigData": {}, "executionMetadata": {"tags": tags}})
        assert answer["launchPipelineExecution"]["__typename"] == "LaunchRunSuccess", answer

    def released(self) -> set[str]:
        return {path.parent.parent.name for path in (self.root / ".agreement").rglob("manifest.json") if not (path.parent / "WITHDRAWN.json").exists()}


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


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    root = tmp_path_factory.mktemp("live")
    for name, text in (("projects/reviews.yaml", PROJECT), ("policies/strict.yaml", POLICY)):
        (root / "configs" / name).parent.mkdir(parents=True)
        (root / "configs" / name).write_text(text)
    (root / "inbox").mkdir()
    (root / "home").mkdir()
    (root / "home/dagster.yaml").write_text("telemetry: {enabled: false}\n")
    shutil.copy(ROOT / "workspace.yaml", root)
    with running(root, free_port()) as found:
        deliver(root, "good", 0.99)
        deliver(root, "bad", 0.55)
        found.finished("good")
        found.finished("bad")
        yield found


@contextmanager
def running(root: Path, port: int) -> Iterator[Live]:
    environment = {**os.environ, "DAGSTER_HOME": str(root / "home"), "AGREEMENT_ROOT": str(root), "PYTHONPATH": str(ROOT)}
    command = [Path(sys.executable).parent / "dagster", "dev", "-w", "workspace.yaml", "-p", str(port)]
    with (root / "dagster.log").open("w") as log:
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


def test_a_dropped_file_is_run_by_the_sensor_and_judged(live):
    assert live.finished("good") == ["SUCCESS"]
    assert live.finished("bad") == ["FAILURE"]
    assert live.released() == {"good"}


def test_launching_training_data_alone_is_refused(live):
    live.launch_training_data("bad")

    assert set(live.finished("bad", 2)) == {"FAILURE"}
    assert live.released() == {"good"}


def test_check_results_reported_from_outside_open_nothing(live):
    live.post(
        "/report_asset_check/reviews/acceptability",
        {"check_name": "admitted", "passed": True, "metadata": {}, "partition": "bad"},
    )
    live.post("/report_asset_materialization/reviews/acceptability", {"partition": "bad"})
    live.launch_training_data("bad")

    assert set(live.finished("bad", 3)) == {"FAILURE"}
    assert live.released() == {"good"}
