"""Uncertainty by resampling weights: draws of weights over rows, then the measure.

The rows that were seen and, with a small prior mass, rows that were not seen but could have been, get Dirichlet weights.
With many items the draws are those of the Bayesian bootstrap of items; with few, the mass on unseen disagreement keeps a
round in which everybody happened to agree from being certain of it. Nothing that resamples the data alone can do that.
"""

import math
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import NamedTuple, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import Statistic

PRIOR_MASS = 3.0
BLOCK_CELLS = 2_000_000

S = TypeVar("S", bound=Statistic)
T = TypeVar("T")


class Interval(NamedTuple):
    """A lower and an upper limit."""

    low: float
    high: float

    def including(self, value: float) -> "Interval":
        """The same interval, wide enough to hold `value`: what was not seen pulls the draws off a value at the edge of what is possible."""
        return Interval(min(self.low, value), max(self.high, value))


class Scheme(NamedTuple):
    """How weights are drawn: with Dirichlet shares, or whole numbers of items with replacement; and the mass of what was not seen."""

    prior_mass: float
    whole: bool = False


SMOOTHED = Scheme(PRIOR_MASS)
"""Rubin's (1981) Bayesian bootstrap with a prior: Dirichlet over what was seen and, with mass 3, what was not."""
BAYESIAN = Scheme(0.0)
"""Rubin's (1981) Bayesian bootstrap: Dirichlet over what was seen, https://doi.org/10.1214/aos/1176345338."""
ITEMS = Scheme(0.0, whole=True)
"""Efron's (1979) bootstrap: as many items as there are, drawn with replacement, https://doi.org/10.1214/aos/1176344552."""


def resampled(
    statistic: S, n_resamples: int, seed: int | Sequence[int], *, scheme: Scheme = SMOOTHED
) -> Iterator[S]:
    """The statistic under `n_resamples` draws of weights, in blocks whose weights have shape (b, P).

    The draws depend on the statistic, its order of rows and the seed alone; those of a shorter run are the first of a longer one. Each
    block of `BLOCK_CELLS` weights has a generator of its own, so that every core draws some.

    Where the statistic's items come in clusters, whole clusters are drawn, and what was not seen is as large as the cluster of a typical item, of those
    that agreement is read on: items of one cluster say less than as many items of different ones, and a few large clusters less than many small ones.
    """
    possible = statistic.with_unseen(scheme.prior_mass)
    seen = drawn_masses(statistic)
    masses = np.concatenate([seen, possible.weights[statistic.weights.shape[-1] :]])

    def weights(rng: np.random.Generator, size: int) -> Array:
        return row_weights(statistic, _drawn(rng, masses, size, float(seen.sum()), scheme))

    yield from (
        possible.reweighted(drawn)
        for drawn in in_blocks(weights, n_resamples, possible.weights.shape[-1], seed)
    )


def in_blocks(
    drawn: Callable[[np.random.Generator, int], T],
    n_resamples: int,
    rows: int,
    seed: int | Sequence[int],
) -> Iterator[T]:
    """What is drawn block after block, of as many draws as hold `BLOCK_CELLS` weights of `rows` rows; each block has a generator of its own."""
    size = max(1, BLOCK_CELLS // rows)
    starts = range(0, n_resamples, size)
    children = np.random.SeedSequence(seed).spawn(len(starts))

    def made(place: int) -> T:
        return drawn(
            np.random.Generator(np.random.SFC64(children[place])),
            min(size, n_resamples - starts[place]),
        )

    return in_order(made, len(starts))


def in_order(made: Callable[[int], T], n: int) -> Iterator[T]:
    """What is made of each place from 0 to n - 1, in order; every core makes one ahead, as NumPy draws without holding the interpreter.

    Matrix products are left to one core meanwhile: threads of theirs would wait for each other at the cost of those that draw.
    """
    cores = os.cpu_count() or 1
    if min(n, cores) <= 1:
        yield from map(made, range(n))
        return
    with _libraries().limit(limits=1, user_api="blas"), ThreadPoolExecutor(cores) as pool:
        ahead: deque[Future[T]] = deque()
        for place in range(n):
            ahead.append(pool.submit(made, place))
            if len(ahead) > cores:
                yield ahead.popleft().result()
        yield from (each.result() for each in ahead)


@cache
def _libraries() -> ThreadpoolController:
    """The libraries of this process that have threads of their own."""
    return ThreadpoolController()


def drawn_masses(statistic: Statistic) -> Array:
    """The expected shares of what is drawn: of rows, or where items come in clusters, of clusters."""
    return statistic.weights if statistic.clusters is None else statistic.clusters.times


def row_weights(statistic: Statistic, drawn: Array) -> Array:
    """Weights of rows, seen and then unseen, from draws of what `drawn_masses` gives and of unseen rows; those of a cluster share its draw."""
    clusters = statistic.clusters
    if clusters is None:
        return drawn
    seen, unseen = drawn[:, : len(clusters.times)], drawn[:, len(clusters.times) :]
    typical = clusters.typical(statistic.weights, statistic.readable)
    return np.hstack(
        [seen[:, clusters.places] * clusters.sizes(statistic.weights), unseen * typical]
    )


def _drawn(rng: np.random.Generator, mass: Array, size: int, total: float, scheme: Scheme) -> Array:
    """Weights of units of expected share `mass`, which sum to `total`, shape (size, units)."""
    if scheme.whole:
        return np.asarray(
            rng.multinomial(round(float(mass.sum())), mass / mass.sum(), size=size)
            * (total / mass.sum())
        )
    drawn = rng.dirichlet(mass, size=size)
    drawn *= total
    return drawn


def quantile_interval(
    draws: Array, lower: float, upper: float, bounds: tuple[float, float]
) -> Interval:
    """The interval between two quantiles of the draws.

    A draw in which the measure is undefined counts as its least value for the lower limit and as its greatest for the upper one,
    so that it never narrows the interval.
    """
    low, high = (
        _quantile(np.where(np.isnan(draws), bound, draws), share)
        for bound, share in zip(bounds, (lower, upper), strict=True)
    )
    return Interval(low, high)


def _quantile(values: Array, share: float) -> float:
    """The least value that as large a share of them does not exceed: `numpy.quantile` with the inverted distribution function, for a fraction of its time."""
    place = max(0, math.ceil(len(values) * share - 1))
    return float(
        np.partition(values, (place, -1))[place]
    )  # asked for two places, NumPy takes another way than for one, and a shorter one
