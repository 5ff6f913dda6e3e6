"""Numbers without a list of categories: how often limits of α and the ICC fail.

`python benchmarks/open_scales.py [--rounds 1000]` prints a table. Three raters see a normal truth
with errors. Errors are alike, or some are several times as large. Then α and ICC(1, 1) are the
share of the truth in the variance of a rating.
"""

import argparse
from collections.abc import Iterator, Sequence

import numpy as np
from populations import OPEN_SCALES, Errors

from agreement_pipeline.estimates import estimate
from agreement_pipeline.intervals import Inference
from agreement_pipeline.policy import RELIABLE

MEASURES = ("krippendorff_alpha", "icc_1_1")
SIZES = (30, 50, 100, 200, 400, 1000)


def lines(population: Errors, rounds: int, draws: int) -> Iterator[str]:
    for n in SIZES:
        failed = np.zeros((len(MEASURES), 3))
        for number in range(rounds):
            rng = np.random.default_rng([n, number])
            numbers = population.drawn(n, rng)
            for place, measure in enumerate(MEASURES):
                found = estimate(measure, numbers, Inference(n_resamples=draws, seed=number))
                low, high = found.interval or (-np.inf, np.inf)
                wrong = low > population.truth, high < population.truth, low >= RELIABLE
                failed[place] += wrong
        for measure, shares in zip(MEASURES, 100 * failed / rounds, strict=True):
            shown = " | ".join(f"{share:.1f}" for share in shares)
            yield f"| {population.name} | `{measure}` | {population.truth:.2f} | {n} | {shown} |"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--draws", type=int, default=400)
    options = parser.parse_args(arguments)
    for population in OPEN_SCALES:
        for line in lines(population, options.rounds, options.draws):
            print(line, flush=True)


if __name__ == "__main__":
    main()
