"""Raters at large of whom one in seven guesses: how often the lower limit of α holds.

`python benchmarks/guessers.py [--rounds 600]` prints a table. The raters of each round are drawn.
Those who do not guess are always right. So a round of raters without a guesser shows none.
"""

import argparse
from collections.abc import Sequence

import numpy as np

from agreement_pipeline.estimates import estimate
from agreement_pipeline.intervals import Inference
from agreement_pipeline.policy import RELIABLE
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import LabelsByRater

GUESSERS = 1 / 7
RIGHT = 1 - GUESSERS / 2
TRUTH = 1 - 4 * RIGHT * (1 - RIGHT)
TWO = Scale(("no", "yes"))


def drawn(items: int, raters: int, rng: np.random.Generator) -> LabelsByRater:
    truth = rng.integers(2, size=(items, 1))
    guessed = rng.integers(2, size=(items, raters))
    codes = np.where(rng.random(raters) < GUESSERS, guessed, truth)
    return LabelsByRater(codes, scale=TWO, raters=tuple(map(str, range(raters)))).merged()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=600)
    rounds = parser.parse_args(arguments).rounds
    inference = Inference(method="two_way_jackknife_log")
    for raters in (3, 5, 8, 20):
        for items in (60, 300):
            rng = np.random.default_rng([raters, items])
            found = [
                estimate("krippendorff_alpha", drawn(items, raters, rng), inference).interval
                for _ in range(rounds)
            ]
            lows = np.array([each.low for each in found if each])
            held, admitted = 100 * np.mean(lows <= TRUTH), 100 * np.mean(lows >= RELIABLE)
            print(f"| {raters} | {items} | {held:.1f} | {admitted:.1f} |", flush=True)


if __name__ == "__main__":
    main()
