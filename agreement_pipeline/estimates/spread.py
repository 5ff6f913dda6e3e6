"""How much values differ beyond their own standard errors, and values drawn towards the others.

The spread is DerSimonian and Laird's (1986). With it, each value is drawn towards the mean of all
(Morris 1983): the less is known of it, the more. So ten labels hardly move a rater away from the
others.

References
----------
DerSimonian, R. & Laird, N. (1986). Controlled Clinical Trials 7(3), 177-188.
https://doi.org/10.1016/0197-2456(86)90046-2
Morris, C. N. (1983). Parametric empirical Bayes inference. Journal of the American Statistical
Association 78(381), 47-55. https://doi.org/10.1080/01621459.1983.10477920
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np

from agreement_pipeline.estimates.estimates import Estimate
from agreement_pipeline.intervals import Interval
from agreement_pipeline.ratings import Array

Reads = Literal["like the others", "lower", "higher", "too few to tell"]
FEWEST_TO_TELL = 30
"""With fewer items, nobody is said to differ."""


@dataclass(frozen=True)
class Drawn:
    """An estimate of a rater, drawn towards the other raters.

    Attributes
    ----------
    estimate
        What was found of the rater alone.
    value, interval
        The value drawn towards the mean of all raters, and its interval at the estimate's level.
    mean
        The mean of all raters.
    """

    estimate: Estimate
    value: float
    interval: Interval
    mean: float

    @property
    def reads(self) -> Reads:
        """Whether the rater differs from the others, as far as anybody can tell."""
        if self.estimate.n_used < FEWEST_TO_TELL:
            return "too few to tell"
        if self.interval.high < self.mean:
            return "lower"
        return "higher" if self.interval.low > self.mean else "like the others"


def drawn_together(
    estimates: Iterable[Estimate], pool: Iterable[Estimate] | None = None
) -> tuple[Drawn, ...]:
    r"""Estimates of one measure, each drawn towards the mean of a pool, or of them all.

    .. math:: \tilde x = \frac{x / s^2 + \mu / \tau^2}{1 / s^2 + 1 / \tau^2}

    The standard error s is half of the interval, divided by the normal quantile of its level.
    :math:`\tau^2` is how much the values of the pool differ beyond their errors, and :math:`\mu`
    is their mean. Estimates without a value or without limits are left out. There are none if the
    pool has fewer than two. A pool that was chosen by its values gives a wrong mean.
    """
    known = [found for found in estimates if _has_limits(found)]
    pooled = known if pool is None else [found for found in pool if _has_limits(found)]
    if len(pooled) < 2:
        return ()
    z = NormalDist().inv_cdf((1 + pooled[0].confidence_level) / 2)
    return tuple(_drawn(known, pooled, z))


def _drawn(known: Sequence[Estimate], pooled: Sequence[Estimate], z: float) -> list[Drawn]:
    of_pool, their_variances = _values(pooled, z)
    between = spread_between(of_pool, their_variances)
    weights = 1 / (their_variances + between)
    mean = float(weights @ of_pool / weights.sum())
    values, variances = _values(known, z)
    own = between / (variances + between)
    drawn = own * values + (1 - own) * mean
    errors = np.sqrt(own * variances + (1 - own) ** 2 / weights.sum())
    return [
        Drawn(found, float(value), Interval(float(value - z * e), float(value + z * e)), mean)
        for found, value, e in zip(known, drawn, errors, strict=True)
    ]


def _values(found: Sequence[Estimate], z: float) -> tuple[Array, Array]:
    """The values, and the squares of their standard errors."""
    values = np.array([each.value for each in found], dtype=float)
    return values, np.array([_half(each) / z for each in found]) ** 2


def _has_limits(found: Estimate) -> bool:
    return found.low is not None and found.high is not None and found.low < found.high


def _half(found: Estimate) -> float:
    low, high = found.interval or (math.nan, math.nan)
    return (high - low) / 2


def spread_between(values: Array, variances: Array) -> float:
    """The variance between rounds that their own variances do not explain."""
    weights = 1 / variances
    centre = weights @ values / weights.sum()
    excess = weights @ (values - centre) ** 2 - (len(values) - 1)
    return max(0.0, float(excess / (weights.sum() - (weights**2).sum() / weights.sum())))


__all__ = ["FEWEST_TO_TELL", "Drawn", "drawn_together", "spread_between"]
