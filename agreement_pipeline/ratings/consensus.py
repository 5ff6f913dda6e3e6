"""Training labels from ratings: one row for each item."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings.ratings import Ratings
from agreement_pipeline.ratings.scale import Array, Category, Codes, Scale

UNRESOLVED = ("tie", "single")


def consensus(ratings: Ratings, round_name: str = "") -> pd.DataFrame:
    """The label of the panel for each item.

    The first rating of each rater counts. These do not count: ratings of earlier rounds,
    replicates, and classifiers. An item without a rating of the panel has no row. A gold item
    has no row either, because its label was known before.

    Parameters
    ----------
    ratings
        The ratings of a round.
    round_name
        The value of the column `round`.

    Returns
    -------
    pandas.DataFrame
        Sorted by `id`, with these columns:

        - `id` and `round`
        - `text`, if the items have texts
        - `label`: the category that more raters gave than any other. On an interval or ratio
          scale: the mean. None for an unresolved item.
        - `soft_label`: the share of the ratings in each category, in the order of the scale.
          The shares sum to 1.
        - `votes`: the number of ratings in each category
        - `n_raters`: the number of raters
        - `entropy_bits`: -Σ p log2 p of the soft label, from 0 to log2 K
        - `resolution`: how the label was found, as in the table below

        ============ ===============================================  ========
        resolution   ratings of the item                              resolved
        ============ ===============================================  ========
        *unanimous*  two or more, all equal                           yes
        *plurality*  one category leads                               yes
        *mean*       not all equal, on an interval or ratio scale     yes
        *tie*        several categories lead, and none is chosen      no
        *single*     only one                                         no
        ============ ===============================================  ========

        A continuous scale has no categories. Then `soft_label`, `votes` and `entropy_bits`
        are left out.

    Raises
    ------
    RatingsError
        The labels are vectors of numbers, which have no consensus.

    Examples
    --------
    >>> from agreement_pipeline import Ratings, Scale
    >>> frame = pd.DataFrame(
    ...     {
    ...         "item": ["i1", "i1", "i1", "i2", "i2"],
    ...         "rater": ["a", "b", "c", "a", "b"],
    ...         "label": ["yes", "yes", "no", "no", "yes"],
    ...     }
    ... )
    >>> labels = consensus(Ratings.from_frame(frame, Scale(("no", "yes"))))
    >>> labels[["id", "label", "votes", "resolution"]].to_dict("records")[0]
    {'id': 'i1', 'label': 'yes', 'votes': [1, 2], 'resolution': 'plurality'}
    >>> labels[["id", "label", "votes", "resolution"]].to_dict("records")[1]
    {'id': 'i2', 'label': None, 'votes': [1, 1], 'resolution': 'tie'}
    """
    if ratings.scale.dimensions > 1:
        raise RatingsError(
            f"round {round_name or 'of vectors'}: found labels of {ratings.scale.dimensions} "
            "dimensions; expected one dimension for training labels. "
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
        "label": _unless_unresolved(labels, resolution),
        **({} if ratings.scale.continuous else _by_category(votes)),
        "n_raters": n_raters,
        **({} if ratings.scale.continuous else {"entropy_bits": _entropy(_soft(votes))}),
        "resolution": resolution,
    }
    return pd.DataFrame(columns, index=range(len(items)))


def resolved(labels: pd.DataFrame) -> pd.DataFrame:
    """The rows of `consensus` that have a label."""
    return labels[~labels["resolution"].isin(UNRESOLVED)].reset_index(drop=True)


def unresolved(labels: pd.DataFrame) -> pd.DataFrame:
    """The rows of `consensus` that have no label."""
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


def _unless_unresolved(labels: Sequence[Category], resolution: Sequence[str]) -> pd.Series:
    """The labels, with None for an unresolved item."""
    kept = [
        None if how in UNRESOLVED else label for label, how in zip(labels, resolution, strict=True)
    ]
    return pd.Series(kept, dtype=object)


def _votes(labels: pd.Series, item: Codes, n_items: int, scale: Scale) -> Codes:
    """The number of ratings of each item in each category, shape (N, K)."""
    votes = np.zeros((n_items, len(scale.names)), dtype=np.int64)
    for k, category in enumerate(scale.categories or ()):
        votes[:, k] = np.bincount(item[labels == category], minlength=n_items)
    return votes


def _leaders(votes: Codes, scale: Scale) -> tuple[list[str], list[str]]:
    """For each item: the first category with the most votes, and the resolution."""
    most, total = votes.max(1), votes.sum(1)
    leading = (votes == most[:, None]).sum(1)
    resolution = np.select(
        [total == 1, most == total, leading > 1], ["single", "unanimous", "tie"], "plurality"
    )
    return np.array(scale.names, dtype=object)[votes.argmax(1)].tolist(), resolution.tolist()


def _means(labels: pd.Series, item: Codes, n_raters: Codes) -> tuple[list[float], list[str]]:
    """For each item: the mean label and the resolution.

    The mean is exact to the last digit in every order of the raters.
    """
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


def _by_category(votes: Codes) -> dict[str, list[Any]]:
    return {"soft_label": _soft(votes).tolist(), "votes": votes.tolist()}


def _soft(votes: Codes) -> Array:
    return np.asarray(votes / votes.sum(1, keepdims=True))


def _entropy(soft: Array) -> Array:
    return np.asarray(-(soft * np.log2(np.where(soft > 0, soft, 1))).sum(1) + 0.0)
