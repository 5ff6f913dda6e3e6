import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Literal

import dagster as dg

from agreement_pipeline.errors import EXPECTED
from agreement_pipeline.evidence import build_state_grid, in_order_of_need
from agreement_pipeline.orchestration.compat import (
    WAITING,
    check_spec,
    definitions_around,
    definitions_of_location,
)
from agreement_pipeline.orchestration.host import COMPONENT_TAGS
from agreement_pipeline.orchestration.metadata import project_lines_metadata, rendered
from agreement_pipeline.orchestration.releases import hosts_in
from agreement_pipeline.orchestration.sensors import declare_sensor, shown_state
from agreement_pipeline.projects import Project, state_of
from agreement_pipeline.store import digest_of
from agreement_pipeline.text import counted, joined
from agreement_pipeline.version import __version__

IN_ORDER = "every_project_in_order"
DESCRIPTION = (
    "Which projects need somebody? A line for each, those that need somebody first. The bar is the "
    "interval of the last held round, or else of the last one, beside its cut-offs. The curve "
    "shows the rounds until today. Filter the keys to find a project."
)


@dataclass
class AllProjects(dg.Component, dg.Resolvable):
    """All annotation projects of a code location on one page.

    Its asset says of each project which rounds are held, waiting or overdue.
    """

    automation: Annotated[
        Literal["sensor", "stopped"],
        dg.Resolver.default(
            description="sensor: the page is made again when something changes. stopped: only when "
            "somebody asks for it."
        ),
    ] = "sensor"
    name: Annotated[
        str,
        dg.Resolver.default(
            description="The key of its asset. Two code locations of one instance have two names."
        ),
    ] = "all_projects"

    @classmethod
    def get_spec(cls) -> dg.ComponentTypeSpec:
        return dg.ComponentTypeSpec(tags=list(COMPONENT_TAGS))

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        return overview_definitions(self.automation, self.name)


def overview_definitions(
    automation: Literal["sensor", "stopped"] = "sensor", name: str = "all_projects"
) -> dg.Definitions:
    job_name = f"{name}_page"
    check = check_spec(
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
        check_specs=[check],
    )
    def all_projects(context: dg.AssetExecutionContext) -> dg.MaterializeResult:  # type: ignore[type-arg]  # Dagster reads the bare class
        hosts = hosts_in(definitions_around(context))
        projects = [hosts[name].project for name in sorted(hosts)]
        state, now_seconds = _state_digest_of_projects(projects), time.time()
        project_states = in_order_of_need(
            state_of(project, now_seconds, names=True) for project in projects
        )
        needy = [state.name for state in project_states if state.why]
        wanting = [f"{state.name}: {state.words}" for state in project_states if state.why]
        answer_text = f"No: {joined(wanting)}" if wanting else "Yes."
        keys = {
            name: (host.key("agreement_history"), host.key("acceptability"))
            for name, host in hosts.items()
        }
        answer = dg.AssetCheckResult(
            check_name=IN_ORDER,
            passed=not wanting,
            severity=dg.AssetCheckSeverity.WARN,
            description=answer_text,
        )
        return dg.MaterializeResult(
            data_version=dg.DataVersion(state),
            check_results=[answer],
            metadata={
                "need_somebody": f"{len(needy)} of {counted(len(projects), 'project')}"
                + (f": {joined(needy)}" if needy else ""),
                **project_lines_metadata(project_states, keys),
                **rendered({"projects": build_state_grid(project_states)}, in_place=False),
                "n_need_somebody": len(needy),
            },
        )

    job = dg.define_asset_job(
        job_name, selection=[name], executor_def=dg.in_process_executor, description=DESCRIPTION
    )

    @declare_sensor(
        f"{name}_changed",
        "Writes the page of all projects again.",
        interval_seconds=60,
        job=job,
        is_stopped=automation == "stopped",
    )
    def changed(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        state = _state_digest_of_projects(_find_projects(definitions_of_location(context)))
        if state == context.cursor:
            return dg.SkipReason("nothing has changed in any project")
        if context.instance.get_runs_count(dg.RunsFilter(job_name=job_name, statuses=WAITING)):
            return dg.SkipReason("the page of all projects is about to be written again")
        return dg.SensorResult(run_requests=[dg.RunRequest()], cursor=state)

    return dg.Definitions(assets=[all_projects], jobs=[job], sensors=[changed])


def _find_projects(definitions: Iterable[dg.AssetsDefinition]) -> list[Project]:
    hosts = hosts_in(definitions)
    return [hosts[name].project for name in sorted(hosts)]


def _state_digest_of_projects(projects: Iterable[Project]) -> str:
    """What cannot be read is a state too."""
    states = []
    for project in projects:
        try:
            inbox_state = project.look()
            refusals = "; ".join(inbox_state.refused.values())
            due = project.due(contents=inbox_state)
            states.append(f"{project.no_inbox()}{refusals}{shown_state(project, due)}")
        except EXPECTED as error:
            states.append(f"{project.name}: {error}")
    return digest_of("\n".join(states).encode())
