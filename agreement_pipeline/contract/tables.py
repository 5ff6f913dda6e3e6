from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from agreement_pipeline.contract.facts import FACTS
from agreement_pipeline.contract.panel import Codes, Panel, some
from agreement_pipeline.ratings import EXTRAS, TEXT, categorical, counts, in_pandas, of_whole_items

PART = 1 << 18


class Derived(NamedTuple):
    keys: list[str]
    of: Callable[[Panel, Collection[str]], pd.DataFrame]


def rows_of(panel: Panel, asked: Collection[str]) -> pd.DataFrame:
    """The ratings as delivered, also those by classifiers, with names in codes.

    Optional columns that are not asked for have no values.
    """
    columns, scale = panel.columns, panel.ratings.scale
    label: Any = columns["label"]
    if not scale.numeric:
        label = categorical(label, pd.Index(scale.names, dtype=TEXT))
    elif scale.dimensions > 1:
        distinct, places = panel.vectors
        vectors = pd.Index(list(map(tuple, distinct.tolist())), tupleize_cols=False)
        label = categorical(places, vectors)
    unasked = categorical(np.full(len(label), -1, dtype=np.int8), pd.Index([], dtype=TEXT))
    found = {
        "item": categorical(columns["at"], panel.items),
        "rater": categorical(columns["place"], pd.Index(panel.raters, dtype=TEXT)),
        "label": label,
        "occurrence": columns["occurrence"],
        "earlier": columns["earlier"],
    }
    for name in EXTRAS:
        if name in panel.ratings.has:
            known = name in asked and len(label) > 0
            found[name] = _extra(panel, name) if known else unasked
    return pd.DataFrame(found, copy=False)


def items_of(panel: Panel, asked: Collection[str]) -> pd.DataFrame:
    rated = panel.rated
    replicated = np.zeros(len(panel.items), dtype=bool)
    replicated[panel.item[panel.again]] = True
    frame = pd.DataFrame(
        {
            "item": panel.rated_items,
            "n_raters": panel.n_raters[rated],
            "n_labels": _n_labels(panel)[rated],
            "replicated": replicated[rated],
        }
    )
    clusters = panel.contents("cluster")
    return frame if clusters is None else frame.assign(cluster=clusters.array)


def round_of(panel: Panel, asked: Collection[str]) -> pd.DataFrame:
    found = {name: FACTS[name](panel) for name in FACTS if name in asked}
    values = {name: np.nan if each.value is None else each.value for name, each in found.items()}
    words = {in_words(name): each.words for name, each in found.items()}
    return pd.DataFrame({**values, **words}, index=[0])


def in_words(fact: str) -> str:
    return f"{fact} in words"


def _extra(panel: Panel, name: str) -> pd.Series:
    column: pd.Series = in_pandas(pa.Table.from_batches(panel.ratings.every([name])))[name]
    return column.astype("boolean") if name == "assisted" else column


def _n_labels(panel: Panel) -> Codes:
    item, label = some(panel.item, panel.first), some(panel.label, panel.first)
    codes = pd.factorize(label)[0] if panel.ratings.scale.numeric else label
    n_codes, found = np.int64(codes.max(initial=0) + 1), []
    for part in of_whole_items(item, PART):
        keys = np.sort(item[part] * n_codes + codes[part])
        found.append((keys[np.diff(keys, prepend=-1) > 0] // n_codes).astype(item.dtype))
    return counts(np.concatenate(found), len(panel.items))


DERIVED = {
    "rows": Derived(["item", "rater"], rows_of),
    "items": Derived(["item"], items_of),
    "round": Derived([], round_of),
}
