"""The statistic of a panel and a rater who stands apart from it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import MISSING, Array, Codes, Scale
from agreement_pipeline.statistics.clusters import Clusters
from agreement_pipeline.statistics.patterns import RatingPatterns
from agreement_pipeline.statistics.rows import Known, changed, checked_codes, distinct_in, extended
from agreement_pipeline.statistics.unseen import MAX_TURNS, split_between


@dataclass(frozen=True, eq=False)
class PanelPatterns(Known):
    """A panel of raters, and a classifier (or an isolated rater) that stands apart from it.

    Parameters
    ----------
    panel
        The raters' patterns, P rows.
    labels
        Shape (P,): the code the classifier gave to the items of each row, -1 where it gave none.
    classifier
        Its name.
    named
        Does a column of the panel stand for a rater? If not, it stands for a place among an item's ratings, whoever gave them.
    """

    panel: RatingPatterns
    labels: Codes
    classifier: str
    named: bool = True

    def __post_init__(self) -> None:
        labels = checked_codes("panel patterns: labels", self.labels, len(self.scale.names))
        if labels.shape != self.panel.codes.shape[:1]:
            raise RatingsError(
                f"panel patterns: labels of shape {labels.shape} found; {self.panel.codes.shape[:1]} is required. Give one label a row."
            )
        if self.classifier in self.panel.raters:
            raise RatingsError(
                f"panel patterns: {self.classifier!r} found as classifier and in the panel; a name of its own is required. Name them apart."
            )
        object.__setattr__(self, "labels", labels)

    @property
    def weights(self) -> Array:
        """How many items show each row, shape (..., P)."""
        return self.panel.weights

    @property
    def scale(self) -> Scale:
        """The scale the codes are read on."""
        return self.panel.scale

    @property
    def clusters(self) -> Clusters | None:
        """The cluster of each row, where items come in clusters."""
        return self.panel.clusters

    @property
    def readable(self) -> NDArray[np.bool_]:
        """Which rows hold a label from the classifier and a rating from the panel, shape (P,)."""
        return np.asarray((self.labels >= 0) & (self.panel.codes >= 0).any(1))

    @cached_property
    def labelled(self) -> NDArray[np.bool_]:
        """Which rows the classifier labelled, shape (P,)."""
        return np.asarray(self.labels >= 0)

    @property
    def n_items(self) -> int:
        """Items with a label from the classifier and a rating from the panel."""
        return round(float(self.weights[..., self.readable].sum()))

    @property
    def n_used(self) -> int:
        """The same: on each of them the classifier meets the panel."""
        return self.n_items

    @property
    def n_ratings(self) -> int:
        """Ratings of the panel on items the classifier labelled."""
        return round(
            float((self.weights * ((self.panel.codes >= 0).sum(1) * (self.labels >= 0))).sum())
        )

    @cached_property
    def indicators(self) -> Array:
        """1 where the classifier gave a category, shape (P, K)."""
        return np.asarray(self.labels[:, None] == np.arange(len(self.scale.names)), dtype=float)

    def reweighted(self, weights: Array) -> Self:
        """The same rows under other weights."""
        copy = changed(self, panel=self.panel.reweighted(weights))
        vars(copy).update(labelled=self.labelled, indicators=self.indicators, _kept=self._kept)
        return copy

    def unnamed(self) -> "PanelPatterns":
        """The same without who of the panel said what, equal rows made one, in a fixed order."""
        panel = self.panel
        rows, weights, clusters = distinct_in(
            np.column_stack([-np.sort(-panel.codes, axis=1), self.labels]),
            panel.weights,
            panel.clusters,
        )
        unnamed = RatingPatterns(
            rows[:, :-1], weights, scale=panel.scale, raters=panel.raters, clusters=clusters
        )
        return PanelPatterns(unnamed, rows[:, -1], self.classifier, named=False)

    def in_clusters(self, clusters: Clusters) -> Self:
        """The same rows, each in its cluster."""
        return changed(self, panel=self.panel.in_clusters(clusters))

    def with_unseen(self, mass: float, category: int | None = None) -> Self:
        """Add the panel's unseen rows, once with the classifier on each of the two categories.

        What they look like, and who rates them, is read off what the classifier met: neither items nor raters it never met say how well it is known.
        """
        met, columns = self._met()
        first, second = split_between(self._used(), self.scale, category)
        found = met.unseen((first, second), MAX_TURNS if self.named else 1)
        rows = np.full((len(found), self.panel.n_raters), MISSING)
        rows[:, columns] = found
        panel = self.panel
        labels = np.concatenate(
            [self.labels, np.full(len(rows), first), np.full(len(rows), second)]
        )
        weights = extended(panel.weights, mass, 2 * len(rows))
        return changed(
            self,
            panel=changed(
                panel, codes=np.vstack([panel.codes, rows, rows]), weights=weights, clusters=None
            ),
            labels=labels,
        )

    def _used(self) -> Array:
        """How often the panel gave each category to what the classifier labelled, shape (K,): every such rating meets the classifier's, though no other."""
        used = np.where(self.labels >= 0, self.weights, 0.0) @ self.panel.indicators.sum(1)
        return np.asarray(used) if used.any() else self.panel.used

    def _met(self) -> tuple[RatingPatterns, Codes]:
        """The ratings that the classifier met, of items with two or more if there are some; and the columns of those who gave them."""
        rated = self.panel.codes >= 0
        met = (self.labels >= 0) & (self.weights > 0) & rated.any(1)
        paired = met & (rated.sum(1) >= 2)
        if not met.any():
            return self.panel, np.arange(self.panel.n_raters)
        rows = paired if paired.any() else met
        columns = np.flatnonzero(rated[rows].any(0))
        raters = [self.panel.raters[column] for column in columns]
        return RatingPatterns(
            self.panel.codes[rows][:, columns], self.weights[rows], scale=self.scale, raters=raters
        ), columns

    def __add__(self, other: "PanelPatterns") -> "PanelPatterns":
        name = self.classifier
        if other.classifier != name:
            raise RatingsError(
                f"panel patterns: classifiers {name!r} and {other.classifier!r} found; one is required. Add the statistics of one classifier."
            )
        both = self.joined() + other.joined()
        return PanelPatterns(both.without(name), both.codes[:, both.raters.index(name)], name)

    def joined(self) -> RatingPatterns:
        """The panel with the classifier as one more rater, the last."""
        panel = self.panel
        codes = np.column_stack([panel.codes, self.labels])
        return RatingPatterns(
            codes,
            panel.weights,
            scale=panel.scale,
            raters=(*panel.raters, self.classifier),
            clusters=panel.clusters,
        )


def against_the_rest(patterns: RatingPatterns, rater: str) -> PanelPatterns:
    """One rater set apart from the others, as a classifier is from its panel."""
    return PanelPatterns(
        patterns.without(rater), patterns.codes[:, patterns.raters.index(rater)], classifier=rater
    )


__all__ = ["PanelPatterns", "against_the_rest"]
