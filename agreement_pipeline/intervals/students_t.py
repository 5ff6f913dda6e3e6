"""Student's t distribution, from SciPy."""


def lower_tail(t: float, df: int) -> float:
    """The probability that a variable of Student's distribution is at most `t`.

    >>> round(lower_tail(-1.699, 29), 4)
    0.05
    """
    from scipy.special import stdtr

    return float(stdtr(df, t))


def quantile(p: float, df: int) -> float:
    """The value that a variable of Student's distribution is at most with probability `p`.

    >>> round(quantile(0.975, 2), 4), round(quantile(0.975, 100_000), 4)
    (4.3027, 1.96)
    """
    from scipy.special import stdtrit

    return float(stdtrit(df, p))
