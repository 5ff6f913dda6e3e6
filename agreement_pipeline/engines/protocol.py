"""What an engine does: it counts ratings into sufficient statistics.

An engine is a record in `ENGINES`. A new engine is one file that fulfils `Engine` and adds itself.
"""

from typing import Any, Protocol, TypeVar

import pandas as pd

from agreement_pipeline.ratings import Rated
from agreement_pipeline.statistics import (
    CategoryCounts,
    LabelsByRater,
    NumbersByRater,
    ReplicatedLabels,
    ReplicatedNumbers,
)

R_contra = TypeVar("R_contra", bound=Rated, contravariant=True)


class Engine(Protocol[R_contra]):
    """How statistics are made of ratings.

    The panel are the raters who are no classifiers. Gold items are in no statistic. They are not
    released. Raters who know them agree on them more easily than on others. If items come in
    clusters, each statistic holds the cluster of each row.
    """

    def panel(self, ratings: R_contra) -> tuple[str, ...]:
        """The panel's raters who rated in the round itself. Their ratings fix the order."""

    def classifiers(self, ratings: R_contra) -> tuple[str, ...]:
        """The classifiers that rated in the round itself. Their ratings fix the order."""

    def items(self, ratings: R_contra) -> tuple[str, ...]:
        """The sorted names of the items rated in the round itself."""

    def counts(self, ratings: R_contra) -> CategoryCounts:
        """Count the panel's first labels by category. Equal rows are made one."""

    def labels(self, ratings: R_contra, classifiers: tuple[str, ...] = ()) -> LabelsByRater:
        """Put first labels into columns: those of the panel and then of some classifiers.

        Equal rows are made one.
        """

    def confident_labels(self, ratings: R_contra) -> LabelsByRater:
        """Put the panel's first labels into columns with the confidence of each.

        Equal rows are made one.
        """

    def numbers(self, ratings: R_contra, classifiers: tuple[str, ...] = ()) -> NumbersByRater:
        """Put first ratings into columns as numbers: the panel's and then some classifiers'.

        Equal rows are made one if the scale has categories.
        """

    def by_rater(
        self, ratings: R_contra, classifiers: tuple[str, ...] = ()
    ) -> LabelsByRater | NumbersByRater:
        """Put first ratings into columns: labels or numbers if the scale has no categories."""
        made = self.numbers if ratings.scale.continuous else self.labels
        return made(ratings, classifiers)

    def replicated_labels(
        self, ratings: R_contra, raters: tuple[str, ...] | None = None
    ) -> ReplicatedLabels:
        """Count the labels of some raters for items they met again. Earlier rounds count.

        They are those of the panel if none are named.
        """

    def replicated_numbers(
        self, ratings: R_contra, raters: tuple[str, ...] | None = None
    ) -> ReplicatedNumbers:
        """Gather the numbers of some raters for items they met again. Earlier rounds count.

        They are those of the panel if none are named.
        """

    def replicates(
        self, ratings: R_contra, raters: tuple[str, ...] | None = None
    ) -> ReplicatedLabels | ReplicatedNumbers:
        """Gather ratings met again: labels or numbers if the scale has no categories."""
        if ratings.scale.continuous:
            return self.replicated_numbers(ratings, raters)
        return self.replicated_labels(ratings, raters)

    def by_item(self, ratings: R_contra) -> tuple[tuple[str, ...], CategoryCounts | NumbersByRater]:
        """The items that the panel rated and what it said of each. One row an item.

        These are counts. They are numbers on a scale without categories.
        """

    def aligned(self, one: R_contra, other: R_contra) -> tuple[LabelsByRater, LabelsByRater]:
        """Put the panels' first labels of two rounds on the same items row by row.

        An item that a round lacks is a row without labels there.
        """

    def said(self, ratings: R_contra) -> pd.DataFrame:
        """The panel's first labels as they were given by item and rater."""


ENGINES: dict[str, Engine[Any]] = {}


def engine_for(ratings: Rated) -> Engine[Any]:
    """The engine that counts these ratings: ratings in memory are counted in memory."""
    return ENGINES[ratings.engine]


__all__ = ["ENGINES", "Engine", "engine_for"]
