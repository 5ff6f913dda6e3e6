"""Measure how often a round of a true α at the cut-off is admitted, if it may be judged twice.

`python benchmarks/planned_looks.py` prints one line for each population and first size. A round is
judged once. If it is held, it may grow and be judged again:

- by the advice: as many items more as "would decide", if the value lies above the cut-off;
- by a plan of two looks, at the first size and at twice as many items, for each spending;
- by always valid limits, at the same two sizes.

The figure after ± is one standard error. The promise is 2.5 %.
"""

import argparse
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from looking import CONFIDENCE_LEVEL, MEASURE, TRUTH
from populations import Population, Sample

from agreement_pipeline.estimates import Estimate, estimate
from agreement_pipeline.intervals import Inference, Looks
from agreement_pipeline.policy.reasons import times_as_many

MOST_TIMES = 20
FIRST = (100, 300)
SHAPES = {
    "3 raters, 2 categories, hard items": (3, 2, None, "hard items", 0.0, TRUTH),
    "3 raters, 2 categories, careless raters": (3, 2, None, "careless raters", 0.0, TRUTH),
    "3 raters, one of 2 categories at 80 %": (3, 2, 0.8, "hard items", 0.0, TRUTH),
}


class Admitted(NamedTuple):
    """The number of rounds that were admitted at either look."""

    once: int
    by_advice: int
    obrien_fleming: int
    pocock: int
    always_valid: int


def admitted(shape: Sequence[object], first: int, rounds: int, draws: int, seed: int) -> Admitted:
    rng = np.random.default_rng(seed)
    population = Population(MOST_TIMES * first, *shape)
    found = [
        _round(Sample.drawn(population, rng), first, draws, number) for number in range(rounds)
    ]
    return Admitted(*np.sum(found, axis=0).tolist())


def _round(sample: Sample, first: int, draws: int, seed: int) -> tuple[bool, ...]:
    """Whether each way of looking admits one round."""

    def reaches(n: int, **settings: object) -> bool:
        inference = Inference(**{"n_resamples": draws, "seed": seed} | settings)
        return _found(sample, n, inference).low >= TRUTH

    at_first = _found(sample, first, Inference(CONFIDENCE_LEVEL, draws, seed=seed))
    once = at_first.low >= TRUTH
    advised = _advised(at_first, first)
    again = [
        any(reaches(n, **settings) for n in (first, 2 * first))
        for settings in (
            {"looks": Looks((first, 2 * first), "obrien_fleming")},
            {"looks": Looks((first, 2 * first), "pocock")},
            {"always_valid_at": 2 * first, "n_resamples": 2 * draws},
        )
    ]
    return once, once or (advised is not None and reaches(advised)), *again


def _found(sample: Sample, n: int, inference: Inference) -> Estimate:
    counts = replace(sample, codes=sample.codes[:n]).counts("nominal")
    return estimate(MEASURE, counts, inference)


def _advised(found: Estimate, first: int) -> int | None:
    """The size that the reason of the verdict advises, or None if it says that none helps."""
    if found.low >= TRUTH or found.value <= TRUTH:
        return None
    kept = partial(found.distribution.relative_reach, (1 - CONFIDENCE_LEVEL) / 2)
    times = times_as_many(found.value, found.interval, TRUTH, kept)
    return min(MOST_TIMES * first, first + max(1, round(first * (times - 1))))


def _share(count: int, of: int) -> str:
    share = count / of
    return f"{100 * share:.1f} % ± {100 * math.sqrt(share * (1 - share) / of):.1f}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=2_000, help="rounds a line")
    parser.add_argument("--draws", type=int, default=10_000)
    options = parser.parse_args(arguments)
    print(f"true α {TRUTH}; a {100 * CONFIDENCE_LEVEL:g} % interval; admitted at either look")
    for name, shape in SHAPES.items():
        for first in FIRST:
            found = admitted(shape, first, options.rounds, options.draws, seed=first)
            shares = (
                f"{way.replace('_', ' ')} {_share(count, options.rounds)}"
                for way, count in zip(Admitted._fields, found, strict=True)
            )
            print(f"{name}, {first} items: {'; '.join(shares)}", flush=True)


if __name__ == "__main__":
    main()
