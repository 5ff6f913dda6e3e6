"""The statistic of ratings with the confidence that raters stated in them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Array, Scale
from agreement_pipeline.statistics.clusters import Clusters
from agreement_pipeline.statistics.patterns import RatingPatterns, stacked
from agreement_pipeline.statistics.rows import changed, extended
from agreement_pipeline.statistics.unseen import split_between


@dataclass(frozen=True, eq=False)
class ConfidentPatterns:
    """Item rows of codes by rater, and how sure each rater said she was.

    Parameters
    ----------
    patterns
        The first ratings, P rows of R raters.
    confidence
        Shape (P, R): from 0, a guess, to 1, no guess; nan where none was stated, as where there is no rating.
    """

    patterns: RatingPatterns
    confidence: Array

    def __init__(self, patterns: RatingPatterns, confidence: ArrayLike) -> None:
        stated = np.asarray(confidence, dtype=float)
        if stated.shape != patterns.codes.shape:
            raise RatingsError(
                f"confident patterns: confidence of shape {stated.shape} found; {patterns.codes.shape} is required. Give one for each rating."
            )
        if not (np.isnan(stated) | ((stated >= 0) & (stated <= 1))).all():
            raise RatingsError(
                "confident patterns: a confidence under 0 or above 1 found; 0 to 1, or nan where none was stated, is required. Correct it."
            )
        object.__setattr__(self, "patterns", patterns)
        object.__setattr__(self, "confidence", np.where(patterns.codes >= 0, stated, np.nan))

    @cached_property
    def stated(self) -> NDArray[np.bool_]:
        """Which ratings have a confidence, shape (P, R)."""
        return ~np.isnan(self.confidence)

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
        """Which rows hold two ratings of stated confidence or more, shape (P,)."""
        return np.asarray(self.stated.sum(1) >= 2)

    @property
    def raters(self) -> tuple[str, ...]:
        """The R rater names."""
        return self.patterns.raters

    @property
    def n_items(self) -> int:
        """Items with at least one rating."""
        return self.patterns.n_items

    @property
    def n_used(self) -> int:
        """Items with two ratings of stated confidence or more."""
        return round(float(self.weights[..., self.readable].sum()))

    @property
    def n_ratings(self) -> int:
        """Ratings of stated confidence."""
        return round(float((self.weights * self.stated.sum(1)).sum()))

    def reweighted(self, weights: Array) -> Self:
        """The same rows under other weights."""
        return changed(self, patterns=self.patterns.reweighted(weights))

    def in_clusters(self, clusters: Clusters) -> Self:
        """The same rows, each in its cluster."""
        return changed(self, patterns=self.patterns.in_clusters(clusters))

    def with_unseen(self, mass: float, category: int | None = None) -> Self:
        """Add the patterns' unseen rows, with as much confidence as each rater stated in the mean."""
        rows = self.patterns.unseen(split_between(self.patterns.used, self.scale, category))
        total = np.nansum(self.confidence, axis=0)
        mean = np.divide(
            total, self.stated.sum(0), out=np.full(total.shape, np.nan), where=self.stated.any(0)
        )
        patterns = changed(
            self.patterns,
            codes=np.vstack([self.patterns.codes, rows]),
            weights=extended(self.weights, mass, len(rows)),
            clusters=None,
        )
        return changed(
            self,
            patterns=patterns,
            confidence=np.vstack([self.confidence, np.where(rows >= 0, mean, np.nan)]),
        )

    def only(self, raters: Sequence[str]) -> "ConfidentPatterns":
        """The columns of some raters."""
        return ConfidentPatterns(
            self.patterns.only(raters),
            self.confidence[:, [self.raters.index(rater) for rater in raters]],
        )

    def __add__(self, other: "ConfidentPatterns") -> "ConfidentPatterns":
        patterns = stacked(self.patterns, other.patterns)
        confidence = np.full(patterns.codes.shape, np.nan)
        cut = len(self.confidence)
        confidence[:cut, [patterns.raters.index(name) for name in self.raters]] = self.confidence
        confidence[cut:, [patterns.raters.index(name) for name in other.raters]] = other.confidence
        return ConfidentPatterns(patterns, confidence)


__all__ = ["ConfidentPatterns"]
