"""Measure how often two rounds seem to differ if only their prevalence does.

`python benchmarks/prevalences.py` prints one line for each kind of pair. Raters find some items of
a category and take some others for it. They do so alike in both rounds. The line has the share of
pairs whose 95 % interval leaves 0 out, at their own prevalence and at a common one.
"""

import argparse
import math
from collections.abc import Sequence

import numpy as np
from populations import of_finders

from agreement_pipeline.estimates.common_prevalence import at_common_prevalence
from agreement_pipeline.estimates.differences import Side, difference
from agreement_pipeline.intervals import Inference

PAIRS = (
    (150, 3, 0.94, 0.04, 0.5, 0.15),
    (400, 3, 0.94, 0.04, 0.5, 0.15),
    (1000, 3, 0.94, 0.04, 0.5, 0.15),
    (400, 5, 0.94, 0.04, 0.5, 0.15),
    (400, 3, 0.90, 0.02, 0.5, 0.15),
    (400, 3, 0.94, 0.04, 0.3, 0.3),
)
"""Items, raters, how often raters find an item of the category and take another for one, and the
prevalence in both rounds."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=400)
    parser.add_argument("--draws", type=int, default=1000)
    options = parser.parse_args(arguments)
    for n, raters, right, wrong, *shares in PAIRS:
        outside = np.zeros(2)
        for number in range(options.pairs):
            rng = np.random.default_rng([n, raters, number])
            inference = Inference(n_resamples=options.draws, seed=number)
            own = tuple(
                Side("round", "krippendorff_alpha", of_finders(rng, n, raters, right, wrong, share))
                for share in shares
            )
            for place, sides in enumerate((own, at_common_prevalence(own)[0])):
                low, high = difference(*sides, inference).interval or (-math.inf, math.inf)
                outside[place] += not low <= 0 <= high
        at_own, at_common = 100 * outside / options.pairs
        print(
            f"| {raters} | {n:,} | {right:.2f} | {wrong:.2f} | {shares[0]:.2f} and {shares[1]:.2f} "
            f"| {at_own:.1f} | {at_common:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
