"""The texts of the items that are shown."""

from collections.abc import Collection

from agreement_pipeline.ratings import Ratings

LONGEST = 280


def texts_of(ratings: Ratings, items: Collection[str]) -> dict[str, str]:
    """The text of each of some items; empty where none is known."""
    known: dict[str, str | None] = {}
    if "text" in ratings.has:
        found = ratings.items(["text"], names=items)
        known = dict(zip(found["item"].to_pylist(), found["text"].to_pylist(), strict=True))
    return {item: known.get(item) or "" for item in items}


def cut(text: str, longest: int = LONGEST) -> str:
    """A text that is shown; cut if it is long.

    >>> cut("a" * 300)[-3:], cut("short")
    ('aa…', 'short')
    """
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
