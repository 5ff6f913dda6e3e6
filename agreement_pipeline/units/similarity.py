"""How like two areas are, and which areas may be alike at all."""

from collections.abc import Iterator, Sequence

import numpy as np

from agreement_pipeline.ratings import Array
from agreement_pipeline.units.objects import Area, Box, Polygon
from agreement_pipeline.units.rule import UnitSettings
from agreement_pipeline.units.shapes import common_area, signed_area

Pair = tuple[int, int, float]
DECIMALS = 9
"""Similarities that differ by less are equal: machines differ in the digits after these."""


def similar_pairs(areas: Sequence[Area], settings: UnitSettings) -> Iterator[Pair]:
    """The pairs of areas that are similar at least as much as asked, each with how much.

    The areas are in order of where they begin. Only areas that overlap are compared.
    """
    if settings.similarity == "exact":
        yield from _same_place(areas)
        return
    corners = np.array([_frame_of(area) for area in areas])
    one, other = _overlapping(corners)
    common = _common(areas, corners, one, other)
    sizes = np.array([_size(area) for area in areas])
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


def _frame_of(area: Area) -> tuple[float, float, float, float]:
    """The least and greatest x, and the least and greatest y. An interval has the height 1."""
    if isinstance(area, Box):
        return area.x, area.x + area.width, area.y, area.y + area.height
    if isinstance(area, Polygon):
        xs, ys = zip(*area.points, strict=True)
        return min(xs), max(xs), min(ys), max(ys)
    return area.start, area.end, 0.0, 1.0


def _overlapping(corners: Array) -> tuple[np.ndarray, np.ndarray]:
    """The pairs of frames that overlap. The frames are in order of their least x."""
    left, right, top, bottom = corners.T
    after = np.arange(1, len(left) + 1)
    reach = np.maximum(np.searchsorted(left, right, side="left"), after)
    counts = reach - after
    one = np.repeat(np.arange(len(left)), counts)
    other = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + one + 1
    both = (top[one] < bottom[other]) & (top[other] < bottom[one])
    return one[both], other[both]


def _common(areas: Sequence[Area], corners: Array, one: np.ndarray, other: np.ndarray) -> Array:
    """The area that each pair shares."""
    if isinstance(areas[0], Polygon):
        shapes = [area.points for area in areas if isinstance(area, Polygon)]
        pairs = zip(one.tolist(), other.tolist(), strict=True)
        return np.array([common_area(shapes[i], shapes[j]) for i, j in pairs])
    left, right, top, bottom = corners.T
    width = np.minimum(right[one], right[other]) - np.maximum(left[one], left[other])
    height = np.minimum(bottom[one], bottom[other]) - np.maximum(top[one], top[other])
    return np.asarray(width * height)


def _size(area: Area) -> float:
    if isinstance(area, Polygon):
        return signed_area(area.points)
    left, right, top, bottom = _frame_of(area)
    return (right - left) * (bottom - top)
