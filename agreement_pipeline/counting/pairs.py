"""Two rounds joined by their items."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import MISSING, Array, Codes, Ratings, Scale, whole
from agreement_pipeline.statistics import (
    Clusters,
    LabelsByRater,
    distinct_in,
    hashes_of,
    order_of_raters,
)
from agreement_pipeline.text import called

Names = tuple[str, ...]


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
    found: list[str] = one.session.ask(
        f"SELECT a.item AS item FROM {one.known} AS a JOIN {other.known} AS b ON a.item = b.item "
        f"WHERE a.{column} <> b.{column} ORDER BY item"
    )["item"].to_pylist()
    return found


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


__all__ = ["Aligned"]
