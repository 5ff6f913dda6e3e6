"""The populations of all studies: their true agreement is known exactly. And samples from them.

- `design`: populations spread evenly over items, raters, categories, prevalence and agreement.
- `NAMED`: populations in which limits once failed, as mixtures of kinds of items.
- `OPEN_SCALES`: numbers without a list of categories.
- `with_guessers`: raters of whom some guess.
- `where_two_differ`: a third rater is asked only where two differ.
- `of_finders`: raters who find some items of a category, and take others for one.
- `with_other_ends`: spans that raters find with other ends.

In a design or a mixture, an item belongs to a latent class. Given the class, its ratings are
independent. So every expectation below is a finite sum.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from agreement_pipeline.measures import MEASURES
from agreement_pipeline.measures.reliability import random_choice_share
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import (
    CategoryCounts,
    LabelsByRater,
    NumbersByRater,
    ReplicatedLabels,
)
from agreement_pipeline.units import Marked, Span

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

MANY = 1e9
TWO = Scale(("no", "yes"))
OPEN = Scale(None, "interval")
FIVE = ("a", "b", "c", "d", "e")
THREE = FIVE[:3]
GUESSERS = 1 / 7
RIGHT = 1 - GUESSERS / 2
TRUTH_OF_GUESSERS = 1 - 4 * RIGHT * (1 - RIGHT)
"""Some raters guess. `RIGHT` is how often a rater of two common categories is right."""


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
        return float(probability @ random_choice_share(counts / self.occurrences, self.prevalence))

    def _counts(self, m: int) -> tuple[np.ndarray, np.ndarray]:
        """All counts by category of m ratings, shape (V, K), and their probabilities."""
        share, given = self.classes
        counts, ways = _compositions(m, self.categories)
        powers = given[:, :, None] ** np.arange(m + 1)
        of_class = (each[np.arange(self.categories), counts].prod(1) for each in powers)
        return counts, ways * sum(part * each for part, each in zip(share, of_class, strict=True))

    def samples(self, how_many: int, seed: list[int]) -> Iterator["Sample"]:
        for number in range(how_many):
            yield Sample.drawn(self, np.random.default_rng([*seed, number]))


@lru_cache
def _compositions(m: int, categories: int) -> tuple[np.ndarray, np.ndarray]:
    """All counts by category of m ratings, shape (V, K), and the orders that give each."""
    bars = np.array(list(combinations(range(m + categories - 1), categories - 1)))
    ends = np.full((len(bars), 1), -1), np.full((len(bars), 1), m + categories - 1)
    counts = np.diff(np.hstack([ends[0], bars, ends[1]]), axis=1) - 1
    factorials = np.array([math.factorial(c) for c in range(m + 1)], dtype=float)
    return counts, math.factorial(m) / factorials[counts].prod(1)


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
        return self._patterns(self.codes, level).counts().merged()

    def patterns(self) -> LabelsByRater:
        return self._patterns(self.codes).merged()

    def panel(self) -> LabelsByRater:
        raters = self.population.raters
        joined = self._patterns(np.column_stack([self.codes, self.labels])).merged()
        return joined.select_raters(joined.raters[:raters]).with_classifier(
            joined.codes[:, raters], "classifier"
        )

    def replicates(self) -> ReplicatedLabels:
        """The labels of the items that every rater met again, and their first ratings."""
        met, raters = self.population.replicated, self.population.raters
        return ReplicatedLabels(
            self.again,
            np.repeat(np.arange(met), raters),
            np.tile(np.arange(raters), met),
            self._patterns(self.codes[:met]),
        )

    def _patterns(self, codes: np.ndarray, level: str = "nominal") -> LabelsByRater:
        scale = Scale(tuple(range(1, self.population.categories + 1)), level)
        return LabelsByRater(
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


@dataclass(frozen=True)
class Mixture:
    """Kinds of items with their shares (T,), and what each rater says of them (T, R, K)."""

    name: str
    measures: tuple[str, ...]
    sizes: tuple[int, ...]
    scale: Scale
    share: np.ndarray
    given: np.ndarray

    @cached_property
    def ways(self) -> tuple[np.ndarray, np.ndarray]:
        """Every way to rate an item, and its probability."""
        raters, categories = self.given.shape[1:]
        codes = np.array(list(product(range(categories), repeat=raters)))
        of_each = self.given[:, np.arange(raters), codes]
        return codes, self.share @ of_each.prod(-1)

    def statistic(self, measure: str, weights: np.ndarray) -> object:
        """The statistic of a measure, on the ways that occur."""
        codes, here = self.ways[0], weights > 0
        names = tuple(map(str, range(codes.shape[1])))
        labels = LabelsByRater(codes[here], weights[here], scale=self.scale, raters=names)
        needs = MEASURES[measure].needs
        if needs == "counts":
            return labels.counts().merged()
        return labels.as_numbers() if needs == "values" else labels

    def truth(self, measure: str) -> float:
        """The true value; of a measure of every category, that of the lowest."""
        found = MEASURES[measure](self.statistic(measure, MANY * self.ways[1])).value
        return float(np.min(found))

    def rounds(self, n: int, how_many: int, seed: int) -> Iterator[tuple[np.ndarray, int]]:
        """How many items show each way, and how many rounds look so."""
        shares = self.ways[1] / self.ways[1].sum()
        drawn = np.random.default_rng([seed, n]).multinomial(n, shares, size=how_many)
        yield from zip(*np.unique(drawn, axis=0, return_counts=True), strict=True)

    def statistics(
        self, measure: str, n: int, how_many: int, seed: int = 0
    ) -> Iterator[tuple[object, int]]:
        """The statistic of a measure on each such round, and how many rounds look so."""
        for weights, times in self.rounds(n, how_many, seed):
            yield self.statistic(measure, weights.astype(float)), times


def hard_items(prevalence: np.ndarray, known: float) -> tuple[np.ndarray, np.ndarray]:
    """Items that everybody knows, of each category, and items that everybody guesses."""
    share = np.append(known * prevalence, 1 - known)
    return share, np.vstack([np.eye(len(prevalence)), prevalence])


def alike(given: np.ndarray, raters: int) -> np.ndarray:
    """Raters who all answer alike."""
    return np.repeat(given[:, None], raters, axis=1)


def guessed(
    rare: float, known: float, sizes: tuple[int, ...], *measures: str, raters: int = 2
) -> Mixture:
    """Raters who all know an item or all guess it; one of two categories is rare."""
    share, given = hard_items(np.array([1 - rare, rare]), known)
    name = f"a category of {100 * rare:g} %, known items {known:g}, {raters} raters"
    return Mixture(name, measures, sizes, TWO, share, alike(given, raters))


def overlooked(rare: float, lost: float, sizes: tuple[int, ...], raters: int) -> Mixture:
    """Each rater overlooks a share of the items of a rare category, and takes no other for one."""
    name = f"a category of {100 * rare:g} %, {100 * lost:g} % of it overlooked, {raters} raters"
    given = alike(np.array([[1, 0], [lost, 1 - lost]]), raters)
    measures = ("krippendorff_alpha",)
    return Mixture(name, measures, sizes, TWO, np.array([1 - rare, rare]), given)


def _half_lost() -> Mixture:
    """A third category of 1.5 %. Each rater takes half of it for the first."""
    given = np.array([[1, 0, 0], [0, 1, 0], [0.5, 0, 0.5]])
    return Mixture(
        "a third category of 1.5 %, half of it taken for the first",
        ("specific_agreement", "alpha_by_category"),
        (30, 60, 100),
        Scale(("a", "b", "c")),
        np.array([0.4925, 0.4925, 0.015]),
        alike(given, 2),
    )


def _slipped(slip: float, level: str, *measures: str) -> Mixture:
    """Truth from 0 to 4. Six ratings in a hundred are one off, and a slipped key says 10."""
    given = np.zeros((5, 11))
    for k in range(5):
        near = [each for each in (k - 1, k + 1) if 0 <= each <= 4]
        given[k, near] = 0.06 / len(near)
        given[k, k] = 0.94
    given = (1 - slip) * given
    given[:, 10] += slip
    return Mixture(
        f"a slipped key in {100 * slip:g} % of ratings, {level}",
        measures,
        (60, 300),
        Scale(tuple(range(11)), level),
        np.full(5, 0.2),
        alike(given, 2),
    )


def _sets() -> Mixture:
    """Sets of two labels; items are hard, or one label of two is forgotten."""
    share, given = hard_items(np.array([0.5, 0.25, 0.15, 0.1]), 0.8)
    given[3] = [0, 0.2, 0.2, 0.6]
    scale = Scale(("", "a", "b", "a|b"))
    return Mixture(
        "sets of labels", ("alpha_masi", "alpha_jaccard"), (60, 300), scale, share, alike(given, 2)
    )


def camps(split: float) -> Mixture:
    """A share of items is yes to two raters and no to two others, by their reading."""
    sure, unsure = [[0.98, 0.02]] * 4, [[0.02, 0.98]] * 4
    read = [[0.9, 0.1]] * 2 + [[0.1, 0.9]] * 2
    return Mixture(
        "two camps of two raters",
        ("krippendorff_alpha", "shah_kappa_s", "gwet_ac1"),
        (60, 300),
        TWO,
        np.array([(1 - split) * 24 / 35, (1 - split) * 11 / 35, split]),
        np.array([sure, unsure, read]),
    )


KAPPAS = ("krippendorff_alpha", "fleiss_kappa", "gwet_ac1", "bennett_s")
BY_DISTANCE = ("krippendorff_alpha", "fleiss_kappa_quadratic", "gwet_ac2_quadratic")
NAMED = (
    _half_lost(),
    *(
        _slipped(slip, "interval", *BY_DISTANCE, "cohen_kappa_linear", "icc_1_1")
        for slip in (0.0025, 0.0068, 0.01)
    ),
    _slipped(0.01, "ordinal", *BY_DISTANCE),
    guessed(0.02, 0.131, (60, 300), *KAPPAS, "specific_agreement", "alpha_by_category"),
    guessed(0.015, 0.8, (30, 60, 300), *KAPPAS),
    guessed(0.05, 0.3, (30, 60, 300), *KAPPAS, "specific_agreement"),
    guessed(0.05, 0.79, (60, 300, 1000), *KAPPAS, raters=3),
    guessed(0.5, 0.3, (30, 300), *KAPPAS, raters=3),
    *(guessed(0.05, 0.79, (60, 300), *KAPPAS[:3], raters=raters) for raters in (5, 10)),
    *(overlooked(0.015, 0.5, (100, 300), raters) for raters in (2, 3, 5)),
    guessed(0.5, 0.79, (30, 60, 300, 1000), *KAPPAS, raters=3),
    _sets(),
    camps(1 / 8),
)


class Errors(NamedTuple):
    """Numbers that raters see with errors. Alpha and ICC(1, 1) are `truth`.

    Errors are normal, or have Student's distribution. Some are `times` as large. Items are normal
    or lognormal.
    """

    name: str
    truth: float
    share: float = 0.0
    times: float = 1.0
    degrees: float = math.inf
    lognormal: bool = False

    def drawn(self, n: int, rng: np.random.Generator, raters: int = 3) -> NumbersByRater:
        variance = 1 + self.share * (self.times**2 - 1)
        usual = np.sqrt((1 / self.truth - 1) / variance)
        large = rng.random((n, raters)) < self.share
        errors = rng.normal(size=large.shape) * usual * np.where(large, self.times, 1.0)
        if self.degrees < math.inf:
            squares = rng.chisquare(self.degrees, large.shape) / (self.degrees - 2)
            errors /= np.sqrt(squares)
        items = rng.normal(size=(n, 1))
        if self.lognormal:
            items = np.exp(items) / math.sqrt((math.e - 1) * math.e)
        return NumbersByRater(items + errors, scale=OPEN, raters=FIVE[:raters])


OPEN_SCALES = (
    Errors("alike", 0.3),
    Errors("alike", 0.79),
    Errors("alike", 0.95),
    Errors("3 % are 5 times as large", 0.79, 0.03, 5.0),
    Errors("1 % are 10 times as large", 0.79, 0.01, 10.0),
    Errors("of Student's t with 5 degrees", 0.79, degrees=5.0),
    Errors("of Student's t with 3 degrees", 0.79, degrees=3.0),
    Errors("alike, lognormal items", 0.79, lognormal=True),
    Errors("alike, lognormal items", 0.95, lognormal=True),
    Errors("0.3 % are 20 times as large", 0.79, 0.003, 20.0),
)
LARGER_ERRORS = OPEN_SCALES[3:6]
"""Populations of which a gate must not admit many rounds."""


def with_guessers(items: int, raters: int, rng: np.random.Generator) -> LabelsByRater:
    """A round of raters of whom one in seven guesses. The others are always right."""
    truth = rng.integers(2, size=(items, 1))
    guessed = rng.integers(2, size=(items, raters))
    codes = np.where(rng.random(raters) < GUESSERS, guessed, truth)
    return LabelsByRater(codes, scale=TWO, raters=tuple(map(str, range(raters)))).merged()


def where_two_differ(guessed: float) -> tuple[LabelsByRater, LabelsByRater]:
    """All items of two common categories with three ratings, and with a third one if two differ.

    Raters guess a share of the items and know the others.
    """
    share, given = hard_items(np.array([0.5, 0.5]), 1 - guessed)
    every = Mixture("three raters", (), (), TWO, share, alike(given, len(THREE)))
    codes, likely = every.ways
    asked = codes.copy()
    asked[codes[:, 0] == codes[:, 1], 2] = -1
    both = [LabelsByRater(each, MANY * likely, scale=TWO, raters=THREE) for each in (codes, asked)]
    return both[0], both[1].merged()


def of_finders(
    rng: np.random.Generator, n: int, raters: int, right: float, wrong: float, share: float
) -> CategoryCounts:
    """Raters find items of a category that has that share, and take some others for one."""
    found = np.where(rng.random(n) < share, right, wrong)
    yes = (rng.random((n, raters)) < found[:, None]).sum(1)
    return CategoryCounts(np.column_stack([raters - yes, yes]), scale=TWO).merged()


def with_other_ends(n_documents: int, n_raters: int) -> list[Marked]:
    """Raters who find 85 % of the spans, with other ends, and sometimes one that no other finds."""
    marked = []
    for document in range(n_documents):
        starts = 10 + 25 * np.arange(np.random.default_rng(document).poisson(3))
        for rater in range(n_raters):
            rng = np.random.default_rng([document, rater])
            found = [
                Span(int(a + rng.integers(-2, 3)), int(a + 10 + rng.integers(-2, 3)), "A")
                for a in starts
                if rng.random() < 0.85
            ]
            if rng.random() < 0.2:
                found.append(Span(300 + 10 * rater, 306 + 10 * rater, "A"))
            marked.append(Marked(f"d{document}", f"r{rater:02}", tuple(found), (500,)))
    return marked
