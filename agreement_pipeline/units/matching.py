"""Which objects of different raters are one unit.

1. Objects of the same place and category are one node, whoever drew them.
2. Two nodes may be matched if no rater drew both and they are similar enough.
3. The pairs are taken in this order: the more similar first; then those of one category; then by
   the places and categories of the two nodes.
4. A pair joins its two groups if no rater is in both and every two of their nodes may be matched.

Nothing here depends on the order of raters, files or objects, or on the raters' names. No two pairs
have the same place in the order, since no two nodes have the same place and category.
"""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from agreement_pipeline.units.objects import Area
from agreement_pipeline.units.rule import UnitSettings
from agreement_pipeline.units.similarity import similar_pairs


class Node(NamedTuple):
    """Objects of one place and category, and who drew them."""

    area: Area
    raters: frozenset[Hashable]


Group = tuple[Node, ...]


def groups_of(drawn: Sequence[tuple[Hashable, Area]], settings: UnitSettings) -> list[Group]:
    """The groups of objects that are one unit, in the order of their first places."""
    nodes = _nodes(drawn)
    if not nodes:
        return []
    pairs = {
        (i, j): similarity
        for i, j, similarity in similar_pairs([node.area for node in nodes], settings)
        if not nodes[i].raters & nodes[j].raters
    }
    groups = {place: [place] for place in range(len(nodes))}
    raters = {place: set(node.raters) for place, node in enumerate(nodes)}
    home = list(range(len(nodes)))
    for i, j in sorted(pairs, key=lambda pair: _rank(pair, pairs[pair], nodes)):
        one, other = sorted((home[i], home[j]))
        if one == other or raters[one] & raters[other]:
            continue
        if all((min(p, q), max(p, q)) in pairs for p in groups[one] for q in groups[other]):
            for place in groups[other]:
                home[place] = one
            groups[one] += groups.pop(other)
            raters[one] |= raters.pop(other)
    return [tuple(nodes[place] for place in sorted(group)) for group in groups.values()]


def _nodes(drawn: Sequence[tuple[Hashable, Area]]) -> list[Node]:
    found: dict[tuple[tuple[float, ...], str], tuple[Area, set[Hashable]]] = {}
    for rater, area in drawn:
        found.setdefault((area.geometry, area.category), (area, set()))[1].add(rater)
    return [Node(found[key][0], frozenset(found[key][1])) for key in sorted(found)]


def _rank(
    pair: tuple[int, int], similarity: float, nodes: Sequence[Node]
) -> tuple[float, bool, tuple[int, int]]:
    one, other = (nodes[place].area.category for place in pair)
    return -similarity, one != other, pair
