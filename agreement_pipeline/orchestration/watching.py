"""The sensor that keeps the table of all rounds up to date."""

import hashlib
import time

import dagster as dg

from agreement_pipeline.orchestration.compat import AssetJob
from agreement_pipeline.projects import Project, overdue


def build_history_sensor(project: Project, job: AssetJob) -> dg.SensorDefinition:
    """A run of the table of all rounds whenever it would say something else.

    That is so after every delivery, decision, release and withdrawal, wherever it was made. A file
    that is refused changes no asset, so no condition on assets would show it.
    """

    @dg.sensor(
        name=f"{project.name}_history_changed",
        job=job,
        minimum_interval_seconds=30,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Writes the table of all rounds again when it changes, or a round is overdue.",
    )
    def history_changed(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        now = _state(project)
        if now == context.cursor:
            return dg.SkipReason("nothing has changed since the last table of all rounds")
        return dg.SensorResult(run_requests=[dg.RunRequest()], cursor=now)

    return history_changed


def _state(project: Project) -> str:
    """A digest of what the table shows: the log, what is not judged, and if a round is overdue."""
    due = [f"{each.round} {each.digest}" for each in project.due()]
    late = "late" if overdue(project, time.time()) else ""
    return hashlib.sha256("\n".join([project.store.head, *due, late]).encode()).hexdigest()
