"""From ratings to sufficient statistics: what the queries answer becomes arrays here."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import (
    MISSING,
    Array,
    Codes,
    Patterns,
    Ratings,
    Scale,
    column_of,
    numbers_in,
    texts_of,
    whole,
)
from agreement_pipeline.statistics import (
    CategoryCounts,
    Clusters,
    LabelsByRater,
    NumbersByRater,
    ReplicatedLabels,
    ReplicatedNumbers,
    distinct_in,
    hashes_of,
    order_of_raters,
)
from agreement_pipeline.text import called

if TYPE_CHECKING:
    import pyarrow as pa

Names = tuple[str, ...]


class Counting:
    """What makes statistics of ratings. Those of the panel and those of classifiers stand apart."""

    def present(self, ratings: Any) -> Names:
        """Those who rated in the round itself, by name."""
        raise NotImplementedError

    def labels(self, ratings: Any, classifiers: Names = ()) -> LabelsByRater:
        """First labels in columns: those of the panel and then of some classifiers."""
        raise NotImplementedError

    def replicated_labels(self, ratings: Any, raters: Names | None = None) -> ReplicatedLabels:
        """The labels of some raters for items they met again. None: of the panel."""
        raise NotImplementedError

    def open_numbers(self, ratings: Any, classifiers: Names) -> NumbersByRater:
        """First numbers in columns, on a scale without categories."""
        raise NotImplementedError

    def open_replicates(self, ratings: Any, raters: Names | None) -> ReplicatedNumbers:
        """The numbers for items met again, on a scale without categories."""
        raise NotImplementedError

    def panel(self, ratings: Any) -> Names:
        """The panel's raters who rated in the round itself, by name."""
        return tuple(name for name in self.present(ratings) if name not in ratings.classifiers)

    def classifiers(self, ratings: Any) -> Names:
        """The classifiers that rated in the round itself, by name."""
        return tuple(name for name in self.present(ratings) if name in ratings.classifiers)

    def counts(self, ratings: Any) -> CategoryCounts:
        """Count the panel's first labels by category. Equal rows are made one."""
        return self.labels(ratings).counts().merged()

    def numbers(self, ratings: Any, classifiers: Names = ()) -> NumbersByRater:
        """Put first ratings into columns as numbers: the panel's and then some classifiers'."""
        if ratings.scale.continuous:
            return self.open_numbers(ratings, classifiers)
        return self.labels(ratings, classifiers).in_numbers()

    def by_rater(self, ratings: Any, classifiers: Names = ()) -> LabelsByRater | NumbersByRater:
        """Put first ratings into columns: labels, or numbers on a scale without categories."""
        made = self.numbers if ratings.scale.continuous else self.labels
        return made(ratings, classifiers)

    def replicated_numbers(self, ratings: Any, raters: Names | None = None) -> ReplicatedNumbers:
        """Gather the numbers of some raters for items they met again. None: of the panel."""
        if ratings.scale.continuous:
            return self.open_replicates(ratings, raters)
        return self.replicated_labels(ratings, raters).in_numbers()

    def replicates(
        self, ratings: Any, raters: Names | None = None
    ) -> ReplicatedLabels | ReplicatedNumbers:
        """Gather ratings met again: labels, or numbers on a scale without categories."""
        if ratings.scale.continuous:
            return self.replicated_numbers(ratings, raters)
        return self.replicated_labels(ratings, raters)


class OfRatings(Counting):
    """Counts ratings.

    The panel are the raters who are no classifiers. Gold items are in no statistic. They are not
    released. Raters who know them agree on them more easily than on others. If items come in
    clusters, each statistic holds the cluster of each row.
    """

    def present(self, ratings: Ratings) -> Names:
        """Those who rated an item that is not gold in the round itself."""
        patterns = ratings.patterns
        words = patterns.words[~patterns.gold]
        codes = ratings.packing.codes(words, range(len(ratings.names)))
        there = np.asarray((codes >= 0).any(0))
        return tuple(name for name, rated in zip(ratings.names, there, strict=True) if rated)

    def items(self, ratings: Ratings) -> Names:
        """The sorted names of the items rated in the round itself."""
        text = f"SELECT DISTINCT item FROM {ratings.own} WHERE NOT gold ORDER BY item"
        return tuple(ratings.table.values(text))

    def labels(self, ratings: Ratings, classifiers: Names = ()) -> LabelsByRater:
        """Put first labels into columns: those of the panel and then of some classifiers.

        Equal rows are made one.
        """
        raters = (*self.panel(ratings), *classifiers)
        return _labels_in(ratings, raters, ratings.patterns)[0].in_order()

    def confident_labels(self, ratings: Ratings) -> LabelsByRater:
        """Put the panel's first labels into columns with the confidence of each.

        Equal rows are made one.
        """
        raters = self.panel(ratings)
        if "confidence" not in ratings.has:
            nothing, _ = _labels_in(ratings, raters, ratings.patterns)
            return nothing.with_confidence(np.full(nothing.codes.shape, np.nan)).in_order()
        places = _places(ratings, raters)
        stated = [f"MAX(CASE WHEN place = {at} THEN confidence END) AS s{at}" for at in places]
        of_items = [name for name in ("cluster", "weight") if name in ratings.has]
        stated_by = [f"s{at}" for at in places]
        keys = ", ".join([*ratings.packing.columns, "n", "gold", *of_items, *stated_by])
        found = ratings.session.ask(
            f"SELECT {keys}, COUNT(*) AS items FROM ({ratings.by_item(stated)}) AS i "
            f"WHERE NOT gold GROUP BY {keys}"
        )
        labels, kept = _labels_in(ratings, raters, ratings.patterns_in(found))
        sure = np.empty(labels.codes.shape)
        for column, place in enumerate(places):
            sure[:, column] = numbers_in(found[f"s{place}"])[kept]
        return labels.with_confidence(sure).in_order()

    def open_numbers(self, ratings: Ratings, classifiers: Names) -> NumbersByRater:
        """First numbers in columns. An item has a row."""
        return _numbers(ratings, (*self.panel(ratings), *classifiers))[1].in_order()

    def replicated_labels(self, ratings: Ratings, raters: Names | None = None) -> ReplicatedLabels:
        """Count the labels of some raters for items they met again. Earlier rounds count.

        They are those of the panel if none are named. Items met again keep a row each. Of the
        others only first labels count: equal rows are made one.
        """
        raters = raters or ratings.without_gold.raters
        found = _met_again(ratings, raters, "code")
        item, rater = whole(found["at"]), _columns(ratings, raters)[whole(found["place"])]
        cells, cell = np.unique(item * len(raters) + rater, return_inverse=True)
        counts = np.zeros((len(cells), len(ratings.scale.names)))
        np.add.at(counts, (cell, whole(found["code"])), 1)
        first = _first_of_met_again(ratings, raters, _names_of(found))
        return ReplicatedLabels(counts, *np.divmod(cells, len(raters)), first).in_order()

    def open_replicates(self, ratings: Ratings, raters: Names | None) -> ReplicatedNumbers:
        """Gather the numbers of some raters for items they met again. Earlier rounds count."""
        round_raters = raters or self.panel(ratings)
        raters = raters or ratings.without_gold.raters
        found = _met_again(ratings, raters, "number")
        item, rater = whole(found["at"]), _columns(ratings, raters)[whole(found["place"])]
        keys = item * len(raters) + rater
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        cells, cell = np.unique(keys, return_inverse=True)
        turn = np.arange(len(keys)) - starts[cell] if len(keys) else np.empty(0, np.int64)
        numbers = numbers_in(found["number"].combine_chunks())
        values = np.full((len(cells), turn.max(initial=-1) + 1, ratings.scale.dimensions), np.nan)
        values[cell, turn] = numbers.reshape(len(keys), ratings.scale.dimensions)
        names = _names_of(found)
        return ReplicatedNumbers(
            values,
            *np.divmod(cells, len(raters)),
            _weights(ratings, names),
            scale=ratings.scale,
            raters=raters,
            round_raters=round_raters,
            clusters=_clusters(ratings, _numbers_of_clusters(ratings, names)),
        ).in_order()

    def by_item(self, ratings: Ratings) -> tuple[Names, CategoryCounts | NumbersByRater]:
        """The items that the panel rated and what it said of each. One row an item.

        These are counts. They are numbers on a scale without categories.
        """
        if ratings.scale.continuous:
            items, found = _numbers(ratings, self.panel(ratings))
            return items, found.in_order()
        items, labels = _labels_by_item(ratings, self.panel(ratings))
        clusters, counts = labels.clusters, labels.indicators.sum(1)
        return items, CategoryCounts(counts, scale=ratings.scale, clusters=clusters)

    def aligned(self, one: Ratings, other: Ratings) -> tuple[LabelsByRater, LabelsByRater]:
        """Put the panels' first labels of two rounds on the same items row by row.

        An item that a round lacks is a row without labels there.
        """
        found = Aligned.of(one, other)
        panels = (self.panel(one), self.panel(other))
        codes = [
            codes_of(each, panel, words)
            for each, panel, words in zip((one, other), panels, found.words, strict=True)
        ]
        return found.side_by_side(np.hstack(codes), (one.scale, other.scale), panels)


def index_in(values: Any, value_set: Any) -> Any:
    """The place of each value in a set, in Arrow."""
    import pyarrow.compute as pc

    return pc.index_in(values, value_set=value_set)


def codes_of(ratings: Ratings, raters: Names, words: Codes) -> Codes:
    """The places on the scale of the labels of some raters. -1 if missing. Shape (P, R)."""
    return ratings.positions(ratings.packing.codes(words, _places(ratings, raters)))


def _places(ratings: Ratings, raters: Sequence[str]) -> list[int]:
    """The places of some raters in the table."""
    return [ratings.names.index(name) for name in raters]


def _columns(ratings: Ratings, raters: Names) -> Codes:
    """The column of each of those who rated; -1 for others than these raters."""
    known = {name: at for at, name in enumerate(raters)}
    return np.array([known.get(name, MISSING) for name in ratings.everyone], dtype=np.int64)


def _labels_in(
    ratings: Ratings, raters: Names, patterns: Patterns
) -> tuple[LabelsByRater, np.ndarray[Any, Any]]:
    """First labels on items that are not gold, and which rows hold any.

    Equal rows may be several.
    """
    codes = codes_of(ratings, raters, patterns.words)
    kept = ~patterns.gold & np.asarray((codes >= 0).any(1))
    labels = LabelsByRater(
        codes[kept],
        patterns.items[kept].astype(float),
        scale=ratings.scale,
        raters=raters,
        clusters=_clusters(ratings, patterns.cluster[kept]),
    )
    return labels, kept


def _clusters(ratings: Ratings, numbers: Codes) -> Clusters | None:
    """The clusters of rows, from their numbers."""
    return Clusters.named(numbers) if "cluster" in ratings.has else None


def _labels_by_item(ratings: Ratings, raters: Names) -> tuple[Names, LabelsByRater]:
    """First labels, one row an item, in the order of the items' names."""
    import pyarrow as pa

    found = ratings.session.ask(
        f"SELECT *, CAST(1 AS BIGINT) AS items FROM ({ratings.by_item()}) AS i "
        "WHERE NOT gold ORDER BY item"
    )
    labels, kept = _labels_in(ratings, raters, ratings.patterns_in(found))
    return tuple(found["item"].filter(pa.array(kept)).to_pylist()), labels


def _met_again(ratings: Ratings, raters: Names, label: str) -> "pa.Table":
    """The ratings by some raters of items they met again, in the order of their meetings."""
    import pyarrow as pa

    if not ratings.met_again:
        nothing = column_of(np.empty(0, dtype=np.int64))
        return pa.table({"item": texts_of([]), "at": nothing, "place": nothing, label: nothing})
    import pyarrow.compute as pc

    found = ratings.again(["item", "at", "place", label])
    others = _columns(ratings, raters)[whole(found["place"])] < 0
    if not others.any():
        return found
    kept = found.filter(pa.array(~others))
    names = pc.unique(kept["item"].combine_chunks())
    at = pc.index_in(kept["item"], value_set=names)
    return kept.set_column(1, "at", at.cast("int64"))


def _names_of(found: "pa.Table") -> "pa.Array":
    """The distinct items of sorted rows."""
    return found["item"].combine_chunks().unique() if found.num_rows else texts_of([])


def _first_of_met_again(ratings: Ratings, raters: Names, names: "pa.Array") -> LabelsByRater:
    """First labels: of the items that one of them met again one row each, then of all others.

    Equal rows of the others are made one.
    """
    codes, weights = np.full((len(names), len(raters)), MISSING), _weights(ratings, names)
    if len(names):
        first = ratings.first(["item", "place", "code"], items=names.to_pylist(), raters=raters)
        places = whole(index_in(first["item"], value_set=names))
        codes[places, _columns(ratings, raters)[whole(first["place"])]] = whole(first["code"])
    every, given = _labels_in(ratings, raters, ratings.patterns)
    numbers = ratings.patterns.cluster[given]
    own, rated = _numbers_of_clusters(ratings.without_gold, names), (codes >= 0).any(1)
    others, left, clusters = distinct_in(
        np.vstack([every.codes, codes[rated]]),
        np.concatenate([every.weights, -weights[rated]]),
        Clusters(np.concatenate([numbers, own[rated]]), np.ones(1)),
    )
    assert clusters is not None
    kept = left > 0
    return LabelsByRater(
        np.vstack([codes, others[kept]]),
        np.concatenate([weights, left[kept]]),
        scale=ratings.scale,
        raters=raters,
        clusters=_clusters(ratings, np.concatenate([own, clusters.places[kept]])),
    )


def _numbers(ratings: Ratings, raters: Names) -> tuple[Names, NumbersByRater]:
    """First numbers, one row an item, in the order of the items' names."""
    found = ratings.first(["item", "at", "place", "number"], raters=raters)
    names = _names_of(found)
    values = np.full((len(names), len(raters), ratings.scale.dimensions), np.nan)
    numbers = numbers_in(found["number"].combine_chunks())
    columns = _columns(ratings, raters)[whole(found["place"])]
    values[whole(found["at"]), columns] = numbers.reshape(len(columns), ratings.scale.dimensions)
    made = NumbersByRater(
        values,
        _weights(ratings, names) if "weight" in ratings.has else None,
        scale=ratings.scale,
        raters=raters,
        clusters=_clusters(ratings, _numbers_of_clusters(ratings.without_gold, names)),
    )
    return tuple(names.to_pylist()), made


def _weights(ratings: Ratings, names: "pa.Array") -> np.ndarray[Any, Any]:
    """How many equal items each item stands for."""
    if "weight" not in ratings.has:
        return np.ones(len(names))
    return whole(_known(ratings, names, "weight")).astype(float)


def _numbers_of_clusters(ratings: Ratings, names: "pa.Array") -> Codes:
    """The numbers of the clusters of some items, in the order of the clusters' first items.

    They are -1 if there are no clusters.
    """
    if "cluster" not in ratings.has:
        return np.full(len(names), MISSING)
    return whole(index_in(_known(ratings, names, "cluster"), value_set=ratings.ordered_clusters))


def _known(ratings: Ratings, names: "pa.Array", column: str) -> Any:
    """What is known of some items, which stand in the order of their names."""
    found = ratings.items([column])
    return found[column].take(index_in(names, value_set=found["item"].combine_chunks()))


@dataclass(frozen=True)
class Aligned:
    """The distinct rows of the items of two rounds.

    Attributes
    ----------
    words
        The packed labels of each round, or 0 where it lacks the item.
    items
        How many items show each row, or stand for such items.
    clusters
        The cluster of each row.
    """

    words: tuple[Codes, Codes]
    items: Codes
    clusters: Clusters | None

    @classmethod
    def of(cls, one: Ratings, other: Ratings) -> "Aligned":
        """Join two rounds by their items.

        Raises
        ------
        RatingsError
            The rounds lie in two sessions. Or one round has clusters and the other none. Or they
            put an item into different ones, or say that it stands for different numbers of items.
        """
        if one.session is not other.session:
            raise RatingsError(
                f"rounds: found ratings in {one.engine} and in {other.engine}; "
                "expected both in one session. Read both with the same engine and memory limit."
            )
        _refuse_one_clustered(one, other)
        _refuse_weighted_apart(one, other)
        sides = {"a": one, "b": other}
        words = [[f"{s}_{w}" for w in each.packing.columns] for s, each in sides.items()]
        tables = [_side(each, side) for side, each in sides.items()]
        keys = [*words[0], *words[1], "cluster", "weight"]
        joined = (
            f"SELECT {', '.join([*words[0], *words[1]])}, item, "
            "COALESCE(a.cluster, b.cluster) AS cluster, "
            "COALESCE(a.weight, b.weight, 1) AS weight "
            f"FROM {tables[0]} FULL OUTER JOIN {tables[1]} USING (item)"
        )
        listed = ", ".join(keys)
        found = one.session.ask(
            f"SELECT {listed}, COUNT(*) AS items, MIN(item) AS first_item "
            f"FROM ({joined}) AS j GROUP BY {listed} ORDER BY first_item"
        )
        first, second = (
            np.maximum(np.column_stack([whole(found[name]) for name in names]), 0)
            for names in words
        )
        clusters = None
        if "cluster" in one.has:
            coded = found["cluster"].combine_chunks().dictionary_encode()
            clusters = Clusters.named(whole(coded.indices))
        return cls((first, second), whole(found["items"]) * whole(found["weight"]), clusters)

    def side_by_side(
        self, codes: Codes, scales: tuple[Scale, Scale], panels: tuple[Names, Names]
    ) -> tuple[LabelsByRater, LabelsByRater]:
        """The labels of both rounds on the same rows. Their ratings fix the order of the raters."""
        split, weights = len(panels[0]), self.items.astype(float)
        listed_anew = [
            np.append(scale.canonical.positions_of(scale), MISSING)[part]
            for part, scale in zip(np.split(codes, [split], axis=1), scales, strict=True)
        ]
        rows, weights, clusters = distinct_in(np.hstack(listed_anew), weights, self.clusters)
        order = order_of_raters(hashes_of(rows), weights)
        columns = [order[order < split], order[order >= split]]
        rows, weights, clusters = distinct_in(rows[:, np.hstack(columns)], weights, clusters)
        names = [*panels[0], *panels[1]]
        parts = zip(np.split(rows, [split], axis=1), scales, columns, strict=True)
        first, second = (_side_of(*part, names, weights, clusters) for part in parts)
        return first, second


def _side_of(
    codes: Codes,
    scale: Scale,
    columns: Codes,
    names: Sequence[str],
    weights: Array,
    clusters: Clusters | None,
) -> LabelsByRater:
    raters = [names[at] for at in columns]
    return LabelsByRater(codes, weights, scale=scale.canonical, raters=raters, clusters=clusters)


def _side(ratings: Ratings, side: str) -> str:
    """One round in the query: its words under names of their own."""
    words = [f"{word} AS {side}_{word}" for word in ratings.packing.columns]
    cluster = "cluster" if "cluster" in ratings.has else "CAST(NULL AS STRING) AS cluster"
    weight = "weight" if "weight" in ratings.has else "CAST(NULL AS BIGINT) AS weight"
    chosen = ", ".join(["item", *words, cluster, weight])
    return f"(SELECT {chosen} FROM ({ratings.by_item()}) AS i WHERE NOT gold) AS {side}"


def _differing(one: Ratings, other: Ratings, column: str) -> list[str]:
    """The items of which two rounds say different things."""
    if not (column in one.has and column in other.has):
        return []
    return one.table.values(
        f"SELECT a.item AS item FROM {one.known} AS a JOIN {other.known} AS b ON a.item = b.item "
        f"WHERE a.{column} <> b.{column} ORDER BY item"
    )


def _refuse_one_clustered(one: Ratings, other: Ratings) -> None:
    if ("cluster" in one.has) != ("cluster" in other.has):
        raise RatingsError(
            "clusters: found a round with clusters and one without; expected both or neither, "
            "since the rounds share items. Name the column."
        )
    if items := _differing(one, other, "cluster"):
        raise RatingsError(
            f"clusters: found {called('item', items)} in different clusters of the two "
            "rounds; expected one cluster for each item. Name the clusters alike in both."
        )


def _refuse_weighted_apart(one: Ratings, other: Ratings) -> None:
    if items := _differing(one, other, "weight"):
        raise RatingsError(
            f"weight: found {called('item', items)} with two weights "
            "in two rounds; expected one weight for an item. Give each content its own item."
        )
