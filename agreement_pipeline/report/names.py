import re
from collections.abc import Iterable, Mapping

from agreement_pipeline.counting import counting_of
from agreement_pipeline.ratings import Ratings

BEFORE, FEWEST = "rater-", 4
TELLING = 3
"""A shorter name is also a word or a letter. It is one only in quotes, or after *rater*."""


def numbered(ratings: Ratings) -> Mapping[str, str]:
    """A number for each rater of a table, in an order that does not depend on the names."""
    order = counting_of(ratings).panel(ratings)
    others = [name for name in ratings.raters if name not in order]
    digits = len(str(len(ratings.raters)))
    taken = {*ratings.classifiers}
    names = (f"{BEFORE}{n:0{digits}}" for n in range(1, 2 * len(ratings.raters) + len(taken) + 1))
    free = (name for name in names if name not in taken)
    return dict(zip((*order, *others), free, strict=False))


def shortened(pseudonyms: Mapping[str, str], taken: Iterable[str] = ()) -> Mapping[str, str]:
    """The beginnings of pseudonyms, as long as they must be to differ.

    >>> shortened({"ana": "rater-0f6aeaf3", "ben": "rater-0f6a1111"})
    {'ana': 'rater-0f6ae', 'ben': 'rater-0f6a1'}
    """
    others = {*taken}
    for length in range(len(BEFORE) + FEWEST, max(map(len, pseudonyms.values()), default=0)):
        short = {name: found[:length] for name, found in pseudonyms.items()}
        if len(others.union(short.values())) == len(others) + len(short):
            return short
    return pseudonyms


def in_text(text: str, names: Mapping[str, str]) -> str:
    """A text in which raters have other names.

    >>> in_text("rater a differs from 'ana', not a model", {"a": "rater-1", "ana": "rater-2"})
    "rater rater-1 differs from 'rater-2', not a model"
    """
    if not names:
        return text
    every = sorted(names, key=len, reverse=True)
    alone = "|".join(re.escape(name) for name in every if len(name) >= TELLING) or r"(?!)"
    marked = "|".join(map(re.escape, every))
    found = rf"(?<!\w)(?:{alone})(?!\w)|(?<=')(?:{marked})(?=')|(?<=rater )(?:{marked})(?!\w)"
    return re.sub(found, lambda match: names[match.group()], text)
