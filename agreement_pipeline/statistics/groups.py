"""The statistic of two groups of raters of the same items: a panel, and the classifiers that stand apart from it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Array, Codes, Scale
from agreement_pipeline.statistics.clusters import Clusters
from agreement_pipeline.statistics.patterns import RatingPatterns, merged_codes
from agreement_pipeline.text import listed


@dataclass(frozen=True, eq=False)
class GroupPatterns:
    """Two groups of raters on the same items; raters keep their names.

    Parameters
    ----------
    patterns
        The patterns of the raters of both groups, P rows.
    second
        The names of those of the second group; all others are of the first.

    Examples
    --------
    >>> patterns = RatingPatterns([[0, 0, 1], [1, -1, -1]], [4, 2], scale=Scale(("no", "yes")), raters=("ana", "ben", "model"))
    >>> groups = GroupPatterns(patterns, ("model",))
    >>> groups.first, groups.n_items, groups.n_ratings
    (('ana', 'ben'), 4, 8)
    """

    patterns: RatingPatterns
    second: tuple[str, ...]

    def __post_init__(self) -> None:
        unknown = sorted(set(self.second) - set(self.patterns.raters))
        if unknown or len(set(self.second)) != len(self.second):
            raise RatingsError(
                f"group patterns: second group {listed(sorted(self.second), 12)} found; raters of the patterns, each once, are required. Correct the names."
            )

    @cached_property
    def first(self) -> tuple[str, ...]:
        """The names of the raters of the first group."""
        return tuple(name for name in self.patterns.raters if name not in self.second)

    @cached_property
    def counts(self) -> tuple[Array, Array]:
        """How often each group gave each category, row by row, shapes (P, K)."""
        in_second = np.isin(self.patterns.raters, self.second)
        given = self.patterns.indicators
        return np.asarray(given[:, ~in_second].sum(1)), np.asarray(given[:, in_second].sum(1))

    @cached_property
    def met(self) -> NDArray[np.bool_]:
        """Which rows hold a rating from each group, shape (P,)."""
        first, second = self.counts
        return np.asarray(first.any(1) & second.any(1))

    @property
    def weights(self) -> Array:
        """How many items show each row, shape (..., P)."""
        return self.patterns.weights

    @property
    def scale(self) -> Scale:
        """The scale the codes are read on."""
        return self.patterns.scale

    @property
    def clusters(self) -> Clusters | None:
        """The cluster of each row, where items come in clusters."""
        return self.patterns.clusters

    @property
    def readable(self) -> NDArray[np.bool_]:
        """The rows on which the groups meet, shape (P,)."""
        return self.met

    @property
    def raters_met(self) -> tuple[Codes, Codes]:
        """How many raters of each group rated an item that the other group rated too, shapes (...)."""
        rated = ((self.patterns.codes >= 0) & self.met[:, None]).astype(float)
        there = (self.weights > 0).astype(float) @ rated > 0
        in_second = np.isin(self.patterns.raters, self.second)
        return there[..., ~in_second].sum(-1), there[..., in_second].sum(-1)

    @property
    def n_items(self) -> int:
        """Items with a rating from each group."""
        return round(float(self.weights[..., self.met].sum()))

    @property
    def n_used(self) -> int:
        """The same: on each of them the groups meet."""
        return self.n_items

    @property
    def n_ratings(self) -> int:
        """Ratings of the first group on items that the second rated too."""
        return round(float((self.weights * self.counts[0].sum(1) * self.met).sum()))

    def reweighted(self, weights: Array) -> Self:
        """The same rows under other weights."""
        return replace(self, patterns=self.patterns.reweighted(weights))

    def in_clusters(self, clusters: Clusters) -> Self:
        """The same rows, each in its cluster."""
        return replace(self, patterns=self.patterns.in_clusters(clusters))

    def with_unseen(self, mass: float, category: int | None = None) -> Self:
        """Add every split of a typical item between two categories, each turned through the raters of both groups."""
        return replace(self, patterns=self.patterns.with_unseen(mass, category))

    def __add__(self, other: "GroupPatterns") -> "GroupPatterns":
        moved = sorted(set(self.first) & set(other.second) | set(self.second) & set(other.first))
        if moved:
            raise RatingsError(
                f"group patterns: {listed(moved, 12)} found in both groups; one is required of each rater. Add statistics of the same groups."
            )
        return grouped(
            self.patterns + other.patterns, tuple(dict.fromkeys((*self.second, *other.second)))
        )


def grouped(patterns: RatingPatterns, second: Sequence[str]) -> GroupPatterns:
    """The groups of those patterns, the raters of each side by side, equal rows made one."""
    first = [name for name in patterns.raters if name not in second]
    return GroupPatterns(merged_codes(patterns.only([*first, *second])), tuple(second))


__all__ = ["GroupPatterns", "grouped"]
