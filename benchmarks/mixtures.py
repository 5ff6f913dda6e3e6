"""Populations that the design does not hold, as mixtures of kinds of items.

Given its kind, the ratings of an item are independent. Every way to rate an item is listed with
its probability. So the true value of a measure is its value on all ways at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from agreement_pipeline.measures import MEASURES
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import LabelsByRater

MANY = 1e9


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
        return labels.in_numbers() if needs == "values" else labels

    def truth(self, measure: str) -> float:
        """The true value; of a measure of every category, that of the lowest."""
        found = MEASURES[measure](self.statistic(measure, MANY * self.ways[1])).value
        return float(np.min(found))

    def rounds(self, n: int, how_many: int, seed: int) -> Iterator[tuple[np.ndarray, int]]:
        """How many items show each way, and how many rounds look so."""
        shares = self.ways[1] / self.ways[1].sum()
        drawn = np.random.default_rng([seed, n]).multinomial(n, shares, size=how_many)
        yield from zip(*np.unique(drawn, axis=0, return_counts=True), strict=True)


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
    return Mixture(name, measures, sizes, Scale(("no", "yes")), share, alike(given, raters))


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


def _camps() -> Mixture:
    """One item in eight is yes to two raters and no to two others, by their reading."""
    sure, unsure = [[0.98, 0.02]] * 4, [[0.02, 0.98]] * 4
    split = [[0.9, 0.1]] * 2 + [[0.1, 0.9]] * 2
    return Mixture(
        "two camps of two raters",
        ("krippendorff_alpha", "shah_kappa_s", "gwet_ac1"),
        (60, 300),
        Scale(("no", "yes")),
        np.array([0.6, 0.275, 0.125]),
        np.array([sure, unsure, split]),
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
    guessed(0.5, 0.79, (30, 60, 300, 1000), *KAPPAS, raters=3),
    _sets(),
    _camps(),
)
