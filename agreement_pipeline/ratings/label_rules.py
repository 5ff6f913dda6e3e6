"""Which label trains of the ratings of an item, as `trains` of a project says."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal, NamedTuple, get_args

import numpy as np

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.mistakes import CLOSED, one_of_value, refuse_mistakes
from agreement_pipeline.ratings.consensus import (
    LEFT_TO_ADJUDICATOR,
    MEAN,
    MEDIAN,
    NO_MAJORITY,
    ONE_RATER,
    PLURALITY,
    SHARES,
    SINGLE,
    TIE,
    UNANIMOUS,
)
from agreement_pipeline.ratings.scale import Scale
from agreement_pipeline.text import counted

Array = np.ndarray[Any, Any]

TrainingLabel = Literal[
    "plurality", "majority", "median", "mean", "shares", "one_rater", "adjudicated"
]
Overlap = Literal["random_sample"]


@dataclass(frozen=True)
class Trains:
    """The label that trains.

    Parameters
    ----------
    label
        plurality: the category with more ratings than any other. majority: one with more than half
        of the ratings. median: the middle rating, on an ordered scale. mean: of numbers. shares:
        the share of each category, also of ties. one_rater: also the only rating of an item; other
        items train their plurality, or the mean of numbers. adjudicated: what an adjudicator
        answered, and nothing else.
    overlap
        random_sample: the items with several ratings are a random sample of the round. one_rater
        trains nothing without it, since only then does their agreement speak of the others.

    Raises
    ------
    RatingsError
        A value is not one of those described above.
    """

    __pydantic_config__ = CLOSED

    label: Annotated[TrainingLabel, one_of_value(get_args(TrainingLabel))]
    overlap: Annotated[Overlap | None, one_of_value(get_args(Overlap))] = None

    def __post_init__(self) -> None:
        refuse_mistakes(self, RatingsError)
        if self.overlap is not None and self.label != "one_rater":
            raise RatingsError(
                f"trains: found overlap beside label {self.label}; expected it beside one_rater "
                "alone, since no other label trains single ratings. Leave overlap out."
            )

    @classmethod
    def from_mapping(cls, data: dict[str, Any]) -> "Trains":
        return cls(**data)

    def to_mapping(self) -> dict[str, str]:
        overlap = {} if self.overlap is None else {"overlap": self.overlap}
        return {"label": self.label, **overlap}

    def raise_if_unsuited(self, scale: Scale) -> None:
        """Refuse a label that the scale does not have."""
        requirement = ""
        if self.label == "median" and scale.level == "nominal":
            requirement = "an ordered scale, since categories without order have no middle"
        elif self.label == "mean" and not scale.numeric:
            requirement = "an interval or ratio scale, since only numbers have a mean"
        elif self.label in ("plurality", "majority", "shares") and scale.continuous:
            requirement = "a list of categories"
        if requirement:
            raise RatingsError(
                f"trains: found {self.label} on the {scale.level} level"
                f"{' without categories' if scale.continuous else ''}; expected {requirement}. "
                "Choose another label, or correct the scale."
            )

    def rule(self, scale: Scale) -> "LabelRule":
        self.raise_if_unsuited(scale)
        if self.label == "one_rater":
            return settle_with_singles
        return RULES[self.label]


@dataclass(frozen=True, eq=False)
class RatingsPool:
    """The ratings of each item that a label rests on.

    Attributes
    ----------
    votes
        The number of ratings by item and category, shape (N, K). None without categories.
    n_raters, n_ratings
        Different raters, and ratings: a rater who rates an item in two rounds gives two.
    item, number
        The position of each rating's item, ascending, and its number. Empty for categories.
    """

    scale: Scale
    votes: Array | None
    n_raters: Array
    n_ratings: Array
    item: Array
    number: Array

    def __len__(self) -> int:
        return len(self.n_raters)

    @cached_property
    def mean(self) -> Array:
        """The exact mean by item; nan without ratings."""
        return self._by_item(lambda numbers: math.fsum(numbers) / len(numbers))

    @cached_property
    def median(self) -> Array:
        """The middle number by item, or the mean of the two in the middle; nan without ratings."""

        def middle(numbers: list[float]) -> float:
            ordered, half = sorted(numbers), len(numbers) // 2
            return (ordered[half] + ordered[-1 - half]) / 2

        return self._by_item(middle)

    @cached_property
    def spread(self) -> Array:
        """The sample standard deviation by item; nan of fewer than two ratings."""

        def deviation(numbers: list[float]) -> float:
            if len(numbers) < 2:
                return math.nan
            mean = math.fsum(numbers) / len(numbers)
            squares = math.fsum((number - mean) ** 2 for number in numbers)
            return math.sqrt(squares / (len(numbers) - 1))

        return self._by_item(deviation)

    @cached_property
    def is_unanimous(self) -> Array:
        if self.votes is not None:
            return np.asarray(self.votes.max(1, initial=0) == self.votes.sum(1))
        return np.asarray(self._by_item(lambda each: float(min(each) == max(each))) == 1)

    def labels_of(self, categories: Array) -> Array:
        """The labels of categories at these positions: numbers on a scale of numbers."""
        if self.scale.numeric:
            return np.array(self.scale.categories, dtype=float)[categories]
        return categories.astype(np.int32)

    def _by_item(self, compute: Callable[[list[float]], float]) -> Array:
        stops = np.cumsum(np.bincount(self.item, minlength=len(self))).tolist()
        numbers, start = self.number.tolist(), 0
        values = np.full(len(self), np.nan)
        for place, stop in enumerate(stops):
            if stop > start:
                values[place] = compute(numbers[start:stop])
            start = stop
        return values


class SettledLabels(NamedTuple):
    """The label of each item, and the position of its resolution among `RESOLUTIONS`."""

    label: Array
    resolution: Array


LabelRule = Callable[[RatingsPool], SettledLabels]


def settle_by_plurality(pool: RatingsPool) -> SettledLabels:
    """The category with more ratings than any other. One rater alone settles nothing."""
    assert pool.votes is not None
    resolution = np.where(is_led_by_several(pool.votes), TIE, PLURALITY)
    return SettledLabels(
        pool.labels_of(pool.votes.argmax(1)), _resolve_alike_and_single(pool, resolution)
    )


def settle_by_majority(pool: RatingsPool) -> SettledLabels:
    """The category with more than half of the ratings. One rater alone settles nothing."""
    assert pool.votes is not None
    label, resolution = settle_by_plurality(pool)
    is_short = (resolution == PLURALITY) & (2 * pool.votes.max(1, initial=0) <= pool.votes.sum(1))
    return SettledLabels(label, np.where(is_short, NO_MAJORITY, resolution).astype(np.int8))


def settle_by_median(pool: RatingsPool) -> SettledLabels:
    """The middle rating. Of an even number it is the mean of the middle two on a scale of numbers.
    Between two categories there is none. One rater alone settles nothing.
    """
    if pool.scale.numeric:
        return SettledLabels(
            pool.median, _resolve_alike_and_single(pool, np.full(len(pool), MEDIAN))
        )
    assert pool.votes is not None
    total, below = pool.votes.sum(1, keepdims=True), pool.votes.cumsum(1)
    lower = (2 * below >= total).argmax(1)
    upper = (2 * below > total).argmax(1)
    resolution = np.where(lower == upper, MEDIAN, TIE)
    return SettledLabels(pool.labels_of(lower), _resolve_alike_and_single(pool, resolution))


def settle_by_mean(pool: RatingsPool) -> SettledLabels:
    """The mean of the numbers. One rater alone settles nothing."""
    return SettledLabels(pool.mean, _resolve_alike_and_single(pool, np.full(len(pool), MEAN)))


def settle_by_shares(pool: RatingsPool) -> SettledLabels:
    """The shares of the categories train. The label is the one that leads, if one does."""
    assert pool.votes is not None
    resolution = _resolve_alike_and_single(pool, np.full(len(pool), SHARES))
    return SettledLabels(pool.labels_of(pool.votes.argmax(1)), resolution)


def settle_with_singles(pool: RatingsPool) -> SettledLabels:
    """By plurality, or the mean of numbers. The only rating of an item settles it too."""
    label, resolution = default_rule(pool.scale)(pool)
    is_single = (resolution == SINGLE) & (pool.n_ratings > 0) & pool.is_unanimous
    return SettledLabels(label, np.where(is_single, ONE_RATER, resolution).astype(np.int8))


def leave_to_adjudicator(pool: RatingsPool) -> SettledLabels:
    """No label of raters trains."""
    label = default_rule(pool.scale)(pool).label
    return SettledLabels(label, np.full(len(pool), LEFT_TO_ADJUDICATOR, dtype=np.int8))


RULES: dict[str, LabelRule] = {
    "plurality": settle_by_plurality,
    "majority": settle_by_majority,
    "median": settle_by_median,
    "mean": settle_by_mean,
    "shares": settle_by_shares,
    "adjudicated": leave_to_adjudicator,
}


def default_rule(scale: Scale) -> LabelRule:
    """What trains where a project does not say it."""
    return settle_by_mean if scale.numeric else settle_by_plurality


def default_label(scale: Scale) -> TrainingLabel:
    return "mean" if scale.numeric else "plurality"


def is_led_by_several(votes: Array) -> Array:
    """True where several categories have the most votes."""
    return np.asarray((votes == votes.max(1, initial=0)[:, None]).sum(1) > 1)


def _resolve_alike_and_single(pool: RatingsPool, resolution: Array) -> Array:
    """One rater alone settles nothing, and equal ratings settle all."""
    settled = np.select([pool.n_raters <= 1, pool.is_unanimous], [SINGLE, UNANIMOUS], resolution)
    return np.asarray(settled.astype(np.int8))


MEANINGS: dict[TrainingLabel, str] = {
    "plurality": "the category that more raters of an item gave than any other",
    "majority": "the category that more than half of the raters of an item gave",
    "median": "the middle rating of an item",
    "mean": "the mean of the ratings of an item",
    "shares": "the share of the raters of an item in each category (`soft_label`), also of ties",
    "one_rater": "the only label of an item, or else the label of several raters",
    "adjudicated": "the label that an adjudicator gave, and no label of raters",
}
HOW_TO_TRAIN_SINGLES = "`trains: {label: one_rater, overlap: random_sample}`"


def describe_training_label(trains: Trains | None, scale: Scale) -> str:
    """What trains, in words, and whether the project names it."""
    label = trains.label if trains else default_label(scale)
    naming = f"`trains: {label}` in the project" if trains else "the project names no other label"
    return f"{MEANINGS[label]} ({naming})"


def describe_fate_of_singles(n_single: int, n_items: int, trains: Trains | None) -> str:
    """Whether items with one label train, and why; empty if there are none.

    >>> describe_fate_of_singles(1, 40, Trains("shares"))[:47]
    '1 of 40 items has one label, which does not tra'
    """
    if not n_single:
        return ""
    of_items = f"{n_single:,} of {counted(n_items, 'item')}"
    is_one = n_single == 1
    if trains and trains.label == "one_rater":
        return (
            f"{of_items} {'has one label, which trains' if is_one else 'have one label and train'}:"
            " the items with several labels are a random sample, as the project says, so their "
            "agreement speaks of single labels too."
        )
    has = "has one label, which does" if is_one else "have one label and do"
    if trains and trains.label == "adjudicated":
        return f"{of_items} {has} not train, unless an adjudicator labelled the item."
    return (
        f"{of_items} {has} not train, since nothing shows whether another rater would say the "
        "same. If the items with several labels are a random sample of the round, say "
        f"{HOW_TO_TRAIN_SINGLES} in the project to train them."
    )
