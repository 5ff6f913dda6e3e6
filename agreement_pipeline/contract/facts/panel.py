"""The panel's ratings in codes, as facts about a round read them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from agreement_pipeline.contract.facts._pairs import Pairs
from agreement_pipeline.ratings import Ratings, held, taken

Codes = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Panel:
    """The ratings of a round by its panel.

    Parameters
    ----------
    ratings
        The ratings of the round.
    table
        The panel's ratings, those of earlier rounds included. `item` and `rater` are in codes. Rows
        are in the order of item, rater and occurrence.
    """

    ratings: Ratings
    table: pd.DataFrame

    @cached_property
    def item(self) -> Codes:
        """The code of each rating's item."""
        return self.table["item"].cat.codes.to_numpy()

    @cached_property
    def rater(self) -> Codes:
        """The code of each rating's rater."""
        return self.table["rater"].cat.codes.to_numpy()

    @property
    def items(self) -> pd.Index:
        """The names of the items. A code is a place among them."""
        return self.table["item"].cat.categories

    @property
    def raters(self) -> pd.Index:
        """The names of the raters. A code is a place among them."""
        return self.table["rater"].cat.categories

    @cached_property
    def begins(self) -> Codes:
        """True for the first rating of each rater and item."""
        item, rater = self.item, self.rater
        other = (item[1:] != item[:-1]) | (rater[1:] != rater[:-1])
        return np.append(np.ones(min(1, len(item)), dtype=bool), other)

    @cached_property
    def first(self) -> Codes:
        """The places of the round's own first ratings: what agreement between raters rests on."""
        earlier = self.table["earlier"].to_numpy(dtype=bool)
        if not earlier.any():
            return _places(self.begins)
        own = _places(~earlier)
        item, rater = self.item[own], self.rater[own]
        other = (item[1:] != item[:-1]) | (rater[1:] != rater[:-1])
        return np.asarray(own[np.append(np.ones(min(1, len(own)), dtype=bool), other)])

    @cached_property
    def rated(self) -> Codes:
        """The codes of the items that the panel rated in this round."""
        return np.flatnonzero(held(self.items_at(self.first), len(self.items)))

    @cached_property
    def gold(self) -> Codes:
        """True for each item that is gold."""
        gold = self.ratings.gold
        if not gold:
            return np.zeros(len(self.items), dtype=bool)
        return np.asarray(self.items.isin(gold))

    @cached_property
    def deciding(self) -> Codes:
        """The places of the first ratings of items that are not gold."""
        gold = self.gold
        return self.first[~gold[self.items_at(self.first)]] if gold.any() else self.first

    @cached_property
    def pairs(self) -> Pairs:
        """The pairs of raters, and how often they differ on items that are not gold."""
        return Pairs.of(self)

    def items_at(self, places: Codes) -> Codes:
        """The codes of the items at some different places, in order."""
        return self.item if len(places) == len(self.item) else taken(self.item, places)

    def contents(self, name: str) -> pd.Series | None:
        """A column of what is known of the rated items; None if it was not delivered."""
        known = self.ratings.contents
        if name not in known:
            return None
        items = self.items[self.rated]
        return known[name] if known.index.equals(items) else known[name].reindex(items)

    def labels(self, places: Codes) -> Codes:
        """The labels at some places: equal codes for equal labels, or numbers if they are some."""
        label = self.table["label"].iloc[places]
        if isinstance(label.dtype, pd.CategoricalDtype):
            return np.asarray(label.cat.codes)
        if label.dtype == float:
            return np.asarray(label.to_numpy())
        return np.asarray(pd.factorize(label)[0])


def _places(held: Codes) -> Codes:
    """The places where something holds, in half the memory that NumPy takes."""
    if held.all():
        return np.arange(len(held), dtype=np.int32)
    return np.flatnonzero(held).astype(np.int32)
