"""Raters at large beside a classifier: how often the lower limits of S and κ_va hold.

`python benchmarks/classifiers_at_large.py [--rounds 600]` prints a table. The raters of each round
are drawn. Each knows items with a probability of their own, and guesses otherwise. The classifier
is a rater of average skill. The true value is that of all possible panels of as many raters:
given an item, the labels of raters drawn at large are independent.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from populations import Population, Sample

from agreement_pipeline.estimates import estimate
from agreement_pipeline.intervals import Inference

MEASURES = ("shah_s", "vanbelle_albert_kappa")
ITEMS, RATERS, SPREADS = (60, 250), (3, 5, 10), (0.25, 1.0)
ALIKE = Population(60, 3, 2, None, "careless raters", 0.0, 0.8)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=600)
    rounds = parser.parse_args(arguments).rounds
    inference = Inference(method="two_way_jackknife_log")
    for items, raters, spread in product(ITEMS, RATERS, SPREADS):
        alike = replace(ALIKE, n=items, raters=raters)
        population = replace(alike, spread=spread)
        held = np.zeros((2, len(MEASURES)))
        for number in range(rounds):
            rng = np.random.default_rng([items, raters, int(100 * spread), number])
            panel = Sample.drawn(population, rng).panel()
            for place, measure in enumerate(MEASURES):
                interval = estimate(measure, panel, inference).interval
                if interval is not None:
                    held[0, place] += interval.low <= alike.truths[measure]
                    held[1, place] += interval.high >= alike.truths[measure]
        shown = " | ".join(f"{share:.1f}" for share in (100 * held / rounds).T.ravel())
        print(f"| {raters} | {items} | {spread:.2f} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
