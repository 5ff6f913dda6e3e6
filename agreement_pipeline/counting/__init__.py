"""From ratings to sufficient statistics: the queries, and statistics that were kept."""

from typing import Any

from agreement_pipeline.counting.counted import (
    CountedRatings,
    ItemCounts,
    CountedRatingsCounting,
    ItemCountsCounting,
    read_contingency,
    read_counts,
    sum_counted,
)
from agreement_pipeline.counting.queried import RatingsCounting, is_too_wide, item_column
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Ratings

Rated = Ratings | CountedRatings | ItemCounts
_COUNTING: dict[type, Any] = {
    Ratings: RatingsCounting(),
    CountedRatings: CountedRatingsCounting(),
    ItemCounts: ItemCountsCounting(),
}


def counting_for(ratings: Rated) -> Any:
    """What counts ratings of this type, as `Counting` says."""
    return _COUNTING[type(ratings)]


def require_ratings(value: object) -> None:
    """A table or a path in the place of ratings has not been read as ratings.

    >>> require_ratings(1)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    agreement_pipeline.errors.RatingsError: ratings: found int; expected what read_ratings gives...
    """
    if type(value) not in _COUNTING:
        raise RatingsError(
            f"ratings: found {type(value).__name__}; expected what read_ratings gives. "
            "Read the ratings first."
        )


__all__ = [
    "CountedRatings",
    "ItemCounts",
    "Rated",
    "RatingsCounting",
    "counting_of",
    "is_too_wide",
    "item_column",
    "read_contingency",
    "read_counts",
    "require_ratings",
    "sum_counted",
]
