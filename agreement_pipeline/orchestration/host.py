"""A project in a code location: how its assets are named, and what trainers ask of it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple

import dagster as dg

from agreement_pipeline.errors import ProjectError
from agreement_pipeline.orchestration.metadata import link
from agreement_pipeline.orchestration.runs import decide_as, or_fail
from agreement_pipeline.projects import Project, page_of
from agreement_pipeline.release import Release
from agreement_pipeline.text import joined, listed
from agreement_pipeline.version import __version__

Translate = Callable[[dg.AssetSpec], dg.AssetSpec]
TRANSLATED = ("key", "group_name", "tags", "owners", "metadata", "description")


class Asset(NamedTuple):
    """`kind` stands in its corner, and `shows` is a tag to filter by."""

    kind: str
    shows: str
    after: str = ""
    by_round: bool = True


ASSETS = {
    "annotations": Asset("table", "ratings"),
    "rating_patterns": Asset("table", "ratings", "annotations"),
    "inter_rater_agreement": Asset("numpy", "evidence", "rating_patterns"),
    "intra_rater_agreement": Asset("numpy", "evidence", "rating_patterns"),
    "classifier_agreement": Asset("numpy", "evidence", "rating_patterns"),
    "disputed_items": Asset("table", "evidence", "annotations"),
    "acceptability": Asset("python", "decision", "annotations"),
    "training_data": Asset("parquet", "training-data", "acceptability"),
    "agreement_history": Asset("dashboard", "decision", "acceptability", by_round=False),
    "release": Asset("parquet", "training-data", "training_data", by_round=False),
    "reassessment": Asset("python", "decision", "annotations", by_round=False),
    "round_page": Asset("dashboard", "decision", "annotations"),
    "drawn_items": Asset("table", "evidence", by_round=False),
    "delivered_table": Asset("table", "ratings", by_round=False),
}
"""The last assets are there only if the project keeps pages, has populations, or has a source that
gives all rounds in one table.
"""

FIXED = ("deps", "skippable", "partitions_def", "freshness_policy", "automation_condition")


_HOSTED: "dict[str, Host]" = {}
"""The projects of this code location. Their settings come from reviewed files, not from a run."""


@dataclass(frozen=True, eq=False)
class Host:
    """A project, and how its assets are named in the code location around it.

    `translate` gives an asset another key, group, description, metadata, tags or owners.
    """

    project: Project
    translate: Translate | None = None

    def spec(self, name: str, description: str | None = None) -> dg.AssetSpec:
        """A translation must not change what an asset does."""
        spec = dg.AssetSpec(
            dg.AssetKey([self.project.name, name]),
            description=description,
            group_name=self.project.name,
            owners=list(self.project.settings.owners),
            code_version=__version__,
            kinds={ASSETS[name].kind},
            tags={"agreement_pipeline/shows": ASSETS[name].shows},
        )
        translated = self.translate(spec) if self.translate else spec
        changed = [each for each in FIXED if getattr(translated, each) != getattr(spec, each)]
        if changed:
            raise ProjectError(
                f"project {self.project.name}: translation: found {', '.join(changed)}; expected "
                f"only {', '.join(TRANSLATED)}. Leave the others out."
            )
        return translated

    def key(self, name: str) -> dg.AssetKey:
        return self.spec(name).key

    @property
    def upstream(self) -> dg.AssetKey | None:
        """The asset that the rounds of the project come from."""
        source = self.project.settings.rounds_from
        if source is None or source.asset is None:
            return None
        return dg.AssetKey(source.asset.split("/"))

    @property
    def round_step(self) -> str:
        """The name of the step that makes the assets of a round."""
        return f"{self.project.name}__round"

    def freshness_policy(self, name: str) -> dg.FreshnessPolicy | None:
        """Only the first asset says that a round is overdue, since the others follow it."""
        if ASSETS[name].after:
            return None
        days = timedelta(days=self.project.settings.overdue_after_days)
        return dg.FreshnessPolicy.time_window(fail_window=days, warn_window=days * 7 / 8)

    def parents(self, name: str) -> list[dg.AssetKey]:
        taking = "delivered_table" if self.project.delivers_whole else "annotations"
        if name == taking:
            return [] if self.upstream is None else [self.upstream]
        after = taking if name == "annotations" else ASSETS[name].after
        return [self.key(after)] if after else []

    def to_decision(self, round_name: str | None) -> dict[str, Any]:
        page = {} if round_name is None else link(self.project, page_of(round_name))
        return {"acceptability": dg.MetadataValue.asset(self.key("acceptability")), **page}

    @property
    def partitions(self) -> dg.DynamicPartitionsDefinition:
        return rounds_of(self.project.name)

    @property
    def assets(self) -> list[str]:
        said = self.project.settings
        wanted = {
            "round_page": said.pages,
            "drawn_items": said.populations,
            "delivered_table": self.project.delivers_whole,
        }
        return [name for name in ASSETS if wanted.get(name, "always")]


def rounds_of(project: str) -> dg.DynamicPartitionsDefinition:
    """The rounds of a project, as the partitions of an asset.

    >>> rounds_of("toxicity").name
    'toxicity_rounds'
    """
    return dg.DynamicPartitionsDefinition(name=f"{project}_rounds")


def remember(host: Host) -> None:
    _HOSTED[host.project.name] = host


def hosted() -> list[Project]:
    return [_HOSTED[name].project for name in sorted(_HOSTED)]


def release_of(context: dg.AssetExecutionContext, project: str | None = None) -> Release:
    """The release that an asset may train on. The asset is held if its round is held.

    The round is judged again from its stored bytes, by the policy of the project. So no report in
    Dagster's event log opens it.

    Parameters
    ----------
    context
        The context of an asset. With `partitions_def=rounds_of(project)`, the release is that of
        the partition's round.
    project
        The project of an asset without partitions. The release holds all admitted rounds.

    Raises
    ------
    dagster.Failure
        The round is held or was never delivered, or its bytes were edited. It is not tried again.
    """
    host, name = or_fail(context, lambda: _asked(context, project))
    or_fail(context, lambda: decide_as(context, host.project.store))
    return or_fail(context, lambda: host.project.release(name), host.to_decision(name))


def _asked(context: dg.AssetExecutionContext, named: str | None) -> tuple[Host, str | None]:
    assets = sorted(each.to_user_string() for each in context.selected_asset_keys)
    where = f"release_of in {joined(assets)}"
    partitions = context.assets_def.partitions_def
    name = getattr(partitions, "name", None)
    of_rounds = next((each for each in _HOSTED if rounds_of(each).name == name), None)
    found = named or of_rounds
    if found not in _HOSTED:
        raise ProjectError(
            f"{where}: found {'no project' if found is None else repr(found)}; expected one of the "
            f"projects of this code location, {listed(sorted(_HOSTED))}. "
            "Give the asset partitions_def=rounds_of(project), or name the project."
        )
    if partitions is not None and found != of_rounds:
        raise ProjectError(
            f"{where}: found partitions {repr(name) if name else 'without a name'}; "
            f"expected {rounds_of(found).name!r}, or none. "
            "Give the asset partitions_def=rounds_of(project)."
        )
    return _HOSTED[found], None if partitions is None else context.partition_key
