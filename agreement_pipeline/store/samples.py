"""Random samples of the items of a stored round, in an order that nobody can choose.

The order is that of HMAC-SHA-256 of the items' names. Its key follows from the store's secret key,
the digest of the ratings and the time at which they came, as the log says it. So nobody knows it
before the ratings are in the store, nobody can draw it again until it suits, and the lock derives
it instead of reading it.
"""

import hmac
from collections.abc import Mapping
from typing import Any

from agreement_pipeline.errors import StoreError
from agreement_pipeline.ratings import PART_UNIT_OF, Ratings
from agreement_pipeline.store.entries import of_event
from agreement_pipeline.store.store import RoundVersion, Store
from agreement_pipeline.text import counted


def arrival_of(store: Store, round_name: str, ratings_digest: str) -> Mapping[str, Any] | None:
    """The entry of the log that says when these ratings first came under the name of the round."""
    arrived = of_event("ingested", store.history(round_name))
    return next((entry for entry in arrived if entry["ratings_digest"] == ratings_digest), None)


def order_of_items(store: Store, version: RoundVersion, ratings: Ratings) -> tuple[str, ...]:
    """The items that the panel rated and that are not gold. The first n are a random sample.

    Raises
    ------
    StoreError
        The ratings did not come under this name, or are of parts of items, which nobody can be
        given apart from each other.
    """
    arrival = arrival_of(store, version.round, version.ratings_digest)
    if arrival is None:
        raise StoreError(
            f"round {version.round}: found no ratings {version.ratings_digest[:12]} in the log; "
            "expected those to draw from. Let the project judge the round first."
        )
    if PART_UNIT_OF in ratings.has:
        raise StoreError(
            f"round {version.round}: found labels of parts of items; expected labels of whole "
            "items, since only those can be drawn and given to raters. Draw the documents yourself."
        )
    key = store.pseudonym("sample", f"{version.ratings_digest} {arrival['time']}").encode()
    items = {*ratings.first_ratings(["item"], raters=ratings.raters)["item"].to_pylist()}
    return tuple(sorted(items, key=lambda item: hmac.digest(key, item.encode(), "sha256")))


def draw_items(
    store: Store, version: RoundVersion, ratings: Ratings, n_items: int
) -> tuple[str, ...]:
    """The first items of the order, which are a random sample."""
    order = order_of_items(store, version, ratings)
    if not 1 < n_items <= len(order):
        raise StoreError(
            f"round {version.round}: found {counted(n_items, 'item')} to draw; expected from 2 to "
            f"{len(order):,}, as many as the panel rated. Draw another number."
        )
    return order[:n_items]
