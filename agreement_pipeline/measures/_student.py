"""Student's distribution, without SciPy."""

import math

import numpy as np


def lower_tail(t: float, df: int) -> float:
    """The probability that a variable of Student's distribution is at most `t`.

    By the finite series for whole degrees of freedom (Abramowitz & Stegun 1964, 26.7.3 and 26.7.4), to about 1e-14 for few degrees and 1e-11 for a
    million.

    >>> round(lower_tail(-1.699, 29), 4)
    0.05
    """
    theta = math.atan2(t, math.sqrt(df))
    k = np.arange(2 + df % 2, df - 1, 2)
    series = 1 + float(np.cumprod((k - 1) / k * math.cos(theta) ** 2).sum())
    within = math.sin(theta) * series if df % 2 == 0 else 2 / math.pi * (theta + (df > 1) * math.sin(theta) * math.cos(theta) * series)
    return min(1.0, max(0.0, (1 + within) / 2))
