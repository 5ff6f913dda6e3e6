"""What earlier rounds say of the same raters and items."""

from agreement_pipeline.ratings import Ratings
from agreement_pipeline.store import Store


def with_earlier_rounds(ratings: Ratings, round_name: str, store: Store) -> Ratings:
    """The ratings, preceded by each rater's labels for the same items in earlier rounds.

    A round is earlier if its name sorts before `round_name`.
    """
    with store.reading():
        names = [name for name in store.rounds() if name < round_name]
        earlier = [store.ratings(name) for name in names]
    if not names:
        return ratings
    return ratings.after(earlier)
