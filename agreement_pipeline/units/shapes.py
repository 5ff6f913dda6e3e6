"""The geometry of intervals, boxes and polygons."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

Point = tuple[float, float]
Points = tuple[Point, ...]


def one_way_round(points: Sequence[Sequence[float]]) -> Points:
    """The corners of a polygon anticlockwise, from the smallest on, without repetitions.

    >>> one_way_round([(0, 1), (1, 1), (1, 0), (0, 0), (0, 1)])
    ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
    """
    each = [(float(x), float(y)) for x, y in points]
    kept = [point for place, point in enumerate(each) if point != each[place - 1]]
    if not kept:
        return ()
    turned = kept if signed_area(kept) >= 0 else kept[::-1]
    first = turned.index(min(turned))
    return tuple(turned[first:] + turned[:first])


def signed_area(points: Sequence[Point]) -> float:
    """The area of a polygon. It is negative if the corners go clockwise."""
    ends = [*points[1:], *points[:1]]
    return sum(x * v - u * y for (x, y), (u, v) in zip(points, ends, strict=True)) / 2


def crossing(points: Points) -> tuple[int, int] | None:
    """The first two sides of a polygon that meet where they should not; None if none do."""
    sides = list(zip(points, (*points[1:], points[0]), strict=True))
    ends = np.array(sides)
    least, most = ends.min(axis=1), ends.max(axis=1)
    for i, one in enumerate(sides):
        after = slice(i + 2, len(sides) - (i == 0))
        near = ((least[after] <= most[i]) & (most[after] >= least[i])).all(axis=1)
        for j in (np.flatnonzero(near) + i + 2).tolist():
            if _meet(one, sides[j]):
                return i, j
    return None


def common_area(one: Points, other: Points) -> float:
    """The area that two polygons share.

    A polygon is the sum of the triangles from its first corner to each side, each with a sign.
    """
    return sum(
        sign * other_sign * abs(signed_area(_clipped(triangle, other_triangle)))
        for sign, triangle in _triangles(one)
        for other_sign, other_triangle in _triangles(other)
    )


def _triangles(points: Points) -> list[tuple[int, list[Point]]]:
    found = []
    for second, third in pairwise(points[1:]):
        triangle = [points[0], second, third]
        area = signed_area(triangle)
        if area:
            found.append((1, triangle) if area > 0 else (-1, triangle[::-1]))
    return found


def _clipped(area: list[Point], by: list[Point]) -> list[Point]:
    """The part of one triangle in another, by Sutherland and Hodgman (1974)."""
    for start, end in zip(by, (*by[1:], by[0]), strict=True):
        sides = [_side(start, end, point) for point in area]
        kept: list[Point] = []
        for place, point in enumerate(area):
            before, was, now = area[place - 1], sides[place - 1], sides[place]
            if (was < 0 < now) or (now < 0 < was):
                share = was / (was - now)
                kept.append(
                    (
                        before[0] + share * (point[0] - before[0]),
                        before[1] + share * (point[1] - before[1]),
                    )
                )
            if now >= 0:
                kept.append(point)
        area = kept
    return area


def _side(start: Point, end: Point, point: Point) -> float:
    """Above 0 if the point is to the left of a line, under 0 to the right, 0 on it."""
    return (end[0] - start[0]) * (point[1] - start[1]) - (end[1] - start[1]) * (point[0] - start[0])


def _meet(one: tuple[Point, Point], other: tuple[Point, Point]) -> bool:
    sides = [_side(*one, point) for point in other]
    others = [_side(*other, point) for point in one]
    if sides[0] * sides[1] > 0 or others[0] * others[1] > 0:
        return False
    if any(sides) or any(others):
        return True
    return all(
        max(min(p[axis] for p in one), min(p[axis] for p in other))
        <= min(max(p[axis] for p in one), max(p[axis] for p in other))
        for axis in (0, 1)
    )
