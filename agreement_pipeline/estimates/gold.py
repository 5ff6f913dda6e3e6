"""Raters and models beside the right labels of gold items."""

from collections.abc import Collection

import numpy as np

from agreement_pipeline.estimates.first import first_labels, rated_items
from agreement_pipeline.ratings import Rated, Ratings
from agreement_pipeline.statistics import Clusters, LabelsByRater

RIGHT = "the right label"


def has_right_labels(ratings: Rated) -> bool:
    """True if the right label of some gold item is known. Only ratings in memory say it."""
    return bool(_known(ratings))


def against_gold(ratings: Rated, raters: Collection[str]) -> LabelsByRater:
    """The first labels of some raters for gold items, with the right labels set apart."""
    known = _known(ratings)
    if not isinstance(ratings, Ratings) or not known:
        nothing = np.empty((0, len(raters)), dtype=np.int64)
        empty = LabelsByRater(nothing, scale=ratings.scale, raters=tuple(raters))
        return empty.with_classifier(np.empty(0, dtype=np.int64), RIGHT)
    items = sorted(known)
    said = first_labels(ratings, items)
    places = [said.raters.index(name) if name in said.raters else -1 for name in raters]
    values = np.column_stack([said.values, np.full(len(items), np.nan)])[:, places]
    codes = np.where(np.isnan(values), -1, values).astype(np.int64)
    clusters = ratings.cluster_of
    labels = LabelsByRater(
        codes,
        scale=ratings.scale,
        raters=tuple(raters),
        clusters=None if clusters is None else Clusters.named(clusters.loc[items].to_numpy()),
    )
    right = ratings.scale.places(known[item] for item in items)
    return labels.with_classifier(right, RIGHT).with_scale(ratings.scale.canonical).merged()


def _known(ratings: Rated) -> dict[str, str]:
    """The right label of each rated gold item, as far as it is known."""
    if not isinstance(ratings, Ratings) or "gold_label" not in ratings.contents:
        return {}
    labels = ratings.contents["gold_label"].dropna()
    rated = {*rated_items(ratings)} & ratings.gold
    return {str(item): str(label) for item, label in labels.items() if item in rated}
