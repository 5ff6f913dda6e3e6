"""Intervals of a share, and of a mean over items or clusters of items."""

import math

import numpy as np

from agreement_pipeline.intervals.distributions import bisect
from agreement_pipeline.intervals.draws import Interval
from agreement_pipeline.ratings import Array, Codes
from agreement_pipeline.students_t import quantile


def share_interval(successes: int, n: int, level: float) -> Interval:
    """Clopper and Pearson's (1934) interval of a share. It holds for every n of 1 or more.

    https://doi.org/10.1093/biomet/26.4.404

    >>> low, high = share_interval(10, 10, 0.95)
    >>> round(low, 4), high
    (0.6915, 1.0)
    """
    tail = (1 - level) / 2
    low = 0.0 if successes == 0 else 1 - _clopper_pearson_limit(n - successes, n, tail)
    high = 1.0 if successes == n else _clopper_pearson_limit(successes, n, tail)
    return Interval(low, high)


def _clopper_pearson_limit(successes: int, n: int, tail: float) -> float:
    k = np.arange(1, successes + 1)
    ways = np.append(0.0, np.cumsum(np.log((n - k + 1) / k)))
    k = np.append(0, k)

    def too_small(share: float) -> bool:
        probability = np.exp(ways + k * math.log(share) + (n - k) * math.log1p(-share)).sum()
        return bool(probability > tail)

    low, high = bisect(0.0, 1.0, too_small)
    return (low + high) / 2


def mean_interval(values: Array, clusters: Codes, level: float) -> Interval | None:
    """Student's interval of a mean over items (n,), from the differences between their clusters.

    None with fewer than two clusters. Items without clusters are each a cluster of their own.

    >>> low, high = mean_interval(np.array([1.0, 3.0]), np.array([0, 1]), 0.5)
    >>> round(low, 6), round(high, 6)
    (1.0, 3.0)
    """
    n_clusters, mean = int(clusters.max(initial=-1)) + 1, float(values.mean())
    if n_clusters < 2:
        return None
    cluster_deviations = np.bincount(clusters, values - mean, minlength=n_clusters)
    return _student_interval(
        mean, float(cluster_deviations @ cluster_deviations), n_clusters, len(values), level
    )


def mean_interval_of_rows(values: Array, items: Codes, level: float) -> Interval | None:
    """The same where each value is that of so many `items`, each a cluster of its own.

    >>> low, high = mean_interval_of_rows(np.array([1.0, 3.0]), np.array([1, 1]), 0.5)
    >>> round(low, 6), round(high, 6)
    (1.0, 3.0)
    """
    n = int(items.sum())
    if n < 2:
        return None
    mean = float(np.average(values, weights=items))
    return _student_interval(mean, float(items @ (values - mean) ** 2), n, n, level)


def _student_interval(
    mean: float, squares: float, n_clusters: int, n: int, level: float
) -> Interval:
    error = math.sqrt(n_clusters / (n_clusters - 1) * squares) / n
    reach = quantile((1 + level) / 2, n_clusters - 1) * error
    return Interval(mean - reach, mean + reach)
