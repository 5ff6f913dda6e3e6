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
from typing import NamedTuple

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
    extent_by_item_of,
    frame_of,
    written_geometry,
)
from agreement_pipeline.units.places import NONE, NOTHING
from agreement_pipeline.units.settings import UnitSettings
from agreement_pipeline.units.shapes import common_area, signed_area

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


def similar_pairs(areas: Sequence[Area], settings: UnitSettings) -> Iterator[Pair]:
    """The places of two areas that are similar enough, with their similarity. Areas are in order of
    where they begin. Only those that overlap are compared, or keypoints.
    """
    if settings.similarity == "exact":
        places: dict[tuple[float, ...], list[int]] = {}
        for place, area in enumerate(areas):
            earlier_places = places.setdefault(area.geometry, [])
            yield from ((earlier, place, 1.0) for earlier in earlier_places)
            earlier_places.append(place)
        return
    if settings.similarity == "oks":
        bodies = [area for area in areas if isinstance(area, Keypoints)]
        yield from _alike_bodies(bodies, settings.sigmas or SIGMAS, settings.at_least)
        return
    left, right, top, bottom = corners = np.array([frame_of(area) for area in areas]).T
    first_places, second_places = _overlapping_frame_pairs(corners)
    if shapes := [area.points for area in areas if isinstance(area, Polygon)]:
        place_pairs = zip(first_places.tolist(), second_places.tolist(), strict=True)
        common = np.array([common_area(shapes[i], shapes[j]) for i, j in place_pairs])
        sizes = np.array([signed_area(points) for points in shapes])
    else:
        width = np.minimum(right[first_places], right[second_places]) - np.maximum(
            left[first_places], left[second_places]
        )
        height = np.minimum(bottom[first_places], bottom[second_places]) - np.maximum(
            top[first_places], top[second_places]
        )
        common, sizes = width * height, (right - left) * (bottom - top)
    smaller_sizes = np.minimum(sizes[first_places], sizes[second_places])
    reference_sizes = (
        smaller_sizes
        if settings.similarity == "overlap"
        else sizes[first_places] + sizes[second_places] - common
    )
    similarity = np.round(common / reference_sizes, DECIMALS)
    alike = similarity >= round(settings.at_least, DECIMALS)
    yield from zip(
        first_places[alike].tolist(),
        second_places[alike].tolist(),
        similarity[alike].tolist(),
        strict=True,
    )


def _alike_bodies(
    bodies: Sequence[Keypoints], sigmas: Sequence[float], min_similarity: float
) -> Iterator[Pair]:
    """The pairs of bodies with their object keypoint similarity, if it reaches `min_similarity`.

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
    sizes, is_set = np.array([body.size for body in bodies]), ~np.isnan(points[..., 0])
    widths = 2 * (2 * np.array(sigmas)) ** 2
    for index in range(len(bodies) - 1):
        later = slice(index + 1, None)
        squared_distances = np.sum((points[later] - points[index]) ** 2, axis=-1)
        scale = (sizes[later] + sizes[index]) / 2
        like = np.nan_to_num(np.exp(-squared_distances / (scale[:, None] * widths)))
        similarity = np.round(like.sum(1) / (is_set[later] | is_set[index]).sum(1), DECIMALS)
        for place in np.flatnonzero(similarity >= round(min_similarity, DECIMALS)).tolist():
            yield index, index + 1 + place, float(similarity[place])


def _overlapping_frame_pairs(corners: Array) -> tuple[np.ndarray, np.ndarray]:
    """The first and the second place of each pair of frames that overlap. The frames are in order
    of their least x.
    """
    left, right, top, bottom = corners
    next_places = np.arange(1, len(left) + 1)
    reach = np.maximum(np.searchsorted(left, right, side="left"), next_places)
    counts = reach - next_places
    first_places = np.repeat(np.arange(len(left)), counts)
    second_places = (
        np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + first_places + 1
    )
    overlaps = (top[first_places] < bottom[second_places]) & (
        top[second_places] < bottom[first_places]
    )
    return first_places[overlaps], second_places[overlaps]


class Node(NamedTuple):
    area: Area
    raters: frozenset[Hashable]


def group_similar_areas(
    rater_areas: Sequence[tuple[Hashable, Area]], settings: UnitSettings
) -> list[tuple[Node, ...]]:
    """Areas as groups of nodes: each group is one unit."""
    drawers: dict[tuple[tuple[float, ...], str], tuple[Area, set[Hashable]]] = {}
    for rater, area in rater_areas:
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
        first_category, second_category = (nodes[place].area.category for place in pair)
        return -pairs[pair], first_category != second_category, pair

    groups = {place: [place] for place in range(len(nodes))}
    raters = {place: set(node.raters) for place, node in enumerate(nodes)}
    home = list(range(len(nodes)))
    for i, j in sorted(pairs, key=rank):
        target, merged = sorted((home[i], home[j]))
        if target == merged or raters[target] & raters[merged]:
            continue
        if all((min(p, q), max(p, q)) in pairs for p in groups[target] for q in groups[merged]):
            for place in groups[merged]:
                home[place] = target
            groups[target] += groups.pop(merged)
            raters[target] |= raters.pop(merged)
    return [tuple(nodes[place] for place in sorted(group)) for group in groups.values()]


def build_matched_rows(
    marked: Sequence[Marked],
    settings: UnitSettings,
    labels: Sequence[str],
    *,
    in_pairs: bool = False,
) -> pd.DataFrame:
    """A row for each group of similar objects and each rater who opened the item. In pairs, every
    pair of raters is matched by itself, where they met an item first. All pairs that marked nothing
    are one unit.
    """
    extent_by_item_of(marked)
    unit_rows: list[tuple[object, ...]] = []
    for item, answers in groupby(marked, key=lambda answer: answer.item):
        areas = {
            (answer.rater, answer.occurrence): answer.areas
            for answer in answers
            if answer.occurrence == 1 or not in_pairs
        }
        names, idle = Counter[str](), dict[tuple[str, int], None]()
        for seats in combinations(areas, min(2, len(areas))) if in_pairs else [tuple(areas)]:
            seat_areas = [(seat, area) for seat in seats for area in areas[seat]]
            if not seat_areas:
                idle |= dict.fromkeys(seats)
            for group in group_similar_areas(seat_areas, settings):
                name = group[0].area.place
                names[name] += 1
                unit = f"{item} {name} ({names[name]})" if names[name] > 1 else f"{item} {name}"
                area_by_seat = {seat: node.area for node in group for seat in node.raters}
                unit_rows += (
                    (unit, *seat, *_label_and_geometry(area_by_seat.get(seat)), item)
                    for seat in seats
                )
        unit_rows += ((f"{item}{NOTHING}", *seat, NONE, None, item) for seat in idle)
    return pd.DataFrame(unit_rows, columns=COLUMNS).astype({"drawn": TEXT})


def _label_and_geometry(area: Area | None) -> tuple[str, str | None]:
    if area is None:
        return NONE, None
    return area.category, written_geometry(area)
