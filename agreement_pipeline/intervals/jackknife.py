"""The jackknife: weights without each item or cluster, and how far the value moves."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from agreement_pipeline.intervals.draws import BLOCK_CELLS
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import Statistic

MOST_VALUES = 200
ONE = np.ones(1)


class LeftOut(NamedTuple):
    """Weights with something left out (b, P), and how many items each stands for (b,)."""

    weights: Array
    times: Array


def without_items(
    statistic: Statistic, most_weights: int, seed: int | tuple[int, ...]
) -> Iterator[LeftOut]:
    """The weights without each item, or without each cluster if items come in clusters.

    Equal items are left out once, for all of them. If there would be more than `most_weights`
    weights, groups of items are left out, of nearly equal size and drawn by the seed. The jackknife
    of groups is unbiased too, but a little less certain (Shao & Tu 1995, section 5.1).
    """
    weights, clusters = statistic.weights, statistic.clusters
    rows = len(weights)
    if clusters is not None:
        times, sizes = clusters.times, clusters.sizes(weights)
        order = np.argsort(clusters.places, kind="stable")
        ends = np.searchsorted(clusters.places[order], np.arange(1, len(times)))
        groups = [(some, sizes[some]) for some in np.split(order, ends)]
    elif rows * np.count_nonzero(weights) <= most_weights:
        held = np.flatnonzero(weights)
        times = weights[held]
        groups = list(zip(held, np.minimum(1.0, times), strict=True))
    else:
        items = np.random.default_rng(seed).permutation(
            np.repeat(np.arange(rows), weights.round().astype(int))
        )
        times = np.ones(min(len(items), max(MOST_VALUES, most_weights // rows)))
        groups = [(items[place :: len(times)], ONE) for place in range(len(times))]
    for start in range(0, len(groups), size := max(1, BLOCK_CELLS // max(1, rows))):
        some = groups[start : start + size]
        left = np.tile(weights, (len(some), 1))
        for place, (out, share) in enumerate(some):
            np.subtract.at(left[place], out, share)
        yield LeftOut(left, times[start : start + size])


def variance(values: Array, times: Array) -> float:
    r"""Tukey's jackknife variance from values with one item left out, shape (G,).

    .. math:: v = \frac{n - 1}{n} \sum_i (\hat\theta_{(i)} - \hat\theta_{(\cdot)})^2

    Each value stands for `times` items. The variance is nan if a value is nan, or if fewer than two
    items are left out (Efron and Stein 1981, https://doi.org/10.1214/aos/1176345462).

    >>> round(variance(np.array([2.5, 2.0, 1.5]), np.ones(3)), 6)
    0.333333
    """
    n = float(times.sum())
    if n < 2:
        return float("nan")
    return float((n - 1) / n * (times @ (values - times @ values / n) ** 2))


def acceleration(values: Array, times: Array) -> float:
    """Efron's acceleration of BCa, from values with one item left out; 0 if all are equal.

    Efron, B. (1987). Better bootstrap confidence intervals.
    https://doi.org/10.1080/01621459.1987.10478410
    """
    apart = times @ values / times.sum() - values
    spread = float(times @ apart**2)
    return float(times @ apart**3) / (6 * spread**1.5) if spread > 0 else 0.0
