"""The mean volume of simplices of ratings, and the mean length of pairs.

Um's φ and Berry and Mielke's R are made of these means. A simplex has one corner more than there
are dimensions. A pair has two corners. Each corner is a rating by another rater. All corners belong
to one item (`d_o`), or each to any item (`d_e`).
"""

import math
from collections.abc import Callable
from functools import reduce
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agreement_pipeline.measures.coefficient import ratio
from agreement_pipeline.ratings import Array, Codes

CELLS = 8_192
DISTANCES = 1_200_000_000
FEWEST_REPLICATES = 50
SEED = 2004

Plane = NDArray[np.complex128]
Exact = Callable[[Array, Array], Array]


class _Effort(NamedTuple):
    """Up to which size volumes are exact, and how many random simplices are used beyond.

    `points` limits the sorted points in two dimensions. `simplices` limits the simplices in more.
    """

    points: int
    simplices: int
    random: int


OF_VALUE = _Effort(500_000_000, 10_000_000, 1_000_000)
OF_EACH_DRAW = _Effort(2_500_000, 200_000, 200_000)


class Volumes(NamedTuple):
    """Mean volume within items and over all items, each of shape (...).

    `error` is the Monte Carlo standard error of their quotient.
    """

    d_o: Array
    d_e: Array
    error: Array | None


def mean_volumes(points: Array, weights: Array) -> Volumes:
    """Mean volumes for points of shape (N, R, D) under item weights of shape (..., N).

    One dimension is always exact, by one sort. With three raters, two dimensions are exact up to
    11,000 items. For the weights (B, N) of resamples the limit is 790 items. Larger inputs use
    random simplices, which are the same for all resamples.
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
    """Mean lengths of pairs: exact in one dimension, or up to 20,000 items of three raters."""
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
    """Means from the weighted sum of `exact` over all items and panels.

    Without `exact`, they come from random simplices.
    """
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
    """The weights divided by their mean; nan where all are 0."""
    mean = weights.mean(-1, keepdims=True)
    multiples = np.full(weights.shape, np.nan)
    np.divide(weights, mean, out=multiples, where=mean > 0)
    return multiples


def volume(corners: Array) -> Array:
    """The volume of simplices; shape (..., D + 1, D) to (...); for two corners the length."""
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
    """True if any simplex of ratings by different raters has a volume.

    If one does, it is almost always found among a few thousand random simplices.
    """
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
    """The mean volume over the panels of raters of each item; shape (N,)."""
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
    """The weighted sum of the distances of ratings by different raters.

    The sum is over all pairs of items and of raters. It takes N log N time.
    """
    raters = points.shape[1]
    return _gaps_between(points.reshape(-1), np.repeat(weights, raters, axis=-1)) - sum(
        _gaps_between(points[:, r, 0], weights) for r in range(raters)
    )


def _gaps_between(numbers: Array, weights: Array) -> Array:
    """The weighted sum of distances over all pairs of numbers.

    Each gap counts for every pair that has one number on each side of the gap.
    """
    order = np.argsort(numbers)
    below = np.cumsum(weights[..., order], axis=-1)
    return (below[..., :-1] * (below[..., -1:] - below[..., :-1])) @ np.diff(numbers[order])


def _distances(points: Array, weights: Array) -> Array:
    """The weighted sum of the distances of two raters' ratings of any two items.

    It is computed in blocks of items, with memory linear in N.
    """
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
    """The weighted sum of triangles over any three items and all raters.

    The sum has a fan from each rater to all raters after them. From it, the fans within one of
    those raters are subtracted.
    """
    plane = points[..., 0] + 1j * points[..., 1]
    total = np.zeros(weights.shape[:-1])
    for apex in range(plane.shape[1] - 2):
        rest = plane[:, apex + 1 :]
        total += _fans(plane[:, apex], rest, weights)
        total -= sum(_fans(plane[:, apex], rest[:, [r]], weights) for r in range(rest.shape[1]))
    return total / 2


def _fans(apexes: Plane, others: Plane, weights: Array) -> Array:
    """The weighted sum of |u × v| over apexes and pairs of other points.

    u and v are the vectors from an apex (N,) to two of the other points (N, S). Apexes are taken in
    blocks. In the order of their angle, all u × v have one sign. So each vector is multiplied by
    the sum of all vectors before it. For complex numbers the product is Im(ū v).
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
    """Vectors (A, M) folded into the upper half-plane, by falling angle; and that order.

    The quotient x / y falls with the angle. It is equal for a vector and its opposite. Where y is
    0, its sign says at which end the vector lies.
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
    """Mean volumes from random simplices, in replicates.

    Each replicate uses every item of each rater of its panel once. Under equal weights the means
    are unbiased. Under other weights they are divided by the weight of the simplices used.
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
    """The mean volumes over replicates, and the error of their quotient.

    Replicates are the last axis. `d_o` holds volumes within items, `sums` holds sums of volumes,
    and `joint` holds the weights of those sums.
    """
    every = joint.mean(-1, keepdims=True)
    share, apart = ratio(joint, every), ratio(sums, every)
    within, between = d_o.mean(-1), apart.mean(-1)
    quotient = ratio(within, between)[..., None]
    error = (d_o - quotient * (apart - between[..., None] * share)).std(-1, ddof=1) / math.sqrt(
        d_o.shape[-1]
    )
    return Volumes(within, between, ratio(error, between))


def _panels(raters: int, corners: int, replicates: int, rng: np.random.Generator) -> Codes:
    """A panel of raters for each replicate; shape (replicates, corners).

    All panels are used equally often. If there are too many, random panels are used.
    """
    count = math.comb(raters, corners)
    if count > replicates:
        return rng.permuted(np.tile(np.arange(raters), (replicates, 1)), axis=1)[:, :corners]
    return np.tile(
        np.array(list(combinations(range(raters), corners))), (math.ceil(replicates / count), 1)
    )


def _random_corners(points: Array, panels: Codes, rng: np.random.Generator) -> tuple[Codes, Array]:
    """Random permutations of the items, and the corners that they give.

    For each panel there is one permutation by rater; shape (panels, corners, N). The corners have
    shape (panels, N, corners, D).
    """
    rows = rng.permuted(np.tile(np.arange(len(points)), (*panels.shape, 1)), axis=-1)
    return rows, np.swapaxes(points[rows, panels[:, :, None]], 1, 2)
