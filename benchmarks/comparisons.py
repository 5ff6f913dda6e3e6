"""Measure how often the interval of a difference misses the true difference.

`python benchmarks/comparisons.py` prints one line for each kind of pair.
The line shows the share of simulated pairs whose interval lay above the true difference.
It also shows the share whose interval lay under it. Of 95 % intervals, 2.5 % may miss on each side.
The figure after ± is one standard error.
"""

import argparse
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from populations import Population, Sample

from agreement_pipeline.estimates.differences import Side, difference
from agreement_pipeline.intervals import Inference

ALPHA = "krippendorff_alpha"
EVEN = Population(100, 3, 2, None, "hard items", 0.0, 0.8)
SKEWED = replace(EVEN, commonest=0.9)
Drawn = tuple[Side, Side, int | None]


def of(population: Population, n: int, rng: np.random.Generator) -> Sample:
    return Sample.drawn(replace(population, n=n), rng)


def rounds(
    one: Population, n: int, other: Population, m: int
) -> Callable[[np.random.Generator], Drawn]:
    """Two rounds that share no item."""
    return lambda rng: (
        Side("one", ALPHA, of(one, n, rng).counts("nominal")),
        Side("other", ALPHA, of(other, m, rng).counts("nominal")),
        None,
    )


def labelled_anew(n: int) -> Callable[[np.random.Generator], Drawn]:
    """One set of items, labelled by three raters and by three other raters."""

    def drawn(rng: np.random.Generator) -> Drawn:
        everybody = of(replace(EVEN, raters=6), n, rng).patterns()
        return (
            Side("one", ALPHA, everybody.only(everybody.raters[:3])),
            Side("other", ALPHA, everybody.only(everybody.raters[3:])),
            n,
        )

    return drawn


def raters(n: int, missing: float) -> Callable[[np.random.Generator], Drawn]:
    """Two of five raters against the rest."""

    def drawn(rng: np.random.Generator) -> Drawn:
        everybody = of(replace(EVEN, raters=5, missing=missing), n, rng).patterns()
        one, other = (
            Side(name, "schouten_kappa", everybody.against(name)) for name in everybody.raters[:2]
        )
        return one, other, n

    return drawn


PAIRS: dict[str, Callable[[np.random.Generator], Drawn]] = {
    "two rounds, 30 items each": rounds(EVEN, 30, EVEN, 30),
    "two rounds, 200 items each": rounds(EVEN, 200, EVEN, 200),
    "two rounds, 100 and 1,000 items": rounds(EVEN, 100, EVEN, 1000),
    "100 items, and 1,000 with one category at 90 %": rounds(EVEN, 100, SKEWED, 1000),
    "60 items labelled anew": labelled_anew(60),
    "200 items labelled anew": labelled_anew(200),
    "two raters, 60 items, half missing": raters(60, 0.5),
    "two raters, 200 items": raters(200, 0.0),
}


def missed(
    drawn: Callable[[np.random.Generator], Drawn], *, pairs: int, draws: int
) -> tuple[float, float]:
    """The shares of pairs whose interval lies above and under the true difference, which is 0."""
    above = under = 0
    for number in range(pairs):
        one, other, shared = drawn(np.random.default_rng([0, number]))
        interval = difference(
            one, other, Inference(n_resamples=draws, seed=number), shared=shared
        ).interval
        above += interval is not None and interval.low > 0
        under += interval is not None and interval.high < 0
    return above / pairs, under / pairs


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=1_000, help="simulated pairs of sides")
    parser.add_argument("--draws", type=int, default=1_000)
    options = parser.parse_args(arguments)
    for name, drawn in PAIRS.items():
        start = time.process_time()
        above, under = (
            f"{100 * share:4.1f} % ± {100 * math.sqrt(share * (1 - share) / options.pairs):.1f}"
            for share in missed(drawn, **vars(options))
        )
        print(
            f"{name:48s} above the truth {above}; under it {under}  "
            f"({time.process_time() - start:.0f} s)",
            flush=True,
        )


if __name__ == "__main__":
    main()
