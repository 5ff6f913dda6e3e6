"""The statistics of ratings that fit in memory, with NumPy and pandas; where items come in clusters, with the cluster of each row.

Gold items are in none of them: they are not released, and raters who know them agree on them more easily than on what is.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import MISSING, Codes, Ratings
from agreement_pipeline.statistics import (
    CategoryCounts,
    Clusters,
    ConfidentPatterns,
    GroupPatterns,
    PanelPatterns,
    PanelValues,
    RatingPatterns,
    RatingValues,
    ReplicateCounts,
    ReplicateValues,
    distinct_in,
    grouped,
    merged,
    merged_codes,
    value_against_the_rest,
)
from agreement_pipeline.text import listed


def category_counts(ratings: Ratings) -> CategoryCounts:
    """The panel's first ratings as counts by category."""
    return merged(_item_patterns(ratings, current_panel(ratings)).counts())


def item_counts(ratings: Ratings) -> tuple[tuple[str, ...], CategoryCounts]:
    """The items, by name, and the panel's first ratings of each as counts by category, a row each."""
    items = _items(ratings)
    return items, _item_patterns(ratings, current_panel(ratings), items).counts()


def item_values(ratings: Ratings) -> tuple[tuple[str, ...], RatingValues]:
    """The same of a scale without categories: as numbers, by rater."""
    return _items(ratings), rating_values(ratings)


def rating_patterns(ratings: Ratings) -> RatingPatterns:
    """The panel's first ratings by rater."""
    return merged_codes(_item_patterns(ratings, current_panel(ratings)))


def joint_patterns(ratings: Ratings) -> RatingPatterns:
    """The first ratings of the panel and, as columns beside theirs, of the classifiers."""
    return merged_codes(_item_patterns(ratings, (*current_panel(ratings), *ratings.classifiers)))


def joint_values(ratings: Ratings) -> RatingValues:
    """The same as numbers, on a scale without categories."""
    return _values(ratings, (*current_panel(ratings), *ratings.classifiers))


def aligned_patterns(one: Ratings, other: Ratings) -> tuple[RatingPatterns, RatingPatterns]:
    """The panels' first ratings of two rounds, row by row of the same items: an item that a round lacks is a row without ratings there."""
    items = tuple(sorted({*one.without_gold.current["item"], *other.without_gold.current["item"]}))
    panels = [current_panel(ratings) for ratings in (one, other)]
    both = np.hstack(
        [
            _item_codes(ratings, raters, items)
            for ratings, raters in zip((one, other), panels, strict=True)
        ]
    )
    rows, weights, clusters = distinct_in(
        both, np.ones(len(items)), _clusters_of_both(one, other, items)
    )
    own, others = np.split(rows, [len(panels[0])], axis=1)
    return (
        RatingPatterns(own, weights, scale=one.scale, raters=panels[0], clusters=clusters),
        RatingPatterns(others, weights, scale=other.scale, raters=panels[1], clusters=clusters),
    )


def _clusters_of_both(one: Ratings, other: Ratings, items: tuple[str, ...]) -> Clusters | None:
    """The clusters of the items of two rounds, in the order of their first items; one name is one cluster in both.

    Raises
    ------
    RatingsError
        One round has clusters and the other none, or they put an item into different ones.
    """
    said = [
        ratings.contents["cluster"] for ratings in (one, other) if "cluster" in ratings.contents
    ]
    if not said:
        return None
    if len(said) == 1:
        raise RatingsError(
            "clusters: a round with clusters and one without found; both or neither are required of rounds that share items. Name the column."
        )
    known = pd.concat(said).groupby(level=0).agg(["first", "nunique"])
    moved = known.index[known["nunique"] > 1]
    if len(moved):
        found = f"items {listed(moved.tolist())} in different clusters of the two rounds found"
        raise RatingsError(
            f"clusters: {found}; one is required of each item. Name the clusters alike in both."
        )
    return Clusters.named(pd.factorize(known["first"].loc[list(items)])[0])


def rating_values(ratings: Ratings) -> RatingValues:
    """The panel's first ratings as numbers, by rater; equal rows made one where the scale has categories."""
    if not ratings.scale.continuous:
        return RatingValues.of_patterns(rating_patterns(ratings))
    return _values(ratings, current_panel(ratings))


def _values(ratings: Ratings, raters: tuple[str, ...]) -> RatingValues:
    """The first ratings of some raters on a scale without categories, one row an item."""
    current = _first_ratings(ratings, raters)
    item, items = pd.factorize(current["item"], sort=True)
    values = np.full((len(items), len(raters), ratings.scale.dimensions), np.nan)
    labels = np.array(current["label"].tolist(), dtype=float)
    values[item, _positions(current["rater"], raters)] = labels.reshape(
        len(labels), ratings.scale.dimensions
    )
    return RatingValues(
        values, scale=ratings.scale, raters=raters, clusters=_clusters(ratings, items)
    )


def panel_patterns(ratings: Ratings, classifier: str) -> PanelPatterns:
    """The panel's first ratings, and a classifier's beside them."""
    joined = merged_codes(_item_patterns(ratings, (*current_panel(ratings), classifier)))
    return PanelPatterns(joined.without(classifier), joined.codes[:, -1], classifier)


def panel_values(ratings: Ratings, classifier: str) -> PanelValues:
    """The panel's first ratings as numbers, and a classifier's beside them, on a scale without categories."""
    return value_against_the_rest(
        _values(ratings, (*current_panel(ratings), classifier)), classifier
    )


def group_patterns(ratings: Ratings) -> GroupPatterns:
    """The first ratings of the panel and of all classifiers of the round, as two groups."""
    present = set(_first_ratings(ratings, ratings.classifiers)["rater"])
    classifiers = [name for name in ratings.without_gold.rater_order if name in present]
    return grouped(_item_patterns(ratings, (*current_panel(ratings), *classifiers)), classifiers)


def confident_patterns(ratings: Ratings) -> ConfidentPatterns:
    """The panel's first ratings by rater, with their confidence; equal rows made one."""
    raters = current_panel(ratings)
    if "confidence" not in ratings.table:
        patterns = rating_patterns(ratings)
        return ConfidentPatterns(patterns, np.full(patterns.codes.shape, np.nan))
    items = _items(ratings)
    current = _first_ratings(ratings, raters)
    confidence = np.full((len(items), len(raters)), np.nan)
    confidence[_positions(current["item"], items), _positions(current["rater"], raters)] = current[
        "confidence"
    ].to_numpy(dtype=float)
    patterns = _item_patterns(ratings, raters, items)
    levels, stated = np.unique(np.nan_to_num(confidence, nan=MISSING), return_inverse=True)
    rows, weights, clusters = distinct_in(
        np.hstack([patterns.codes, stated.reshape(confidence.shape)]),
        patterns.weights,
        patterns.clusters,
    )
    codes, said = rows[:, : len(raters)], levels[rows[:, len(raters) :]]
    distinct = RatingPatterns(codes, weights, scale=ratings.scale, raters=raters, clusters=clusters)
    return ConfidentPatterns(distinct, np.where(said >= 0, said, np.nan))


def replicate_counts(ratings: Ratings) -> ReplicateCounts:
    """What the panel said of items met more than once, over all occurrences, earlier rounds included.

    Items met again keep a row each; the rows of the others are made distinct, as nothing but their first ratings counts.
    """
    raters = panel(ratings)
    table = _all_ratings(ratings, raters)
    item, items = pd.factorize(table["item"], sort=True)
    cells, inverse = np.unique(
        item * len(raters) + _positions(table["rater"], raters), return_inverse=True
    )
    counts = np.zeros((len(cells), len(ratings.scale.names)))
    np.add.at(counts, (inverse, _codes(table["label"], ratings)), 1)
    again = counts.sum(1) >= 2
    met_again, place = np.unique(cells[again] // len(raters), return_inverse=True)
    return ReplicateCounts(
        counts[again],
        place,
        cells[again] % len(raters),
        _rows_first(_item_patterns(ratings, raters, tuple(items)), met_again),
    )


def replicate_values(ratings: Ratings) -> ReplicateValues:
    """What the panel said, in numbers, of items met more than once, over all occurrences, earlier rounds included."""
    if not ratings.scale.continuous:
        return ReplicateValues.of_counts(replicate_counts(ratings))
    raters = panel(ratings)
    table = _all_ratings(ratings, raters)
    meetings = table.groupby(["item", "rater"], observed=True)["label"]
    again = table[meetings.transform("size") >= 2]
    meeting = meetings.cumcount()[again.index].to_numpy()
    item, items = pd.factorize(again["item"], sort=True)
    cells, cell = np.unique(
        item * len(raters) + _positions(again["rater"], raters), return_inverse=True
    )
    values = np.full((len(cells), meeting.max(initial=-1) + 1, ratings.scale.dimensions), np.nan)
    values[cell, meeting] = np.array(again["label"].tolist(), dtype=float).reshape(
        len(again), ratings.scale.dimensions
    )
    item_of, rater_of = np.divmod(cells, len(raters))
    weights, clusters = np.ones(len(items)), _clusters(ratings, items)
    return ReplicateValues(
        values,
        item_of,
        rater_of,
        weights,
        scale=ratings.scale,
        raters=raters,
        round_raters=current_panel(ratings),
        clusters=clusters,
    )


def panel(ratings: Ratings) -> tuple[str, ...]:
    """The raters of the panel, those of earlier rounds included, in the order that their ratings fix."""
    return tuple(
        name for name in ratings.without_gold.rater_order if name not in ratings.classifiers
    )


def current_panel(ratings: Ratings) -> tuple[str, ...]:
    """Those who rated in the round itself."""
    raters = panel(ratings)
    present = set(_first_ratings(ratings, raters)["rater"])
    return tuple(name for name in raters if name in present)


def item_table(ratings: Ratings) -> pd.DataFrame:
    """The panel's first labels, one row an item and one column a rater, by name; missing where there is none."""
    return _first_ratings(ratings, ratings.raters).pivot(
        index="item", columns="rater", values="label"
    )


def _rows_first(patterns: RatingPatterns, rows: Codes) -> RatingPatterns:
    """Some rows as they are, then the others made distinct."""
    others = np.setdiff1d(np.arange(len(patterns.codes)), rows)
    of_others = patterns.clusters and Clusters(
        patterns.clusters.places[others], patterns.clusters.times
    )
    rest, weights, of_rest = distinct_in(
        patterns.codes[others], patterns.weights[others], of_others
    )
    clusters = (
        patterns.clusters
        and of_rest
        and Clusters(
            np.concatenate([patterns.clusters.places[rows], of_rest.places]), of_rest.times
        )
    )
    codes, weights = (
        np.vstack([patterns.codes[rows], rest]),
        np.concatenate([np.ones(len(rows)), weights]),
    )
    return RatingPatterns(
        codes, weights, scale=patterns.scale, raters=patterns.raters, clusters=clusters
    )


def _clusters(ratings: Ratings, items: Iterable[str]) -> Clusters | None:
    """The cluster of each item, where they come in clusters."""
    return (
        None if ratings.cluster_of is None else Clusters.named(ratings.cluster_of.loc[list(items)])
    )


def _item_patterns(
    ratings: Ratings, raters: tuple[str, ...], items: tuple[str, ...] | None = None
) -> RatingPatterns:
    """One row an item, not yet made distinct."""
    if items is None:
        items = tuple(sorted(_first_ratings(ratings, raters)["item"].unique()))
    return RatingPatterns(
        _item_codes(ratings, raters, items),
        scale=ratings.scale,
        raters=raters,
        clusters=_clusters(ratings, items),
    )


def _item_codes(ratings: Ratings, raters: tuple[str, ...], items: tuple[str, ...]) -> Codes:
    """What each rater gave each item, shape (N, R)."""
    current = _first_ratings(ratings, raters)
    codes = np.full((len(items), len(raters)), MISSING)
    codes[_positions(current["item"], items), _positions(current["rater"], raters)] = _codes(
        current["label"], ratings
    )
    return codes


def _items(ratings: Ratings) -> tuple[str, ...]:
    """The items that the panel rated in the round itself, by name."""
    return tuple(sorted(_first_ratings(ratings, current_panel(ratings))["item"].unique()))


def _first_ratings(ratings: Ratings, raters: tuple[str, ...]) -> pd.DataFrame:
    """The round's own first ratings by some raters of what is not gold."""
    current = ratings.without_gold.current
    return current[current["rater"].isin(raters)]


def _all_ratings(ratings: Ratings, raters: tuple[str, ...]) -> pd.DataFrame:
    """All ratings by some raters of what is not gold, replicates and earlier rounds included."""
    table = ratings.without_gold.table
    return table[table["rater"].isin(raters)]


def _codes(labels: pd.Series, ratings: Ratings) -> Codes:
    if ratings.scale.categories is None:
        raise RatingsError(
            f"ratings: {ratings.scale.level} level without categories found; a list of them is required to count labels. Name the categories."
        )
    return _positions(labels, ratings.scale.categories)


def _positions(values: pd.Series, among: tuple[object, ...]) -> Codes:
    return (
        pd.Index(among, dtype=object).get_indexer(pd.Index(values, dtype=object)).astype(np.int64)
    )
