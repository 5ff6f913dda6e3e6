"""The tables that the contract looks at, derived from the ratings."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from agreement_pipeline.contract.facts import FACTS, Panel
from agreement_pipeline.ratings import TEXT, Ratings, of_whole_items, taken

Codes = np.ndarray[Any, Any]
PART, BITS = 1 << 20, 63


class Derived(NamedTuple):
    """A table that is derived from ratings: its name, its keys, and how it is made.

    It is made for the columns that are asked for, and may have others.
    """

    name: str
    keys: list[str]
    of: Callable[[Ratings, Collection[str]], pd.DataFrame]


def rows_of(ratings: Ratings, asked: Collection[str] = ()) -> pd.DataFrame:
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


def items_of(ratings: Ratings, asked: Collection[str] = ()) -> pd.DataFrame:
    """A row for each item of the round's own ratings by the panel."""
    table = _in_codes(ratings.table)
    names = table["item"].cat.categories
    met = _in_order(table, ratings.classifiers)
    item, n_raters, n_labels, replicated = map(
        np.concatenate, zip(*map(_counted, _parts(met)), strict=True)
    )
    frame = pd.DataFrame(
        {
            "item": names[item],
            "n_raters": n_raters,
            "n_labels": n_labels,
            "replicated": replicated,
        }
    )
    if "cluster" not in ratings.contents:
        return frame
    return frame.assign(cluster=ratings.contents["cluster"].loc[frame["item"]].to_list())


def round_of(ratings: Ratings, asked: Collection[str]) -> pd.DataFrame:
    """One row for the round: the facts that are asked for, and each in words."""
    panel = panel_of(ratings)
    found = {name: FACTS[name](panel) for name in FACTS if name in asked}
    values = {name: np.nan if each.value is None else each.value for name, each in found.items()}
    words = {in_words(name): each.words for name, each in found.items()}
    return pd.DataFrame({**values, **words}, index=[0])


def panel_of(ratings: Ratings) -> Panel:
    """The panel's ratings in codes."""
    return Panel(ratings, _in_order(_in_codes(ratings.table), ratings.classifiers))


def in_words(fact: str) -> str:
    """The column of a fact in words."""
    return f"{fact} in words"


def _in_codes(table: pd.DataFrame) -> pd.DataFrame:
    """A table whose columns of text are in codes."""
    texts = [
        name
        for name in ("item", "rater", "label")
        if name in table and table[name].dtype in (object, TEXT)
    ]
    return table.reset_index(drop=True).astype(dict.fromkeys(texts, "category"))


def _in_order(table: pd.DataFrame, classifiers: Sequence[str]) -> pd.DataFrame:
    """The panel's ratings of items, in the order of item and rater."""
    item, rater = _codes(table, "item"), _codes(table, "rater")
    of_panel = np.append(~table["rater"].cat.categories.isin(classifiers), True)
    kept = taken(of_panel, rater) & (item >= 0)
    if not kept.all():
        table, item, rater = table[kept], item[kept], rater[kept]
    back = (item[1:] < item[:-1]) | ((item[1:] == item[:-1]) & (rater[1:] < rater[:-1]))
    return table.iloc[np.lexsort((rater, item))] if back.any() else table


def _parts(table: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Ratings in order of item, in parts of whole items. There is one part at least."""
    return (table.iloc[part] for part in of_whole_items(_codes(table, "item"), PART))


def _counted(part: pd.DataFrame) -> tuple[Codes, Codes, Codes, Codes]:
    """The items of the round itself: their places, raters and labels, and if one met them again.

    The ratings are in the order of item and rater.
    """
    item, rater = _codes(part, "item"), _codes(part, "rater")
    begins = _begins(item) | _begins(rater)
    own = np.flatnonzero(~part["earlier"].to_numpy(dtype=bool))
    first = own[_begins(item[own]) | _begins(rater[own])]
    starts = np.flatnonzero(_begins(item[first]))
    rated = item[first][starts]
    n_raters = np.add.reduceat(rater[first] >= 0, starts, dtype=np.int64)
    n_labels = _n_distinct(item[first], part["label"].iloc[first])
    return rated, n_raters, n_labels, np.isin(rated, item[~begins])


def _n_distinct(item: Codes, labels: pd.Series) -> Codes:
    """How many different labels each item has. The items are in order."""
    coded = isinstance(labels.dtype, pd.CategoricalDtype)
    codes = labels.cat.codes.to_numpy() if coded else pd.factorize(labels)[0]
    if len(codes) and codes.max() < BITS:
        return _n_bits(codes, _begins(item))
    place = np.cumsum(_begins(item)) - 1
    held, n_items = codes >= 0, int(place.max(initial=-1)) + 1
    ordered = np.sort(place[held] * (int(codes.max(initial=0)) + 1) + codes[held])
    return np.bincount(place[held][_begins(ordered)], minlength=n_items)


def _n_bits(codes: Codes, begins: Codes) -> Codes:
    """How many different codes each group of rows holds. Each code is a bit of its own."""
    bits = np.append(np.int64(1) << np.arange(BITS), 0)
    held = np.bitwise_or.reduceat(bits[codes], np.flatnonzero(begins))
    return np.asarray(sum((held >> code & 1 for code in range(int(codes.max()) + 1)), 0 * held))


def _begins(keys: Codes) -> Codes:
    """True where other keys begin."""
    return np.append(np.ones(min(1, len(keys)), dtype=bool), keys[1:] != keys[:-1])


def _codes(table: pd.DataFrame, name: str) -> Codes:
    return table[name].cat.codes.to_numpy()


ROWS = Derived("rows", ["item", "rater"], rows_of)
ITEMS = Derived("items", ["item"], items_of)
ROUND = Derived("round", [], round_of)
