"""Disagreement of real-valued ratings at each level, free of units."""

import math
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev

from agreement_pipeline.ratings import Array, Codes
from agreement_pipeline.statistics import NumbersByRater

DEGREE = 15
POINTS_AT_ONCE = 20_000


class Disagreement(NamedTuple):
    """Summed disagreement in multiples of `unit`, each of shape (...).

    `within` is over the pairs of each item, divided by its ratings less one. `between` is over all
    pairs of ratings.
    """

    within: Array
    between: Array
    unit: Array | float = 1.0


def unit_free(values: Array) -> tuple[Array, float]:
    """Centred values over their largest range, so that their unit decides nothing; and
    that range.
    """
    present = values[~np.isnan(values[..., 0])]
    unit = float(np.ptp(present, axis=0).max()) if len(present) else 0.0
    return (values - present.mean(0)) / unit if unit > 0 else values * 0, unit


def crossed_rows(values: NumbersByRater) -> NumbersByRater:
    crossed = values.crossed()
    return crossed.at(crossed.seen)


def crossed_unit_free(values: NumbersByRater) -> tuple[Array, Array, float]:
    """The items that every rater rated: values (N, R, D), weights (..., N), and the unit."""
    crossed = crossed_rows(values)
    z, unit = unit_free(crossed.values)
    return z, crossed.weights, unit


def squared_disagreement(values: NumbersByRater) -> Disagreement:
    own, w = values.kept(_squares), values.weights
    sums, squares = w @ own.sums, w @ own.squares
    return Disagreement(
        w @ own.within,
        2 * ((w @ values.sizes) * squares - (sums**2).sum(-1)),
        own.unit * own.unit,
    )


class _Squares(NamedTuple):
    """Of the numbers of each item: their sums (N, D), and the sums of their squares and of those
    of their differences (N,).
    """

    sums: Array
    squares: Array
    within: Array
    unit: float


def _squares(values: NumbersByRater) -> _Squares:
    z, unit = unit_free(values.values)
    within = squares_within(z, values.sizes)
    return _Squares(np.nansum(z, axis=1), np.nansum(z**2, axis=(1, 2)), within, unit)


def squares_within(z: Array, m: Array) -> Array:
    mean = np.nansum(z, axis=1) / m[:, None]
    apart = np.nansum((z - mean[:, None]) ** 2, axis=(1, 2))
    return np.asarray(2 * m * apart / (m - 1))


def mid_ranks(values: NumbersByRater) -> Array:
    item, number = _flat(values)
    rank = np.unique(number, return_inverse=True)[1]
    n_c = np.bincount(rank, values.weights[item])
    ranks = np.full(values.values.shape, np.nan)
    ranks[values.rated] = (np.cumsum(n_c) - n_c / 2 - n_c.sum() / 2)[rank][:, None]
    return ranks


def rank_disagreement(values: NumbersByRater) -> Disagreement:
    """One sort, then linear time for each row of weights."""
    (item, rank), leading = values.kept(_ranked), values.weights.shape[:-1]
    draws = (values.weights[draw] for draw in np.ndindex(leading))
    found = np.array([_ranks_apart(w, item, rank, values.sizes) for w in draws])
    return Disagreement(*np.moveaxis(found.reshape(*leading, 2), -1, 0))


def _ranked(values: NumbersByRater) -> tuple[Codes, Codes]:
    item, number = _flat(values)
    return item, np.unique(number, return_inverse=True)[1]


def _ranks_apart(w: Array, item: Codes, rank: Codes, m: Array) -> tuple[float, float]:
    n_c = np.bincount(rank, w[item])
    middle = np.cumsum(n_c) - n_c / 2 - n_c.sum() / 2
    ranks = middle[rank]
    apart = np.bincount(item, (ranks - (np.bincount(item, ranks) / m)[item]) ** 2)
    return float(w @ (2 * m * apart / (m - 1))), 2 * (
        n_c.sum() * (n_c @ middle**2) - (n_c @ middle) ** 2
    )


def proportional_disagreement(values: NumbersByRater) -> Disagreement:
    """Squared differences in proportion to the sum, in linear time for each row of weights.

    The disagreement of a pair is tanh²(Δ/2), where Δ is the difference of two logarithms. The pairs
    of two short stretches of the logarithm are summed at once by a Chebyshev series, which is exact
    to rounding. Zero has no logarithm. Its disagreement with any other number is 1.
    """
    return values.kept(_Proportions.of).disagreement(values.weights)


@dataclass(frozen=True)
class _Proportions:
    """The parts that do not depend on the weights. `zeros` and `others` count numbers on each item
    (N,), and `item` is the item row of each number above 0 in their order.
    """

    within: Array
    zeros: Array
    others: Array
    item: Codes
    series: "_Series"
    unit: float

    @classmethod
    def of(cls, values: NumbersByRater) -> "_Proportions":
        item, number = _flat(values)
        most = number.max(initial=0.0)
        unit = float(proportion(most, number.min(initial=most))) ** 2 or 1.0
        zeros = np.bincount(item[number == 0], minlength=len(values.sizes)).astype(float)
        order = np.argsort(number, kind="stable")[round(zeros.sum()) :]
        return cls(
            proportions_within(values),
            zeros,
            values.sizes - zeros,
            item[order],
            _Series.of(_logarithms(number[order])),
            unit,
        )

    def disagreement(self, weights: Array) -> Disagreement:
        leading = weights.shape[:-1]
        between = self.series.over_pairs(
            weights.reshape(math.prod(leading), len(self.within)), self.item
        ).reshape(leading)
        zero_and_not = 2 * (weights @ self.zeros) * (weights @ self.others)
        return Disagreement(
            weights @ self.within / self.unit, (between + zero_and_not) / self.unit, self.unit
        )


def proportions_within(values: NumbersByRater) -> Array:
    ordered = np.sort(values.values[:, :, 0], axis=1)[:, : int(values.sizes.max(initial=0))]
    apart = np.zeros(len(ordered))
    for s, t in combinations(range(ordered.shape[1]), 2):
        apart += 2 * proportion(ordered[:, s], ordered[:, t]) ** 2
    return apart / (values.sizes - 1)


def proportion(one: Array, other: Array) -> Array:
    total = np.asarray(one + other)
    return np.divide(one - other, total, out=np.zeros(total.shape), where=total > 0)


@dataclass(frozen=True)
class _Series:
    """Chebyshev series of tanh²(Δ/2) between stretches of the line.

    `terms` are the polynomials at each point's place in its stretch. `kernel` has the coefficients
    for two stretches 0, 1, 2, … apart.
    """

    starts: Codes
    terms: Array
    kernel: Array

    @classmethod
    def of(cls, points: Array) -> "_Series":
        length = float(points.max(initial=0.0)) or 1.0
        count = math.ceil(length)
        place = points / length * count
        stretch = np.minimum(place.astype(np.int64), count - 1)
        nodes = chebyshev.chebpts1(DEGREE + 1)
        apart = np.arange(count)[:, None, None] + (nodes[:, None] - nodes) / 2
        inverse = np.linalg.inv(chebyshev.chebvander(nodes, DEGREE))
        kernel = np.asarray(inverse @ np.tanh(apart * length / count / 2) ** 2 @ inverse.T)
        return cls(
            np.searchsorted(stretch, np.arange(count + 1)),
            np.asarray(chebyshev.chebvander(2 * (place - stretch) - 1, DEGREE).T, dtype=float),
            kernel,
        )

    def over_pairs(self, weights: Array, item: Codes) -> Array:
        count, by_item = len(self.kernel), np.ascontiguousarray(weights.T)
        sums = np.zeros((DEGREE + 1, count, len(weights)))
        for stretch, (start, end) in enumerate(pairwise(self.starts.tolist())):
            for first in range(start, end, POINTS_AT_ONCE):
                points = slice(first, min(first + POINTS_AT_ONCE, end))
                sums[:, stretch] += self.terms[:, points] @ by_item[item[points]]
        pairs = [
            np.einsum(
                "ksb,kl,lsb->b", sums[:, d:], self.kernel[d], sums[:, : count - d], optimize=True
            )
            for d in range(count)
        ]
        return np.asarray(2 * sum(pairs) - pairs[0])


def _logarithms(numbers: Array) -> Array:
    least = numbers.min(initial=np.inf)
    near, far = np.minimum(numbers, 2 * least), np.maximum(numbers, 2 * least)
    return np.asarray(np.log1p((near - least) / least) + (np.log(far) - np.log(2 * least)))


def _flat(values: NumbersByRater) -> tuple[Codes, Array]:
    return np.nonzero(values.rated)[0], values.values[:, :, 0][values.rated]
