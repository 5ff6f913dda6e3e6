"""The record of a measure, and the decorator that registers it."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial, update_wrapper
from typing import Any, Literal, NamedTuple, Required, TypedDict, TypeVar, Unpack

import numpy as np
from numpy.typing import NDArray

from agreement_pipeline.measures._agreement import most_used_and_farthest
from agreement_pipeline.measures._weights import IDENTITY, Weighting
from agreement_pipeline.measures.coefficient import Coefficient, ratio
from agreement_pipeline.ratings import UNIVARIATE, Array, Level, Scale

Needs = Literal[
    "counts", "patterns", "panel", "groups", "replicates", "values", "confidence", "strata", "gold"
]
SUBJECTS: dict[Needs, str] = {
    "counts": "the labels of all raters",
    "patterns": "the labels of all raters",
    "panel": "one rater or classifier beside the panel",
    "groups": "classifiers beside the panel",
    "replicates": "raters beside themselves",
    "values": "the numbers of all raters",
    "confidence": "the confidence of raters",
    "strata": "strata of items",
    "gold": "right labels",
}
"""What a measure is about, in words."""
Question = Literal["inter-rater", "intra-rater", "classifier"]
Split = Callable[..., tuple[int, int]]
F = TypeVar("F", bound=Callable[..., "Coefficient"])


def _items_by_rater(statistic: Any, rows: NDArray[np.bool_]) -> Array:
    return np.asarray(statistic.items_by_rater(rows))


class RestsOn(NamedTuple):
    """The rows that a measure is computed from, and how to count them.

    `rows` is True for rows that the measure uses. `others` says what the rows that are left out
    have. `among` counts all items, and `ratings` counts all ratings. `by_rater` counts the used
    items of each rater. `also` is True for further rows that the measure needs, as replicates that
    show guessing.
    """

    rows: Callable[[Any], NDArray[np.bool_]]
    others: str
    among: Callable[[Any], int] = lambda statistic: int(statistic.n_items)
    ratings: Callable[[Any], int] = lambda statistic: int(statistic.n_ratings)
    by_rater: Callable[[Any, NDArray[np.bool_]], Array] = _items_by_rater
    also: Callable[[Any], NDArray[np.bool_]] | None = None

    def items(self, statistic: Any) -> int:
        """How many items agreement is computed from."""
        return round(float(statistic.weights[self.rows(statistic)].sum()))

    def raters(self, statistic: Any) -> int:
        """How many raters rated such an item. Other raters say nothing about agreement."""
        if statistic.raters is None:
            return int(statistic.n_raters)
        return int((self.of_each_rater(statistic) > 0).sum())

    def of_each_rater(self, statistic: Any) -> Array:
        """How much each rater of the panel says there, in items or in another unit."""
        return self.by_rater(statistic, self.rows(statistic))

    def clusters(self, statistic: Any) -> int | None:
        """How many clusters these items are in; None where items do not come in clusters."""
        clusters = statistic.clusters
        return (
            None
            if clusters is None
            else clusters.at(self.rows(statistic) & (statistic.weights > 0)).n
        )

    def units(self, statistic: Any) -> float:
        """How many items agreement is computed from, or their effective number of clusters."""
        return _units(statistic, self.rows(statistic))

    def deciding(self, statistic: Any) -> float:
        """How many units decide how much is known.

        The number is the smaller of `units` and of the units of the rows in `also`.
        """
        units = self.units(statistic)
        return units if self.also is None else min(units, _units(statistic, self.also(statistic)))


def _units(statistic: Any, rows: NDArray[np.bool_]) -> float:
    clusters = statistic.clusters
    return (
        round(float(statistic.weights[rows].sum()))
        if clusters is None
        else float(clusters.effective(statistic.weights, rows))
    )


USED = RestsOn(lambda statistic: statistic.readable, "one rating")


def always(_: Any) -> bool:
    """True for every statistic."""
    return True


def never(_: Any) -> bool:
    """False for every statistic."""
    return False


def _nobody(statistic: Any) -> tuple[str, ...]:
    return ()


class Condition(NamedTuple):
    """When a measure is undefined.

    `reason` is a half sentence. `holds` is True on a statistic where the measure is undefined.
    `weighted` is True if `holds` depends on the weighting.
    """

    reason: str
    holds: Callable[..., bool]
    weighted: bool = False

    def under(self, weighting: Weighting) -> "Condition":
        """The condition for a measure of that weighting."""
        return (
            self._replace(holds=partial(self.holds, weighting=weighting)) if self.weighted else self
        )


@dataclass(frozen=True)
class Measure:
    """A registered measure.

    Attributes
    ----------
    name
        The registry name, which policies, assets, checks and the command line use.
    title
        The name people use.
    function
        From a statistic to a `Coefficient`.
    question
        Which agreement it describes: of raters, of each rater over time, or of a classifier.
    needs
        The statistic it is computed from.
    levels
        The levels of measurement it is defined on.
    bounds
        The least and greatest value it can take.
    undefined
        The exact conditions under which it has no value.
    per_category
        True if it gives a value for every category. The round's own value is then the lowest.
    chance_corrected
        True if 0 is the value of guessing.
    exchangeable
        True if the value stays the same when raters swap names item by item. For a panel it is then
        computed from rows without names, which are fewer.
    continuous
        True if the measure is also defined where a scale has no list of categories. It is then
        computed from `NumbersByRater`. A measure that needs values is always so defined.
    passed_by_guessing
        True if raters who never look at an item can reach a cut-off, if nearly all of their labels
        are one category.
    cannot_hold
        Why a rule on it may not hold a release, and what to use instead; empty where it may.
    withstands_chosen
        True if the value hardly moves where raters were added to items because of what others
        said there.
    crossed
        True if only items rated by every rater are used.
    expensive
        True if it takes more than linear time. Its interval then comes from few resamples.
    by_pair
        True if it computes a value for each pair of raters. Where there are many pairs, its
        interval comes from fewer resamples.
    sums_of_raters
        From a statistic to True if the measure asks who gave which label in sums over all rows
        alone, which it reads by the method `sums`. Of each row it reads no more than how often each
        category was given, and the classifier's label.
    classifiers_only
        True if it compares a classifier with the raters. Then no rater has it.
    raters_left_out
        From a statistic to the names of the raters that the measure cannot use. Their replicates or
        their confidence are missing, or show nothing.
    rests_on
        The rows it is computed from.
    convention
        How missing ratings count.
    source
        Where the formula comes from, with DOI.
    weighting
        How much two different categories agree, for a measure with weights.
    split
        From a statistic of labels to the two categories that unseen items are split between. None
        where the level of the scale decides.
    alias_of
        The name of the same measure, if this record is an alias.
    """

    name: str
    title: str
    function: Callable[..., Coefficient]
    question: Question
    needs: Needs
    bounds: tuple[float, float]
    undefined: tuple[Condition, ...]
    source: str
    convention: str
    levels: frozenset[Level] = field(default_factory=lambda: frozenset(UNIVARIATE))
    per_category: bool = False
    chance_corrected: bool = True
    exchangeable: bool = False
    passed_by_guessing: bool = False
    cannot_hold: str = ""
    continuous: bool = False
    withstands_chosen: bool = False
    crossed: bool = False
    expensive: bool = False
    by_pair: bool = False
    sums_of_raters: Callable[[Any], bool] = never
    classifiers_only: bool = False
    weighting: Weighting | None = None
    split: Split | None = None
    alias_of: str | None = None
    raters_left_out: Callable[[Any], tuple[str, ...]] = _nobody
    rests_on: RestsOn = USED

    def __call__(self, statistic: Any) -> Coefficient:
        """The coefficient on a statistic."""
        return self.function(statistic)

    @property
    def computed_as(self) -> str:
        """The name that the measure is computed under: its own, unless it is an alias."""
        return self.alias_of or self.name

    @property
    def description(self) -> str:
        """What the measure is, as the first line of its documentation."""
        return (self.function.__doc__ or self.title).strip().splitlines()[0]

    def defined_on(self, scale: Scale) -> bool:
        """True if the measure can be computed on ratings of that scale."""
        return scale.level in self.levels and (
            self.continuous or self.needs == "values" or not scale.continuous
        )

    def why_undefined(self, statistic: Any) -> str | None:
        """The first declared condition that holds on `statistic`, in words."""
        return next(
            (condition.reason for condition in self.undefined if condition.holds(statistic)), None
        )


MEASURES: dict[str, Measure] = {}


class Fields(TypedDict, total=False):
    """The fields of a measure's record that `measure` cannot find out by itself."""

    question: Required[Question]
    needs: Required[Needs]
    bounds: Required[tuple[float, float]]
    undefined: Required[tuple[Condition, ...]]
    source: Required[str]
    convention: Required[str]
    per_category: bool
    chance_corrected: bool
    exchangeable: bool
    passed_by_guessing: bool
    cannot_hold: str
    continuous: bool
    withstands_chosen: bool
    crossed: bool
    expensive: bool
    by_pair: bool
    sums_of_raters: Callable[[Any], bool]
    classifiers_only: bool
    split: Split
    raters_left_out: Callable[[Any], tuple[str, ...]]
    rests_on: RestsOn


def register(
    title: str,
    *,
    levels: Collection[Level] = UNIVARIATE,
    weightings: Mapping[str, Weighting] | None = None,
    unweighted_bounds: tuple[float, float] | None = None,
    aliases: Mapping[str, str] | None = None,
    **fields: Unpack[Fields],
) -> Callable[[F], F]:
    """Register a function as a measure under its own name.

    With `weightings`, the function is registered once under each name with that weighting.
    `unweighted_bounds` are the bounds of the form without weights, where they are narrower.
    `aliases` are further names, each with the name of the same measure.

    Assets, checks, policies, the command line, the documentation and the common tests then include
    the measure.
    """

    def register(function: F) -> F:
        record = Measure(
            name=function.__name__,
            title=title,
            function=function,
            levels=frozenset(levels),
            **fields,
        )
        for each in (
            [_weighted(record, *pair) for pair in weightings.items()] if weightings else [record]
        ):
            _add(
                replace(each, bounds=unweighted_bounds)
                if unweighted_bounds and each.weighting is IDENTITY
                else each
            )
        for alias, name in (aliases or {}).items():
            _add(replace(MEASURES[name], name=alias, alias_of=name))
        return function

    return register


def _weighted(record: Measure, name: str, weighting: Weighting) -> Measure:
    return replace(
        record,
        name=name,
        title=record.title + weighting.title,
        function=update_wrapper(partial(record.function, weighting=weighting), record.function),
        undefined=tuple(condition.under(weighting) for condition in record.undefined),
        levels=weighting.levels,
        weighting=weighting,
        split=_split_by(weighting, record.split),
    )


def _split_by(weighting: Weighting, split: Split | None) -> Split | None:
    """How unseen items of a weighted form are split. Its weights say which categories are far."""
    usual = None if weighting is IDENTITY else most_used_and_farthest
    chosen = split or usual
    return chosen and partial(chosen, weighting=weighting)


def _add(record: Measure) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", record.name) or record.name in MEASURES:
        raise ValueError(
            f"measure {record.name!r}: found a name that is taken or has other characters; "
            "expected a new name in lower case letters, digits and underscores."
        )
    MEASURES[record.name] = record


def chance_corrected(p_o: Array, p_e: Array) -> Coefficient:
    """(p_o - p_e) / (1 - p_e): agreement beyond chance, as a share of what chance leaves."""
    return Coefficient(ratio(p_o - p_e, 1 - p_e), observed=p_o, expected=p_e)
