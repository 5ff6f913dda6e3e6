"""Marked items for tests, and the obvious slow matcher."""

from itertools import combinations

import numpy as np

from agreement_pipeline.units import Box, Marked, Polygon, Span


def spans(item, rater, *objects, length=24, **more):
    """Spans as (start, end, category)."""
    return Marked(item, rater, tuple(Span(*each) for each in objects), (length,), **more)


def boxes(item, rater, *objects, size=(40, 40), **more):
    """Boxes as (x, y, width, height, category)."""
    return Marked(item, rater, tuple(Box(*each) for each in objects), size, **more)


def random_image(rng, raters="abc"):
    """A small image in which many boxes are equally alike."""
    marked = []
    for rater in raters:
        drawn = {
            (
                *rng.integers(0, 6, 2).tolist(),
                *rng.integers(1, 5, 2).tolist(),
                rng.choice(["A", "B"]),
            )
            for _ in range(rng.integers(0, 5))
        }
        marked.append(boxes("i", rater, *sorted(drawn)))
    return marked


def slowly_similar(one, other, kind="iou"):
    """The similarity of two boxes of whole numbers, pixel by pixel."""
    cells = [
        {
            (x, y)
            for x in range(area.x, area.x + area.width)
            for y in range(area.y, area.y + area.height)
        }
        for area in (one, other)
    ]
    common = len(cells[0] & cells[1])
    return common / (len(cells[0] | cells[1]) if kind == "iou" else min(map(len, cells)))


def slowly_matched(marked, at_least=0.5, kind="iou"):
    """The groups of one item by the rule as it is written, one pair of nodes after the other."""
    nodes = {}
    for each in marked:
        for area in each.objects:
            nodes.setdefault((area.geometry, area.category), (area, set()))[1].add(each.rater)
    may = {
        frozenset((one, other)): slowly_similar(nodes[one][0], nodes[other][0], kind)
        for one, other in combinations(sorted(nodes), 2)
        if not nodes[one][1] & nodes[other][1]
    }
    may = {pair: like for pair, like in may.items() if like and round(like, 9) >= at_least}
    groups = [{node} for node in nodes]

    def rank(pair):
        one, other = sorted(pair)
        return -round(may[pair], 9), one[1] != other[1], one, other

    for pair in sorted(may, key=rank):
        mine, yours = (next(group for group in groups if node in group) for node in sorted(pair))
        if mine is yours:
            continue
        if all(frozenset((p, q)) in may for p in mine for q in yours):
            groups = [group for group in groups if group not in (mine, yours)] + [mine | yours]
    return sorted(sorted((*node, *sorted(nodes[node][1])) for node in group) for group in groups)


def pixels(points, size=12, fine=40):
    """The area of a polygon, by counting fine points whose ray to the right meets its sides."""
    at = (np.arange(size * fine) + 0.5) / fine
    x, y = np.meshgrid(at, at)
    inside = np.zeros_like(x, dtype=bool)
    for (x1, y1), (x2, y2) in zip(points, (*points[1:], points[0]), strict=True):
        if y1 != y2:
            cuts = (y1 > y) != (y2 > y)
            inside ^= cuts & (x < x1 + (y - y1) * (x2 - x1) / (y2 - y1))
    return inside


__all__ = ["Polygon", "boxes", "pixels", "random_image", "slowly_matched", "spans"]
