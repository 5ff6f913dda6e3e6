"""What the sections of a page are answered from: a judged round, or the rounds of a project."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from agreement_pipeline.counting import counting_of
from agreement_pipeline.estimates import Estimate, Shown
from agreement_pipeline.measures import MEASURES, disagreement_of_items
from agreement_pipeline.policy import Assessment, Decision, Policy
from agreement_pipeline.ratings import Array, Ratings
from agreement_pipeline.report.item_labels import ItemLabels
from agreement_pipeline.report.measured import measured
from agreement_pipeline.report.since import Before
from agreement_pipeline.report.texts import cut, texts_of
from agreement_pipeline.report.themselves_and_others import comparisons
from agreement_pipeline.statistics import Apart, CategoryCounts, NumbersByRater, raters_apart

MOST_RATERS = 20
"""Of a larger panel so many raters, and so many pairs, are shown."""

BY_PAIR = ("cohen_kappa_quadratic", "cohen_kappa", "krippendorff_alpha")
"""Measures of a pair of raters. The first one that is defined on the scale is shown."""


@dataclass(frozen=True, eq=False)
class JudgedRound:
    """A round with the decision on it. Its raters have the names that the page shows.

    Attributes
    ----------
    project, name
        The project, empty if there is none, and the round.
    ratings
        The ratings.
    policy
        The policy that judged it.
    assessment
        The decision, and the estimates that it rests on.
    before
        The round before, if there is one.
    images
        The folder with the images that raters marked, if it is at hand.
    """

    project: str
    name: str
    ratings: Ratings
    policy: Policy
    assessment: Assessment
    before: Before | None = None
    images: Path | None = None

    @property
    def decision(self) -> Decision:
        """The decision on the round."""
        return self.assessment.decision

    @cached_property
    def shown(self) -> Shown:
        """The raters and pairs that the page shows."""
        return Shown.of(self.ratings, MOST_RATERS)

    @cached_property
    def raters(self) -> tuple[str, ...]:
        """The raters that the page shows, by name."""
        return tuple(
            sorted({*self.shown.raters} & {*counting_of(self.ratings).panel(self.ratings)})
        )

    @cached_property
    def labellers(self) -> tuple[str, ...]:
        """The raters that the page shows, and then the others of the shown pairs."""
        others = {name for pair in self.shown.pairs for name in pair} - {*self.raters}
        return (*self.raters, *sorted(others))

    @cached_property
    def by_item(self) -> tuple[tuple[str, ...], CategoryCounts | NumbersByRater]:
        """The items, and what the panel said of each."""
        found: tuple[tuple[str, ...], CategoryCounts | NumbersByRater] = counting_of(
            self.ratings
        ).by_item(self.ratings)
        return found

    @cached_property
    def disagreement(self) -> Array:
        """The share of each item in all disagreement. It is 0 everywhere if there is none."""
        parts = disagreement_of_items(self.by_item[1])
        return np.asarray(parts / (parts.sum() or 1.0))

    @cached_property
    def most_disputed(self) -> list[int]:
        """The places of the items on which raters differ, the most disputed first."""
        order = np.argsort(-self.disagreement, kind="stable")
        return [int(at) for at in order[: np.count_nonzero(self.disagreement > 0)]]

    @cached_property
    def labels(self) -> ItemLabels:
        """What the shown raters, and those of the shown pairs, said of each item."""
        return ItemLabels.of(self.ratings, self.by_item[0], self.labellers)

    @cached_property
    def apart(self) -> Apart:
        """How far apart these raters are."""
        panel = counting_of(self.ratings).by_rater(self.ratings)
        return raters_apart(panel.only(self.labellers))

    @cached_property
    def categories(self) -> tuple[Estimate, ...]:
        """Agreement on each category, the lowest first. Categories without a value come last."""
        found = self.measured(["alpha_by_category"], "category")
        return tuple(sorted(found, key=_by_value))

    @cached_property
    def pairs(self) -> tuple[Estimate, ...]:
        """The agreement of the shown pairs of raters, the lowest first."""
        scale = self.ratings.scale
        measure = next((name for name in BY_PAIR if MEASURES[name].defined_on(scale)), None)
        found = () if measure is None else self.measured([measure], "pair")
        return tuple(sorted(found, key=_by_value))

    @cached_property
    def with_themselves(self) -> Mapping[str, Estimate]:
        """The agreement of each shown rater with themselves."""
        return self._of_raters(0)

    @cached_property
    def with_others(self) -> Mapping[str, Estimate]:
        """The agreement of each shown rater with the others, the lowest first."""
        return self._of_raters(1)

    def _of_raters(self, which: int) -> Mapping[str, Estimate]:
        compared = [each for each in comparisons(self.ratings.scale) if each.kind == "rater"]
        found = [
            estimate
            for each in compared
            for estimate in self.measured([each.measures[which]], "rater")
        ]
        return {each.scope.name: each for each in sorted(found, key=_by_value)}

    @cached_property
    def n_items(self) -> int:
        """The number of items that are rated in the round and are not gold."""
        return self.ratings.n_items

    def texts_of(self, items: Sequence[str]) -> Sequence[str]:
        """The texts of some different items, cut where they are long; empty where there is none."""
        return [cut(each) for each in texts_of(self.ratings, items).values()]

    def measured(self, measures: Sequence[str], *scopes: str) -> tuple[Estimate, ...]:
        """Estimates that are only looked at, of the raters and pairs that are shown."""
        return tuple(measured(self.ratings, measures, self.policy, scopes, self.shown))


def _by_value(found: Estimate) -> tuple[bool, float]:
    return found.value is None, found.value or 0.0


@dataclass(frozen=True, eq=False)
class JudgedProject:
    """The rounds of a project as its store remembers them.

    Attributes
    ----------
    name, description
        The project, and what it is about.
    policy
        The policy that judges its rounds.
    rounds
        What `round_table` gives.
    shares
        The share of each category in each round, if the scale has categories.
    pages
        The address of each round's page, if it has one.
    """

    name: str
    description: str
    policy: Policy
    rounds: pd.DataFrame = field(repr=False)
    shares: Mapping[str, Mapping[str, float]]
    pages: Mapping[str, str]
