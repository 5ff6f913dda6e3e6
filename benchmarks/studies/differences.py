"""How often the interval of a difference misses the true difference, which is 0."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np

from agreement_pipeline.estimates.comparison import weight_to_common_prevalence
from agreement_pipeline.estimates.differences import Side, estimate_difference
from agreement_pipeline.intervals import Inference
from benchmarks.populations import Population, Sample, of_finders
from benchmarks.studies.study import (
    ALPHA,
    Asked,
    Cells,
    percent,
    seeded,
    stacked,
    study,
    with_error,
)

EVEN = Population(100, 3, 2, None, "hard items", 0.0, 0.8)
SKEWED = replace(EVEN, commonest=0.9)
Sides = tuple[Side, Side]
Drawn = Callable[[np.random.Generator], Sides]


def _of(population: Population, n: int, rng: np.random.Generator) -> Sample:
    return Sample.drawn(replace(population, n=n), rng)


def rounds(one: Population, n: int, other: Population, m: int) -> Drawn:
    """Two rounds that share no item."""
    return lambda rng: (
        Side("one", ALPHA, _of(one, n, rng).counts("nominal")),
        Side("other", ALPHA, _of(other, m, rng).counts("nominal")),
    )


def labelled_anew(n: int) -> Drawn:
    """One set of items, labelled by three raters and by three other raters."""

    def drawn(rng: np.random.Generator) -> Sides:
        every = _of(replace(EVEN, raters=6), n, rng).patterns()
        return (
            Side("one", ALPHA, every.select_raters(every.raters[:3])),
            Side("other", ALPHA, every.select_raters(every.raters[3:])),
        )

    return drawn


def raters(n: int, missing: float) -> Drawn:
    """Two of five raters, each against the rest."""

    def drawn(rng: np.random.Generator) -> Sides:
        every = _of(replace(EVEN, raters=5, missing=missing), n, rng).patterns()
        one, other = every.raters[:2]
        return (
            Side(one, "schouten_kappa", every.with_rater_apart(one)),
            Side(other, "schouten_kappa", every.with_rater_apart(other)),
        )

    return drawn


PAIRS: dict[str, tuple[Drawn, int | None]] = {
    "two rounds, 30 items each": (rounds(EVEN, 30, EVEN, 30), None),
    "two rounds, 200 items each": (rounds(EVEN, 200, EVEN, 200), None),
    "two rounds, 100 and 1,000 items": (rounds(EVEN, 100, EVEN, 1000), None),
    "100 items, and 1,000 with one category at 90 %": (rounds(EVEN, 100, SKEWED, 1000), None),
    "60 items labelled anew": (labelled_anew(60), 60),
    "200 items labelled anew": (labelled_anew(200), 200),
    "two raters, 60 items, half missing": (raters(60, 0.5), 60),
    "two raters, 200 items": (raters(200, 0.0), 200),
}
"""Two sides, and how many items they share."""
PREVALENCES = (
    (150, 3, 0.94, 0.04, 0.5, 0.15),
    (400, 3, 0.94, 0.04, 0.5, 0.15),
    (1000, 3, 0.94, 0.04, 0.5, 0.15),
    (400, 5, 0.94, 0.04, 0.5, 0.15),
    (400, 3, 0.90, 0.02, 0.5, 0.15),
    (400, 3, 0.94, 0.04, 0.3, 0.3),
)
"""Items, raters, how often raters find an item of the category and take another for one, and the
prevalence in both rounds."""


def _limits(sides: Iterable[Sides], inference: Inference, shared: int | None = None) -> np.ndarray:
    return stacked(
        (estimate_difference(*pair, replace(inference, seed=number), shared=shared).interval, 1)
        for number, pair in enumerate(sides)
    )


@study("difference of | above the truth | under it", rounds=1000, draws=1000)
def comparisons(asked: Asked) -> Iterator[Cells]:
    """The shares of pairs whose 95 % interval lies above and under the true difference."""
    for name, (drawn, shared) in PAIRS.items():
        low, high = _limits(seeded(drawn, asked.rounds, 0), asked.inference, shared)
        yield name, with_error(low > 0), with_error(high < 0)


@study(
    "raters | items | find a category | take others for it | prevalence | at their own "
    "| at a common one",
    rounds=400,
    draws=1000,
)
def prevalences(asked: Asked) -> Iterator[Cells]:
    """How often two rounds seem to differ if only their prevalence does.

    Raters find some items of a category and take some others for it, alike in both rounds.
    """
    for n, n_raters, right, wrong, *shares in PREVALENCES:
        own = []
        for number in range(asked.rounds):
            rng = np.random.default_rng([n, n_raters, number])
            finders = (of_finders(rng, n, n_raters, right, wrong, share) for share in shares)
            own.append(tuple(Side("round", ALPHA, each) for each in finders))
        common = [weight_to_common_prevalence(sides)[0] for sides in own]
        missed = [
            (low > 0) | (high < 0)
            for low, high in (_limits(sides, asked.inference) for sides in (own, common))
        ]
        words = f"{shares[0]:.2f} and {shares[1]:.2f}"
        yield n_raters, f"{n:,}", f"{right:.2f}", f"{wrong:.2f}", words, *percent(*missed)
