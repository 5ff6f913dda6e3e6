from collections.abc import Sequence

import numpy as np

from agreement_pipeline.ratings import Array

Point = tuple[float, float]
Points = tuple[Point, ...]
MOST_CUT = 2_000_000


def one_way_round(points: Sequence[Sequence[float]]) -> Points:
    """The corners anticlockwise, from the smallest on, without repetitions.

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


def most_central(places: Sequence[Sequence[float]]) -> Sequence[float]:
    """The place whose frame overlaps most with the others': the highest sum of intersection over
    union. The first of several.

    >>> most_central([[0, 5], [0, 6], [1, 6]])
    [0, 6]
    """
    frames = [frame_of_place(place) for place in places]
    overlaps = [sum(_overlap(frame, other) for other in frames) for frame in frames]
    best = max(round(overlap, 9) for overlap in overlaps)
    return next(p for p, o in zip(places, overlaps, strict=True) if round(o, 9) == best)


def _overlap(
    one: tuple[float, float, float, float], other: tuple[float, float, float, float]
) -> float:
    across = min(one[1], other[1]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[2], other[2])
    common = max(across, 0) * max(down, 0)
    sizes = [(right - left) * (low - high) for left, right, high, low in (one, other)]
    union = sum(sizes) - common
    return common / union if union else float(one == other)


def signed_area(points: Sequence[Point]) -> float:
    ends = [*points[1:], *points[:1]]
    return sum(x * v - u * y for (x, y), (u, v) in zip(points, ends, strict=True)) / 2


def crossing(points: Points) -> tuple[int, int] | None:
    """The first two sides of a polygon that meet where they should not."""
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
    """Between the corners and crossings of both, no two sides cross. So the length that both share
    on a line upwards changes evenly there, and its middle gives the area.
    """
    sides = [np.array(list(zip(each, (*each[1:], each[0]), strict=True))) for each in (one, other)]
    turns = np.unique(
        np.concatenate([sides[0][..., 0].ravel(), sides[1][..., 0].ravel(), _met(*sides)])
    )
    widths = np.diff(turns)
    middles = turns[:-1] + widths / 2
    both = np.concatenate(sides)
    both = np.take_along_axis(both, np.argsort(both[..., :1], axis=1), axis=1)
    of_one = np.arange(len(both)) < len(sides[0])
    firsts, lasts = (np.searchsorted(middles, both[:, end, 0]) for end in (0, 1))
    (x, y), (u, v) = both.transpose(1, 2, 0)
    area, size = 0.0, max(1, MOST_CUT // len(both))
    for start in range(0, len(middles), size):
        begin, end = (np.clip(each, start, start + size) for each in (firsts, lasts))
        side = np.repeat(np.arange(len(both)), end - begin)
        at = np.arange(len(side)) - np.repeat(np.cumsum(end - begin) - end, end - begin)
        height = y[side] + (middles[at] - x[side]) / (u[side] - x[side]) * (v[side] - y[side])
        order = np.lexsort((height, at))
        inside = [np.cumsum(which[side][order])[:-1] % 2 == 1 for which in (of_one, ~of_one)]
        shared = np.diff(height[order]) * widths[at[order]][:-1]
        area += float(shared[inside[0] & inside[1]].sum())
    return area


def _met(one: Array, other: Array) -> Array:
    found = [np.empty(0)]
    (low, high), (least, most) = ((each.min(axis=1), each.max(axis=1)) for each in (one, other))
    turn, ahead = other[:, 1] - other[:, 0], one[:, 1] - one[:, 0]
    size = max(1, MOST_CUT // len(other))
    for start in range(0, len(one), size):
        part = slice(start, start + size)
        near = (low[part, None] <= most) & (high[part, None] >= least)
        i, j = np.nonzero(near.all(axis=2))
        i += start
        apart = ahead[i, 0] * turn[j, 1] - ahead[i, 1] * turn[j, 0]
        i, j, apart = i[apart != 0], j[apart != 0], apart[apart != 0]
        to = other[j, 0] - one[i, 0]
        along = (to[:, 0] * turn[j, 1] - to[:, 1] * turn[j, 0]) / apart
        beside = (to[:, 0] * ahead[i, 1] - to[:, 1] * ahead[i, 0]) / apart
        cross = (along >= 0) & (along <= 1) & (beside >= 0) & (beside <= 1)
        found.append((one[i, 0, 0] + along * ahead[i, 0])[cross])
    return np.concatenate(found)


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
