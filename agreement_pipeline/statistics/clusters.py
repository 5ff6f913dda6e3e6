"""Clusters: items that belong together, as sentences of a document or samples of a patient."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Array, Codes, present
from agreement_pipeline.text import counted, listed

FEWEST_CLUSTERS = 2
LEAST_OF_LARGEST, HEAVY, ERRORS, FEWEST_LARGE = 0.5, 5.0, 3.0, 5
"""How much of the seen disagreement an unseen cluster may have: see `with_unseen_as_seen`."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """The cluster of each row of a statistic.

    Parameters
    ----------
    places
        Shape (P,): the place of each row's cluster, 0 … C-1.
    times
        Shape (C,): how many such clusters there are; the weight of a row is spread over them.
    most_unseen
        The most items that an unseen cluster holds.

    Examples
    --------
    >>> Clusters.named(["d2", "d1", "d2"]).places.tolist()
    [1, 0, 1]
    """

    places: Codes
    times: Array
    most_unseen: float = math.inf

    @classmethod
    def named(cls, names: ArrayLike) -> "Clusters":
        """Make one cluster for each name, in the order of the names.

        Raises
        ------
        RatingsError
            A name is missing.
        """
        are_numbers = isinstance(names, np.ndarray) and names.dtype.kind in "iu"
        told = [] if are_numbers else np.asarray(names, dtype=object).tolist()
        if missing := sum(not present(name) for name in told):
            raise RatingsError(
                f"clusters: found {counted(missing, 'missing name')}; expected one for each row, "
                "or none for all. Name the cluster of each row."
            )
        found, places = np.unique(np.asarray(names), return_inverse=True)
        return cls(places.astype(np.int64), np.ones(len(found)))

    @property
    def n(self) -> int:
        """How many clusters there are."""
        return round(float(self.times.sum()))

    def at(self, rows: NDArray[np.bool_] | Codes) -> "Clusters":
        """Keep some of the rows, and the clusters that hold one of them."""
        kept, places = np.unique(self.places[rows], return_inverse=True)
        return Clusters(places.astype(np.int64), self.times[kept])

    def sizes(self, weights: Array) -> Array:
        """How many items of each row one cluster holds, from the rows' weights. Shape (P,)."""
        return np.asarray(weights / np.maximum(self.times[self.places], 1.0))

    def held(self, weights: Array, rows: NDArray[np.bool_]) -> Array:
        """How many items of some of the rows each cluster holds. Shape (C,)."""
        return np.asarray(
            np.bincount(self.places[rows], self.sizes(weights)[rows], minlength=len(self.times)),
            dtype=float,
        )

    def unseen(self, weights: Array, rows: NDArray[np.bool_]) -> float:
        """How many items of some rows an unseen cluster holds.

        As many as the cluster of an item on average over items, or fewer.
        """
        held = self.held(weights, rows)
        return min(float(self.times @ held**2 / (self.times @ held)), self.most_unseen)

    def with_unseen_as_seen(self, unlike: Array, weights: Array) -> "Clusters":
        r"""The clusters, of which unseen ones disagree no more than the seen ones make likely.

        `unlike` is the disagreement of each row (P,), as a share :math:`u` of the most possible. A
        cluster of :math:`n` items has the sum :math:`d` of it. An unseen cluster of full
        disagreement then holds as many items as the largest of these three:

        - one;
        - :math:`\max d \cdot \max(1/2, v^2 / 5)`, where :math:`v` is the coefficient of variation
          of :math:`d`. It is large if few clusters have most of the disagreement;
        - :math:`(r + 3 \sigma) \sum n^2 / \sum n`, where :math:`r` is the mean of :math:`u` and
          :math:`\sigma` its standard deviation between clusters, by moments:
          :math:`\sigma^2 = (\sum (d - r n)^2 - s^2 \sum n) / (\sum n^2 - \sum n)`. :math:`s` is
          the standard deviation of :math:`u` over items. So a large cluster may disagree as the
          small ones do.

        The clusters stay as they are if fewer than five of those with :math:`\sum n^2 / \sum n`
        items or more show any disagreement: then nobody has seen how large ones disagree. The
        numbers are a choice that the study `widths` supports, and no theorem.

        >>> clusters = Clusters(np.arange(6), np.ones(6))
        >>> clusters.with_unseen_as_seen(np.full(6, 0.5), np.full(6, 8.0)).most_unseen
        4.0
        """
        sizes = self.sizes(weights)
        held, apart = (
            np.bincount(self.places, each, len(self.times)) for each in (sizes, sizes * unlike)
        )
        items = float(self.times @ held)
        rate, squares = float(self.times @ apart) / items, float(self.times @ held**2)
        large = held >= (1 - 1e-9) * squares / items
        if self.times[large & (apart > 0)].sum() < FEWEST_LARGE:
            return self
        of_items = float(weights @ (unlike - rate) ** 2)
        between = float(self.times @ (apart - rate * held) ** 2) - of_items
        sigma = math.sqrt(max(0.0, between) / (squares - items)) if squares > items else 0.0
        mean = float(np.average(apart, weights=self.times))
        varied = float(np.average((apart / mean - 1) ** 2, weights=self.times))
        most = float(apart[self.times > 0].max()) * max(LEAST_OF_LARGEST, varied / HEAVY)
        return replace(self, most_unseen=max(1.0, most, (rate + ERRORS * sigma) * squares / items))

    def effective(self, weights: Array, rows: NDArray[np.bool_]) -> float:
        """How many clusters of one size say as much as these, by Kish's (1965) formula."""
        held = self.held(weights, rows)
        return float((self.times @ held) ** 2 / (self.times @ held**2))


def checked_clusters(clusters: Clusters | None, rows: int) -> Clusters | None:
    """Clusters with a place for each of `rows` rows; None stays None.

    Raises
    ------
    RatingsError
        The clusters are of another number of rows.
    """
    if clusters is not None and clusters.places.shape != (rows,):
        raise RatingsError(
            f"clusters: found shape {clusters.places.shape}; expected one for each of {rows} rows. "
            "Name the cluster of each row."
        )
    return clusters


def refuse_sum(what: str, *clusters: Clusters | None) -> None:
    """Refuse to add statistics in clusters: nobody knows which clusters are the same.

    Raises
    ------
    RatingsError
        Some of the statistics are in clusters.
    """
    if any(each is not None for each in clusters):
        found = listed([0 if each is None else each.n for each in clusters])
        raise RatingsError(
            f"{what}: found {found} clusters; expected statistics without clusters in a sum. "
            "Put the ratings into one table first."
        )
