"""What each rater first said of some items, and raters beside the right labels of gold items."""

from collections.abc import Collection
from typing import NamedTuple, cast

import numpy as np

from agreement_pipeline.counting import Rated
from agreement_pipeline.errors import AgreementError
from agreement_pipeline.ratings import Array, Codes, Ratings
from agreement_pipeline.statistics import Clusters, LabelsByRater


def rated_item_names(ratings: Ratings, items: Collection[str] | None = None) -> list[str]:
    return list(ratings.without_earlier.rated_items(items=items).to_pylist())


def cluster_numbers_of_items(ratings: Ratings, items: list[str]) -> Codes | None:
    if "cluster" not in ratings.has:
        return None
    return np.asarray(ratings.items(["cluster_at"], names=items)["cluster_at"])


class FirstLabels(NamedTuple):
    raters: tuple[str, ...]
    values: Array

    def labels_of_raters(self, raters: Collection[str]) -> Array:
        return self.values[:, [name in raters for name in self.raters]]


def read_first_labels(ratings: Ratings, items: list[str]) -> FirstLabels:
    if ratings.scale.dimensions > 1:
        raise AgreementError(
            f"first labels: found level {ratings.scale.level}; expected labels of one dimension. "
            "Compare each dimension alone."
        )
    value_column = "number" if ratings.scale.continuous else "code"
    columns = ratings.first_ratings(["at", "place", value_column], items=items, gold=True)
    values = np.full((len(items), len(ratings.everyone)), np.nan)
    values[columns["at"], columns["place"]] = columns[value_column]
    return FirstLabels(ratings.everyone, values)


def labels_beside_gold(ratings: Rated, raters: Collection[str]) -> LabelsByRater:
    right_by_item, names = right_label_by_item(ratings), tuple(raters)
    codes, clusters = np.empty((0, len(names)), dtype=np.int64), None
    if right_by_item:
        full_ratings, items = cast(Ratings, ratings), list(right_by_item)
        first_values, clusters = (
            read_first_labels(full_ratings, items),
            cluster_numbers_of_items(full_ratings, items),
        )
        places = [
            first_values.raters.index(name) if name in first_values.raters else -1 for name in names
        ]
        values = np.column_stack([first_values.values, np.full(len(items), np.nan)])[:, places]
        codes = np.where(np.isnan(values), -1, values).astype(np.int64)
    labels = LabelsByRater(
        codes,
        scale=ratings.scale,
        raters=names,
        clusters=None if clusters is None else Clusters.from_names(clusters),
    )
    right = np.asarray(ratings.scale.places_of_labels(right_by_item.values()), dtype=np.int64)
    with_right = labels.with_classifier(right, "the right label")
    return with_right.with_scale(ratings.scale.canonical).merged() if right_by_item else with_right


def right_label_by_item(ratings: Rated) -> dict[str, str]:
    if "gold_label" not in ratings.has:
        return {}
    full_ratings = cast(Ratings, ratings)
    right = full_ratings.items(["gold_label"], names=ratings.gold)
    pairs = zip(right["item"].to_pylist(), right["gold_label"].to_pylist(), strict=True)
    label_by_item = {item: label for item, label in pairs if label is not None}
    return {item: label_by_item[item] for item in rated_item_names(full_ratings, label_by_item)}
