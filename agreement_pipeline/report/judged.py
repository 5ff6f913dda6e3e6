"""What the sections of a page are answered from: a judged round, or the rounds of a project."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from agreement_pipeline.counting import counting_of
from agreement_pipeline.estimates import DETAIL_RESAMPLES, Estimate, Scope, Shown, survey
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import MEASURES, disagreement_of_items
from agreement_pipeline.policy import Assessment, Decision, Policy, judged_part
from agreement_pipeline.ratings import MISSING, Array, Codes, Ratings, Scale
from agreement_pipeline.report.figure import cut
from agreement_pipeline.statistics import Apart, CategoryCounts, NumbersByRater, raters_apart
from agreement_pipeline.text import DIGITS

MOST_RATERS = 20
"""Of a larger panel so many raters, and so many pairs, are shown."""

MANY_CATEGORIES = 12
"""With more categories, so many intervals from all resamples would take minutes."""

LONGEST_TEXT = 280

BY_PAIR = ("cohen_kappa_quadratic", "cohen_kappa", "krippendorff_alpha")
"""Measures of a pair of raters. The first one that is defined on the scale is shown."""


class Before(NamedTuple):
    """The round before, by name."""

    name: str
    ratings: Ratings


def measured(
    ratings: Ratings,
    measures: Sequence[str],
    policy: Policy,
    scopes: Sequence[str],
    shown: Shown | None = None,
) -> Sequence[Estimate]:
    """Estimates about the ratings that the policy judges, for people to read.

    They have the policy's number of resamples, so a value has one interval on the whole page.
    Raters and pairs have fewer. So has everything else if there are many categories.
    """
    many = len(ratings.scale.categories or ()) > MANY_CATEGORIES
    n_resamples = min(policy.n_resamples, DETAIL_RESAMPLES) if many else policy.n_resamples
    inference = Inference(policy.confidence_level, n_resamples)
    return survey(judged_part(ratings, policy), measures, inference, scopes=scopes, shown=shown)


def headline(policy: Policy) -> str | None:
    """The measure of the first rule that can hold a release and reads whole rounds."""
    of_rounds = (
        rule.measure for rule in policy.rules if rule.effect == "hold" and rule.scope == "round"
    )
    return next(of_rounds, None)


def lowest_first(found: Sequence[Estimate]) -> tuple[Estimate, ...]:
    """Estimates in the order of their values. Those without a value come last."""
    return tuple(sorted(found, key=lambda each: (each.value is None, each.value or 0.0)))


def differ(found: Iterable[Estimate]) -> bool:
    """True if some of the values differ. Otherwise none is the lowest."""
    return len({round(each.value, DIGITS) for each in found if each.value is not None}) > 1


def of_raters(scale: Scale) -> tuple[str, str] | None:
    """The measures of a rater's agreement with themselves and with the others, in the same terms.

    They are weighted if the categories have an order. None if the scale lists no categories.
    """
    if scale.continuous:
        return None
    weighted = "" if scale.level == "nominal" else "_quadratic"
    return f"test_retest_kappa{weighted}", f"schouten_kappa{weighted}"


def shares_of(ratings: Ratings) -> Mapping[str, float]:
    """The share of each category among the panel's labels. Gold items are left out."""
    counts = counting_of(ratings).counts(ratings).with_scale(ratings.scale)
    return shares_by_name(counts.scale.names, counts.weights @ counts.counts)


def shares_by_name(names: Sequence[str], used: Array) -> Mapping[str, float]:
    """Counts of categories as shares of all."""
    return dict(zip(names, (used / used.sum()).tolist(), strict=True))


def texts_of(ratings: Ratings, items: Collection[str]) -> dict[str, str]:
    """The text of each of some items; empty where none is known."""
    known: dict[str, str | None] = {}
    if "text" in ratings.has:
        found = ratings.items(["text"], names=items)
        known = dict(zip(found["item"].to_pylist(), found["text"].to_pylist(), strict=True))
    return {item: known.get(item) or "" for item in items}


@dataclass(frozen=True, eq=False)
class ItemLabels:
    """The first labels of some raters by item. Gold items are left out.

    Attributes
    ----------
    items
        The names of the items that the panel rated.
    raters
        The raters.
    codes
        Shape (N, R): the place of each label on the scale. -1 if missing. On a scale without
        categories there are none, and `numbers` has the ratings.
    numbers
        Shape (N, R). None if the scale has categories.
    names
        The categories.
    """

    items: Sequence[str]
    raters: tuple[str, ...]
    codes: Codes
    numbers: Array | None
    names: tuple[str, ...]

    @classmethod
    def of(cls, ratings: Ratings, items: Sequence[str], raters: Sequence[str]) -> "ItemLabels":
        """The labels of some raters of a panel. The items are all that the panel rated."""
        value = "number" if ratings.scale.continuous else "code"
        found = ratings.first(["at", "place", value], raters=ratings.raters)
        place = pd.Index(raters).get_indexer(pd.Index(ratings.everyone))[found["place"].to_numpy()]
        found = found.filter(place >= 0)
        cells = found["at"].to_numpy(), place[place >= 0]
        codes, numbers = np.full((len(items), len(raters)), MISSING), None
        if ratings.scale.continuous:
            numbers = np.full(codes.shape, np.nan)
            numbers[cells] = _lengths(found["number"])
            codes[cells] = 0
        else:
            codes[cells] = found["code"].to_numpy()
        return cls(items, tuple(raters), codes, numbers, ratings.scale.names)

    def said(self, item: int, rater: int) -> str:
        """The label as text; empty if there is none."""
        if self.codes[item, rater] == MISSING:
            return ""
        if self.numbers is not None:
            return f"{self.numbers[item, rater]:g}"
        return str(self.names[self.codes[item, rater]])

    def apart(self, one: int, other: int) -> Codes:
        """The items on which two raters differ: first those on which they differ most."""
        first, second = self.codes[:, one], self.codes[:, other]
        both = (first != MISSING) & (second != MISSING)
        given = self.codes if self.numbers is None else self.numbers
        distance = np.where(both, np.abs(given[:, one] - given[:, other]), 0)
        found = np.flatnonzero(distance)
        return found if self.numbers is None else found[np.argsort(-distance[found])]

    def on_category(self, category: int) -> tuple[Codes, Codes]:
        """How many items two raters gave a category both, and how many only one of them did.

        Each has shape (R, R). Only items that both labelled count.
        """
        gave = (self.codes == category).astype(np.int64)
        given = (self.codes != MISSING).astype(np.int64)
        both = gave.T @ gave
        one = gave.T @ given
        return both, one + one.T - 2 * both


def _lengths(numbers: pa.ChunkedArray) -> Array:
    """Numbers as they are, and the length of a vector for a vector."""
    if pa.types.is_list(numbers.type):
        return np.asarray([math.hypot(*each) for each in numbers.to_pylist()], dtype=np.float64)
    return np.asarray(numbers, dtype=np.float64)


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
        panel = counting_of(self.ratings).panel(self.ratings)
        return tuple(sorted({*self.shown.raters} & {*panel}))

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
        """Agreement on each category, the lowest first."""
        return lowest_first(self.measured(["alpha_by_category"], "category"))

    @cached_property
    def pairs(self) -> tuple[Estimate, ...]:
        """The agreement of the shown pairs of raters, the lowest first."""
        scale = self.ratings.scale
        measures = [name for name in BY_PAIR if MEASURES[name].defined_on(scale)]
        return lowest_first(self.measured(measures[:1], "pair")) if measures else ()

    @cached_property
    def with_themselves(self) -> Mapping[str, Estimate]:
        """The agreement of each shown rater with themselves."""
        return self._of_raters(0)

    @cached_property
    def with_others(self) -> Mapping[str, Estimate]:
        """The agreement of each shown rater with the others, the lowest first."""
        return self._of_raters(1)

    def _of_raters(self, which: int) -> Mapping[str, Estimate]:
        names = of_raters(self.ratings.scale)
        found = self.measured([names[which]], "rater") if names else ()
        return {each.scope.name: each for each in lowest_first(found)}

    def texts_of(self, items: Sequence[str]) -> Sequence[str]:
        """The texts of some different items, cut where they are long; empty where there is none."""
        return [cut(each, LONGEST_TEXT) for each in texts_of(self.ratings, items).values()]

    def measured(self, measures: Sequence[str], *scopes: str) -> tuple[Estimate, ...]:
        """Estimates that are only looked at, of the raters and pairs that are shown."""
        return tuple(measured(self.ratings, measures, self.policy, scopes, self.shown))

    @cached_property
    def told_pairs(self) -> list[tuple[str, str]]:
        """The pairs of raters that the page tells of: those who agree least."""
        places = {each.scope: place for place, each in enumerate(self.pairs)}
        known = [pair for pair in self.shown.pairs if Scope.of_pair(*pair) in places]
        return sorted(known, key=lambda pair: places[Scope.of_pair(*pair)])[:MOST_RATERS]

    def anchor_of_category(self, name: str) -> str:
        """Where the page tells of a category."""
        return f"category-{self.labels.names.index(name) + 1}"

    def anchor_of_rater(self, name: str) -> str:
        """Where the page tells of a rater; empty if that is nowhere."""
        return f"rater-{self.raters.index(name) + 1}" if name in self.raters else ""

    def anchor_of_pair(self, one: str, other: str) -> str:
        """Where the page tells of a pair of raters; empty if that is nowhere."""
        if not any({*pair} == {one, other} for pair in self.told_pairs):
            return ""
        return "pair-{}-{}".format(*sorted(self.labellers.index(each) + 1 for each in (one, other)))


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
