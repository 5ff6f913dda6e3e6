"""Resamples: random weights of rows, from which a measure is computed again.

The rows that were seen get Dirichlet weights. Rows that were not seen, but could have been, get
Dirichlet weights too, with a small prior mass.

- With many items, the resamples are those of the Bayesian bootstrap of items.
- With few items, the mass on unseen disagreement matters. A round in which all raters agree by
  luck is then uncertain too, which no resampling of the data alone can show.
"""

import math
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from typing import NamedTuple, TypeVar, cast

import numpy as np
from threadpoolctl import ThreadpoolController

from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import Statistic

PRIOR_MASS = 3.0
BLOCK_CELLS = 2_000_000

S = TypeVar("S", bound=Statistic)
T = TypeVar("T")
W = TypeVar("W")


class Interval(NamedTuple):
    """A lower and an upper limit."""

    low: float
    high: float

    def including(self, value: float) -> "Interval":
        """The interval, widened to hold `value`.

        Unseen rows pull the resamples away from a value at the edge of what is possible.
        """
        return Interval(min(self.low, value), max(self.high, value))


class Scheme(NamedTuple):
    """How weights are drawn: Dirichlet shares, or whole items with replacement.

    `prior_mass` is the mass of unseen rows.
    """

    prior_mass: float
    whole: bool = False


SMOOTHED = Scheme(PRIOR_MASS)
"""Rubin's (1981) Bayesian bootstrap with a prior: Dirichlet over seen and unseen rows."""
BAYESIAN = Scheme(0.0)
"""Rubin's (1981) Bayesian bootstrap: Dirichlet over seen rows.

https://doi.org/10.1214/aos/1176345338
"""
ITEMS = Scheme(0.0, whole=True)
"""Efron's (1979) bootstrap: as many items as there are, drawn with replacement.

https://doi.org/10.1214/aos/1176344552
"""


def resampled(
    statistic: S, n_resamples: int, seed: int | Sequence[int], *, scheme: Scheme = SMOOTHED
) -> Iterator[S]:
    """The statistic with resampled weights, in blocks whose weights have shape (b, P).

    The weights depend only on the statistic, the order of its rows, and the seed. A shorter run
    gives the first resamples of a longer one. Each block of `BLOCK_CELLS` weights has a generator
    of its own, so that all cores draw at once.

    If the statistic's items come in clusters, whole clusters are drawn. An unseen row is then as
    large as the cluster of a typical item on which agreement is read. So items of one cluster say
    less than items of different clusters, and a few large clusters say less than many small ones.
    """
    possible = statistic.with_unseen(scheme.prior_mass)
    seen = drawn_masses(statistic)
    masses = np.concatenate([seen, possible.weights[statistic.weights.shape[-1] :]])
    items, mass = float(seen.sum()), float(masses.sum())
    spread = items / math.sqrt(mass * (mass + 1))

    def weights(rng: np.random.Generator, size: int) -> Array:
        drawn = row_weights(statistic, _drawn(rng, masses, size, items, scheme))
        # A stream of its own, so that a shorter run gives the first resamples of a longer one.
        normal = rng.spawn(1)[0].standard_normal((size, len(statistic.normal)))
        drawn[:, statistic.normal] = spread * normal
        return drawn

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
    """Blocks of resamples, each with at most `BLOCK_CELLS` weights and a generator of its own."""
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
    """`made` of each number from 0 to n - 1, in order.

    Every core works ahead, since NumPy draws without holding the interpreter.
    """
    cores = 1 if n == 1 else os.cpu_count() or 1
    return each_in_order(made, range(n), cores=cores, ahead=cores)


def each_in_order(
    made: Callable[[W], T], things: Iterable[W], *, cores: int, ahead: int
) -> Iterator[T]:
    """`made` of each thing, in order. So many cores work at it, and so many things wait made."""
    with one_core_products():
        yield from map(made, things) if cores == 1 else _ahead(made, things, cores, ahead)


def _ahead(made: Callable[[W], T], things: Iterable[W], cores: int, most: int) -> Iterator[T]:
    """`made` of each thing, with so many more made ahead."""
    with ThreadPoolExecutor(cores) as pool:
        ahead: deque[Future[T]] = deque()
        for thing in things:
            ahead.append(pool.submit(made, thing))
            if len(ahead) > most:
                yield ahead.popleft().result()
        yield from (each.result() for each in ahead)


def one_core_products() -> AbstractContextManager[object]:
    """A context in which matrix products use one core.

    On more cores, the last digits of a product depend on how many there are. And the threads of
    products would take time from the threads that draw.
    """
    return cast(AbstractContextManager[object], _libraries().limit(limits=1, user_api="blas"))


@cache
def _libraries() -> ThreadpoolController:
    """The libraries in this process that start threads."""
    return ThreadpoolController()


def drawn_masses(statistic: Statistic) -> Array:
    """The expected shares of what is drawn: rows, or clusters if items come in them."""
    return statistic.weights if statistic.clusters is None else statistic.clusters.times


def row_weights(statistic: Statistic, drawn: Array) -> Array:
    """Weights of seen and then unseen rows, from the drawn shares of rows or clusters.

    All rows of a cluster share its draw.
    """
    clusters = statistic.clusters
    if clusters is None:
        return drawn
    seen, unseen = drawn[:, : len(clusters.times)], drawn[:, len(clusters.times) :]
    typical = clusters.typical(statistic.weights, statistic.readable)
    return np.hstack(
        [seen[:, clusters.places] * clusters.sizes(statistic.weights), unseen * typical]
    )


def _drawn(rng: np.random.Generator, mass: Array, size: int, total: float, scheme: Scheme) -> Array:
    """Weights that sum to `total`, of units with expected share `mass`; shape (size, units)."""
    if scheme.whole:
        return np.asarray(
            rng.multinomial(round(float(mass.sum())), mass / mass.sum(), size=size)
            * (total / mass.sum())
        )
    drawn = rng.dirichlet(mass, size=size)
    drawn *= total
    # A product of matrices takes three times as long with numbers under this one.
    drawn[drawn < np.finfo(float).tiny] = 0.0
    return drawn


def quantile_interval(
    draws: Array, lower: float, upper: float, bounds: tuple[float, float]
) -> Interval:
    """The interval between two quantiles of the resamples.

    An undefined resample counts as the measure's smallest value for the lower limit, and as its
    greatest value for the upper limit. So an undefined resample never narrows the interval.
    """
    low, high = (
        _quantile(np.where(np.isnan(draws), bound, draws), share)
        for bound, share in zip(bounds, (lower, upper), strict=True)
    )
    return Interval(low, high)


def _quantile(values: Array, share: float) -> float:
    """`numpy.quantile` with the inverted distribution function, in a fraction of its time."""
    place = max(0, math.ceil(len(values) * share - 1))
    # NumPy partitions faster at two places than at one.
    return float(np.partition(values, (place, -1))[place])
