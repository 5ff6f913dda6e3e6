"""The sensor that finds new and changed rounds in a project's inbox."""

import hashlib
import json
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import dagster as dg

from agreement_pipeline.errors import AgreementError, ProjectError
from agreement_pipeline.orchestration.compat import (
    DATA_VERSION,
    ENDED,
    IN_PROGRESS,
    WAITING,
    AssetJob,
)
from agreement_pipeline.orchestration.host import Host, rounds_of
from agreement_pipeline.orchestration.runs import FAULT, LASTS
from agreement_pipeline.projects import Delivery, FileSeen, Project, overdue
from agreement_pipeline.ratings import Adjudicated
from agreement_pipeline.readers import UNFINISHED
from agreement_pipeline.report import admitted_rounds
from agreement_pipeline.store import check_round_name

FIRST_WAIT, LONGEST_WAIT = 20.0, 86_400.0
"""Seconds."""


@dataclass
class Asked:
    """The rounds that were asked for, and what they are judged by.

    A round that is not decided yet is asked for again: after 20 seconds, then after twice as long
    each time, and each day at last. So a full disk or a network that fails is got over. If the
    fault lasts, the round is asked for again only after a day.

    Attributes
    ----------
    judged_by
        The digest of all that rounds are judged by. If it is another one, all is asked anew.
    rounds
        For each round: the digest of its bytes, how often it was asked for since its fault was
        known to last, and when it is next looked at. That is None for a round that is decided.
    """

    judged_by: str
    rounds: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, cursor: str | None, judged_by: str) -> "Asked":
        """What a cursor says. A cursor of other rules, or of another form, says nothing."""
        try:
            said = json.loads(cursor or "{}")
            return cls(judged_by, said["rounds"] if said["judged_by"] == judged_by else {})
        except (ValueError, KeyError, TypeError):
            return cls(judged_by)

    def to_cursor(self) -> str:
        """The cursor."""
        return json.dumps(vars(self), sort_keys=True)

    def resting(self, deliveries: Iterable[Delivery], now: float) -> dict[str, str]:
        """The digests of the rounds that need no look now."""
        return {
            each.round: each.digest
            for each in deliveries
            if (known := self._known(each)) and (known["next"] is None or now < known["next"])
        }

    def settle(self, deliveries: Iterable[Delivery], due: Collection[Delivery], now: float) -> None:
        """Note which of the rounds that were looked at are decided. Forget those that are gone."""
        found = list(deliveries)
        not_decided = {*self.resting(found, now), *(each.round for each in due)}
        decided = [each for each in found if each.round not in not_decided]
        self.rounds = {
            each.round: self.rounds[each.round] for each in found if each.round in self.rounds
        }
        for each in decided:
            self.rounds[each.round] = {"digest": each.digest, "tries": 0, "next": None}

    def ask(self, delivery: Delivery, now: float) -> None:
        """Note that a round is asked for now."""
        known = self._known(delivery)
        tries = known["tries"] + 1 if known else 1
        self._wait(delivery, tries, now + min(FIRST_WAIT * 2 ** (tries - 1), LONGEST_WAIT))

    def is_tried(self, delivery: Delivery) -> bool:
        """True if a round was asked for, and its fault is not known to last."""
        known = self._known(delivery)
        return known is not None and known["tries"] > 0

    def rest(self, delivery: Delivery, now: float) -> None:
        """Note that the fault of a round lasts."""
        self._wait(delivery, 0, now + LONGEST_WAIT)

    def _wait(self, delivery: Delivery, tries: int, until: float) -> None:
        self.rounds[delivery.round] = {"digest": delivery.digest, "tries": tries, "next": until}

    def _known(self, delivery: Delivery) -> dict[str, Any] | None:
        known = self.rounds.get(delivery.round)
        return known if known and known["digest"] == delivery.digest else None


ORIGINAL = "agreement_pipeline/original"
EVERY_SECONDS = 15
"""A look that finds nothing new costs milliseconds."""


@dataclass(frozen=True)
class Arrivals:
    """What a look into the inbox found.

    Parameters
    ----------
    ready
        The rounds to run.
    unsettled
        A message for each file that is still being written.
    refused
        A message for each name that cannot be a round's.
    """

    ready: tuple[Delivery, ...]
    unsettled: tuple[str, ...]
    refused: tuple[str, ...]


def build_round_sensor(project: Project, job: AssetJob) -> dg.SensorDefinition:
    """A run for every round that is new or whose bytes changed."""

    @dg.sensor(
        name=f"{project.name}_new_rounds",
        job=job,
        minimum_interval_seconds=EVERY_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Runs a round when its file, or what judges it, is new. "
        "After a fault that may pass, until it is decided.",
    )
    def new_rounds(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        if wrong := project.no_inbox():
            raise ProjectError(wrong)
        try:
            return _tick(context, project)
        except AgreementError as error:
            return dg.SkipReason(str(error))

    return new_rounds


def _tick(context: dg.SensorEvaluationContext, project: Project) -> dg.SensorResult | dg.SkipReason:
    now, asked = time.time(), Asked.of(context.cursor, project.judged_by)
    found = project.look()
    deliveries = found.deliveries.values()
    due = project.due(asked.resting(deliveries, now), found)
    asked.settle(deliveries, due, now)
    arrivals = look(due, settle_seconds=project.settings.settle_seconds, now=now)
    waiting = (*arrivals.unsettled, *arrivals.refused, *found.refused.values())
    for message in waiting:
        context.log.warning(message)
    idle = [each for each in arrivals.ready if not _is_running(context.instance, each)]
    ready = _worth_a_run(context.instance, idle, asked, now)
    for each in ready:
        asked.ask(each, now)
    if not ready:
        context.update_cursor(asked.to_cursor())
        return dg.SkipReason("; ".join(waiting) or f"nothing new in {project.inbox}")
    added = rounds_of(project.name).build_add_request([each.round for each in ready])
    return dg.SensorResult(
        run_requests=_requests(context.instance, project, ready),
        dynamic_partitions_requests=[added],
        cursor=asked.to_cursor(),
    )


def _requests(
    instance: dg.DagsterInstance, project: Project, ready: Sequence[Delivery]
) -> list[dg.RunRequest]:
    """A run for each delivery. Its key counts the arrivals and the runs that there were.

    A round can come back with bytes that it had before, and a run can fail for a while.
    Dagster drops a run whose key it has seen.
    """
    with project.store.reading():
        arrived = {each.round: project.times_arrived(each.round) for each in ready}
    return [
        dg.RunRequest(
            run_key=f"{each.round}:{each.digest}:{arrived[each.round]}:"
            f"{instance.get_runs_count(dg.RunsFilter(tags=tags_of(each)))}",
            partition_key=each.round,
            tags={ORIGINAL: each.digest[:12]},
        )
        for each in ready
    ]


def _worth_a_run(
    instance: dg.DagsterInstance, idle: Iterable[Delivery], asked: Asked, now: float
) -> list[Delivery]:
    """The deliveries that another run may judge. The others are let rest."""
    found = []
    for each in idle:
        if asked.is_tried(each) and _fault_lasts(instance, each):
            asked.rest(each, now)
        else:
            found.append(each)
    return found


def _fault_lasts(instance: dg.DagsterInstance, delivery: Delivery) -> bool:
    """True if the last run of the delivery found a fault that nobody but people can mend."""
    last = instance.get_runs(dg.RunsFilter(tags=tags_of(delivery)), limit=1)
    return any(run.tags.get(FAULT) == LASTS for run in last)


def _is_running(instance: dg.DagsterInstance, delivery: Delivery) -> bool:
    """True if a run of the delivery waits or goes on."""
    return bool(
        instance.get_runs_count(dg.RunsFilter(tags=tags_of(delivery), statuses=IN_PROGRESS))
    )


def tags_of(delivery: Delivery) -> dict[str, str]:
    """The tags of the runs of a delivery."""
    return {"dagster/partition": delivery.round, ORIGINAL: delivery.digest[:12]}


def look(deliveries: Iterable[Delivery], *, settle_seconds: float, now: float) -> Arrivals:
    """Sort the deliveries: ready, still being written, or refused by name."""
    ready, unsettled, refused = [], [], []
    for delivery in deliveries:
        if any(_unsettled(each, settle_seconds, now) for each in delivery.files):
            what = "a file that is still being written"
            if any(each.modified > now for each in delivery.files):
                what = "a date in the future"
            unsettled.append(
                f"{delivery.path.name}: found {what}; expected a file at rest for "
                f"{settle_seconds:g} s. The next tick looks at it again."
            )
            continue
        try:
            check_round_name(delivery.round)
        except AgreementError as error:
            refused.append(str(error))
        else:
            ready.append(delivery)
    return Arrivals(tuple(ready), tuple(unsettled), tuple(refused))


def _unsettled(file: FileSeen, settle_seconds: float, now: float) -> bool:
    """True if a file may still be written. A date in the future is not believed."""
    changed = file.modified if file.modified <= now else file.changed
    return file.name.endswith(UNFINISHED) or now - changed < settle_seconds


def build_history_sensor(host: Host, job: AssetJob) -> dg.SensorDefinition:
    """A run of the table of all rounds whenever it would say something else.

    That is so after every delivery, decision, release and withdrawal, wherever it was made. A file
    that is refused changes no asset, so no condition on assets would show it.

    A run that waits shows all that happens until it starts, so no other one is asked for.
    """
    project, table = host.project, host.key("agreement_history")

    @dg.sensor(
        name=f"{project.name}_history_changed",
        job=job,
        minimum_interval_seconds=30,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Writes the table of all rounds again when it changes, or a round is overdue.",
    )
    def history_changed(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        due = project.due()
        if not project.store.head and not _tried(context.instance, due):
            return dg.SkipReason(f"no round of {project.name} has arrived yet")
        now = shown_state(project, due)
        if now in (context.cursor, _shown(context.instance, table)):
            return dg.SkipReason("nothing has changed since the last table of all rounds")
        if context.instance.get_runs_count(dg.RunsFilter(job_name=job.name, statuses=WAITING)):
            return dg.SkipReason("the table of all rounds is about to be written again")
        return dg.SensorResult(run_requests=[dg.RunRequest()], cursor=now)

    return history_changed


def shown_state(project: Project, due: Iterable[Delivery]) -> str:
    """A digest of what the table shows: the log, what is not judged, and if a round is overdue."""
    waiting = [f"{each.round} {each.digest}" for each in due]
    late = "late" if overdue(project, time.time()) else ""
    return hashlib.sha256("\n".join([project.store.head, *waiting, late]).encode()).hexdigest()


def _shown(instance: dg.DagsterInstance, table: dg.AssetKey) -> str | None:
    """The digest of what the last table showed. None if there is no table."""
    last = instance.get_latest_materialization_event(table)
    shown = None if last is None else last.asset_materialization
    return shown and (shown.tags or {}).get(DATA_VERSION)


def _tried(instance: dg.DagsterInstance, due: Iterable[Delivery]) -> bool:
    """True if a run of one of these deliveries has ended without a decision."""
    return any(
        instance.get_runs_count(dg.RunsFilter(tags=tags_of(each), statuses=ENDED)) for each in due
    )


def build_adjudicated_sensor(host: Host, job: AssetJob) -> list[dg.SensorDefinition]:
    """A run of the training data of an admitted round whenever its adjudicated labels change.

    None if the project names no folder for them.
    """
    project, training_data = host.project, host.key("training_data")
    if project.settings.adjudicated is None:
        return []

    @dg.sensor(
        name=f"{project.name}_adjudicated",
        job=job,
        minimum_interval_seconds=30,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Releases an admitted round again when its adjudicated labels change.",
    )
    def adjudicated(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        before = _said(context.cursor)
        try:
            now, mistakes = _answered(project, before)
        except AgreementError as error:
            return dg.SkipReason(str(error))
        if mistakes:
            context.log.warning(mistakes)
        changed = [name for name in sorted({*now, *before}) if now.get(name) != before.get(name)]
        if not changed:
            return dg.SkipReason(mistakes or "no adjudicated labels have changed")
        return dg.SensorResult(
            run_requests=[
                dg.RunRequest(partition_key=name, asset_selection=[training_data])
                for name in changed
            ],
            dynamic_partitions_requests=[rounds_of(project.name).build_add_request(changed)],
            cursor=json.dumps(now),
        )

    return [adjudicated]


def _said(cursor: str | None) -> dict[str, str]:
    """What a cursor says. A cursor of another form says nothing."""
    try:
        said = json.loads(cursor or "{}")
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def _answered(project: Project, before: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """A digest of the adjudicated labels of each admitted round, and which cannot be read.

    A round whose labels cannot be read stays as it was before.
    """
    found: dict[str, str] = {}
    mistakes: list[str] = []
    for name in admitted_rounds(project.store):
        try:
            answers = project.adjudicated([name])
        except AgreementError as error:
            mistakes.append(str(error))
            found |= {name: before[name]} if name in before else {}
        else:
            found |= {name: _digest(answers[name])} if name in answers else {}
    return found, "; ".join(dict.fromkeys(mistakes))


def _digest(answers: Adjudicated) -> str:
    said = json.dumps([answers.ratings_digest, dict(answers.labels)], sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()
