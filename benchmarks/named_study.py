"""How often limits fail on both sides in populations that the design does not hold.

`python benchmarks/named_study.py [--rounds 2000] [--draws 400] [--only TEXT]` prints a table.
"""

import argparse
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from populations import NAMED, Mixture

from agreement_pipeline.estimates import estimate
from agreement_pipeline.intervals import Inference
from agreement_pipeline.policy import RELIABLE

ROUNDING = 1e-9


class Line(NamedTuple):
    """The shares of rounds in percent: limits on the wrong side, and rounds admitted at 0.8."""

    population: str
    measure: str
    truth: float
    items: int
    low: float
    high: float
    admitted: float


def lines(mixture: Mixture, rounds: int, draws: int) -> Iterator[Line]:
    for number, measure in enumerate(mixture.measures):
        truth = mixture.truth(measure)
        for n in mixture.sizes:
            failed = np.zeros(3)
            for place, (weights, times) in enumerate(mixture.rounds(n, rounds, number)):
                statistic = mixture.statistic(measure, weights.astype(float))
                inference = Inference(n_resamples=draws, seed=(number, place))
                interval = estimate(measure, statistic, inference).interval
                if interval:
                    low, high = interval
                    wrong = (low > truth + ROUNDING, high < truth - ROUNDING, low >= RELIABLE)
                    failed += times * np.array(wrong)
            yield Line(mixture.name, measure, truth, n, *(100 * failed / rounds))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--only", default="", help="populations whose name holds this text")
    options = parser.parse_args(arguments)
    for mixture in NAMED:
        if options.only in mixture.name:
            for line in lines(mixture, options.rounds, options.draws):
                name, measure, truth, n, *failed = line
                shown = " | ".join(f"{share:.1f}" for share in failed)
                print(f"| {name} | `{measure}` | {truth:.3f} | {n} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
