from collections.abc import Sequence

import numpy as np

from agreement_pipeline.ratings import Array

Point = tuple[float, float]
Points = tuple[Point, ...]
MAX_CUTS_AT_ONCE = 2_000_000


def turn_anticlockwise(points: Sequence[Sequence[float]]) -> Points:
    """The corners anticlockwise, from the smallest on, without repetitions.

    >>> turn_anticlockwise([(0, 1), (1, 1), (1, 0), (0, 0), (0, 1)])
    ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
    """
    corners = [(float(x), float(y)) for x, y in points]
    distinct = [point for place, point in enumerate(corners) if point != corners[place - 1]]
    if not distinct:
        return ()
    turned = distinct if signed_area(distinct) >= 0 else distinct[::-1]
    start = turned.index(min(turned))
    return tuple(turned[start:] + turned[:start])


def frame_of_place(place: Sequence[float]) -> tuple[float, float, float, float]:
    """The least and greatest x, and the least and greatest y, of the numbers of a drawn object.

    Two numbers are an interval, which has the height 1. Four are a box, and more of them the
    corners of a polygon. An odd count are keypoints, then the area of the body.

    >>> frame_of_place([10, 20, 30, 40]), frame_of_place([2, 7])
    ((10, 40, 20, 60), (2, 7, 0.0, 1.0))
    """
    if len(place) == 2:
        return place[0], place[1], 0.0, 1.0
    if len(place) == 4:
        x, y, width, height = place
        return x, x + width, y, y + height
    points = [point for point in points_of_place(place) if min(point) >= 0]
    xs, ys = zip(*points, strict=True)
    return min(xs), max(xs), min(ys), max(ys)


def points_of_place(place: Sequence[float]) -> list[Point]:
    """The points of a polygon or of keypoints. One that was not set is at -1."""
    numbers = place[: len(place) // 2 * 2]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def most_central_place(places: Sequence[Sequence[float]]) -> Sequence[float]:
    """The place whose frame overlaps most with the others': the highest sum of intersection over
    union. The first of several.

    >>> most_central_place([[0, 5], [0, 6], [1, 6]])
    [0, 6]
    """
    frames = [frame_of_place(place) for place in places]
    overlaps = [
        sum(_intersection_over_union(frame, other_frame) for other_frame in frames)
        for frame in frames
    ]
    best = max(round(overlap, 9) for overlap in overlaps)
    return next(p for p, o in zip(places, overlaps, strict=True) if round(o, 9) == best)


def _intersection_over_union(
    frame: tuple[float, float, float, float], other_frame: tuple[float, float, float, float]
) -> float:
    width = min(frame[1], other_frame[1]) - max(frame[0], other_frame[0])
    height = min(frame[3], other_frame[3]) - max(frame[2], other_frame[2])
    common = max(width, 0) * max(height, 0)
    sizes = [(right - left) * (low - high) for left, right, high, low in (frame, other_frame)]
    union = sum(sizes) - common
    return common / union if union else float(frame == other_frame)


def signed_area(points: Sequence[Point]) -> float:
    """The area of a polygon, above 0 if its corners go anticlockwise."""
    next_points = [*points[1:], *points[:1]]
    return sum(x * v - u * y for (x, y), (u, v) in zip(points, next_points, strict=True)) / 2


def first_crossing_sides(points: Points) -> tuple[int, int] | None:
    """The first two sides of a polygon that meet where they should not."""
    sides = list(zip(points, (*points[1:], points[0]), strict=True))
    side_ends = np.array(sides)
    lowest, highest = side_ends.min(axis=1), side_ends.max(axis=1)
    for i, side in enumerate(sides):
        later = slice(i + 2, len(sides) - (i == 0))
        is_near = ((lowest[later] <= highest[i]) & (highest[later] >= lowest[i])).all(axis=1)
        for j in (np.flatnonzero(is_near) + i + 2).tolist():
            if _sides_meet(side, sides[j]):
                return i, j
    return None


def common_area(polygon: Points, other_polygon: Points) -> float:
    """Between the corners and crossings of both, no two sides cross. So the length that both share
    on a line upwards changes evenly there, and its middle gives the area.
    """
    sides = [
        np.array(list(zip(corners, (*corners[1:], corners[0]), strict=True)))
        for corners in (polygon, other_polygon)
    ]
    turns = np.unique(
        np.concatenate([sides[0][..., 0].ravel(), sides[1][..., 0].ravel(), _crossing_xs(*sides)])
    )
    widths = np.diff(turns)
    middles = turns[:-1] + widths / 2
    all_sides = np.concatenate(sides)
    all_sides = np.take_along_axis(all_sides, np.argsort(all_sides[..., :1], axis=1), axis=1)
    is_of_polygon = np.arange(len(all_sides)) < len(sides[0])
    first_strips, last_strips = (
        np.searchsorted(middles, all_sides[:, side_end, 0]) for side_end in (0, 1)
    )
    (x, y), (u, v) = all_sides.transpose(1, 2, 0)
    area, size = 0.0, max(1, MAX_CUTS_AT_ONCE // len(all_sides))
    for start in range(0, len(middles), size):
        begin, stop = (np.clip(edges, start, start + size) for edges in (first_strips, last_strips))
        side = np.repeat(np.arange(len(all_sides)), stop - begin)
        strip = np.arange(len(side)) - np.repeat(np.cumsum(stop - begin) - stop, stop - begin)
        height = y[side] + (middles[strip] - x[side]) / (u[side] - x[side]) * (v[side] - y[side])
        order = np.lexsort((height, strip))
        is_inside = [
            np.cumsum(mask[side][order])[:-1] % 2 == 1 for mask in (is_of_polygon, ~is_of_polygon)
        ]
        shared = np.diff(height[order]) * widths[strip[order]][:-1]
        area += float(shared[is_inside[0] & is_inside[1]].sum())
    return area


def _crossing_xs(sides: Array, other_sides: Array) -> Array:
    """Where sides of two polygons cross: the x of each crossing."""
    crossings = [np.empty(0)]
    (low, high), (other_low, other_high) = (
        (bounds.min(axis=1), bounds.max(axis=1)) for bounds in (sides, other_sides)
    )
    turn, ahead = other_sides[:, 1] - other_sides[:, 0], sides[:, 1] - sides[:, 0]
    size = max(1, MAX_CUTS_AT_ONCE // len(other_sides))
    for start in range(0, len(sides), size):
        part = slice(start, start + size)
        is_near = (low[part, None] <= other_high) & (high[part, None] >= other_low)
        i, j = np.nonzero(is_near.all(axis=2))
        i += start
        determinant = ahead[i, 0] * turn[j, 1] - ahead[i, 1] * turn[j, 0]
        i, j, determinant = i[determinant != 0], j[determinant != 0], determinant[determinant != 0]
        to = other_sides[j, 0] - sides[i, 0]
        fraction_along_side = (to[:, 0] * turn[j, 1] - to[:, 1] * turn[j, 0]) / determinant
        fraction_along_other = (to[:, 0] * ahead[i, 1] - to[:, 1] * ahead[i, 0]) / determinant
        cross = (
            (fraction_along_side >= 0)
            & (fraction_along_side <= 1)
            & (fraction_along_other >= 0)
            & (fraction_along_other <= 1)
        )
        crossings.append((sides[i, 0, 0] + fraction_along_side * ahead[i, 0])[cross])
    return np.concatenate(crossings)


def _side_of_line(start: Point, stop: Point, point: Point) -> float:
    """Above 0 if the point is to the left of a line, under 0 to the right, 0 on it."""
    return (stop[0] - start[0]) * (point[1] - start[1]) - (stop[1] - start[1]) * (
        point[0] - start[0]
    )


def _sides_meet(side: tuple[Point, Point], other_side: tuple[Point, Point]) -> bool:
    """True if two sides have a point in common."""
    turns = [_side_of_line(*side, point) for point in other_side]
    other_turns = [_side_of_line(*other_side, point) for point in side]
    if turns[0] * turns[1] > 0 or other_turns[0] * other_turns[1] > 0:
        return False
    if any(turns) or any(other_turns):
        return True
    return all(
        max(min(p[axis] for p in side), min(p[axis] for p in other_side))
        <= min(max(p[axis] for p in side), max(p[axis] for p in other_side))
        for axis in (0, 1)
    )
