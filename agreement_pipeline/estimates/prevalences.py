"""How often each side of a comparison gave each category, and if this differs by more than luck."""

from typing import Any, NamedTuple

import numpy as np

from agreement_pipeline.estimates.sides import Side, drawn_sides
from agreement_pipeline.intervals import Inference
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import CategoryCounts
from agreement_pipeline.text import PROBABILITY, in_words

MOST_NAMED = 3


class Prevalences(NamedTuple):
    """How often each side gave each category.

    Attributes
    ----------
    categories
        The categories.
    one, other
        The share of each category among the ratings of each side.
    differing
        The categories whose shares differ by more than luck, the largest difference first.
    """

    categories: tuple[str, ...]
    one: tuple[float, ...]
    other: tuple[float, ...]
    differing: tuple[str, ...]

    def of(self, category: str) -> str:
        """The shares of one category in words."""
        place = self.categories.index(category)
        shares = (in_words(each[place], PROBABILITY) for each in (self.one, self.other))
        return f"{category} {' and '.join(shares)}"

    @property
    def farthest(self) -> str:
        """The category whose shares are farthest apart, in words."""
        apart = np.abs(np.subtract(self.one, self.other)).argmax()
        return self.of(self.categories[int(apart)])

    @property
    def words(self) -> str | None:
        """That prevalence differs, and how; None if the difference may be luck."""
        if not self.differing:
            return None
        named = ", ".join(map(self.of, self.differing[:MOST_NAMED]))
        more = len(self.differing) - MOST_NAMED
        return f"prevalence differs: {named}{f' and {more} more' if more > 0 else ''}"

    def to_mapping(self) -> dict[str, Any]:
        """The shares as plain data."""
        return {
            "one": dict(zip(self.categories, self.one, strict=True)),
            "other": dict(zip(self.categories, self.other, strict=True)),
            "differing": list(self.differing),
        }


def prevalences(one: Side, other: Side, inference: Inference, *, paired: bool) -> Prevalences:
    """The prevalences of two sides with labels.

    A category differs if 0 is outside the interval of the difference of its shares. The level is
    that of the comparison for all categories together, by Bonferroni's inequality.
    """
    drawn = drawn_sides(one, other, paired, inference.n_resamples, inference.seed)
    apart = np.concatenate([shares_of(first) - shares_of(second) for first, second in drawn])
    tail = inference.tail / apart.shape[1]
    low, high = np.quantile(apart, [tail, 1 - tail], axis=0)
    shares, others = shares_of(one.statistic), shares_of(other.statistic)
    names = one.statistic.scale.names
    order = np.argsort(-np.abs(shares - others), kind="stable")
    return Prevalences(
        names,
        tuple(shares.tolist()),
        tuple(others.tolist()),
        tuple(names[k] for k in order if low[k] > 0 or high[k] < 0),
    )


def shares_of(statistic: Any) -> Array:
    """The share of each category among the ratings. Shape (..., K)."""
    counts: CategoryCounts = statistic.unnamed()
    given = counts.weights @ counts.counts
    return np.asarray(given / given.sum(-1, keepdims=True))
