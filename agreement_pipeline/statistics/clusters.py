"""Clusters: items that belong together, as sentences of a document or samples of a patient."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Array, Codes, Flags, is_present
from agreement_pipeline.text import counted

FEWEST_CLUSTERS = 2


@dataclass(frozen=True, eq=False)
class Clusters:
    """The cluster of each row of a statistic.

    Parameters
    ----------
    places
        Shape (P,): the place of each row's cluster, 0 … C-1.
    times
        Shape (C,): how many such clusters there are; the weight of a row is spread over them.

    Examples
    --------
    >>> Clusters.from_names(["d2", "d1", "d2"]).places.tolist()
    [1, 0, 1]
    """

    places: Codes
    times: Array

    @classmethod
    def from_names(cls, names: ArrayLike) -> "Clusters":
        """The clusters of rows, by the name of the cluster of each."""
        are_numbers = isinstance(names, np.ndarray) and names.dtype.kind in "iu"
        checked_names = [] if are_numbers else np.asarray(names, dtype=object).tolist()
        if missing := sum(not is_present(name) for name in checked_names):
            raise RatingsError(
                f"clusters: found {counted(missing, 'missing name')}; expected one for each row, "
                "or none for all. Name the cluster of each row."
            )
        distinct_names, places = np.unique(np.asarray(names), return_inverse=True)
        return cls(places.astype(np.int64), np.ones(len(distinct_names)))

    @property
    def n(self) -> int:
        """How many clusters there are."""
        return round(float(self.times.sum()))

    def select_rows(self, rows: Flags | Codes) -> "Clusters":
        """The clusters of some rows."""
        kept_places, places = np.unique(self.places[rows], return_inverse=True)
        return Clusters(places.astype(np.int64), self.times[kept_places])

    def sizes(self, weights: Array) -> Array:
        """How many items of each row one cluster holds. Shape (P,)."""
        return np.asarray(weights / np.maximum(self.times[self.places], 1.0))

    def items_by_cluster(self, weights: Array, rows: Flags) -> Array:
        """How many items each cluster holds in some rows. Shape (C,)."""
        return np.asarray(
            np.bincount(self.places[rows], self.sizes(weights)[rows], minlength=len(self.times)),
            dtype=float,
        )

    def typical_size(self, weights: Array, rows: Flags) -> float:
        """The size of the cluster that an item taken by chance belongs to, on average."""
        cluster_sizes = self.items_by_cluster(weights, rows)
        return float(self.times @ cluster_sizes**2 / (self.times @ cluster_sizes))

    def effective_number(self, weights: Array, rows: Flags) -> float:
        """How many clusters of one size say as much as these, by Kish's (1965) formula."""
        cluster_sizes = self.items_by_cluster(weights, rows)
        return float((self.times @ cluster_sizes) ** 2 / (self.times @ cluster_sizes**2))


def validate_clusters(clusters: Clusters | None, rows: int) -> Clusters | None:
    if clusters is not None and clusters.places.shape != (rows,):
        raise RatingsError(
            f"clusters: found shape {clusters.places.shape}; expected one for each of {rows} rows. "
            "Name the cluster of each row."
        )
    return clusters
