"""Messages to a webhook, and a heartbeat for whoever watches that the gate itself is up."""

import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any

import dagster as dg

from agreement_pipeline.errors import AgreementError, ProjectError, in_a_sentence
from agreement_pipeline.orchestration.host import Host
from agreement_pipeline.orchestration.metrics import record_notices
from agreement_pipeline.orchestration.runs import WHY, unreleased_tag
from agreement_pipeline.orchestration.sensors import (
    declare_sensor,
    find_unjudged,
    said_by,
)
from agreement_pipeline.projects import (
    Notice,
    NoticeKind,
    Project,
    joint_release,
    notices,
    outage,
    recovery,
    with_who_differs,
)

EVERY_SECONDS, LONGEST_WAIT, MOST_DOUBLED = 30, 3_600, 7
SECONDS = 10
OUTAGE_SECONDS = 45.0
"""What is over at the next tick is not told."""
HEARTBEAT_SECONDS = 300.0
DOWN: NoticeKind = "down"
UP_AGAIN: NoticeKind = "up again"
HTTP = ("https://", "http://")


class NotPostedError(Exception):
    """The message was not taken. The text says why, without the URL."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would turn the message into a request without content."""

    def redirect_request(self, *_: Any) -> None:
        return None


def checked_url(variable: str, environment: Mapping[str, str]) -> str:
    """The error does not repeat what the variable holds instead of a URL."""
    url = environment.get(variable, "").strip()
    if not url.startswith(HTTP):
        found = "something else than a URL" if url else "nothing"
        raise ProjectError(
            f"environment variable {variable}: found {found}; expected a URL that begins with "
            "https://. Set it where the project's code runs: the code server, or dagster dev."
        )
    return url


def post(url: str, body: Mapping[str, Any]) -> None:
    try:
        request = urllib.request.Request(
            url, json.dumps(body).encode(), {"Content-Type": "application/json"}, method="POST"
        )
        with urllib.request.build_opener(_NoRedirects).open(request, timeout=SECONDS):
            return
    except urllib.error.HTTPError as error:
        error.close()
        why = f"the server answered {error.code}"
    except urllib.error.URLError as error:
        why = f"no answer ({type(error.reason).__name__})"
    except (OSError, HTTPException, ValueError) as error:
        why = f"no answer ({type(error).__name__})"
    raise NotPostedError(why)


@dataclass
class Told:
    """The cursor of the sensor. `states` has the state of each notice that the webhook took.

    One that no longer holds is forgotten, so the team hears if it comes back. After `failures` in a
    row, nothing is tried before `next`. Since `down_since`, if it is not 0, the project's rounds
    cannot be looked at. The last heartbeat was at `last_heartbeat`.
    """

    states: dict[str, str] = field(default_factory=dict)
    failures: int = 0
    next: float = 0.0
    down_since: float = 0.0
    last_heartbeat: float = 0.0

    @classmethod
    def of(cls, cursor: str | None) -> "Told":
        try:
            found = cls(**said_by(cursor))
        except TypeError:
            return cls()
        times = (found.next, found.down_since, found.last_heartbeat)
        numbers = isinstance(found.failures, int) and all(
            isinstance(at, float | int) for at in times
        )
        usable = numbers and found.failures >= 0 and isinstance(found.states, dict)
        return found if usable else cls()

    def to_cursor(self) -> str:
        return json.dumps(vars(self), sort_keys=True)

    def untold(self, found: list[Notice]) -> list[Notice]:
        now = {_key(each): each.state for each in found}
        if self.down_since:
            now |= {DOWN: ""}
        self.states = {key: state for key, state in self.states.items() if key in now}
        return [each for each in found if self.states.get(_key(each)) != each.state]

    def untold_outage(self, project: str, error: Exception, now: float) -> list[Notice]:
        """What was told of rounds stays told, since nothing is known of them now."""
        if not 0 < self.down_since <= now:
            self.down_since = now
        if now < self.down_since + OUTAGE_SECONDS:
            return []
        notice = outage(project, self.down_since, in_a_sentence(error))
        return [] if self.states.get(DOWN) == notice.state else [notice]

    def untold_recovery(self, project: str) -> list[Notice]:
        """An end is told if its beginning was, until the webhook takes it."""
        if not self.down_since or DOWN not in self.states:
            self.down_since = 0.0
            return []
        return [recovery(project, self.down_since)]

    def took(self, notice: Notice) -> None:
        if notice.what == UP_AGAIN:
            self.down_since = 0.0
            del self.states[DOWN]
        else:
            self.states[_key(notice)] = notice.state
        self.failures, self.next = 0, 0.0

    def failed(self, now: float) -> float:
        wait = min(EVERY_SECONDS * 2.0 ** min(self.failures, MOST_DOUBLED), LONGEST_WAIT)
        self.failures, self.next = self.failures + 1, now + wait
        return wait


def build_alert_sensor(host: Host) -> list[dg.SensorDefinition]:
    """A tick sends one message at most and keeps its cursor. So a daemon that starts again repeats
    none that an earlier tick sent.
    """
    project = host.project
    variable = project.settings.alerts_url_from
    if variable is None and project.settings.heartbeat_url_from is None:
        return []

    @declare_sensor(
        f"{project.name}_alerts",
        "Tells the webhook once of each round that is held, broken, overdue or not released, and "
        "if the store or the inbox cannot be read.",
        every=EVERY_SECONDS,
        is_stopped=project.settings.automation == "stopped",
    )
    def alerts(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        told = Told.of(context.cursor)
        try:
            said = _tick(context, host, variable, told)
        except AgreementError as error:
            return dg.SkipReason(str(error))
        context.update_cursor(told.to_cursor())
        return dg.SkipReason(said)

    return [alerts]


def _tick(context: dg.SensorEvaluationContext, host: Host, variable: str | None, told: Told) -> str:
    now, project = time.time(), host.project
    waiting = _untold(context, host, told, now)
    if variable is None:
        return "a heartbeat alone: the project names no webhook (alerts_url_from)"
    if not waiting:
        down = "the rounds cannot be looked at; " if told.down_since else ""
        return f"{down}nothing new to tell"
    if now < told.next <= now + LONGEST_WAIT:
        return f"{len(waiting)} to tell; the webhook did not answer, and is tried again later"
    url, first = checked_url(variable, os.environ), waiting[0]
    try:
        told_now = with_who_differs(project, first)
        post(url, told_now.body(project.settings.alerts_form))
    except NotPostedError as error:
        wait = told.failed(now)
        said = f"not told of {_key(first)}: {error}; the next try is in {wait:g} s"
        context.log.warning(said)
        return said
    told.took(first)
    return f"told of {_key(first)}; {len(waiting) - 1} more to tell"


def _untold(
    context: dg.SensorEvaluationContext, host: Host, told: Told, now: float
) -> list[Notice]:
    """A store that cannot be read is news as well, so no error ends the tick."""
    project = host.project
    try:
        if reason := project.no_inbox():
            raise ProjectError(reason)
        current = notices(
            project, now, find_unjudged(context.instance, host), _unreleased(context, project)
        )
    except Exception as error:  # the client of a bucket raises errors of its own
        context.log.error(in_a_sentence(error))
        down = [outage(project.name, now, in_a_sentence(error))]
        _record(context, project, down)
        return told.untold_outage(project.name, error, now)
    _record(context, project, current)
    _send_heartbeat(context, project, told, now)
    return told.untold_recovery(project.name) + told.untold(current)


def _record(
    context: dg.SensorEvaluationContext, project: Project, current: Sequence[Notice]
) -> None:
    if fault := record_notices(project.name, current):
        context.log.warning(fault)


def _send_heartbeat(
    context: dg.SensorEvaluationContext, project: Project, told: Told, now: float
) -> None:
    variable = project.settings.heartbeat_url_from
    if variable is None or now - HEARTBEAT_SECONDS < told.last_heartbeat <= now:
        return
    try:
        post(checked_url(variable, os.environ), {"project": project.name, "what": "up"})
        told.last_heartbeat = now
    except (NotPostedError, ProjectError) as error:
        context.log.warning(f"no heartbeat: {error}")


# Dagster opens its instance when it is first asked for, which takes longer than all else here.
def _unreleased(context: dg.SensorEvaluationContext, project: Project) -> dict[str, str]:
    """Why the last run could not release an admitted round, or all of them together."""
    wanted = joint_release(project)
    waiting = [name for name in wanted.rounds if not project.is_released(name)]
    reasons = {}
    for name in [*waiting, *([""] if wanted.is_due else [])]:
        tagged = dg.RunsFilter(tags=unreleased_tag(project.name, name))
        for run in context.instance.get_runs(tagged, limit=1):
            reasons[name] = run.tags.get(WHY, "")
    return reasons


def _key(notice: Notice) -> str:
    return f"{notice.what} {notice.about}".strip()
