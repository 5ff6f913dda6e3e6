"""What is known of items: their text, whether they are gold, their cluster and their strata.

Of gold items the right label may be known too.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings.coding import by_distinct, coded, numbers_in, texts_in
from agreement_pipeline.ratings.lookalikes import described, lookalikes
from agreement_pipeline.ratings.scale import Scale
from agreement_pipeline.ratings.texts import TEXT
from agreement_pipeline.ratings.where import STRATUM, Where
from agreement_pipeline.text import listed

CONTENT = ("text", "gold", "gold_label", "cluster", "weight")
MOST_STRATA = 200
MOST_WEIGHT = 2**53
FLAGS = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False, "": False}


def content_columns(columns: Iterable[object]) -> list[str]:
    """The columns that speak of items, in a fixed order. Those of strata come last.

    >>> content_columns(["stratum:source", "item", "cluster", "text", "stratum:language"])
    ['text', 'cluster', 'stratum:language', 'stratum:source']
    """
    names = list(map(str, columns))
    strata = sorted(name for name in names if name.startswith(STRATUM))
    return [*(name for name in CONTENT if name in names), *strata]


def contents_of(frame: pd.DataFrame, scale: Scale, where: Where) -> pd.DataFrame:
    """The contents of the items. All rows of an item must have the same contents.

    Raises
    ------
    RatingsError
        They have not, or a cluster or stratum is missing, or a right label is not on the scale.
    """
    names = content_columns(frame.columns)
    if not names:
        return pd.DataFrame(index=pd.Index([], name="item", dtype=TEXT))
    items = pd.Series(coded(frame["item"]).categorical(), index=frame.index)
    said = frame[names].assign(item=items)[items.notna()]
    for name in names:
        said[name] = _checked(said, name, scale, where)
    said = _once(said)
    bad = said["item"].duplicated(keep=False)
    if bad.any():
        item = said.loc[bad, "item"].iloc[0]
        mine = said[said["item"] == item]
        differing = [name for name in names if mine[name].nunique(dropna=False) > 1]
        raise RatingsError(
            f"{where.at(mine.index, *differing)}: found {len(mine)} different contents of item "
            f"{item!r}; expected one. Give each content its own item."
        )
    ordered = said.sort_values("item")
    index = pd.Index(texts_in(ordered["item"]), name="item")
    return ordered.drop(columns="item").set_axis(index)


def _once(said: pd.DataFrame) -> pd.DataFrame:
    """The rows without those that say the same of the same item.

    In most rounds all rows of an item do. This is seen without a table of hashes.
    """
    items = said["item"].cat.codes.to_numpy()
    first = np.empty(len(said["item"].cat.categories), dtype=np.int64)
    first[items[::-1]] = np.arange(len(items))[::-1]
    for name in said:
        if not _repeats(said[name], first[items]):
            return said.drop_duplicates()
    return said.iloc[np.flatnonzero(first[items] == np.arange(len(items)))]


def _repeats(values: pd.Series, places: np.ndarray) -> bool:
    """True if each row has the value of the row at its place."""
    codes = values.cat.codes if isinstance(values.dtype, pd.CategoricalDtype) else values
    if codes.dtype.kind not in "bi":
        codes = pd.Series(pd.factorize(codes)[0])
    numbers = codes.to_numpy()
    return bool((numbers == numbers[places]).all())


def _checked(said: pd.DataFrame, name: str, scale: Scale, where: Where) -> pd.Series:
    """A column that speaks of items, checked. Texts are kept as they are."""
    if name == "gold":
        return flags(said, name, where)
    if name == "gold_label":
        return _right(said[name], scale, where)
    if name == "weight":
        step = "Say how many equal items the item stands for, or leave the column out."
        return whole_numbers(said, name, MOST_WEIGHT, step, where).astype("int64")
    if name == "cluster":
        return _clusters(said, where)
    return _strata(said, name, where) if name.startswith(STRATUM) else said[name]


def _right(labels: pd.Series, scale: Scale, where: Where) -> pd.Series:
    """The right label of each row's item as the scale writes it, missing where it is not known."""
    found = coded(labels)
    if scale.categories is None:
        raise RatingsError(
            f"{where.source}: column {where.column('gold_label')!r}: found right labels for a "
            "scale without categories; expected none. Leave the column out."
        )
    places = scale.places(found.texts)
    known = found.each(places, -1)
    bad = labels.index[(known < 0) & found.each(~blank(found.texts), False)]
    if len(bad):
        raise RatingsError(
            f"{where.at(bad, 'gold_label')}: found "
            f"{listed(sorted(set(labels[bad].astype(TEXT))))}; expected one of "
            f"{listed(scale.names, 12)}, or nothing. Correct the right label."
        )
    names = pd.Categorical.from_codes(known, categories=pd.Index(scale.names, dtype=TEXT))
    return pd.Series(names, index=labels.index).astype(TEXT)


def _clusters(said: pd.DataFrame, where: Where) -> pd.Series:
    """The cluster of each row's item. Every item has one cluster, the same in all its rows."""
    found = coded(said["cluster"])
    absent = said.index[found.each(blank(found.texts), True)]
    if len(absent):
        raise RatingsError(
            f"{where.at(absent, 'cluster')}: found no cluster; expected one for every "
            "item. Fill it in: an item that belongs to no other is a cluster of its own. Or leave "
            "the column out, if no items belong together."
        )
    names = pd.Series(found.categorical(), index=said.index)
    _refuse_alike(names, "cluster", "clusters", where)
    _refuse_several(said["item"], names, "cluster", "clusters", where)
    return names.astype(TEXT)


def _strata(said: pd.DataFrame, column: str, where: Where) -> pd.Series:
    """The stratum of each row's item. Every item has one stratum, the same in all its rows."""
    found = coded(said[column])
    absent = said.index[found.each(blank(found.texts), True)]
    if len(absent):
        raise RatingsError(
            f"{where.at(absent, column)}: found no stratum; expected one for every item. "
            "Fill it in: a word such as other is a stratum too."
        )
    names = pd.Series(found.categorical(), index=said.index)
    if len(found.texts) > MOST_STRATA:
        raise RatingsError(
            f"{where.source}: column {where.column(column)!r}: found {len(found.texts)} strata; "
            f"expected {MOST_STRATA} at most. Choose a column with fewer values."
        )
    _refuse_alike(names, column, "strata", where)
    _refuse_several(said["item"], names, column, "strata", where)
    return names.astype(TEXT)


def _refuse_several(
    items: pd.Series, names: pd.Series, column: str, what: str, where: Where
) -> None:
    """Refuse an item that stands in two clusters or strata."""
    pairs = pd.DataFrame({"item": items, "name": names}).drop_duplicates()
    several = pairs.index[pairs["item"].duplicated(keep=False)]
    if len(several):
        item = items[several[0]]
        mine = names[items == item].drop_duplicates()
        one = "cluster" if what == "clusters" else "stratum"
        raise RatingsError(
            f"{where.at(mine.index, column)}: found item {item!r} in {what} "
            f"{listed(mine.tolist())}; expected one of each item. "
            f"Correct the {one}, or give each its own item."
        )


def _refuse_alike(names: pd.Series, column: str, what: str, where: Where) -> None:
    """Refuse names that print alike: they are probably one, written in several ways.

    If one cluster counted as several, every interval would be too narrow.
    """
    alike = lookalikes(names.cat.categories)
    if alike:
        rows = names.index[names.isin(alike[0])]
        one = "cluster" if what == "clusters" else "stratum"
        raise RatingsError(
            f"{where.at(rows, column)}: found {what} {described(alike[0])}, which print "
            f"alike; expected names that do not. "
            f"Write the {one} in one way, or rename one of them."
        )


def flags(table: pd.DataFrame, name: str, where: Where) -> pd.Series:
    """A column of yes and no. A blank means no."""
    if name not in table:
        return pd.Series(np.zeros(len(table), dtype=bool), index=table.index)
    if table[name].dtype == bool:
        return table[name]
    said = by_distinct(table[name], _flag, 0)
    bad = table.index[said < 0]
    if len(bad):
        raise RatingsError(
            f"{where.at(bad, name)}: found {listed(table[name][bad].tolist())}; "
            "expected yes or no (true, false, 1, 0). Correct it."
        )
    return pd.Series(said == 1, index=table.index)


def _flag(texts: pd.Series) -> list[int]:
    """1 for yes, 0 for no, -1 for what is neither."""
    return [int(FLAGS.get(text.strip().lower(), -1)) for text in texts]


def blank(texts: pd.Index) -> np.ndarray:
    """True for texts of nothing but blanks."""
    likely = np.flatnonzero(~texts.str.contains(r"[!-~]", regex=True))
    blank = np.zeros(len(texts), dtype=bool)
    blank[likely] = [not text.strip() for text in texts[likely]]
    return blank


def whole_numbers(table: pd.DataFrame, name: str, most: int, step: str, where: Where) -> pd.Series:
    """A column of whole numbers from 1."""
    said = table[name]
    if said.dtype in ("int32", "int64") and said.between(1, most).all():
        return said
    numbers = pd.Series(numbers_in(table[name]), index=table.index)
    bad = numbers.index[~((numbers >= 1) & (numbers <= most) & (numbers % 1 == 0))]
    if len(bad):
        raise RatingsError(
            f"{where.at(bad, name)}: found {_said(table[name][bad])}; "
            f"expected a whole number from 1 to {most}. {step}"
        )
    return numbers


def _said(values: pd.Series) -> str:
    return "nothing" if values.isna().all() else listed(values.tolist())


__all__ = ["CONTENT", "blank", "content_columns", "contents_of", "flags", "whole_numbers"]
