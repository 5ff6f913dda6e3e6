"""A deployment in processes of this machine, from the files of `deploy/`.

PostgreSQL keeps the instance, an S3-compatible server keeps the store, and each project has a code
server of its own. Every part can be killed, started again, and stopped for a while.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import boto3
import dagster as dg
import fsspec
import pandas as pd
import yaml

from agreement_pipeline.orchestration.compat import IN_PROGRESS
from agreement_pipeline.projects import Project, load_project
from agreement_pipeline.store import Store

ROOT = Path(__file__).parents[2]
PROJECT = """\
project: {name}
inbox: inbox
store: s3://rounds/{name}
scale: {{categories: [safe, offensive, hateful]}}
policy: strict
deliveries: independent
settle_seconds: 0.5
alerts_url_from: DEPLOYMENT_WEBHOOK
"""
POLICY = "policy: strict\nversion: {version}\nn_resamples: 1000\nrules:\n  - {rule}\n"
RULE = "{measure: krippendorff_alpha, min_items: 30}"
DEFINITIONS = "agreement_pipeline.orchestration.definitions"
PROGRAMS = Path(sys.executable).parent
STUCK_SECONDS = 120
SENSORS = """query($of: RepositorySelector!) { sensorsOrError(repositorySelector: $of) {
    ... on Sensors { results { id name } }
} }"""
STOP = """mutation($id: String!) { stopSensor(id: $id) {
    ... on StopSensorMutationResult { instigationState { status } }
} }"""


def stop_pages(url: str, *locations: str) -> None:
    """Stop the sensors whose runs only show what was decided. They decide nothing."""

    def said(query: str, **variables: object) -> dict:
        body = json.dumps({"query": query, "variables": variables}).encode()
        kind = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{url}/graphql", body, kind)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)["data"]

    def sensors_of(location: str) -> list[dict]:
        """Nothing while the webserver, whose port is open already, still loads the location."""
        of = {"repositoryLocationName": location, "repositoryName": "__repository__"}
        try:
            return said(SENSORS, of=of)["sensorsOrError"].get("results", [])
        except urllib.error.HTTPError as error:
            if error.code < 500:
                raise
            return []

    for location in locations:
        wait_until(partial(sensors_of, location), 60, f"the webserver loads {location}")
        for sensor in sensors_of(location):
            if sensor["name"].endswith(("_history_changed", "_projects_changed")):
                stopped = said(STOP, id=sensor["id"])["stopSensor"]
                assert stopped["instigationState"]["status"] == "STOPPED"


def postgres_programs() -> Path | None:
    """The folder with the programs of PostgreSQL's server. None if it is not installed."""
    found = shutil.which("initdb")
    known = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return Path(found).parent if found else known[-1].parent if known else None


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_until(true: Callable[[], object], seconds: float, what: str) -> float:
    """Wait until something is true, and say how long it took."""
    start = time.monotonic()
    while not true():
        if time.monotonic() - start > seconds:
            raise TimeoutError(f"not within {seconds:g} s: {what}")
        time.sleep(0.5)
    return time.monotonic() - start


class Part:
    """A process of the deployment, which can end and start again on the same address."""

    def __init__(
        self,
        command: list[str],
        *,
        log: Path,
        env: Mapping[str, str],
        port: int = 0,
        user: str | None = None,
    ) -> None:
        self.command, self.log, self.env, self.port, self.user = command, log, env, port, user
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def start(self) -> None:
        with self.log.open("ab") as said:
            self.process = subprocess.Popen(
                self.command,
                env=dict(self.env),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                user=self.user,
                cwd=self.log.parent,
                start_new_session=True,
            )
        if self.port:
            wait_until(self._is_up, 90, f"{self.log.stem} at its port")

    def _is_up(self) -> bool:
        assert self.process is not None
        if self.process.poll() is not None:
            raise RuntimeError(f"{self.log.stem} ended: {self.log.read_text()[-2000:]}")
        return answers(self.port)

    def send(self, number: signal.Signals) -> None:
        """Send a signal to this one process, and not to the processes that it started."""
        os.kill(self.pid, number)

    def end(self, number: signal.Signals = signal.SIGKILL) -> None:
        """End the process, and wait for it.

        A code server that is asked to end lets its runs and the ticks of its sensors end first.
        """
        self.send(number)
        assert self.process is not None
        self.process.wait(120)

    @property
    def children(self) -> list[int]:
        """The processes that it started."""
        found = Path(f"/proc/{self.pid}/task/{self.pid}/children")
        tasks = found.parent.parent.glob("*/children")
        return sorted({int(pid) for each in tasks for pid in each.read_text().split()})


class Webhook:
    """Keeps what the alerts of all projects post, in the order in which it came."""

    def __init__(self) -> None:
        self.messages: list[dict] = []

        class Receiver(BaseHTTPRequestHandler):
            def do_POST(receiver) -> None:  # noqa: N805 - named by the library
                body = receiver.rfile.read(int(receiver.headers["Content-Length"]))
                self.messages.append(json.loads(body))
                receiver.send_response(204)
                receiver.end_headers()

            def log_message(self, *_: object) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def whats(self, project: str) -> list[str]:
        """What each message about the gate of a project said: `down` or `up again`."""
        return [
            message["what"]
            for message in self.messages
            if message["project"] == project and message["what"] in ("down", "up again")
        ]

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class Deployment:
    """Every process of a deployment, and the folders of its projects."""

    def __init__(self, folder: Path, names: tuple[str, ...]) -> None:
        programs = postgres_programs()
        assert programs is not None
        self.folder, self.names = folder, names
        self.home = folder / "home"
        self.home.mkdir()
        shutil.copy(ROOT / "deploy/dagster.yaml", self.home / "dagster.yaml")
        postgres, s3, web = free_port(), free_port(), free_port()
        self.webhook = Webhook()
        self.env = os.environ | {
            "DAGSTER_HOME": str(self.home),
            "DAGSTER_POSTGRES_URL": f"postgresql://dagster@127.0.0.1:{postgres}/postgres",
            "DAGSTER_DISABLE_TELEMETRY": "1",
            "PYTHONPATH": str(ROOT),
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{s3}",
            "DEPLOYMENT_WEBHOOK": self.webhook.url,
        }
        self.postgres = self._postgres(programs, postgres)
        self.bucket = self._part(
            "s3", sys.executable, ROOT / "tests/store/server.py", str(s3), port=s3
        )
        self.code = {name: self._code_server(name) for name in names}
        workspace = folder / "workspace.yaml"
        servers = [
            {"grpc_server": {"host": "127.0.0.1", "port": each.port, "location_name": name}}
            for name, each in self.code.items()
        ]
        workspace.write_text(yaml.safe_dump({"load_from": servers}))
        said = ("-w", str(workspace))
        self.daemon = self._part("daemon", PROGRAMS / "dagster-daemon", "run", *said)
        where = ("-h", "127.0.0.1", "-p", str(web))
        self.web = self._part("web", PROGRAMS / "dagster-webserver", *said, *where, port=web)
        self.url = f"http://127.0.0.1:{web}"

    def _part(self, name: str, *command: str | Path, port: int = 0, **env: str) -> Part:
        words = list(map(str, command))
        return Part(words, log=self.folder / f"{name}.log", env=self.env | env, port=port)

    def _postgres(self, programs: Path, port: int) -> Part:
        """PostgreSQL, which refuses to run as root."""
        data, user = self.folder / "postgres", "postgres" if os.geteuid() == 0 else None
        self._make_database(programs, data, user)
        where = ["-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={data}"]
        command = [str(programs / "postgres"), "-D", str(data), "-p", str(port), *where]
        return Part(command, log=self.folder / "postgres.log", env=os.environ, port=port, user=user)

    def _make_database(self, programs: Path, data: Path, user: str | None) -> None:
        data.mkdir()
        if user:
            shutil.chown(data, user)
        made = [programs / "initdb", "-D", data, "-A", "trust", "-U", "dagster", "--no-sync"]
        subprocess.run(list(map(str, made)), check=True, user=user, capture_output=True, cwd=data)

    def lose_the_database(self) -> None:
        """Replace the database of the instance by an empty one, and start what reads it again."""
        programs = postgres_programs()
        assert programs is not None
        others = [self.daemon, self.web, *self.code.values()]
        for part in others:
            part.end(signal.SIGTERM)
        self.postgres.end(signal.SIGQUIT)
        data = self.folder / "postgres"
        shutil.rmtree(data)
        self._make_database(programs, data, self.postgres.user)
        self.postgres.start()
        for part in reversed(others):
            part.start()

    def refuse_keys_of_the_bucket(self, *, refused: bool) -> None:
        """Let the bucket refuse every key, as it does if a key has expired, or take them again."""
        free_requests = b"0" if refused else b"inf"
        url = f"{self.env['AWS_ENDPOINT_URL']}/moto-api/reset-auth"
        kind = {"Content-Type": "text/plain"}
        request = urllib.request.Request(url, free_requests, kind, method="POST")
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert answer.status == 200

    def _code_server(self, name: str) -> Part:
        place, port = self.folder / name, free_port()
        for folder in ("inbox", "configs/projects", "configs/policies"):
            (place / folder).mkdir(parents=True)
        (place / f"configs/projects/{name}.yaml").write_text(PROJECT.format(name=name))
        self.write_policy(name, 1, RULE)
        server = (PROGRAMS / "dagster", "api", "grpc", "-m", DEFINITIONS)
        where = ("--host", "127.0.0.1", "--port", str(port))
        return self._part(name, *server, *where, port=port, AGREEMENT_ROOT=str(place))

    def write_policy(self, name: str, version: int, rule: str) -> None:
        """Say the policy of a project. Its code server reads it when it starts."""
        place = self.folder / name / "configs/policies/strict.yaml"
        place.write_text(POLICY.format(version=version, rule=rule))

    def deliver(self, name: str, round_name: str, data: bytes) -> None:
        """Put a round into the inbox of a project, whole at once."""
        inbox = self.folder / name / "inbox"
        (inbox / f".{round_name}").write_bytes(data)
        (inbox / f".{round_name}").rename(inbox / f"{round_name}.csv")

    @property
    def parts(self) -> list[Part]:
        """In the order in which they start."""
        return [self.postgres, self.bucket, *self.code.values(), self.web, self.daemon]

    def start(self) -> None:
        for part in (self.postgres, self.bucket):
            part.start()
        settings = {key: value for key, value in self.env.items() if key.startswith("AWS_")}
        boto3.client(
            "s3",
            endpoint_url=settings["AWS_ENDPOINT_URL"],
            aws_access_key_id="test",
            aws_secret_access_key="test",
            region_name="us-east-1",
        ).create_bucket(Bucket="rounds")
        for part in (*self.code.values(), self.web, self.daemon):
            part.start()

    def stop(self) -> None:
        """End what was started here: each process with all that it started."""
        for part in reversed(self.parts):
            if part.process is None:
                continue
            for pid in (*part.children, *([part.pid] if part.process.poll() is None else [])):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            part.process.wait(30)
        self.webhook.stop()


class Watched:
    """A deployment as somebody sees it who looks at its instance and its stores."""

    def __init__(self, deployment: Deployment) -> None:
        """The environment of this process must be that of the deployment."""
        fsspec.get_filesystem_class("s3").clear_instance_cache()
        self.deployment = deployment
        self.instance = dg.DagsterInstance.from_config(str(deployment.home))

    def deliver(self, name: str, round_name: str, frame: pd.DataFrame) -> None:
        self.deployment.deliver(name, round_name, frame.to_csv(index=False).encode())

    def running(self, round_name: str) -> dg.DagsterRun | None:
        """The run of a round that has started, and not ended."""
        started = dg.RunsFilter(
            tags={"dagster/partition": round_name}, statuses=[dg.DagsterRunStatus.STARTED]
        )
        return next(iter(self.instance.get_runs(started, limit=1)), None)

    def wait_for_a_run(self, round_name: str) -> None:
        wait_until(lambda: self.running(round_name), 90, f"a run of {round_name}")

    def store(self, name: str) -> Store:
        """The store of a project."""
        settings = load_project(self.deployment.folder / f"{name}/configs/projects/{name}.yaml")
        return Project(settings).store

    def events(self, name: str) -> Counter[tuple[str, str]]:
        """How often each event was logged for each round of a project."""
        return Counter((each["event"], each["round"]) for each in self.store(name).history())

    def wait_for_a_decision(self, name: str, *rounds: str, within: float = STUCK_SECONDS) -> float:
        """How long it takes until each round is decided, and until no run of it is left."""

        def decided() -> bool:
            said = self.events(name)
            left = any(
                self.instance.get_runs_count(
                    dg.RunsFilter(tags={"dagster/partition": each}, statuses=IN_PROGRESS)
                )
                for each in rounds
            )
            return not left and all(said["decided", each] for each in rounds)

        return wait_until(decided, within, f"decisions on {rounds} of {name}")


@contextmanager
def deployed(*names: str) -> Iterator[Deployment]:
    """A deployment of some projects, ended and removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="deployment-"))
    folder.chmod(0o755)
    deployment = Deployment(folder, names)
    try:
        deployment.start()
        yield deployment
    finally:
        deployment.stop()
        shutil.rmtree(folder, ignore_errors=True)
