import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import dagster as dg

from agreement_pipeline.errors import EXPECTED
from agreement_pipeline.evidence import state_grid
from agreement_pipeline.orchestration.compat import (
    WAITING,
    check_spec,
    definitions_around,
    definitions_of_location,
)
from agreement_pipeline.orchestration.metadata import rendered
from agreement_pipeline.orchestration.releases import hosts_in
from agreement_pipeline.orchestration.sensors import declare_sensor, shown_state
from agreement_pipeline.projects import Project, state_of
from agreement_pipeline.store import digest_of
from agreement_pipeline.text import joined
from agreement_pipeline.version import __version__

IN_ORDER = "every_project_in_order"
DESCRIPTION = "Where are rounds held, waiting or overdue? One row for each project."


@dataclass
class AllProjects(dg.Component, dg.Resolvable):
    """All annotation projects of a code location on one page.

    Its asset says of each project which rounds are held, waiting or overdue. A sensor makes it
    again when that changes, unless it is `automation: stopped`. Two code locations of one instance
    give their pages two names.
    """

    automation: Literal["sensor", "stopped"] = "sensor"
    name: str = "all_projects"

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        return overview_definitions(self.automation, self.name)


def overview_definitions(
    automation: Literal["sensor", "stopped"] = "sensor", name: str = "all_projects"
) -> dg.Definitions:
    job_name = f"{name}_page"
    asked = check_spec(
        IN_ORDER,
        asset=dg.AssetKey(name),
        description="Is nothing held, waiting or overdue in any project?",
        partitions=None,
    )

    @dg.asset(
        name=name,
        group_name=name,
        description=DESCRIPTION,
        kinds={"dashboard"},
        code_version=__version__,
        check_specs=[asked],
    )
    def all_projects(context: dg.AssetExecutionContext) -> dg.MaterializeResult:  # type: ignore[type-arg]  # Dagster reads the bare class
        projects = _projects_in(definitions_around(context))
        state, now = _state_of(projects), time.time()
        found = [state_of(each, now, names=True) for each in projects]
        wanting = [f"{each.name}: {each.words}" for each in found if each.why]
        said = f"No: {joined(wanting)}" if wanting else "Yes."
        answer = dg.AssetCheckResult(
            check_name=IN_ORDER,
            passed=not wanting,
            severity=dg.AssetCheckSeverity.WARN,
            description=said,
        )
        return dg.MaterializeResult(
            data_version=dg.DataVersion(state),
            check_results=[answer],
            metadata=rendered({"projects": state_grid(found), "need_somebody": len(wanting)}),
        )

    job = dg.define_asset_job(
        job_name, selection=[name], executor_def=dg.in_process_executor, description=DESCRIPTION
    )

    @declare_sensor(
        f"{name}_changed",
        "Writes the page of all projects again.",
        every=60,
        job=job,
        is_stopped=automation == "stopped",
    )
    def changed(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        state = _state_of(_projects_in(definitions_of_location(context)))
        if state == context.cursor:
            return dg.SkipReason("nothing has changed in any project")
        if context.instance.get_runs_count(dg.RunsFilter(job_name=job_name, statuses=WAITING)):
            return dg.SkipReason("the page of all projects is about to be written again")
        return dg.SensorResult(run_requests=[dg.RunRequest()], cursor=state)

    return dg.Definitions(assets=[all_projects], jobs=[job], sensors=[changed])


def _projects_in(definitions: Iterable[dg.AssetsDefinition]) -> list[Project]:
    hosts = hosts_in(definitions)
    return [hosts[name].project for name in sorted(hosts)]


def _state_of(projects: Iterable[Project]) -> str:
    """What cannot be read is a state too."""
    states = []
    for each in projects:
        try:
            found = each.look()
            refused = "; ".join(found.refused.values())
            states.append(
                f"{each.no_inbox()}{refused}{shown_state(each, each.due(contents=found))}"
            )
        except EXPECTED as error:
            states.append(f"{each.name}: {error}")
    return digest_of("\n".join(states).encode())
