"""What earlier rounds say of the same raters and items."""

from agreement_pipeline.ratings import Ratings
from agreement_pipeline.store import Store
from agreement_pipeline.text import natural


def with_earlier_rounds(ratings: Ratings, round_name: str, store: Store) -> Ratings:
    """The ratings, preceded by each rater's labels for the same items in earlier rounds.

    A round is earlier if its name comes before `round_name`, with numbers in names by size: week-2
    comes before week-10.
    """
    here = natural(round_name)
    with store.reading():
        names = sorted((name for name in store.rounds() if natural(name) < here), key=natural)
        earlier = [store.ratings(name) for name in names]
    if not names:
        return ratings
    return ratings.after(earlier)


def round_before(round_name: str, store: Store) -> tuple[str, Ratings] | None:
    """The round of the store whose name comes last before `round_name`, with its ratings.

    None if it is the first.
    """
    here = natural(round_name)
    with store.reading():
        earlier = [name for name in store.rounds() if natural(name) < here]
        if not earlier:
            return None
        last = max(earlier, key=natural)
        return last, store.ratings(last)
