"""Ratings in which two raters meet: without them there is no agreement to measure."""

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.text import called, counted, listed


def refuse_unusable(ratings: Ratings, source: str) -> None:
    """Refuse ratings without agreement to measure, since no two raters rated the same item.

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
    patterns, places = ratings.patterns, [ratings.names.index(name) for name in raters]
    each = (ratings.codes_in(patterns.words, places) >= 0).sum(1)
    if not (each >= 2).any():
        items = patterns.items[each > 0]
        raise RatingsError(
            f"{source}: found no item with ratings by two raters "
            f"({counted(int(each[each > 0] @ items), 'rating')} of "
            f"{counted(int(items.sum()), 'item')} by {len(raters)} raters); "
            "expected at least one. Let raters overlap on some items, and check that their exports "
            "name the items alike."
        )
