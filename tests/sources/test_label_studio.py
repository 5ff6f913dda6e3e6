"""Rounds of Label Studio, from a server on this machine that gives recorded answers.

`tools/record_label_studio.py` wrote the answers of a real server (1.23.2).
"""

import hashlib
import json
import threading
import traceback
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import dagster as dg
import pandas as pd
import pytest
from pydantic import ValidationError

from agreement_pipeline.cli import main
from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.evidence import admitted_rounds
from agreement_pipeline.orchestration import project_definitions, run_projects
from agreement_pipeline.projects import Project, ProjectSettings
from agreement_pipeline.release import judge_round
from agreement_pipeline.sources.label_studio import LabelStudio

ANSWERS = json.loads(Path(__file__).with_name("label_studio_answers.json").read_text())
TOKEN = "t0ken-that-nobody-may-see"
JSON_WEB_TOKEN = "eyJh.eyJi.c2ln"
VARIABLE = "TEST_LABEL_STUDIO_TOKEN"
TITLE = "adjudicate {round}"


class Server(ThreadingHTTPServer):
    """It answers as the real server did in a phase, the last of several, or as `broken` says."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.phase, self.broken, self.asked = "finished", {}, []
        self.url = f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    def answer(self):
        server = self.server
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        asked = f"{self.command} {self.path}"
        server.asked.append((asked, self.headers.get("Authorization"), body))
        if asked == "POST /api/token/refresh/":
            is_known = json.loads(body) == {"refresh": JSON_WEB_TOKEN}
            status, content = (200, '{"access": "short"}') if is_known else (401, "{}")
        elif self.headers.get("Authorization") not in (f"Token {TOKEN}", "Bearer short"):
            status, content = next(iter(ANSWERS["no such token"].values()))
        else:
            phases = [server.phase] if isinstance(server.phase, str) else server.phase
            answers = {key: answer for phase in phases for key, answer in ANSWERS[phase].items()}
            status, content = answers.get(asked, (404, '{"detail": "Not found."}'))
            for part, answer in server.broken.items():
                if part in asked:
                    status, content = answer(content)
        data = content.encode()
        self.send_response(status)
        if 300 <= status < 400:
            self.send_header("Location", content)
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_DELETE = answer  # noqa: N815

    def log_message(self, *_):
        """The tests read what was asked in a list."""


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv(VARIABLE, TOKEN)
    running = Server()
    thread = threading.Thread(target=running.serve_forever)
    thread.start()
    yield running
    running.shutdown()
    thread.join()
    running.server_close()


def source(server, **changes):
    settings = {
        "url": server.url,
        "token_from": VARIABLE,
        "projects": "2026-W41",
        "when": "finished",
        "raters": "email",
        "is_whole": False,
    }
    return LabelStudio(**{**settings, **changes})


def project_of(root, server, **changes):
    label_studio = {"url": server.url, "token_from": VARIABLE, "projects": "2026-W41"}
    settings = {
        "project": "reviews",
        "policy": "exploratory",
        "scale": {"categories": ["yes", "no"]},
        "root": str(root),
        "deliveries": "independent",
        "rounds_from": {"label_studio": label_studio},
    }
    return Project(ProjectSettings(**{**settings, **changes}))


def test_finished_project_is_a_round(server):
    server.phase = "unfinished"
    assert source(server).list_versions() == {}
    assert list(source(server, when="always").list_versions()) == ["2026-W41"]
    server.phase = "finished"
    assert list(source(server).list_versions()) == ["2026-W41"]
    assert source(server, projects="2025-*").list_versions() == {}


def test_version_changes_with_an_edit_and_with_a_deleted_task(server):
    versions = []
    for phase in ("finished", "edited", "task deleted"):
        server.phase = phase
        versions.append(source(server, when="always").list_versions()["2026-W41"])
    assert len(set(versions)) == 3


def test_look_asks_for_the_projects_and_once_for_each_that_matches(server):
    source(server).list_versions()
    assert [asked.partition("?")[0] for asked, *_ in server.asked] == [
        "GET /api/projects",
        "GET /api/tasks",
    ]


def test_both_kinds_of_tokens_are_taken(server, monkeypatch):
    before = source(server).list_versions()
    monkeypatch.setenv(VARIABLE, JSON_WEB_TOKEN)
    assert source(server).list_versions() == before
    assert server.asked[-1][1] == "Bearer short"


def test_snapshot_is_kept_as_it_came_and_deleted_on_the_server(server, tmp_path):
    path = tmp_path / "round.json"
    source(server).write("2026-W41", path)
    (content,) = [
        answer for asked, (_, answer) in ANSWERS["finished"].items() if "download" in asked
    ]
    assert path.read_text() == content
    (body,) = [body for asked, _, body in server.asked if asked.startswith("POST")]
    options = json.loads(body)["serialization_options"]
    assert options == {"annotations__completed_by": {"only_id": False}}
    assert [asked for asked, *_ in server.asked if asked.startswith("DELETE")] != []


def test_round_is_read_with_raters_by_their_e_mail(server, tmp_path):
    project = project_of(tmp_path, server)
    assert project.pull().pulled == ("2026-W41",)
    _, ratings = project.delivered("2026-W41")
    rows = ratings.to_pandas()
    assert set(rows["rater"]) == {"admin@example.com", "ben@example.com", "chi@example.com"}
    assert len(rows) == 180
    assert set(rows["label"]) == {"yes", "no"}
    assert project.pull().pulled == ()
    server.phase = "edited"
    assert project.pull().pulled == ("2026-W41",)
    _, edited = project.delivered("2026-W41")
    assert edited.digest != ratings.digest


@pytest.mark.parametrize(
    ("part", "answer", "words", "may_pass"),
    [
        ("/api/projects", lambda _: (404, "{}"), "status 404", False),
        ("/api/projects", lambda _: (403, "{}"), "status 403", False),
        ("/api/projects", lambda _: (429, "{}"), "status 429", True),
        ("/api/tasks", lambda _: (500, "<html>"), "status 500", True),
        ("/exports", lambda _: (503, ""), "status 503", True),
        ("/api/projects", lambda _: (200, "<html>"), "no JSON", True),
        ("/download", lambda content: (200, content[:1000]), "half a snapshot", True),
        ("POST", lambda content: (201, content.replace("completed", "failed")), "failed", True),
        ("/api/projects?", lambda _: (200, "[]"), "an answer without results", True),
        ("/api/projects?", lambda _: (200, '{"results": [{"title": "2026-W41"}]}'), "id", True),
        ("/api/tasks", lambda _: (200, '{"tasks": [{}], "total": 1}'), "updated_at", True),
        ("POST", lambda _: (201, '{"id": "../../1"}'), "an answer without id", True),
    ],
)
def test_broken_answer_is_one_clear_error(server, tmp_path, part, answer, words, may_pass):
    server.broken[part] = answer
    project = project_of(tmp_path, server)
    with pytest.raises((ProjectError, RatingsError), match=words) as caught:
        project.pull_round("2026-W41")
    assert caught.value.may_pass is may_pass
    assert str(caught.value).startswith(server.url)
    assert "expected" in str(caught.value)
    assert list(project.inbox.iterdir()) == []


def skip(tasks, place):
    """Somebody skipped each task: in the place of an annotation, or beside all three."""
    skipped = {"id": 999, "completed_by": {"id": 9, "email": "dan@example.com"}, "result": []}
    skipped |= {"was_cancelled": True, "ground_truth": False, "created_at": "2026-11-29T01:28:00Z"}
    return [
        {
            **task,
            "annotations": [
                *task["annotations"][:place],
                {**skipped, "id": 1000 + n},
                *task["annotations"][place + 1 :],
            ],
        }
        for n, task in enumerate(tasks)
    ]


@pytest.mark.parametrize(
    ("shorten", "words"),
    [
        (lambda tasks: tasks[:40], "a snapshot of 40 tasks, and 60 on the server"),
        (
            lambda tasks: [{**task, "annotations": task["annotations"][1:]} for task in tasks],
            "a snapshot of 120 annotations, and 180 on the server",
        ),
        (lambda tasks: skip(tasks, 0), "a snapshot of 120 annotations, and 180 on the server"),
        (lambda tasks: skip(tasks, 3), None),
        (lambda tasks: tasks, None),
    ],
)
def test_snapshot_that_leaves_something_out_is_not_taken(server, tmp_path, shorten, words):
    """Its MD5 is right, so nothing but the numbers of the server tells."""

    whole = next(
        content for asked, (_, content) in ANSWERS["finished"].items() if "download" in asked
    )
    shorter = json.dumps(shorten(json.loads(whole)))
    md5 = hashlib.md5(shorter.encode()).hexdigest()

    def answer(content):
        if '"md5"' in content:
            return 200, json.dumps({**json.loads(content), "md5": md5})
        return 200, shorter

    server.broken["/exports/"] = answer
    project = project_of(tmp_path, server)
    if words is None:
        assert project.pull().pulled == ("2026-W41",)
        return
    assert words in project.pull().failed["2026-W41"]
    assert list(project.inbox.iterdir()) == []


def test_project_without_a_title_or_listed_on_two_pages_holds_up_no_other(server):
    untitled, pages = {"id": 99, "title": None, "task_number": None}, ["", "page 2"]

    def list_projects(content):
        results = [*json.loads(content)["results"], untitled]
        return 200, json.dumps({"results": results, "next": pages.pop()})

    recorded = ANSWERS["finished"]["GET /api/projects?page=1&page_size=100"][1]
    server.broken["page=2"] = lambda _: (200, recorded)
    server.broken["/api/projects?"] = list_projects
    assert list(source(server).list_versions()) == ["2026-W41"]
    server.broken["/api/projects?"] = lambda _: (200, '{"results": [], "next": "page 2"}')
    with pytest.raises(ProjectError, match="a list of projects that does not end"):
        source(server).list_versions()


def test_token_that_ended_is_said_so(server, monkeypatch):
    monkeypatch.setenv(VARIABLE, "t0ken-of-yesterday")
    with pytest.raises(ProjectError, match=r"status 401; .*Make a new token") as caught:
        source(server).list_versions()
    shown = "".join(traceback.format_exception(caught.value))
    assert "t0ken" not in shown
    monkeypatch.delenv(VARIABLE)
    with pytest.raises(ProjectError, match=f"token_from: {VARIABLE}: found no token"):
        source(server).list_versions()


def test_server_that_does_not_answer_is_asked_again_later(server, monkeypatch):
    monkeypatch.setattr("agreement_pipeline.sources.label_studio.TIMEOUT_SECONDS", 0.2)
    waits = threading.Event()

    def answer_late(content):
        waits.wait(2)
        return 200, content

    server.broken["/api/projects"] = answer_late
    with pytest.raises(ProjectError, match="no answer") as caught:
        source(server).list_versions()
    waits.set()
    assert caught.value.may_pass
    with pytest.raises(ProjectError, match="no answer"):
        source(server, url="http://127.0.0.1:9").list_versions()


def test_token_goes_nowhere_that_the_server_sends_it(server):
    elsewhere = Server()
    server.broken["/api/projects"] = lambda _: (302, f"{elsewhere.url}/api/projects")
    with pytest.raises(ProjectError, match="status 302"):
        source(server).list_versions()
    elsewhere.server_close()
    assert elsewhere.asked == []


def test_project_that_changes_while_it_is_taken_is_not_kept(server, tmp_path):
    def change(content):
        server.phase = "edited"
        return 200, content

    server.broken["/download"] = change
    project = project_of(tmp_path, server)
    with pytest.raises(RatingsError, match="changed while it was taken") as caught:
        project.pull_round("2026-W41")
    assert caught.value.may_pass
    assert list(project.inbox.iterdir()) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"url": "ftp://x"},
        {"url": "https://me:s3cret@x"},
        {"token_from": "s3cret-token"},
        {"when": "now"},
        {"rater": "id"},
    ],
)
def test_wrong_settings_are_refused_and_secrets_not_repeated(changes):
    wanted = {"url": "https://x", "token_from": "T", "projects": "*"}
    with pytest.raises(ValidationError) as caught:
        ProjectSettings(
            project="p",
            policy="standard",
            scale={"categories": ["a", "b"]},
            rounds_from={"label_studio": {**wanted, **changes}},
        )
    messages = [error["msg"] for error in caught.value.errors()]
    assert not any("s3cret" in message for message in messages)


@pytest.mark.slow
@pytest.mark.usefixtures("known_keys")
def test_sensor_asks_for_a_finished_project_once_and_no_secret_is_kept(
    server, tmp_path, capfd, instance
):
    project = project_of(tmp_path, server)
    definitions = project_definitions(project.settings)
    sensor = definitions.resolve_sensor_def("reviews_new_rounds")
    assert sensor.minimum_interval_seconds == 60

    def tick():
        context = dg.build_sensor_context(instance, definitions=definitions)
        return list(getattr(sensor(context), "run_requests", None) or [])

    (request,) = tick()
    instance.add_dynamic_partitions("reviews_rounds", [request.partition_key])
    result = definitions.resolve_job_def("reviews_round").execute_in_process(
        instance=instance,
        partition_key=request.partition_key,
        tags=request.tags,
        asset_selection=[
            dg.AssetKey(["reviews", name]) for name in ("annotations", "acceptability")
        ],
        raise_on_error=False,
    )
    assert project.store.rounds() == ("2026-W41",), result
    assert tick() == []
    printed = "".join(capfd.readouterr())
    kept = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert TOKEN not in printed
    assert not any(TOKEN.encode() in content for content in kept)


def test_pull_of_a_project_file(server, tmp_path, capsys):
    (tmp_path / "configs/projects").mkdir(parents=True)
    path = tmp_path / "configs/projects/reviews.yaml"
    path.write_text(
        "project: reviews\nscale: {categories: [yes_, no_]}\npolicy: standard\nrounds_from:\n"
        f"  label_studio: {{url: '{server.url}', token_from: {VARIABLE}, projects: 2026-W41}}\n"
    )
    assert main(["pull", str(path)]) == 0
    assert "1 delivery of 1 taken: 2026-W41" in capsys.readouterr().out
    server.phase = "edited"
    server.broken["/download"] = lambda content: (200, content[:10])
    assert main(["pull", str(path)]) == 2
    assert "error: 2026-W41: " in capsys.readouterr().err


def test_one_project_is_cut_into_rounds_by_a_field_of_its_tasks(server, tmp_path):
    project = project_of(tmp_path, server, rounds={"column": "task"})
    assert project.source.list_versions().keys() == {""}
    assert project.pull().pulled == ("reviews",)
    seen = project.look()
    assert seen.refused == {}
    assert len(seen.deliveries) == 60
    _, ratings = project.delivered(next(iter(seen.deliveries)))
    assert len(ratings) == 3
    server.phase = "edited"
    several = source(server, projects="*2026-*", is_whole=True)
    with pytest.raises(ProjectError, match="more than one project"):
        several.list_versions()


def adjudicated_project(root, server, **changes):
    return project_of(root, server, **{"adjudicate_in": {"label_studio": TITLE}, **changes})


def asked_of(server, part):
    return [asked for asked, *_ in server.asked if part in asked]


@pytest.mark.slow
def test_disputed_items_go_to_the_server_once_and_their_answers_train(server, tmp_path):
    server.phase = ["finished", "items pushed"]
    project = adjudicated_project(tmp_path, server)
    (run,) = run_projects([project])
    assert (run.new, run.unreleased) == (("2026-W41",), {})
    (pushed,) = [body for asked, _, body in server.asked if "/import" in asked]
    tasks = [task["data"] for task in json.loads(pushed)]
    ratings = project.store.ratings("2026-W41")
    labels = ratings.to_pandas().groupby("item", observed=True)["label"].nunique()
    assert {task["item"] for task in tasks} == {*labels.index[labels > 1]}
    assert {task["ratings_digest"] for task in tasks} == {ratings.digest}
    # The real server numbered tasks from 1 and posts from 0.
    assert all(task["text"] == f"post {int(task['item']) - 1}" for task in tasks)

    server.phase, server.asked = ["finished", "nothing answered"], []
    state = project.exchange_disputed().rounds["2026-W41"]
    assert (state.n_items, state.n_answered, state.is_changed) == (len(tasks), 0, False)
    assert asked_of(server, "POST") == []

    server.phase, server.asked = ["finished", "items answered"], []
    (again,) = run_projects([project])
    assert (again.new, again.unreleased) == ((), {})
    assert asked_of(server, "/import") == []
    rows = pd.read_parquet(_release_in_force(project) / "data")
    answered = rows[rows["resolution"] == "adjudicated"]
    assert {*answered["id"]} < {task["item"] for task in tasks}
    assert len(answered) == len(tasks) - 1
    assert {*answered["label"]} == {"no"}

    server.asked = []
    (last,) = run_projects([adjudicated_project(tmp_path, server)])
    assert last.unreleased == {}
    assert asked_of(server, "exports") == []


def _release_in_force(project):
    (entry,) = project.store.in_force("2026-W41")[-1:]
    return project.store.root / "releases" / entry["release"]


@pytest.mark.slow
def test_answers_come_home_by_the_sensor_and_release_the_round_again(server, tmp_path, instance):
    server.phase = ["finished", "items pushed"]
    project = adjudicated_project(tmp_path, server)
    run_projects([project])
    server.phase = ["finished", "items answered"]
    definitions = project_definitions(project.settings)
    sensor = definitions.resolve_sensor_def("reviews_adjudicated")
    ticked = sensor(dg.build_sensor_context(instance, definitions=definitions))
    assert [request.partition_key for request in ticked.run_requests] == ["2026-W41"]
    (event,) = ticked.asset_events
    assert event.asset_key == dg.AssetKey(["reviews", "disputed_items"])
    assert event.metadata["items_on_server"].value == 5
    assert event.metadata["items_answered"].value == 4
    assert event.metadata["adjudicated_in"].value == f"{server.url}/projects/2/data"


@pytest.mark.parametrize(
    ("part", "answer", "words"),
    [
        ("/import", lambda _: (500, ""), "status 500"),
        ("GET /api/projects/1", lambda _: (403, "{}"), "status 403"),
    ],
)
def test_items_that_cannot_be_pushed_are_pushed_later(server, tmp_path, part, answer, words):
    server.phase = ["finished", "items pushed"]
    project = _judged(tmp_path, server)
    server.broken[part] = answer
    exchange = project.exchange_disputed()
    assert exchange.rounds == {}
    assert words in exchange.failed["2026-W41"]
    server.broken.clear()
    assert project.exchange_disputed().rounds["2026-W41"].is_changed


def test_project_made_before_the_server_died_is_filled(server, tmp_path):
    server.phase = ["finished", "items pushed"]
    project = _judged(tmp_path, server)
    _, listing = ANSWERS["nothing answered"]["GET /api/projects?page=1&page_size=100"]
    without_tasks = json.loads(listing)
    for each in without_tasks["results"]:
        each["task_number"] = 0 if each["id"] == 2 else each["task_number"]
    server.broken["page_size=100"] = lambda _: (200, json.dumps(without_tasks))
    server.asked = []
    assert project.exchange_disputed().rounds["2026-W41"].is_changed
    assert asked_of(server, "POST") == ["POST /api/projects/2/import"]


def test_answers_that_were_deleted_on_the_server_train_no_longer(server, tmp_path):
    server.phase = ["finished", "items answered"]
    project = _judged(tmp_path, server)
    project.exchange_disputed()
    assert len(project.adjudicated(["2026-W41"])["2026-W41"].labels) == 4
    server.phase = ["finished", "nothing answered"]
    assert project.exchange_disputed().rounds["2026-W41"].is_changed
    assert project.adjudicated(["2026-W41"]) == {}
    assert not project.exchange_disputed().rounds["2026-W41"].is_changed


def test_half_an_export_of_answers_is_not_taken(server, tmp_path):
    server.phase = ["finished", "items answered"]
    project = _judged(tmp_path, server)
    server.broken["/download"] = lambda content: (200, content[:500])
    assert "half a snapshot" in project.exchange_disputed().failed["2026-W41"]
    assert project.adjudicated(["2026-W41"]) == {}
    server.broken.clear()
    assert project.exchange_disputed().rounds["2026-W41"].is_changed
    assert len(project.adjudicated(["2026-W41"])["2026-W41"].labels) == 4


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("2026-W{round}", None),
        ("{round} " + "x" * 60, "50 at most"),
    ],
)
def test_title_that_the_server_or_the_rounds_cannot_have_is_refused(server, tmp_path, title, words):
    server.phase = ["finished", "items pushed"]
    label_studio = {"url": server.url, "token_from": VARIABLE, "projects": "2026-W*"}
    project = _judged(
        tmp_path,
        server,
        adjudicate_in={"label_studio": title},
        rounds_from={"label_studio": label_studio},
    )
    failed = project.exchange_disputed().failed["2026-W41"]
    assert (words or "are no round") in failed
    assert asked_of(server, "/import") == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"adjudicate_in": {"label_studio": "adjudicate"}}, r"with \{round\} once in it"),
        ({"adjudicated": "answers"}, "beside adjudicated"),
        ({"rounds_from": None, "inbox": "inbox"}, "without rounds_from.label_studio"),
    ],
)
def test_adjudicate_in_must_fit_the_project(server, tmp_path, changes, words):
    with pytest.raises(ValidationError, match=words):
        adjudicated_project(tmp_path, server, **changes)


def _judged(root, server, **changes):
    """A project whose round is admitted, and whose disputed items nobody has seen."""
    project = adjudicated_project(root, server, **changes)
    project.pull()
    delivery, ratings = project.delivered("2026-W41")
    project.keep(delivery, ratings)
    judge_round(project.store, "2026-W41", on=date(2026, 11, 29), **project.terms)
    assert admitted_rounds(project.store) == ("2026-W41",)
    return project
