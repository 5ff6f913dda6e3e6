"""A project in a code location: the keys, groups, tags and owners of its assets."""

from collections.abc import Callable
from dataclasses import dataclass

import dagster as dg

from agreement_pipeline.errors import ProjectError
from agreement_pipeline.projects import Project
from agreement_pipeline.version import __version__

Translate = Callable[[dg.AssetSpec], dg.AssetSpec]
TRANSLATED = ("key", "group_name", "tags", "owners", "metadata", "description")
"""What a translation may change."""

KINDS = {
    "annotations": {"table"},
    "rating_patterns": {"table"},
    "inter_rater_agreement": {"numpy"},
    "intra_rater_agreement": {"numpy"},
    "classifier_agreement": {"numpy"},
    "disputed_items": {"table"},
    "acceptability": {"python"},
    "training_data": {"parquet"},
    "agreement_history": {"dashboard"},
    "reassessment": {"python"},
    "round_page": {"dashboard"},
    "release": {"parquet"},
}
"""What stands in the corner of each asset."""

SHOWS = {
    "annotations": "ratings",
    "rating_patterns": "ratings",
    "acceptability": "decision",
    "agreement_history": "decision",
    "reassessment": "decision",
    "round_page": "decision",
    "training_data": "training-data",
    "release": "training-data",
}
"""What an asset shows, as a tag to filter by. All others show evidence."""

FIXED = ("deps", "skippable", "partitions_def", "freshness_policy", "automation_condition")


def unchanged(spec: dg.AssetSpec) -> dg.AssetSpec:
    """The asset as it is."""
    return spec


@dataclass(frozen=True, eq=False)
class Host:
    """A project, and how its assets are named in the code location around it.

    Parameters
    ----------
    project
        The project.
    translate
        Gives an asset another key, group, description, metadata, tags or owners.
    """

    project: Project
    translate: Translate = unchanged

    def spec(self, name: str, description: str | None = None) -> dg.AssetSpec:
        """What an asset is called, and how it is described.

        Raises
        ------
        ProjectError
            The translation changes what an asset does.
        """
        spec = dg.AssetSpec(
            dg.AssetKey([self.project.name, name]),
            description=description,
            group_name=self.project.name,
            owners=list(self.project.settings.owners),
            code_version=__version__,
            kinds=KINDS[name],
            tags={"agreement_pipeline/shows": SHOWS.get(name, "evidence")},
        )
        translated = self.translate(spec)
        changed = [each for each in FIXED if getattr(translated, each) != getattr(spec, each)]
        if changed:
            raise ProjectError(
                f"project {self.project.name}: translation: found {', '.join(changed)}; expected "
                f"only {', '.join(TRANSLATED)}. Leave the others out."
            )
        return translated

    def key(self, name: str) -> dg.AssetKey:
        """The key of an asset."""
        return self.spec(name).key

    @property
    def partitions(self) -> dg.DynamicPartitionsDefinition:
        """The rounds of the project."""
        return rounds_of(self.project.name)

    @property
    def pool(self) -> str:
        """The pool of its steps. An instance may limit how many of a pool run at a time."""
        return f"{self.project.name}_rounds"


def rounds_of(project: str) -> dg.DynamicPartitionsDefinition:
    """The rounds of a project, as the partitions of an asset.

    >>> rounds_of("toxicity").name
    'toxicity_rounds'
    """
    return dg.DynamicPartitionsDefinition(name=f"{project}_rounds")
