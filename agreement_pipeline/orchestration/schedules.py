"""When a project's rounds are measured: the jobs, and the weekly schedule."""

import dagster as dg

from agreement_pipeline.orchestration.compat import AssetJob
from agreement_pipeline.orchestration.host import ASSETS, Host


def build_jobs(host: Host) -> dict[str, AssetJob]:
    """Each job runs in one process. A round is small, so a process for each step would
    cost more.
    """
    by_round = [name for name in host.assets if ASSETS[name].by_round]
    jobs = {
        "round": (
            by_round,
            "One round from its export to its training data, or to the reason why there is none.",
        ),
        "again": (
            by_round[1:],
            "One round measured and judged again from the store, whatever became of its file.",
        ),
        "history": (["agreement_history"], "The table of all rounds."),
        "release": (["release"], "The admitted rounds together, each judged again."),
        "reassessment": (
            ["reassessment"],
            "Every round of the store judged again where something changed since.",
        ),
    }
    if "drawn_items" in host.assets:
        jobs["draw"] = ["drawn_items"], "One draw from each population that a classifier labelled."
    return {
        name: dg.define_asset_job(
            f"{host.project.name}_{name}",
            selection=dg.AssetSelection.assets(*map(host.key, assets)),
            executor_def=dg.in_process_executor,
            description=description,
        )
        for name, (assets, description) in jobs.items()
    }


def build_schedule(host: Host, job: AssetJob) -> dg.ScheduleDefinition:
    """Judge every round of the store again at the project's times, in one run.

    The policy, the contract or the code can have changed since. A partition that was deleted is put
    back, since that only hides a round in the UI.
    """
    project, partitions = host.project, str(host.partitions.name)

    @dg.schedule(
        name=f"{project.name}_schedule",
        job=job,
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
