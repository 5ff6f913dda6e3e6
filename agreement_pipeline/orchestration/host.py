"""A project in a code location: how its assets are named."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import dagster as dg

from agreement_pipeline.errors import ProjectError
from agreement_pipeline.orchestration.metadata import link
from agreement_pipeline.projects import Project, page_of
from agreement_pipeline.version import __version__

COMPONENT_TAGS = ("annotation", "data-quality")
"""By which people find the components of this package among others."""
Translate = Callable[[dg.AssetSpec], dg.AssetSpec]
TRANSLATED = ("key", "group_name", "tags", "owners", "metadata", "description")


class Asset(NamedTuple):
    """`kind` says how it is stored, or that Python makes it for the UI alone. `shows` is a tag to
    filter by. What other assets train on `is_loaded` as a value.
    """

    kind: str
    shows: str
    after: str = ""
    by_round: bool = True
    is_loaded: bool = False


ASSETS = {
    "annotations": Asset("parquet", "ratings"),
    "rating_patterns": Asset("python", "ratings", "annotations"),
    "inter_rater_agreement": Asset("python", "evidence", "rating_patterns"),
    "intra_rater_agreement": Asset("python", "evidence", "rating_patterns"),
    "classifier_agreement": Asset("python", "evidence", "rating_patterns"),
    "disputed_items": Asset("python", "evidence", "annotations"),
    "acceptability": Asset("python", "decision", "annotations"),
    "training_data": Asset("parquet", "training-data", "acceptability", is_loaded=True),
    "agreement_history": Asset("dashboard", "decision", "acceptability", by_round=False),
    "release": Asset("parquet", "training-data", "training_data", by_round=False, is_loaded=True),
    "reassessment": Asset("python", "decision", "annotations", by_round=False),
    "round_page": Asset("dashboard", "decision", "annotations"),
    "drawn_items": Asset("csv", "evidence", by_round=False),
    "delivered_table": Asset("parquet", "ratings", by_round=False),
}
"""The last assets are there only if the project keeps pages, has populations, or has a source that
gives all rounds in one table.
"""

FIXED = ("deps", "skippable", "partitions_def", "freshness_policy", "automation_condition")


PROJECT = "agreement_pipeline/project"
"""The metadata of an asset that say of which project it is."""


@dataclass(frozen=True, eq=False)
class Host:
    """A project, and how its assets are named in the code location around it.

    `translate` gives an asset another key, group, description, metadata, tags or owners.
    """

    project: Project
    translate: Translate | None = None

    def spec(self, name: str, description: str | None = None) -> dg.AssetSpec:
        """A translation must not change what an asset does."""
        asset = ASSETS[name]
        spec = dg.AssetSpec(
            dg.AssetKey([self.project.name, name]),
            description=description,
            group_name=self.project.name,
            owners=list(self.project.settings.owners),
            code_version=self._code_version,
            kinds=self._kinds(name),
            tags={"agreement_pipeline/shows": asset.shows},
        )
        translated = self.translate(spec) if self.translate else spec
        changed_attributes = [
            attribute
            for attribute in FIXED
            if getattr(translated, attribute) != getattr(spec, attribute)
        ]
        if changed_attributes:
            raise ProjectError(
                f"project {self.project.name}: translation: found "
                f"{', '.join(changed_attributes)}; expected only "
                f"{', '.join(TRANSLATED)}. Leave the others out."
            )
        of_release = {"dagster/io_manager_key": self.io_manager_key, "dagster/uri": self._uri}
        metadata = {PROJECT: self.project.name, **(of_release if asset.is_loaded else {})}
        completed = translated.merge_attributes(metadata=metadata)
        is_delivered_whole = (
            name == "delivered_table" and self.project.settings.automation == "eager"
        )
        if is_delivered_whole or (asset.by_round and self.is_asked_for_by_conditions):
            condition = dg.AutomationCondition.eager()
            return completed.replace_attributes(automation_condition=condition)
        return completed

    def _kinds(self, name: str) -> set[str]:
        if name == "annotations" and self.project.contract.suite:
            return {ASSETS[name].kind, "greatexpectations"}
        if name == "delivered_table" and self.project.source is not None:
            return {self.project.source.ending.removeprefix(".")}
        return {ASSETS[name].kind}

    @cached_property
    def _uri(self) -> str:
        """Where the releases are. Nobody trains on one without verifying it."""
        folder = self.project.store.root / "releases"
        return folder.absolute().as_uri() if isinstance(folder, Path) else str(folder)

    @cached_property
    def _code_version(self) -> str:
        """What decides: Dagster then calls the assets of an earlier policy or contract outdated."""
        return f"{__version__}, {self.project.judged_by[:12]}"

    @property
    def is_asked_for_by_conditions(self) -> bool:
        """True if conditions of Dagster's ask for each round. Of a table of all rounds, they would
        ask for every round whenever the table is made again.
        """
        return self.project.settings.automation == "eager" and not self.project.delivers_whole

    @property
    def io_manager_key(self) -> str:
        """The resource that loads releases of the project."""
        return f"{self.project.name}_releases"

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
        parent = taking if name == "annotations" else ASSETS[name].after
        return [self.key(parent)] if parent else []

    def to_decision(self, round_name: str | None) -> dict[str, Any]:
        page = {} if round_name is None else link(self.project, page_of(round_name))
        return {"acceptability": dg.MetadataValue.asset(self.key("acceptability")), **page}

    @property
    def partitions(self) -> dg.DynamicPartitionsDefinition:
        return rounds_of(self.project.name)

    @property
    def assets(self) -> list[str]:
        settings = self.project.settings
        is_present_by_name = {
            "round_page": settings.pages,
            "drawn_items": settings.populations,
            "delivered_table": self.project.delivers_whole,
        }
        return [name for name in ASSETS if is_present_by_name.get(name, "always")]


def rounds_of(project: str) -> dg.DynamicPartitionsDefinition:
    """The rounds of a project, as the partitions of an asset.

    >>> rounds_of("toxicity").name
    'toxicity_rounds'
    """
    return dg.DynamicPartitionsDefinition(name=f"{project}_rounds")
