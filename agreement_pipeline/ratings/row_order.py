"""The order of ratings: by item, rater and occurrence."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from agreement_pipeline.ratings.blocks import parts, taken
from agreement_pipeline.ratings.scale import MISSING

SPARSE, PART = 4, 1 << 20
Places = np.ndarray[Any, np.dtype[Any]]


def is_in_order(table: pd.DataFrame) -> bool:
    """True if ratings are in the order of item, rater and occurrence, and none is there twice."""
    keys = (
        row_keys(table.iloc[max(part.start - 1, 0) : part.stop]) for part in parts(len(table), PART)
    )
    return all((each[1:] > each[:-1]).all() for each in keys)


def in_order_again(table: pd.DataFrame) -> pd.DataFrame:
    """Ratings in the order of item, rater and occurrence. Their items are in order already."""
    if is_in_order(table):
        return table.reset_index(drop=True)
    item = table["item"].cat.codes.to_numpy()
    order = np.empty(len(table), dtype=_kind(len(table)))
    for part in of_whole_items(item):
        order[part] = part.start + np.argsort(row_keys(table.iloc[part]))
    return reordered(table.drop(columns="item"), order).assign(item=table["item"])[[*table]]


def of_whole_items(item: Places, size: int = PART) -> list[slice]:
    """Rows in order of item, in parts that hold all rows of their items.

    >>> of_whole_items(np.array([0, 0, 1, 1, 1, 2]), 3)
    [slice(0, 5, None), slice(5, 6, None)]
    """
    found, start = [], 0
    while start + size < len(item):
        stop = int(np.searchsorted(item, item[start + size], side="right"))
        found.append(slice(start, stop))
        start = stop
    return [*found, slice(start, len(item))]


def reordered(table: pd.DataFrame, places: Places) -> pd.DataFrame:
    """All rows of a table in another order, column after column."""
    return pd.DataFrame({name: _at(table[name], places) for name in table}, copy=False)


def order_of(keys: NDArray[np.int64]) -> Places | None:
    """The places of different keys in ascending order. None if a key is there twice.

    Keys that lie dense are put into their places, which is faster than sorting.
    """
    n_places = int(keys.max(initial=-1)) + 1
    if n_places > SPARSE * len(keys):
        order: Places = np.argsort(keys)
        return None if (np.diff(keys[order]) == 0).any() else order
    kind = _kind(len(keys))
    rows: Places = np.full(n_places, MISSING, dtype=kind)
    rows[keys] = np.arange(len(keys), dtype=kind)
    order = rows[rows != MISSING]
    return order if len(order) == len(keys) else None


def row_keys(table: pd.DataFrame) -> NDArray[np.int64]:
    """A number for each row that orders the rows by item, rater and occurrence."""
    raters = table["rater"].cat
    keys = table["item"].cat.codes.to_numpy().astype(np.int64)
    keys *= len(raters.categories)
    keys += raters.codes.to_numpy()
    occurrence = table["occurrence"].to_numpy()
    if occurrence.max(initial=1) == 1:
        return keys
    distinct, places = np.unique(occurrence, return_inverse=True)
    return np.asarray(keys * len(distinct) + places, dtype=np.int64)


def _at(column: pd.Series, places: Places) -> Any:
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes = taken(column.cat.codes.to_numpy(), places)
        return pd.Categorical.from_codes(codes, dtype=column.dtype, validate=False)
    if isinstance(column.dtype, np.dtype):
        return _moved(column.to_numpy(), places)
    return column.array.take(places)


def _moved(values: Places, places: Places) -> Places:
    """All values in another order. Where all are equal, nothing moves."""
    if values.dtype.kind in "bi" and (values == values[:1]).all():
        return values
    return taken(values, places)


def _kind(n_rows: int) -> type[np.signedinteger[Any]]:
    """The numbers that tell so many rows apart."""
    return np.int32 if n_rows < 2**31 else np.int64


__all__ = [
    "in_order_again",
    "is_in_order",
    "of_whole_items",
    "order_of",
    "reordered",
    "row_keys",
]
