r"""Whether items with more ratings are those on which raters differ.

Suppose that a third rater is asked only where two differ. Then items with three ratings differ more
than items with two, and measures that count each item once take agreement for higher than it is.

Suppose that ratings are missing completely at random: whatever the item, and whatever was said of
it. Then two ratings of an item differ equally often, however many ratings it has. Let :math:`d` be
the share of an item's pairs of ratings that differ, and let :math:`\bar d_1, \bar d_2` be its means
on :math:`n_1` items of more than m ratings and on the :math:`n_2` others. By Hoeffding's bound,
each mean of shares lies as far from the common mean :math:`\delta` with at most the probability
:math:`\exp(-n_g \, KL(\bar d_g \| \delta))`. The sum of both exponents is smallest at the pooled
mean. There it is x, and

.. math:: p \le 2 (K - 1) (1 + x) e^{-x}

for both directions and each of the K - 1 ways to part K numbers of ratings. So p is never too
small, on any number of items.

Reference: Hoeffding, W. (1963). Probability inequalities for sums of bounded random variables.
Journal of the American Statistical Association 58(301), 13-30. https://doi.org/10.2307/2282952
"""

import math

import numpy as np
from numpy.typing import NDArray

from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics.counts import CategoryCounts


def chosen_ratings(counts: CategoryCounts) -> float:
    """The p-value of the hypothesis that ratings are missing completely at random.

    It is 1 if all items with two ratings or more have equally many. Items that come in clusters
    count as the number of items that would tell as much.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> scale, alike = Scale(("no", "yes")), [[2, 0], [0, 2]]
    >>> chosen_ratings(CategoryCounts([*alike, [1, 1]], [40, 40, 20], scale=scale))
    1.0
    >>> chosen_ratings(CategoryCounts([*alike, [2, 1]], [40, 40, 20], scale=scale)) < 1e-9
    True
    """
    used = counts.pairable & (counts.weights > 0)
    sizes, weights = counts.sizes[used], counts.weights[used]
    pairs = sizes * (sizes - 1)
    unlike = (pairs - (counts.counts[used] * (counts.counts[used] - 1)).sum(1)) / pairs
    steps = np.unique(sizes)[:-1]
    if not len(steps):
        return 1.0
    told = 1.0
    if counts.clusters is not None:
        told = float(counts.clusters.effective(counts.weights, used)) / float(weights.sum())
    x = told * max(_apart(unlike, weights, sizes > step) for step in steps)
    return min(1.0, 2 * len(steps) * (1 + x) * math.exp(-x))


def _apart(unlike: Array, weights: Array, more: NDArray[np.bool_]) -> float:
    """How far the means of two groups lie from the pooled mean, as an exponent."""
    pooled = float(np.average(unlike, weights=weights))
    return sum(
        float(weights[group].sum())
        * _divergence(float(np.average(unlike[group], weights=weights[group])), pooled)
        for group in (more, ~more)
    )


def _divergence(share: float, other: float) -> float:
    """The divergence of Kullback and Leibler between two shares."""
    parts = ((share, other), (1 - share, 1 - other))
    return sum(one * math.log(one / two) for one, two in parts if one > 0 and two > 0)


__all__ = ["chosen_ratings"]
