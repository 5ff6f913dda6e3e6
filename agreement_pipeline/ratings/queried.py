"""Ratings that stay where they lie. An engine queries them there."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol

from agreement_pipeline.ratings.scale import Scale


class Answers(Protocol):
    """What an engine can be asked about ratings where they lie."""

    def gold(self) -> frozenset[str]:
        """The gold items."""

    def cluster_names(self) -> frozenset[str]:
        """The clusters of the items that are not gold."""

    def digest(self, scale: Scale, classifiers: tuple[str, ...]) -> str:
        """SHA-256 of the ratings on a scale."""


@dataclass(frozen=True, eq=False)
class QueriedRatings:
    """Checked ratings in files or tables that an engine queries. They are never held whole.

    Parameters
    ----------
    answers
        What asks the engine. It knows the files and the names of their columns.
    engine
        The name of the engine.
    scale
        What the labels may be.
    rated_by
        All raters, sorted.
    classifiers
        Those of them that are models.

    `read` of the engines makes one, and checks it.
    """

    has: ClassVar[frozenset[str]] = frozenset()
    origin: ClassVar[None] = None

    answers: Answers
    engine: str
    scale: Scale
    rated_by: tuple[str, ...]
    classifiers: tuple[str, ...] = ()

    @property
    def raters(self) -> tuple[str, ...]:
        """The raters of the panel, by name."""
        return tuple(name for name in self.rated_by if name not in self.classifiers)

    @cached_property
    def gold(self) -> frozenset[str]:
        """The items whose label was known before."""
        return self.answers.gold()

    @cached_property
    def cluster_names(self) -> frozenset[str]:
        """The names of the clusters of all items that are not gold."""
        return self.answers.cluster_names()

    @cached_property
    def digest(self) -> str:
        """SHA-256 of what was rated and how. In memory the same ratings have the same digest."""
        return self.answers.digest(self.scale, self.classifiers)


__all__ = ["Answers", "QueriedRatings"]
