"""Messages to a webhook, against a real HTTP server: each once, none lost, no secret told."""

import json
import logging
import threading
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import dagster as dg
import pandas as pd
import pytest

from agreement_pipeline.errors import ProjectError, StoreError
from agreement_pipeline.orchestration import alerts
from agreement_pipeline.orchestration.alerts import (
    EVERY_SECONDS,
    LONGEST_WAIT,
    AlertCursor,
    NotPostedError,
    checked_url,
    post,
)
from agreement_pipeline.orchestration.sensors import LookBegunLateError, RoundCursor, tags_of
from agreement_pipeline.projects import ProjectSettings
from agreement_pipeline.projects.notices import (
    MAX_TEXT_LENGTH,
    SECONDS_PER_DAY,
    Notice,
    build_overdue_notice,
)
from agreement_pipeline.store import Store, log
from tests.events import record
from tests.orchestration.checks import GOOD
from tests.orchestration.conftest import POLICY

VARIABLE, SECRET = "REVIEWS_WEBHOOK", "T0K3N-of-the-team"


class Webhook(ThreadingHTTPServer):
    """A server that keeps what it was sent. It answers with `status`, if it is not None."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.got, self.status = [], 200
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/services/{SECRET}"

    @property
    def texts(self) -> list[str]:
        return [body["text"] for _, body in self.got]


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.server.status is None:
            self.connection.close()
            return
        if self.server.status == 200:
            self.server.got.append((self.path, body))
        self.send_response(self.server.status)
        self.send_header("Location", f"/other/{SECRET}")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def webhook(monkeypatch):
    with Webhook() as server:
        monkeypatch.setenv(VARIABLE, server.url)
        yield server
        server.shutdown()


@pytest.fixture
def told(make_line):
    return make_line(alerts_url_from=VARIABLE)


class Daemon:
    """Ticks of the sensor. A restart keeps the cursor alone, as Dagster's storage does."""

    def __init__(self, line) -> None:
        self.line, self.cursor, self.said = line, None, []
        self.restart()

    def restart(self) -> None:
        self.sensor = self.line.definitions.resolve_sensor_def("reviews_alerts")

    def tick(self) -> str:
        with dg.build_sensor_context(instance=self.line.instance, cursor=self.cursor) as context:
            found = self.sensor(context)
            self.cursor = context.cursor
        assert isinstance(found, dg.SkipReason)
        self.said.append(found.skip_message)
        return found.skip_message


def hold(line, name: str, why: str = "krippendorff_alpha 0.500", **facts: object) -> None:
    said = {"reasons": [why], "codes": ["unreliable"], "policy": POLICY, **facts}
    record(line.project.store, "decided", name, **said)


def test_thirty_rounds_with_five_refused_are_five_messages_though_the_server_was_down(
    told, webhook, monkeypatch, caplog
):
    """The server is down for a while, and the daemon is started again between the ticks."""
    caplog.set_level(logging.DEBUG)
    clock = [time.time()]
    monkeypatch.setattr(alerts.time, "time", lambda: clock[0])
    daemon, refused = Daemon(told), [3, 9, 10, 17, 29]
    for number in range(30):
        if number in refused:
            hold(told, f"w{number:02}")
        else:
            record(told.project.store, "decided", f"w{number:02}", decision="admitted")
        webhook.status = (503, None)[number % 2] if 8 <= number < 20 else 200
        clock[0] += EVERY_SECONDS
        daemon.tick()
        if number % 4 == 0:
            daemon.restart()
    for _ in range(10):
        clock[0] += LONGEST_WAIT
        daemon.tick()
        daemon.restart()
    assert [text.split(" is ")[0] for text in webhook.texts] == [
        f"reviews: round w{number:02}" for number in refused
    ]
    assert any("the server answered 503" in each for each in daemon.said)
    assert any("no answer (" in each for each in daemon.said)
    kept = " ".join([*daemon.said, daemon.cursor, caplog.text])
    assert SECRET not in kept
    assert "/services" not in kept


def test_a_message_has_the_round_and_why_in_both_forms(told, webhook):
    hold(told, "w1", "raters <!channel> & co <http://x|here>")
    Daemon(told).tick()
    told.settings = told.settings.model_copy(update={"alerts_form": "slack"})
    Daemon(told).tick()
    (path, plain), (_, slack) = webhook.got
    why = "raters <!channel> & co <http://x|here>"
    steps = "agreement-pipeline report configs/projects/reviews.yaml w1"
    assert path == f"/services/{SECRET}"
    assert plain == {
        "project": "reviews",
        "round": "w1",
        "what": "held",
        "why": [why],
        "who_differs": "",
        "what_to_do": steps,
        "release_withdrawn": False,
        "text": f"reviews: round w1 is held: {why}. What to do now: {steps}",
    }
    assert slack == {
        "text": "reviews: round w1 is held: raters &lt;!channel&gt; &amp; co "
        f"&lt;http://x|here&gt;. What to do now: {steps}"
    }


def test_a_message_leads_to_the_page_of_a_round_that_is_served(told, webhook):
    pages = {"pages": "pages", "pages_url": "https://pages.example/reviews/"}
    told.settings = told.settings.model_copy(update=pages)
    hold(told, "w1", "x" * 3000)
    Daemon(told).tick()
    ((_, plain),) = webhook.got
    assert plain["text"].endswith("x…. What to do now: https://pages.example/reviews/w1.html")
    assert len(plain["text"]) == 2000


def test_the_team_hears_again_if_the_round_changes_and_not_if_it_is_judged_again(told, webhook):
    daemon = Daemon(told)
    for facts in ({}, {"code_version": "9"}, {"ratings_digest": "z"}, {"decision": "admitted"}):
        hold(told, "w1", **facts)
        daemon.tick()
    hold(told, "w1", ratings_digest="z")
    record(told.project.store, "withdrawn", "w1", reasons=["worse"])
    daemon.tick()
    assert [body["release_withdrawn"] for _, body in webhook.got] == [False, False, True]


def of_one_who_differs(name: str) -> pd.DataFrame:
    """A round in which one of four raters differs from the rest."""
    alike = [f"i{item:03}" for item in range(120)]
    rows = [
        (item, rater, ("safe", "hateful")[(place + (rater == name) * (place % 3)) % 2])
        for place, item in enumerate(alike)
        for rater in ("ana", "ben", "cyd", "dan")
    ]
    return pd.DataFrame(rows, columns=["item", "rater", "label"])


def test_a_message_says_who_differs_under_pseudonyms(told, webhook):
    told.deliver("w1", of_one_who_differs("dan"))
    told.run("w1", "annotations")
    told.run("w1", "acceptability")
    Daemon(told).tick()
    ((_, body),) = webhook.got
    assert body["who_differs"].startswith("rater-")
    assert " differs from the rest: " in body["who_differs"]
    assert body["who_differs"] in body["text"]
    assert "dan" not in body["who_differs"]


def test_a_message_is_about_the_ratings_and_the_policy_of_the_decision_that_it_tells_of(
    told, webhook
):
    """Meanwhile another version arrived, in which somebody else differs, and the policy changed."""
    told.deliver("w1", of_one_who_differs("dan"))
    told.run("w1", "annotations")
    told.run("w1", "acceptability")
    told.deliver("w1", of_one_who_differs("ana").iloc[4:])
    told.run("w1", "annotations")
    told.write_policy({**POLICY, "version": 2, "rules": [{"measure": "fleiss_kappa"}]})
    Daemon(told).tick()
    ((_, body),) = webhook.got
    store = told.project.store
    names = store.pseudonyms(store.ratings("w1"))
    assert names["dan"].startswith(body["who_differs"].split()[0])


REPLICATES = {"measure": "test_retest_kappa", "effect": "hold", "scope": "round"}
LOW = {"measure": "krippendorff_alpha", "effect": "hold", "scope": "round", "value": 0.7}
WAIVER = {"measure": "krippendorff_alpha", "scope": "round", "ratings_digest": "a", "round": "w1"}


@pytest.mark.parametrize(
    "facts",
    [
        {"policy": {**POLICY, "admit": ["reliable", "tentative"]}},
        {"waivers": [{**WAIVER, "who": "eva", "why": "read again", "until": "2030-01-01"}]},
    ],
    ids=["admitted", "waived"],
)
def test_nobody_is_named_for_a_disagreement_that_does_not_hold_the_round(told, webhook, facts):
    said = {"verdict": "tentative", "reason": "", "low": 0.68, "high": 0.78}
    missing = {"verdict": "not_evaluated", "reason": "", "value": None, "low": None, "high": None}
    hold(told, "w1", verdicts=[{**LOW, **said}, {**REPLICATES, **missing}], **facts)
    Daemon(told).tick()
    ((_, body),) = webhook.got
    assert body["who_differs"] == ""


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (StoreError("found other bytes than those stored"), "found other bytes than those"),
        (OSError(5, "Input/output error"), "found [Errno 5] Input/output error; expected"),
        (MemoryError(), "found too little memory; expected enough"),
        (RecursionError(), "found data that are nested too deeply"),
    ],
)
def test_a_message_arrives_though_nobody_can_tell_who_differs(
    told, webhook, monkeypatch, error, why
):
    told.deliver("w1", of_one_who_differs("dan"))
    told.run("w1", "annotations")
    told.run("w1", "acceptability")

    def broken(*_: object) -> None:
        raise error

    monkeypatch.setattr(Store, "kept_table", broken)
    Daemon(told).tick()
    ((_, body),) = webhook.got
    assert body["who_differs"].startswith(f"Who differs is not known: {why}")
    assert body["why"]


def test_a_message_arrives_though_the_policy_in_the_log_is_none_of_today(told, webhook):
    hold(told, "w1", policy={"policy": "p", "version": 1})
    Daemon(told).tick()
    ((_, body),) = webhook.got
    assert body["who_differs"].startswith("Who differs is not known: the log of ")
    assert "rules: found nothing" in body["who_differs"]


def test_a_broken_delivery_is_told_once_with_file_and_row(told, webhook):
    told.deliver("w1", GOOD.assign(label=GOOD["label"].replace("hateful", "hatefull")))
    daemon = Daemon(told)
    assert daemon.tick() == "nothing new to send"
    (delivery,) = told.project.due()
    definitions = told.definitions
    told.instance.add_dynamic_partitions("reviews_rounds", ["w1"])
    for _ in range(2):
        definitions.resolve_job_def("reviews_round").execute_in_process(
            instance=told.instance,
            partition_key="w1",
            raise_on_error=False,
            asset_selection=[dg.AssetKey(["reviews", "annotations"])],
            tags=tags_of(told.project, delivery),
        )
        daemon.tick()
    ((_, body),) = webhook.got
    assert body["what"] == "not judged"
    assert body["text"].startswith("reviews: round w1 is not judged: w1.csv: rows [")


def test_a_project_whose_next_round_is_overdue_is_told_once_for_each_late_round(
    told, webhook, monkeypatch
):
    record(told.project.store, "ingested", "w1")
    daemon, now = Daemon(told), time.time()
    days = told.settings.overdue_after_days
    for later in (days - 1, days + 1, days + 2):
        monkeypatch.setattr(alerts.time, "time", lambda later=later: now + later * SECONDS_PER_DAY)
        daemon.tick()
    (text,) = webhook.texts
    assert text.startswith("reviews: the next round is overdue: the last one, w1, came on 2")
    assert text.endswith(f", more than {days:g} days ago")


class Clock:
    def __init__(self, monkeypatch) -> None:
        self.now = time.time()
        monkeypatch.setattr(alerts.time, "time", lambda: self.now)


def test_a_store_that_hangs_is_told_and_is_asked_by_one_thread_at_a_time(
    told, webhook, monkeypatch
):
    """A bucket that takes a request and never answers lets a tick wait until Dagster ends it."""
    monkeypatch.setattr(alerts, "LOOK_SECONDS", 1.0)
    daemon, clock, answers, n_looks = Daemon(told), Clock(monkeypatch), threading.Event(), 0

    def hang(*_: object) -> list[Notice]:
        nonlocal n_looks
        n_looks += 1
        assert answers.wait(60)
        return []

    monkeypatch.setattr(alerts, "notices", hang)
    for _ in range(4):
        clock.now += EVERY_SECONDS
        daemon.tick()
    assert n_looks == 1
    (begins,) = webhook.texts
    assert "the project is down" in begins
    assert "found no answer within 1 s" in begins
    answers.set()
    for _ in range(5):
        clock.now += EVERY_SECONDS
        daemon.tick()
    assert webhook.texts[1].startswith("reviews: the project is up again")


def test_a_look_that_began_late_is_no_outage(told, webhook, monkeypatch):
    def begin_late(*_: object) -> list[Notice]:
        raise LookBegunLateError("found no answer yet")

    monkeypatch.setattr(alerts, "notices", begin_late)
    daemon, clock = Daemon(told), Clock(monkeypatch)
    for _ in range(4):
        clock.now += EVERY_SECONDS
        daemon.tick()
    assert webhook.texts == []


@pytest.mark.parametrize(
    "error",
    [
        StoreError("s3://rounds/reviews: found no answer; expected the store."),
        PermissionError(13, "the key is refused"),
        RuntimeError("what the client of a bucket may raise"),
    ],
)
def test_an_outage_is_one_message_and_its_end_another(told, webhook, monkeypatch, error):
    hold(told, "w1")
    daemon, clock = Daemon(told), Clock(monkeypatch)
    daemon.tick()

    def ticks(number: int) -> None:
        for _ in range(number):
            clock.now += EVERY_SECONDS
            daemon.tick()
            daemon.restart()

    def refuse(*_: object) -> None:
        raise error

    with monkeypatch.context() as down:
        down.setattr(alerts, "notices", refuse)
        since = f"{datetime.fromtimestamp(clock.now + EVERY_SECONDS, UTC):%Y-%m-%d %H:%M} UTC"
        ticks(1)
        assert len(webhook.texts) == 1  # a tick alone may be a hiccup
        webhook.status = 503
        ticks(3)
        webhook.status = 200
        clock.now += LONGEST_WAIT
        ticks(5)
        assert "the rounds cannot be read" in daemon.said[-1]
    ticks(3)
    begins = f"reviews: the project is down: nothing can be judged or released since {since}: "
    assert webhook.texts[1].startswith(begins)
    assert str(error) in webhook.texts[1]
    assert webhook.texts[2:] == [f"reviews: the project is up again: it was down since {since}"]
    hold(told, "w2")
    ticks(3)
    assert len(webhook.texts) == 4
    assert webhook.texts[3].startswith("reviews: round w2 is held")


def test_a_hiccup_of_one_tick_is_no_message(told, webhook, monkeypatch):
    daemon, clock = Daemon(told), Clock(monkeypatch)
    for _ in range(4):
        (told.root / "inbox").rename(told.root / "away")
        daemon.tick()
        (told.root / "away").rename(told.root / "inbox")
        clock.now += EVERY_SECONDS
        daemon.tick()
    assert webhook.got == []


def test_a_heartbeat_comes_every_five_minutes_while_rounds_can_be_looked_at(
    make_line, webhook, monkeypatch
):
    line = make_line(heartbeat_url_from=VARIABLE)
    daemon, clock = Daemon(line), Clock(monkeypatch)
    for _ in range(25):
        clock.now += EVERY_SECONDS
        daemon.tick()
    assert [body for _, body in webhook.got] == [{"project": "reviews", "what": "up"}] * 3
    (line.root / "inbox").rename(line.root / "away")
    for _ in range(25):
        clock.now += EVERY_SECONDS
        daemon.tick()
    assert len(webhook.got) == 3
    assert SECRET not in " ".join([*daemon.said, daemon.cursor])


def test_no_heartbeat_says_that_all_is_well_while_the_webhook_takes_no_message(
    make_line, webhook, monkeypatch
):
    with Webhook() as monitor:
        monkeypatch.setenv("REVIEWS_MONITOR", monitor.url)
        line = make_line(alerts_url_from=VARIABLE, heartbeat_url_from="REVIEWS_MONITOR")
        daemon, clock = Daemon(line), Clock(monkeypatch)
        clock.now += EVERY_SECONDS
        daemon.tick()
        assert [body["what"] for _, body in monitor.got] == ["up"]
        hold(line, "w1")
        webhook.status = 503
        for _ in range(25):
            clock.now += EVERY_SECONDS
            daemon.tick()
        assert len(monitor.got) == 1
        webhook.status = 200
        for _ in range(25):
            clock.now += LONGEST_WAIT
            daemon.tick()
        assert len(webhook.got) == 1
        assert len(monitor.got) > 1
        monitor.shutdown()


def test_a_round_that_a_wrong_clock_dated_into_the_future_does_not_silence_overdue(
    told, monkeypatch
):
    now = time.time()
    record(told.project.store, "ingested", "w1")
    with monkeypatch.context() as wrong_clock:
        wrong_clock.setattr(log, "datetime", SimpleNamespace(now=lambda zone: a_year_later))
        a_year_later = datetime.fromtimestamp(now, UTC) + timedelta(365)
        record(told.project.store, "ingested", "w2")
    assert build_overdue_notice(told.project, now + 2 * SECONDS_PER_DAY) is None
    late = build_overdue_notice(told.project, now + 20 * SECONDS_PER_DAY)
    assert "the last one, w1, came" in late.text
    assert late.text.endswith("; 1 round with a time in the future did not count")


def test_a_project_that_allows_one_day_says_so_in_the_singular(told):
    record(told.project.store, "ingested", "w1")
    settings = told.settings.model_copy(update={"overdue_after_days": 1.0})
    late = build_overdue_notice(
        replace(told.project, settings=settings), time.time() + 3 * SECONDS_PER_DAY
    )
    assert late.text.endswith(", more than 1 day ago")


@pytest.mark.parametrize("status", [301, 302, 308, 404, 500])
def test_what_is_not_taken_is_an_error_without_the_url(webhook, status):
    webhook.status = status
    with pytest.raises(NotPostedError, match=f"^the server answered {status}$"):
        post(webhook.url, {})
    assert webhook.got == []


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/T0K", "http://[T0K/", "http://a b/T0K\n"])
def test_a_url_that_nobody_answers_is_an_error_without_the_url(url):
    with pytest.raises(NotPostedError) as error:
        post(url, {})
    assert "T0K" not in str(error.value)
    assert error.value.__cause__ is None


@pytest.mark.parametrize(("held", "found"), [("", "nothing"), (f"ftp://{SECRET}", "something")])
def test_a_variable_without_a_url_fails_the_tick_and_is_not_repeated(
    make_line, webhook, monkeypatch, held, found
):
    """Even if nothing is held. A heartbeat would say that all is well."""
    monkeypatch.setenv("REVIEWS_MONITOR", webhook.url)
    monkeypatch.setenv(VARIABLE, held)
    daemon = Daemon(make_line(alerts_url_from=VARIABLE, heartbeat_url_from="REVIEWS_MONITOR"))
    with pytest.raises(ProjectError, match=f"^environment variable {VARIABLE}: found {found}") as e:
        daemon.tick()
    assert SECRET not in str(e.value)
    assert webhook.got == []
    assert checked_url(VARIABLE, {VARIABLE: " https://x "}) == "https://x"


def test_a_url_in_the_project_file_is_refused_and_not_repeated():
    said = {"project": "p", "inbox": "i", "scale": {"categories": ["a", "b"]}, "policy": "s"}
    with pytest.raises(ValueError, match="name of an environment variable") as error:
        ProjectSettings(**said, alerts_url_from=f"https://hooks.example/{SECRET}")
    assert SECRET not in error.value.errors()[0]["msg"]


def test_a_project_without_a_webhook_has_no_sensor(line):
    names = {each.name for each in line.definitions.sensors}
    assert "reviews_alerts" not in names


def test_waits_double_up_to_an_hour_and_end_with_an_answer():
    told = AlertCursor()
    waits = [told.failed(0.0) for _ in range(9)]
    assert waits == [30, 60, 120, 240, 480, 960, 1920, 3600, 3600]
    told.took(Notice("p", "w", "held", (), "s"))
    assert (told.failures, told.next) == (0, 0.0)
    assert AlertCursor.of(told.to_cursor()) == told


def test_a_wait_that_began_before_the_clock_was_put_back_is_over(told, webhook):
    hold(told, "w1")
    daemon = Daemon(told)
    daemon.cursor = json.dumps({"failures": 1, "next": time.time() + LONGEST_WAIT + 60})
    assert daemon.tick().startswith("sent: ")
    assert len(webhook.got) == 1


@pytest.mark.parametrize("cursor", ["[" * 100_000, json.dumps({"failures": -(10**400)})])
def test_a_cursor_that_no_sensor_wrote_says_nothing(cursor):
    assert AlertCursor.of(cursor) == AlertCursor()
    assert RoundCursor.of(cursor, "now") == RoundCursor("now")


@pytest.mark.parametrize("tries", [0, 3, -1, -(10**400)])
def test_a_round_was_asked_for_no_less_than_never(tries):
    rounds = {"w1": {"digest": "d", "tries": tries, "next": 0.0}}
    cursor = json.dumps({"judged_by": "now", "rounds": rounds})
    assert RoundCursor.of(cursor, "now").rounds == (rounds if tries >= 0 else {})


def test_a_reason_that_is_a_sentence_ends_once():
    told = Notice("p", "w", "held", ("found a; expected b. Do c.",), "s", steps="x")
    assert told.text == "p: round w is held: found a; expected b. Do c. What to do now: x"


def test_a_long_text_is_cut():
    assert len(Notice("p", "w", "held", ("x" * 9_999,), "s").text) == MAX_TEXT_LENGTH


def test_a_tick_in_which_nothing_is_new_does_not_read_the_log(told, webhook, monkeypatch):
    hold(told, "w1")
    daemon = Daemon(told)
    daemon.tick()

    def refuse(*_: object) -> None:
        raise AssertionError("the log was read again")

    monkeypatch.setattr(Store, "history", refuse)
    assert daemon.tick() == "nothing new to send"
