"""What starts runs: new rounds in the inbox, rounds that are admitted or withdrawn, a table of all
rounds that is old, adjudicated labels.

A cursor keeps what a sensor asked for, and when it asks again. What keeps a sensor from looking,
such as a store that cannot be read, fails its tick: a skipped one looks like a quiet day.
"""

import json
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from time import monotonic
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import dagster as dg

from agreement_pipeline.errors import AgreementError, ProjectError, StoreError
from agreement_pipeline.evidence import admitted_rounds
from agreement_pipeline.large_files import digest_of_plain
from agreement_pipeline.orchestration.compat import (
    DATA_VERSION,
    ENDED,
    IN_PROGRESS,
    WAITING,
    AssetJob,
    storage_ids_by_partition,
)
from agreement_pipeline.orchestration.host import PROJECT, Host, rounds_of
from agreement_pipeline.orchestration.runs import (
    DECISION,
    FAULT,
    FAULT_LASTS,
    HELD,
    NOT_JUDGED,
    REASON_TAG,
)
from agreement_pipeline.projects import (
    Delivery,
    JointRelease,
    Project,
    build_overdue_notice,
    joint_release,
)
from agreement_pipeline.readers import UNFINISHED
from agreement_pipeline.store import check_round_name, digest_of

FIRST_WAIT, LONGEST_WAIT, MOST_DOUBLED = 20.0, 86_400.0, 13
ORIGINAL, PARTITION = "agreement_pipeline/original", "dagster/partition"
RELEASE_STATE = "agreement_pipeline/release_state"
RELEASE_INTERVAL_SECONDS = 30
SETTLING_SECONDS = 25.0
"""Rounds that are decided within so short a time are released together once, and not one by one."""
MAX_WAIT_FOR_RUNS_SECONDS = 600.0
"""A run that hangs does not keep other rounds from being released for longer."""
RELEASED_TOGETHER = "all admitted rounds are released together"
TICK_SECONDS = 45.0
"""Dagster ends a tick after 60 seconds, without a word about what did not answer."""
NO_TAGS: Mapping[str, str] = MappingProxyType({})


Outcome = TypeVar("Outcome")
Tick = Callable[[dg.SensorEvaluationContext], dg.SensorResult | dg.SkipReason]


class LookBegunLateError(AgreementError):
    """Another look had to end first, so nothing is known of the store yet."""


class BoundedLook(Generic[Outcome]):
    """Looks at a store in a thread of its own, one at a time.

    A bucket can take a request and never answer. Its look is then let go on alone, and what it
    finds is dropped, so that neither a tick nor a worker of the daemon waits for it. Who comes
    while another looks waits until that one ends, as long as it may still answer in time.
    """

    def __init__(self, max_seconds: float) -> None:
        self._max_seconds = max_seconds
        self._lock = threading.Lock()
        self._begun_at = 0.0
        self._pending: Future[Outcome] = Future()
        self._pending.cancel()

    def take(self, look: Callable[[], Outcome]) -> Outcome:
        """What the look finds.

        Raises
        ------
        StoreError
            A look has had no answer for so many seconds.
        LookBegunLateError
            This one has had fewer, and no more time.
        """
        ends_at = monotonic() + self._max_seconds
        is_own = False
        while not is_own:
            with self._lock:
                if is_own := self._pending.done():
                    self._pending, self._begun_at = Future(), monotonic()
                    threading.Thread(
                        target=_settle, args=(self._pending, look), daemon=True
                    ).start()
                pending, begun_at = self._pending, self._begun_at
            until = min(ends_at, begun_at + self._max_seconds)
            if wait([pending], max(0.0, until - monotonic())).not_done:
                raise self._unanswered_error(monotonic() - begun_at)
        return pending.result()

    def _unanswered_error(self, seconds: float) -> AgreementError:
        if seconds < self._max_seconds:
            return LookBegunLateError(
                f"found no answer yet, {seconds:.0f} s after another look ended; expected one at "
                "the next tick. Wait for it."
            )
        return StoreError(
            f"found no answer within {self._max_seconds:g} s from the store or the inbox; expected "
            "one. Check that their server is up and can be reached from the code server.",
            may_pass=True,
        )


def _settle(outcome: "Future[Outcome]", look: Callable[[], Outcome]) -> None:
    try:
        outcome.set_result(look())
    except BaseException as error:
        outcome.set_exception(error)


def declare_sensor(
    name: str,
    description: str,
    *,
    interval_seconds: int,
    job: AssetJob | None = None,
    is_stopped: bool = False,
) -> Callable[[Tick], dg.SensorDefinition]:
    """One that is stopped can be started in the UI."""
    status, bounded_look = dg.DefaultSensorStatus, BoundedLook[Any](TICK_SECONDS)

    def declare(tick: Tick) -> dg.SensorDefinition:
        @dg.sensor(
            name=name,
            job=job,
            minimum_interval_seconds=interval_seconds,
            default_status=status.STOPPED if is_stopped else status.RUNNING,
            description=description,
        )
        def sensor(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
            try:
                outcome: dg.SensorResult | dg.SkipReason = bounded_look.take(lambda: tick(context))
            except LookBegunLateError as error:
                return dg.SkipReason(str(error))
            return outcome

        return sensor

    return declare


def read_cursor(cursor: str | None) -> dict[str, Any]:
    """A cursor of another form says nothing."""
    try:
        content = json.loads(cursor or "{}")
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def tags_of(project: Project, delivery: Delivery) -> dict[str, str]:
    """A delivery of all rounds together has no partition, and no round. Two projects may have the
    same file under the same name.
    """
    of_round = {PARTITION: delivery.round} if delivery.round else {}
    return {PROJECT: project.name, **of_round, ORIGINAL: delivery.digest[:12]}


def n_runs(
    instance: dg.DagsterInstance,
    project: Project,
    delivery: Delivery,
    statuses: Sequence[dg.DagsterRunStatus] | None = None,
) -> int:
    return instance.get_runs_count(
        dg.RunsFilter(tags=tags_of(project, delivery), statuses=statuses)
    )


def last_tags(
    instance: dg.DagsterInstance,
    project: Project,
    delivery: Delivery,
    among: Mapping[str, str] = NO_TAGS,
) -> Mapping[str, str]:
    run_filter = dg.RunsFilter(tags={**tags_of(project, delivery), **among})
    return next((run.tags for run in instance.get_runs(run_filter, limit=1)), NO_TAGS)


@dataclass
class RoundCursor:
    """The rounds that were asked for, and the digest of what they are judged by.

    A round that is not decided is asked for again: after 20 seconds, then after twice as long each
    time, at last each day. So a full disk or a network that fails is got over. If the fault lasts,
    it is only asked for again after a day. If something else judges the rounds, all are asked for
    anew. `rounds` has the digest of its bytes, how often it was asked for, and when it is next
    looked at: None for a round that is decided.
    """

    judged_by: str
    rounds: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, cursor: str | None, judged_by: str) -> "RoundCursor":
        content = read_cursor(cursor)
        rounds = content.get("rounds")
        if content.get("judged_by") != judged_by or not isinstance(rounds, dict):
            return cls(judged_by)
        return cls(judged_by, rounds if all(map(_is_valid_state, rounds.values())) else {})

    def to_cursor(self) -> str:
        return json.dumps(vars(self), sort_keys=True)

    def resting(self, deliveries: Iterable[Delivery], now_seconds: float) -> dict[str, str]:
        return {
            delivery.round: delivery.digest
            for delivery in deliveries
            # No wait is longer, unless the clock was put back since.
            if (until := self._state_of(delivery)["next"]) is None
            or now_seconds < until <= now_seconds + LONGEST_WAIT
        }

    def settle(
        self, deliveries: Collection[Delivery], due: Collection[Delivery], now_seconds: float
    ) -> None:
        decided_state = {"tries": 0, "next": None}
        state_by_round = {
            delivery.round: {"digest": delivery.digest, **decided_state} for delivery in deliveries
        }
        waiting = {*self.resting(deliveries, now_seconds), *(delivery.round for delivery in due)}
        self.rounds = {
            name: self.rounds[name] if name in waiting else decided
            for name, decided in state_by_round.items()
            if name in self.rounds or name not in waiting
        }

    def ask(self, delivery: Delivery, now_seconds: float) -> None:
        tries = self._state_of(delivery)["tries"] + 1
        wait = min(FIRST_WAIT * 2 ** min(tries - 1, MOST_DOUBLED), LONGEST_WAIT)
        self._wait(delivery, tries, now_seconds + wait)

    def is_tried(self, delivery: Delivery) -> bool:
        return bool(self._state_of(delivery)["tries"])

    def rest(self, delivery: Delivery, now_seconds: float) -> None:
        self._wait(delivery, 0, now_seconds + LONGEST_WAIT)

    def _wait(self, delivery: Delivery, tries: int, until: float) -> None:
        self.rounds[delivery.round] = {"digest": delivery.digest, "tries": tries, "next": until}

    def _state_of(self, delivery: Delivery) -> dict[str, Any]:
        state = self.rounds.get(delivery.round, {})
        return state if state.get("digest") == delivery.digest else {"tries": 0, "next": 0.0}


def _is_valid_state(state: object) -> bool:
    kinds = {"digest": str, "tries": int, "next": float | int | None}
    return (
        isinstance(state, dict)
        and all(name in state and isinstance(state[name], kind) for name, kind in kinds.items())
        and state["tries"] >= 0
    )


class OpensInstance(Protocol):
    """A context, whose instance takes Dagster a tenth of a second to open: most looks need none."""

    @property
    def instance(self) -> dg.DagsterInstance: ...


class Arrivals(NamedTuple):
    """What came to a project. `find_due` leaves out what rests, by its round and digest."""

    deliveries: Collection[Delivery]
    find_due: Callable[[Mapping[str, str]], Collection[Delivery]]
    refused: Collection[str] = ()


def build_round_sensor(host: Host, job: AssetJob) -> dg.SensorDefinition:
    """It looks often, since a look that finds nothing new costs milliseconds."""
    project = host.project

    @declare_sensor(
        f"{project.name}_new_rounds",
        "Starts a run for each round whose delivery, settings, policy or contract is new. "
        "After a temporary fault, tries again until the round is decided.",
        interval_seconds=project.source.interval_seconds if project.source else 15,
        job=job,
        is_stopped=project.settings.automation == "stopped",
    )
    def new_rounds(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        if wrong := project.no_inbox():
            raise ProjectError(wrong)
        if host.is_asked_for_by_conditions:
            return _add_partitions(context, host)
        return _request_runs_of_arrivals(context, project, arrivals_of_rounds(context, host))

    return new_rounds


def _add_partitions(
    context: dg.SensorEvaluationContext, host: Host
) -> dg.SensorResult | dg.SkipReason:
    """The partitions of the upstream asset as rounds, for which the conditions then ask."""
    partitions = rounds_of(host.project.name)
    existing = set(context.instance.get_dynamic_partitions(str(partitions.name)))
    names, refusals = list[str](), list[str]()
    for name in _version_by_round(context, host):
        try:
            names += [] if name in existing else [check_round_name(name)]
        except AgreementError as error:
            refusals.append(str(error))
    for message in refusals:
        context.log.warning(message)
    if not names:
        source = host.project.settings.rounds_from
        return dg.SkipReason("; ".join(refusals) or f"no new partition of {source}")
    return dg.SensorResult(dynamic_partitions_requests=[partitions.build_add_request(names)])


def build_delivery_sensor(host: Host, job: AssetJob | None) -> list[dg.SensorDefinition]:
    """A table of all rounds is taken when its source has a new one."""
    if job is None or host.project.settings.automation == "eager":
        return []

    @declare_sensor(
        f"{host.project.name}_new_delivery",
        "Fetches the table of all rounds when its source has a new one.",
        interval_seconds=host.project.source.interval_seconds if host.project.source else 15,
        job=job,
        is_stopped=host.project.settings.automation == "stopped",
    )
    def new_delivery(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        return _request_runs_of_arrivals(context, host.project, _arrivals_of_source(context, host))

    return [new_delivery]


def arrivals_of_rounds(context: OpensInstance, host: Host) -> Arrivals:
    project = host.project
    if project.settings.rounds_from is not None and not project.delivers_whole:
        return _arrivals_of_source(context, host)
    inbox_state = project.look()
    return Arrivals(
        inbox_state.deliveries.values(),
        lambda resting: project.due(resting, inbox_state),
        inbox_state.refused.values(),
    )


def _arrivals_of_source(context: OpensInstance, host: Host) -> Arrivals:
    """What the source has: rounds, or all of them in one table without the name of a round.

    One is due until a run for its version, under what judges it now, was decided.
    """
    project = host.project
    deliveries = [
        Delivery(name, project.inbox / (name or project.name), _digest_of(project, name, version))
        for name, version in _version_by_round(context, host).items()
    ]
    return Arrivals(
        deliveries, lambda resting: _undecided_deliveries(context, project, deliveries, resting)
    )


def _version_by_round(context: OpensInstance, host: Host) -> Mapping[str, str]:
    """The version of each round: of an asset, the number of its last materialization."""
    project, upstream = host.project, host.upstream
    if project.source is not None:
        return project.source.list_versions()
    assert upstream is not None
    instance = context.instance
    latest = instance.fetch_materializations(upstream, limit=1).records
    if project.delivers_whole:
        return {"": str(latest[0].storage_id)} if latest else {}
    storage_ids = storage_ids_by_partition(instance, upstream)
    if latest and not storage_ids:
        raise ProjectError(
            f"{project.settings.rounds_from}: found no partitions; expected partitions, which "
            "are the rounds. If one table has all rounds, say which column names them, as "
            "rounds: {column: week}."
        )
    return {name: str(storage_id) for name, storage_id in storage_ids.items()}


def _digest_of(project: Project, round_name: str, version: str) -> str:
    source = str(project.settings.rounds_from)
    return digest_of_plain([source, round_name, version, project.judged_by])


def _undecided_deliveries(
    context: OpensInstance,
    project: Project,
    deliveries: Iterable[Delivery],
    resting: Mapping[str, str],
) -> list[Delivery]:
    return [
        delivery
        for delivery in deliveries
        if resting.get(delivery.round) != delivery.digest
        and not n_runs(context.instance, project, delivery, [dg.DagsterRunStatus.SUCCESS])
        and not last_tags(context.instance, project, delivery, {DECISION: HELD})
    ]


def find_unjudged(context: OpensInstance, host: Host) -> dict[str, str]:
    """Why the last run of what arrived could not judge it, by its round."""
    project = host.project
    if host.is_asked_for_by_conditions:
        # A condition knows no digest of what it asks for, so the last run of the round counts.
        of_project = {PROJECT: project.name}
        broken = context.instance.get_runs(dg.RunsFilter(tags={**of_project, DECISION: NOT_JUDGED}))
        names = {*_version_by_round(context, host)} & {run.tags.get(PARTITION) for run in broken}
        return {
            name: run.tags.get(REASON_TAG, "")
            for name in names
            for run in context.instance.get_runs(
                dg.RunsFilter(tags={**of_project, PARTITION: name}), limit=1
            )
            if run.tags.get(DECISION) == NOT_JUDGED
        }
    tags_by_round = {
        delivery.round: last_tags(context.instance, project, delivery, {DECISION: NOT_JUDGED})
        for delivery in arrivals_of_rounds(context, host).find_due({})
    }
    return {name: tags.get(REASON_TAG, "") for name, tags in tags_by_round.items() if tags}


def _request_runs_of_arrivals(
    context: dg.SensorEvaluationContext, project: Project, arrivals: Arrivals
) -> dg.SensorResult | dg.SkipReason:
    now_seconds, cursor = time.time(), RoundCursor.of(context.cursor, project.judged_by)
    deliveries = arrivals.deliveries
    due = arrivals.find_due(cursor.resting(deliveries, now_seconds))
    cursor.settle(deliveries, due, now_seconds)
    settled, unready = _split_ready_and_unsettled(due, project.settings.settle_seconds, now_seconds)
    waiting = (*unready, *arrivals.refused)
    for message in waiting:
        context.log.warning(message)
    ready = []
    for delivery in settled:
        if n_runs(context.instance, project, delivery, IN_PROGRESS):
            continue
        # A fault that only people can mend is let rest.
        if (
            cursor.is_tried(delivery)
            and last_tags(context.instance, project, delivery).get(FAULT) == FAULT_LASTS
        ):
            cursor.rest(delivery, now_seconds)
        else:
            cursor.ask(delivery, now_seconds)
            ready.append(delivery)
    if not ready:
        context.update_cursor(cursor.to_cursor())
        place = project.settings.rounds_from or project.inbox
        return dg.SkipReason("; ".join(waiting) or f"nothing new in {place}")
    names = [delivery.round for delivery in ready if delivery.round]
    return dg.SensorResult(
        run_requests=_build_run_requests(context.instance, project, ready),
        dynamic_partitions_requests=[rounds_of(project.name).build_add_request(names)],
        cursor=cursor.to_cursor(),
    )


def _split_ready_and_unsettled(
    deliveries: Iterable[Delivery], settle_seconds: float, now_seconds: float
) -> tuple[list[Delivery], list[str]]:
    ready, unsettled, refusals = [], [], []
    for delivery in deliveries:
        early = any(file.modified > now_seconds for file in delivery.files)
        # A date in the future is not believed.
        unsettled_files = (
            file.name.endswith(UNFINISHED)
            or now_seconds - (file.modified if file.modified <= now_seconds else file.changed)
            < settle_seconds
            for file in delivery.files
        )
        if any(unsettled_files):
            problem = "a date in the future" if early else "a file that is still being written"
            unsettled.append(
                f"{delivery.path.name}: found {problem}; expected a file at rest for "
                f"{settle_seconds:g} s. The next tick looks at it again."
            )
            continue
        try:
            if delivery.round:
                check_round_name(delivery.round)
            ready.append(delivery)
        except AgreementError as error:
            refusals.append(str(error))
    return ready, [*unsettled, *refusals]


def _build_run_requests(
    instance: dg.DagsterInstance, project: Project, ready: Sequence[Delivery]
) -> list[dg.RunRequest]:
    """A run for each delivery, with a key that counts the arrivals and the runs that there were.

    A round can come back with bytes that it had before, and a run can fail for a while. Dagster
    drops a run whose key it has seen.
    """
    with project.store.reading():
        arrived = {
            delivery.round: project.times_arrived(delivery.round)
            for delivery in ready
            if delivery.round
        }
    return [
        dg.RunRequest(
            run_key=":".join(
                (
                    project.name,
                    delivery.round,
                    delivery.digest,
                    str(arrived.get(delivery.round, 0)),
                    str(n_runs(instance, project, delivery)),
                )
            ),
            partition_key=delivery.round or None,
            tags={PROJECT: project.name, ORIGINAL: delivery.digest[:12]},
        )
        for delivery in ready
    ]


def build_history_sensor(host: Host, job: AssetJob) -> dg.SensorDefinition:
    """A run of the table of all rounds whenever it would say something else.

    A refused file changes no asset, but the table. A run that waits will show all that happens
    until it starts, so no other one is asked for.
    """
    project, table = host.project, host.key("agreement_history")

    @declare_sensor(
        f"{project.name}_history_changed",
        "Updates agreement_history when a round changes or is overdue.",
        interval_seconds=30,
        job=job,
        is_stopped=project.settings.automation == "stopped",
    )
    def history_changed(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        due = project.due()
        state = shown_state(project, due)
        if state == context.cursor:
            return dg.SkipReason("nothing has changed since the last table of all rounds")
        if not project.store.log.head and not any(
            n_runs(context.instance, project, delivery, ENDED) for delivery in due
        ):
            return dg.SkipReason(f"no round of {project.name} has arrived yet")
        instance = context.instance
        last_event = instance.get_latest_materialization_event(table)
        materialization = None if last_event is None else last_event.asset_materialization
        last_state = materialization and (materialization.tags or {}).get(DATA_VERSION)
        if state == last_state:
            return dg.SkipReason("nothing has changed since the last table of all rounds")
        if instance.get_runs_count(dg.RunsFilter(job_name=job.name, statuses=WAITING)):
            return dg.SkipReason("the table of all rounds is about to be written again")
        # An instance that lost its database has no partitions, and the store knows them.
        add_request = rounds_of(project.name).build_add_request(
            sorted(project.statuses.refresh().rows)
        )
        return dg.SensorResult(
            run_requests=[dg.RunRequest()],
            dynamic_partitions_requests=[add_request] if add_request.partition_keys else [],
            cursor=state,
        )

    return history_changed


def shown_state(project: Project, due: Iterable[Delivery]) -> str:
    waiting = [f"{delivery.round} {delivery.digest}" for delivery in due]
    late = "late" if build_overdue_notice(project, time.time()) else ""
    parts = [project.store.log.head, project.policy.digest, *waiting, late]
    return digest_of("\n".join(parts).encode())


@dataclass
class ReleaseCursor:
    """What the sensor of the joint release knows from its last tick.

    `state` is what is to be released, seen first at `since`. It was asked for `tries` times and is
    asked for again at `next`. `done` is the state that was released last.
    """

    state: str = ""
    since: float = 0.0
    tries: int = 0
    next: float = 0.0
    done: str = ""

    @classmethod
    def of(cls, cursor: str | None) -> "ReleaseCursor":
        """A cursor of another form is as if there were none: the release is then made once more."""
        kinds = {"state": str, "since": float, "tries": int, "next": float, "done": str}
        content = read_cursor(cursor)
        if content.keys() != kinds.keys() or not all(
            isinstance(content[name], kind) for name, kind in kinds.items()
        ):
            return cls()
        return cls(**content)

    def to_cursor(self) -> str:
        return json.dumps(vars(self), sort_keys=True)

    def see(self, state: str, now_seconds: float) -> None:
        if state != self.state or now_seconds < self.since:
            self.state, self.since, self.tries = state, now_seconds, 0
            self.next = now_seconds + SETTLING_SECONDS

    def wait_again(self, now_seconds: float) -> None:
        wait = min(FIRST_WAIT * 2 ** min(self.tries, MOST_DOUBLED), LONGEST_WAIT)
        self.tries, self.next = self.tries + 1, now_seconds + wait

    def rest_after(self, run: dg.DagsterRun, now_seconds: float) -> None:
        """What only people can mend is tried once a day, and at once when something changes."""
        if run.tags.get(FAULT) == FAULT_LASTS and self.tries < MOST_DOUBLED:
            self.tries, self.next = MOST_DOUBLED, now_seconds + LONGEST_WAIT


def build_release_sensor(host: Host, jobs: Mapping[str, AssetJob]) -> list[dg.SensorDefinition]:
    """A release of all admitted rounds for each set of them that lasts.

    The lock judges every round again, so a run that comes too late or too often releases nothing
    that is not admitted, and nothing twice.
    """
    project = host.project
    if project.settings.release == "by_hand":
        return []
    running_filters = [
        dg.RunsFilter(job_name=jobs[name].name, statuses=IN_PROGRESS)
        for name in ("round", "again", "reassessment")
    ]

    @declare_sensor(
        f"{project.name}_admitted_rounds",
        "Releases all admitted rounds together again when one is admitted or withdrawn.",
        interval_seconds=RELEASE_INTERVAL_SECONDS,
        job=jobs["release"],
        is_stopped=project.settings.automation == "stopped",
    )
    def admitted_rounds_changed(
        context: dg.SensorEvaluationContext,
    ) -> dg.SensorResult | dg.SkipReason:
        planned_release = joint_release(project)
        if not planned_release.rounds:
            return dg.SkipReason("no round is admitted")
        now_seconds, cursor = time.time(), ReleaseCursor.of(context.cursor)
        cursor.see(planned_release.state, now_seconds)
        if planned_release.is_made and cursor.done == planned_release.state:
            return dg.SkipReason(RELEASED_TOGETHER)
        filter_by_state = dg.RunsFilter(
            job_name=jobs["release"].name, tags={RELEASE_STATE: planned_release.state}
        )
        last_run = next(iter(context.instance.get_runs(filter_by_state, limit=1)), None)
        reason_to_wait = _reason_to_wait(planned_release, cursor, now_seconds, last_run) or (
            "rounds are being judged; the release waits for them"
            if now_seconds < cursor.since + MAX_WAIT_FOR_RUNS_SECONDS
            and any(map(context.instance.get_runs_count, running_filters))
            else ""
        )
        if reason_to_wait:
            context.update_cursor(cursor.to_cursor())
            return dg.SkipReason(reason_to_wait)
        cursor.wait_again(now_seconds)
        request = dg.RunRequest(
            run_key=f"{planned_release.state}:{context.instance.get_runs_count(filter_by_state)}",
            tags={RELEASE_STATE: planned_release.state},
        )
        return dg.SensorResult(run_requests=[request], cursor=cursor.to_cursor())

    return [admitted_rounds_changed]


def _reason_to_wait(
    planned_release: JointRelease,
    cursor: ReleaseCursor,
    now_seconds: float,
    last_run: dg.DagsterRun | None,
) -> str:
    """Why no release is asked for now; nothing if one is. The `cursor` is brought up to date."""
    was_run = last_run is not None and last_run.status == dg.DagsterRunStatus.SUCCESS
    if planned_release.is_made and (was_run or cursor.done in ("", planned_release.state)):
        cursor.done = planned_release.state
        return RELEASED_TOGETHER
    if last_run is not None and last_run.status in IN_PROGRESS:
        return "the release of all admitted rounds is being made"
    if last_run is not None and cursor.tries:
        cursor.rest_after(last_run, now_seconds)
    if now_seconds >= cursor.next:
        return ""
    if last_run is not None and cursor.tries:
        return (
            f"it could not be made, and is tried again later: {last_run.tags.get(REASON_TAG, '')}"
        )
    return "a round was decided a moment ago; the release waits for those that follow"


def build_adjudicated_sensor(host: Host, job: AssetJob) -> list[dg.SensorDefinition]:
    project, training_data = host.project, host.key("training_data")
    server = project.adjudication_server
    if project.settings.adjudicated is None and server is None:
        return []

    @declare_sensor(
        f"{project.name}_adjudicated",
        "Releases an admitted round again when its adjudicated labels change.",
        interval_seconds=30 if server is None else server.server.interval_seconds,
        job=job,
        is_stopped=project.settings.automation == "stopped",
    )
    def adjudicated(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        digests_before = read_cursor(context.cursor)
        exchange = project.exchange_disputed()
        digests, mistakes = _digest_answers(project, digests_before)
        mistakes = "; ".join([*exchange.failed.values(), *([mistakes] if mistakes else [])])
        if mistakes:
            context.log.warning(mistakes)
        changed_rounds = [
            name
            for name in sorted({*digests, *digests_before})
            if digests.get(name) != digests_before.get(name)
        ]
        changed_on_server = {
            name: state for name, state in exchange.rounds.items() if state.is_changed
        }
        if not changed_rounds and not changed_on_server:
            return dg.SkipReason(mistakes or "no adjudicated labels have changed")
        return dg.SensorResult(
            asset_events=[
                dg.AssetObservation(
                    host.key("disputed_items"),
                    partition=name,
                    metadata={
                        "adjudicated_in": dg.MetadataValue.url(state.url),
                        "items_on_server": state.n_items,
                        "items_answered": state.n_answered,
                    },
                )
                for name, state in changed_on_server.items()
            ],
            run_requests=[
                dg.RunRequest(partition_key=name, asset_selection=[training_data])
                for name in changed_rounds
            ],
            dynamic_partitions_requests=[rounds_of(project.name).build_add_request(changed_rounds)],
            cursor=json.dumps(digests),
        )

    return [adjudicated]


def _digest_answers(
    project: Project, digests_before: Mapping[str, str]
) -> tuple[dict[str, str], str]:
    """A round whose adjudicated labels cannot be read stays as it was before."""
    digests: dict[str, str] = {}
    mistakes: list[str] = []
    for name in admitted_rounds(project.store):
        try:
            answers = project.adjudicated([name])
        except AgreementError as error:
            mistakes.append(str(error))
            digests |= {name: digests_before[name]} if name in digests_before else {}
            continue
        if name in answers:
            of_ratings, labels = answers[name].ratings_digest, dict(answers[name].labels)
            digests[name] = digest_of_plain([of_ratings, labels])
    return digests, "; ".join(dict.fromkeys(mistakes))
