"""The sensor that finds new and changed rounds in a project's inbox."""

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import dagster as dg

from agreement_pipeline.errors import AgreementError
from agreement_pipeline.orchestration.compat import AssetJob
from agreement_pipeline.orchestration.steps import partitions_of
from agreement_pipeline.projects import Delivery, Project
from agreement_pipeline.readers import UNFINISHED
from agreement_pipeline.store import check_round_name


@dataclass(frozen=True)
class Arrivals:
    """What a look into the inbox found: rounds to run, files still being written, names that cannot be rounds."""

    ready: tuple[Delivery, ...]
    unsettled: tuple[str, ...]
    refused: tuple[str, ...]


def build_round_sensor(project: Project, job: AssetJob) -> dg.SensorDefinition:
    """A run for every round that is new or whose bytes changed."""
    partitions = partitions_of(project)

    @dg.sensor(
        name=f"{project.name}_new_rounds",
        job=job,
        minimum_interval_seconds=30,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Runs a round when its file arrives, and again when its bytes change.",
    )
    def new_rounds(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        seen = json.loads(context.cursor or "{}")
        try:
            arrivals = look(
                project.due(), seen, settle_seconds=project.settings.settle_seconds, now=time.time()
            )
        except AgreementError as error:
            return dg.SkipReason(str(error))
        for message in (*arrivals.unsettled, *arrivals.refused):
            context.log.warning(message)
        if not arrivals.ready:
            return dg.SkipReason(
                "; ".join((*arrivals.unsettled, *arrivals.refused)) or _nothing_in(project)
            )
        return dg.SensorResult(
            run_requests=[
                dg.RunRequest(
                    run_key=_run_key(project, each),
                    partition_key=each.round,
                    tags={"agreement_pipeline/original": each.digest[:12]},
                )
                for each in arrivals.ready
            ],
            dynamic_partitions_requests=[
                partitions.build_add_request([each.round for each in arrivals.ready])
            ],
            cursor=json.dumps(
                {**seen, **{each.round: each.digest for each in arrivals.ready}}, sort_keys=True
            ),
        )

    return new_rounds


def _nothing_in(project: Project) -> str:
    """Why there is nothing to run, where no file was found that waits or is refused."""
    if project.inbox.exists():
        return f"nothing new in {project.inbox}"
    return f"{project.inbox}: no such folder or file found; the inbox of {project.name} is required. Correct inbox in the project, or make the folder."


def look(
    deliveries: Iterable[Delivery], seen: Mapping[str, str], *, settle_seconds: float, now: float
) -> Arrivals:
    """Sort deliveries into those to run, those still being written and those whose name cannot be a round's."""
    ready, unsettled, refused = [], [], []
    for delivery in deliveries:
        if seen.get(delivery.round) == delivery.digest:
            continue
        if _unsettled(delivery.path, settle_seconds, now):
            unsettled.append(
                f"{delivery.path.name}: still being written; a file at rest for {settle_seconds:g} s is required. It is looked at again at the next tick."
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
    """One run for each arrival: Dagster drops a run whose key it has seen, and a round may come back as it was before the last time."""
    return f"{delivery.round}:{delivery.digest}:{project.times_arrived(delivery.round)}"


def _unsettled(path: Path, settle_seconds: float, now: float) -> bool:
    return path.name.endswith(UNFINISHED) or now - path.stat().st_mtime < settle_seconds
