"""What each rater first said of some items, gold or not, as numbers."""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from agreement_pipeline.errors import AgreementError
from agreement_pipeline.ratings import Array, Ratings, used


def rated_items(ratings: Ratings) -> list[str]:
    """The items that are rated in the round itself. Gold items count."""
    return used(ratings.current["item"])


class FirstLabels(NamedTuple):
    """What each rater gave each item as a number (N, R), nan for nothing."""

    raters: tuple[str, ...]
    values: Array

    def of(self, raters: Collection[str]) -> Array:
        """The columns of some raters."""
        return self.values[:, [name in raters for name in self.raters]]


def first_labels(ratings: Ratings, items: list[str]) -> FirstLabels:
    """The first labels of some items: categories by their place on the scale."""
    if ratings.scale.dimensions > 1:
        raise AgreementError(
            f"first labels: found level {ratings.scale.level}; expected labels of one dimension. "
            "Compare each dimension alone."
        )
    table = ratings.current
    first = Ratings(table, ratings.scale)
    numbers = first.numbers if ratings.scale.continuous else first.codes.astype(float)
    item, rater = table["item"].cat, table["rater"].cat
    places = {name: place for place, name in enumerate(items)}
    of_item = np.array([places.get(name, -1) for name in item.categories])[item.codes]
    shared = of_item >= 0
    values = np.full((len(items), len(rater.categories)), np.nan)
    values[of_item[shared], rater.codes.to_numpy()[shared]] = numbers[shared]
    return FirstLabels(tuple(rater.categories), values)
