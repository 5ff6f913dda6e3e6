"""From ratings to sufficient statistics: what the queries answer becomes arrays here."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import (
    MISSING,
    Codes,
    Patterns,
    Ratings,
    numbers_in,
    texts_of,
    whole,
    without_categories,
)
from agreement_pipeline.statistics import (
    CategoryCounts,
    Clusters,
    LabelsByRater,
    NumbersByRater,
    ReplicatedLabels,
    ReplicatedNumbers,
    Said,
    Statistic,
    changed,
    distinct_in,
    order_of_raters,
)
from agreement_pipeline.text import called

if TYPE_CHECKING:
    import pyarrow as pa

Names = tuple[str, ...]
_Numbered = tuple["pa.Array", NumbersByRater]


class Counting:
    def present(self, ratings: Any) -> Names:
        raise NotImplementedError

    def by_rater(self, ratings: Any, classifiers: Names = ()) -> LabelsByRater | NumbersByRater:
        """First ratings in columns: those of the panel and then of some classifiers.

        They are labels, or numbers on a scale without categories.
        """
        raise NotImplementedError

    def replicates(
        self, ratings: Any, raters: Names | None = None
    ) -> ReplicatedLabels | ReplicatedNumbers:
        raise NotImplementedError

    def panel(self, ratings: Any) -> Names:
        return tuple(name for name in self.present(ratings) if name not in ratings.classifiers)

    def classifiers(self, ratings: Any) -> Names:
        return tuple(name for name in self.present(ratings) if name in ratings.classifiers)

    def labels(self, ratings: Any, classifiers: Names = ()) -> LabelsByRater:
        found = self.by_rater(ratings, classifiers)
        if isinstance(found, NumbersByRater):
            raise without_categories(ratings.scale)
        return found

    def numbers(self, ratings: Any, classifiers: Names = ()) -> NumbersByRater:
        found = self.by_rater(ratings, classifiers)
        return found.in_numbers() if isinstance(found, LabelsByRater) else found


Made = TypeVar("Made", bound=Statistic)
_MADE = WeakKeyDictionary[Ratings, dict[tuple[object, ...], Any]]()


def _made_once(make: Callable[..., Made]) -> Callable[..., Made]:
    """What is asked again of the same ratings is a copy."""

    @wraps(make)
    def found(counting: Counting, ratings: Ratings, *asked: Names) -> Made:
        made = _MADE.setdefault(ratings, {})
        key = make, *asked
        if key not in made:
            made[key] = make(counting, ratings, *asked)
        copy: Made = changed(made[key])
        return copy

    return found


class OfRatings(Counting):
    """A row has its cluster, if there are clusters.

    The panel are the raters who are no classifiers. Gold items are in no statistic, since raters
    who know them agree on them more easily than on others.
    """

    def present(self, ratings: Ratings) -> Names:
        rated = zip(ratings.names, ratings.n_by_place[0], strict=True)
        return tuple(name for name, n in rated if n)

    def items(self, ratings: Ratings) -> Names:
        text = f"SELECT DISTINCT item FROM {ratings.own} WHERE NOT gold ORDER BY item"
        return tuple(ratings.table.values(text))

    def counts(self, ratings: Ratings) -> CategoryCounts:
        if ratings.scale.continuous:
            raise without_categories(ratings.scale)
        return _counts_in(ratings, ratings.patterns)[0].in_order()

    @_made_once
    def by_rater(self, ratings: Ratings, classifiers: Names = ()) -> LabelsByRater | NumbersByRater:
        raters = (*self.panel(ratings), *classifiers)
        if ratings.scale.continuous:
            return _numbers(ratings, raters)[1].in_order()
        return _labels_in(ratings, raters, ratings.patterns)[0].in_order()

    @_made_once
    def confident_labels(self, ratings: Ratings) -> LabelsByRater:
        if "confidence" not in ratings.has:
            nothing = self.labels(ratings)
            return nothing.with_confidence(np.full(nothing.codes.shape, np.nan))
        raters = self.panel(ratings)
        places = _places(ratings, raters)
        stated = [f"MAX(CASE WHEN place = {at} THEN confidence END) AS s{at}" for at in places]
        of_items = [name for name in ("cluster", "weight") if name in ratings.has]
        stated_by = [f"s{at}" for at in places]
        keys = ", ".join([*ratings.packing.columns, "gold", *of_items, *stated_by])
        found = ratings.session.ask(
            f"SELECT {keys}, COUNT(*) AS items FROM ({ratings.by_item(stated)}) AS i "
            f"WHERE NOT gold GROUP BY {keys}"
        )
        labels, kept = _labels_in(ratings, raters, ratings.patterns_in(found))
        sure = np.empty(labels.codes.shape)
        for column, name in enumerate(stated_by):
            sure[:, column] = numbers_in(found[name])[kept]
        return labels.with_confidence(sure).in_order()

    @_made_once
    def replicates(
        self, ratings: Ratings, raters: Names | None = None
    ) -> ReplicatedLabels | ReplicatedNumbers:
        """Ratings of earlier rounds count. Items met again keep a row each, and of the others only
        first labels count.
        """
        everyone, scale = raters or ratings.without_gold.raters, ratings.scale
        found = _met_again(ratings, everyone, "number" if scale.continuous else "code")
        names = _names_of(found)
        column = _columns(ratings, everyone)[whole(found["place"])]
        keys = whole(found["at"]) * len(everyone) + column
        cells, cell = np.unique(keys, return_inverse=True)
        item, rater = np.divmod(cells, len(everyone))
        if not scale.continuous:
            counts = np.zeros((len(cells), len(scale.names)))
            np.add.at(counts, (cell, whole(found["code"])), 1)
            if not len(cells) and everyone == self.panel(ratings):
                return ReplicatedLabels(counts, item, rater, self.labels(ratings))
            first = _first_of_met_again(ratings, everyone, names)
            return ReplicatedLabels(counts, item, rater, first).in_order()
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        turn = np.arange(len(keys)) - starts[cell] if len(keys) else np.empty(0, np.int64)
        values = np.full((len(cells), turn.max(initial=-1) + 1, scale.dimensions), np.nan)
        values[cell, turn] = numbers_in(found["number"]).reshape(len(keys), scale.dimensions)
        return ReplicatedNumbers(
            values,
            item,
            rater,
            _weights(ratings, names),
            scale=scale,
            raters=everyone,
            round_raters=raters or self.panel(ratings),
            clusters=_clusters(ratings, _numbers_of_clusters(ratings, names)),
        ).in_order()

    def by_item(self, ratings: Ratings) -> "tuple[pa.Array, CategoryCounts | NumbersByRater]":
        if ratings.scale.continuous:
            items, found = _numbers(ratings, self.panel(ratings))
            return items, found.in_order()
        rows = _rows_by_item(ratings)
        counts, kept = _counts_in(ratings, ratings.patterns_in(rows))
        return _named(rows, kept), counts

    def _numbers_by_item(self, ratings: Ratings) -> _Numbered:
        if ratings.scale.continuous:
            return _numbers(ratings, self.panel(ratings))
        rows = _rows_by_item(ratings)
        labels, kept = _labels_in(ratings, self.panel(ratings), ratings.patterns_in(rows))
        return _named(rows, kept), labels.in_numbers()

    def aligned(
        self, one: Ratings, other: Ratings
    ) -> tuple[LabelsByRater, LabelsByRater] | tuple[NumbersByRater, NumbersByRater]:
        """Both rounds have the same items, row by row. An item that a round lacks has no labels
        there.
        """
        _refuse_apart(one, other)
        if one.scale.continuous or other.scale.continuous:
            found = self._numbers_by_item(one), self._numbers_by_item(other)
            return _aligned_numbers((one, other), found)
        words, items, clusters = _joined_by_item(one, other)
        panels = [self.panel(each) for each in (one, other)]
        codes = [
            np.append(each.scale.canonical.positions_of(each.scale), MISSING)[
                codes_of(each, panel, said)
            ]
            for each, panel, said in zip((one, other), panels, words, strict=True)
        ]
        rows, weights, clusters = distinct_in(np.hstack(codes), items.astype(float), clusters)
        order, split = order_of_raters(Said.where(rows >= 0, rows), weights), len(panels[0])
        columns = [order[order < split], order[order >= split]]
        rows, weights, clusters = distinct_in(rows[:, np.hstack(columns)], weights, clusters)
        names = [*panels[0], *panels[1]]
        first, second = (
            LabelsByRater(
                said,
                weights,
                scale=each.scale.canonical,
                raters=[names[at] for at in places],
                clusters=clusters,
            )
            for said, each, places in zip(
                np.split(rows, [split], axis=1), (one, other), columns, strict=True
            )
        )
        return first, second


def _aligned_numbers(
    rounds: tuple[Ratings, Ratings], found: tuple[_Numbered, _Numbered]
) -> tuple[NumbersByRater, NumbersByRater]:
    known = [names.to_pylist() for names, _ in found]
    items = sorted({*known[0], *known[1]})
    places = {item: place for place, item in enumerate(items)}
    rows = [np.array([places[item] for item in names], dtype=np.int64) for names in known]
    weights, clusters = np.ones(len(items)), np.full(len(items), None, dtype=object)
    for ratings, (names, said), at in zip(rounds, found, rows, strict=True):
        weights[at] = said.weights
        if "cluster" in ratings.has:
            clusters[at] = known_of(ratings, names, "cluster").to_pylist()
    together = Clusters.named(clusters) if "cluster" in rounds[0].has else None
    scale = next(each.scale for each in rounds if each.scale.continuous)

    def on_all(said: NumbersByRater, at: Codes) -> NumbersByRater:
        values = np.full((len(items), *said.values.shape[1:]), np.nan)
        values[at] = said.values
        return NumbersByRater(values, weights, scale=scale, raters=said.raters, clusters=together)

    return on_all(found[0][1], rows[0]), on_all(found[1][1], rows[1])


def index_in(values: Any, value_set: Any) -> Any:
    import pyarrow.compute as pc

    return pc.index_in(values, value_set=value_set)


def codes_of(ratings: Ratings, raters: Names, words: Codes) -> Codes:
    """The places on the scale. -1 if missing. Shape (P, R)."""
    return ratings.positions(ratings.packing.codes(words, _places(ratings, raters)))


def _places(ratings: Ratings, raters: Sequence[str]) -> list[int]:
    return [ratings.names.index(name) for name in raters]


def _columns(ratings: Ratings, raters: Names) -> Codes:
    known = {name: at for at, name in enumerate(raters)}
    return np.array([known.get(name, MISSING) for name in ratings.everyone], dtype=np.int64)


def _labels_in(
    ratings: Ratings, raters: Names, patterns: Patterns
) -> tuple[LabelsByRater, np.ndarray[Any, Any]]:
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


def _counts_in(ratings: Ratings, patterns: Patterns) -> tuple[CategoryCounts, np.ndarray[Any, Any]]:
    """The counts of the panel, and which rows are theirs."""
    places = [at for at, name in enumerate(ratings.names) if name not in ratings.classifiers]
    k = len(ratings.scale.names)
    counts, meets = np.zeros((len(patterns.n), k)), np.zeros(len(places), dtype=bool)
    for row, rater, code in ratings.packing.given(patterns.words, places):
        part, at = slice(row[0], row[-1] + 1), row - row[0]
        here = np.bincount(at * k + ratings.positions(code), minlength=k * (at[-1] + 1))
        counts[part] = here.reshape(-1, k)
        shared = (counts[part].sum(1) >= 2) & ~patterns.gold[part]
        meets[rater[shared[at]]] = True
    kept = ~patterns.gold & counts.any(1)
    made = CategoryCounts(
        counts[kept],
        patterns.items[kept].astype(float),
        scale=ratings.scale,
        n_raters=int(meets.sum()),
        clusters=_clusters(ratings, patterns.cluster[kept]),
    )
    return made, np.asarray(kept)


def _clusters(ratings: Ratings, numbers: Codes) -> Clusters | None:
    return Clusters.named(numbers) if "cluster" in ratings.has else None


def _rows_by_item(ratings: Ratings) -> "pa.Table":
    asked = f"SELECT *, CAST(1 AS BIGINT) AS items FROM {ratings.items_in_order} WHERE NOT gold"
    return ratings.session.ask(asked)


def _named(rows: "pa.Table", kept: np.ndarray[Any, Any]) -> "pa.Array":
    import pyarrow as pa

    return rows["item"].filter(pa.array(kept)).combine_chunks()


def _met_again(ratings: Ratings, raters: Names, label: str) -> "pa.Table":
    import pyarrow as pa
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
    return found["item"].combine_chunks().unique() if found.num_rows else texts_of([])


def _first_of_met_again(ratings: Ratings, raters: Names, names: "pa.Array") -> LabelsByRater:
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


def _numbers(ratings: Ratings, raters: Names) -> _Numbered:
    found = ratings.first(["item", "at", "place", "number"], raters=raters)
    names = _names_of(found)
    values = np.full((len(names), len(raters), ratings.scale.dimensions), np.nan)
    numbers = numbers_in(found["number"].combine_chunks())
    columns = _columns(ratings, raters)[whole(found["place"])]
    values[whole(found["at"]), columns] = numbers.reshape(len(columns), ratings.scale.dimensions)
    made = NumbersByRater(
        values,
        _weights(ratings, names),
        scale=ratings.scale,
        raters=raters,
        clusters=_clusters(ratings, _numbers_of_clusters(ratings.without_gold, names)),
    )
    return names, made


def _weights(ratings: Ratings, names: "pa.Array") -> np.ndarray[Any, Any]:
    if "weight" not in ratings.has:
        return np.ones(len(names))
    return whole(known_of(ratings, names, "weight")).astype(float)


def _numbers_of_clusters(ratings: Ratings, names: "pa.Array") -> Codes:
    if "cluster" not in ratings.has:
        return np.full(len(names), MISSING)
    return whole(index_in(known_of(ratings, names, "cluster"), value_set=ratings.ordered_clusters))


def known_of(ratings: Ratings, names: "pa.Array", column: str) -> Any:
    """A column of `Ratings.items` for some items, in their order."""
    found = ratings.items([column])
    return found[column].take(index_in(names, value_set=found["item"].combine_chunks()))


def _joined_by_item(
    one: Ratings, other: Ratings
) -> tuple[tuple[Codes, Codes], Codes, Clusters | None]:
    """The packed labels of a round are 0 where it lacks the item."""
    sides = {"a": one, "b": other}
    words = [[f"{s}_{w}" for w in each.packing.columns] for s, each in sides.items()]
    tables = [_side(each, side) for side, each in sides.items()]
    said = ", ".join([*words[0], *words[1]])
    found = one.session.ask(
        f"SELECT {said}, COALESCE(a.cluster, b.cluster) AS cluster, "
        "COALESCE(a.weight, b.weight, 1) AS weight, COUNT(*) AS items, MIN(item) AS first_item "
        f"FROM {tables[0]} FULL OUTER JOIN {tables[1]} USING (item) "
        f"GROUP BY {said}, COALESCE(a.cluster, b.cluster), COALESCE(a.weight, b.weight, 1) "
        "ORDER BY first_item"
    )
    first, second = (
        np.maximum(np.column_stack([whole(found[name]) for name in names]), 0) for names in words
    )
    clusters = None
    if "cluster" in one.has:
        coded = found["cluster"].combine_chunks().dictionary_encode()
        clusters = Clusters.named(whole(coded.indices))
    return (first, second), whole(found["items"]) * whole(found["weight"]), clusters


def _side(ratings: Ratings, side: str) -> str:
    words = [f"{word} AS {side}_{word}" for word in ratings.packing.columns]
    cluster = "cluster" if "cluster" in ratings.has else "CAST(NULL AS STRING) AS cluster"
    weight = "weight" if "weight" in ratings.has else "CAST(NULL AS BIGINT) AS weight"
    chosen = ", ".join(["item", *words, cluster, weight])
    return f"(SELECT {chosen} FROM ({ratings.by_item()}) AS i WHERE NOT gold) AS {side}"


ONE_EACH = {
    "cluster": (
        "clusters",
        "in different clusters of the two rounds; expected one cluster for each item. "
        "Name the clusters alike in both.",
    ),
    "weight": (
        "weight",
        "with two weights in two rounds; expected one weight for an item. "
        "Give each content its own item.",
    ),
}


def _refuse_apart(one: Ratings, other: Ratings) -> None:
    if one.session is not other.session:
        raise RatingsError(
            f"rounds: found ratings in {one.engine} and in {other.engine}; "
            "expected both in one session. Read both with the same engine and memory limit."
        )
    if ("cluster" in one.has) != ("cluster" in other.has):
        raise RatingsError(
            "clusters: found a round with clusters and one without; expected both or neither, "
            "since the rounds share items. Name the column."
        )
    for column, (what, expected) in ONE_EACH.items():
        if column not in one.has or column not in other.has:
            continue
        differ = (
            f"SELECT a.item AS item FROM {one.known} AS a JOIN {other.known} AS b "
            f"ON a.item = b.item WHERE a.{column} <> b.{column} ORDER BY item"
        )
        if items := one.table.values(differ):
            raise RatingsError(f"{what}: found {called('item', items)} {expected}")
