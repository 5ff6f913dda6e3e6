"""From ratings to sufficient statistics: the queries, and statistics that were kept."""

from typing import Any

from agreement_pipeline.counting.counted import (
    CountedRatings,
    CountsOfItems,
    OfCounted,
    OfCounts,
    read_contingency,
    read_counts,
    summed,
)
from agreement_pipeline.counting.queried import OfRatings, known_of
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Ratings

Rated = Ratings | CountedRatings | CountsOfItems
_COUNTING: dict[type, Any] = {
    Ratings: OfRatings(),
    CountedRatings: OfCounted(),
    CountsOfItems: OfCounts(),
}


def counting_of(ratings: Rated) -> Any:
    return _COUNTING[type(ratings)]


def refuse_unread(given: object) -> None:
    """A table or a path in the place of ratings has not been read as ratings.

    >>> refuse_unread(1)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    agreement_pipeline.errors.RatingsError: ratings: found int; expected what read_ratings gives...
    """
    if type(given) not in _COUNTING:
        raise RatingsError(
            f"ratings: found {type(given).__name__}; expected what read_ratings gives. "
            "Read the ratings first."
        )


__all__ = [
    "CountedRatings",
    "CountsOfItems",
    "OfRatings",
    "Rated",
    "counting_of",
    "known_of",
    "read_contingency",
    "read_counts",
    "refuse_unread",
    "summed",
]
