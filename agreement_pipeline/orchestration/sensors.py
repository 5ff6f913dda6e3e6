"""The sensor that finds new and changed rounds in a project's inbox."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import dagster as dg

from agreement_pipeline.errors import AgreementError, ProjectError
from agreement_pipeline.orchestration.asked import Asked
from agreement_pipeline.orchestration.compat import IN_PROGRESS, AssetJob
from agreement_pipeline.orchestration.host import rounds_of
from agreement_pipeline.orchestration.outcomes import FAULT, LASTS
from agreement_pipeline.projects import Delivery, FileSeen, Project
from agreement_pipeline.readers import UNFINISHED
from agreement_pipeline.store import check_round_name

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
