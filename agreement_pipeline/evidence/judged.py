"""What a page is made of: a judged round, the rounds of a project, or the states of projects."""

import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from agreement_pipeline.counting import counting_for
from agreement_pipeline.estimates import DETAIL_RESAMPLES, Estimate, ShownRaters, survey
from agreement_pipeline.evidence.figure import RoundLine, Tone, cut_text
from agreement_pipeline.evidence.summary import Summary, summarize
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import MEASURES, disagreement_of_items
from agreement_pipeline.policy import Assessment, Decision, Policy, select_judged_ratings
from agreement_pipeline.ratings import (
    Array,
    Ratings,
    Trains,
    describe_fate_of_singles,
    numbers_as_arrow,
)
from agreement_pipeline.statistics import CategoryCounts, NumbersByRater

if TYPE_CHECKING:
    import pyarrow as pa

MOST_RATERS = 20

MANY_CATEGORIES = 12
"""With more categories, so many intervals from all resamples would take minutes."""

LONGEST_TEXT = 280

PREFIX, MIN_PSEUDONYM_DIGITS = "rater-", 4
TELLING = 3
"""A shorter name is also a word or a letter. It is one only in quotes, or after *rater*."""

BY_PAIR = ("cohen_kappa_quadratic", "cohen_kappa", "krippendorff_alpha")


class RoundBefore(NamedTuple):
    name: str
    ratings: Ratings


def measure_scopes(
    ratings: Ratings,
    measures: Sequence[str],
    policy: Policy,
    scopes: Sequence[str],
    shown_raters: ShownRaters | None = None,
) -> Sequence[Estimate]:
    """Estimates have the policy's number of resamples, so a value has one interval wherever it
    stands.

    Raters and pairs have fewer unless a rule judges them. So has everything else if there are many
    categories.
    """
    has_many_categories = len(ratings.scale.categories or ()) > MANY_CATEGORIES
    n_resamples = (
        min(policy.n_resamples, DETAIL_RESAMPLES) if has_many_categories else policy.n_resamples
    )
    inference = Inference(policy.confidence_level, n_resamples)
    part, judged_scopes = (
        select_judged_ratings(ratings, policy),
        {rule.scope for rule in policy.rules},
    )
    return survey(
        part, measures, inference, scopes=scopes, judged=judged_scopes, shown=shown_raters
    )


def sort_lowest_first(estimates: Sequence[Estimate]) -> tuple[Estimate, ...]:
    return tuple(
        sorted(estimates, key=lambda estimate: (estimate.value is None, estimate.value or 0.0))
    )


def list_panel_raters(ratings: Ratings, shown_raters: ShownRaters) -> tuple[str, ...]:
    """The raters who are shown and whose ratings count, in the order of names."""
    panel = counting_for(ratings).panel(ratings)
    return tuple(sorted({*shown_raters.raters} & {*panel}))


def share_by_category(ratings: Ratings) -> Mapping[str, float]:
    counts = counting_for(ratings).counts(ratings).with_scale(ratings.scale)
    used = counts.weights @ counts.counts
    return dict(zip(counts.scale.names, (used / used.sum()).tolist(), strict=True))


def texts_of(ratings: Ratings, items: Collection[str]) -> dict[str, str]:
    text_by_item: dict[str, str | None] = {}
    if "text" in ratings.has:
        table = ratings.items(["text"], names=items)
        text_by_item = dict(zip(table["item"].to_pylist(), table["text"].to_pylist(), strict=True))
    return {item: text_by_item.get(item) or "" for item in items}


def number_by_rater(ratings: Ratings) -> Mapping[str, str]:
    """A number for each rater of a table, in an order that does not depend on the names."""
    order = counting_for(ratings).panel(ratings)
    unranked = [name for name in ratings.raters if name not in order]
    digits = len(str(len(ratings.raters)))
    used_names = {*ratings.classifiers}
    names = (
        f"{PREFIX}{n:0{digits}}" for n in range(1, 2 * len(ratings.raters) + len(used_names) + 1)
    )
    free = (name for name in names if name not in used_names)
    return dict(zip((*order, *unranked), free, strict=False))


def shorten_pseudonyms(
    pseudonyms: Mapping[str, str], reserved: Iterable[str] = ()
) -> Mapping[str, str]:
    """The beginnings of pseudonyms, as long as they must be to differ.

    >>> shorten_pseudonyms({"ana": "rater-0f6aeaf3", "ben": "rater-0f6a1111"})
    {'ana': 'rater-0f6ae', 'ben': 'rater-0f6a1'}
    """
    reserved_names = {*reserved}
    for length in range(
        len(PREFIX) + MIN_PSEUDONYM_DIGITS, max(map(len, pseudonyms.values()), default=0)
    ):
        short = {name: pseudonym[:length] for name, pseudonym in pseudonyms.items()}
        if len(reserved_names.union(short.values())) == len(reserved_names) + len(short):
            return short
    return pseudonyms


def rename_raters(text: str, names: Mapping[str, str]) -> str:
    """A text in which raters have other names.

    >>> rename_raters("rater a differs from 'ana', not a model", {"a": "rater-1", "ana": "rater-2"})
    "rater rater-1 differs from 'rater-2', not a model"
    """
    if not names:
        return text
    longest_first = sorted(names, key=len, reverse=True)
    bare_pattern = (
        "|".join(re.escape(name) for name in longest_first if len(name) >= TELLING) or r"(?!)"
    )
    marked = "|".join(map(re.escape, longest_first))
    pattern = (
        rf"(?<!\w)(?:{bare_pattern})(?!\w)|(?<=')(?:{marked})(?=')|(?<=rater )(?:{marked})(?!\w)"
    )
    return re.sub(pattern, lambda match: names[match.group()], text)


@dataclass(frozen=True, eq=False)
class JudgedRound:
    """A round with the decision on it. Its raters have the names that the page shows.

    `models` are raters whose names are likely those of models. `in_commands` is what commands call
    the table and the policy. `warnings` are what reading a table told. `about_names` says what the
    names of raters are, if they are others.
    """

    project: str
    name: str
    ratings: Ratings
    policy: Policy
    assessment: Assessment
    before: RoundBefore | None = None
    models: tuple[str, ...] = ()
    in_commands: tuple[str, str] = ("", "")
    links: Mapping[str, str] = field(default_factory=dict)
    images: Path | None = None
    warnings: tuple[str, ...] = ()
    trains: Trains | None = None
    about_names: str = ""

    @property
    def decision(self) -> Decision:
        return self.assessment.decision

    @cached_property
    def summary(self) -> Summary:
        table, policy = self.in_commands
        names_in_commands = (
            self.project,
            table or (self.name if self.project else shlex.quote(self.name)),
            policy,
        )
        return summarize(
            self.ratings,
            self.policy,
            self.decision,
            *names_in_commands,
            models=self.models,
            warnings=self.warnings,
        )

    @cached_property
    def shown(self) -> ShownRaters:
        return ShownRaters.choose(self.ratings, MOST_RATERS)

    @cached_property
    def raters(self) -> tuple[str, ...]:
        return list_panel_raters(self.ratings, self.shown)

    @cached_property
    def by_item(self) -> "tuple[pa.Array, CategoryCounts | NumbersByRater]":
        table: tuple[pa.Array, CategoryCounts | NumbersByRater]
        table = counting_for(self.ratings).by_item(self.ratings)
        return table

    @property
    def fate_of_singles(self) -> str:
        """How many items have one label, and whether they train; empty if a classifier's do."""
        counts = self.by_item[1]
        is_single = np.asarray(counts.sizes) == 1
        n_single, n_items = counts.weights[is_single].sum(), counts.weights.sum()
        if self.policy.is_for_model_labels:
            return ""
        return describe_fate_of_singles(round(n_single), round(n_items), self.trains)

    @cached_property
    def share_of_disagreement_by_item(self) -> Array:
        table = self.by_item[1]
        parts = disagreement_of_items(table) * table.weights
        return np.asarray(parts / (parts.sum() or 1.0))

    @cached_property
    def most_disputed(self) -> dict[str, int]:
        """The items on which raters differ, those with most disagreement first, and their rows."""
        order = np.argsort(-self.share_of_disagreement_by_item, kind="stable")
        order = order[: np.count_nonzero(self.share_of_disagreement_by_item > 0)]
        items = self.by_item[0].take(numbers_as_arrow(order)).to_pylist()
        return dict(zip(items, order.tolist(), strict=True))

    @cached_property
    def categories(self) -> tuple[Estimate, ...]:
        return self._lowest_first(["alpha_by_category"], "category")

    @cached_property
    def pairs(self) -> tuple[Estimate, ...]:
        scale = self.ratings.scale
        measures = [name for name in BY_PAIR if MEASURES[name].defined_on(scale)]
        return self._lowest_first(measures[:1], "pair") if measures else ()

    def texts_of(self, items: Sequence[str]) -> Sequence[str]:
        return [cut_text(text, LONGEST_TEXT) for text in texts_of(self.ratings, items).values()]

    def _lowest_first(self, measures: Sequence[str], scope: str) -> tuple[Estimate, ...]:
        return sort_lowest_first(
            measure_scopes(self.ratings, measures, self.policy, (scope,), self.shown)
        )


@dataclass(frozen=True, eq=False)
class JudgedProject:
    name: str
    description: str
    policy: Policy
    rounds: pd.DataFrame = field(repr=False)
    shares: Mapping[str, Mapping[str, float]]
    pages: Mapping[str, str]
    links: Mapping[str, str] = field(default_factory=dict)
    about_names: str = ""


@dataclass(frozen=True)
class ProjectState:
    """What waits for somebody in a project.

    Attributes
    ----------
    waiting
        What was delivered and has no decision: rounds, and files that are refused.
    policy_changed
        True if an admitted round rests on another policy than today's.
    broken
        True if nothing of it can be read.
    lines
        Its rounds in a line each, the last one first.
    trend
        The values of the policy's first measure, round by round.
    """

    name: str
    held: Sequence[str] = ()
    waiting: Sequence[str] = ()
    overdue: bool = False
    policy_changed: bool = False
    last: str = ""
    why: str = ""
    page: str = ""
    broken: bool = False
    lines: Sequence[RoundLine] = ()
    trend: Sequence[float] = ()

    @property
    def words(self) -> str:
        """The state in a few words.

        >>> ProjectState("reviews", held=["W1", "W7"], overdue=True).words
        '2 held, overdue'
        """
        flags = (
            (self.broken, "cannot be read"),
            (self.held, f"{len(self.held)} held"),
            (self.waiting, f"{len(self.waiting)} waiting"),
            (self.overdue, "overdue"),
            (self.policy_changed, "another policy"),
        )
        state = ", ".join(words for is_so, words in flags if is_so)
        return state or ("every round is admitted" if self.last else "no round yet")

    @property
    def line(self) -> RoundLine | None:
        """The last round that is held, or else the last one."""
        held_lines = (line for line in self.lines if line.round in self.held)
        return next(held_lines, self.lines[0] if self.lines else None)

    @property
    def step(self) -> str:
        """What helps the project on. Empty if nobody need look at it."""
        if self.held and self.line is not None:
            return f"{self.line.round}: {self.line.step}"
        return self.why

    @property
    def tone(self) -> Tone:
        if self.held or self.broken:
            return "bad"
        if self.waiting or self.overdue or self.policy_changed:
            return "partly"
        return "good" if self.last else "unknown"
