"""How many items a gate at α 0.8 needs to admit nine good rounds in ten.

`python benchmarks/power.py` writes a table into docs/proofs/intervals.md. Three raters know an item
or guess it, all alike. The exact test knows the population but for α: it admits a round whose α is
among the greatest 2.5 % of rounds of true α 0.8. No honest gate needs fewer items. Somebody who
knows the standard error admits a round whose α lies 1.96 standard errors above the cut-off.

The rule and the exact test judge the same rounds, with a tenth more items than the exact test
needs. So their luck is shared. The normal quantile of the power grows with the root of the number
of items.
"""

import argparse
import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import NormalDist

import numpy as np
from populations import Mixture, guessed

from agreement_pipeline.estimates import estimate
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.policy import RELIABLE
from agreement_pipeline.statistics import CategoryCounts

PAGE = Path(__file__).parents[1] / "docs" / "proofs" / "intervals.md"
START, END = "<!-- power: written by benchmarks/power.py -->", "<!-- end of power -->"
ALPHA = "krippendorff_alpha"
POWER, TAIL = 0.9, 0.025
CASES = ((0.5, 0.85), (0.1, 0.85), (0.03, 0.85), (0.5, 0.9), (0.1, 0.9), (0.03, 0.9))
MANY, VALUES = 20_000, 20_000


def values_of(population: Mixture, n: int) -> np.ndarray:
    """α in many rounds of n items."""
    codes, likely = population.ways
    drawn = np.random.default_rng(n).multinomial(n, likely / likely.sum(), size=VALUES)
    counts = (codes[:, :, None] == np.arange(len(population.scale.names))).sum(1)
    return MEASURES[ALPHA](CategoryCounts(counts, drawn, scale=population.scale)).value


def of_known_error(population: Mixture, truth: float) -> int:
    """The items of somebody who knows the standard error of a round."""
    normal = NormalDist()
    reach = normal.inv_cdf(1 - TAIL) + normal.inv_cdf(POWER)
    deviation = values_of(population, MANY).std() * math.sqrt(MANY)
    return math.ceil((reach * deviation / (truth - RELIABLE)) ** 2)


def least_of_exact(at_cutoff: Mixture, n: int) -> float:
    """The α from which on the exact test of the cut-off admits a round of n items."""
    return float(np.nanquantile(values_of(at_cutoff, n), 1 - TAIL, method="higher"))


def of_exact(good: Mixture, at_cutoff: Mixture, n: int) -> float:
    """How often the exact test admits a good round of n items."""
    return float(np.mean(values_of(good, n) > least_of_exact(at_cutoff, n)))


def needed(admits: Callable[[int], float], least: int) -> int:
    """The number of items at which the rule has the power, between two numbers 1 % apart."""
    low, high = least, least
    while admits(high) < POWER:
        low, high = high, math.ceil(1.2 * high)
    while high > 1.01 * low:
        middle = round(math.sqrt(low * high))
        low, high = (low, middle) if admits(middle) >= POWER else (middle, high)
    return round((low + high) / 2)


def admitted(population: Mixture, n: int, least: float, rounds: int, draws: int) -> np.ndarray:
    """How often rounds of n items are admitted: by the rule, and if α is more."""
    met = np.zeros(2)
    for number, (weights, times) in enumerate(population.rounds(n, rounds, 0)):
        statistic = population.statistic(ALPHA, weights.astype(float))
        found = estimate(ALPHA, statistic, Inference(n_resamples=draws, seed=number))
        if found.value is not None and found.interval:
            met += times * np.array([found.interval.low >= RELIABLE, found.value > least])
    return met / rounds


def times_as_many(one: float, other: float) -> float:
    """How many times the items of the other gate a gate needs for the power, from both powers."""
    normal = NormalDist()
    least = normal.inv_cdf(1 - TAIL)
    return float(((least + normal.inv_cdf(other)) / (least + normal.inv_cdf(one))) ** 2)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--draws", type=int, default=1000)
    options = parser.parse_args(arguments)
    lines = [
        "| prevalence | true α | the rule | exact test | ratio | known standard error |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for rare, truth in CASES:
        population = guessed(rare, truth, (), ALPHA, raters=3)
        known = of_known_error(population, truth)
        at_cutoff = guessed(rare, RELIABLE, (), ALPHA, raters=3)
        best = needed(partial(of_exact, population, at_cutoff), known // 2)
        n = round(1.1 * best)
        least = least_of_exact(at_cutoff, n)
        power, exact = admitted(population, n, least, options.rounds, options.draws)
        items = round(best * times_as_many(power, exact))
        lines.append(
            f"| {100 * rare:g} % | {truth:.2f} | {items:,} | {best:,} "
            f"| {items / best:.2f} | {known:,} |"
        )
        print(lines[-1], n, power, exact, flush=True)
    page = PAGE.read_text(encoding="utf-8")
    head, tail = page.split(START)[0], page.split(END)[1]
    table = "\n".join(lines)
    PAGE.write_text(f"{head}{START}\n\n{table}\n\n{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
