"""The engine of ratings that an SQL engine queries. Its answers become statistics here."""

import numpy as np
import pandas as pd

from agreement_pipeline.engines import sql
from agreement_pipeline.engines.joined import aligned_rows, side_by_side
from agreement_pipeline.engines.protocol import Engine
from agreement_pipeline.engines.queries import numbers, texts, whole
from agreement_pipeline.engines.unpacked import (
    ItemRows,
    cells_met_again,
    codes_of,
    columns_of,
    labels_by_item,
    labels_in,
    labels_met_again,
    labels_of,
    numbers_met_again,
    numbers_of_items,
    places_of,
    present,
    queries_of,
)
from agreement_pipeline.ratings import Array, QueriedRatings
from agreement_pipeline.statistics import (
    CategoryCounts,
    LabelsByRater,
    NumbersByRater,
    ReplicatedLabels,
    ReplicatedNumbers,
)

Names = tuple[str, ...]


class Queried(Engine[QueriedRatings]):
    """Counts ratings where they lie."""

    def panel(self, ratings: QueriedRatings) -> Names:
        """The panel's raters who rated in the round itself, by name."""
        return present(ratings, ratings.raters)

    def classifiers(self, ratings: QueriedRatings) -> Names:
        """The classifiers that rated in the round itself, by name."""
        return present(ratings, ratings.classifiers)

    def items(self, ratings: QueriedRatings) -> Names:
        """The sorted names of the items rated in the round itself."""
        queries = queries_of(ratings)
        text = f"SELECT DISTINCT item FROM {queries.name}_rated WHERE NOT gold ORDER BY item"
        return texts(queries.ask(text), "item")

    def counts(self, ratings: QueriedRatings) -> CategoryCounts:
        """Count the panel's first labels by category. Equal rows are made one."""
        return self.labels(ratings).counts().merged()

    def labels(self, ratings: QueriedRatings, classifiers: Names = ()) -> LabelsByRater:
        """Put first labels into columns: those of the panel and then of some classifiers."""
        return labels_of(ratings, (*self.panel(ratings), *classifiers)).merged().in_order()

    def confident_labels(self, ratings: QueriedRatings) -> LabelsByRater:
        """Put the panel's first labels into columns with the confidence of each."""
        queries, raters = queries_of(ratings), self.panel(ratings)
        if "confidence" not in queries.has:
            nothing = labels_of(ratings, raters)
            return nothing.with_confidence(np.full(nothing.codes.shape, np.nan)).merged().in_order()
        columns = [f"s{place}" for place in places_of(queries, raters)]
        clusters = ["cluster"] if "cluster" in queries.has else []
        keys = ", ".join([*queries.packing.columns, *clusters, *columns])
        inner = queries.by_item(sql.sure_columns(len(queries.raters)))
        found = queries.ask(
            f"SELECT {keys}, COUNT(*) AS items FROM ({inner}) AS i WHERE NOT gold GROUP BY {keys}"
        )
        rows = ItemRows(queries.words(found), whole(found, "items"), queries.clusters(found))
        sure = np.column_stack([numbers(found, column) for column in columns])
        labels, kept = labels_in(ratings, raters, rows)
        return labels.with_confidence(sure[kept]).merged().in_order()

    def numbers(self, ratings: QueriedRatings, classifiers: Names = ()) -> NumbersByRater:
        """Put first ratings into columns as numbers: the panel's and then some classifiers'."""
        if not ratings.scale.continuous:
            return self.labels(ratings, classifiers).in_numbers()
        return numbers_of_items(ratings, (*self.panel(ratings), *classifiers))[1].in_order()

    def replicated_labels(
        self, ratings: QueriedRatings, raters: Names | None = None
    ) -> ReplicatedLabels:
        """Count the labels of some raters for items they met again.

        They are those of the panel if none are named. Items met again keep a row each. Of the
        others only first labels count: equal rows are made one.
        """
        queries, raters = queries_of(ratings), raters or self.panel(ratings)
        labels = labels_of(ratings, raters)
        if not queries.again:
            empty = np.empty(0, dtype=np.int64)
            counts = np.empty((0, len(ratings.scale.names)))
            return ReplicatedLabels(counts, empty, empty, labels.merged()).in_order()
        found = queries.ask(cells_met_again(ratings, raters))
        item = np.unique(found["item"].to_numpy(), return_inverse=True)[1]
        column = columns_of(queries, raters)[whole(found, "place")]
        cells, cell = np.unique(item * len(raters) + column, return_inverse=True)
        counts = np.zeros((len(cells), len(ratings.scale.names)))
        position = queries.positions(ratings.scale)[whole(found, "code") - 1]
        np.add.at(counts, (cell, position), whole(found, "n"))
        first = labels_met_again(ratings, raters)
        place, rater = np.divmod(cells, len(raters))
        return ReplicatedLabels(counts, place, rater, first).in_order()

    def replicated_numbers(
        self, ratings: QueriedRatings, raters: Names | None = None
    ) -> ReplicatedNumbers:
        """Gather the numbers of some raters for items they met again."""
        if not ratings.scale.continuous:
            return self.replicated_labels(ratings, raters).in_numbers()
        return numbers_met_again(ratings, raters or self.panel(ratings)).in_order()

    def by_item(self, ratings: QueriedRatings) -> tuple[Names, CategoryCounts | NumbersByRater]:
        """The items that the panel rated and what it said of each. One row an item."""
        if ratings.scale.continuous:
            items, found = numbers_of_items(ratings, self.panel(ratings))
            return items, found.in_order()
        items, labels = labels_by_item(ratings, self.panel(ratings))
        counts = labels.indicators.sum(1)
        return items, CategoryCounts(counts, scale=ratings.scale, clusters=labels.clusters)

    def aligned(
        self, one: QueriedRatings, other: QueriedRatings
    ) -> tuple[LabelsByRater, LabelsByRater]:
        """Put the panels' first labels of two rounds on the same items row by row."""
        rounds = (one, other)
        words, items, clusters = aligned_rows(*map(queries_of, rounds))
        panels = (self.panel(one), self.panel(other))
        both = [codes_of(*each) for each in zip(rounds, panels, words, strict=True)]
        scales = (one.scale, other.scale)
        return side_by_side(np.hstack(both), items.astype(float), clusters, scales, panels)

    def said(self, ratings: QueriedRatings) -> pd.DataFrame:
        """The panel's first labels as they were given by item and rater."""
        raters = self.panel(ratings)
        if ratings.scale.continuous:
            items, found = numbers_of_items(ratings, raters)
            said = _as_labels(found.values)
        else:
            items, labels = labels_by_item(ratings, raters)
            categories = ratings.scale.categories or ()
            said = np.array([*categories, np.nan], dtype=object)[labels.codes]
        index, columns = pd.Index(items, name="item"), pd.Index(raters, name="rater")
        return pd.DataFrame(said, index=index, columns=columns)


def _as_labels(values: Array) -> np.ndarray:
    """Numbers as labels: floats, or tuples on a scale of several dimensions."""
    if values.shape[2] == 1:
        return values[:, :, 0].astype(object)
    found = np.empty(values.shape[:2], dtype=object)
    for at in np.ndindex(found.shape):
        found[at] = np.nan if np.isnan(values[at]).all() else tuple(values[at].tolist())
    return found


__all__ = ["Queried"]
