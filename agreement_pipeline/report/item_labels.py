"""What the shown raters said of each item, so that a page can list items with their text."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from agreement_pipeline.ratings import MISSING, TEXT, Array, Codes, Ratings

LONGEST = 280


@dataclass(frozen=True, eq=False)
class ItemLabels:
    """The first labels of some raters by item. Gold items are left out.

    Attributes
    ----------
    items
        The names of the items.
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

    items: pd.Index
    raters: tuple[str, ...]
    codes: Codes
    numbers: Array | None
    names: tuple[str, ...]

    @classmethod
    def of(cls, ratings: Ratings, raters: Sequence[str]) -> "ItemLabels":
        """The labels of some raters of a round."""
        own = ratings.without_gold
        current = own.current
        item, rater = (current[name].cat for name in ("item", "rater"))
        place = pd.Index(raters).get_indexer(rater.categories)[rater.codes.to_numpy()]
        rows, at = np.flatnonzero(place >= 0), item.codes.to_numpy()
        shape = (len(item.categories), len(raters))
        codes, numbers = np.full(shape, MISSING), None
        if own.scale.continuous:
            numbers = np.full(shape, np.nan)
            numbers[at[rows], place[rows]] = _numbers(current["label"].iloc[rows])
            codes[~np.isnan(numbers)] = 0
        else:
            known = Ratings(current, own.scale, own.classifiers).codes
            codes[at[rows], place[rows]] = known[rows]
        names = () if own.scale.continuous else own.scale.names
        return cls(pd.Index(item.categories, dtype=TEXT), tuple(raters), codes, numbers, names)

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


def _numbers(labels: "pd.Series[Any]") -> Array:
    """Numbers as they are, and the length of a vector for a vector."""
    if labels.dtype != object:
        return np.asarray(labels, dtype=np.float64)
    return np.asarray([math.hypot(*each) for each in labels.tolist()], dtype=np.float64)


def quoted(text: object) -> str:
    """A text of an item, cut if it is long; empty if there is none.

    >>> quoted("a" * 300)[-3:], quoted(float("nan"))
    ('aa…', '')
    """
    said = text if isinstance(text, str) else ""
    return said if len(said) <= LONGEST else f"{said[: LONGEST - 1]}…"
