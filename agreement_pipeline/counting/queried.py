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
    as_number_array,
    as_whole_numbers_or_missing,
    no_categories_error,
    texts_as_arrow,
)
from agreement_pipeline.statistics import (
    CategoryCounts,
    Clusters,
    LabelsByRater,
    NumbersByRater,
    RatingHashes,
    ReplicatedLabels,
    ReplicatedNumbers,
    Statistic,
    canonical_order_of_raters,
    copy_with,
    merge_equal_rows,
)
from agreement_pipeline.text import called

if TYPE_CHECKING:
    import pyarrow as pa

MANY_RATERS, MAX_CELLS = 1_000, 25_000_000
"""So many cells of 8 bytes, in about five copies, take 1 GB. Few raters may fill more."""

Names = tuple[str, ...]
_ItemsAndNumbers = tuple["pa.Array", NumbersByRater]


class Counting:
    def names_with_ratings(self, ratings: Any) -> Names:
        """The raters and classifiers that rated something."""
        raise NotImplementedError

    def by_rater(self, ratings: Any, classifiers: Names = ()) -> LabelsByRater | NumbersByRater:
        """First ratings in columns: those of the panel and then of some classifiers.

        They are labels, or numbers on a scale without categories.
        """
        raise NotImplementedError

    def replicates(
        self, ratings: Any, raters: Names | None = None
    ) -> ReplicatedLabels | ReplicatedNumbers:
        """The labels that raters gave to items that they met again."""
        raise NotImplementedError

    def panel(self, ratings: Any) -> Names:
        """The raters of something who are no classifiers."""
        return tuple(
            name for name in self.names_with_ratings(ratings) if name not in ratings.classifiers
        )

    def classifiers(self, ratings: Any) -> Names:
        """The classifiers that rated something."""
        return tuple(
            name for name in self.names_with_ratings(ratings) if name in ratings.classifiers
        )

    def labels(self, ratings: Any, classifiers: Names = ()) -> LabelsByRater:
        """First ratings as codes of categories. Refused on a scale without categories."""
        statistic = self.by_rater(ratings, classifiers)
        if isinstance(statistic, NumbersByRater):
            raise no_categories_error(ratings.scale)
        return statistic

    def numbers(self, ratings: Any, classifiers: Names = ()) -> NumbersByRater:
        """First ratings as numbers; of categories, their scores."""
        statistic = self.by_rater(ratings, classifiers)
        return statistic.as_numbers() if isinstance(statistic, LabelsByRater) else statistic


StatisticT = TypeVar("StatisticT", bound=Statistic)
_CACHE = WeakKeyDictionary[Ratings, dict[tuple[object, ...], Any]]()


def _cache_by_ratings(make: Callable[..., StatisticT]) -> Callable[..., StatisticT]:
    """What is asked again of the same ratings is a copy."""

    @wraps(make)
    def cached_make(counting: Counting, ratings: Ratings, *arguments: Names) -> StatisticT:
        cached = _CACHE.setdefault(ratings, {})
        key = make, *arguments
        if key not in cached:
            cached[key] = make(counting, ratings, *arguments)
        copy: StatisticT = copy_with(cached[key])
        return copy

    return cached_make


class RatingsCounting(Counting):
    """A row has its cluster, if there are clusters.

    The panel are the raters who are no classifiers. Gold items are in no statistic, since raters
    who know them agree on them more easily than on others.
    """

    def names_with_ratings(self, ratings: Ratings) -> Names:
        rated = zip(ratings.names, ratings.n_by_place[0], strict=True)
        return tuple(name for name, n in rated if n)

    def items(self, ratings: Ratings) -> Names:
        """The items of the round that are not gold."""
        text = f"SELECT DISTINCT item FROM {ratings.own_first_ratings} WHERE NOT gold ORDER BY item"
        return tuple(ratings.table.query_column(text))

    def counts(self, ratings: Ratings) -> CategoryCounts:
        """How often the panel gave each category to the items of each distinct row."""
        if ratings.scale.continuous:
            raise no_categories_error(ratings.scale)
        return _counts_of_patterns(ratings, ratings.patterns)[0].in_canonical_order()

    @_cache_by_ratings
    def by_rater(self, ratings: Ratings, classifiers: Names = ()) -> LabelsByRater | NumbersByRater:
        raters = (*self.panel(ratings), *classifiers)
        n_rows = ratings.n_items if ratings.scale.continuous else len(ratings.patterns.n)
        if is_too_wide(n_rows, len(raters)):
            raise RatingsError(
                f"ratings: found {len(raters):,} raters, and {n_rows:,} different rows of their "
                f"labels; expected at most {MAX_CELLS:,} cells where raters are compared one by "
                "one. Leave out the rules and measures of single raters and of pairs, or judge the "
                "table in parts."
            )
        if ratings.scale.continuous:
            return _load_numbers_by_item(ratings, raters)[1].in_canonical_order()
        return _labels_of_patterns(ratings, raters, ratings.patterns)[0].in_canonical_order()

    @_cache_by_ratings
    def confident_labels(self, ratings: Ratings) -> LabelsByRater:
        """First labels of the panel with the raters' confidence; nan where it is unknown."""
        if "confidence" not in ratings.has:
            bare_labels = self.labels(ratings)
            return bare_labels.with_confidence(np.full(bare_labels.codes.shape, np.nan))
        raters = self.panel(ratings)
        places = _places_of_raters(ratings, raters)
        stated = [
            f"MAX(CASE WHEN place = {place} THEN confidence END) AS s{place}" for place in places
        ]
        of_items = [name for name in ("cluster", "weight") if name in ratings.has]
        stated_by = [f"s{place}" for place in places]
        keys = ", ".join([*ratings.packing.columns, "gold", *of_items, *stated_by])
        table = ratings.session.query(
            f"SELECT {keys}, COUNT(*) AS items FROM ({ratings.query_by_item_sql(stated)}) AS i "
            f"WHERE NOT gold GROUP BY {keys}"
        )
        labels, mask = _labels_of_patterns(ratings, raters, ratings.patterns_in(table))
        sure = np.empty(labels.codes.shape)
        for column, name in enumerate(stated_by):
            sure[:, column] = as_number_array(table[name])[mask]
        return labels.with_confidence(sure).in_canonical_order()

    @_cache_by_ratings
    def replicates(
        self, ratings: Ratings, raters: Names | None = None
    ) -> ReplicatedLabels | ReplicatedNumbers:
        """Ratings of earlier rounds count. Items met again keep a row each, and of the others only
        first labels count.
        """
        everyone, scale = raters or ratings.without_gold.raters, ratings.scale
        table = _load_replicates(ratings, everyone, "number" if scale.continuous else "code")
        names = _distinct_items(table)
        column = _column_of_everyone(ratings, everyone)[as_whole_numbers_or_missing(table["place"])]
        keys = as_whole_numbers_or_missing(table["at"]) * len(everyone) + column
        cells, cell = np.unique(keys, return_inverse=True)
        item, rater = np.divmod(cells, len(everyone))
        if not scale.continuous:
            counts = np.zeros((len(cells), len(scale.names)))
            np.add.at(counts, (cell, as_whole_numbers_or_missing(table["code"])), 1)
            if not len(cells) and everyone == self.panel(ratings):
                return ReplicatedLabels(counts, item, rater, self.labels(ratings))
            first_labels = _first_labels_of_replicated(ratings, everyone, names)
            return ReplicatedLabels(counts, item, rater, first_labels).in_canonical_order()
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        turn = np.arange(len(keys)) - starts[cell] if len(keys) else np.empty(0, np.int64)
        values = np.full((len(cells), turn.max(initial=-1) + 1, scale.dimensions), np.nan)
        values[cell, turn] = as_number_array(table["number"]).reshape(len(keys), scale.dimensions)
        return ReplicatedNumbers(
            values,
            item,
            rater,
            _weights_of_items(ratings, names),
            scale=scale,
            raters=everyone,
            round_raters=raters or self.panel(ratings),
            clusters=_clusters_if_known(ratings, _cluster_numbers_of_items(ratings, names)),
        ).in_canonical_order()

    def by_item(self, ratings: Ratings) -> "tuple[pa.Array, CategoryCounts | NumbersByRater]":
        """The names of the items, and a row of the panel's counts or numbers for each."""
        if ratings.scale.continuous:
            items, numbers = _load_numbers_by_item(ratings, self.panel(ratings))
            return items, numbers.in_canonical_order()
        rows = _rows_by_item(ratings)
        counts, mask = _counts_of_patterns(ratings, ratings.patterns_in(rows))
        return _item_names(rows, mask), counts

    def _numbers_by_item(self, ratings: Ratings) -> _ItemsAndNumbers:
        if ratings.scale.continuous:
            return _load_numbers_by_item(ratings, self.panel(ratings))
        rows = _rows_by_item(ratings)
        labels, mask = _labels_of_patterns(ratings, self.panel(ratings), ratings.patterns_in(rows))
        return _item_names(rows, mask), labels.as_numbers()

    def align_rounds(
        self, first_round: Ratings, second_round: Ratings
    ) -> tuple[LabelsByRater, LabelsByRater] | tuple[NumbersByRater, NumbersByRater]:
        """Both rounds have the same items, row by row. An item that a round lacks has no labels
        there.
        """
        _require_comparable_rounds(first_round, second_round)
        if first_round.scale.continuous or second_round.scale.continuous:
            numbered = self._numbers_by_item(first_round), self._numbers_by_item(second_round)
            return _align_numbers((first_round, second_round), numbered)
        words, items, clusters = _join_by_item(first_round, second_round)
        panels = [self.panel(ratings) for ratings in (first_round, second_round)]
        codes = [
            np.append(ratings.scale.canonical.positions_of(ratings.scale), MISSING)[
                unpack_codes(ratings, panel, round_words)
            ]
            for ratings, panel, round_words in zip(
                (first_round, second_round), panels, words, strict=True
            )
        ]
        rows, weights, clusters = merge_equal_rows(np.hstack(codes), items.astype(float), clusters)
        order = canonical_order_of_raters(RatingHashes.of_cells(rows >= 0, rows), weights)
        split = len(panels[0])
        columns = [order[order < split], order[order >= split]]
        rows, weights, clusters = merge_equal_rows(rows[:, np.hstack(columns)], weights, clusters)
        names = [*panels[0], *panels[1]]
        first_labels, second_labels = (
            LabelsByRater(
                label_rows,
                weights,
                scale=ratings.scale.canonical,
                raters=[names[index] for index in places],
                clusters=clusters,
            )
            for label_rows, ratings, places in zip(
                np.split(rows, [split], axis=1), (first_round, second_round), columns, strict=True
            )
        )
        return first_labels, second_labels


def _align_numbers(
    rounds: tuple[Ratings, Ratings], numbered: tuple[_ItemsAndNumbers, _ItemsAndNumbers]
) -> tuple[NumbersByRater, NumbersByRater]:
    item_lists = [names.to_pylist() for names, _ in numbered]
    items = sorted({*item_lists[0], *item_lists[1]})
    places = {item: place for place, item in enumerate(items)}
    rows = [np.array([places[item] for item in names], dtype=np.int64) for names in item_lists]
    weights, clusters = np.ones(len(items)), np.full(len(items), None, dtype=object)
    for ratings, (names, numbers), row_places in zip(rounds, numbered, rows, strict=True):
        weights[row_places] = numbers.weights
        if "cluster" in ratings.has:
            clusters[row_places] = item_column(ratings, names, "cluster").to_pylist()
    all_clusters = Clusters.from_names(clusters) if "cluster" in rounds[0].has else None
    scale = next(ratings.scale for ratings in rounds if ratings.scale.continuous)

    def spread(numbers: NumbersByRater, row_places: Codes) -> NumbersByRater:
        values = np.full((len(items), *numbers.values.shape[1:]), np.nan)
        values[row_places] = numbers.values
        return NumbersByRater(
            values, weights, scale=scale, raters=numbers.raters, clusters=all_clusters
        )

    return spread(numbered[0][1], rows[0]), spread(numbered[1][1], rows[1])


def is_too_wide(n_rows: int, n_raters: int) -> bool:
    """True if a table with a column for each of many raters would fill the memory."""
    return n_raters > MANY_RATERS and n_rows * n_raters > MAX_CELLS


def index_in(values: Any, value_set: Any) -> Any:
    import pyarrow.compute as pc

    return pc.index_in(values, value_set=value_set)


def unpack_codes(ratings: Ratings, raters: Names, words: Codes) -> Codes:
    """The places on the scale. -1 if missing. Shape (P, R)."""
    return ratings.scale_positions_of_codes(
        ratings.packing.unpack_codes(words, _places_of_raters(ratings, raters))
    )


def _places_of_raters(ratings: Ratings, raters: Sequence[str]) -> list[int]:
    place_by_name = {name: place for place, name in enumerate(ratings.names)}
    return [place_by_name[name] for name in raters]


def _column_of_everyone(ratings: Ratings, raters: Names) -> Codes:
    """The column of each rater of `everyone` among some raters, -1 for others."""
    column_by_rater = {name: column for column, name in enumerate(raters)}
    return np.array(
        [column_by_rater.get(name, MISSING) for name in ratings.everyone], dtype=np.int64
    )


def _labels_of_patterns(
    ratings: Ratings, raters: Names, patterns: Patterns
) -> tuple[LabelsByRater, np.ndarray[Any, Any]]:
    """The labels of some raters in distinct rows, and which rows have one."""
    codes = unpack_codes(ratings, raters, patterns.words)
    mask = ~patterns.gold & np.asarray((codes >= 0).any(1))
    labels = LabelsByRater(
        codes[mask],
        patterns.items[mask].astype(float),
        scale=ratings.scale,
        raters=raters,
        clusters=_clusters_if_known(ratings, patterns.cluster[mask]),
    )
    return labels, mask


def _counts_of_patterns(
    ratings: Ratings, patterns: Patterns
) -> tuple[CategoryCounts, np.ndarray[Any, Any]]:
    """The counts of the panel, and which rows are theirs."""
    places = [place for place, name in enumerate(ratings.names) if name not in ratings.classifiers]
    k = len(ratings.scale.names)
    counts, meets = np.zeros((len(patterns.n), k)), np.zeros(len(places), dtype=bool)
    for row, rater, code in ratings.packing.iterate_labels(patterns.words, places):
        part, offset = slice(row[0], row[-1] + 1), row - row[0]
        part_counts = np.bincount(
            offset * k + ratings.scale_positions_of_codes(code), minlength=k * (offset[-1] + 1)
        )
        counts[part] = part_counts.reshape(-1, k)
        shared = (counts[part].sum(1) >= 2) & ~patterns.gold[part]
        meets[rater[shared[offset]]] = True
    mask = ~patterns.gold & counts.any(1)
    category_counts = CategoryCounts(
        counts[mask],
        patterns.items[mask].astype(float),
        scale=ratings.scale,
        n_raters=int(meets.sum()),
        clusters=_clusters_if_known(ratings, patterns.cluster[mask]),
    )
    return category_counts, np.asarray(mask)


def _clusters_if_known(ratings: Ratings, numbers: Codes) -> Clusters | None:
    return Clusters.from_names(numbers) if "cluster" in ratings.has else None


def _rows_by_item(ratings: Ratings) -> "pa.Table":
    """The row of packed labels of each item that is not gold."""
    sql = f"SELECT *, CAST(1 AS BIGINT) AS items FROM {ratings.items_in_order} WHERE NOT gold"
    return ratings.session.query(sql)


def _item_names(rows: "pa.Table", mask: np.ndarray[Any, Any]) -> "pa.Array":
    import pyarrow as pa

    return rows["item"].filter(pa.array(mask)).combine_chunks()


def _load_replicates(ratings: Ratings, raters: Names, label: str) -> "pa.Table":
    """The ratings of items that some raters met again, with the items' places."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = ratings.replicated_ratings(["item", "at", "place", label])
    is_other = _column_of_everyone(ratings, raters)[as_whole_numbers_or_missing(table["place"])] < 0
    if not is_other.any():
        return table
    remaining = table.filter(pa.array(~is_other))
    names = pc.unique(remaining["item"].combine_chunks())
    item_places = pc.index_in(remaining["item"], value_set=names)
    return remaining.set_column(1, "at", item_places.cast("int64"))


def _distinct_items(table: "pa.Table") -> "pa.Array":
    return table["item"].combine_chunks().unique() if table.num_rows else texts_as_arrow([])


def _first_labels_of_replicated(
    ratings: Ratings, raters: Names, names: "pa.Array"
) -> LabelsByRater:
    """A row of first labels for each replicated item, then the distinct rows of all others."""
    codes, weights = np.full((len(names), len(raters)), MISSING), _weights_of_items(ratings, names)
    if len(names):
        first_ratings = ratings.first_ratings(
            ["item", "place", "code"], items=names.to_pylist(), raters=raters
        )
        places = as_whole_numbers_or_missing(index_in(first_ratings["item"], value_set=names))
        codes[
            places,
            _column_of_everyone(ratings, raters)[
                as_whole_numbers_or_missing(first_ratings["place"])
            ],
        ] = as_whole_numbers_or_missing(first_ratings["code"])
    all_labels, mask = _labels_of_patterns(ratings, raters, ratings.patterns)
    numbers = ratings.patterns.cluster[mask]
    own_clusters, rated = (
        _cluster_numbers_of_items(ratings.without_gold, names),
        (codes >= 0).any(1),
    )
    other_codes, remaining_weights, clusters = merge_equal_rows(
        np.vstack([all_labels.codes, codes[rated]]),
        np.concatenate([all_labels.weights, -weights[rated]]),
        Clusters(np.concatenate([numbers, own_clusters[rated]]), np.ones(1)),
    )
    assert clusters is not None
    is_left = remaining_weights > 0
    return LabelsByRater(
        np.vstack([codes, other_codes[is_left]]),
        np.concatenate([weights, remaining_weights[is_left]]),
        scale=ratings.scale,
        raters=raters,
        clusters=_clusters_if_known(
            ratings, np.concatenate([own_clusters, clusters.places[is_left]])
        ),
    )


def _load_numbers_by_item(ratings: Ratings, raters: Names) -> _ItemsAndNumbers:
    """The items, and the numbers that some raters gave them."""
    table = ratings.first_ratings(["item", "at", "place", "number"], raters=raters)
    names = _distinct_items(table)
    values = np.full((len(names), len(raters), ratings.scale.dimensions), np.nan)
    numbers = as_number_array(table["number"].combine_chunks())
    columns = _column_of_everyone(ratings, raters)[as_whole_numbers_or_missing(table["place"])]
    values[as_whole_numbers_or_missing(table["at"]), columns] = numbers.reshape(
        len(columns), ratings.scale.dimensions
    )
    statistic = NumbersByRater(
        values,
        _weights_of_items(ratings, names),
        scale=ratings.scale,
        raters=raters,
        clusters=_clusters_if_known(
            ratings, _cluster_numbers_of_items(ratings.without_gold, names)
        ),
    )
    return names, statistic


def _weights_of_items(ratings: Ratings, names: "pa.Array") -> np.ndarray[Any, Any]:
    if "weight" not in ratings.has:
        return np.ones(len(names))
    return as_whole_numbers_or_missing(item_column(ratings, names, "weight")).astype(float)


def _cluster_numbers_of_items(ratings: Ratings, names: "pa.Array") -> Codes:
    if "cluster" not in ratings.has:
        return np.full(len(names), MISSING)
    return as_whole_numbers_or_missing(
        index_in(item_column(ratings, names, "cluster"), value_set=ratings.ordered_clusters)
    )


def item_column(ratings: Ratings, names: "pa.Array", column: str) -> Any:
    """A column of `Ratings.items` for some items, in their order."""
    table = ratings.items([column])
    return table[column].take(index_in(names, value_set=table["item"].combine_chunks()))


def _join_by_item(
    first_round: Ratings, second_round: Ratings
) -> tuple[tuple[Codes, Codes], Codes, Clusters | None]:
    """The packed labels of a round are 0 where it lacks the item."""
    sides = {"a": first_round, "b": second_round}
    words = [[f"{s}_{w}" for w in ratings.packing.columns] for s, ratings in sides.items()]
    tables = [_join_side_sql(ratings, side) for side, ratings in sides.items()]
    word_list = ", ".join([*words[0], *words[1]])
    table = first_round.session.query(
        f"SELECT {word_list}, COALESCE(a.cluster, b.cluster) AS cluster, "
        "COALESCE(a.weight, b.weight, 1) AS weight, COUNT(*) AS items, MIN(item) AS first_item "
        f"FROM {tables[0]} FULL OUTER JOIN {tables[1]} USING (item) "
        f"GROUP BY {word_list}, COALESCE(a.cluster, b.cluster), COALESCE(a.weight, b.weight, 1) "
        "ORDER BY first_item"
    )
    first_words, second_words = (
        np.maximum(np.column_stack([as_whole_numbers_or_missing(table[name]) for name in names]), 0)
        for names in words
    )
    clusters = None
    if "cluster" in first_round.has:
        coded = table["cluster"].combine_chunks().dictionary_encode()
        clusters = Clusters.from_names(as_whole_numbers_or_missing(coded.indices))
    return (
        (first_words, second_words),
        as_whole_numbers_or_missing(table["items"]) * as_whole_numbers_or_missing(table["weight"]),
        clusters,
    )


def _join_side_sql(ratings: Ratings, side: str) -> str:
    """The query for one side of a join by item."""
    words = [f"{word} AS {side}_{word}" for word in ratings.packing.columns]
    cluster = "cluster" if "cluster" in ratings.has else "CAST(NULL AS STRING) AS cluster"
    weight = "weight" if "weight" in ratings.has else "CAST(NULL AS BIGINT) AS weight"
    selected = ", ".join(["item", *words, cluster, weight])
    return f"(SELECT {selected} FROM ({ratings.query_by_item_sql()}) AS i WHERE NOT gold) AS {side}"


CONFLICT_BY_COLUMN = {
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


def _require_comparable_rounds(first_round: Ratings, second_round: Ratings) -> None:
    if first_round.session is not second_round.session:
        raise RatingsError(
            f"rounds: found ratings in {first_round.engine} and in {second_round.engine}; "
            "expected both in one session. Read both with the same engine and memory limit."
        )
    if ("cluster" in first_round.has) != ("cluster" in second_round.has):
        raise RatingsError(
            "clusters: found a round with clusters and one without; expected both or neither, "
            "since the rounds share items. Name the column."
        )
    for column, (subject, expected) in CONFLICT_BY_COLUMN.items():
        if column not in first_round.has or column not in second_round.has:
            continue
        differ = (
            f"SELECT a.item AS item FROM {first_round.known} AS a JOIN {second_round.known} AS b "
            f"ON a.item = b.item WHERE a.{column} <> b.{column} ORDER BY item"
        )
        if items := first_round.table.query_column(differ):
            raise RatingsError(f"{subject}: found {called('item', items)} {expected}")
