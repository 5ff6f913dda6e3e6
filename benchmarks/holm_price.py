"""How many more items an admission needs if all verdicts of a round must hold together.

`python benchmarks/holm_price.py` prints a table. All verdicts rest on independent normal values
that lie equally far above the cut-off. A round is admitted if each verdict reaches its own level,
or if all do so by Holm's procedure. Items grow with the square of the distance.
"""

from collections.abc import Callable
from statistics import NormalDist

import numpy as np

TAIL, POWER, ROUNDS, HALVINGS = 0.025, 0.9, 100_000, 30
VERDICTS = (2, 4, 8, 20)


def by_own_level(values: np.ndarray) -> np.ndarray:
    """Whether every value is beyond its own level."""
    return values[:, 0] >= NormalDist().inv_cdf(1 - TAIL)


def by_holm(values: np.ndarray) -> np.ndarray:
    """Whether the greatest value is beyond the strictest level, the next beyond the next one…"""
    levels = [NormalDist().inv_cdf(1 - TAIL / place) for place in range(1, values.shape[1] + 1)]
    return (values >= levels).all(1)


def distance(admits: Callable[[np.ndarray], np.ndarray], errors: np.ndarray) -> float:
    """The distance in standard errors with which nine rounds in ten are admitted."""
    low, high = 0.0, 10.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if admits(errors + middle).mean() >= POWER else (middle, high)
    return high


def main() -> None:
    for k in VERDICTS:
        errors = np.sort(np.random.default_rng(k).normal(size=(ROUNDS, k)), axis=1)
        own, together = distance(by_own_level, errors), distance(by_holm, errors)
        print(f"| {k} | {own:.2f} | {together:.2f} | {(together / own) ** 2:.3f} |")


if __name__ == "__main__":
    main()
