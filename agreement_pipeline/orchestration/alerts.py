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

from agreement_pipeline.errors import ProjectError, error_in_a_sentence
from agreement_pipeline.orchestration.host import Host
from agreement_pipeline.orchestration.metrics import record_notices
from agreement_pipeline.orchestration.runs import REASON_TAG, unreleased_tag
from agreement_pipeline.orchestration.sensors import (
    BoundedLook,
    LookBegunLateError,
    declare_sensor,
    find_unjudged,
    read_cursor,
)
from agreement_pipeline.projects import (
    Notice,
    NoticeKind,
    Project,
    build_outage_notice,
    build_recovery_notice,
    joint_release,
    notices,
    with_who_differs,
)

EVERY_SECONDS, LONGEST_WAIT, MOST_DOUBLED = 30, 3_600, 7
SECONDS = 10
OUTAGE_SECONDS = 45.0
"""What is over at the next tick is not told."""
LOOK_SECONDS = 15.0
"""A tick must end in time to tell that nothing answers, though the webhook is slow too."""
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
        content = "something else than a URL" if url else "nothing"
        raise ProjectError(
            f"environment variable {variable}: found {content}; expected a URL that begins "
            "with https:// or http://. Set it where the project's code runs: the code server, or "
            "dagster dev."
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
        reason = f"the server answered {error.code}"
    except urllib.error.URLError as error:
        reason = f"no answer ({type(error.reason).__name__})"
    except (OSError, HTTPException, ValueError) as error:
        reason = f"no answer ({type(error).__name__})"
    raise NotPostedError(reason)


@dataclass
class AlertCursor:
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
    def of(cls, cursor: str | None) -> "AlertCursor":
        try:
            restored = cls(**read_cursor(cursor))
        except TypeError:
            return cls()
        times = (restored.next, restored.down_since, restored.last_heartbeat)
        numbers = isinstance(restored.failures, int) and all(
            isinstance(moment, float | int) for moment in times
        )
        usable = numbers and restored.failures >= 0 and isinstance(restored.states, dict)
        return restored if usable else cls()

    def to_cursor(self) -> str:
        return json.dumps(vars(self), sort_keys=True)

    def untold(self, current_notices: list[Notice]) -> list[Notice]:
        state_by_key = {_notice_key(notice): notice.state for notice in current_notices}
        if self.down_since:
            state_by_key |= {DOWN: ""}
        self.states = {key: state for key, state in self.states.items() if key in state_by_key}
        return [
            notice
            for notice in current_notices
            if self.states.get(_notice_key(notice)) != notice.state
        ]

    def untold_outage(self, project: str, error: Exception, now_seconds: float) -> list[Notice]:
        """What was told of rounds stays told, since nothing is known of them now."""
        if not 0 < self.down_since <= now_seconds:
            self.down_since = now_seconds
        if now_seconds < self.down_since + OUTAGE_SECONDS:
            return []
        notice = build_outage_notice(project, self.down_since, error_in_a_sentence(error))
        return [] if self.states.get(DOWN) == notice.state else [notice]

    def untold_recovery(self, project: str) -> list[Notice]:
        """An end is told if its beginning was, until the webhook takes it."""
        if not self.down_since or DOWN not in self.states:
            self.down_since = 0.0
            return []
        return [build_recovery_notice(project, self.down_since)]

    def took(self, notice: Notice) -> None:
        if notice.what == UP_AGAIN:
            self.down_since = 0.0
            del self.states[DOWN]
        else:
            self.states[_notice_key(notice)] = notice.state
        self.failures, self.next = 0, 0.0

    def failed(self, now_seconds: float) -> float:
        wait = min(EVERY_SECONDS * 2.0 ** min(self.failures, MOST_DOUBLED), LONGEST_WAIT)
        self.failures, self.next = self.failures + 1, now_seconds + wait
        return wait


def build_alert_sensor(host: Host) -> list[dg.SensorDefinition]:
    """A tick sends one message at most and keeps its cursor. So a daemon that starts again repeats
    none that an earlier tick sent. Where the webhook is not set, the tick fails and sends no
    heartbeat, since nobody would hear of a held round.
    """
    project = host.project
    variable = project.settings.alerts_url_from
    if variable is None and project.settings.heartbeat_url_from is None:
        return []
    bounded_look = BoundedLook[list[Notice]](LOOK_SECONDS)

    @declare_sensor(
        f"{project.name}_alerts",
        "Sends one message for each round that is held, broken, overdue or not released, and if "
        "the store or the inbox cannot be read.",
        interval_seconds=EVERY_SECONDS,
        is_stopped=project.settings.automation == "stopped",
    )
    def alerts(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        cursor = AlertCursor.of(context.cursor)
        try:
            outcome = _send_next_notice(context, host, variable, cursor, bounded_look)
        except LookBegunLateError as error:
            return dg.SkipReason(str(error))
        context.update_cursor(cursor.to_cursor())
        return dg.SkipReason(outcome)

    return [alerts]


def _send_next_notice(
    context: dg.SensorEvaluationContext,
    host: Host,
    variable: str | None,
    cursor: AlertCursor,
    bounded_look: BoundedLook[list[Notice]],
) -> str:
    now_seconds, project = time.time(), host.project
    waiting = _find_untold(context, host, cursor, bounded_look, now_seconds)
    url = None if variable is None else checked_url(variable, os.environ)
    if not cursor.down_since:
        _send_heartbeat(context, project, cursor, now_seconds)
    if url is None:
        return "only a heartbeat: the project names no webhook (alerts_url_from)"
    if not waiting:
        down = "the rounds cannot be read; " if cursor.down_since else ""
        return f"{down}nothing new to send"
    if now_seconds < cursor.next <= now_seconds + LONGEST_WAIT:
        return f"{len(waiting)} to send; the webhook did not answer, and is tried again later"
    notice = waiting[0]
    try:
        full_notice = with_who_differs(project, notice)
        post(url, full_notice.body(project.settings.alerts_form))
    except NotPostedError as error:
        wait = cursor.failed(now_seconds)
        message = f"not sent: {_notice_key(notice)}: {error}; the next try is in {wait:g} s"
        context.log.warning(message)
        return message
    cursor.took(notice)
    return f"sent: {_notice_key(notice)}; {len(waiting) - 1} more to send"


def _find_untold(
    context: dg.SensorEvaluationContext,
    host: Host,
    cursor: AlertCursor,
    bounded_look: BoundedLook[list[Notice]],
    now_seconds: float,
) -> list[Notice]:
    """A store that cannot be read is news as well, so no error ends the tick."""
    project = host.project

    def look() -> list[Notice]:
        if reason := project.no_inbox():
            raise ProjectError(reason)
        unjudged, unreleased = (
            find_unjudged(context, host),
            _unreleased_reason_by_round(context, project),
        )
        return notices(project, now_seconds, unjudged, unreleased)

    try:
        current = bounded_look.take(look)
    except LookBegunLateError:
        raise  # no outage: nothing is known yet
    except Exception as error:  # the client of a bucket raises errors of its own
        context.log.error(error_in_a_sentence(error))
        down = [build_outage_notice(project.name, now_seconds, error_in_a_sentence(error))]
        _record_metrics(context, project, down)
        return cursor.untold_outage(project.name, error, now_seconds)
    _record_metrics(context, project, current)
    return cursor.untold_recovery(project.name) + cursor.untold(current)


def _record_metrics(
    context: dg.SensorEvaluationContext, project: Project, current: Sequence[Notice]
) -> None:
    if fault := record_notices(project.name, current):
        context.log.warning(fault)


def _send_heartbeat(
    context: dg.SensorEvaluationContext, project: Project, cursor: AlertCursor, now_seconds: float
) -> None:
    """None is sent while the webhook takes no message."""
    variable = project.settings.heartbeat_url_from
    if variable is None or now_seconds - HEARTBEAT_SECONDS < cursor.last_heartbeat <= now_seconds:
        return
    if cursor.failures:
        context.log.warning("no heartbeat, since the webhook takes no message")
        return
    try:
        post(checked_url(variable, os.environ), {"project": project.name, "what": "up"})
        cursor.last_heartbeat = now_seconds
    except (NotPostedError, ProjectError) as error:
        context.log.warning(f"no heartbeat: {error}")


# Dagster opens its instance when it is first asked for, which takes longer than all else here.
def _unreleased_reason_by_round(
    context: dg.SensorEvaluationContext, project: Project
) -> dict[str, str]:
    """Why the last run could not release an admitted round, or all of them together."""
    planned_release = joint_release(project)
    waiting = [name for name in planned_release.rounds if not project.is_released(name)]
    reasons = {}
    for name in [*waiting, *([""] if planned_release.is_due else [])]:
        tagged = dg.RunsFilter(tags=unreleased_tag(project.name, name))
        for run in context.instance.get_runs(tagged, limit=1):
            reasons[name] = run.tags.get(REASON_TAG, "")
    return reasons


def _notice_key(notice: Notice) -> str:
    return f"{notice.what} {notice.about}".strip()
