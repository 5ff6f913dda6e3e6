"""When a project's rounds are measured: the jobs, and the weekly schedule."""

from collections.abc import Sequence
from typing import NamedTuple

import dagster as dg

from agreement_pipeline.orchestration.compat import AssetJob
from agreement_pipeline.orchestration.host import ASSETS, Host


class Jobs(NamedTuple):
    """The jobs of a project: one round from its file, one from the store, and three over all."""

    rounds: AssetJob
    again: AssetJob
    history: AssetJob
    release: AssetJob
    reassessment: AssetJob


def build_jobs(host: Host) -> Jobs:
    """The jobs of one project.

    Each job runs in one process. A round is small, so a process for each step would cost more.
    """
    by_round = [name for name in host.assets if ASSETS[name].by_round]

    def job(name: str, assets: Sequence[str], description: str) -> AssetJob:
        return dg.define_asset_job(
            f"{host.project.name}_{name}",
            selection=dg.AssetSelection.assets(*(host.key(asset) for asset in assets)),
            executor_def=dg.in_process_executor,
            description=description,
        )

    return Jobs(
        job(
            "round",
            by_round,
            "One round from its export to its training data, or to the reason why there is none.",
        ),
        job(
            "again",
            by_round[1:],
            "One round measured and judged again from the store, whatever became of its file.",
        ),
        job("history", ["agreement_history"], "The table of all rounds."),
        job("release", ["release"], "The admitted rounds together, each judged again."),
        job(
            "reassessment",
            ["reassessment"],
            "Every round of the store judged again where something changed since.",
        ),
    )


def build_schedule(host: Host, jobs: Jobs) -> dg.ScheduleDefinition:
    """Judge every round of the store again at the project's times, in one run.

    The policy, the contract or the code can have changed since. A partition that was deleted is put
    back, since that only hides a round in the UI.
    """
    project, partitions = host.project, str(host.partitions.name)

    @dg.schedule(
        name=f"{project.name}_schedule",
        job=jobs.reassessment,
        cron_schedule=project.settings.schedule,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Judges every round of the store again, by today's policy, in one run.",
    )
    def again(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        rounds = project.standings.now().rounds
        if not rounds:
            return dg.SkipReason(f"no round of {project.name} has arrived yet")
        there = set(context.instance.get_dynamic_partitions(partitions))
        if gone := [name for name in rounds if name not in there]:
            context.instance.add_dynamic_partitions(partitions, gone)
        return dg.RunRequest(run_key=context.scheduled_execution_time.isoformat())

    return again
