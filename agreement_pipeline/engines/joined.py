"""Two rounds joined by their items."""

from collections.abc import Sequence

import numpy as np

from agreement_pipeline.engines.queries import Queries, whole
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import MISSING, Array, Codes, Scale
from agreement_pipeline.statistics import (
    Clusters,
    LabelsByRater,
    distinct_in,
    hashes_of,
    order_of_raters,
)
from agreement_pipeline.text import called


def aligned_rows(
    one: Queries, other: Queries
) -> tuple[tuple[Codes, Codes], Codes, Clusters | None]:
    """The words of both rounds in each distinct row, how many items show it, and its cluster.

    Raises
    ------
    RatingsError
        The rounds lie in two sessions. Or one round has clusters and the other none. Or they put an
        item into different ones.
    """
    if one.session is not other.session:
        raise RatingsError(
            f"rounds: found ratings in {one.session.engine} and in {other.session.engine}; "
            "expected both in one session. Read both with the same engine and memory limit."
        )
    clustered = _clustered(one, other)
    sides = (("a", one), ("b", other))
    words = [[f"{side}_{column}" for column in each.packing.columns] for side, each in sides]
    renamed = [
        f"(SELECT item{', cluster' if clustered else ''}, "
        + ", ".join(f"{column} AS {side}_{column}" for column in each.packing.columns)
        + f" FROM ({each.by_item()}) AS i WHERE NOT gold) AS {side}"
        for side, each in sides
    ]
    known = "COALESCE(a.cluster, b.cluster)" if clustered else "NULL"
    keys = ", ".join([*words[0], *words[1]])
    joined = (
        f"SELECT {keys}, {known} AS cluster, item "
        f"FROM {renamed[0]} FULL OUTER JOIN {renamed[1]} USING (item)"
    )
    found = one.ask(
        f"SELECT {keys}, cluster, COUNT(*) AS items, MIN(item) AS first_item "
        f"FROM ({joined}) AS j GROUP BY {keys}, cluster ORDER BY first_item"
    )
    both = tuple(
        np.maximum(np.column_stack([whole(found, name) for name in names]), 0) for names in words
    )
    return (both[0], both[1]), whole(found, "items"), _in_order(found) if clustered else None


def side_by_side(
    codes: Codes,
    weights: Array,
    clusters: Clusters | None,
    scales: tuple[Scale, Scale],
    panels: tuple[tuple[str, ...], tuple[str, ...]],
) -> tuple[LabelsByRater, LabelsByRater]:
    """The labels of two rounds on the same rows. Their ratings fix the order of the raters."""
    split = len(panels[0])
    listed_anew = [
        np.append(scale.canonical.positions_of(scale), MISSING)[part]
        for part, scale in zip(np.split(codes, [split], axis=1), scales, strict=True)
    ]
    rows, weights, clusters = distinct_in(np.hstack(listed_anew), weights, clusters)
    order = order_of_raters(hashes_of(rows), weights)
    columns = [order[order < split], order[order >= split]]
    rows, weights, clusters = distinct_in(rows[:, np.hstack(columns)], weights, clusters)
    names = [*panels[0], *panels[1]]
    parts = zip(np.split(rows, [split], axis=1), scales, columns, strict=True)
    first, second = (
        LabelsByRater(
            part,
            weights,
            scale=scale.canonical,
            raters=[names[at] for at in own],
            clusters=clusters,
        )
        for part, scale, own in parts
    )
    return first, second


def one_clustered() -> RatingsError:
    """The error for two rounds, of which only one has clusters."""
    return RatingsError(
        "clusters: found a round with clusters and one without; expected both or neither, "
        "since the rounds share items. Name the column."
    )


def moved(items: Sequence[str]) -> RatingsError:
    """The error for items that stand in different clusters of two rounds."""
    return RatingsError(
        f"clusters: found {called('item', items)} in different clusters of the two "
        "rounds; expected one cluster for each item. Name the clusters alike in both."
    )


def _in_order(found: object) -> Clusters:
    """The clusters of rows that stand in the order of their first items."""
    coded = found["cluster"].combine_chunks().dictionary_encode()  # type: ignore[index]
    return Clusters.named(coded.indices.to_numpy())


def _clustered(one: Queries, other: Queries) -> bool:
    in_clusters = ["cluster" in each.has for each in (one, other)]
    if not any(in_clusters):
        return False
    if not all(in_clusters):
        raise one_clustered()
    known = [
        f"(SELECT item, MIN(cluster) AS cluster FROM {each.name}_rows "
        f"WHERE item IS NOT NULL GROUP BY item) AS {side}"
        for side, each in (("a", one), ("b", other))
    ]
    elsewhere = one.ask(
        f"SELECT item FROM {known[0]} JOIN {known[1]} USING (item) "
        "WHERE a.cluster <> b.cluster ORDER BY item"
    )["item"].to_pylist()
    if elsewhere:
        raise moved(elsewhere)
    return True


__all__ = ["aligned_rows", "moved", "one_clustered", "side_by_side"]
