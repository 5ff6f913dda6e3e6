"""Record what a server of Label Studio answers to the requests of `sources/label_studio.py`.

`make label-studio` installs the server into an environment of its own, and runs this with its
program. A server is started on this machine with a new database. The script makes a project, tasks,
users and annotations, lets a project of this package put its disputed items back and answers them,
edits an annotation, deletes a task, and writes all answers to
`tests/sources/label_studio_answers.json`.
"""

import io
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from agreement_pipeline.orchestration import run_projects
from agreement_pipeline.projects import Project, ProjectSettings
from agreement_pipeline.sources import LabelStudio

ANSWERS = Path("tests/sources/label_studio_answers.json")
CONFIG = (
    '<View><Text name="text" value="$text"/><Choices name="label" toName="text">'
    '<Choice value="yes"/><Choice value="no"/></Choices></View>'
)
N_ITEMS = 60
START_SECONDS = 180


class Server:
    def __init__(self, url: str, token: str) -> None:
        self.url, self.token = url, token

    def ask(self, method: str, where: str, body: object = None) -> tuple[int, str]:
        content = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "Authorization": self.token}
        request = urllib.request.Request(self.url + where, content, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def make(self, method: str, where: str, body: object = None) -> Any:
        status, content = self.ask(method, where, body)
        if status >= 300:
            raise SystemExit(f"{method} {where}: {status} {content[:500]}")
        return json.loads(content) if content else None

    def record(self, project: int) -> dict[str, list[Any]]:
        """The answers to a look and to a snapshot, by method and path."""
        exports = f"/api/projects/{project}/exports/"
        options = {"annotations__completed_by": {"only_id": False}}
        answers: dict[str, list[Any]] = {}

        def keep(method: str, where: str, body: object = None) -> str:
            answers[f"{method} {where}"] = [*self.ask(method, where, body)]
            return str(answers[f"{method} {where}"][1])

        keep("GET", "/api/projects?page=1&page_size=100")
        keep("GET", f"/api/tasks?project={project}&ordering=-tasks:updated_at&page_size=1")
        snapshot = {"title": "agreement-pipeline", "serialization_options": options}
        place = f"{exports}{json.loads(keep('POST', exports, snapshot))['id']}"
        keep("GET", place)
        keep("GET", f"{place}/download?exportType=JSON")
        keep("DELETE", place)
        return answers


class RecordingOpener(urllib.request.OpenerDirector):
    """It asks the server, and notes each answer by method and path."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[str, list[Any]] = {}

    def open(self, request: Any, data: Any = None, timeout: float | None = None) -> Any:
        with urllib.request.urlopen(request, data, timeout) as answer:
            content = answer.read()
            asked = f"{request.get_method()} {request.selector}"
            self.answers[asked] = [answer.status, content.decode()]
        return io.BytesIO(content)


def record_adjudication(server: Server) -> dict[str, dict[str, list[Any]]]:
    """A round is released, its disputed items are put onto the server, and some are answered."""
    recorded: dict[str, dict[str, list[Any]]] = {}
    with tempfile.TemporaryDirectory() as root:
        settings = {
            "project": "reviews",
            "policy": "exploratory",
            "scale": {"categories": ["yes", "no"]},
            "root": root,
            "deliveries": "independent",
            "rounds_from": {
                "label_studio": {
                    "url": server.url,
                    "token_from": "LABEL_STUDIO_TOKEN",
                    "projects": "2026-W41",
                }
            },
            "adjudicate_in": {"label_studio": "adjudicate {round}"},
        }
        project = Project(ProjectSettings.model_validate(settings))
        opener = RecordingOpener()
        assert isinstance(project.source, LabelStudio)
        project.__dict__["source"] = replace(project.source, _opener=opener)
        run_projects([project])
        recorded["items pushed"] = opener.answers
        opener.answers = {}
        project.exchange_disputed()
        recorded["nothing answered"] = opener.answers
        tasks = server.make("GET", "/api/tasks?project=2&page_size=100")["tasks"]
        for task in tasks[1:]:
            server.make("POST", f"/api/tasks/{task['id']}/annotations/", {"result": choice("no")})
        opener.answers = {}
        project.exchange_disputed()
        recorded["items answered"] = opener.answers
    return recorded


def choice(value: str) -> list[dict[str, Any]]:
    named = {"from_name": "label", "to_name": "text", "type": "choices"}
    return [{**named, "value": {"choices": [value]}}]


@contextmanager
def running_server(program: str) -> Iterator[Server]:
    """A server with a new database, which asks nobody if there is a newer version of it."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        url, token = f"http://127.0.0.1:{port}", secrets.token_hex(20)
        settings = {
            "LABEL_STUDIO_BASE_DATA_DIR": folder,
            "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
            "LATEST_VERSION_CHECK": "false",
            "COLLECT_ANALYTICS": "false",
            "SENTRY_DSN": "",
        }
        account = ("--username", "admin@example.com", "--password", secrets.token_hex(8))
        place = ("--host", url, "--internal-host", "127.0.0.1", "--port", str(port))
        process = subprocess.Popen(
            [program, "start", "--no-browser", *place, *account, "--user-token", token],
            env={**os.environ, **settings},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.environ["LABEL_STUDIO_TOKEN"] = token
        try:
            server = Server(url, f"Token {token}")
            wait_for(server)
            yield server
        finally:
            process.terminate()
            process.wait()


def wait_for(server: Server) -> None:
    for _ in range(START_SECONDS):
        time.sleep(1)
        try:
            server.make("GET", "/health")
        except urllib.error.URLError:
            continue
        return
    raise SystemExit(f"{server.url}: found no answer after {START_SECONDS} s")


def main() -> None:
    with running_server(sys.argv[1]) as server:
        recorded = record(server)
    ANSWERS.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def record(server: Server) -> dict[str, dict[str, list[Any]]]:
    raters = [server.make("GET", "/api/current-user/whoami")["id"]]
    for name in ("ben", "chi"):
        user = {"email": f"{name}@example.com", "username": name, "password": f"{name} 12345678"}
        raters.append(server.make("POST", "/api/users/", user)["id"])
    wanted = {"title": "2026-W41", "label_config": CONFIG, "maximum_annotations": 3}
    project = server.make("POST", "/api/projects", wanted)["id"]
    tasks = [{"data": {"text": f"post {n}"}} for n in range(N_ITEMS)]
    made = server.make("POST", f"/api/projects/{project}/import?return_task_ids=true", tasks)
    recorded = {"unfinished": server.record(project)}
    annotations = []
    for n, task in enumerate(made["task_ids"]):
        for rater in raters:
            differs = rater == raters[-1] and n % 12 == 5
            said = "no" if (n % 3 > 0) is not differs else "yes"
            answer = {"result": choice(said), "completed_by": rater}
            where = f"/api/tasks/{task}/annotations/"
            annotation = server.make("POST", where, {**answer, "ground_truth": False})
            annotations.append(annotation["id"])
    recorded["finished"] = server.record(project)
    recorded |= record_adjudication(server)
    server.make("PATCH", f"/api/annotations/{annotations[0]}/", {"result": choice("no")})
    recorded["edited"] = server.record(project)
    server.make("DELETE", f"/api/tasks/{made['task_ids'][-1]}/")
    recorded["task deleted"] = server.record(project)
    stranger = Server(server.url, "Token of nobody")
    where = "/api/projects?page=1&page_size=100"
    recorded["no such token"] = {f"GET {where}": [*stranger.ask("GET", where)]}
    return recorded


if __name__ == "__main__":
    main()
