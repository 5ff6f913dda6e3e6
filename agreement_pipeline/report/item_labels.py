"""What the shown raters said of each item, so that a page can list items with their text."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

from agreement_pipeline.ratings import MISSING, Array, Codes, Ratings


@dataclass(frozen=True, eq=False)
class ItemLabels:
    """The first labels of some raters by item. Gold items are left out.

    Attributes
    ----------
    items
        The names of the items that the panel rated.
    raters
        The raters.
    codes
        Shape (N, R): the place of each label on the scale. -1 if missing. On a scale without
        categories there are none, and `numbers` has the ratings.
    numbers
        Shape (N, R). None if the scale has categories.
    names
        The categories.
    """

    items: Sequence[str]
    raters: tuple[str, ...]
    codes: Codes
    numbers: Array | None
    names: tuple[str, ...]

    @classmethod
    def of(cls, ratings: Ratings, items: Sequence[str], raters: Sequence[str]) -> "ItemLabels":
        """The labels of some raters of a panel. The items are all that the panel rated."""
        value = "number" if ratings.scale.continuous else "code"
        found = ratings.first(["at", "place", value], raters=ratings.raters)
        place = pd.Index(raters).get_indexer(pd.Index(ratings.everyone))[found["place"].to_numpy()]
        found = found.filter(place >= 0)
        cells = found["at"].to_numpy(), place[place >= 0]
        codes, numbers = np.full((len(items), len(raters)), MISSING), None
        if ratings.scale.continuous:
            numbers = np.full(codes.shape, np.nan)
            numbers[cells] = _lengths(found["number"])
            codes[cells] = 0
        else:
            codes[cells] = found["code"].to_numpy()
        return cls(items, tuple(raters), codes, numbers, ratings.scale.names)

    def said(self, item: int, rater: int) -> str:
        """The label as text; empty if there is none."""
        if self.codes[item, rater] == MISSING:
            return ""
        if self.numbers is not None:
            return f"{self.numbers[item, rater]:g}"
        return str(self.names[self.codes[item, rater]])

    def apart(self, one: int, other: int) -> Codes:
        """The items on which two raters differ: first those on which they differ most."""
        first, second = self.codes[:, one], self.codes[:, other]
        both = (first != MISSING) & (second != MISSING)
        given = self.codes if self.numbers is None else self.numbers
        distance = np.where(both, np.abs(given[:, one] - given[:, other]), 0)
        found = np.flatnonzero(distance)
        return found if self.numbers is None else found[np.argsort(-distance[found])]

    def on_category(self, category: int) -> tuple[Codes, Codes]:
        """How many items two raters gave a category both, and how many only one of them did.

        Each has shape (R, R). Only items that both labelled count.
        """
        gave = (self.codes == category).astype(np.int64)
        given = (self.codes != MISSING).astype(np.int64)
        both = gave.T @ gave
        one = gave.T @ given
        return both, one + one.T - 2 * both


def _lengths(numbers: pa.ChunkedArray) -> Array:
    """Numbers as they are, and the length of a vector for a vector."""
    if pa.types.is_list(numbers.type):
        return np.asarray([math.hypot(*each) for each in numbers.to_pylist()], dtype=np.float64)
    return np.asarray(numbers, dtype=np.float64)
