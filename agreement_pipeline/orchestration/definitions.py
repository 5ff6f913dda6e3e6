"""The code location: every project in configs/projects.

The folder configs/ is in the working directory, or in the folder that AGREEMENT_ROOT names.
"""

import os
from pathlib import Path

import dagster as dg

from agreement_pipeline.contract import Contract
from agreement_pipeline.orchestration.component import project_definitions
from agreement_pipeline.orchestration.overview import overview_definitions
from agreement_pipeline.policy import load_policy
from agreement_pipeline.projects import load_projects


@dg.definitions
def defs() -> dg.Definitions:
    """The definitions of all projects, and of the page of them all.

    Every policy and contract in configs/ is read too.

    All steps of a run are in one process, also those of a backfill: to start one process more for
    each would take longer than the step.
    """
    configs = Path(os.environ.get("AGREEMENT_ROOT", ".")).resolve() / "configs"
    for policy in sorted((configs / "policies").glob("*.yaml")):
        load_policy(policy)
    for contract in sorted((configs / "contracts").glob("[!.]*")):
        Contract.load(contract)
    return dg.Definitions.merge(
        *(project_definitions(settings) for settings in load_projects(configs / "projects")),
        overview_definitions(),
        dg.Definitions(executor=dg.in_process_executor),
    )
