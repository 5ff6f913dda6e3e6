"""How much values differ beyond their own standard errors, and single raters drawn to a pool.

The spread is DerSimonian and Laird's (1986, https://doi.org/10.1016/0197-2456(86)90046-2).
"""

import numpy as np

from agreement_pipeline.estimates.estimates import DEFAULT, Estimate, Scope
from agreement_pipeline.intervals import Inference, Percentiles
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import ReplicatedLabels
from agreement_pipeline.text import in_words


def spread_between(values: Array, variances: Array) -> float:
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

    Here :math:`s_r` is the agreement of rater r over the :math:`c_r` items that they rated again,
    :math:`p_r` is their quotient, and N is the sum of :math:`c_r`. :math:`\mu` is the pool's
    agreement, with half an agreeing and half a disagreeing item added. M says how many items the
    pool counts for: one if raters differ most, N if they differ no more than by chance.

    There is one estimate of `self_agreement_unbiased` for each rater with replicates, in order of
    names: the mean of the rater's beta distribution, and its central part. The interval leaves out
    the uncertainty of :math:`\mu` and M, so no rule may use it. Undefined if fewer than two raters
    rated an item twice, or if items come in clusters: a beta distribution takes them as
    independent.

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
