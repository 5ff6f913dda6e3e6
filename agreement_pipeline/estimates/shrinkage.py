"""How much values differ beyond their own standard errors, and values drawn towards the others.

The spread is DerSimonian and Laird's (1986, https://doi.org/10.1016/0197-2456(86)90046-2). With it,
each value is drawn towards the mean of all (Morris 1983,
https://doi.org/10.1080/01621459.1983.10477920): the less is known of it, the more.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np

from agreement_pipeline.estimates.estimates import DEFAULT, Estimate, Scope
from agreement_pipeline.intervals import Inference, Interval, Percentiles
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import ReplicatedLabels
from agreement_pipeline.text import in_words

Reads = Literal["like the others", "lower", "higher", "too few to tell"]
FEWEST_TO_TELL = 30
"""With fewer items, nobody is said to differ."""


@dataclass(frozen=True)
class Drawn:
    """An `estimate` of a rater, drawn towards the mean of all raters.

    `value` is the value drawn, and `interval` its interval at the estimate's level.
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
    :math:`\tau^2` is how much the values of the pool differ beyond their errors, and :math:`\mu` is
    their mean. Estimates without limits are left out, and a pool of fewer than two gives none. A
    pool that was chosen by its values gives a wrong mean.
    """
    known = [found for found in estimates if _has_limits(found)]
    pooled = known if pool is None else [found for found in pool if _has_limits(found)]
    if len(pooled) < 2:
        return ()
    z = NormalDist().inv_cdf((1 + pooled[0].confidence_level) / 2)
    of_pool, their_variances = _values(pooled, z)
    between = spread_between(of_pool, their_variances)
    weights = 1 / (their_variances + between)
    mean = float(weights @ of_pool / weights.sum())
    values, variances = _values(known, z)
    own = between / (variances + between)
    drawn = own * values + (1 - own) * mean
    errors = np.sqrt(own * variances + (1 - own) ** 2 / weights.sum())
    limits = zip((drawn - z * errors).tolist(), (drawn + z * errors).tolist(), strict=True)
    return tuple(
        Drawn(found, value, Interval(*each), mean)
        for found, value, each in zip(known, drawn.tolist(), limits, strict=True)
    )


def _has_limits(found: Estimate) -> bool:
    return found.low is not None and found.high is not None and found.low < found.high


def _values(found: Sequence[Estimate], z: float) -> tuple[Array, Array]:
    values = np.array([each.value for each in found], dtype=float)
    limits = np.array([each.interval for each in found], dtype=float).reshape(-1, 2)
    return values, ((limits[:, 1] - limits[:, 0]) / 2 / z) ** 2


def spread_between(values: Array, variances: Array) -> float:
    """The variance between rounds that their own variances do not explain."""
    weights = 1 / variances
    centre = weights @ values / weights.sum()
    excess = weights @ (values - centre) ** 2 - (len(values) - 1)
    return max(0.0, float(excess / (weights.sum() - (weights**2).sum() / weights.sum())))


MEASURE = "self_agreement_unbiased"
IN_CLUSTERS = "items come in clusters, and the beta distribution takes each as drawn by itself"
ONE_RATER = "fewer than two raters met an item twice, so there is no pool"


def shrunken_self_agreement(
    replicates: ReplicatedLabels,
    inference: Inference = DEFAULT,
) -> tuple[Estimate, ...]:
    r"""Every rater's self-agreement, shrunk towards the pool by empirical Bayes.

    Self-agreement is the share of equal pairs among a rater's own labels of one item.

    .. math:: \tilde p_r = \frac{s_r + M \mu}{c_r + M}, \qquad \frac{1}{M + 1} =
       \frac{\sum_r c_r (p_r - \mu)^2 / (\mu (1 - \mu)) - (R - 1)}{N - \sum_r c_r^2 / N - (R - 1)}

    :math:`s_r` is the agreement of rater r over the :math:`c_r` items that they rated again,
    :math:`p_r` is their quotient, and N is the sum of :math:`c_r`. :math:`\mu` is the pool's
    agreement, with half an agreeing and half a disagreeing item added. M says how many items the
    pool counts for: one if raters differ most, N if they differ no more than by chance.

    There is one estimate of `self_agreement_unbiased` for each rater with replicates, in order of
    names: the mean of the rater's beta distribution, and its central part. The interval leaves out
    the uncertainty of :math:`\mu` and M, so no rule may use it. Undefined if fewer than two raters
    rated an item twice, or if items come in clusters.

    Raises
    ------
    PolicyError
        The method is not the default one, or limits are always valid.

    References
    ----------
    Kleinman, J. C. (1973), doi:10.1080/01621459.1973.10481332

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> from agreement_pipeline.statistics import LabelsByRater
    >>> first = LabelsByRater([[0, 0]] * 12, scale=Scale(("no", "yes")), raters=("a", "b"))
    >>> labels, raters = [[2, 0]] * 10 + [[2, 0], [1, 1]], [0] * 10 + [1] * 2
    >>> cells = ReplicatedLabels(labels, range(12), raters, first)
    >>> [(str(found.scope), round(found.value, 3)) for found in shrunken_self_agreement(cells)]
    [('rater a', 0.99), ('rater b', 0.628)]
    """
    inference.refuse_other_methods("shrunken self-agreement")
    order = sorted(np.unique(replicates.rater), key=lambda rater: replicates.raters[rater])
    why = IN_CLUSTERS if replicates.clusters else ONE_RATER if len(order) < 2 else None
    agreeing, met = _cells(replicates, np.array(order, dtype=np.int64))
    mean, mass = (0.0, 0.0) if why else _pool(agreeing, met)
    seeds = np.random.SeedSequence(inference.seed).spawn(len(order))

    def shrunken(rater: int, agreed: float, n: float, seed: np.random.SeedSequence) -> Estimate:
        name, level = replicates.raters[rater], inference.confidence_level
        mine, scope = replicates.of(name), Scope("rater", name)
        if why:
            nothing, method = None, "empirical Bayes"
            counts = mine.n_items, 1, mine.n_ratings
            return Estimate(MEASURE, scope, nothing, None, level, method, *counts, undefined=why)
        rng, size = np.random.default_rng(seed), inference.n_resamples
        draws = rng.beta(agreed + mass * mean, n - agreed + mass * (1 - mean), size=size)
        known = Percentiles(draws, float((agreed + mass * mean) / (n + mass)), (0.0, 1.0))
        return Estimate(
            MEASURE,
            scope,
            known.value,
            known.limits(inference.tail),
            level,
            f"empirical Bayes: shrunk towards the pool of {len(order)} raters, {in_words(mean)}, "
            f"by {mass:.1f} items; these raters",
            mine.n_items,
            1,
            mine.n_ratings,
            distribution=known,
        )

    return tuple(
        shrunken(*each) for each in zip(order, agreeing.tolist(), met.tolist(), seeds, strict=True)
    )


def _cells(replicates: ReplicatedLabels, raters: Array) -> tuple[Array, Array]:
    """For each rater, the sum of the agreeing shares, and the number of cells.

    A cell is one rater on one item that they labelled several times.
    """
    c, m = replicates.counts, replicates.sizes
    of_rater = (replicates.rater[:, None] == raters).astype(float)
    of_rater *= replicates.cell_weights[:, None]
    return (c * (c - 1)).sum(1) / (m * (m - 1)) @ of_rater, of_rater.sum(0)


def _pool(agreeing: Array, met: Array) -> tuple[float, float]:
    total, raters = met.sum(), len(met)
    mean = (agreeing.sum() + 0.5) / (total + 1)
    apart = met @ (agreeing / met - mean) ** 2 / (mean * (1 - mean))
    spread = total - (met**2).sum() / total - (raters - 1)
    correlation = (apart - (raters - 1)) / spread if spread > 0 else 0.0
    return float(mean), float(1 / np.clip(correlation, 1 / (total + 1), 0.5) - 1)
