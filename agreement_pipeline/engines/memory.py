"""The engine of ratings that fit in memory, with NumPy and pandas."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from agreement_pipeline.engines.protocol import ENGINES, Engine
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import MISSING, Codes, Ratings
from agreement_pipeline.statistics import (
    CategoryCounts,
    Clusters,
    LabelsByRater,
    NumbersByRater,
    ReplicatedLabels,
    ReplicatedNumbers,
    distinct_in,
)
from agreement_pipeline.text import listed

Names = tuple[str, ...]


class Memory(Engine[Ratings]):
    """Counts ratings in memory."""

    def panel(self, ratings: Ratings) -> Names:
        """The panel's raters who rated in the round itself. Their ratings fix the order."""
        return _present(ratings, _panel(ratings))

    def classifiers(self, ratings: Ratings) -> Names:
        """The classifiers that rated in the round itself. Their ratings fix the order."""
        order = ratings.without_gold.rater_order
        return _present(ratings, tuple(name for name in order if name in ratings.classifiers))

    def items(self, ratings: Ratings) -> Names:
        """The sorted names of the items rated in the round itself."""
        return tuple(sorted(ratings.without_gold.current["item"].unique()))

    def counts(self, ratings: Ratings) -> CategoryCounts:
        """Count the panel's first labels by category. Equal rows are made one."""
        return _item_labels(ratings, self.panel(ratings)).counts().merged()

    def labels(self, ratings: Ratings, classifiers: Names = ()) -> LabelsByRater:
        """Put first labels into columns: those of the panel and then of some classifiers."""
        return _item_labels(ratings, (*self.panel(ratings), *classifiers)).merged()

    def confident_labels(self, ratings: Ratings) -> LabelsByRater:
        """Put the panel's first labels into columns with the confidence of each."""
        raters = self.panel(ratings)
        labels, current = _item_labels(ratings, raters), _first_ratings(ratings, raters)
        confidence = np.full(labels.codes.shape, np.nan)
        if "confidence" in current:
            places = _positions(current["item"], _items(ratings, raters))
            columns = _positions(current["rater"], raters)
            confidence[places, columns] = current["confidence"].to_numpy(dtype=float)
        return labels.with_confidence(confidence).merged()

    def numbers(self, ratings: Ratings, classifiers: Names = ()) -> NumbersByRater:
        """Put first ratings into columns as numbers: the panel's and then some classifiers'."""
        if not ratings.scale.continuous:
            return self.labels(ratings, classifiers).in_numbers()
        raters, dimensions = (*self.panel(ratings), *classifiers), ratings.scale.dimensions
        current = _first_ratings(ratings, raters)
        item, items = pd.factorize(current["item"], sort=True)
        values = np.full((len(items), len(raters), dimensions), np.nan)
        places = item, _positions(current["rater"], raters)
        values[places] = _vectors(current["label"], dimensions)
        clusters = _clusters(ratings, items)
        return NumbersByRater(values, scale=ratings.scale, raters=raters, clusters=clusters)

    def replicated_labels(self, ratings: Ratings) -> ReplicatedLabels:
        """Count the labels of the panel for items they met again. Earlier rounds count.

        Items met again keep a row each. Of the others only first labels count: equal rows are made
        one.
        """
        raters = _panel(ratings)
        table = _all_ratings(ratings, raters)
        item, items = pd.factorize(table["item"], sort=True)
        cells, inverse = np.unique(
            item * len(raters) + _positions(table["rater"], raters), return_inverse=True
        )
        counts = np.zeros((len(cells), len(ratings.scale.names)))
        np.add.at(counts, (inverse, _codes(table["label"], ratings)), 1)
        again = counts.sum(1) >= 2
        met_again, place = np.unique(cells[again] // len(raters), return_inverse=True)
        first = _rows_first(_item_labels(ratings, raters, tuple(items)), met_again)
        return ReplicatedLabels(counts[again], place, cells[again] % len(raters), first)

    def replicated_numbers(self, ratings: Ratings) -> ReplicatedNumbers:
        """Gather the numbers of the panel for items they met again. Earlier rounds count."""
        if not ratings.scale.continuous:
            return self.replicated_labels(ratings).in_numbers()
        raters, dimensions = _panel(ratings), ratings.scale.dimensions
        table = _all_ratings(ratings, raters)
        meetings = table.groupby(["item", "rater"], observed=True)["label"]
        again = table[meetings.transform("size") >= 2]
        meeting = meetings.cumcount()[again.index].to_numpy()
        item, items = pd.factorize(again["item"], sort=True)
        cells, cell = np.unique(
            item * len(raters) + _positions(again["rater"], raters), return_inverse=True
        )
        values = np.full((len(cells), meeting.max(initial=-1) + 1, dimensions), np.nan)
        values[cell, meeting] = _vectors(again["label"], dimensions)
        return ReplicatedNumbers(
            values,
            *np.divmod(cells, len(raters)),
            np.ones(len(items)),
            scale=ratings.scale,
            raters=raters,
            round_raters=self.panel(ratings),
            clusters=_clusters(ratings, items),
        )

    def by_item(self, ratings: Ratings) -> tuple[Names, CategoryCounts | NumbersByRater]:
        """The items that the panel rated and what it said of each. One row an item."""
        raters = self.panel(ratings)
        items = _items(ratings, raters)
        if ratings.scale.continuous:
            return items, self.numbers(ratings)
        return items, _item_labels(ratings, raters).counts()

    def aligned(self, one: Ratings, other: Ratings) -> tuple[LabelsByRater, LabelsByRater]:
        """Put the panels' first labels of two rounds on the same items row by row."""
        rounds = (one, other)
        items = tuple(sorted({*self.items(one), *self.items(other)}))
        panels = [self.panel(each) for each in rounds]
        both = [_item_codes(*pair, items) for pair in zip(rounds, panels, strict=True)]
        clusters = _clusters_of_both(one, other, items)
        rows, weights, clusters = distinct_in(np.hstack(both), np.ones(len(items)), clusters)
        first, second = (
            LabelsByRater(codes, weights, scale=each.scale, raters=raters, clusters=clusters)
            for codes, each, raters in zip(
                np.split(rows, [len(panels[0])], axis=1), rounds, panels, strict=True
            )
        )
        return first, second

    def said(self, ratings: Ratings) -> pd.DataFrame:
        """The panel's first labels as they were given by item and rater."""
        current = _first_ratings(ratings, ratings.raters)
        return current.pivot(index="item", columns="rater", values="label")


ENGINES["memory"] = Memory()


def _rows_first(labels: LabelsByRater, rows: Codes) -> LabelsByRater:
    """Some rows as they are and then the others. Equal rows of the others are made one."""
    others = np.setdiff1d(np.arange(len(labels.codes)), rows)
    clusters = labels.clusters
    of_others = clusters and Clusters(clusters.places[others], clusters.times)
    rest, weights, of_rest = distinct_in(labels.codes[others], labels.weights[others], of_others)
    if clusters and of_rest:
        places = np.concatenate([clusters.places[rows], of_rest.places])
        clusters = Clusters(places, of_rest.times)
    return LabelsByRater(
        np.vstack([labels.codes[rows], rest]),
        np.concatenate([np.ones(len(rows)), weights]),
        scale=labels.scale,
        raters=labels.raters,
        clusters=clusters,
    )


def _clusters_of_both(one: Ratings, other: Ratings, items: Names) -> Clusters | None:
    """The clusters of the items of two rounds in the order of their first items.

    One name is one cluster in both rounds.

    Raises
    ------
    RatingsError
        One round has clusters and the other none. Or they put an item into different ones.
    """
    said = [
        ratings.contents["cluster"] for ratings in (one, other) if "cluster" in ratings.contents
    ]
    if not said:
        return None
    if len(said) == 1:
        raise RatingsError(
            "clusters: found a round with clusters and one without; expected both or neither, "
            "since the rounds share items. Name the column."
        )
    known = pd.concat(said).groupby(level=0).agg(["first", "nunique"])
    moved = known.index[known["nunique"] > 1]
    if len(moved):
        raise RatingsError(
            f"clusters: found items {listed(moved.tolist())} in different clusters of the two "
            "rounds; expected one cluster for each item. Name the clusters alike in both."
        )
    return Clusters.named(pd.factorize(known["first"].loc[list(items)])[0])


def _clusters(ratings: Ratings, items: Iterable[str]) -> Clusters | None:
    """The cluster of each item. None if items do not come in clusters."""
    known = ratings.cluster_of
    return None if known is None else Clusters.named(known.loc[list(items)])


def _panel(ratings: Ratings) -> Names:
    """The raters of the panel with those of earlier rounds. Their ratings fix the order."""
    order = ratings.without_gold.rater_order
    return tuple(name for name in order if name not in ratings.classifiers)


def _present(ratings: Ratings, raters: Names) -> Names:
    """Those of some raters who rated in the round itself."""
    present = set(_first_ratings(ratings, raters)["rater"])
    return tuple(name for name in raters if name in present)


def _item_labels(ratings: Ratings, raters: Names, items: Names | None = None) -> LabelsByRater:
    """One row an item. Equal rows are not yet made one."""
    items = _items(ratings, raters) if items is None else items
    codes, clusters = _item_codes(ratings, raters, items), _clusters(ratings, items)
    return LabelsByRater(codes, scale=ratings.scale, raters=raters, clusters=clusters)


def _item_codes(ratings: Ratings, raters: Names, items: Names) -> Codes:
    """What each rater gave each item. Shape (N, R)."""
    current = _first_ratings(ratings, raters)
    codes = np.full((len(items), len(raters)), MISSING)
    places = _positions(current["item"], items), _positions(current["rater"], raters)
    codes[places] = _codes(current["label"], ratings)
    return codes


def _items(ratings: Ratings, raters: Names) -> Names:
    """The sorted names of the items that some raters rated in the round itself."""
    return tuple(sorted(_first_ratings(ratings, raters)["item"].unique()))


def _first_ratings(ratings: Ratings, raters: Names) -> pd.DataFrame:
    """The round's own first ratings by some raters of what is not gold."""
    current = ratings.without_gold.current
    return current[current["rater"].isin(raters)]


def _all_ratings(ratings: Ratings, raters: Names) -> pd.DataFrame:
    """All ratings by some raters of what is not gold. Replicates and earlier rounds count."""
    table = ratings.without_gold.table
    return table[table["rater"].isin(raters)]


def _codes(labels: pd.Series, ratings: Ratings) -> Codes:
    if ratings.scale.categories is None:
        raise RatingsError(
            f"ratings: found the {ratings.scale.level} level without categories; expected a list "
            "of them to count labels. Name the categories."
        )
    return _positions(labels, ratings.scale.categories)


def _vectors(labels: pd.Series, dimensions: int) -> np.ndarray:
    """Labels as vectors of numbers. Shape (n, D)."""
    return np.array(labels.tolist(), dtype=float).reshape(len(labels), dimensions)


def _positions(values: pd.Series, among: tuple[object, ...]) -> Codes:
    places = pd.Index(among, dtype=object).get_indexer(pd.Index(values, dtype=object))
    return places.astype(np.int64)


__all__ = ["Memory"]
