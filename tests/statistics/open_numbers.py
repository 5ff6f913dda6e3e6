"""Simulated rounds of numbers without a list of categories, and how often a limit may fail."""

import numpy as np
import pytest

from agreement_pipeline.intervals import Inference
from benchmarks.populations import Errors
from benchmarks.studies.study import ALPHA, limits

ALIKE, RARELY_TEN_TIMES = (
    Errors("alike", 0.79),
    Errors("1 % are 10 times as large", 0.79, 0.01, 10.0),
)


def limits_of(
    errors: Errors, n: int, rounds: int, inference: Inference, raters: int = 3, measure: str = ALPHA
) -> np.ndarray:
    """The lower and the upper limit of each round of n items (2, rounds)."""
    drawn = (
        (errors.drawn(n, np.random.default_rng([number, n]), raters), 1) for number in range(rounds)
    )
    return limits(measure, drawn, inference)


def most(share: float, rounds: int) -> float:
    """In how many rounds what happens in a share of them may happen: chance adds two errors."""
    return rounds * share + 2 * float(np.sqrt(rounds * share * (1 - share)))


def have_the_moments_of(two: np.ndarray, numbers: np.ndarray, weights: np.ndarray) -> None:
    """Two values in the shares of their mean have the variance and the skewness of all ratings."""
    low, high = two
    every = np.repeat(numbers, weights, axis=0).ravel()
    share = (every.mean() - low) / (high - low)
    for power in (2, 3):
        found = (1 - share) * (low - every.mean()) ** power + share * (high - every.mean()) ** power
        assert found == pytest.approx(((every - every.mean()) ** power).mean())
    assert every.min() < low < high < every.max()
