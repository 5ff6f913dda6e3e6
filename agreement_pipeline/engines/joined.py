"""Two rounds joined by their items, where both lie in one session."""

import numpy as np

from agreement_pipeline.engines.queries import Queries, whole
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Codes
from agreement_pipeline.statistics import Clusters
from agreement_pipeline.text import listed


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


def _in_order(found: object) -> Clusters:
    """The clusters of rows that stand in the order of their first items."""
    coded = found["cluster"].combine_chunks().dictionary_encode()  # type: ignore[index]
    return Clusters.named(coded.indices.to_numpy())


def _clustered(one: Queries, other: Queries) -> bool:
    in_clusters = ["cluster" in each.has for each in (one, other)]
    if not any(in_clusters):
        return False
    if not all(in_clusters):
        raise RatingsError(
            "clusters: found a round with clusters and one without; expected both or neither, "
            "since the rounds share items. Name the column."
        )
    known = [
        f"(SELECT item, MIN(cluster) AS cluster FROM {each.name}_rows "
        f"WHERE item IS NOT NULL GROUP BY item) AS {side}"
        for side, each in (("a", one), ("b", other))
    ]
    moved = one.ask(
        f"SELECT item FROM {known[0]} JOIN {known[1]} USING (item) "
        "WHERE a.cluster <> b.cluster ORDER BY item"
    )["item"].to_pylist()
    if moved:
        raise RatingsError(
            f"clusters: found items {listed(moved)} in different clusters of the two "
            "rounds; expected one cluster for each item. Name the clusters alike in both."
        )
    return True


__all__ = ["aligned_rows"]
