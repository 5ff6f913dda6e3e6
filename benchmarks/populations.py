"""Populations whose true agreement is known exactly, a design of them, and samples from them.

Every item belongs to a latent class. Given the class, its ratings are independent.
So every expectation below is a finite sum.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Any

import numpy as np

from agreement_pipeline.measures._random_choice import random_choice
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import (
    CategoryCounts,
    PanelPatterns,
    RatingPatterns,
    ReplicateCounts,
    merged,
    merged_codes,
)

ITEMS = (30, 60, 100, 250, 500, 2000)
RATERS = (2, 3, 5, 10)
CATEGORIES = (2, 4, 10)
COMMONEST = (None, 0.8, 0.95)
MODELS = ("hard items", "careless raters")
MISSING = (0.0, 0.2)
TRUTHS = (0.5, 0.95)
FACTORS = (ITEMS, RATERS, CATEGORIES, COMMONEST, MODELS, MISSING)
FACTORS_AT_LARGE = ((60, 250, 2000), (3, 5, 10), (2, 4), (None, 0.8), (0.25, 0.5, 1.0))
"""For raters at large: items, raters, categories, share of the commonest, spread of the raters."""
CELLS, CELLS_AT_LARGE = 300, 60
MOST_REPLICATED = 100


@dataclass(frozen=True)
class Population:
    """An infinite population of items, and the raters who rate them.

    There are two models:

    - hard items: Everybody knows an item with probability `truth`. Otherwise everybody guesses.
    - careless raters: Each rater knows each item with probability √truth. Otherwise they guess.

    Guesses follow the prevalence. So alpha, Fleiss' κ and κ_S are `truth` at every level.

    If `spread` is not 0, the raters of a round are drawn too. Each rater has their own probability
    of knowing an item. It comes from a beta distribution with mean √truth and a standard deviation
    of `spread` times 1 - √truth. The true values are then those of all possible raters.
    """

    n: int
    raters: int
    categories: int
    commonest: float | None
    model: str
    missing: float
    truth: float
    spread: float = 0.0

    @cached_property
    def prevalence(self) -> np.ndarray:
        k = self.categories
        return (
            np.full(k, 1 / k)
            if self.commonest is None
            else np.array([self.commonest, *[(1 - self.commonest) / (k - 1)] * (k - 1)])
        )

    @cached_property
    def classes(self) -> tuple[np.ndarray, np.ndarray]:
        """The share of each latent class, shape (T,), and its label probabilities (T, K)."""
        p, known = self.prevalence, np.eye(self.categories)
        if self.model == "hard items":
            return np.append(self.truth * p, 1 - self.truth), np.vstack([known, p])
        skill = math.sqrt(self.truth)
        return p, skill * known + (1 - skill) * p

    @property
    def occurrences(self) -> int:
        """How often a rater meets a replicated item.

        With up to four categories, as often as there are categories. With more, twice.
        """
        return self.categories if self.categories <= 4 else 2

    @property
    def replicated(self) -> int:
        return min(self.n // 2, MOST_REPLICATED)

    @cached_property
    def truths(self) -> dict[str, float]:
        """The true value of every measure."""
        share, given = self.classes
        p, k = self.prevalence, self.categories
        two, three = share @ (given**2).sum(1), share @ (given**3).sum(1)
        p_e = (p * (1 - p)).sum() / (k - 1)
        a_e, pi_e = (p**3).sum(), (p**2).sum()
        m = self.occurrences
        found = dict.fromkeys(
            (
                "alpha_nominal",
                "fleiss_kappa",
                "shah_kappa_s",
                *(("alpha_ordinal", "alpha_interval") if k > 2 else ()),
            ),
            self.truth,
        )
        found["gwet_ac1"] = (two - p_e) / (1 - p_e)
        if self.spread:
            return {
                name: value
                for name, value in found.items()
                if name not in ("alpha_ordinal", "alpha_interval")
            }
        found |= {"self_agreement_unbiased": two, "self_agreement": 1 / m + (1 - 1 / m) * two}
        found["shah_s"] = (three - a_e) / (self._greatest(2) - a_e)
        found["vanbelle_albert_kappa"] = (two - pi_e) / (self._greatest(1) - pi_e)
        if m >= k:
            found["campagner_cabitza_rho"] = two * (1 - self._guessing()) ** 2
        return found

    def _greatest(self, together: int) -> float:
        """The greatest agreement that a label can reach with sets of `together` ratings.

        A set agrees if all its ratings name the label. For each item, take the label with which
        the largest share of its sets agrees. The result is the mean of these shares over items
        with `together` ratings or more.
        """
        sizes = np.arange(together, self.raters + 1)
        weight = np.array(
            [
                math.comb(self.raters, m)
                * (1 - self.missing) ** m
                * self.missing ** (self.raters - m)
                for m in sizes
            ]
        )
        choose = np.array([math.comb(c, together) for c in range(self.raters + 1)])
        expected = [
            probability @ (choose[counts].max(1) / choose[m])
            for m, (counts, probability) in ((m, self._counts(int(m))) for m in sizes)
        ]
        return float(weight @ expected / weight.sum())

    def _guessing(self) -> float:
        counts, probability = self._counts(self.occurrences)
        return float(probability @ random_choice(counts / self.occurrences, self.prevalence))

    def _counts(self, m: int) -> tuple[np.ndarray, np.ndarray]:
        """All counts by category of m ratings, shape (V, K), and their probabilities."""
        share, given = self.classes
        bars = np.array(list(combinations(range(m + self.categories - 1), self.categories - 1)))
        edges = np.hstack(
            [np.full((len(bars), 1), -1), bars, np.full((len(bars), 1), m + self.categories - 1)]
        )
        counts = np.diff(edges, axis=1) - 1
        ways = math.factorial(m) / np.array([math.factorial(c) for c in range(m + 1)], dtype=float)[
            counts
        ].prod(1)
        return counts, ways * sum(
            part * (theta**counts).prod(1) for part, theta in zip(share, given, strict=True)
        )

    def samples(self, how_many: int, seed: list[int]) -> Iterator["Sample"]:
        for number in range(how_many):
            yield Sample.drawn(self, np.random.default_rng([*seed, number]))


@dataclass(frozen=True)
class Sample:
    """A round of a population: first ratings, labels of a classifier, and replicates."""

    population: Population
    codes: np.ndarray
    labels: np.ndarray
    again: np.ndarray

    @classmethod
    def drawn(cls, population: Population, rng: np.random.Generator) -> "Sample":
        share, given = population.classes
        latent = rng.choice(len(share), size=population.n, p=share / share.sum())
        edges = given.cumsum(1)[latent][:, :-1]
        raters, met = population.raters, population.replicated
        codes = (rng.random((population.n, raters, 1)) > edges[:, None]).sum(-1)
        if population.spread:
            codes = _by_skill(population, latent, rng)
        labels = (rng.random((population.n, 1)) > edges).sum(-1)
        later = (
            rng.random((met, raters, population.occurrences - 1, 1)) > edges[:met, None, None]
        ).sum(-1)
        again = (
            np.dstack([codes[:met], later])[..., None] == np.arange(population.categories)
        ).sum(2)
        codes = np.where(rng.random(codes.shape) < population.missing, -1, codes)
        rated = (codes >= 0).any(1) | (np.arange(len(codes)) < met)
        return cls(
            population, codes[rated], labels[rated], again.reshape(-1, population.categories)
        )

    def counts(self, level: str) -> CategoryCounts:
        return merged(self._patterns(self.codes, level).counts())

    def patterns(self) -> RatingPatterns:
        return merged_codes(self._patterns(self.codes))

    def panel(self) -> PanelPatterns:
        raters = self.population.raters
        joined = merged_codes(self._patterns(np.column_stack([self.codes, self.labels])))
        return PanelPatterns(
            joined.only(joined.raters[:raters]), joined.codes[:, raters], "classifier"
        )

    def replicates(self) -> ReplicateCounts:
        """The labels of the items that every rater met again, and their first ratings."""
        met, raters = self.population.replicated, self.population.raters
        return ReplicateCounts(
            self.again,
            np.repeat(np.arange(met), raters),
            np.tile(np.arange(raters), met),
            self._patterns(self.codes[:met]),
        )

    def _patterns(self, codes: np.ndarray, level: str = "nominal") -> RatingPatterns:
        scale = Scale(tuple(range(1, self.population.categories + 1)), level)
        return RatingPatterns(
            codes, scale=scale, raters=[str(rater) for rater in range(codes.shape[1])]
        )


def _by_skill(population: Population, truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Ratings by raters who differ: each knows an item with their own probability, or guesses."""
    mean, shape = math.sqrt(population.truth), (population.n, population.raters)
    size = mean * (1 - mean) / (population.spread * (1 - mean)) ** 2 - 1
    skill = rng.beta(mean * size, (1 - mean) * size, size=population.raters)
    guesses = rng.choice(population.categories, size=shape, p=population.prevalence)
    return np.where(rng.random(shape) < skill, truth[:, None], guesses)


def _spread_evenly(cells: int, dimensions: int) -> np.ndarray:
    """Points that are spread evenly over the unit cube, and so are the first points of them.

    Source: the additive recurrence of Roberts (2018).
    """
    root = 1.5
    for _ in range(100):
        root = (1 + root) ** (1 / (dimensions + 1))
    steps = root ** -np.arange(1.0, dimensions + 1)
    return (0.5 + np.arange(1, cells + 1)[:, None] * steps) % 1


@lru_cache
def design(cells: int = CELLS) -> tuple[Population, ...]:
    """Populations spread evenly over the factors: first these raters, then raters at large."""
    alike = [
        Population(
            *(_level(share, levels) for share, levels in zip(point, FACTORS, strict=False)),
            truth=_truth(point[-1]),
        )
        for point in _spread_evenly(min(cells, CELLS), len(FACTORS) + 1)
    ]
    differing = [
        Population(n, raters, categories, commonest, MODELS[1], 0.0, _truth(point[-1]), spread)
        for point in _spread_evenly(
            max(0, min(cells - CELLS, CELLS_AT_LARGE)), len(FACTORS_AT_LARGE) + 1
        )
        for n, raters, categories, commonest, spread in [
            [_level(share, levels) for share, levels in zip(point, FACTORS_AT_LARGE, strict=False)]
        ]
    ]
    return (*alike, *differing)


def _level(share: float, levels: tuple) -> Any:
    return levels[int(share * len(levels))]


def _truth(share: float) -> float:
    low, high = TRUTHS
    return round(float(low + (high - low) * share), 3)
