"""Agreement on ratings that are vectors of numbers, in a fixed panel of raters.

Disagreement is how far apart the points of one item lie. Chance is how far apart points of
different raters lie when their items are drawn anew. Berry and Mielke take the distance of two
points, Janson and Olsson its square, and Um the volume of a simplex.

Distances depend on the units of the dimensions: one with larger numbers counts more. Volumes do
not, but they vanish where the dimensions are linearly dependent, and they forgive a disagreement if
two raters agree against a third. There are b raters of n items. On a single item all are 0.
"""

import math
from collections.abc import Callable
from functools import partial, reduce
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agreement_pipeline.measures._numbers import items_rated_by_all_free_of_unit
from agreement_pipeline.measures.coefficient import Coefficient, ratio
from agreement_pipeline.measures.conditions import NO_CROSSED_ITEM, ONE_CROSSED_NUMBER, ONE_RATER
from agreement_pipeline.measures.icc import NUMBERS, TWO_WAY_CONVENTION
from agreement_pipeline.measures.registry import UndefinedCondition, register
from agreement_pipeline.ratings import Array, Codes, Level
from agreement_pipeline.statistics import NumbersByRater

MIN_STRETCH_RATIO = 1e-9
VECTORS: set[Level] = {*NUMBERS, "multivariate interval"}


_of_vectors = partial(
    register,
    question="inter-rater",
    needs="values",
    levels=VECTORS,
    crossed=True,
    convention=TWO_WAY_CONVENTION,
    example="""
>>> import numpy as np
>>> weight = [[71, 74, 76], [73, 80, 80], [86, 101, 93], [59, 62, 66], [71, 83, 77]]
>>> height = [[166, 171, 171], [160, 170, 165], [187, 174, 185], [161, 163, 162], [172, 182, 181]]
>>> photos, scale = np.stack([weight, height], 2), Scale(None, "multivariate interval", 2)
>>> values = NumbersByRater(photos, scale=scale, raters=("a", "b", "c"))""",
)


@_of_vectors(
    "Janson and Olsson's ι",
    bounds=(-1.0, 1.0),
    undefined=(ONE_RATER, NO_CROSSED_ITEM, ONE_CROSSED_NUMBER),
    source="Janson, H. & Olsson, U. (2001), doi:10.1177/00131640121971239",
)
def janson_olsson_iota(values: NumbersByRater) -> Coefficient:
    r"""Agreement beyond chance on vectors of numbers, by the squared distance between two ratings.

    .. math:: \iota = 1 - \frac{d_o}{d_e}, \qquad
       d_o = \frac{1}{n \binom{b}{2}} \sum_i \sum_{s<t} \lVert x_{si} - x_{ti} \rVert^2, \qquad
       d_e = \frac{1}{n^2 \binom{b}{2}} \sum_i \sum_j \sum_{s<t} \lVert x_{si} - x_{tj} \rVert^2

    In one dimension ι is `lin_ccc`.

    Examples
    --------
    >>> round(float(janson_olsson_iota(values).value), 3)
    0.755
    """
    z, w, unit = items_rated_by_all_free_of_unit(values)
    total, b = w.sum(-1), np.asarray(float(z.shape[1]))
    squares = ratio(w @ (z**2).sum((1, 2)), total)
    means = ratio(np.tensordot(w, z, axes=1), total[..., None, None])
    rater_products = (means.sum(-2) ** 2).sum(-1) - (means**2).sum((-2, -1))
    d_o = ratio(w @ ((z - z.mean(1, keepdims=True)) ** 2).sum((1, 2)), total * (b - 1) / 2)
    d_e = ratio((b - 1) * squares - rater_products, b * (b - 1) / 2)
    return Coefficient(1 - ratio(d_o, d_e), observed=d_o * unit * unit, expected=d_e * unit * unit)


@_of_vectors(
    "Berry and Mielke's R",
    bounds=(-1.0, 1.0),
    undefined=(ONE_RATER, NO_CROSSED_ITEM, ONE_CROSSED_NUMBER),
    expensive=True,
    source="Berry, K. J. & Mielke, P. W. (1988), doi:10.1177/0013164488484007",
)
def berry_mielke_r(values: NumbersByRater) -> Coefficient:
    r"""Agreement beyond chance on vectors of numbers, by the distance between two ratings.

    .. math:: R = 1 - \frac{\delta}{\mu_\delta}, \qquad
       \delta = \frac{1}{n \binom{b}{2}} \sum_i \sum_{s<t} \lVert x_{si} - x_{ti} \rVert, \qquad
       \mu_\delta = \frac{1}{n^2 \binom{b}{2}} \sum_i \sum_j \sum_{s<t}
       \lVert x_{si} - x_{tj} \rVert

    R is exact in one dimension, or up to 20,000 items by three raters. Beyond that,
    :math:`\mu_\delta` comes from a million random pairs or more, always the same ones.
    `monte_carlo_error` is the standard error that they leave. It is too small where a few ratings
    lie far from all others.

    Examples
    --------
    >>> round(float(berry_mielke_r(values).value), 3)
    0.499
    """
    z, w, unit = items_rated_by_all_free_of_unit(values)
    delta, mu, error = mean_distances(z, w)
    return Coefficient(
        1 - ratio(delta, mu),
        observed=delta * unit,
        expected=mu * unit,
        monte_carlo_error=error,
    )


def _have_points_no_volume(values: NumbersByRater) -> bool:
    points, unit = _whiten(items_rated_by_all_free_of_unit(values)[0])
    items, raters, dimensions = points.shape
    if unit == 0 or not items or raters <= dimensions:
        return True
    # If any simplex has a volume, a few thousand random ones almost always show it.
    rng = np.random.default_rng(SEED)
    panels = _draw_panels(raters, dimensions + 1, max(1, CELLS_PER_BLOCK // items), rng)
    if (simplex_volume(_draw_corners(points, panels, rng)[1]) > 1e-9).any():
        return False
    return not (mean_volumes(points, np.ones(items)).d_e > 1e-12).any()


@_of_vectors(
    "Um's φ",
    bounds=(-np.inf, 1.0),
    undefined=(
        UndefinedCondition(
            "there are fewer raters than a simplex has corners (the number of dimensions plus one)",
            lambda values: values.n_raters < values.scale.dimensions + 1,
        ),
        NO_CROSSED_ITEM,
        UndefinedCondition(
            "every simplex of ratings by different raters has volume 0, "
            "for example because the dimensions are linearly dependent",
            _have_points_no_volume,
        ),
    ),
    cannot_hold="it does not see raters who answer at random if they are fewer than the "
    "dimensions and the others agree. Use janson_olsson_iota",
    expensive=True,
    source="Um, Y. (2004). A new agreement measure for interval multivariate observations. "
    "J. Korean Data & Information Science Society 15(1), 263-271",
)
def um_phi(values: NumbersByRater) -> Coefficient:
    r"""Agreement beyond chance on vectors of numbers, by the volume of the simplex of ratings.

    In c dimensions, up to c - 1 raters may answer at random without lowering φ if the others agree
    exactly. Read φ beside `janson_olsson_iota`.

    .. math:: \phi = 1 - \frac{d_o}{d_e}, \qquad
       d_o = \frac{1}{n \binom{b}{w}} \sum_i \sum_{s_1 < \dots < s_w}
       \Delta(x_{s_1 i}, \dots, x_{s_w i}), \qquad
       d_e = \frac{1}{n^w \binom{b}{w}} \sum_{i_1} \cdots \sum_{i_w} \sum_{s_1 < \dots < s_w}
       \Delta(x_{s_1 i_1}, \dots, x_{s_w i_w})

    :math:`\Delta` is the volume of a simplex of :math:`w = c + 1` points, with its 1/c!. In one
    dimension φ is `berry_mielke_r`. Turning or skewing the dimensions does not change φ. Raters who
    differ along one line only count as agreeing.

    In one dimension φ is exact, in two up to about 11,000 items by three raters, in more up to ten
    million simplices; resamples up to 790 items, and up to 200,000 simplices. Beyond that, a
    million random simplices give the value, as for `berry_mielke_r`, and 200,000 serve all
    resamples.

    Examples
    --------
    >>> round(float(um_phi(values).value), 3)
    0.732
    """
    z, w, unit = items_rated_by_all_free_of_unit(values)
    points, unit = _whiten(z, unit)
    d_o, d_e, error = mean_volumes(points, w)
    return Coefficient(
        1 - ratio(d_o, d_e),
        observed=d_o * unit,
        expected=d_e * unit,
        monte_carlo_error=error,
    )


def _whiten(z: Array, unit: float = 1.0) -> tuple[Array, float]:
    """The points turned and stretched to variance 1, and the volume that 1 stands for; 0
    if flat.
    """
    points = z.reshape(-1, z.shape[-1])
    if len(points) < points.shape[1] or not np.ptp(points, axis=0).all():
        return z * 0, 0.0
    spread = points.std(0)
    _, stretch, turn = np.linalg.svd((points - points.mean(0)) / spread, full_matrices=False)
    if stretch[-1] <= stretch[0] * MIN_STRETCH_RATIO:
        return z * 0, 0.0
    stretch = stretch / np.sqrt(len(points))
    return (z - points.mean(0)) / spread @ turn.T / stretch, float(np.prod(unit * spread * stretch))


CELLS_PER_BLOCK = 8_192
MAX_EXACT_DISTANCES = 1_200_000_000
MIN_REPLICATES = 50
SEED = 2004

Plane = NDArray[np.complex128]


class _Effort(NamedTuple):
    """Up to how many points of the plane or simplices volumes are exact, and how many are random
    beyond.
    """

    points: int
    simplices: int
    random: int


VALUE_EFFORT = _Effort(500_000_000, 10_000_000, 1_000_000)
DRAW_EFFORT = _Effort(2_500_000, 200_000, 200_000)


class Volumes(NamedTuple):
    d_o: Array
    d_e: Array
    error: Array | None


def mean_volumes(points: Array, weights: Array) -> Volumes:
    items, raters, dimensions = points.shape
    effort = VALUE_EFFORT if weights.ndim == 1 else DRAW_EFFORT
    panels = math.comb(raters, dimensions + 1)
    if dimensions == 1:
        exact, affordable = sum_of_absolute_differences, True
    elif dimensions == 2:
        exact, affordable = _sum_of_areas, items**2 * (raters * (raters - 1) - 2) <= effort.points
    else:
        exact, affordable = _sum_of_volumes, items ** (dimensions + 1) * panels <= effort.simplices
    affordable &= dimensions == 1 or items * panels <= VALUE_EFFORT.simplices
    return _mean_simplex_volumes(
        points, weights, dimensions + 1, exact if affordable else None, effort.random
    )


def mean_distances(points: Array, weights: Array) -> Volumes:
    items, raters, dimensions = points.shape
    exact = sum_of_absolute_differences if dimensions == 1 else _sum_of_distances
    affordable = dimensions == 1 or items**2 * math.comb(raters, 2) <= MAX_EXACT_DISTANCES
    return _mean_simplex_volumes(
        points, weights, 2, exact if affordable else None, VALUE_EFFORT.random
    )


def _mean_simplex_volumes(
    points: Array,
    weights: Array,
    corners: int,
    exact: Callable[[Array, Array], Array] | None,
    simplices: int,
) -> Volumes:
    items, panels = len(points), math.comb(points.shape[1], corners)
    if not (items and panels):
        undefined = np.full(weights.shape[:-1], np.nan)
        return Volumes(undefined, undefined, None)
    mean = weights.mean(-1, keepdims=True)
    of_mean_1 = np.full(weights.shape, np.nan)
    np.divide(weights, mean, out=of_mean_1, where=mean > 0)
    if exact is None:
        return _estimate_volumes_by_sampling(points, of_mean_1, corners, simplices)
    observed = of_mean_1 @ _mean_volumes_within_items(points, corners) / items
    return Volumes(observed, exact(points, of_mean_1) / panels / float(items) ** corners, None)


def simplex_volume(corners: Array) -> Array:
    edges = corners[..., 1:, :] - corners[..., :1, :]
    count, dimensions = edges.shape[-2:]
    if count == 1:
        return np.asarray(np.linalg.norm(edges[..., 0, :], axis=-1))
    if dimensions == 2:
        u, v = edges[..., 0, :], edges[..., 1, :]
        return np.asarray(np.abs(u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0])) / 2
    return np.asarray(np.abs(np.linalg.det(edges))) / math.factorial(dimensions)


def _mean_volumes_within_items(points: Array, corners: int) -> Array:
    """The mean is over the panels of raters of each item; shape (N,)."""
    _, raters, dimensions = points.shape
    if dimensions == 1:
        return (
            np.sort(points[:, :, 0], axis=1)
            @ np.arange(1.0 - raters, raters, 2)
            / math.comb(raters, 2)
        )
    panels = list(combinations(range(raters), corners))
    return sum((simplex_volume(points[:, panel]) for panel in panels), np.zeros(len(points))) / len(
        panels
    )


def sum_of_absolute_differences(points: Array, weights: Array) -> Array:
    raters = points.shape[1]
    return _sum_of_gaps_between(points.reshape(-1), np.repeat(weights, raters, axis=-1)) - sum(
        _sum_of_gaps_between(points[:, r, 0], weights) for r in range(raters)
    )


def _sum_of_gaps_between(numbers: Array, weights: Array) -> Array:
    """Each gap between neighbours counts for every pair around it."""
    order = np.argsort(numbers)
    below = np.cumsum(weights[..., order], axis=-1)
    return (below[..., :-1] * (below[..., -1:] - below[..., :-1])) @ np.diff(numbers[order])


def _sum_of_distances(points: Array, weights: Array) -> Array:
    """It goes in blocks of items, with memory linear in N."""
    step = max(1, 8 * CELLS_PER_BLOCK // len(points))
    total = np.zeros(weights.shape[:-1])
    for start in range(0, len(points), step):
        rows = slice(start, start + step)
        pairs = combinations(range(points.shape[1]), 2)
        distances = sum(
            (_pairwise_distances(points[:, t], points[rows, s]) for s, t in pairs),
            np.zeros((len(points), 1)),
        )
        total += ((weights @ distances) * weights[..., rows]).sum(-1)
    return total


def _pairwise_distances(points: Array, other_points: Array) -> Array:
    squares = sum(
        (points[:, None, d] - other_points[None, :, d]) ** 2 for d in range(points.shape[1])
    )
    return np.sqrt(squares)


def _sum_of_areas(points: Array, weights: Array) -> Array:
    """The weighted sum of triangles over any three items and all raters.

    It is a fan from each rater to all raters after them, less the fans within one of those raters.
    """
    plane = points[..., 0] + 1j * points[..., 1]
    total = np.zeros(weights.shape[:-1])
    for apex in range(plane.shape[1] - 2):
        later_raters = plane[:, apex + 1 :]
        total += _sum_of_triangles_around(plane[:, apex], later_raters, weights)
        total -= sum(
            _sum_of_triangles_around(plane[:, apex], later_raters[:, [r]], weights)
            for r in range(later_raters.shape[1])
        )
    return total / 2


def _sum_of_triangles_around(apexes: Plane, other_points: Plane, weights: Array) -> Array:
    """The weighted sum of |u × v| over apexes and pairs of other points.

    u and v are the vectors from an apex (N,) to two of the other points (N, S). In the order of
    their angle, all u × v have one sign, so each vector is multiplied by the sum of all vectors
    before it. For complex numbers the product is Im(ū v).
    """
    other_weights = np.repeat(weights, other_points.shape[1], axis=-1)
    step = max(1, CELLS_PER_BLOCK // other_weights.shape[-1])
    total = np.zeros(weights.shape[:-1])
    for start in range(0, len(apexes), step):
        rows = slice(start, start + step)
        vectors, order = _sort_by_angle(other_points.reshape(-1) - apexes[rows, None])
        for draw in np.ndindex(total.shape):
            weighted = other_weights[draw][order] * vectors
            total[draw] += (
                weights[draw][rows]
                @ np.einsum("am,am->a", weighted.conj(), np.cumsum(weighted, axis=1)).imag
            )
    return total


def _sort_by_angle(vectors: Plane) -> tuple[Plane, Codes]:
    """Vectors (A, M) folded into the upper half-plane, by falling angle; and that order.

    Where y is 0, the sign of the quotient x / y says at which end the vector lies.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(vectors.real / vectors.imag, axis=1)
    return np.take_along_axis(vectors * np.copysign(1.0, vectors.imag), order, 1), order


def _sum_of_volumes(points: Array, weights: Array) -> Array:
    items, raters, dimensions = points.shape
    shape = (items,) * (dimensions + 1)
    total = np.zeros(weights.shape[:-1])
    for panel in combinations(range(raters), dimensions + 1):
        for start in range(0, math.prod(shape), CELLS_PER_BLOCK):
            rows = np.array(
                np.unravel_index(
                    np.arange(start, min(start + CELLS_PER_BLOCK, math.prod(shape))), shape
                )
            )
            total += weights[..., rows].prod(-2) @ simplex_volume(
                np.swapaxes(points[rows, np.array(panel)[:, None]], 0, 1)
            )
    return total


def _estimate_volumes_by_sampling(
    points: Array, weights: Array, corners: int, simplices: int
) -> Volumes:
    """Each replicate uses every item of each rater of its panel once, so the means are unbiased
    under equal weights. Under other weights they are divided by the weight of the simplices used.
    """
    items, raters, _ = points.shape
    rng = np.random.default_rng(SEED)
    panels = _draw_panels(raters, corners, max(MIN_REPLICATES, math.ceil(simplices / items)), rng)
    within_items = (
        _mean_volumes_within_items(points, corners)
        if items * math.comb(raters, corners) <= VALUE_EFFORT.simplices
        else None
    )
    d_o, sums, joint = [], [], []
    for start in range(0, len(panels), step := max(1, CELLS_PER_BLOCK // items)):
        block = panels[start : start + step]
        rows, corner_points = _draw_corners(points, block, rng)
        joint_weights = reduce(
            np.multiply, (weights[..., rows[:, corner]] for corner in range(corners))
        )
        own_volumes = (
            simplex_volume(np.swapaxes(points[:, block], 0, 1))
            if within_items is None
            else np.broadcast_to(within_items, (len(block), items))
        )
        d_o.append(weights @ own_volumes.T / items)
        sums.append((joint_weights * simplex_volume(corner_points)).sum(-1))
        joint.append(joint_weights.sum(-1))
    return _mean_over_replicates(*(np.concatenate(parts, axis=-1) for parts in (d_o, sums, joint)))


def _mean_over_replicates(d_o: Array, sums: Array, joint: Array) -> Volumes:
    mean_joint = joint.mean(-1, keepdims=True)
    share, expected_by_replicate = ratio(joint, mean_joint), ratio(sums, mean_joint)
    observed, expected = d_o.mean(-1), expected_by_replicate.mean(-1)
    quotient = ratio(observed, expected)[..., None]
    error = (d_o - quotient * (expected_by_replicate - expected[..., None] * share)).std(
        -1, ddof=1
    ) / math.sqrt(d_o.shape[-1])
    return Volumes(observed, expected, ratio(error, expected))


def _draw_panels(raters: int, corners: int, replicates: int, rng: np.random.Generator) -> Codes:
    count = math.comb(raters, corners)
    if count > replicates:
        return rng.permuted(np.tile(np.arange(raters), (replicates, 1)), axis=1)[:, :corners]
    return np.tile(
        np.array(list(combinations(range(raters), corners))), (math.ceil(replicates / count), 1)
    )


def _draw_corners(points: Array, panels: Codes, rng: np.random.Generator) -> tuple[Codes, Array]:
    rows = rng.permuted(np.tile(np.arange(len(points)), (*panels.shape, 1)), axis=-1)
    return rows, np.swapaxes(points[rows, panels[:, :, None]], 1, 2)
