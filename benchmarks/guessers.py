"""Raters at large of whom one in seven guesses: how often the lower limit of α holds.

`python benchmarks/guessers.py [--rounds 600]` prints a table. The raters of each round are drawn.
Those who do not guess are always right. So a round of raters without a guesser shows none.
"""

import argparse
from collections.abc import Sequence

import numpy as np
from populations import TRUTH_OF_GUESSERS, with_guessers

from agreement_pipeline.estimates import estimate
from agreement_pipeline.intervals import Inference
from agreement_pipeline.policy import RELIABLE


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=600)
    rounds = parser.parse_args(arguments).rounds
    inference = Inference(method="two_way_jackknife_log")
    for raters in (3, 5, 8, 20):
        for items in (60, 300):
            rng = np.random.default_rng([raters, items])
            found = [
                estimate(
                    "krippendorff_alpha", with_guessers(items, raters, rng), inference
                ).interval
                for _ in range(rounds)
            ]
            lows = np.array([each.low for each in found if each])
            held, admitted = (
                100 * np.mean(lows <= TRUTH_OF_GUESSERS),
                100 * np.mean(lows >= RELIABLE),
            )
            print(f"| {raters} | {items} | {held:.1f} | {admitted:.1f} |", flush=True)


if __name__ == "__main__":
    main()
