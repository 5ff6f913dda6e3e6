"""What each rater first said of some items, and raters beside the right labels of gold items."""

from collections.abc import Collection
from typing import NamedTuple, cast

import numpy as np

from agreement_pipeline.counting import Rated
from agreement_pipeline.errors import AgreementError
from agreement_pipeline.ratings import Array, Codes, Ratings
from agreement_pipeline.statistics import Clusters, LabelsByRater


def rated_items(ratings: Ratings, items: Collection[str] | None = None) -> list[str]:
    return list(ratings.without_earlier.rated(items=items).to_pylist())


def clusters_of(ratings: Ratings, items: list[str]) -> Codes | None:
    if "cluster" not in ratings.has:
        return None
    return np.asarray(ratings.items(["cluster_at"], names=items)["cluster_at"])


class FirstLabels(NamedTuple):
    raters: tuple[str, ...]
    values: Array

    def of(self, raters: Collection[str]) -> Array:
        return self.values[:, [name in raters for name in self.raters]]


def first_labels(ratings: Ratings, items: list[str]) -> FirstLabels:
    if ratings.scale.dimensions > 1:
        raise AgreementError(
            f"first labels: found level {ratings.scale.level}; expected labels of one dimension. "
            "Compare each dimension alone."
        )
    said = "number" if ratings.scale.continuous else "code"
    first = ratings.first(["at", "place", said], items=items, gold=True)
    values = np.full((len(items), len(ratings.everyone)), np.nan)
    values[first["at"], first["place"]] = first[said]
    return FirstLabels(ratings.everyone, values)


def against_gold(ratings: Rated, raters: Collection[str]) -> LabelsByRater:
    known, names = right_labels(ratings), tuple(raters)
    codes, clusters = np.empty((0, len(names)), dtype=np.int64), None
    if known:
        whole, items = cast(Ratings, ratings), list(known)
        said, clusters = first_labels(whole, items), clusters_of(whole, items)
        places = [said.raters.index(name) if name in said.raters else -1 for name in names]
        values = np.column_stack([said.values, np.full(len(items), np.nan)])[:, places]
        codes = np.where(np.isnan(values), -1, values).astype(np.int64)
    labels = LabelsByRater(
        codes,
        scale=ratings.scale,
        raters=names,
        clusters=None if clusters is None else Clusters.named(clusters),
    )
    right = np.asarray(ratings.scale.places(known.values()), dtype=np.int64)
    beside = labels.with_classifier(right, "the right label")
    return beside.with_scale(ratings.scale.canonical).merged() if known else beside


def right_labels(ratings: Rated) -> dict[str, str]:
    if "gold_label" not in ratings.has:
        return {}
    whole = cast(Ratings, ratings)
    right = whole.items(["gold_label"], names=ratings.gold)
    pairs = zip(right["item"].to_pylist(), right["gold_label"].to_pylist(), strict=True)
    known = {item: label for item, label in pairs if label is not None}
    return {item: known[item] for item in rated_items(whole, known)}
