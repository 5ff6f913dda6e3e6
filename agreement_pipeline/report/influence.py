"""How much agreement would change without an item."""

import numpy as np
import pandas as pd

from agreement_pipeline.counting import counting_of
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.ratings import TEXT, Array, Ratings
from agreement_pipeline.statistics import CategoryCounts

ALPHA = "krippendorff_alpha"
BLOCK_CELLS = 2_000_000


def influence_of_items(ratings: Ratings) -> pd.Series | None:
    """How much Krippendorff's α would rise without each item, by the item's name.

    Items with equal counts have equal influence, so α is computed once for each distinct row. An
    item without which α is undefined has no influence. None if the scale has no categories.
    """
    items, table = counting_of(ratings).by_item(ratings)
    if not isinstance(table, CategoryCounts):
        return None
    rows, row_of, met = np.unique(table.counts, axis=0, return_inverse=True, return_counts=True)
    distinct = CategoryCounts(rows, met, scale=table.scale)
    influence = _without_each(distinct) - float(_alpha(distinct))
    return pd.Series(influence[row_of.reshape(-1)], index=pd.Index(items, dtype=TEXT))


def _alpha(counts: CategoryCounts) -> Array:
    return np.asarray(MEASURES[ALPHA](counts).value)


def _without_each(counts: CategoryCounts) -> Array:
    """α without one item of each row."""
    n = len(counts.weights)
    size = max(1, BLOCK_CELLS // n)
    found = []
    for start in range(0, n, size):
        rows = np.arange(start, min(start + size, n))
        left = np.tile(counts.weights, (len(rows), 1))
        left[np.arange(len(rows)), rows] -= 1
        found.append(_alpha(counts.reweighted(left)))
    return np.concatenate(found)
