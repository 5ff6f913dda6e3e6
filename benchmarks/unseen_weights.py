"""What other weights of unseen disagreement would save, and which lower limits of α would fail.

`python benchmarks/unseen_weights.py [--rounds 2000]` prints a table for four ways to weigh the
splits of an unseen item between two categories:

- full: every split weighs the same, three items in all;
- the default: the same, but a split that was seen more than five times weighs less;
- lighter: as full, but all splits together differ as much as one item that is split evenly;
- kinds: one item each for agreement on either category, and for all splits that differ.

With two raters, full, lighter and kinds are the same.
"""

import argparse
from collections.abc import Callable, Sequence

import numpy as np
from populations import Mixture, guessed, overlooked

from agreement_pipeline.intervals import PRIOR_MASS
from agreement_pipeline.intervals.distributions import expanded
from agreement_pipeline.intervals.evidence import OFTEN
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.policy import RELIABLE
from agreement_pipeline.statistics import CategoryCounts

ALPHA, TAIL = "krippendorff_alpha", 0.025
POPULATIONS = (
    (guessed(0.5, 0.85, (880,), ALPHA, raters=3), 880),
    (guessed(0.1, 0.9, (660,), ALPHA, raters=3), 660),
    (guessed(0.5, 0.8, (881,), ALPHA, raters=3), 881),
    (guessed(0.1, 0.8, (691,), ALPHA, raters=3), 691),
    (guessed(0.5, 0.95, (80,), ALPHA, raters=3), 80),
    (guessed(0.1, 0.9, (520,), ALPHA, raters=5), 520),
    (guessed(0.5, 0.79, (300,), ALPHA, raters=3), 300),
    (guessed(0.05, 0.79, (60,), ALPHA, raters=5), 60),
    (guessed(0.05, 0.79, (60,), ALPHA, raters=10), 60),
    (guessed(0.02, 0.3, (300,), ALPHA, raters=10), 300),
    (overlooked(0.015, 0.5, (300,), 3), 300),
    (overlooked(0.015, 0.5, (100,), 5), 100),
    (overlooked(0.015, 0.5, (300,), 5), 300),
)


def full(seen: np.ndarray) -> np.ndarray:
    return np.full(len(seen), PRIOR_MASS / len(seen))


def default(seen: np.ndarray) -> np.ndarray:
    times = np.concatenate([[0.0], seen[1:-1], [0.0]])
    return full(seen) * OFTEN / np.maximum(times, OFTEN)


def lighter(seen: np.ndarray) -> np.ndarray:
    size = len(seen) - 1
    return full(seen) * 2 * (size // 2) * (size - size // 2) / (size * (size - 1))


def kinds(seen: np.ndarray) -> np.ndarray:
    return np.concatenate([[1.0], np.full(len(seen) - 2, 1 / (len(seen) - 2)), [1.0]])


WAYS: tuple[Callable[[np.ndarray], np.ndarray], ...] = (full, default, lighter, kinds)


def failed(population: Mixture, n: int, rounds: int, draws: int) -> np.ndarray:
    """For each way, the shares of rounds in percent: a limit above the truth, and admitted."""
    size, found = population.given.shape[1], np.zeros((len(WAYS), 2))
    record, truth = MEASURES[ALPHA], population.truth(ALPHA)
    rows = np.column_stack([np.arange(size, -1, -1), np.arange(size + 1)])
    splits = CategoryCounts(rows, scale=population.scale)
    yes = population.ways[0].sum(1)
    for number, (weights, times) in enumerate(population.rounds(n, rounds, 0)):
        rng = np.random.default_rng([number, n])
        seen = np.bincount(yes, weights, minlength=size + 1)
        value, *resampled = (
            record(splits.reweighted(each)).value
            for each in (
                seen,
                *(
                    rng.dirichlet(seen + mass, draws) * n
                    for mass in (1e-9, *(way(seen) for way in WAYS))
                ),
            )
        )
        if np.isnan(value):
            continue
        for place, draw in enumerate(resampled[1:]):
            known = expanded(draw, float(value), record.bounds, n, seen=resampled[0])
            low = known.limits(TAIL).low
            found[place] += times * np.array([low > truth, low >= RELIABLE])
    return 100 * found / rounds


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--draws", type=int, default=400)
    options = parser.parse_args(arguments)
    for population, n in POPULATIONS:
        shares = failed(population, n, options.rounds, options.draws)
        shown = " | ".join(", ".join(f"{share:.1f}" for share in of) for of in shares)
        print(f"| {population.name} | {population.truth(ALPHA):.2f} | {n} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
