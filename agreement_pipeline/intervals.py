"""Uncertainty by resampling weights: draws of weights over rows, then the measure.

The rows that were seen and, with a small prior mass, rows that were not seen but could have been, get Dirichlet weights.
With many items the draws are those of the Bayesian bootstrap of items; with few, the mass on unseen disagreement keeps a
round in which everybody happened to agree from being certain of it. Nothing that resamples the data alone can do that.
"""

from collections.abc import Iterator
from typing import NamedTuple, TypeVar

import numpy as np

from agreement_pipeline.patterns import Array, Statistic

PRIOR_MASS = 3.0
BLOCK_CELLS = 2_000_000
METHOD = f"Dirichlet draws over item patterns, prior mass {PRIOR_MASS:g}; these raters"

S = TypeVar("S", bound=Statistic)


class Interval(NamedTuple):
    """A lower and an upper limit."""

    low: float
    high: float

    def including(self, value: float) -> "Interval":
        """The same interval, wide enough to hold `value`: what was not seen pulls the draws off a value at the edge of what is possible."""
        return Interval(min(self.low, value), max(self.high, value))


def resampled(statistic: S, n_resamples: int, seed: int, *, prior_mass: float = PRIOR_MASS) -> Iterator[S]:
    """The statistic under `n_resamples` draws of weights, in blocks whose weights have shape (b, P).

    The draws depend on the statistic, its order of rows and the seed alone; those of a shorter run are the first of a longer one. Each
    block of `BLOCK_CELLS` weights has a generator of its own, so blocks may be drawn in any order.
    """
    possible = statistic.with_unseen(prior_mass)
    rows = possible.weights.shape[-1]
    total = float(statistic.weights.sum())
    block = max(1, BLOCK_CELLS // rows)
    starts = range(0, n_resamples, block)
    for start, child in zip(starts, np.random.SeedSequence(seed).spawn(len(starts)), strict=True):
        size = (min(block, n_resamples - start), rows)
        gamma = np.random.default_rng(child).standard_gamma(possible.weights, size=size)
        yield possible.reweighted(gamma * (total / gamma.sum(1, keepdims=True)))


def percentile_interval(draws: Array, confidence_level: float, bounds: tuple[float, float]) -> Interval:
    """The central interval of the draws, which holds `confidence_level` of them.

    A draw in which the measure is undefined counts as its least value for the lower limit and as its greatest for the upper one,
    so that it never narrows the interval.
    """
    tail = (1 - confidence_level) / 2
    low = np.quantile(np.where(np.isnan(draws), bounds[0], draws), tail, method="inverted_cdf")
    high = np.quantile(np.where(np.isnan(draws), bounds[1], draws), 1 - tail, method="inverted_cdf")
    return Interval(float(low), float(high))
