"""Record what a server of Label Studio answers to the requests of `sources/label_studio.py`.

Start a server on a new database, with legacy tokens allowed, and run
`LABEL_STUDIO_TOKEN=… python -m tools.record_label_studio http://127.0.0.1:8080`. It makes a
project, tasks, a user and annotations, edits one, deletes a task, and writes all answers to
`tests/sources/label_studio_answers.json`.
"""

import json
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

ANSWERS = Path("tests/sources/label_studio_answers.json")
CONFIG = (
    '<View><Text name="text" value="$text"/><Choices name="label" toName="text">'
    '<Choice value="yes"/><Choice value="no"/></Choices></View>'
)
N_ITEMS = 60


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


def choice(value: str) -> list[dict[str, Any]]:
    named = {"from_name": "label", "to_name": "text", "type": "choices"}
    return [{**named, "value": {"choices": [value]}}]


def main() -> None:
    server = Server(sys.argv[1].rstrip("/"), f"Token {os.environ['LABEL_STUDIO_TOKEN']}")
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
            answer = {"result": choice("no" if n % 3 else "yes"), "completed_by": rater}
            where = f"/api/tasks/{task}/annotations/"
            annotation = server.make("POST", where, {**answer, "ground_truth": False})
            annotations.append(annotation["id"])
    recorded["finished"] = server.record(project)
    server.make("PATCH", f"/api/annotations/{annotations[0]}/", {"result": choice("no")})
    recorded["edited"] = server.record(project)
    server.make("DELETE", f"/api/tasks/{made['task_ids'][-1]}/")
    recorded["task deleted"] = server.record(project)
    stranger = Server(server.url, "Token of nobody")
    where = "/api/projects?page=1&page_size=100"
    recorded["no such token"] = {f"GET {where}": [*stranger.ask("GET", where)]}
    ANSWERS.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
