"""The sensor that finds new and changed rounds in a project's inbox."""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import dagster as dg

from agreement_pipeline.errors import AgreementError, ProjectError
from agreement_pipeline.orchestration.compat import AssetJob
from agreement_pipeline.orchestration.host import rounds_of
from agreement_pipeline.projects import Delivery, Project
from agreement_pipeline.readers import UNFINISHED
from agreement_pipeline.store import check_round_name


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
        minimum_interval_seconds=30,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Runs a round when its file arrives, and again when its bytes change.",
    )
    def new_rounds(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        if not project.inbox.exists():
            raise ProjectError(project.no_inbox())
        seen = json.loads(context.cursor or "{}")
        try:
            arrivals = look(
                project.due(seen), settle_seconds=project.settings.settle_seconds, now=time.time()
            )
        except AgreementError as error:
            return dg.SkipReason(str(error))
        waiting = (*arrivals.unsettled, *arrivals.refused)
        for message in waiting:
            context.log.warning(message)
        if not arrivals.ready:
            return dg.SkipReason("; ".join(waiting) or f"nothing new in {project.inbox}")
        return _runs(project, arrivals.ready, seen)

    return new_rounds


def _runs(project: Project, ready: Sequence[Delivery], seen: Mapping[str, str]) -> dg.SensorResult:
    with project.store.reading():
        requests = [
            dg.RunRequest(
                run_key=_run_key(project, each),
                partition_key=each.round,
                tags={"agreement_pipeline/original": each.digest[:12]},
            )
            for each in ready
        ]
    added = rounds_of(project.name).build_add_request([each.round for each in ready])
    cursor = {**seen, **{each.round: each.digest for each in ready}}
    return dg.SensorResult(
        run_requests=requests,
        dynamic_partitions_requests=[added],
        cursor=json.dumps(cursor, sort_keys=True),
    )


def look(deliveries: Iterable[Delivery], *, settle_seconds: float, now: float) -> Arrivals:
    """Sort the deliveries: ready, still being written, or refused by name."""
    ready, unsettled, refused = [], [], []
    for delivery in deliveries:
        if _unsettled(delivery.path, settle_seconds, now):
            unsettled.append(
                f"{delivery.path.name}: found a file that is still being written; expected a file "
                f"at rest for {settle_seconds:g} s. The next tick looks at it again."
            )
            continue
        try:
            check_round_name(delivery.round)
        except AgreementError as error:
            refused.append(str(error))
        else:
            ready.append(delivery)
    return Arrivals(tuple(ready), tuple(unsettled), tuple(refused))


def _run_key(project: Project, delivery: Delivery) -> str:
    """A key for each arrival, since a round can come back with bytes that it had before.

    Dagster drops a run whose key it has seen.
    """
    return f"{delivery.round}:{delivery.digest}:{project.times_arrived(delivery.round)}"


def _unsettled(path: Path, settle_seconds: float, now: float) -> bool:
    return path.name.endswith(UNFINISHED) or now - path.stat().st_mtime < settle_seconds
