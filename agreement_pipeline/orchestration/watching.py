"""The sensors that keep the table of all rounds and adjudicated releases up to date."""

import hashlib
import json
import time
from collections.abc import Iterable, Mapping

import dagster as dg

from agreement_pipeline.errors import AgreementError
from agreement_pipeline.orchestration.compat import DATA_VERSION, ENDED, WAITING, AssetJob
from agreement_pipeline.orchestration.host import Host, rounds_of
from agreement_pipeline.orchestration.sensors import tags_of
from agreement_pipeline.projects import Delivery, Project, overdue
from agreement_pipeline.ratings import Adjudicated
from agreement_pipeline.report import admitted_rounds


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
