"""How often limits fail on both sides in populations that the design does not hold.

`python benchmarks/named_study.py [--rounds 2000] [--draws 400] [--only TEXT]` prints a table.
`--seed N` draws other rounds, and `--method NAME` finds the limits by another method.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from populations import NAMED, Mixture

from agreement_pipeline.estimates import estimate
from agreement_pipeline.intervals import DEFAULT_METHOD, METHODS, Inference
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


def lines(mixture: Mixture, rounds: int, inference: Inference, seed: int) -> Iterator[Line]:
    for number, measure in enumerate(mixture.measures, seed):
        truth = mixture.truth(measure)
        for n in mixture.sizes:
            failed = np.zeros(3)
            for place, (weights, times) in enumerate(mixture.rounds(n, rounds, number)):
                statistic = mixture.statistic(measure, weights.astype(float))
                of_round = replace(inference, seed=(number, place))
                interval = estimate(measure, statistic, of_round).interval
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
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--method", choices=list(METHODS), default=DEFAULT_METHOD)
    options = parser.parse_args(arguments)
    inference = Inference(n_resamples=options.draws, method=options.method)
    for mixture in NAMED:
        if options.only in mixture.name:
            for line in lines(mixture, options.rounds, inference, options.seed):
                name, measure, truth, n, *failed = line
                shown = " | ".join(f"{share:.1f}" for share in failed)
                print(f"| {name} | `{measure}` | {truth:.3f} | {n} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
