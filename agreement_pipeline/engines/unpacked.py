"""Labels and numbers of items, unpacked from the answers to queries."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agreement_pipeline.engines.queries import Queries, numbers, texts, whole
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import MISSING, Array, Codes, QueriedRatings
from agreement_pipeline.statistics import (
    Clusters,
    LabelsByRater,
    NumbersByRater,
    ReplicatedNumbers,
    distinct_in,
)

Names = tuple[str, ...]


@dataclass(frozen=True)
class ItemRows:
    """Rows of items: their labels in words, how many items show each, and their cluster."""

    words: Codes
    items: Codes
    clusters: Codes


def queries_of(ratings: QueriedRatings) -> Queries:
    """What answers for some ratings."""
    assert isinstance(ratings.answers, Queries)
    return ratings.answers


def present(ratings: QueriedRatings, raters: Names) -> Names:
    """Those of some raters who rated an item that is not gold."""
    queries = queries_of(ratings)
    codes = queries.codes(_open(queries).words, places_of(queries, raters))
    there = np.asarray((codes >= 0).any(0))
    return tuple(name for name, is_there in zip(raters, there, strict=True) if is_there)


def labels_of(ratings: QueriedRatings, raters: Names) -> LabelsByRater:
    """First labels on items that are not gold. Equal rows of other raters are not yet made one."""
    return labels_in(ratings, raters, _open(queries_of(ratings)))[0]


def labels_in(
    ratings: QueriedRatings, raters: Names, rows: ItemRows, among: Codes | None = None
) -> tuple[LabelsByRater, np.ndarray]:
    """The labels of some raters in rows of items, and which rows hold any.

    `among` are the clusters to count, if they are more than those of these rows.
    """
    codes = codes_of(ratings, raters, rows.words)
    kept = np.asarray((codes >= 0).any(1))
    labels = LabelsByRater(
        codes[kept],
        rows.items[kept].astype(float),
        scale=ratings.scale,
        raters=raters,
        clusters=_clusters(rows.clusters[kept], among),
    )
    return labels, kept


def codes_of(ratings: QueriedRatings, raters: Names, words: Codes) -> Codes:
    """Positions on the scale, unpacked. -1 if missing."""
    if ratings.scale.categories is None:
        raise RatingsError(
            f"ratings: found the {ratings.scale.level} level without categories; expected a list "
            "of them to count labels. Name the categories."
        )
    queries = queries_of(ratings)
    positions = np.append(queries.positions(ratings.scale), MISSING)
    return np.asarray(positions[queries.codes(words, places_of(queries, raters))])


def labels_by_item(ratings: QueriedRatings, raters: Names) -> tuple[Names, LabelsByRater]:
    """First labels, one row an item, in the order of the items' names."""
    return _labels_of_items(ratings, raters, "NOT gold")


def labels_met_again(ratings: QueriedRatings, raters: Names) -> LabelsByRater:
    """First labels: of the items that somebody met again one row each, then of all others.

    Equal rows of the others are made one.
    """
    queries = queries_of(ratings)
    rows = _open(queries)
    labels, kept = labels_in(ratings, raters, rows)
    again = (
        f"SELECT item FROM {queries.name}_rated WHERE place IN ({_listed(queries, raters)}) "
        "GROUP BY item, place HAVING COUNT(*) >= 2"
    )
    among = np.unique(rows.clusters[kept])
    first = _labels_of_items(ratings, raters, f"NOT gold AND item IN ({again})", among)[1]
    both = [labels.clusters, first.clusters]
    joint = (
        None
        if None in both
        else Clusters(np.concatenate([each.places for each in both if each]), np.ones(len(among)))
    )
    codes, weights, clusters = distinct_in(
        np.vstack([labels.codes, first.codes]),
        np.concatenate([labels.weights, -first.weights]),
        joint,
    )
    others = weights > 0
    return LabelsByRater(
        np.vstack([first.codes, codes[others]]),
        np.concatenate([first.weights, weights[others]]),
        scale=ratings.scale,
        raters=raters,
        clusters=clusters
        and first.clusters
        and Clusters(
            np.concatenate([first.clusters.places, clusters.places[others]]), clusters.times
        ),
    )


def _labels_of_items(
    ratings: QueriedRatings, raters: Names, where: str, among: Codes | None = None
) -> tuple[Names, LabelsByRater]:
    queries = queries_of(ratings)
    text = f"SELECT * FROM ({queries.by_item()}) AS i WHERE {where} ORDER BY item"
    found = queries.ask(text)
    once = np.ones(found.num_rows, dtype=np.int64)
    rows = ItemRows(queries.words(found), once, queries.clusters(found))
    labels, kept = labels_in(ratings, raters, rows, among)
    return texts(found.filter(_mask(kept)), "item"), labels


def cells_met_again(ratings: QueriedRatings, raters: Names) -> str:
    """The query for how often a rater gave each label to an item that they met again."""
    queries = queries_of(ratings)
    return (
        "SELECT item, place, code, COUNT(*) AS n FROM ("
        f"SELECT item, place, code, COUNT(*) OVER (PARTITION BY item, place) AS met "
        f"FROM {queries.name}_rated "
        f"WHERE NOT gold AND place IN ({_listed(queries, raters)})) AS m WHERE met >= 2 "
        "GROUP BY item, place, code ORDER BY item, place, code"
    )


def numbers_of_items(ratings: QueriedRatings, raters: Names) -> tuple[Names, NumbersByRater]:
    """First numbers, one row an item, in the order of the items' names."""
    queries = queries_of(ratings)
    found = queries.ask(
        f"SELECT * FROM {queries.name}_first WHERE NOT gold "
        f"AND place IN ({_listed(queries, raters)}) ORDER BY item, place"
    )
    items, item, clusters = _by_name(queries, found)
    values = np.full((len(items), len(raters), ratings.scale.dimensions), np.nan)
    values[item, columns_of(queries, raters)[whole(found, "place")]] = _values(ratings, found)
    made = NumbersByRater(values, scale=ratings.scale, raters=raters, clusters=clusters)
    return items, made


def numbers_met_again(ratings: QueriedRatings, raters: Names) -> ReplicatedNumbers:
    """Numbers of items met again, in the order of the meetings."""
    queries, over = queries_of(ratings), "OVER (PARTITION BY item, place"
    found = queries.ask(
        "SELECT * FROM (SELECT *, "
        f"{'ROW_NUMBER() ' + over + ' ORDER BY occurrence)' if queries.again else '1'} AS turn, "
        f"COUNT(*) {over}) AS met FROM {queries.name}_rated "
        f"WHERE NOT gold AND place IN ({_listed(queries, raters)})) AS m WHERE met >= 2 "
        "ORDER BY item, place, turn"
    )
    items, item, clusters = _by_name(queries, found)
    if clusters is None and "cluster" in queries.has:
        clusters = Clusters.named([])
    column, turn = columns_of(queries, raters)[whole(found, "place")], whole(found, "turn") - 1
    cells, cell = np.unique(item * len(raters) + column, return_inverse=True)
    dimensions = ratings.scale.dimensions
    values = np.full((len(cells), turn.max(initial=-1) + 1, dimensions), np.nan)
    values[cell, turn] = _values(ratings, found)
    return ReplicatedNumbers(
        values,
        *np.divmod(cells, len(raters)),
        np.ones(len(items)),
        scale=ratings.scale,
        raters=raters,
        clusters=clusters,
    )


def places_of(queries: Queries, raters: Sequence[str]) -> list[int]:
    """The numbers of some raters in the views."""
    return [queries.raters.index(name) for name in raters]


def columns_of(queries: Queries, raters: Sequence[str]) -> Codes:
    """The column of each rater that the views know; -1 for others."""
    columns = np.full(len(queries.raters), MISSING)
    columns[places_of(queries, raters)] = np.arange(len(raters))
    return columns


def _open(queries: Queries) -> ItemRows:
    found = queries.patterns
    kept = ~found.gold
    return ItemRows(found.words[kept], found.items[kept], found.cluster[kept])


def _clusters(numbers_of: Codes, among: Codes | None = None) -> Clusters | None:
    if len(numbers_of) == 0 or numbers_of[0] == MISSING:
        return None
    known = np.unique(numbers_of) if among is None else among
    return Clusters(np.searchsorted(known, numbers_of), np.ones(len(known)))


def _by_name(queries: Queries, found: object) -> tuple[Names, Codes, Clusters | None]:
    """The items of sorted rows, the place of each row's item, and the clusters of the items."""
    coded = found["item"].combine_chunks().dictionary_encode()  # type: ignore[index]
    item = np.asarray(coded.indices.to_numpy(), dtype=np.int64)
    first = np.flatnonzero(np.diff(item, prepend=-1))
    return tuple(coded.dictionary.to_pylist()), item, _clusters(queries.clusters(found)[first])


def _values(ratings: QueriedRatings, found: object) -> Array:
    return np.column_stack([numbers(found, f"d{at}") for at in range(ratings.scale.dimensions)])


def _listed(queries: Queries, raters: Sequence[str]) -> str:
    return ", ".join(map(str, places_of(queries, raters))) or "-1"


def _mask(kept: np.ndarray) -> object:
    import pyarrow as pa

    return pa.array(kept)
