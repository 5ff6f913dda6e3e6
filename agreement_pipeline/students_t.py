"""Student's t distribution, without a library whose import takes longer than a small round.

The tail is an incomplete beta function (DiDonato and Morris 1992,
https://doi.org/10.1145/131766.131776).
"""

import math
from functools import lru_cache
from itertools import count
from statistics import NormalDist

LARGEST = 1e150

LARGE = 100.0
STEPS = 60
SMALLEST = 1e-300
TO_THE_LAST_DIGIT = 1e-16


def lower_tail_probability(t: float, df: int) -> float:
    if math.isnan(t):
        raise ValueError("lower_tail: found NaN; expected a number.")
    tail = _upper_tail_probability(min(abs(t), LARGEST), df) if not math.isinf(t) else 0.0
    return tail if t < 0 else 1 - tail


@lru_cache(maxsize=1024)
def quantile(p: float, df: int) -> float:
    """The value that a variable of Student's distribution is at most with probability `p`.

    >>> round(quantile(0.975, 2), 4), round(quantile(0.975, 100_000), 4)
    (4.3027, 1.96)
    """
    if p > 1 / 2:
        return -quantile(1 - p, df)
    if p in (0, 1 / 2):
        return 0.0 if p else -math.inf
    return -_positive_quantile(p, df)


def _positive_quantile(p: float, df: int) -> float:
    """The value over 0 that is exceeded with probability `p`, by Newton's steps.

    The logarithm of the tail is concave in that of the value. The steps therefore converge.
    """
    if df == 1:
        return 1 / math.tan(math.pi * p)
    power = math.log(-NormalDist().inv_cdf(p))
    for _ in range(STEPS):
        t = math.exp(power)
        tail = _upper_tail_probability(t, df)
        step = tail * math.log(tail / p) / (t * _density(t, df))
        power += step
        if abs(step) < TO_THE_LAST_DIGIT * max(1.0, abs(power)):
            break
    return math.exp(power)


def _density(t: float, df: int) -> float:
    constant = _ratio_of_gammas(df / 2) / math.sqrt(math.pi * df)
    return constant * math.exp(-(df + 1) / 2 * math.log1p(t * t / df))


def _upper_tail_probability(t: float, df: int) -> float:
    t_fraction, df_fraction = t * t / (df + t * t), df / (df + t * t)
    a = df / 2
    front = (
        _ratio_of_gammas(a)
        * math.exp(-a * math.log1p(t * t / df))
        * math.sqrt(t_fraction / math.pi)
    )
    if df_fraction < (a + 1) / (a + 2.5):
        return front / a / _continued_fraction(df_fraction, a, 0.5) / 2
    return 0.5 - front / _continued_fraction(t_fraction, 0.5, a)


def _ratio_of_gammas(a: float) -> float:
    r"""The ratio :math:`\Gamma(a + 1/2) / \Gamma(a)`, by its asymptotic series if `a` is large."""
    if a < LARGE:
        return math.gamma(a + 0.5) / math.gamma(a)
    terms = (1, -1 / 8, 1 / 128, 5 / 1024, -21 / 32768, -399 / 262144)
    return math.sqrt(a) * sum(term / a**power for power, term in enumerate(terms))


def _continued_fraction(x: float, a: float, b: float) -> float:
    """It is that of the incomplete beta function, by Lentz's algorithm."""
    fraction, upper, lower = 1.0, 1.0, 0.0
    for step in count(1):
        m = step // 2
        if step % 2:
            part = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            part = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        lower = 1 / (1 + part * lower or SMALLEST)
        upper = 1 + part / upper or SMALLEST
        fraction *= upper * lower
        if abs(upper * lower - 1) <= TO_THE_LAST_DIGIT:
            return fraction
    raise AssertionError  # pragma: no cover
