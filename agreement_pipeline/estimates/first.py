"""What each rater first said of some items, gold or not, as numbers."""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from agreement_pipeline.errors import AgreementError
from agreement_pipeline.ratings import Array, Codes, Ratings


def rated_items(ratings: Ratings, items: Collection[str] | None = None) -> list[str]:
    """The items that are rated in the round itself, in order. Gold items count."""
    return list(ratings.without_earlier.rated(items=items).to_pylist())


def clusters_of(ratings: Ratings, items: list[str]) -> Codes | None:
    """The cluster of each of some sorted items. None if items do not come in clusters."""
    if "cluster" not in ratings.has:
        return None
    return np.asarray(ratings.items(["cluster_at"], names=items)["cluster_at"])


class FirstLabels(NamedTuple):
    """What each rater gave each item as a number (N, R), nan for nothing."""

    raters: tuple[str, ...]
    values: Array

    def of(self, raters: Collection[str]) -> Array:
        """The columns of some raters."""
        return self.values[:, [name in raters for name in self.raters]]


def first_labels(ratings: Ratings, items: list[str]) -> FirstLabels:
    """The first labels of some sorted items, all rated: categories by their place on the scale."""
    if ratings.scale.dimensions > 1:
        raise AgreementError(
            f"first labels: found level {ratings.scale.level}; expected labels of one dimension. "
            "Compare each dimension alone."
        )
    said = "number" if ratings.scale.continuous else "code"
    first = ratings.first(["at", "place", said], items=items, gold=True)
    values = np.full((len(items), len(ratings.everyone)), np.nan)
    values[first["at"], first["place"]] = first[said]
    return FirstLabels(ratings.everyone, values)
