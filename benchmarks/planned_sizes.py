"""How often a round of the planned size decides, if the raters are not as the plan assumes.

`python benchmarks/planned_sizes.py` prints one line for each population of four raters. The plan
knows the true α and the share of yes. It assumes that an item is clear to all or guessed by all.
The figure after ± is one standard error.

- careless raters: each rater guesses some items, whatever the others do.
- two camps of two raters: as in `populations.py`. Raters err a little, and may leave their camp.
- two camps of one mind: raters differ only on the items that the two camps read in two ways.
"""

import argparse
import math
from collections.abc import Callable, Sequence

import numpy as np
from populations import TWO, Mixture, alike, camps, hard_items

from agreement_pipeline.estimates import estimate
from agreement_pipeline.intervals import Inference
from agreement_pipeline.policy.planning import plan_measure
from agreement_pipeline.policy.populations import assumed

MEASURE, EXPECTED, CUTOFF, POWER, RATERS = "krippendorff_alpha", 0.85, 0.8, 0.9, 4
EVEN, HALVINGS = np.array([0.5, 0.5]), 40


def of_four(name: str, share: np.ndarray, given: np.ndarray) -> Mixture:
    return Mixture(name, (), (), TWO, share, given)


def as_assumed() -> Mixture:
    share, given = hard_items(EVEN, EXPECTED)
    return of_four("as the plan assumes", share, alike(given, RATERS))


def careless() -> Mixture:
    skill = math.sqrt(EXPECTED)
    return of_four("careless raters", EVEN, alike(skill * np.eye(2) + (1 - skill) * EVEN, RATERS))


def of_one_mind(split: float) -> Mixture:
    """Two raters say yes to a share of the items and two say no. All agree on the others."""
    no, yes = np.eye(2)
    given = np.array([[no] * 4, [yes] * 4, [yes, yes, no, no]])
    share = np.append((1 - split) * EVEN, split)
    return of_four("two camps of one mind", share, given)


def as_expected(in_camps: Callable[[float], Mixture]) -> Mixture:
    """Two camps, with as many items that they read in two ways as give the expected α."""
    few, many = 0.0, 0.5
    for _ in range(HALVINGS):
        middle = (few + many) / 2
        above = in_camps(middle).truth(MEASURE) > EXPECTED
        few, many = (middle, many) if above else (few, middle)
    return in_camps(many)


def planned(population: Mixture) -> int | None:
    """The size that a plan gives to somebody who knows the true α and the share of yes."""
    codes, likely = population.ways
    yes = float(likely @ codes.mean(1))
    told = assumed(MEASURE, population.truth(MEASURE), (1 - yes, yes), RATERS)
    return plan_measure(MEASURE, told, reliable=CUTOFF, probability=POWER).n_items


def deciding(population: Mixture, n_items: int, rounds: int) -> int:
    """The number of rounds whose lower limit reaches the cut-off."""
    found = 0
    for number, (weights, times) in enumerate(population.rounds(n_items, rounds, seed=1)):
        statistic = population.statistic(MEASURE, weights.astype(float))
        limits = estimate(MEASURE, statistic, Inference(seed=number)).interval
        found += times * (limits is not None and limits.low >= CUTOFF)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=4_000, help="rounds a line")
    options = parser.parse_args(arguments)
    for population in (as_assumed(), careless(), as_expected(camps), as_expected(of_one_mind)):
        n_items = planned(population)
        share = deciding(population, n_items, options.rounds) / options.rounds
        error = math.sqrt(share * (1 - share) / options.rounds)
        print(
            f"{population.name}: true α {population.truth(MEASURE):.3f}, {n_items} items planned, "
            f"{100 * share:.1f} % ± {100 * error:.1f} decide",
            flush=True,
        )


if __name__ == "__main__":
    main()
