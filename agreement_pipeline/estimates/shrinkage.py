"""Single raters' self-agreement, drawn towards that of the pool: a rater who met few items again is mostly known by her colleagues."""

from typing import NamedTuple

import numpy as np

from agreement_pipeline.estimates.estimates import CONFIDENCE_LEVEL, N_RESAMPLES, Estimate, Scope
from agreement_pipeline.intervals import OfDraws
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import ReplicatedLabels

MEASURE = "self_agreement_unbiased"
IN_CLUSTERS = "items come in clusters, and the beta distribution takes each as drawn by itself"
ONE_RATER = "fewer than two raters met an item twice, so there is no pool"


class _Cells(NamedTuple):
    """Of each rater with replicates, the cells that agree, in pairs of labels, and the cells there are."""

    agreeing: Array
    met: Array


def shrunken_self_agreement(
    replicates: ReplicatedLabels,
    *,
    seed: int = 0,
    confidence_level: float = CONFIDENCE_LEVEL,
    n_resamples: int = N_RESAMPLES,
) -> tuple[Estimate, ...]:
    r"""Every rater's share of pairs of her own labels of one item that are the same, drawn towards the pool by empirical Bayes.

    .. math:: \tilde p_r = \frac{s_r + M \mu}{c_r + M}, \qquad \frac{1}{M + 1} =
       \frac{\sum_r c_r (p_r - \mu)^2 / (\mu (1 - \mu)) - (R - 1)}{N - \sum_r c_r^2 / N - (R - 1)}

    with :math:`s_r` the agreement of rater r over the :math:`c_r` items she met again, :math:`p_r` their quotient, N the sum of :math:`c_r`,
    and :math:`\mu` the pool's agreement, half an item of either kind added. M, in items, says how much the pool counts: one item where raters
    differ most, and all N where they differ no more than chance would have it. The value is the mean of rater r's beta
    distribution, and the interval its central part; what is not known of :math:`\mu` and M is left out, so it is for looking at, not for a gate.

    Parameters
    ----------
    replicates
        cell counts of shape (C, K), item weights of shape (P,).
    seed, confidence_level, n_resamples
        Of the draws from each beta distribution.

    Returns
    -------
    tuple of Estimate
        One for each rater with replicates, in order of names, of `self_agreement_unbiased`; `method` says that and how far it is shrunk.
        Undefined where fewer than two raters met an item twice, or items come in clusters, since the beta distribution takes each as drawn by itself.

    References
    ----------
    Kleinman, J. C. (1973). Proportions with extraneous variance: single and independent samples. Journal of the American Statistical
    Association 68(341), 46-54. https://doi.org/10.1080/01621459.1973.10481332

    Examples
    --------
    >>> from agreement_pipeline import LabelsByRater, Scale
    >>> first = LabelsByRater([[0, 0]] * 12, scale=Scale(("no", "yes")), raters=("a", "b"))
    >>> cells = ReplicatedLabels([[2, 0]] * 10 + [[2, 0], [1, 1]], range(12), [0] * 10 + [1] * 2, first)
    >>> [(str(found.scope), round(found.value, 3)) for found in shrunken_self_agreement(cells)]
    [('rater a', 0.99), ('rater b', 0.628)]
    """
    order = sorted(np.unique(replicates.rater), key=lambda rater: replicates.raters[rater])
    cells = _cells(replicates, np.array(order, dtype=np.int64))
    why = IN_CLUSTERS if replicates.clusters else ONE_RATER if len(order) < 2 else None
    if why is not None:
        return tuple(
            _undefined(
                replicates.of(replicates.raters[rater]),
                replicates.raters[rater],
                confidence_level,
                why,
            )
            for rater in order
        )
    mean, mass = _pool(cells)
    rngs = [
        np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(len(order))
    ]
    found = []
    for rater, agreeing, met, rng in zip(order, cells.agreeing, cells.met, rngs, strict=True):
        draws = rng.beta(
            agreeing + mass * mean, met - agreeing + mass * (1 - mean), size=n_resamples
        )
        method = f"empirical Bayes: shrunk towards the pool of {len(order)} raters, {mean:.3f}, by {mass:.1f} items; these raters"
        found.append(
            _estimate(
                replicates,
                replicates.raters[rater],
                float((agreeing + mass * mean) / (met + mass)),
                draws,
                confidence_level,
                method,
            )
        )
    return tuple(found)


def _cells(replicates: ReplicatedLabels, raters: Array) -> _Cells:
    c, m = replicates.counts, replicates.sizes
    of_rater = (replicates.rater[:, None] == raters).astype(float) * replicates.cell_weights[
        :, None
    ]
    return _Cells((c * (c - 1)).sum(1) / (m * (m - 1)) @ of_rater, of_rater.sum(0))


def _pool(cells: _Cells) -> tuple[float, float]:
    """The pool's agreement, and how many items of a rater's own it weighs as much as."""
    total, raters = cells.met.sum(), len(cells.met)
    mean = (cells.agreeing.sum() + 0.5) / (total + 1)
    apart = cells.met @ (cells.agreeing / cells.met - mean) ** 2 / (mean * (1 - mean))
    spread = total - (cells.met**2).sum() / total - (raters - 1)
    correlation = (apart - (raters - 1)) / spread if spread > 0 else 0.0
    return float(mean), float(1 / np.clip(correlation, 1 / (total + 1), 0.5) - 1)


def _estimate(
    replicates: ReplicatedLabels,
    rater: str,
    value: float,
    draws: Array,
    confidence_level: float,
    method: str,
) -> Estimate:
    mine = replicates.of(rater)
    known = OfDraws(draws, value, (0.0, 1.0))
    return Estimate(
        MEASURE,
        Scope("rater", rater),
        value,
        known.limits((1 - confidence_level) / 2),
        confidence_level,
        method,
        mine.n_items,
        1,
        mine.n_ratings,
        known=known,
    )


def _undefined(mine: ReplicatedLabels, rater: str, confidence_level: float, why: str) -> Estimate:
    return Estimate(
        MEASURE,
        Scope("rater", rater),
        None,
        None,
        confidence_level,
        "empirical Bayes",
        mine.n_items,
        1,
        mine.n_ratings,
        undefined=why,
    )
