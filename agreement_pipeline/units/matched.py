"""Matched objects: objects of different raters that are alike are one unit.

Whoever opened the item and drew nothing like it says *none*. An item where nobody drew is one unit.

1. Objects of the same place and category are one node, whoever drew them.
2. Two nodes may be matched if no rater drew both and they are similar enough.
3. The pairs are taken in this order: the more similar first; then those of one category; then by
   the places and categories of the two nodes.
4. A pair joins its two groups if no rater is in both and every two of their nodes may be matched.

So nothing depends on the order of raters, files or objects, or on the raters' names.
"""

import json
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import TEXT, Array
from agreement_pipeline.text import counted
from agreement_pipeline.units.marked import Marked, extents_of
from agreement_pipeline.units.objects import (
    Area,
    Box,
    Keypoints,
    Polygon,
    Segment,
    Span,
    frame_of,
)
from agreement_pipeline.units.places import NONE, NOTHING
from agreement_pipeline.units.shapes import common_area, signed_area

if TYPE_CHECKING:
    from agreement_pipeline.units.rule import UnitSettings

COLUMNS = ["item", "rater", "occurrence", "label", "drawn", "cluster"]
Pair = tuple[int, int, float]
Framed = Span | Segment | Box | Polygon
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
        yield from _same_place(areas)
        return
    if settings.similarity == "oks":
        bodies = [area for area in areas if isinstance(area, Keypoints)]
        yield from _alike_bodies(bodies, settings.sigmas or SIGMAS, settings.at_least)
        return
    framed = [area for area in areas if not isinstance(area, Keypoints)]
    corners = np.array([frame_of(area) for area in framed])
    one, other = _overlapping(corners)
    common = _common(framed, corners, one, other)
    sizes = np.array([_size(area) for area in framed])
    least = np.minimum(sizes[one], sizes[other])
    of = least if settings.similarity == "overlap" else sizes[one] + sizes[other] - common
    similarity = np.round(common / of, DECIMALS)
    alike = similarity >= round(settings.at_least, DECIMALS)
    yield from zip(
        one[alike].tolist(), other[alike].tolist(), similarity[alike].tolist(), strict=True
    )


def _same_place(areas: Sequence[Area]) -> Iterator[Pair]:
    places: dict[tuple[float, ...], list[int]] = {}
    for place, area in enumerate(areas):
        for before in places.setdefault(area.geometry, []):
            yield before, place, 1.0
        places[area.geometry].append(place)


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
    left, right, top, bottom = corners.T
    after = np.arange(1, len(left) + 1)
    reach = np.maximum(np.searchsorted(left, right, side="left"), after)
    counts = reach - after
    one = np.repeat(np.arange(len(left)), counts)
    other = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + one + 1
    both = (top[one] < bottom[other]) & (top[other] < bottom[one])
    return one[both], other[both]


def _common(areas: Sequence[Framed], corners: Array, one: np.ndarray, other: np.ndarray) -> Array:
    if isinstance(areas[0], Polygon):
        shapes = [area.points for area in areas if isinstance(area, Polygon)]
        pairs = zip(one.tolist(), other.tolist(), strict=True)
        return np.array([common_area(shapes[i], shapes[j]) for i, j in pairs])
    left, right, top, bottom = corners.T
    width = np.minimum(right[one], right[other]) - np.maximum(left[one], left[other])
    height = np.minimum(bottom[one], bottom[other]) - np.maximum(top[one], top[other])
    return np.asarray(width * height)


def _size(area: Framed) -> float:
    if isinstance(area, Polygon):
        return signed_area(area.points)
    left, right, top, bottom = frame_of(area)
    return (right - left) * (bottom - top)


class Node(NamedTuple):
    area: Area
    raters: frozenset[Hashable]


Group = tuple[Node, ...]


def groups_of(drawn: Sequence[tuple[Hashable, Area]], settings: "UnitSettings") -> list[Group]:
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


def rows(marked: Sequence[Marked], settings: "UnitSettings", labels: Sequence[str]) -> pd.DataFrame:
    extents_of(marked)
    opened: defaultdict[str, list[Marked]] = defaultdict(list)
    for each in marked:
        opened[each.item].append(each)
    found = [
        (f"{item} {name}", each.rater, each.occurrence, *_answer(said.get(_seat(each))), item)
        for item, raters in opened.items()
        for name, said in _units(raters, settings, {})
        for each in raters
    ]
    return pd.DataFrame(found, columns=COLUMNS).astype({"drawn": TEXT})


def rows_of_pairs(
    marked: Sequence[Marked], settings: "UnitSettings", labels: Sequence[str]
) -> pd.DataFrame:
    """Every pair of raters is matched by itself, where they met an item first. All pairs that
    marked nothing are one unit.
    """
    extents_of(marked)
    opened: defaultdict[str, list[Marked]] = defaultdict(list)
    for each in marked:
        if each.occurrence == 1:
            opened[each.item].append(each)
    found: list[tuple[object, ...]] = []
    for item, raters in opened.items():
        names: dict[str, int] = {}
        idle: dict[str, None] = {}
        for pair in combinations(raters, min(2, len(raters))):
            if not any(each.areas for each in pair):
                idle |= dict.fromkeys(each.rater for each in pair)
                continue
            for name, said in _units(pair, settings, names):
                found += (
                    (f"{item} {name}", each.rater, 1, *_answer(said.get(_seat(each))), item)
                    for each in pair
                )
        found += ((f"{item}{NOTHING}", rater, 1, NONE, None, item) for rater in idle)
    return pd.DataFrame(found, columns=COLUMNS).astype({"drawn": TEXT})


def _answer(area: Area | None) -> tuple[str, str | None]:
    if area is None:
        return NONE, None
    numbers = [int(number) if number == int(number) else number for number in area.geometry]
    return area.category, json.dumps(numbers)


def _units(
    raters: Sequence[Marked], settings: "UnitSettings", names: dict[str, int]
) -> Iterator[tuple[str, dict[Hashable, Area]]]:
    groups = groups_of([(_seat(each), area) for each in raters for area in each.areas], settings)
    if not groups:
        yield NOTHING.strip(), {}
    for group in groups:
        name = group[0].area.place
        names[name] = names.get(name, 0) + 1
        drawn = {rater: node.area for node in group for rater in node.raters}
        yield f"{name} ({names[name]})" if names[name] > 1 else name, drawn


def _seat(marked: Marked) -> Hashable:
    return marked.rater, marked.occurrence
