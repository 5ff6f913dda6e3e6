"""Student's distribution, without SciPy."""

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np

NEARLY_NORMAL = 1000
LONG_SERIES = 100_000
NEWTON_STEPS, FARTHEST = 4, 40.0


def lower_tail(t: float, df: int) -> float:
    """The probability that a variable of Student's distribution is at most `t`.

    By the finite series for whole degrees of freedom (Abramowitz & Stegun 1964, 26.7.3 and 26.7.4), to about 1e-14 for few degrees and 1e-12 for many;
    where it would be long, from the normal deviate whose expansion (26.7.5) is `t`, to 1e-12.

    >>> round(lower_tail(-1.699, 29), 4)
    0.05
    """
    if df >= LONG_SERIES:
        z = t = min(max(t, -FARTHEST), FARTHEST)
        for _ in range(NEWTON_STEPS):
            z -= _expansion(z, df) - t
        return NormalDist().cdf(z)
    theta = math.atan2(t, math.sqrt(df))
    k = np.arange(2 + df % 2, df - 1, 2)
    series = 1 + float(np.cumprod((k - 1) / k * math.cos(theta) ** 2).sum())
    within = (
        math.sin(theta) * series
        if df % 2 == 0
        else 2 / math.pi * (theta + (df > 1) * math.sin(theta) * math.cos(theta) * series)
    )
    return min(1.0, max(0.0, (1 + within) / 2))


@lru_cache(maxsize=1024)
def quantile(p: float, df: int) -> float:
    """The value that a variable of Student's distribution is at most with probability `p`, to about 1e-9 of itself.

    By halving an interval of angles; with many degrees of freedom by the expansion about the normal quantile (Abramowitz & Stegun 1964, 26.7.5).

    >>> round(quantile(0.975, 2), 4), round(quantile(0.975, 100_000), 4)
    (4.3027, 1.96)
    """
    if df >= NEARLY_NORMAL:
        return _expansion(NormalDist().inv_cdf(p), df)
    low, high = -math.pi / 2, math.pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (
            (middle, high)
            if lower_tail(math.sqrt(df) * math.tan(middle), df) < p
            else (low, middle)
        )
    return math.sqrt(df) * math.tan((low + high) / 2)


def _expansion(z: float, df: int) -> float:
    """Student's deviate about the normal one."""
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return float(z + sum(term / df**power for power, term in enumerate(terms, 1)))
