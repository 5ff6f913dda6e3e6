"""A project as a Dagster component, with its jobs and its weekly schedule."""

import re
from collections.abc import Mapping, Sequence
from inspect import getdoc
from typing import Annotated, Any

import dagster as dg
from pydantic import BaseModel, Field

from agreement_pipeline.errors import ProjectError
from agreement_pipeline.orchestration.alerts import build_alert_sensor
from agreement_pipeline.orchestration.assets import build_assets
from agreement_pipeline.orchestration.compat import (
    AssetJob,
    TranslationFn,
    TranslationFnResolver,
    is_cron_schedule,
    post_processing_of,
)
from agreement_pipeline.orchestration.host import ASSETS, COMPONENT_TAGS, Host, Translate
from agreement_pipeline.orchestration.releases import ReleaseIOManagerDefinition
from agreement_pipeline.orchestration.sensors import (
    build_adjudicated_sensor,
    build_delivery_sensor,
    build_history_sensor,
    build_release_sensor,
    build_round_sensor,
)
from agreement_pipeline.projects import Project, ProjectSettings
from agreement_pipeline.ratings import Scale, Trains
from agreement_pipeline.readers import Bounds, Columns, Limits, PredictionsFile, RoundPeriods
from agreement_pipeline.release import Publication
from agreement_pipeline.sources import AdjudicateIn, RoundsFrom
from agreement_pipeline.units import UnitSettings


def descriptions(described: type) -> dict[str, str]:
    """The text below each name in the section *Attributes* of a docstring.

    >>> class Box:
    ...     '''A box.
    ...
    ...     Attributes
    ...     ----------
    ...     width, height
    ...         In metres.
    ...     '''
    >>> descriptions(Box)
    {'width': 'In metres.', 'height': 'In metres.'}
    """
    _, _, section = (getdoc(described) or "").partition("Attributes\n----------\n")
    entries = re.findall(r"^(\S.*)\n((?:[ ]{4}.*(?:\n|\Z))+)", section, re.MULTILINE)
    return {name: " ".join(text.split()) for names, text in entries for name in names.split(", ")}


YAML = """# Every key: agreement-pipeline guide project, or dg utils inspect-component {type}
type: {type}

attributes:
  project: {project}
  inbox: {inbox}  # a folder with one file a round; drop a file, and it is judged
  # rounds_from: {{asset: staging/annotations}}  # or, in place of inbox, an asset of yours
  scale:
    level: nominal  # or ordinal, interval, ratio
    categories: {categories}  # every label that raters can choose
  columns:  # what your export calls them
    item: item
    rater: rater
    label: label
  classifiers: []  # raters that are models; a round without one of them is refused
  policy: standard  # bundled; or the name of a file in configs/policies
"""
PYTHON = """import dagster as dg
from agreement_pipeline import AnnotationProject


@dg.component_instance
def load(context: dg.ComponentLoadContext) -> AnnotationProject:
    return AnnotationProject(
        project="{project}",
        inbox="{inbox}",
        scale={{"level": "nominal", "categories": {categories}}},
        policy="standard",
    )
"""


class ProjectParams(BaseModel):
    project: str | None = Field(None, description="Its name. By default, that of its folder.")
    inbox: str | None = Field(None, description="Where rounds arrive. By default, data/<project>.")
    categories: str = Field("yes,no", description="The labels, separated by commas.")


class ProjectScaffolder(dg.Scaffolder[ProjectParams]):
    """Writes a component that loads as it is, and makes its inbox, unless that is a bucket."""

    @classmethod
    def get_scaffold_params(cls) -> type[ProjectParams]:
        return ProjectParams

    def scaffold(self, request: dg.ScaffoldRequest[ProjectParams]) -> None:
        folder = request.target_path.parent if request.append else request.target_path
        project = request.params.project or folder.name
        inbox = request.params.inbox or f"data/{project}"
        values = {
            "type": request.type_name,
            "project": project,
            "inbox": inbox,
            "categories": [category.strip() for category in request.params.categories.split(",")],
        }
        if request.project_root is None:
            raise ProjectError(
                f"{request.target_path}: found no project around it; expected a folder of a "
                "Dagster project. Change into the project."
            )
        if "://" not in inbox:
            (request.project_root / inbox).mkdir(parents=True, exist_ok=True)
        python = request.scaffold_format == "python"
        if request.append and not python:
            with request.target_path.open("a", encoding="utf-8") as file:
                file.write(f"---\n{YAML.format(**values)}")
            return
        name, text = ("component.py", PYTHON) if python else ("defs.yaml", YAML)
        (request.target_path / name).write_text(text.format(**values), encoding="utf-8")


def as_written(context: dg.ResolutionContext, value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: as_written(context, entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [as_written(context, entry) for entry in value]
    # Dagster would read the text 12 as a number, though it is no template.
    is_plain = isinstance(value, str) and "{{" not in value and "{%" not in value
    return value if is_plain else context.resolve_value(value)


def written(kind: Any) -> dg.Resolver:
    return dg.Resolver(as_written, model_field_type=kind, inject_before_resolve=False)


GROUPS = written(tuple[tuple[str, ...], ...])
MAPPING, NAMES = written(dict[str, Any]), written(tuple[str, ...])

POST_PROCESSED = (
    "group_name",
    "description",
    "metadata",
    "tags",
    "kinds",
    "owners",
    "automation_condition",
)
"""What `post_processing` may change. The rest says what an asset is made of, and how it is run."""

OF_TRANSLATION = (
    "Another key, key_prefix, group_name, description, metadata, tags or owners for the assets. "
    "{{ spec }} is the asset, {{ project }} the project's name."
)
TRANSLATION = TranslationFnResolver[ProjectSettings](lambda project: {"project": project.project})


@dg.scaffold_with(ProjectScaffolder)
class AnnotationProject(dg.Component, ProjectSettings, dg.Resolvable):
    """An annotation project: its rounds are measured, judged, and released or held.

    A round is a batch of items that raters have labelled. A file in the inbox is a round. A sensor
    starts a run for each. The run measures how far raters agree. It judges the intervals by the
    policy. Training data exist only for rounds that the policy admits.
    """

    scale: Annotated[Scale, MAPPING]
    columns: Annotated[Columns, MAPPING] = Columns()
    limits: Annotated[Limits, MAPPING] = Limits()
    dataset: Annotated[Publication, MAPPING] = Publication()
    units: Annotated[UnitSettings | None, written(dict[str, Any] | None)] = None
    classifiers: Annotated[tuple[str, ...], NAMES] = ()
    optional_classifiers: Annotated[tuple[str, ...], NAMES] = ()
    exclude_raters: Annotated[tuple[str, ...], NAMES] = ()
    strata: Annotated[tuple[str, ...], NAMES] = ()
    keep: Annotated[tuple[str, ...], NAMES] = ()
    missing: Annotated[tuple[str, ...], NAMES] = ()
    same_label: Annotated[tuple[tuple[str, ...], ...], GROUPS] = ()
    same_rater: Annotated[tuple[tuple[str, ...], ...], GROUPS] = ()
    different_raters: Annotated[tuple[tuple[str, ...], ...], GROUPS] = ()
    where: Annotated[
        dict[str, tuple[str, ...] | Bounds], written(dict[str, tuple[str, ...] | dict[str, Any]])
    ] = Field({})
    rounds: Annotated[RoundPeriods | None, written(dict[str, Any] | None)] = None
    rounds_from: Annotated[RoundsFrom | None, written(dict[str, Any] | None)] = Field(
        None, validate_default=True
    )
    adjudicate_in: Annotated[AdjudicateIn | None, written(dict[str, Any] | None)] = None
    trains: Annotated[Trains | None, written(str | dict[str, Any] | None)] = None
    predictions: Annotated[dict[str, PredictionsFile], written(dict[str, dict[str, Any]])] = Field(
        {}
    )
    translation: Annotated[TranslationFn[ProjectSettings] | None, TRANSLATION] = None

    @classmethod
    def get_spec(cls) -> dg.ComponentTypeSpec:
        return dg.ComponentTypeSpec(tags=list(COMPONENT_TAGS))

    @classmethod
    def model(cls) -> type[BaseModel]:
        model = super().model()
        description_by_name = {**descriptions(ProjectSettings), "translation": OF_TRANSLATION}
        for name, field in model.model_fields.items():
            field.description = description_by_name.get(name)
        model.model_rebuild(force=True)
        return model

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        settings, translation = self, self.translation
        check_post_processing(self.project, post_processing_of(context))
        if "root" not in self.model_fields_set:
            settings = self.model_copy(update={"root": str(context.project_root)})
        return project_definitions(
            settings, translation and (lambda spec: translation(spec, settings))
        )


def check_post_processing(project: str, steps: Sequence[Mapping[str, Any]]) -> None:
    """Dagster would apply it to assets that are no longer those of the project."""
    for step in steps:
        attributes = [str(name) for name in step.get("attributes") or ()]
        others = [name for name in attributes if name not in POST_PROCESSED]
        if others:
            raise ProjectError(
                f"project {project}: post_processing of {step.get('target', '*')!r}: found "
                f"{', '.join(others)}; expected only {', '.join(POST_PROCESSED)}. Leave the others "
                "out; translation changes the key."
            )
        if step.get("operation") == "replace" and "metadata" in attributes:
            raise ProjectError(
                f"project {project}: post_processing of {step.get('target', '*')!r}: found "
                "operation: replace for metadata; expected merge, since the metadata say of which "
                "project an asset is. Leave operation out."
            )


def project_definitions(
    settings: ProjectSettings, translate: Translate | None = None
) -> dg.Definitions:
    project = Project(settings).checked()
    hosted = Host(project, translate)
    jobs = _build_jobs(hosted)
    return dg.Definitions(
        assets=build_assets(hosted),
        jobs=list(jobs.values()),
        sensors=[
            build_round_sensor(hosted, jobs["round"]),
            *build_delivery_sensor(hosted, jobs.get("delivery")),
            build_history_sensor(hosted, jobs["history"]),
            *build_release_sensor(hosted, jobs),
            *build_adjudicated_sensor(hosted, jobs["again"]),
            *build_alert_sensor(hosted),
        ],
        schedules=[_build_schedule(hosted, jobs["reassessment"])],
        resources={hosted.io_manager_key: ReleaseIOManagerDefinition(hosted)},
    )


def _build_jobs(host: Host) -> dict[str, AssetJob]:
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
            "One round, measured and judged again from the store, even if its file is gone.",
        ),
        "delivery": (["delivered_table"], "The table of all rounds, as its source gives it."),
        "history": (["agreement_history"], "The overview of all rounds."),
        "release": (["release"], "All admitted rounds together, each judged again."),
        "reassessment": (
            ["reassessment"],
            "All rounds of the store, judged again if something changed.",
        ),
    }
    if "delivered_table" not in host.assets:
        del jobs["delivery"]
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


def _build_schedule(host: Host, job: AssetJob) -> dg.ScheduleDefinition:
    """Judge every round of the store again at the project's times, in one run.

    The policy, the contract or the code can have changed since. A partition that was deleted is put
    back, since that only hides a round in the UI.
    """
    project, partitions = host.project, str(host.partitions.name)
    if not is_cron_schedule(project.settings.cron_schedule):
        raise ProjectError(
            f"project {project.name}: schedule: found {project.settings.cron_schedule!r}; expected "
            "a cron expression of Dagster's for a day that exists, as 0 6 * * 1. Correct the "
            "schedule in the project's file."
        )

    @dg.schedule(
        name=f"{project.name}_schedule",
        job=job,
        cron_schedule=project.settings.cron_schedule,
        default_status=(
            dg.DefaultScheduleStatus.STOPPED
            if project.settings.automation == "stopped"
            else dg.DefaultScheduleStatus.RUNNING
        ),
        description="Judges every round of the store again, by today's policy, in one run.",
    )
    def again(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        rounds = sorted(project.statuses.refresh().rows)
        if not rounds:
            return dg.SkipReason(f"no round of {project.name} has arrived yet")
        existing = set(context.instance.get_dynamic_partitions(partitions))
        if missing := [name for name in rounds if name not in existing]:
            context.instance.add_dynamic_partitions(partitions, missing)
        return dg.RunRequest(run_key=context.scheduled_execution_time.isoformat())

    return again
