"""The code location: every project in configs/projects.

The folder configs/ is in the working directory, or in the folder that AGREEMENT_ROOT names.
"""

import os
from pathlib import Path

import dagster as dg

from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import ProjectError
from agreement_pipeline.orchestration.component import project_definitions
from agreement_pipeline.orchestration.overview import overview_definitions
from agreement_pipeline.policy import load_policy
from agreement_pipeline.projects import load_projects

AUTOMATION = "AGREEMENT_AUTOMATION"


@dg.definitions
def defs() -> dg.Definitions:
    """The definitions of all projects, and of the page of them all.

    Every policy and contract in configs/ is read too.

    All steps of a run are in one process, also those of a backfill: to start one process more for
    each would take longer than the step. With AGREEMENT_AUTOMATION=stopped nothing runs by itself,
    as on a laptop beside the deployment of the same projects.
    """
    configs = Path(os.environ.get("AGREEMENT_ROOT", ".")).resolve() / "configs"
    for policy in sorted((configs / "policies").glob("*.yaml")):
        load_policy(policy)
    for contract in sorted((configs / "contracts").glob("[!.]*")):
        Contract.load(contract)
    projects, automation = load_projects(configs / "projects"), os.environ.get(AUTOMATION)
    if automation is not None:
        if automation != "stopped":
            raise ProjectError(
                f"environment variable {AUTOMATION}: found {automation!r}; expected 'stopped', or "
                "no such variable. What a project's file says then holds."
            )
        stopped = {"automation": "stopped"}
        projects = tuple(settings.model_copy(update=stopped) for settings in projects)
    runs_by_itself = any(settings.automation != "stopped" for settings in projects)
    return dg.Definitions.merge(
        *map(project_definitions, projects),
        overview_definitions("sensor" if runs_by_itself or not projects else "stopped"),
        dg.Definitions(executor=dg.in_process_executor),
    )
