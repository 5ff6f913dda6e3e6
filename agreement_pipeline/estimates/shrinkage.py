"""Single raters drawn to a pool."""

import numpy as np

from agreement_pipeline.estimates.estimates import DEFAULT, Estimate, Scope
from agreement_pipeline.intervals import Inference, Percentiles
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import ReplicatedLabels
from agreement_pipeline.text import in_words

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
    c, m = replicates.counts, replicates.sizes
    of_rater = (replicates.rater[:, None] == np.array(order, dtype=np.int64)).astype(float)
    of_rater *= replicates.cell_weights[:, None]
    agreeing, met = (c * (c - 1)).sum(1) / (m * (m - 1)) @ of_rater, of_rater.sum(0)
    mean, mass = (0.0, 0.0) if why else _pool(agreeing, met)
    seeds = np.random.SeedSequence(inference.seed).spawn(len(order))
    shrunken = []
    for rater, agreed, n, seed in zip(order, agreeing.tolist(), met.tolist(), seeds, strict=True):
        name, method = replicates.raters[rater], "empirical Bayes"
        known: Percentiles | None = None
        mine = replicates.of(name)
        if why is None:
            alike, unlike = agreed + mass * mean, n - agreed + mass * (1 - mean)
            draws = np.random.default_rng(seed).beta(alike, unlike, size=inference.n_resamples)
            known = Percentiles(draws, float(alike / (n + mass)), (0.0, 1.0))
            method += (
                f": shrunk towards the pool of {len(order)} raters, {in_words(mean)}, "
                f"by {mass:.1f} items; these raters"
            )
        found = Estimate(
            MEASURE,
            Scope("rater", name),
            None if known is None else known.value,
            None if known is None else known.limits(inference.tail),
            inference.confidence_level,
            method,
            mine.n_items,
            1,
            mine.n_ratings,
            undefined=why,
            distribution=known,
        )
        shrunken.append(found)
    return tuple(shrunken)


def _pool(agreeing: Array, met: Array) -> tuple[float, float]:
    total, raters = met.sum(), len(met)
    mean = (agreeing.sum() + 0.5) / (total + 1)
    apart = met @ (agreeing / met - mean) ** 2 / (mean * (1 - mean))
    spread = total - (met**2).sum() / total - (raters - 1)
    correlation = (apart - (raters - 1)) / spread if spread > 0 else 0.0
    return float(mean), float(1 / np.clip(correlation, 1 / (total + 1), 0.5) - 1)
