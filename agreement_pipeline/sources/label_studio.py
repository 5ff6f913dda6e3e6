"""Rounds that lie in Label Studio: one project a round, or one project that `rounds` cuts.

A look asks for the projects, and of each for its newest task and how many there are: a time alone
does not tell that a task was deleted. A round is taken as a snapshot with all its annotations.
"""

import hashlib
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from agreement_pipeline.errors import AgreementError, ProjectError, RatingsError
from agreement_pipeline.readers import Export
from agreement_pipeline.text import counted, listed

T = TypeVar("T")
TIMEOUT_SECONDS = 60.0
SNAPSHOT_SECONDS = 600.0
SNAPSHOT_INTERVAL_SECONDS = 1.0
BYTES_PER_READ = 1 << 20
PROJECTS_PER_PAGE = 100
MAX_TITLE_LENGTH = 50
MAX_ANSWER_BYTES = 50_000_000
NEXT_STEPS = {
    401: "Make a new token in Label Studio, and put it into the variable.",
    403: "Give the user of the token access to the project.",
    404: "Correct the url, or look whether the project is still there.",
}


class ServerProject(NamedTuple):
    id: int
    title: str
    n_tasks: int
    n_finished: int

    @property
    def is_finished(self) -> bool:
        return 0 < self.n_tasks == self.n_finished


class _Contents(NamedTuple):
    """What a project holds. A time alone does not tell that a task was deleted, so the version has
    the counts too. It is empty if there are no tasks.
    """

    version: str
    n_tasks: int
    n_annotations: int


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Else the token would go wherever the server sends it."""

    def redirect_request(self, *_: Any) -> None:
        return None


@dataclass(frozen=True)
class LabelStudio:
    """The projects of a server whose titles match, as shells match names of files.

    `token_from` is the environment variable with the token, of either kind. If `is_whole`, one
    project has all rounds.
    """

    url: str
    token_from: str
    projects: str
    when: Literal["finished", "always"]
    raters: Literal["email", "id"]
    is_whole: bool
    _opener: urllib.request.OpenerDirector = field(
        default_factory=lambda: urllib.request.build_opener(_NoRedirect), repr=False, compare=False
    )

    ending = ".json"
    interval_seconds = 60

    def list_versions(self) -> dict[str, str]:
        token = self._access_token()
        versions: dict[str, str] = {}
        for title, project in self._projects_of_rounds(token).items():
            is_wanted = self.when == "always" or project.is_finished
            if is_wanted and (version := self._contents(token, project).version):
                versions["" if self.is_whole else title] = version
        return versions

    def write(self, round_name: str | None, path: Path) -> None:
        token = self._access_token()
        matching = self._projects_of_rounds(token)
        title = next(iter(matching), "") if round_name is None else round_name
        if title not in matching:
            raise RatingsError(
                f"{self.url}: found no project {title!r} among {listed(matching)}; expected it, "
                "since it is asked for. Look at the projects.",
                may_pass=True,
            )
        project = matching[title]
        contents = self._contents(token, project)
        self._write_snapshot(token, project, contents, path)
        if self._contents(self._access_token(), project) != contents:
            raise RatingsError(
                f"{self.url}, project {title!r}: found that it changed while it was taken; "
                "expected one that is at rest. It is taken again later.",
                may_pass=True,
            )

    def _projects_of_rounds(self, token: str) -> dict[str, ServerProject]:
        matching: dict[str, ServerProject] = {}
        for project in self._list_projects(token):
            if not fnmatchcase(project.title, self.projects):
                continue
            if project.title in matching or (self.is_whole and matching):
                problem = "more than one project" if self.is_whole else "two projects"
                raise ProjectError(
                    f"{self.url}: found {problem} {project.title!r}; expected one for each "
                    "round. Rename one in Label Studio, or correct projects."
                )
            matching[project.title] = project
        return matching

    def _list_projects(self, token: str) -> Iterator[ServerProject]:
        page, listed_ids = 1, set[int]()
        while True:
            path = f"/api/projects?page={page}&page_size={PROJECTS_PER_PAGE}"
            answer = self._request_json(token, "GET", path)
            projects = [self._project_of(result) for result in self._field(answer, "results", list)]
            # A project that is made meanwhile moves others onto the next page.
            new_projects = [project for project in projects if project.id not in listed_ids]
            yield from new_projects
            listed_ids |= {project.id for project in new_projects}
            if not answer.get("next"):
                return
            if not new_projects:
                raise self._unlike("a list of projects that does not end")
            page += 1

    def list_projects(self) -> tuple[ServerProject, ...]:
        """All projects of the server, those of rounds and others."""
        return tuple(self._list_projects(self._access_token()))

    def title_of(self, round_name: str) -> str:
        """The title of the project with the tasks of a round."""
        return self.projects if self.is_whole else round_name

    def push_tasks(
        self,
        project: ServerProject | None,
        title: str,
        description: str,
        like: ServerProject,
        tasks: Sequence[Mapping[str, object]],
    ) -> ServerProject:
        """Put tasks into a project that asks what the project `like` asks. None: it is made."""
        if len(title) > MAX_TITLE_LENGTH:
            raise ProjectError(
                f"adjudicate_in: found the title {title!r} of {len(title)} characters; expected "
                f"{MAX_TITLE_LENGTH} at most, as Label Studio takes. Shorten the title."
            )
        if fnmatchcase(title, self.projects):
            raise ProjectError(
                f"adjudicate_in: found the title {title!r}, which rounds_from.projects "
                f"({self.projects}) matches; expected another, since answers of adjudicators are "
                "no round. Correct the title."
            )
        token = self._access_token()
        if project is None:
            source = self._request_json(token, "GET", f"/api/projects/{like.id}")
            settings = {
                "title": title,
                "description": description,
                "label_config": self._field(source, "label_config", str),
                "maximum_annotations": 1,
            }
            project = self._project_of(self._request_json(token, "POST", "/api/projects", settings))
        self._request_json(token, "POST", f"/api/projects/{project.id}/import", tasks)
        return project

    def page_of(self, project: ServerProject) -> str:
        return f"{self.url.rstrip('/')}/projects/{project.id}/data"

    def answers_version(self, project: ServerProject) -> str:
        """What changes with the answers in a project. Empty while it has none."""
        contents = self._contents(self._access_token(), project)
        return contents.version if contents.n_annotations else ""

    def write_answers(self, project: ServerProject, path: Path) -> None:
        token = self._access_token()
        self._write_snapshot(token, project, self._contents(token, project), path)

    def _contents(self, token: str, project: ServerProject) -> "_Contents":
        place = f"/api/tasks?project={project.id}&ordering=-tasks:updated_at&page_size=1"
        answer = self._request_json(token, "GET", place)
        if not (tasks := self._field(answer, "tasks", list)):
            return _Contents("", 0, 0)
        updated_at = self._field(tasks[0], "updated_at", str)
        counts = [self._field(answer, name, int) for name in ("total", "total_annotations")]
        return _Contents(" ".join(map(str, (project.id, updated_at, *counts))), *counts)

    def _write_snapshot(
        self, token: str, project: ServerProject, contents: "_Contents", path: Path
    ) -> None:
        exports = f"/api/projects/{project.id}/exports/"
        options = {"annotations__completed_by": {"only_id": self.raters == "id"}}
        request_body = {"title": "agreement-pipeline", "serialization_options": options}
        # The community edition answers when the snapshot is complete, not when it is begun.
        snapshot = self._request_json(
            token, "POST", exports, request_body, timeout_seconds=SNAPSHOT_SECONDS
        )
        place = f"{exports}{self._field(snapshot, 'id', int)}"
        try:
            patience = time.monotonic() + SNAPSHOT_SECONDS
            while (status := self._field(snapshot, "status", str)) in ("created", "in_progress"):
                if time.monotonic() > patience:
                    raise self._broken_answer_error(
                        project, "a snapshot that is not ready", may_pass=True
                    )
                time.sleep(SNAPSHOT_INTERVAL_SECONDS)
                snapshot = self._request_json(token, "GET", place)
            if status != "completed":
                raise self._broken_answer_error(
                    project, f"a snapshot that is {status}", may_pass=True
                )
            digest = hashlib.md5(usedforsecurity=False)
            with (
                self._open_answer(token, "GET", f"{place}/download?exportType=JSON") as answer,
                path.open("wb") as file,
            ):
                while part := answer.read(BYTES_PER_READ):
                    digest.update(part)
                    file.write(part)
            if digest.hexdigest() != self._field(snapshot, "md5", str):
                raise self._broken_answer_error(
                    project, "half a snapshot (its MD5 differs)", may_pass=True
                )
            self._require_whole(project, contents, path)
        finally:
            # What is left on the server is no reason to refuse what was taken.
            with suppress(AgreementError), self._open_answer(token, "DELETE", place):
                pass

    def _require_whole(self, project: ServerProject, contents: "_Contents", path: Path) -> None:
        """What a snapshot leaves out would not be judged, and nothing in the file would tell.

        The server counts no annotations of those who skipped the task.
        """
        n_tasks = n_annotations = 0
        for _, task in Export(path).records() if contents.n_tasks else ():
            n_tasks += 1
            annotations = task.get("annotations")
            n_annotations += sum(
                isinstance(annotation, Mapping) and annotation.get("was_cancelled") is not True
                for annotation in (annotations if isinstance(annotations, list) else ())
            )
        for n, n_expected, noun in (
            (n_tasks, contents.n_tasks, "task"),
            (n_annotations, contents.n_annotations, "annotation"),
        ):
            if n < n_expected:
                problem = f"a snapshot of {counted(n, noun)}, and {n_expected:,} on the server"
                raise self._broken_answer_error(project, problem, may_pass=True)

    def _broken_answer_error(
        self, project: ServerProject, problem: str, *, may_pass: bool
    ) -> RatingsError:
        return RatingsError(
            f"{self.url}, project {project.title!r}: found {problem}; expected a whole one. "
            "It is taken again later.",
            may_pass=may_pass,
        )

    def _access_token(self) -> str:
        """What stands in the header. A personal token is exchanged for one of five minutes."""
        token = os.environ.get(self.token_from, "").strip()
        if not token or not (token.isascii() and token.isprintable()):
            raise ProjectError(
                f"token_from: {self.token_from}: found {'no token' if not token else 'no text'}; "
                "expected an environment variable with a token of Label Studio. Set the variable."
            )
        if token.count(".") != 2:
            return f"Token {token}"
        answer = self._request_json("", "POST", "/api/token/refresh/", {"refresh": token})
        return f"Bearer {self._field(answer, 'access', str)}"

    def _request_json(
        self,
        token: str,
        method: str,
        path: str,
        body: object = None,
        timeout_seconds: float | None = None,
    ) -> Any:
        with self._open_answer(token, method, path, body, timeout_seconds) as answer:
            content = answer.read(MAX_ANSWER_BYTES)
        try:
            return json.loads(content)
        except ValueError:
            pass
        raise self._unlike("an answer that is no JSON")

    def _field(self, answer: Any, name: str, kind: type[T]) -> T:
        value = answer.get(name) if isinstance(answer, dict) else None
        if isinstance(value, kind) and not isinstance(value, bool):
            return value
        raise self._unlike(f"an answer without {name}")

    def _project_of(self, answer: Any) -> ServerProject:
        """A project that a program made may have no title, and nothing counted yet."""
        defaults = {"title": "", "task_number": 0, "finished_task_number": 0}
        present = answer.items() if isinstance(answer, dict) else ()
        fields = defaults | {name: value for name, value in present if value is not None}
        counts = (
            self._field(fields, name, int) for name in ("task_number", "finished_task_number")
        )
        return ServerProject(
            self._field(fields, "id", int), self._field(fields, "title", str), *counts
        )

    def _unlike(self, problem: str) -> ProjectError:
        return ProjectError(
            f"{self.url}: found {problem}; expected one of Label Studio. Correct the url.",
            may_pass=True,
        )

    @contextmanager
    def _open_answer(
        self,
        token: str,
        method: str,
        path: str,
        body: object = None,
        timeout_seconds: float | None = None,
    ) -> Iterator[HTTPResponse]:
        """Errors come without their cause, which can hold the token."""
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if token:
            headers["Authorization"] = token
        content = None if body is None else json.dumps(body).encode()
        url = self.url.rstrip("/") + path
        request = urllib.request.Request(url, content, headers, method=method)
        status, reason, answer = 0, "", None
        try:
            answer = self._opener.open(request, timeout=timeout_seconds or TIMEOUT_SECONDS)
            yield answer
        except urllib.error.HTTPError as error:
            status = error.code
            error.close()
        except (OSError, HTTPException) as error:
            reason = " ".join(str(error).split()) or type(error).__name__
        finally:
            if answer is not None:
                answer.close()
        if status or reason:
            raise self._refused_error(status, reason)

    def _refused_error(self, status: int, reason: str) -> AgreementError:
        may_pass = status in (0, 408, 429) or status >= 500
        next_step = "It is asked again later." if may_pass else "Look at the url and the token."
        if 300 <= status < 400:
            next_step = "Write the url to which the server sends, with https."
        problem = f"status {status}" if status else f"no answer ({reason})"
        return ProjectError(
            f"{self.url}: found {problem}; expected an answer of Label Studio. "
            f"{NEXT_STEPS.get(status, next_step)}",
            may_pass=may_pass,
        )
