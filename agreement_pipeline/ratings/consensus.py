"""Training labels from ratings: one row an item, however often it was rated."""

import math
from typing import Any

import numpy as np
import pandas as pd

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings.ratings import Ratings
from agreement_pipeline.ratings.scale import Array, Codes, Scale

UNRESOLVED = ("tie", "single")


def consensus(ratings: Ratings, round_name: str = "") -> pd.DataFrame:
    """What the panel says of each item.

    The first rating of each rater counts, earlier rounds' ratings, replicates and classifiers do not. Items that nobody of the panel rated,
    and gold items, whose label was known before, have no row.

    Parameters
    ----------
    ratings
        The ratings of a round.
    round_name
        What to write in the column `round`.

    Returns
    -------
    pandas.DataFrame
        Sorted by `id`, with the columns

        - `id`, `round` and, where the items have one, `text`;
        - `label`: the category that more raters gave than any other; on an interval or ratio scale the mean; None where unresolved;
        - `soft_label`: the share of the ratings in each category, in the scale's order, summing to 1;
        - `votes`: the ratings in each category;
        - `n_raters`: how many raters rated it;
        - `entropy_bits`: -Σ p log2 p of the soft label, 0 to log2 K;
        - `resolution`: *unanimous* (two ratings or more, all equal), *plurality* (one category leads), *mean* (interval and ratio scales),
          *tie* (several lead; none is chosen) or *single* (one rating only). The last two are unresolved.

        A continuous scale has no categories, and then there is no `soft_label`, `votes` or `entropy_bits`.

    Raises
    ------
    RatingsError
        A label is a vector of numbers, of which no mean is taken.

    Examples
    --------
    >>> from agreement_pipeline import Ratings, Scale
    >>> frame = pd.DataFrame({"item": ["i1", "i1", "i1", "i2", "i2"], "rater": list("abcab"), "label": ["yes", "yes", "no", "no", "yes"]})
    >>> consensus(Ratings.from_frame(frame, Scale(("no", "yes"))))[["id", "label", "votes", "resolution"]].to_dict("list")
    {'id': ['i1', 'i2'], 'label': ['yes', None], 'votes': [[1, 2], [1, 1]], 'resolution': ['plurality', 'tie']}
    """
    if ratings.scale.dimensions > 1:
        raise RatingsError(
            f"round {round_name or 'of vectors'}: labels of {ratings.scale.dimensions} dimensions found; one a label is required for training labels. "
            "Release each dimension as a round of its own."
        )
    rated = _panel_ratings(ratings)
    item, items = pd.factorize(rated["item"], sort=True)
    n_raters = np.bincount(item, minlength=len(items))
    votes = _votes(rated["label"], item, len(items), ratings.scale)
    labels, resolution = (
        _means(rated["label"], item, n_raters)
        if ratings.scale.numeric
        else _leaders(votes, ratings.scale)
    )
    columns = {
        "id": list(items),
        "round": round_name,
        **_texts(ratings, items),
        "label": pd.Series(
            [
                None if how in UNRESOLVED else label
                for label, how in zip(labels, resolution, strict=True)
            ],
            dtype=object,
        ),
        **(
            {}
            if ratings.scale.continuous
            else {"soft_label": _soft(votes).tolist(), "votes": votes.tolist()}
        ),
        "n_raters": n_raters,
        **({} if ratings.scale.continuous else {"entropy_bits": _entropy(_soft(votes))}),
        "resolution": resolution,
    }
    return pd.DataFrame(columns, index=range(len(items)))


def resolved(labels: pd.DataFrame) -> pd.DataFrame:
    """The rows of `consensus` that have a label."""
    return labels[~labels["resolution"].isin(UNRESOLVED)].reset_index(drop=True)


def unresolved(labels: pd.DataFrame) -> pd.DataFrame:
    """The rows of `consensus` that have none."""
    return labels[labels["resolution"].isin(UNRESOLVED)].reset_index(drop=True)


def _panel_ratings(ratings: Ratings) -> pd.DataFrame:
    current = ratings.without_gold.current
    return current[~current["rater"].isin(ratings.classifiers)]


def _texts(ratings: Ratings, items: Any) -> dict[str, list[object]]:
    known = ratings.contents
    return (
        {
            "text": list(
                known["text"].reindex(items).astype(object).where(lambda text: text.notna(), None)
            )
        }
        if "text" in known
        else {}
    )


def _votes(labels: pd.Series, item: Codes, n_items: int, scale: Scale) -> Codes:
    """Ratings of each item in each category, shape (N, K)."""
    votes = np.zeros((n_items, len(scale.names)), dtype=np.int64)
    for k, category in enumerate(scale.categories or ()):
        votes[:, k] = np.bincount(item[labels == category], minlength=n_items)
    return votes


def _leaders(votes: Codes, scale: Scale) -> tuple[list[str], list[str]]:
    """The first category with most votes, and how it came by them."""
    most, total = votes.max(1), votes.sum(1)
    leading = (votes == most[:, None]).sum(1)
    resolution = np.select(
        [total == 1, most == total, leading > 1], ["single", "unanimous", "tie"], "plurality"
    )
    return np.array(scale.names, dtype=object)[votes.argmax(1)].tolist(), resolution.tolist()


def _means(labels: pd.Series, item: Codes, n_raters: Codes) -> tuple[list[float], list[str]]:
    """The mean label of each item, exact to the last digit in whatever order the raters stand, and how it came about."""
    given = (
        np.split(
            labels.to_numpy(dtype=float)[np.argsort(item, kind="stable")], np.cumsum(n_raters)[:-1]
        )
        if len(n_raters)
        else []
    )
    means = [math.fsum(values) / len(values) for values in given]
    return means, [
        "single" if len(values) == 1 else "unanimous" if np.ptp(values) == 0 else "mean"
        for values in given
    ]


def _soft(votes: Codes) -> Array:
    return np.asarray(votes / votes.sum(1, keepdims=True))


def _entropy(soft: Array) -> Array:
    return np.asarray(-(soft * np.log2(np.where(soft > 0, soft, 1))).sum(1) + 0.0)
