"""Resamples: random weights of rows, from which a measure is computed again.

The rows that were seen get Dirichlet weights, as in the Bayesian bootstrap of items. So do rows
that were not seen, but could have been, with a small prior mass. It matters on few items: a round
in which all raters agree by luck is then uncertain too.
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
from agreement_pipeline.statistics import Clusters, Statistic

PRIOR_MASS = 3.0
CELLS_PER_BLOCK = 2_000_000

S = TypeVar("S", bound=Statistic)
T = TypeVar("T")
W = TypeVar("W")


class Interval(NamedTuple):
    low: float
    high: float

    def widened_to_include(self, value: float) -> "Interval":
        return Interval(min(self.low, value), max(self.high, value))


class Scheme(NamedTuple):
    prior_mass: float
    whole_items: bool = False


SMOOTHED = Scheme(PRIOR_MASS)
"""Rubin's (1981) Bayesian bootstrap with a prior: Dirichlet over seen and unseen rows."""
BAYESIAN = Scheme(0.0)
"""Rubin's (1981) Bayesian bootstrap: Dirichlet over seen rows.

https://doi.org/10.1214/aos/1176345338
"""
ITEMS = Scheme(0.0, whole_items=True)
"""Efron's (1979) bootstrap: as many items as there are, drawn with replacement.

https://doi.org/10.1214/aos/1176344552
"""


def draw_reweighted(
    statistic: S, n_resamples: int, seed: int | Sequence[int], *, scheme: Scheme = SMOOTHED
) -> Iterator[S]:
    """The statistic with resampled weights, in blocks whose weights have shape (b, P).

    They depend only on the statistic, the order of its rows, and the seed. A shorter run gives the
    first resamples of a longer one. Of clusters, whole ones are drawn, and an unseen row is as
    large as the cluster of a typical item.
    """
    possible = statistic.with_unseen(scheme.prior_mass)
    seen_masses = resampling_masses(statistic)
    masses = np.concatenate([seen_masses, possible.weights[statistic.weights.shape[-1] :]])
    items, mass = float(seen_masses.sum()), float(masses.sum())
    spread = items / math.sqrt(mass * (mass + 1))

    def weights(rng: np.random.Generator, size: int) -> Array:
        if scheme.whole_items:
            counts = rng.multinomial(round(mass), masses / masses.sum(), size=size)
            unit_weights = np.asarray(counts * (items / masses.sum()))
        else:
            unit_weights = rng.dirichlet(masses, size=size)
            unit_weights *= items
            # A product of matrices takes three times as long with numbers under this one.
            unit_weights[unit_weights < np.finfo(float).tiny] = 0.0
        block_weights = spread_unit_weights_over_rows(statistic, unit_weights)
        # A stream of its own, so that a shorter run gives the first resamples of a longer one.
        normal = rng.spawn(1)[0].standard_normal((size, len(statistic.places_of_normal_rows)))
        block_weights[:, statistic.places_of_normal_rows] = spread * normal
        return block_weights

    yield from (
        possible.with_weights(block_weights)
        for block_weights in draw_in_blocks(weights, n_resamples, possible.weights.shape[-1], seed)
    )


def draw_in_blocks(
    draw_block: Callable[[np.random.Generator, int], T],
    n_resamples: int,
    rows: int,
    seed: int | Sequence[int],
) -> Iterator[T]:
    size = max(1, CELLS_PER_BLOCK // rows)
    starts = range(0, n_resamples, size)
    children = np.random.SeedSequence(seed).spawn(len(starts))

    def draw_block_at(place: int) -> T:
        rng = np.random.Generator(np.random.SFC64(children[place]))
        return draw_block(rng, min(size, n_resamples - starts[place]))

    cores = 1 if len(starts) == 1 else os.cpu_count() or 1
    return map_in_order(draw_block_at, range(len(starts)), cores=cores, ahead=cores - 1)


def map_in_order(
    compute: Callable[[W], T], tasks: Iterable[W], *, cores: int, ahead: int
) -> Iterator[T]:
    """So many cores work at it, and so many things wait made.

    Cores work at once, since NumPy draws without holding the interpreter.
    """
    with limit_products_to_one_core():
        if cores == 1:
            yield from map(compute, tasks)
            return
        with ThreadPoolExecutor(cores) as pool:
            waiting: deque[Future[T]] = deque()
            for task in tasks:
                waiting.append(pool.submit(compute, task))
                if len(waiting) > ahead:
                    yield waiting.popleft().result()
            yield from (future.result() for future in waiting)


def limit_products_to_one_core() -> AbstractContextManager[object]:
    """On more cores, the last digits of a product depend on how many there are."""
    return cast(AbstractContextManager[object], _libraries().limit(limits=1, user_api="blas"))


_libraries = cache(ThreadpoolController)


def resampling_masses(statistic: Statistic) -> Array:
    return statistic.weights if statistic.clusters is None else statistic.clusters.times


def reweight_to_draw(population: Statistic, draws_by_unit: Array) -> Statistic:
    """The round in which each row of a population, or each cluster, was drawn so many times."""
    clusters = population.clusters
    if clusters is None:
        return population.with_weights(draws_by_unit)
    drawn_population = population.with_clusters(Clusters(clusters.places, draws_by_unit))
    return drawn_population.with_weights(
        draws_by_unit[clusters.places] * clusters.sizes(population.weights)
    )


def spread_unit_weights_over_rows(statistic: Statistic, unit_weights: Array) -> Array:
    """Weights of seen and then unseen rows. All rows of a cluster share its draw."""
    clusters = statistic.clusters
    if clusters is None:
        return unit_weights
    n, weights = len(clusters.times), statistic.weights
    places = np.append(clusters.places, np.arange(n, unit_weights.shape[1]))
    typical = np.full(unit_weights.shape[1] - n, clusters.typical_size(weights, statistic.readable))
    weights_of_rows = np.take(unit_weights, places, axis=1)
    weights_of_rows *= np.append(clusters.sizes(weights), typical)
    return weights_of_rows


MIN_LEFT_OUT_GROUPS = 200


def leave_out_each_item(
    statistic: Statistic, max_weights: int, seed: int | tuple[int, ...]
) -> Iterator[tuple[Array, Array]]:
    """The weights without each item, or without each cluster if items come in clusters; and how
    many such items there are.

    Equal items are left out once. Beyond `max_weights` weights, groups of nearly equal size are
    left out, drawn by the seed. The jackknife of groups is unbiased too, but a little less certain
    (Shao & Tu 1995, section 5.1).
    """
    weights, clusters = statistic.weights, statistic.clusters
    rows = len(weights)
    if clusters is None and rows * np.count_nonzero(weights) > max_weights:
        yield from leave_out_groups(statistic, max(MIN_LEFT_OUT_GROUPS, max_weights // rows), seed)
        return
    if clusters is not None:
        times, sizes = clusters.times, clusters.sizes(weights)
        order = np.argsort(clusters.places, kind="stable")
        cluster_ends = np.searchsorted(clusters.places[order], np.arange(1, len(times)))
        groups = [
            (rows_of_cluster, sizes[rows_of_cluster])
            for rows_of_cluster in np.split(order, cluster_ends)
        ]
    else:
        weighted_rows = np.flatnonzero(weights)
        times = weights[weighted_rows]
        groups = list(zip(weighted_rows, np.minimum(1.0, times), strict=True))
    for start in range(0, len(groups), size := max(1, CELLS_PER_BLOCK // max(1, rows))):
        block = groups[start : start + size]
        remaining_weights = np.tile(weights, (len(block), 1))
        for place, (left_out_rows, share) in enumerate(block):
            np.subtract.at(remaining_weights[place], left_out_rows, share)
        yield remaining_weights, times[start : start + size]


def leave_out_groups(
    statistic: Statistic,
    n_groups: int,
    seed: int | tuple[int, ...],
    max_cells: int | None = None,
) -> Iterator[tuple[Array, Array]]:
    """The weights without each group of items, or of clusters, and a 1 for each group.

    The groups are of nearly equal size, and the seed says who is in which. A block has at most
    `max_cells` weights, unless that is less than a row.
    """
    weights, clusters = statistic.weights, statistic.clusters
    times = weights if clusters is None else clusters.times
    units = np.repeat(np.arange(len(times)), times.round().astype(int))
    units = np.random.default_rng(seed).permutation(units)
    n_groups = min(len(units), n_groups)
    block_size = max(1, (max_cells or CELLS_PER_BLOCK) // max(1, len(weights)))
    for start in range(0, n_groups, block_size):
        block = range(start, min(start + block_size, n_groups))
        counts = np.stack(
            [np.bincount(units[place::n_groups], minlength=len(times)) for place in block]
        )
        left_out = (
            counts if clusters is None else counts[:, clusters.places] * clusters.sizes(weights)
        )
        yield weights - left_out, np.ones(len(block))


def quantile_interval(
    draws: Array, lower: float, upper: float, bounds: tuple[float, float]
) -> Interval:
    """An undefined resample counts as a bound, so that it never narrows the interval."""

    def limit(bound: float, share: float) -> float:
        place = max(0, math.ceil(len(draws) * share - 1))
        values = np.where(np.isnan(draws), bound, draws)
        # NumPy partitions faster at two places than at one, and than it finds a quantile.
        return float(np.partition(values, (place, -1))[place])

    return Interval(limit(bounds[0], lower), limit(bounds[1], upper))
