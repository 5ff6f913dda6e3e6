"""How often another round gets the same decision, and how often one round says that it would."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from agreement_pipeline.estimates import Estimate, estimate
from agreement_pipeline.intervals import (
    Inference,
    Percentiles,
    estimate_repeat_range,
    estimate_repeat_rate,
)
from agreement_pipeline.policy import RELIABLE
from agreement_pipeline.statistics import CategoryCounts, Clusters, Statistic
from benchmarks.populations import TWO, Errors, Population, Sample
from benchmarks.studies.study import ALPHA, Asked, Cells, percent, study

LOWEST, HIGHEST = 0.7, 0.98
FEWEST, MOST, DOCUMENT = 50, 1_000, 6
METHOD = "tail_adaptive_bootstrap"
SIZES, SURELY = (50, 200, 1_000), 5
NEAREST, TIMES = 0.05, 10
"""The rate at a true value is the share admitted of the nearest twentieth of ten times the rounds,
evenly spread. That is 0.015 wide, and the steepest rate rises from 2.5 to 97.5 % within 0.08."""

Drawn = Callable[[np.random.Generator, float, int], Statistic]
"""A round from a generator, a true α and a number of items."""


class Repeat(NamedTuple):
    """Whether two rounds reached a cut-off, and how likely the first one said that is."""

    first: bool
    second: bool
    said: float


class Range(NamedTuple):
    """The range of the rate of one round, with the rate at its true α.

    `is_middle` is True if the true α is among the eight in ten that the range rests on.
    """

    few: float
    rate: float
    many: float
    is_middle: bool


def of_categories(level: str, *shape: object) -> Drawn:
    """Rounds of a population of the design: raters, categories, commonest, model, missing."""

    def drawn(rng: np.random.Generator, truth: float, n: int) -> Statistic:
        return Sample.drawn(Population(n, *shape, truth), rng).counts(level)  # type: ignore[arg-type]

    return drawn


def in_documents(rng: np.random.Generator, truth: float, n: int) -> Statistic:
    """Three raters of two categories, who know all items of some documents and few of others."""
    sizes = rng.geometric(1 / DOCUMENT, size=max(10, n // DOCUMENT))
    places = np.repeat(np.arange(len(sizes)), sizes)
    known = rng.random(len(places)) < rng.beta(6 * truth, 6 * (1 - truth), len(sizes))[places]
    guesses = rng.integers(2, size=(len(places), 3))
    yes = np.where(known, 3 * rng.integers(2, size=len(places)), guesses.sum(1))
    clusters = Clusters(places, np.ones(len(sizes)))
    counts = CategoryCounts(np.column_stack([3 - yes, yes]), scale=TWO, clusters=clusters)
    return counts.merged()


def of_numbers(rng: np.random.Generator, truth: float, n: int) -> Statistic:
    """Three raters who see numbers with normal errors, without a list of categories."""
    return Errors("alike", truth).drawn(n, rng)


POPULATIONS: dict[str, Drawn] = {
    "two categories, 3 raters": of_categories("nominal", 3, 2, None, "hard items", 0.0),
    "a category of 10 %, 3 raters": of_categories("nominal", 3, 2, 0.9, "hard items", 0.0),
    "four categories, 5 careless raters, 20 % missing": of_categories(
        "nominal", 5, 4, None, "careless raters", 0.2
    ),
    "1 to 5 declared, 2 careless raters": of_categories(
        "interval", 2, 5, None, "careless raters", 0.0
    ),
    "open numbers, 3 raters": of_numbers,
    "documents of unequal size, 3 raters": in_documents,
}


def repeat(first: Estimate, second: Estimate, cutoff: float, tail: float) -> Repeat | None:
    """What became of two rounds. None if the first does not say how likely it is."""
    known = first.distribution
    likely = (
        estimate_repeat_rate([(known, cutoff)], tail) if isinstance(known, Percentiles) else None
    )
    if likely is None or first.interval is None or second.interval is None:
        return None
    reached = [each.low >= cutoff for each in (first.interval, second.interval)]
    return Repeat(*reached, likely if reached[0] else 1 - likely)


def shares(repeats: Iterable[Repeat | None]) -> list[str]:
    """How often the decision was the same and was said to be, of all and of either decision."""
    first, second, said = np.array([each for each in repeats if each is not None]).T
    same, cells = first == second, [f"{len(first):,}"]
    for some in (first >= 0, first == 1, first == 0):
        both = [f"{100 * each[some].mean():.1f}" for each in (same, said) if some.any()]
        cells.append(", ".join(both) or "none")
    return cells


@study("population | pairs | all | first admitted | first held", rounds=2000, draws=1000)
def repeat_rates(asked: Asked) -> Iterator[Cells]:
    """The shares of pairs of rounds with the same decision at 0.8, in %: as found, as said.

    Each pair has a population of its own: the true α is anything from 0.7 to 0.98, and the number
    of items from 50 to 1,000.
    """
    inference = replace(asked.inference, method=METHOD, lower_only=True)
    every: list[Repeat | None] = []
    for place, (name, drawn) in enumerate(POPULATIONS.items()):
        found = [_pair(drawn, inference, place, number) for number in range(asked.rounds)]
        every += found
        yield name, *shares(found)
    yield "all", *shares(every)


def _pair(drawn: Drawn, inference: Inference, place: int, number: int) -> Repeat | None:
    rng = np.random.default_rng([place, number])
    truth, n = rng.uniform(LOWEST, HIGHEST), int(np.exp(rng.uniform(*np.log([FEWEST, MOST]))))
    first, second = (
        estimate(ALPHA, drawn(rng, truth, n), replace(inference, seed=(place, number, which)))
        for which in range(2)
    )
    return repeat(first, second, RELIABLE, inference.tail)


@study(
    "population | true α | items | pairs | all | first admitted | first held",
    rounds=1000,
    draws=1000,
)
def repeat_rates_at(asked: Asked) -> Iterator[Cells]:
    """The same for one population of two categories, at one true α and one number of items."""
    inference = replace(asked.inference, method=METHOD, lower_only=True)
    for truth in (0.75, 0.80, 0.85, 0.90, 0.95):
        name, n = "two categories, 3 raters", 300
        rng, found = np.random.default_rng(round(100 * truth)), list[Repeat | None]()
        for number in range(asked.rounds):
            first, second = (
                estimate(ALPHA, POPULATIONS[name](rng, truth, n), replace(inference, seed=seed))
                for seed in (2 * number, 2 * number + 1)
            )
            found.append(repeat(first, second, RELIABLE, inference.tail))
        yield name, f"{truth:.2f}", n, *shares(found)


@study(
    "population | items | rounds | true α is among the eight in ten | range holds the rate "
    "| rate is below, above | rounds with a rate of 5 to 95 | range holds it | width there",
    rounds=500,
    draws=1000,
)
def repeat_ranges(asked: Asked) -> Iterator[Cells]:
    """How often the range that a round says holds the rate at its true α, in %.

    True values are drawn evenly from 0.7 to 0.98. Rates are whole numbers of 1 to 99 in 100, as a
    decision says them. The range is that of eight in ten of the true values that the round leaves
    open, so the true α should be among these in 80 %.
    """
    inference = replace(asked.inference, method=METHOD, lower_only=True)
    for name in ("two categories, 3 raters", "a category of 10 %, 3 raters"):
        for n in SIZES:
            ranges = list(_ranges(POPULATIONS[name], n, asked.rounds, inference))
            middle = np.array([each.is_middle for each in ranges])
            rates = 100 * np.array([(each.few, each.rate, each.many) for each in ranges]).T
            few, rate, many = np.clip(np.round(rates), 1, 99)
            below, above = rate < few, rate > many
            holds, unsure = ~(below | above), (rate >= SURELY) & (rate <= 100 - SURELY)
            cells = [*percent(middle, holds), ", ".join(percent(below, above)), f"{unsure.sum():,}"]
            if unsure.any():
                cells += [*percent(holds[unsure]), f"{(many - few)[unsure].mean():.1f}"]
            yield name, f"{n:,}", f"{len(ranges):,}", *cells, *["none"] * (6 - len(cells))


def _ranges(drawn: Drawn, n: int, n_rounds: int, inference: Inference) -> Iterator[Range]:
    """The ranges of rounds of a size, without those that say none."""
    rng = np.random.default_rng(n)

    def judged(truth: float) -> Estimate:
        return estimate(ALPHA, drawn(rng, truth, n), replace(inference, seed=rng.integers(2**31)))

    spread = np.linspace(LOWEST - 0.01, HIGHEST + 0.01, TIMES * n_rounds)
    admitted = np.array([_reaches(judged(truth)) for truth in spread])
    n_nearest = int(NEAREST * len(spread))
    for truth in rng.uniform(LOWEST, HIGHEST, n_rounds):
        rate = admitted[np.argsort(np.abs(spread - truth))[:n_nearest]].mean()
        first = judged(truth)
        known = first.distribution
        if not isinstance(known, Percentiles):
            continue
        ends = estimate_repeat_range([(known, RELIABLE)], inference.tail)
        if ends is not None:
            (few, many), is_middle = ends, 0.1 <= _weight_under(truth, known) <= 0.9
            if not _reaches(first):
                few, rate, many = 1 - many, 1 - rate, 1 - few
            yield Range(few, rate, many, is_middle)


def _reaches(judged_round: Estimate) -> bool:
    return judged_round.low is not None and judged_round.low >= RELIABLE


def _weight_under(truth: float, known: Percentiles) -> float:
    """The share of the true values that a round leaves open, as its range weighs them, under one
    of them.
    """
    lowest, greatest = known.bounds
    seen = known.seen_draws
    draws = known.draws if seen is None or not np.ptp(seen) else seen
    draws = np.where(np.isnan(draws), lowest, draws)
    return float(np.average(draws < truth, weights=np.sqrt(np.maximum(greatest - draws, 0.0))))
