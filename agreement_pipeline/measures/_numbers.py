"""Disagreement of real-valued ratings at each level, free of units."""

import math
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev

from agreement_pipeline.ratings import Array, Codes
from agreement_pipeline.statistics import NumbersByRater

CHEBYSHEV_DEGREE = 15
POINTS_PER_BLOCK = 20_000


class Disagreement(NamedTuple):
    """Summed disagreement in multiples of `unit`, each of shape (...).

    `within` is over the pairs of each item, divided by its ratings less one. `between` is over all
    pairs of ratings.
    """

    within: Array
    between: Array
    unit: Array | float = 1.0


def free_of_unit(values: Array) -> tuple[Array, float]:
    """Centred values over their largest range, so that their unit decides nothing; and
    that range.
    """
    present = values[~np.isnan(values[..., 0])]
    unit = float(np.ptp(present, axis=0).max()) if len(present) else 0.0
    return (values - present.mean(0)) / unit if unit > 0 else values * 0, unit


def items_rated_by_all_with_weight(values: NumbersByRater) -> NumbersByRater:
    """The items that every rater rated and that have a weight."""
    crossed = values.items_rated_by_all()
    return crossed.select_rows(crossed.has_weight)


def items_rated_by_all_free_of_unit(values: NumbersByRater) -> tuple[Array, Array, float]:
    """The items that every rater rated: values (N, R, D), weights (..., N), and the unit."""
    crossed = items_rated_by_all_with_weight(values)
    z, unit = free_of_unit(crossed.values)
    return z, crossed.weights, unit


def squared_disagreement(values: NumbersByRater) -> Disagreement:
    item_sums, w = values.read_once(_sum_squares), values.weights
    sums, squares = w @ item_sums.sums, w @ item_sums.squares
    return Disagreement(
        w @ item_sums.within,
        2 * ((w @ values.sizes) * squares - (sums**2).sum(-1)),
        item_sums.unit * item_sums.unit,
    )


class _Squares(NamedTuple):
    """Of the numbers of each item: their sums (N, D), and the sums of their squares and of those
    of their differences (N,).
    """

    sums: Array
    squares: Array
    within: Array
    unit: float


def _sum_squares(values: NumbersByRater) -> _Squares:
    z, unit = free_of_unit(values.values)
    squares_within_items = squares_within(z, values.sizes)
    return _Squares(np.nansum(z, axis=1), np.nansum(z**2, axis=(1, 2)), squares_within_items, unit)


def squares_within(z: Array, m: Array) -> Array:
    """The squared differences over the pairs of each item, divided by its ratings less one (N,)."""
    mean = np.nansum(z, axis=1) / m[:, None]
    squared_deviations = np.nansum((z - mean[:, None]) ** 2, axis=(1, 2))
    return np.asarray(2 * m * squared_deviations / (m - 1))


def mid_ranks(values: NumbersByRater) -> Array:
    """The mid-rank of each number among all weighted ratings, centred (N, R, 1)."""
    item, number = _items_and_numbers(values)
    rank = np.unique(number, return_inverse=True)[1]
    n_c = np.bincount(rank, values.weights[item])
    ranks = np.full(values.values.shape, np.nan)
    ranks[values.rated] = (np.cumsum(n_c) - n_c / 2 - n_c.sum() / 2)[rank][:, None]
    return ranks


def rank_disagreement(values: NumbersByRater) -> Disagreement:
    """One sort, then linear time for each row of weights."""
    (item, rank), leading = values.read_once(_items_and_ranks), values.weights.shape[:-1]
    draws = (values.weights[draw] for draw in np.ndindex(leading))
    within_and_between = np.array(
        [_rank_disagreement_of_draw(w, item, rank, values.sizes) for w in draws]
    )
    return Disagreement(*np.moveaxis(within_and_between.reshape(*leading, 2), -1, 0))


def _items_and_ranks(values: NumbersByRater) -> tuple[Codes, Codes]:
    item, number = _items_and_numbers(values)
    return item, np.unique(number, return_inverse=True)[1]


def _rank_disagreement_of_draw(w: Array, item: Codes, rank: Codes, m: Array) -> tuple[float, float]:
    n_c = np.bincount(rank, w[item])
    middle = np.cumsum(n_c) - n_c / 2 - n_c.sum() / 2
    ranks = middle[rank]
    squared_deviations = np.bincount(item, (ranks - (np.bincount(item, ranks) / m)[item]) ** 2)
    return float(w @ (2 * m * squared_deviations / (m - 1))), 2 * (
        n_c.sum() * (n_c @ middle**2) - (n_c @ middle) ** 2
    )


def proportional_disagreement(values: NumbersByRater) -> Disagreement:
    """Squared differences in proportion to the sum, in linear time for each row of weights.

    The disagreement of a pair is tanh²(Δ/2), where Δ is the difference of two logarithms. The pairs
    of two short stretches of the logarithm are summed at once by a Chebyshev series, which is exact
    to rounding. Zero has no logarithm. Its disagreement with any other number is 1.
    """
    return values.read_once(_RatioDisagreement.from_numbers).compute_disagreement(values.weights)


@dataclass(frozen=True)
class _RatioDisagreement:
    """The parts that do not depend on the weights. `zeros` and `nonzeros` count numbers on each
    item (N,), and `item` is the item row of each number above 0 in their order.
    """

    within: Array
    zeros: Array
    nonzeros: Array
    item: Codes
    series: "_PairSeries"
    unit: float

    @classmethod
    def from_numbers(cls, values: NumbersByRater) -> "_RatioDisagreement":
        item, number = _items_and_numbers(values)
        largest = number.max(initial=0.0)
        unit = float(relative_difference(largest, number.min(initial=largest))) ** 2 or 1.0
        zeros = np.bincount(item[number == 0], minlength=len(values.sizes)).astype(float)
        order = np.argsort(number, kind="stable")[round(zeros.sum()) :]
        return cls(
            ratio_disagreement_within_items(values),
            zeros,
            values.sizes - zeros,
            item[order],
            _PairSeries.from_points(_logarithms(number[order])),
            unit,
        )

    def compute_disagreement(self, weights: Array) -> Disagreement:
        leading = weights.shape[:-1]
        over_nonzero_pairs = self.series.sum_over_pairs(
            weights.reshape(math.prod(leading), len(self.within)), self.item
        ).reshape(leading)
        zero_and_not = 2 * (weights @ self.zeros) * (weights @ self.nonzeros)
        return Disagreement(
            weights @ self.within / self.unit,
            (over_nonzero_pairs + zero_and_not) / self.unit,
            self.unit,
        )


def ratio_disagreement_within_items(values: NumbersByRater) -> Array:
    """The disagreement of the pairs of each item, divided by its ratings less one (N,)."""
    ordered = np.sort(values.values[:, :, 0], axis=1)[:, : int(values.sizes.max(initial=0))]
    disagreement = np.zeros(len(ordered))
    for s, t in combinations(range(ordered.shape[1]), 2):
        disagreement += 2 * relative_difference(ordered[:, s], ordered[:, t]) ** 2
    return disagreement / (values.sizes - 1)


def relative_difference(x: Array, y: Array) -> Array:
    """The difference of two numbers as a share of their sum; 0 where that is 0."""
    total = np.asarray(x + y)
    return np.divide(x - y, total, out=np.zeros(total.shape), where=total > 0)


@dataclass(frozen=True)
class _PairSeries:
    """Chebyshev series of tanh²(Δ/2) between stretches of the line.

    `terms` are the polynomials at each point's place in its stretch. `kernel` has the coefficients
    for two stretches 0, 1, 2, … apart.
    """

    starts: Codes
    terms: Array
    kernel: Array

    @classmethod
    def from_points(cls, points: Array) -> "_PairSeries":
        length = float(points.max(initial=0.0)) or 1.0
        count = math.ceil(length)
        place = points / length * count
        stretch = np.minimum(place.astype(np.int64), count - 1)
        nodes = chebyshev.chebpts1(CHEBYSHEV_DEGREE + 1)
        distances = np.arange(count)[:, None, None] + (nodes[:, None] - nodes) / 2
        inverse = np.linalg.inv(chebyshev.chebvander(nodes, CHEBYSHEV_DEGREE))
        kernel = np.asarray(inverse @ np.tanh(distances * length / count / 2) ** 2 @ inverse.T)
        return cls(
            np.searchsorted(stretch, np.arange(count + 1)),
            np.asarray(
                chebyshev.chebvander(2 * (place - stretch) - 1, CHEBYSHEV_DEGREE).T, dtype=float
            ),
            kernel,
        )

    def sum_over_pairs(self, weights: Array, item: Codes) -> Array:
        count, by_item = len(self.kernel), np.ascontiguousarray(weights.T)
        sums = np.zeros((CHEBYSHEV_DEGREE + 1, count, len(weights)))
        for stretch, (stretch_start, stretch_end) in enumerate(pairwise(self.starts.tolist())):
            for block_start in range(stretch_start, stretch_end, POINTS_PER_BLOCK):
                points = slice(block_start, min(block_start + POINTS_PER_BLOCK, stretch_end))
                sums[:, stretch] += self.terms[:, points] @ by_item[item[points]]
        pairs = [
            np.einsum(
                "ksb,kl,lsb->b", sums[:, d:], self.kernel[d], sums[:, : count - d], optimize=True
            )
            for d in range(count)
        ]
        return np.asarray(2 * sum(pairs) - pairs[0])


def _logarithms(numbers: Array) -> Array:
    """The logarithms of numbers above 0, less that of the smallest."""
    # Near the smallest number log1p keeps the digits that the difference of two logarithms loses.
    smallest = numbers.min(initial=np.inf)
    below_twice, above_twice = np.minimum(numbers, 2 * smallest), np.maximum(numbers, 2 * smallest)
    return np.asarray(
        np.log1p((below_twice - smallest) / smallest) + (np.log(above_twice) - np.log(2 * smallest))
    )


def _items_and_numbers(values: NumbersByRater) -> tuple[Codes, Array]:
    """The item row and the number of each rating, item by item."""
    return np.nonzero(values.rated)[0], values.values[:, :, 0][values.rated]
