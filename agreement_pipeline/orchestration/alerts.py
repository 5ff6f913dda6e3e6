"""The sensor that tells a team what is held, broken or overdue."""

import json
import os
import time
from dataclasses import dataclass, field

import dagster as dg

from agreement_pipeline.errors import AgreementError
from agreement_pipeline.orchestration.outcomes import DECISION, NOT_JUDGED, WHY
from agreement_pipeline.orchestration.posting import NotPostedError, checked_url, post
from agreement_pipeline.orchestration.sensors import tags_of
from agreement_pipeline.projects import Notice, Project, notices

EVERY_SECONDS = 30
LONGEST_WAIT = 3_600


@dataclass
class Told:
    """The cursor of the sensor: what the team was told, and when it is tried again.

    Attributes
    ----------
    states
        The state of each notice that the webhook took, by what it is about. A notice that no
        longer holds is forgotten, so the team hears if it comes back.
    failures
        How often in a row the webhook did not answer.
    next
        No message is tried before this time.
    """

    states: dict[str, str] = field(default_factory=dict)
    failures: int = 0
    next: float = 0.0

    @classmethod
    def of(cls, cursor: str | None) -> "Told":
        """What a cursor says. A cursor of another form says nothing."""
        try:
            found = cls(**json.loads(cursor or "{}"))
        except (ValueError, TypeError):
            return cls()
        return found if isinstance(found.states, dict) else cls()

    def to_cursor(self) -> str:
        """The cursor."""
        return json.dumps(vars(self), sort_keys=True)

    def untold(self, found: list[Notice]) -> list[Notice]:
        """The notices that the team has not heard of. Those that no longer hold are forgotten."""
        now = {_key(each): each.state for each in found}
        self.states = {key: state for key, state in self.states.items() if key in now}
        return [each for each in found if self.states.get(_key(each)) != each.state]

    def took(self, notice: Notice) -> None:
        """Note that the webhook took a notice."""
        self.states[_key(notice)] = notice.state
        self.failures, self.next = 0, 0.0

    def failed(self, now: float) -> float:
        """Note that the webhook did not answer. The seconds until the next try."""
        wait = min(EVERY_SECONDS * 2.0**self.failures, LONGEST_WAIT)
        self.failures, self.next = self.failures + 1, now + wait
        return wait


def build_alert_sensor(project: Project) -> list[dg.SensorDefinition]:
    """The sensor, or nothing if the project names no webhook.

    A tick sends one message at most, and its cursor is kept after each tick. So a daemon that is
    ended and started again repeats no message that an earlier tick sent.
    """
    variable = project.settings.alerts_url_from
    if variable is None:
        return []

    @dg.sensor(
        name=f"{project.name}_alerts",
        minimum_interval_seconds=EVERY_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Tells the webhook of each round that is held, broken or overdue, once.",
    )
    def alerts(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        told = Told.of(context.cursor)
        try:
            said = _tick(context, project, variable, told)
        except AgreementError as error:
            return dg.SkipReason(str(error))
        context.update_cursor(told.to_cursor())
        return dg.SkipReason(said)

    return [alerts]


def _tick(context: dg.SensorEvaluationContext, project: Project, variable: str, told: Told) -> str:
    now = time.time()
    waiting = told.untold(notices(project, now, _broken(context.instance, project)))
    if not waiting:
        return "nothing new to tell"
    if now < told.next:
        return f"{len(waiting)} to tell; the webhook did not answer, and is tried again later"
    url, first = checked_url(variable, os.environ), waiting[0]
    try:
        post(url, first.body(project.settings.alerts_form))
    except NotPostedError as error:
        wait = told.failed(now)
        said = f"not told of {_key(first)}: {error}; the next try is in {wait:g} s"
        context.log.warning(said)
        return said
    told.took(first)
    return f"told of {_key(first)}; {len(waiting) - 1} more to tell"


def _broken(instance: dg.DagsterInstance, project: Project) -> dict[str, str]:
    """Why deliveries that wait for a decision could not be judged, as their last runs say."""
    found = {}
    for each in project.due():
        tags = {**tags_of(each), DECISION: NOT_JUDGED}
        for run in instance.get_runs(dg.RunsFilter(tags=tags), limit=1):
            found[each.round] = run.tags.get(WHY, "")
    return found


def _key(notice: Notice) -> str:
    return f"{notice.what} {notice.about}".strip()
