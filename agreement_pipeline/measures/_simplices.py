"""The mean volume of simplices of ratings, and the mean length of pairs: what Um's φ and Berry and Mielke's R are made of.

A simplex has one corner more than there are dimensions, a pair has two; each corner is a rating by another rater, all of one item (`d_o`), or
each of any item (`d_e`).
"""

import math
from collections.abc import Callable
from functools import reduce
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agreement_pipeline.measures.registry import ratio
from agreement_pipeline.ratings import Array, Codes

CELLS = 8_192
DISTANCES = 1_200_000_000
FEWEST_REPLICATES = 50
SEED = 2004

Plane = NDArray[np.complex128]
Exact = Callable[[Array, Array], Array]


class _Effort(NamedTuple):
    """Up to how many sorted points (two dimensions) and simplices (more) the volumes are exact, and from how many random ones they come beyond."""

    points: int
    simplices: int
    random: int


OF_VALUE = _Effort(500_000_000, 10_000_000, 1_000_000)
OF_EACH_DRAW = _Effort(2_500_000, 200_000, 200_000)


class Volumes(NamedTuple):
    """Mean volume within items and over all items, each of shape (...), and the Monte Carlo standard error of their quotient."""

    d_o: Array
    d_e: Array
    error: Array | None


def mean_volumes(points: Array, weights: Array) -> Volumes:
    """Mean volumes for points of shape (N, R, D) under item weights of shape (..., N), exact where that is affordable.

    One dimension is always exact, by one sort. By three raters two dimensions are exact up to 11,000 items, and under draws of weights, shape
    (B, N), up to 790. Beyond, simplices are sampled; the same ones for every draw.
    """
    dimensions = points.shape[2]
    effort = OF_VALUE if weights.ndim == 1 else OF_EACH_DRAW
    exact = {1: sum_of_gaps, 2: _areas}.get(dimensions, _every_volume)
    return _means(
        points,
        weights,
        dimensions + 1,
        exact if _affordable(points.shape, effort) else None,
        effort.random,
    )


def mean_distances(points: Array, weights: Array) -> Volumes:
    """The same for pairs and their length, exact in one dimension, and in more up to 20,000 items by three raters."""
    items, raters, dimensions = points.shape
    if dimensions == 1:
        return _means(points, weights, 2, sum_of_gaps, 0)
    return _means(
        points,
        weights,
        2,
        _distances if items**2 * math.comb(raters, 2) <= DISTANCES else None,
        OF_VALUE.random,
    )


def _means(
    points: Array, weights: Array, corners: int, exact: Exact | None, simplices: int
) -> Volumes:
    """From the weighted sum that `exact` gives over all items and panels of raters, or from random simplices."""
    items, panels = len(points), math.comb(points.shape[1], corners)
    if not (items and panels):
        nothing = np.full(weights.shape[:-1], np.nan)
        return Volumes(nothing, nothing, None)
    weights = _of_mean_1(weights)
    if exact is None:
        return _sampled(points, weights, corners, simplices)
    return Volumes(
        weights @ _within(points, corners) / items,
        exact(points, weights) / panels / float(items) ** corners,
        None,
    )


def _of_mean_1(weights: Array) -> Array:
    """The weights in multiples of their mean; nan where all are 0."""
    mean = weights.mean(-1, keepdims=True)
    multiples = np.full(weights.shape, np.nan)
    np.divide(weights, mean, out=multiples, where=mean > 0)
    return multiples


def volume(corners: Array) -> Array:
    """The volume of simplices, shape (..., D + 1, D) to (...); of two corners the length."""
    edges = corners[..., 1:, :] - corners[..., :1, :]
    count, dimensions = edges.shape[-2:]
    if count == 1:
        return np.asarray(np.linalg.norm(edges[..., 0, :], axis=-1))
    if dimensions == 2:
        return (
            np.asarray(
                np.abs(edges[..., 0, 0] * edges[..., 1, 1] - edges[..., 0, 1] * edges[..., 1, 0])
            )
            / 2
        )
    return np.asarray(np.abs(np.linalg.det(edges))) / math.factorial(dimensions)


def some_volume(points: Array) -> bool:
    """Whether any simplex of ratings by different raters has a volume; one of a few thousand random ones almost always does."""
    items, raters, dimensions = points.shape
    if not items or raters <= dimensions:
        return False
    rng = np.random.default_rng(SEED)
    _, corners = _random_corners(
        points, _panels(raters, dimensions + 1, max(1, CELLS // items), rng), rng
    )
    return bool(np.any(volume(corners) > 1e-9)) or bool(
        np.any(mean_volumes(points, np.ones(items)).d_e > 1e-12)
    )


def _affordable(shape: tuple[int, ...], effort: _Effort) -> bool:
    items, raters, dimensions = shape
    panels = math.comb(raters, dimensions + 1)
    if dimensions == 1:
        return True
    if items * panels > OF_VALUE.simplices:
        return False
    if dimensions == 2:
        return items**2 * (raters * (raters - 1) - 2) <= effort.points
    return int(items ** (dimensions + 1)) * panels <= effort.simplices


def _within(points: Array, corners: int) -> Array:
    """The mean volume over the panels of raters of each item, shape (N,)."""
    _, raters, dimensions = points.shape
    if dimensions == 1:
        return (
            np.sort(points[:, :, 0], axis=1)
            @ np.arange(1.0 - raters, raters, 2)
            / math.comb(raters, 2)
        )
    panels = list(combinations(range(raters), corners))
    return sum((volume(points[:, panel]) for panel in panels), np.zeros(len(points))) / len(panels)


def sum_of_gaps(points: Array, weights: Array) -> Array:
    """The weighted sum of the distances of ratings by different raters, over all pairs of items and of raters; N log N time."""
    raters = points.shape[1]
    return _gaps_between(points.reshape(-1), np.repeat(weights, raters, axis=-1)) - sum(
        _gaps_between(points[:, r, 0], weights) for r in range(raters)
    )


def _gaps_between(numbers: Array, weights: Array) -> Array:
    """The same over all pairs of numbers: each gap counts for every pair that lies on its two sides."""
    order = np.argsort(numbers)
    below = np.cumsum(weights[..., order], axis=-1)
    return (below[..., :-1] * (below[..., -1:] - below[..., :-1])) @ np.diff(numbers[order])


def _distances(points: Array, weights: Array) -> Array:
    """The weighted sum of the distances of two raters' ratings of any two items, in blocks of items; memory linear in N."""
    step = max(1, 8 * CELLS // len(points))
    total = np.zeros(weights.shape[:-1])
    for start in range(0, len(points), step):
        rows = slice(start, start + step)
        pairs = combinations(range(points.shape[1]), 2)
        apart = sum(
            (_between(points[:, t], points[rows, s]) for s, t in pairs), np.zeros((len(points), 1))
        )
        total += ((weights @ apart) * weights[..., rows]).sum(-1)
    return total


def _between(one: Array, other: Array) -> Array:
    """The distance of every two points, shapes (A, D) and (N, D) to (A, N)."""
    squares = sum((one[:, None, d] - other[None, :, d]) ** 2 for d in range(one.shape[1]))
    return np.sqrt(squares)


def _areas(points: Array, weights: Array) -> Array:
    """The weighted sum of triangles over all three items and raters: fans from each rater to those after her, less the fans within one of them."""
    plane = points[..., 0] + 1j * points[..., 1]
    total = np.zeros(weights.shape[:-1])
    for apex in range(plane.shape[1] - 2):
        rest = plane[:, apex + 1 :]
        total += _fans(plane[:, apex], rest, weights)
        total -= sum(_fans(plane[:, apex], rest[:, [r]], weights) for r in range(rest.shape[1]))
    return total / 2


def _fans(apexes: Plane, others: Plane, weights: Array) -> Array:
    """The weighted sum of |u × v| over each apex (N,) and every two of the other points (N, S), as vectors u and v from it, in blocks of apexes.

    In the order of their angle u × v is of one sign, so that each vector meets the sum of all before it. For complex numbers it is Im(ū v).
    """
    of_others = np.repeat(weights, others.shape[1], axis=-1)
    step = max(1, CELLS // of_others.shape[-1])
    total = np.zeros(weights.shape[:-1])
    for start in range(0, len(apexes), step):
        rows = slice(start, start + step)
        vectors, order = _by_angle(others.reshape(-1) - apexes[rows, None])
        for draw in np.ndindex(total.shape):
            weighted = of_others[draw][order] * vectors
            total[draw] += (
                weights[draw][rows]
                @ np.einsum("am,am->a", weighted.conj(), np.cumsum(weighted, axis=1)).imag
            )
    return total


def _by_angle(vectors: Plane) -> tuple[Plane, Codes]:
    """Vectors (A, M) folded into the upper half-plane and put in falling order of their angle; and that order.

    The quotient x / y falls with the angle and is the same for a vector and its opposite; where y is 0 its sign says on which end it lies.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(vectors.real / vectors.imag, axis=1)
    return np.take_along_axis(vectors * np.copysign(1.0, vectors.imag), order, 1), order


def _every_volume(points: Array, weights: Array) -> Array:
    """The weighted sum of volumes over all items and panels of raters, one by one."""
    items, raters, dimensions = points.shape
    shape = (items,) * (dimensions + 1)
    total = np.zeros(weights.shape[:-1])
    for panel in combinations(range(raters), dimensions + 1):
        for start in range(0, math.prod(shape), CELLS):
            rows = np.array(
                np.unravel_index(np.arange(start, min(start + CELLS, math.prod(shape))), shape)
            )
            total += weights[..., rows].prod(-2) @ volume(
                np.swapaxes(points[rows, np.array(panel)[:, None]], 0, 1)
            )
    return total


def _sampled(points: Array, weights: Array, corners: int, simplices: int) -> Volumes:
    """Mean volumes from random simplices, in replicates each of which uses every item of each rater of its panel once.

    Under equal weights the means are unbiased; under others they are divided by the weight of the simplices drawn.
    """
    items, raters, _ = points.shape
    rng = np.random.default_rng(SEED)
    panels = _panels(raters, corners, max(FEWEST_REPLICATES, math.ceil(simplices / items)), rng)
    within = (
        _within(points, corners)
        if items * math.comb(raters, corners) <= OF_VALUE.simplices
        else None
    )
    d_o, sums, joint = [], [], []
    for start in range(0, len(panels), step := max(1, CELLS // items)):
        block = panels[start : start + step]
        rows, chosen = _random_corners(points, block, rng)
        together = reduce(np.multiply, (weights[..., rows[:, corner]] for corner in range(corners)))
        own = (
            volume(np.swapaxes(points[:, block], 0, 1))
            if within is None
            else np.broadcast_to(within, (len(block), items))
        )
        d_o.append(weights @ own.T / items)
        sums.append((together * volume(chosen)).sum(-1))
        joint.append(together.sum(-1))
    return _over_replicates(*(np.concatenate(parts, axis=-1) for parts in (d_o, sums, joint)))


def _over_replicates(d_o: Array, sums: Array, joint: Array) -> Volumes:
    """The means over replicates, the last axis, of volumes within items and of sums of volumes over their weights, and their quotient's error."""
    every = joint.mean(-1, keepdims=True)
    share, apart = ratio(joint, every), ratio(sums, every)
    within, between = d_o.mean(-1), apart.mean(-1)
    quotient = ratio(within, between)[..., None]
    error = (d_o - quotient * (apart - between[..., None] * share)).std(-1, ddof=1) / math.sqrt(
        d_o.shape[-1]
    )
    return Volumes(within, between, ratio(error, between))


def _panels(raters: int, corners: int, replicates: int, rng: np.random.Generator) -> Codes:
    """A panel of raters for each replicate: all of them equally often, or at random where they are too many; shape (replicates, corners)."""
    count = math.comb(raters, corners)
    if count > replicates:
        return rng.permuted(np.tile(np.arange(raters), (replicates, 1)), axis=1)[:, :corners]
    return np.tile(
        np.array(list(combinations(range(raters), corners))), (math.ceil(replicates / count), 1)
    )


def _random_corners(points: Array, panels: Codes, rng: np.random.Generator) -> tuple[Codes, Array]:
    """For each panel, a permutation of the items by rater, shape (panels, corners, N), and the corners, shape (panels, N, corners, D)."""
    rows = rng.permuted(np.tile(np.arange(len(points)), (*panels.shape, 1)), axis=-1)
    return rows, np.swapaxes(points[rows, panels[:, :, None]], 1, 2)
