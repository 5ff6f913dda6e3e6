"""Measure how often a lower limit fails if a growing round is judged every night.

A lower limit fails if it lies above the true value.
`python benchmarks/looking.py` prints one line for each population. The line shows the share of
simulated rounds in which the limit failed:

- on the last night;
- on any night, if each night is judged as if it were the only one;
- on any night, if the limits are always valid.

The figure after ± is one standard error.
"""

import argparse
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from populations import Population, Sample

from agreement_pipeline.intervals import (
    AlwaysValid,
    Inference,
    gathered,
    mixture,
    points_of,
)
from agreement_pipeline.measures import MEASURES

TRUTH = 0.8
MEASURE = "krippendorff_alpha"
CONFIDENCE_LEVEL = 0.95
TIGHTEST = 300
NIGHTS = range(40, 601, 20)
POPULATIONS = {
    "3 raters, 2 categories, hard items": Population(
        NIGHTS[-1], 3, 2, None, "hard items", 0.0, TRUTH
    ),
    "3 raters, 2 categories, careless raters": Population(
        NIGHTS[-1], 3, 2, None, "careless raters", 0.0, TRUTH
    ),
    "3 raters, one of 2 categories at 80 %": Population(
        NIGHTS[-1], 3, 2, 0.8, "hard items", 0.0, TRUTH
    ),
}


class Missed(NamedTuple):
    """The number of rounds in which the lower limit was above the true value."""

    rounds: int
    last_night: int
    any_night: int
    always_valid: int


def looked_at(
    population: Population,
    *,
    rounds: int,
    draws: int,
    confidence_level: float = CONFIDENCE_LEVEL,
    seed: int = 0,
) -> Missed:
    rng = np.random.default_rng(seed)
    above = np.array(
        [
            list(_above(Sample.drawn(population, rng), draws, confidence_level, number))
            for number in range(rounds)
        ]
    )
    once, always = above[..., 0], above[..., 1]
    return Missed(rounds, int(once[:, -1].sum()), int(once.any(1).sum()), int(always.any(1).sum()))


def _above(
    sample: Sample, draws: int, confidence_level: float, seed: int
) -> Iterator[tuple[bool, bool]]:
    """Night by night: True if the lower limit is above the truth.

    The first flag is for a round that is judged once, the second for always valid limits.
    """
    inference = Inference(confidence_level, draws, seed=seed)
    record, method, tail = MEASURES[MEASURE], inference.interval_method, inference.tail
    for n in NIGHTS:
        counts = replace(sample, codes=sample.codes[:n]).counts("nominal")
        evidence = gathered(points_of([record], counts), counts, inference)[MEASURE]
        once = method.distribution(evidence, record.bounds)
        of_many = (method.distribution_of_many or method.distribution)(evidence, record.bounds)
        always = AlwaysValid(
            of_many, record.bounds, evidence.n * mixture(TIGHTEST, 1 - confidence_level)
        )
        yield once.limits(tail).low > TRUTH, always.limits(tail).low > TRUTH


def _share(count: int, of: int) -> str:
    share = count / of
    return f"{100 * share:5.1f} % ± {100 * math.sqrt(share * (1 - share) / of):.1f}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=250, help="rounds a population")
    parser.add_argument("--draws", type=int, default=20_000)
    options = parser.parse_args(arguments)
    print(
        f"judged at {NIGHTS[0]}, {NIGHTS[1]}, … {NIGHTS[-1]} items; true α {TRUTH}; "
        f"a {100 * CONFIDENCE_LEVEL:g} % interval; tightest at {TIGHTEST} items"
    )
    for name, population in POPULATIONS.items():
        start = time.process_time()
        found = looked_at(population, rounds=options.rounds, draws=options.draws)
        last, every, always = (_share(count, found.rounds) for count in found[1:])
        print(
            f"{name:40s} last night {last}; any night {every}; always valid {always}  "
            f"({time.process_time() - start:.0f} s)",
            flush=True,
        )


if __name__ == "__main__":
    main()
