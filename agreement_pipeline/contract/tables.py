"""The two tables that the contract looks at, derived from the ratings."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from agreement_pipeline.ratings import Ratings

Codes = np.ndarray[Any, Any]


class Derived(NamedTuple):
    """A table that is derived from ratings: its name, its keys, and how it is made."""

    name: str
    keys: list[str]
    of: Callable[[Ratings], pd.DataFrame]


def rows_of(ratings: Ratings) -> pd.DataFrame:
    """The ratings as delivered, with names and labels in codes.

    Confidence that was delivered as text is turned into numbers.
    """
    table = _in_codes(ratings.table)
    with suppress(ValueError, TypeError):
        return (
            table.assign(confidence=pd.to_numeric(table["confidence"]))
            if "confidence" in table
            else table
        )
    return table


def items_of(ratings: Ratings) -> pd.DataFrame:
    """A row for each item of the round's own ratings by the panel."""
    met = _Met.of(_in_codes(ratings.table), ratings.classifiers)
    own = np.flatnonzero(~met.table["earlier"].to_numpy(dtype=bool))
    first = own[_begins(met.pair[own])]
    named = first[met.table["rater"].notna().to_numpy()[first]]
    rated = met.counts(first) > 0
    frame = pd.DataFrame(
        {
            "item": met.names[rated],
            "n_raters": met.counts(named)[rated],
            "n_labels": met.n_labels(first)[rated],
            "replicated": (met.counts() > met.counts(_begins(met.pair)))[rated],
        }
    )
    if "cluster" not in ratings.contents:
        return frame
    return frame.assign(cluster=ratings.contents["cluster"].loc[frame["item"]].to_list())


def _in_codes(table: pd.DataFrame) -> pd.DataFrame:
    """A table whose columns of text are in codes."""
    texts = [
        name
        for name in ("item", "rater", "label")
        if name in table and table[name].dtype in (object, "str")
    ]
    return table.reset_index(drop=True).astype(dict.fromkeys(texts, "category"))


class _Met(NamedTuple):
    """The panel's ratings of items, in the order of item and rater.

    `names` are all items. `item` is the place of each rating's item among them, and `pair` a number
    for its item and rater.
    """

    names: pd.Index
    item: Codes
    pair: Codes
    table: pd.DataFrame

    @classmethod
    def of(cls, table: pd.DataFrame, classifiers: Sequence[str]) -> "_Met":
        names, item = table["item"].cat.categories, table["item"].cat.codes.to_numpy()
        raters, rater = table["rater"].cat.categories, table["rater"].cat.codes.to_numpy()
        kept = np.append(~raters.isin(classifiers), True)[rater] & (item >= 0)
        if not kept.all():
            table, item, rater = table[kept], item[kept], rater[kept]
        pair = item * np.int64(len(raters) + 1) + rater
        if (pair[1:] < pair[:-1]).any():
            order = np.argsort(pair, kind="stable")
            table, item, pair = table.iloc[order], item[order], pair[order]
        return cls(names, item, pair, table)

    def counts(self, some: Codes | slice = slice(None)) -> Codes:
        """How many of some ratings each item has."""
        return np.bincount(self.item[some], minlength=len(self.names))

    def n_labels(self, some: Codes) -> Codes:
        """How many different labels each item has among some ratings."""
        codes, distinct = pd.factorize(self.table["label"].iloc[some])
        item, codes = self.item[some][codes >= 0], codes[codes >= 0]
        labels = np.sort(item * np.int64(len(distinct)) + codes)
        return np.bincount(item[_begins(labels)], minlength=len(self.names))


def _begins(keys: Codes) -> Codes:
    """True where other keys begin."""
    return np.append(np.ones(min(1, len(keys)), dtype=bool), keys[1:] != keys[:-1])


ROWS = Derived("rows", ["item", "rater"], rows_of)
ITEMS = Derived("items", ["item"], items_of)
