"""How much more often lower limits fail since seen disagreement weighs less.

`python benchmarks/seen_disagreement.py [--rounds 12]` runs over cells of the coverage study with at
least 100 items. Both limits are of the same rounds and the same draws. It prints a line for each
measure: how many rounds, and how often the 97.5 % lower limit was above the truth, before and now.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from unittest.mock import patch

from coverage_study import GROUPS, statistic_of
from populations import CELLS, Sample, design

from agreement_pipeline.intervals import (
    DEFAULT_METHOD,
    METHODS,
    Inference,
    evidence,
    gathered,
    points_of,
)
from agreement_pipeline.measures import MEASURES

GROUPS_OF_LABELS = ("nominal", "ordinal", "interval", "patterns")
FEWEST_ITEMS, SEED, TAIL = 100, 777, 0.025
ALWAYS_FULL, ROUNDING = 1e18, 1e-12


def lower_limits(
    statistic: object, names: Sequence[str], seed: int, often: float
) -> dict[str, float]:
    """The lower limits of measures, where splits weigh less if they were seen more often."""
    points = points_of([MEASURES[name] for name in names], statistic)
    with patch.object(evidence, "OFTEN", often):
        found = gathered(points, statistic, Inference(n_resamples=400, seed=seed))
    made = METHODS[DEFAULT_METHOD].distribution
    return {name: made(found[name], MEASURES[name].bounds).limits(TAIL).low for name in found}


def failures(sample: Sample, seed: int) -> Iterator[tuple[str, bool, bool]]:
    """For each measure, whether its lower limit is above the truth, before and now."""
    truths = sample.population.truths
    for group in GROUPS_OF_LABELS:
        names = {name: known for name, known in GROUPS[group].items() if name in truths}
        if not names:
            continue
        statistic, registered = statistic_of(sample, group), list(names.values())
        before = lower_limits(statistic, registered, seed, ALWAYS_FULL)
        now = lower_limits(statistic, registered, seed, evidence.OFTEN)
        for name, known in names.items():
            if known in now:
                truth = truths[name] + ROUNDING
                yield name, before[known] > truth, now[known] > truth


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--cells", nargs="+", type=int, default=range(CELLS), metavar="CELL")
    options = parser.parse_args(arguments)
    rounds, before, now = Counter[str](), Counter[str](), Counter[str]()
    for cell in options.cells:
        population = design(CELLS)[cell]
        if population.n < FEWEST_ITEMS:
            continue
        for number, sample in enumerate(population.samples(options.rounds, [SEED, cell])):
            for name, failed_before, fails in failures(sample, number):
                rounds[name] += 1
                before[name] += failed_before
                now[name] += fails
    for name in rounds:
        print(f"| `{name}` | {rounds[name]:,} | {before[name]} | {now[name]} |")


if __name__ == "__main__":
    main()
