"""How often the disagreement of a row was seen.

A mix is how often each category was given in a row, whoever gave it.
"""

import numpy as np

from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics.counts import CategoryCounts
from agreement_pipeline.statistics.labels import LabelsByRater
from agreement_pipeline.statistics.weighted import Statistic, kinds


def times_seen(statistic: Statistic, possible: Statistic) -> Array:
    """How many items show the mix of each unseen row of `possible`.

    It is 0 for rows whose labels agree. It is 0 too if the statistic cannot tell: if a cluster
    holds several items, or if more than the labels of a panel counts.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> rows = CategoryCounts([[2, 0], [1, 1]], [9, 4], scale=Scale(("no", "yes")))
    >>> times_seen(rows, rows.with_unseen(3.0)).tolist()
    [0.0, 4.0, 0.0]
    """
    seen, mixes = statistic.weights, _mixes(possible)
    if _in_clusters(statistic) or mixes is None:
        return np.zeros(possible.weights.shape[-1] - len(seen))
    of_seen, of_unseen = np.split(kinds(mixes.astype(np.int64)), [len(seen)])
    times = np.bincount(of_seen, seen, len(mixes))
    return np.where((mixes[len(seen) :] > 0).sum(1) > 1, times[of_unseen], 0.0)


def _in_clusters(statistic: Statistic) -> bool:
    """True if a cluster holds several items."""
    return statistic.clusters is not None and statistic.clusters.n < statistic.weights.sum()


def _mixes(statistic: Statistic) -> Array | None:
    """How often each category was given in each row; None if it does not say all."""
    if isinstance(statistic, CategoryCounts):
        return statistic.counts
    if not isinstance(statistic, LabelsByRater) or statistic.confidence is not None:
        return None
    alone = statistic.classifier is None and statistic.second is None
    return statistic.counts().counts if alone else None
