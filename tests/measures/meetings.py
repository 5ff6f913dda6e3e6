"""Replicates from counts, and equation 1 of Campagner and Cabitza by bisection."""

import numpy as np

from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import LabelsByRater, ReplicatedLabels


def bisected(d, p):
    """The x of equation 1 at the greatest entropy: x = Π (d_k - x p_k)^p_k, by bisection."""
    low, high = 0.0, min(a / b for a, b in zip(d, p, strict=True) if b > 0)
    for _ in range(200):
        middle = (low + high) / 2
        product = np.prod(
            [max(a - middle * b, 0.0) ** b for a, b in zip(d, p, strict=True) if b > 0]
        )
        low, high = (middle, high) if middle < product else (low, middle)
    return low


def replicated(first, cells, weights=None, names=("no", "yes")):
    """The statistic from first ratings (items, raters) and counts by (item, rater)."""
    patterns = LabelsByRater(
        first, weights, scale=Scale(names), raters=[f"r{r}" for r in range(np.shape(first)[1])]
    )
    where = np.array(list(cells)).reshape(-1, 2)
    return ReplicatedLabels(
        np.array(list(cells.values()), dtype=float), where[:, 0], where[:, 1], patterns
    )
