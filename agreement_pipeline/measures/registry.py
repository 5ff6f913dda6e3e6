"""The record of a measure, and the decorator that registers it."""

import inspect
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial, update_wrapper
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

from agreement_pipeline.measures.coefficient import Coefficient, most_used_and_farthest
from agreement_pipeline.measures.weighting import IDENTITY, WEIGHTINGS, Weighting
from agreement_pipeline.ratings import UNIVARIATE, Array, Flags, Level, Scale

Needs = Literal[
    "counts",
    "patterns",
    "panel",
    "groups",
    "replicates",
    "values",
    "confidence",
    "strata",
    "gold",
    "label",
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
    "label": "the label that trains",
}
ARGUMENTS: dict[Needs, str] = {
    "counts": "counts of shape (P, K) and weights of shape (..., P)",
    "patterns": "codes of shape (P, R) and weights of shape (..., P)",
    "panel": "codes of the panel (P, R), labels of the classifier (P,) and weights (..., P)",
    "groups": "codes of both groups (P, R) and weights of shape (..., P)",
    "replicates": "counts of cells (C, K) and weights of items (..., P)",
    "values": "values of shape (N, R, D) and weights of shape (..., N)",
    "confidence": "codes and confidence of shape (P, R), and weights of shape (..., P)",
    "strata": "the counts of the round, and which rows are of the stratum; weights (..., P)",
    "gold": "codes of shape (P, R), right labels (P,) and weights of shape (..., P)",
    "label": "what ratings tell of the labels of panels, and weights of shape (..., P)",
}
"""Where any number may occur, values (N, R, D) take the place of counts and codes."""
EXAMPLES: dict[Needs, str] = {
    "counts": """
>>> counts = CategoryCounts([[3, 0], [2, 1], [0, 3]], [4, 2, 4], scale=Scale(("no", "yes")))""",
    "patterns": """
>>> codes, items = [[0, 0], [0, 1], [1, 0], [1, 1]], [20, 5, 10, 15]
>>> patterns = LabelsByRater(codes, items, scale=Scale(("no", "yes")), raters=("a", "b"))""",
    "panel": """
>>> codes, scale = [[0, 0, 0], [0, 0, 1], [1, 1, 1]], Scale(("no", "yes"))
>>> labels = LabelsByRater(codes, scale=scale, raters=("a", "b", "c"))
>>> panel = labels.with_classifier([0, 1, 1], "model")""",
    "groups": """
>>> codes, items = [[0, 0, 0, 0], [0, 1, 0, 1], [1, 1, 0, 1]], [4, 2, 4]
>>> labels = LabelsByRater(codes, items, scale=Scale(("no", "yes")), raters=("a", "b", "m", "n"))
>>> groups = labels.in_groups(("m", "n"))""",
    "replicates": """
>>> codes, items = [[0, 0], [0, 1], [1, 1]], [4, 2, 4]
>>> first = LabelsByRater(codes, items, scale=Scale(("no", "yes")), raters=("a", "b"))
>>> again = [[2, 0], [1, 1], [0, 2], [2, 0], [1, 1], [0, 2]]
>>> replicates = ReplicatedLabels(again, [0, 1, 2] * 2, [0, 0, 0, 1, 1, 1], first)""",
    "values": """
>>> rows = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
>>> values = NumbersByRater(rows, scale=Scale(None, "interval"), raters=("a", "b", "c", "d"))""",
}
Question = Literal["inter-rater", "intra-rater", "classifier"]
Split = Callable[..., tuple[int, int]]
F = TypeVar("F", bound=Callable[..., "Coefficient"])


class UsedRows(NamedTuple):
    """The rows that a measure is computed from, and how to count them.

    `rows` is True for rows that the measure uses, and `others` says what the others have. `among`
    and `ratings` count all items and all ratings. `by_rater` counts the used items of each rater.
    `also` is True for further rows that the measure needs, as replicates that show guessing.
    """

    rows: Callable[[Any], Flags]
    others: str
    among: Callable[[Any], int] = lambda statistic: int(statistic.n_items)
    ratings: Callable[[Any], int] = lambda statistic: int(statistic.n_ratings)
    by_rater: Callable[[Any, Flags], Array] = lambda statistic, rows: np.asarray(
        statistic.n_items_by_rater(rows)
    )
    also: Callable[[Any], Flags] | None = None

    def n_items(self, statistic: Any) -> int:
        return round(float(statistic.weights[self.rows(statistic)].sum()))

    def n_raters(self, statistic: Any) -> int:
        """How many raters rated such an item; others say nothing about agreement."""
        if statistic.raters is None:
            return int(statistic.n_raters)
        return int((self.n_items_by_rater(statistic) > 0).sum())

    def n_items_by_rater(self, statistic: Any) -> Array:
        return self.by_rater(statistic, self.rows(statistic))

    def n_clusters(self, statistic: Any) -> int | None:
        if statistic.clusters is None:
            return None
        return int(statistic.clusters.select_rows(self.rows(statistic) & (statistic.weights > 0)).n)

    def n_independent_units(self, statistic: Any) -> float:
        return _count_units(statistic, self.rows(statistic))

    def n_deciding_units(self, statistic: Any) -> float:
        """How many units decide what is known: the fewer of the used rows and those in `also`."""
        parts = (self.rows,) if self.also is None else (self.rows, self.also)
        return min(_count_units(statistic, rows(statistic)) for rows in parts)


def _count_units(statistic: Any, rows: Flags) -> float:
    if statistic.clusters is None:
        return round(float(statistic.weights[rows].sum()))
    return float(statistic.clusters.effective_number(statistic.weights, rows))


USED = UsedRows(lambda statistic: statistic.readable, "one rating")


def always(_: Any) -> bool:
    return True


def never(_: Any) -> bool:
    return False


class UndefinedCondition(NamedTuple):
    """When a measure is undefined.

    `reason` is a half sentence, and `holds` is True on a statistic where it applies. Without
    `holds` it applies wherever there is no value; name it last.
    """

    reason: str
    holds: Callable[..., bool] = never


@dataclass(frozen=True)
class Measure:
    """A registered measure.

    Attributes
    ----------
    bounds, undefined
        The least and greatest value, and the exact conditions under which it has no value.
    source, convention
        Where the formula comes from, with DOI, and how missing ratings count.
    per_category
        True if it gives a value for every category. The round's own value is then the lowest.
    chance_corrected
        True if 0 is the value of guessing.
    exchangeable
        True if raters may swap their ratings of an item, so that rows need no names.
    passed_by_guessing
        True if raters who never look at an item can reach a cut-off where one category prevails.
    cannot_hold
        Why a rule on it may not hold a release, and what to use instead; empty where it may.
    continuous
        True if it is also defined where a scale has no list of categories.
    withstands_chosen
        True if it hardly moves where raters were added to items because of what others said.
    crossed
        True if only items rated by every rater are used.
    expensive, by_pair
        True if it takes more than linear time, or has a value for each pair of raters. Its interval
        then comes from fewer resamples.
    sums_of_raters
        From a statistic to True if it asks who gave which label only in sums over all rows, by the
        method `sums`, and of a row only the counts and the classifier's label.
    classifiers_only
        True if it compares a classifier with the raters. Then no rater has it.
    split
        From labels to the two categories that unseen items are split between, if not by the level.
    of_one_rating
        Of a measure of the mean of all raters' ratings, the measure of one of them. The mean of
        fewer ratings is less reliable, so only the latter says which rater lowers the value.
    raters_left_out
        From a statistic to the raters whose replicates or confidence are missing or show nothing.
    """

    name: str
    title: str
    function: Callable[..., Coefficient]
    question: Question
    needs: Needs
    bounds: tuple[float, float]
    undefined: tuple[UndefinedCondition, ...]
    source: str
    convention: str
    levels: frozenset[Level] = frozenset(UNIVARIATE)
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
    of_one_rating: str | None = None
    raters_left_out: Callable[[Any], tuple[str, ...]] = lambda _: ()
    rests_on: UsedRows = USED

    def __call__(self, statistic: Any) -> Coefficient:
        return self.function(statistic)

    @property
    def computed_as(self) -> str:
        return self.alias_of or self.name

    @property
    def description(self) -> str:
        return (self.function.__doc__ or self.title).strip().splitlines()[0]

    def defined_on(self, scale: Scale) -> bool:
        return scale.level in self.levels and (
            self.continuous or self.needs == "values" or not scale.continuous
        )

    def why_undefined(self, statistic: Any) -> str | None:
        for reason, holds in self.undefined:
            if holds(statistic) or (holds is never and np.isnan(self(statistic).value).all()):
                return reason
        return None


MEASURES: dict[str, Measure] = {}
FAMILIES: dict[str, Measure] = {}
"""The measures that take a distance of categories, by what its name follows."""

SHORT = {"alpha": "krippendorff_alpha"}
REGISTERED_WEIGHTINGS = ("linear", "quadratic")


def register(
    title: str,
    *,
    levels: Collection[Level] = UNIVARIATE,
    family: str | None = None,
    plain: bool = True,
    plain_bounds: tuple[float, float] | None = None,
    aliases: Mapping[str, str] | None = None,
    example: str | None = None,
    **fields: Any,
) -> Callable[[F], F]:
    """Register a function as a measure under its own name. `fields` are those of `Measure`.

    Its docstring gets what the record says. With a `family`, it also takes a `weighting`, and a
    weighted form is named as `cohen_kappa_linear`. `plain` and `plain_bounds` say whether the form
    without weights is a measure too, and its bounds, if they are narrower.
    """

    def register(function: F) -> F:
        name = function.__name__
        record = Measure(name, title, function, levels=frozenset(levels), **fields)
        function.__doc__ = _build_docstring(record, example or EXAMPLES.get(record.needs, ""))
        if family is None:
            _add_measure(record)
        else:
            FAMILIES[family] = record
            if plain:
                unweighted = _build_weighted_measure(record, name, IDENTITY)
                _add_measure(replace(unweighted, bounds=plain_bounds or record.bounds))
            for distance in REGISTERED_WEIGHTINGS:
                _add_measure(
                    _build_weighted_measure(record, f"{family}_{distance}", WEIGHTINGS[distance])
                )
        for alias, target_name in (aliases or {}).items():
            _add_measure(replace(MEASURES[target_name], name=alias, alias_of=target_name))
        return function

    return register


def find_measure(name: str) -> Measure | None:
    """The measure of a name; the name of a distance may follow that of a family.

    >>> find_measure("cohen_kappa_circular").title
    "Cohen's κ, circular weights"
    """
    family, _, distance = name.rpartition("_")
    if name in MEASURES or family not in FAMILIES or distance not in WEIGHTINGS:
        return MEASURES.get(name)
    return _build_weighted_measure(FAMILIES[family], name, WEIGHTINGS[distance])


@cache
def _build_weighted_measure(record: Measure, name: str, weighting: Weighting) -> Measure:
    split = record.split or (None if weighting is IDENTITY else most_used_and_farthest)
    return replace(
        record,
        name=name,
        title=record.title + weighting.title,
        function=update_wrapper(partial(record.function, weighting=weighting), record.function),
        levels=weighting.levels,
        weighting=weighting,
        split=split and partial(split, weighting=weighting),
    )


def _build_docstring(record: Measure, example: str) -> str:
    docstring = inspect.cleandoc(record.function.__doc__ or "")
    prose, _, examples = docstring.partition("\nExamples\n--------\n")
    examples = f"{example.strip()}\n{examples}".strip()
    statistics = sorted({*re.findall(r"\b([A-Z][a-z]+[A-Z]\w+)\(", examples)})
    argument, *weighting = inspect.signature(record.function).parameters
    low, high = record.bounds
    shape = "(..., K)" if record.per_category else "(...)"
    category_note = " A category without a case has no value." if record.per_category else ""
    lines = [
        *("Parameters", "----------", argument, f"    {ARGUMENTS[record.needs]}"),
        *(f"{name}\n    how much two different categories agree" for name in weighting),
        *("", "Returns", "-------", "Coefficient"),
        f"    Its value has shape {shape}, from {low:g} to {high:g}.{category_note} "
        "Undefined when:",
        *("", *(f"    - {condition.reason}" for condition in record.undefined), ""),
        *("References", "----------", record.source, ""),
        *("Examples", "--------", ">>> from agreement_pipeline import Scale"),
        f">>> from agreement_pipeline.statistics import {', '.join(statistics)}",
        examples,
    ]
    return "\n".join([prose, *lines])


def _add_measure(record: Measure) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", record.name) or record.name in MEASURES:
        raise ValueError(
            f"measure {record.name!r}: found a name that is taken or has other characters; "
            "expected a new name in lower case letters, digits and underscores."
        )
    MEASURES[record.name] = record
