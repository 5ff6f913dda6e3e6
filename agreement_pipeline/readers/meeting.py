"""Ratings in which two raters meet: without them there is no agreement to measure."""

import numpy as np

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Rated, Ratings
from agreement_pipeline.text import called, counted, listed


def refuse_unusable(ratings: Ratings, source: str) -> None:
    """Refuse ratings without agreement to measure, since no two raters rated the same item.

    Raises
    ------
    RatingsError
        The panel has fewer than two raters, or no item that two of them rated.
    """
    raters = ratings.raters
    current = ratings.current
    item = current["item"].cat.codes[current["rater"].isin(raters)]
    each = np.bincount(item, minlength=1)
    refuse_lonely(ratings, each[each > 0], source)


def refuse_lonely(
    ratings: Rated, each: np.ndarray, source: str, times: int | np.ndarray = 1
) -> None:
    """Refuse items that no two raters of the panel rated.

    `each` are the panel's first ratings of an item, and `times` how many items have so many.

    Raises
    ------
    RatingsError
        The panel has fewer than two raters, or no item that two of them rated.
    """
    raters = ratings.raters
    if len(raters) < 2:
        models = (
            f", and the {called('classifier', ratings.classifiers)}" if ratings.classifiers else ""
        )
        raise RatingsError(
            f"{source}: found ratings by {counted(len(raters), 'rater')}, "
            f"{listed(raters)}{models}; expected two raters or more, since agreement compares "
            "them. Add the other raters' ratings, or name the column that tells the raters apart."
        )
    if not (each >= 2).any():
        items = times * np.ones(len(each), dtype=np.int64)
        raise RatingsError(
            f"{source}: found no item with ratings by two raters "
            f"({counted(int(each @ items), 'rating')} of {counted(int(items.sum()), 'item')} by "
            f"{len(raters)} raters); expected at least one. Let raters overlap "
            "on some items, and check that their exports name the items alike."
        )
