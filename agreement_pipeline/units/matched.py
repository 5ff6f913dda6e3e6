"""Matched objects: objects of different raters that are alike are one unit.

Whoever opened the item and drew nothing like it says *none*. An item where nobody drew is one unit.

1. Objects of the same place and category are one node, whoever drew them.
2. Two nodes may be matched if no rater drew both and they are similar enough.
3. The pairs are taken in this order: the more similar first; then those of one category; then by
   the places and categories of the two nodes.
4. A pair joins its two groups if no rater is in both and every two of their nodes may be matched.

So nothing depends on the order of raters, files or objects, or on the raters' names.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from itertools import combinations, groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import TEXT, Array
from agreement_pipeline.text import counted
from agreement_pipeline.units.objects import (
    Area,
    Keypoints,
    Marked,
    Polygon,
    extents_of,
    frame_of,
    written_geometry,
)
from agreement_pipeline.units.places import NONE, NOTHING
from agreement_pipeline.units.shapes import common_area, signed_area

if TYPE_CHECKING:
    from agreement_pipeline.units.units import UnitSettings

COLUMNS = ["item", "rater", "occurrence", "label", "drawn", "cluster"]
Pair = tuple[int, int, float]
DECIMALS = 9
"""Similarities that differ by less are equal: machines differ in the digits after these."""
SIGMAS = (
    *(0.026, 0.025, 0.025, 0.035, 0.035, 0.079, 0.079, 0.072, 0.072),
    *(0.062, 0.062, 0.107, 0.107, 0.087, 0.087, 0.089, 0.089),
)
"""COCO's for the 17 points of a person: nose, eyes, ears, shoulders, elbows, wrists, hips, knees,
ankles.
"""


def similar_pairs(areas: Sequence[Area], settings: "UnitSettings") -> Iterator[Pair]:
    """Areas are in order of where they begin. Only those that overlap are compared, or
    keypoints.
    """
    if settings.similarity == "exact":
        places: dict[tuple[float, ...], list[int]] = {}
        for place, area in enumerate(areas):
            before = places.setdefault(area.geometry, [])
            yield from ((each, place, 1.0) for each in before)
            before.append(place)
        return
    if settings.similarity == "oks":
        bodies = [area for area in areas if isinstance(area, Keypoints)]
        yield from _alike_bodies(bodies, settings.sigmas or SIGMAS, settings.at_least)
        return
    left, right, top, bottom = corners = np.array([frame_of(area) for area in areas]).T
    one, other = _overlapping(corners)
    if shapes := [area.points for area in areas if isinstance(area, Polygon)]:
        both = zip(one.tolist(), other.tolist(), strict=True)
        common = np.array([common_area(shapes[i], shapes[j]) for i, j in both])
        sizes = np.array([signed_area(points) for points in shapes])
    else:
        width = np.minimum(right[one], right[other]) - np.maximum(left[one], left[other])
        height = np.minimum(bottom[one], bottom[other]) - np.maximum(top[one], top[other])
        common, sizes = width * height, (right - left) * (bottom - top)
    least = np.minimum(sizes[one], sizes[other])
    of = least if settings.similarity == "overlap" else sizes[one] + sizes[other] - common
    similarity = np.round(common / of, DECIMALS)
    alike = similarity >= round(settings.at_least, DECIMALS)
    yield from zip(
        one[alike].tolist(), other[alike].tolist(), similarity[alike].tolist(), strict=True
    )


def _alike_bodies(
    bodies: Sequence[Keypoints], sigmas: Sequence[float], at_least: float
) -> Iterator[Pair]:
    """The pairs of bodies with their object keypoint similarity, if it is `at_least` so much.

    It is the mean of exp(-d^2 / (2 s^2 k^2)) over the points that either has: d is the distance of
    the two points, s^2 the mean area of the bodies, and k = 2 sigma. A point of only one gives 0.
    """
    for body in bodies:
        if len(body.points) != len(sigmas):
            raise RatingsError(
                f"{body.where}: found a body of {counted(len(body.points), 'keypoint')}; expected "
                f"{len(sigmas)}, one for each sigma. Give the sigmas of your skeleton."
            )
    points = np.array([[point or (np.nan, np.nan) for point in body.points] for body in bodies])
    sizes, there = np.array([body.size for body in bodies]), ~np.isnan(points[..., 0])
    widths = 2 * (2 * np.array(sigmas)) ** 2
    for one in range(len(bodies) - 1):
        others = slice(one + 1, None)
        apart = np.sum((points[others] - points[one]) ** 2, axis=-1)
        scale = (sizes[others] + sizes[one]) / 2
        like = np.nan_to_num(np.exp(-apart / (scale[:, None] * widths)))
        similarity = np.round(like.sum(1) / (there[others] | there[one]).sum(1), DECIMALS)
        for place in np.flatnonzero(similarity >= round(at_least, DECIMALS)).tolist():
            yield one, one + 1 + place, float(similarity[place])


def _overlapping(corners: Array) -> tuple[np.ndarray, np.ndarray]:
    """The frames are in order of their least x."""
    left, right, top, bottom = corners
    after = np.arange(1, len(left) + 1)
    reach = np.maximum(np.searchsorted(left, right, side="left"), after)
    counts = reach - after
    one = np.repeat(np.arange(len(left)), counts)
    other = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + one + 1
    both = (top[one] < bottom[other]) & (top[other] < bottom[one])
    return one[both], other[both]


class Node(NamedTuple):
    area: Area
    raters: frozenset[Hashable]


def groups_of(
    drawn: Sequence[tuple[Hashable, Area]], settings: "UnitSettings"
) -> list[tuple[Node, ...]]:
    drawers: dict[tuple[tuple[float, ...], str], tuple[Area, set[Hashable]]] = {}
    for rater, area in drawn:
        drawers.setdefault((area.geometry, area.category), (area, set()))[1].add(rater)
    nodes = [Node(drawers[key][0], frozenset(drawers[key][1])) for key in sorted(drawers)]
    if not nodes:
        return []
    pairs = {
        (i, j): similarity
        for i, j, similarity in similar_pairs([node.area for node in nodes], settings)
        if not nodes[i].raters & nodes[j].raters
    }

    def rank(pair: tuple[int, int]) -> tuple[float, bool, tuple[int, int]]:
        one, other = (nodes[place].area.category for place in pair)
        return -pairs[pair], one != other, pair

    groups = {place: [place] for place in range(len(nodes))}
    raters = {place: set(node.raters) for place, node in enumerate(nodes)}
    home = list(range(len(nodes)))
    for i, j in sorted(pairs, key=rank):
        one, other = sorted((home[i], home[j]))
        if one == other or raters[one] & raters[other]:
            continue
        if all((min(p, q), max(p, q)) in pairs for p in groups[one] for q in groups[other]):
            for place in groups[other]:
                home[place] = one
            groups[one] += groups.pop(other)
            raters[one] |= raters.pop(other)
    return [tuple(nodes[place] for place in sorted(group)) for group in groups.values()]


def rows(
    marked: Sequence[Marked],
    settings: "UnitSettings",
    labels: Sequence[str],
    *,
    in_pairs: bool = False,
) -> pd.DataFrame:
    """In pairs, every pair of raters is matched by itself, where they met an item first. All pairs
    that marked nothing are one unit.
    """
    extents_of(marked)
    found: list[tuple[object, ...]] = []
    for item, answers in groupby(marked, key=lambda each: each.item):
        areas = {
            (each.rater, each.occurrence): each.areas
            for each in answers
            if each.occurrence == 1 or not in_pairs
        }
        names, idle = Counter[str](), dict[tuple[str, int], None]()
        for seats in combinations(areas, min(2, len(areas))) if in_pairs else [tuple(areas)]:
            drawn = [(seat, area) for seat in seats for area in areas[seat]]
            if not drawn:
                idle |= dict.fromkeys(seats)
            for group in groups_of(drawn, settings):
                name = group[0].area.place
                names[name] += 1
                unit = f"{item} {name} ({names[name]})" if names[name] > 1 else f"{item} {name}"
                said = {seat: node.area for node in group for seat in node.raters}
                found += ((unit, *seat, *_answer(said.get(seat)), item) for seat in seats)
        found += ((f"{item}{NOTHING}", *seat, NONE, None, item) for seat in idle)
    return pd.DataFrame(found, columns=COLUMNS).astype({"drawn": TEXT})


def _answer(area: Area | None) -> tuple[str, str | None]:
    if area is None:
        return NONE, None
    return area.category, written_geometry(area)
