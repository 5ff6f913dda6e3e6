"""The statistic of a panel, and a rater who stands apart from it, where ratings are numbers or vectors of numbers."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Array, Scale
from agreement_pipeline.statistics.clusters import Clusters
from agreement_pipeline.statistics.rows import changed, extended
from agreement_pipeline.statistics.values import RatingValues, two_values


@dataclass(frozen=True, eq=False)
class PanelValues:
    """A panel of raters, and a classifier (or an isolated rater) that stands apart from it, in numbers.

    Parameters
    ----------
    panel
        The raters' values, N rows.
    labels
        Shape (N, D): what the classifier gave each item in each dimension, nan in all dimensions where it gave nothing.
    classifier
        Its name.
    """

    panel: RatingValues
    labels: Array
    classifier: str

    def __post_init__(self) -> None:
        expected = (len(self.panel.values), self.panel.scale.dimensions)
        if np.shape(self.labels) != expected:
            raise RatingsError(
                f"panel values: labels of shape {np.shape(self.labels)} found; {expected} is required. Give one label a row."
            )
        object.__setattr__(self, "labels", np.asarray(self.labels, dtype=float))
        self.joined()

    @property
    def weights(self) -> Array:
        """How many items show each row, shape (..., N)."""
        return self.panel.weights

    @property
    def scale(self) -> Scale:
        """The scale the numbers are read on."""
        return self.panel.scale

    @property
    def clusters(self) -> Clusters | None:
        """The cluster of each row, where items come in clusters."""
        return self.panel.clusters

    @property
    def readable(self) -> NDArray[np.bool_]:
        """Which rows hold a label from the classifier and a rating from the panel, shape (N,)."""
        return np.asarray(self.labelled & (self.panel.sizes > 0))

    @cached_property
    def labelled(self) -> NDArray[np.bool_]:
        """Which rows the classifier labelled, shape (N,)."""
        return ~np.isnan(self.labels[:, 0])

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
        return round(float((self.weights * (self.panel.sizes * self.labelled)).sum()))

    def reweighted(self, weights: Array) -> Self:
        """The same rows under other weights."""
        return changed(self, panel=self.panel.reweighted(weights))

    def in_clusters(self, clusters: Clusters) -> Self:
        """The same rows, each in its cluster."""
        return changed(self, panel=self.panel.in_clusters(clusters))

    def with_unseen(self, mass: float, category: int | None = None) -> Self:
        """Add the panel's unseen rows, once with the classifier on the lower and once on the higher of the two values of all ratings.

        What they look like is read off what the classifier met: items it never met do not say how well it is known.
        """
        met = self._met()
        unseen = met.panel.with_unseen(mass).values[len(met.labels) :]
        labels = np.repeat(two_values(met.joined().values, met.weights), len(unseen), axis=0)
        values, weights = (
            np.concatenate([self.panel.values, unseen, unseen]),
            extended(self.weights, mass, 2 * len(unseen)),
        )
        return changed(
            self,
            panel=changed(self.panel, values=values, weights=weights, clusters=None),
            labels=np.concatenate([self.labels, labels]),
        )

    def _met(self) -> "PanelValues":
        """The items that the classifier labelled and the panel rated; all where there is none."""
        met = self.labelled & (self.panel.sizes > 0) & (self.weights > 0)
        return (
            changed(self, panel=self.panel.at(met), labels=self.labels[met]) if met.any() else self
        )

    def joined(self) -> RatingValues:
        """The panel with the classifier as one more rater, the last."""
        panel = self.panel
        values = np.concatenate([panel.values, self.labels[:, None]], axis=1)
        return RatingValues(
            values,
            panel.weights,
            scale=panel.scale,
            raters=(*panel.raters, self.classifier),
            clusters=panel.clusters,
        )

    def __add__(self, other: "PanelValues") -> "PanelValues":
        name = self.classifier
        if other.classifier != name:
            raise RatingsError(
                f"panel values: classifiers {name!r} and {other.classifier!r} found; one is required. Add the statistics of one classifier."
            )
        return value_against_the_rest(self.joined() + other.joined(), name)


def value_against_the_rest(values: RatingValues, rater: str) -> PanelValues:
    """One rater set apart from the others, as a classifier is from its panel."""
    return PanelValues(values.without(rater), values.values[:, values.raters.index(rater)], rater)


__all__ = ["PanelValues", "value_against_the_rest"]
