"""The engine of ratings that fit in memory, with NumPy on their codes."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from agreement_pipeline.engines.joined import moved, one_clustered, side_by_side
from agreement_pipeline.engines.protocol import ENGINES, Engine
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import (
    MISSING,
    TEXT,
    Array,
    Codes,
    Ratings,
    held,
    of_whole_items,
    taken,
    used,
)
from agreement_pipeline.statistics import (
    CategoryCounts,
    Clusters,
    LabelsByRater,
    NumbersByRater,
    ReplicatedLabels,
    ReplicatedNumbers,
)
from agreement_pipeline.text import called

Names = tuple[str, ...]


class Memory(Engine[Ratings]):
    """Counts ratings in memory."""

    def panel(self, ratings: Ratings) -> Names:
        """The panel's raters who rated in the round itself, by name."""
        return tuple(name for name in _present(ratings) if name not in ratings.classifiers)

    def classifiers(self, ratings: Ratings) -> Names:
        """The classifiers that rated in the round itself, by name."""
        return tuple(name for name in _present(ratings) if name in ratings.classifiers)

    def items(self, ratings: Ratings) -> Names:
        """The sorted names of the items rated in the round itself."""
        return tuple(used(ratings.without_gold.current["item"]))

    def counts(self, ratings: Ratings) -> CategoryCounts:
        """Count the panel's first labels by category. Equal rows are made one."""
        return self.labels(ratings).counts().merged()

    def labels(self, ratings: Ratings, classifiers: Names = ()) -> LabelsByRater:
        """Put first labels into columns: those of the panel and of some classifiers."""
        return _labels(_first(ratings, (*self.panel(ratings), *classifiers))).in_order()

    def confident_labels(self, ratings: Ratings) -> LabelsByRater:
        """Put the panel's first labels into columns with the confidence of each."""
        first = _first(ratings, self.panel(ratings))
        confidence = np.full(first.shape, np.nan)
        if "confidence" in first.table:
            confidence[first.item, first.rater] = first.table["confidence"]
        return _labels_of_items(first).with_confidence(confidence).in_order()

    def numbers(self, ratings: Ratings, classifiers: Names = ()) -> NumbersByRater:
        """Put first ratings into columns as numbers: the panel's and some classifiers'."""
        if not ratings.scale.continuous:
            return self.labels(ratings, classifiers).in_numbers()
        first = _first(ratings, (*self.panel(ratings), *classifiers))
        values = np.full((*first.shape, ratings.scale.dimensions), np.nan)
        values[first.item, first.rater] = first.numbers
        return NumbersByRater(
            values,
            first.weights,
            scale=ratings.scale,
            raters=first.raters,
            clusters=first.clusters,
        ).in_order()

    def replicated_labels(self, ratings: Ratings, raters: Names | None = None) -> ReplicatedLabels:
        """Count the labels of some raters for items they met again. Earlier rounds count.

        They are those of the panel if none are named. Items met again keep a row each. Of the
        others only first labels count: equal rows are made one.
        """
        every = _every(ratings, raters)
        cells = _Cells.met_again(every)
        counts = np.zeros((len(cells.item), len(ratings.scale.names)))
        np.add.at(counts, (cells.cell, every.codes[cells.rows]), 1)
        met, place = np.unique(cells.item, return_inverse=True)
        labels = _labels_of_items(_first(ratings, every.raters, every.items))
        once = np.ones(len(every.items), dtype=bool)
        once[met] = False
        first = _rows(labels, np.concatenate([met, np.flatnonzero(once)]))
        return ReplicatedLabels(counts, place, cells.rater, first).in_order()

    def replicated_numbers(
        self, ratings: Ratings, raters: Names | None = None
    ) -> ReplicatedNumbers:
        """Gather the numbers of some raters for items they met again. Earlier rounds count."""
        if not ratings.scale.continuous:
            return self.replicated_labels(ratings, raters).in_numbers()
        every = _every(ratings, raters)
        cells = _Cells.met_again(every)
        most = int(cells.meeting.max(initial=-1)) + 1
        values = np.full((len(cells.item), most, ratings.scale.dimensions), np.nan)
        values[cells.cell, cells.meeting] = every.numbers[cells.rows]
        met, place = np.unique(cells.item, return_inverse=True)
        return ReplicatedNumbers(
            values,
            place,
            cells.rater,
            np.ones(len(met)) if every.weights is None else every.weights[met],
            scale=ratings.scale,
            raters=every.raters,
            round_raters=raters or self.panel(ratings),
            clusters=_clusters(ratings, every.items[met]),
        ).in_order()

    def by_item(self, ratings: Ratings) -> tuple[Names, CategoryCounts | NumbersByRater]:
        """The items that the panel rated and what it said of each. One row an item."""
        first = _first(ratings, self.panel(ratings))
        if ratings.scale.continuous:
            return tuple(first.items), self.numbers(ratings)
        k = len(ratings.scale.names)
        counts = np.bincount(first.item * np.int64(k) + first.codes, minlength=len(first.items) * k)
        return tuple(first.items), CategoryCounts(
            counts.reshape(-1, k), scale=ratings.scale, clusters=first.clusters
        )

    def aligned(self, one: Ratings, other: Ratings) -> tuple[LabelsByRater, LabelsByRater]:
        """Put the panels' first labels of two rounds on the same items row by row."""
        rounds = (one, other)
        items = pd.Index(sorted({*self.items(one), *self.items(other)}), dtype=TEXT)
        both = [_first(each, self.panel(each), items) for each in rounds]
        codes = np.hstack([_matrix(each) for each in both])
        clusters = _clusters_of_both(one, other, items)
        panels, scales = (both[0].raters, both[1].raters), (one.scale, other.scale)
        return side_by_side(codes, _weights_of_both(one, other, items), clusters, scales, panels)

    def said(self, ratings: Ratings) -> pd.DataFrame:
        """The panel's first labels as they were given by item and rater."""
        first = _first(ratings, ratings.raters)
        labels = np.full(first.shape, np.nan, dtype=object)
        labels[first.item, first.rater] = first.table["label"].astype(object)
        return pd.DataFrame(labels, index=first.items.rename("item"), columns=list(first.raters))


ENGINES["memory"] = Memory()


@dataclass(frozen=True)
class _Some:
    """Some of the ratings: the place of each one's item and rater among these."""

    ratings: Ratings
    item: Codes
    rater: Codes
    items: pd.Index
    raters: Names

    @property
    def table(self) -> pd.DataFrame:
        return self.ratings.table

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.items), len(self.raters)

    @property
    def codes(self) -> Codes:
        return self.ratings.codes

    @property
    def numbers(self) -> Array:
        return self.ratings.numbers.reshape(len(self.item), self.ratings.scale.dimensions)

    @property
    def clusters(self) -> Clusters | None:
        return _clusters(self.ratings, self.items)

    @property
    def weights(self) -> Array | None:
        """How many equal items each item stands for; None if each stands for itself."""
        known = self.ratings.contents
        return known["weight"].loc[self.items].to_numpy(float) if "weight" in known else None


class _Cells(NamedTuple):
    """The cells of items that raters met again, and the ratings in them.

    `item` and `rater` are those of each cell. `rows` are the ratings, `cell` is the cell of each,
    and `meeting` is which of its ratings it is, from 0.
    """

    item: Codes
    rater: Codes
    rows: Codes
    cell: Codes
    meeting: Codes

    @classmethod
    def met_again(cls, some: _Some) -> "_Cells":
        """The cells of two ratings or more. The ratings are in order of item and rater."""
        keys = some.item.astype(np.int64) * len(some.raters) + some.rater
        start = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])
        sizes = np.diff(np.append(start, len(keys)))
        rows = np.flatnonzero(np.repeat(sizes >= 2, sizes))
        again, kept = start[sizes >= 2], sizes[sizes >= 2]
        cell = np.repeat(np.arange(len(again)), kept)
        return cls(some.item[again], some.rater[again], rows, cell, rows - again[cell])


def _present(ratings: Ratings) -> list[str]:
    """Those who rated in the round itself, by name."""
    return used(ratings.without_gold.current["rater"])


def _first(ratings: Ratings, raters: Names, items: pd.Index | None = None) -> _Some:
    """The round's own first ratings by some raters of what is not gold.

    The items are those that these raters rated, or those given.
    """
    own = ratings.without_gold
    return _some(replace(own, table=own.current), raters, items)


def _every(ratings: Ratings, raters: Names | None) -> _Some:
    """All ratings by some raters of what is not gold. Replicates and earlier rounds count."""
    own = ratings.without_gold
    return _some(own, raters or own.raters, None)


def _some(ratings: Ratings, raters: Names, items: pd.Index | None) -> _Some:
    table = ratings.table
    known = pd.Index(raters, dtype=TEXT).get_indexer(table["rater"].cat.categories)
    rater = taken(known.astype(np.int32), table["rater"].cat.codes.to_numpy())
    if (rater < 0).any():
        table, rater = table[rater >= 0].reset_index(drop=True), rater[rater >= 0]
    names, codes = table["item"].cat.categories, table["item"].cat.codes.to_numpy()
    if items is None:
        here = held(codes, len(names))
        items, places = (names, None) if here.all() else (names[here], np.cumsum(here) - 1)
    else:
        places = items.get_indexer(names)
    item = np.asarray(codes if places is None else taken(places, codes))
    return _Some(replace(ratings, table=table), item, rater, items, raters)


def _labels(first: _Some) -> LabelsByRater:
    """First labels. Equal rows may be made one already."""
    base, n_raters = len(first.ratings.scale.names) + 1, len(first.raters)
    apart = first.clusters is not None or first.weights is not None
    if base**n_raters >= 2**62 or apart or not len(first.item):
        return _labels_of_items(first)
    digits = base ** np.arange(n_raters - 1, -1, -1, dtype=np.int64)
    rows = np.concatenate(
        [_row_numbers(first, part, digits) for part in of_whole_items(first.item)]
    )
    distinct, weights = np.unique(rows, return_counts=True)
    codes = distinct[:, None] // digits % base - 1
    return LabelsByRater(codes, weights, scale=first.ratings.scale, raters=first.raters)


def _row_numbers(first: _Some, part: slice, digits: Codes) -> Codes:
    """A number for each item of a part, which is that of its labels by rater."""
    item, rater = first.item[part], first.rater[part]
    codes = replace(first.ratings, table=first.table.iloc[part]).codes
    begins = np.flatnonzero(np.append(True, item[1:] != item[:-1]))
    return np.asarray(np.add.reduceat((codes + 1) * digits[rater], begins))


def _labels_of_items(first: _Some) -> LabelsByRater:
    """First labels, one row an item."""
    scale, raters, clusters = first.ratings.scale, first.raters, first.clusters
    return LabelsByRater(
        _matrix(first), first.weights, scale=scale, raters=raters, clusters=clusters
    )


def _matrix(first: _Some) -> Codes:
    """What each rater gave each item. Shape (N, R)."""
    codes = np.full(first.shape, MISSING)
    codes[first.item, first.rater] = first.codes
    return codes


def _rows(labels: LabelsByRater, rows: Codes) -> LabelsByRater:
    """The rows of labels in another order."""
    clusters = labels.clusters and Clusters(labels.clusters.places[rows], labels.clusters.times)
    return LabelsByRater(
        labels.codes[rows],
        labels.weights[rows],
        scale=labels.scale,
        raters=labels.raters,
        clusters=clusters,
    )


def _weights_of_both(one: Ratings, other: Ratings, items: pd.Index) -> Array:
    """How many equal items each item of two rounds stands for.

    Raises
    ------
    RatingsError
        An item stands for another number in the other round.
    """
    said = [each.contents["weight"] for each in (one, other) if "weight" in each.contents]
    if not said:
        return np.ones(len(items))
    known = pd.concat(said).groupby(level=0).agg(["first", "nunique"]).reindex(items, fill_value=1)
    if (known["nunique"] > 1).any():
        raise RatingsError(
            f"weight: found {called('item', known.index[known['nunique'] > 1])} with two weights "
            "in two rounds; expected one weight for an item. Give each content its own item."
        )
    return np.asarray(known["first"], dtype=float)


def _clusters_of_both(one: Ratings, other: Ratings, items: pd.Index) -> Clusters | None:
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
        raise one_clustered()
    known = pd.concat(said).groupby(level=0).agg(["first", "nunique"])
    elsewhere = known.index[known["nunique"] > 1]
    if len(elsewhere):
        raise moved(elsewhere.tolist())
    return Clusters.named(pd.factorize(known["first"].loc[items])[0])


def _clusters(ratings: Ratings, items: pd.Index) -> Clusters | None:
    """The cluster of each item. None if items do not come in clusters."""
    known = ratings.cluster_of
    return None if known is None else Clusters.named(known.loc[items].to_numpy())


__all__ = ["Memory"]
