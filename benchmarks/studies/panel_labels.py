"""How often the limits of the reliability of a panel's label miss the truth.

Populations are shares of raters by item, so the truth follows from the formula. Of real sets with
many raters an item, the truth is how often disjoint panels of three agree.
"""

from collections.abc import Callable, Iterator
from itertools import product
from math import factorial

import numpy as np
import pandas as pd

from agreement_pipeline import Scale
from agreement_pipeline.counting import ItemCounts
from agreement_pipeline.estimates import Bounds, LabelReliability, label_reliability
from agreement_pipeline.statistics import CategoryCounts
from benchmarks.studies.study import Asked, Cells, study

Random = np.random.Generator
Shares = np.ndarray
"""Of each item, the shares of all raters who would give it each category (N, K)."""
Draw = Callable[[Random, int], Shares]
N_FOR_TRUTH = 200_000
REAL = ("annotation_paradigms", "dices350", "xhate_stability")


def binary(yes: np.ndarray) -> Shares:
    return np.stack([yes, 1 - yes], axis=1)


def errors_alike(error: float, n_categories: int = 2, prevalence: float = 0.5) -> Draw:
    """Every rater errs alike on every item: the population of latent class models."""

    def draw(random: Random, n: int) -> Shares:
        others = np.full(n_categories - 1, (1 - prevalence) / (n_categories - 1))
        truth = random.choice(n_categories, size=n, p=[prevalence, *others])
        shares = np.full((n, n_categories), error / (n_categories - 1))
        shares[np.arange(n), truth] = 1 - error
        return shares

    return draw


def guessed(clear: float, n_categories: int) -> Draw:
    """Items are clear to everybody, or everybody guesses."""

    def draw(random: Random, n: int) -> Shares:
        is_clear = random.random((n, 1)) < clear
        known = np.eye(n_categories)[random.integers(n_categories, size=n)]
        return np.where(is_clear, known, 1 / n_categories)

    return draw


def hard_items(hard: float, at: float, easy: float, prevalence: float = 0.5) -> Draw:
    """A part of the items splits the raters, and on the others few raters err."""

    def draw(random: Random, n: int) -> Shares:
        yes = np.where(random.random(n) < prevalence, 1 - easy, easy)
        return binary(np.where(random.random(n) < hard, at, yes))

    return draw


def betas(a: float, b: float) -> Draw:
    return lambda random, n: binary(random.beta(a, b, n))


def dirichlet(*a: float) -> Draw:
    return lambda random, n: random.dirichlet(a, n)


def of_skill(shares: tuple[float, ...], errors: tuple[float, ...], prevalence: float) -> Draw:
    """Good and poor raters, drawn by item: what one rater says is a mean over both."""
    error = float(np.dot(shares, errors))
    return errors_alike(error, 2, prevalence)


POPULATIONS: dict[str, Draw] = {
    "errors of .1, two categories": errors_alike(0.1),
    "errors of .2, two categories": errors_alike(0.2),
    "errors of .2, four categories": errors_alike(0.2, 4),
    "errors of .05, one item in ten is yes": errors_alike(0.05, 2, 0.9),
    "clear (.75) or guessed, three categories": guessed(0.75, 3),
    "clear (.8) or guessed, two categories": guessed(0.8, 2),
    "clear (.9) or guessed, five categories": guessed(0.9, 5),
    "a fifth is split, others 90:10": hard_items(0.2, 0.5, 0.1),
    "a fifth is split, others 98:2": hard_items(0.2, 0.5, 0.02),
    "a tenth at 70:30, one in five is yes": hard_items(0.1, 0.3, 0.02, 0.2),
    "beta(.3, .3)": betas(0.3, 0.3),
    "beta(.5, .5)": betas(0.5, 0.5),
    "beta(1, 1)": betas(1, 1),
    "beta(.2, .8)": betas(0.2, 0.8),
    "Dirichlet(.3, .3, .3)": dirichlet(0.3, 0.3, 0.3),
    "Dirichlet(1, 1, 1)": dirichlet(1, 1, 1),
    "Dirichlet(.1) of five categories": dirichlet(0.1, 0.1, 0.1, 0.1, 0.1),
    "Dirichlet(.8, .2, .1, .05)": dirichlet(0.8, 0.2, 0.1, 0.05),
    "two thirds skilled (.05), a third poor (.35)": of_skill((2 / 3, 1 / 3), (0.05, 0.35), 0.5),
    "rare and hard: a tenth at 30:70, others 0": hard_items(0.1, 0.3, 0.0, 0.0),
}


def label_chances(shares: Shares, panel_size: int) -> np.ndarray:
    """The chance of each category to be the plurality, by listing every panel."""
    n_categories = shares.shape[1]
    chances = np.zeros(shares.shape)
    for times in product(range(panel_size + 1), repeat=n_categories):
        if sum(times) != panel_size:
            continue
        ways = factorial(panel_size) / np.prod([factorial(n) for n in times])
        most = np.array(times) == max(times)
        chance = ways * np.prod(shares ** np.array(times), axis=1)
        chances += chance[:, None] * most / most.sum()
    return chances


def truth_of(draw: Draw, panel_size: int) -> tuple[float, float]:
    """How often two panels agree, and that beyond chance."""
    chances = label_chances(draw(np.random.default_rng(1), N_FOR_TRUTH), panel_size)
    same = float((chances**2).sum(1).mean())
    chance = float((chances.mean(0) ** 2).sum())
    return same, (same - chance) / (1 - chance)


def rated(random: Random, shares: Shares, sizes: np.ndarray) -> ItemCounts:
    counts = random.multinomial(sizes, shares)
    rows, times = np.unique(counts, axis=0, return_counts=True)
    scale = Scale(tuple(f"c{k}" for k in range(shares.shape[1])))
    return ItemCounts(CategoryCounts(rows, times, scale=scale))


def _missed(bounds: list[Bounds | None], truth: float) -> tuple[str, str]:
    there = [each for each in bounds if each is not None]
    if not there:
        return "none", "none"
    low = np.mean([each.low > truth for each in there])
    high = np.mean([each.high < truth for each in there])
    return f"{100 * low:.1f}", f"{100 * high:.1f}"


def _line(
    name: str, truth: tuple[float, float], results: list[LabelReliability], n: int
) -> list[object]:
    same = [each.same_label for each in results]
    beyond = [each.beyond_chance for each in results]
    floor = [each.floor for each in results]
    width = np.mean([each.high - each.low for each in same if each])
    return [
        name,
        n,
        f"{truth[0]:.3f}",
        f"{truth[1]:.3f}",
        f"{np.mean([each.least for each in floor if each]):.3f}",
        _missed(floor, truth[0])[0],
        *_missed(same, truth[0]),
        *_missed(beyond, truth[1]),
        f"{np.mean([each is None for each in beyond]) * 100:.0f}",
        f"{width:.2f}",
    ]


COLUMNS = (
    "population | items | panels agree | beyond chance | pairs agree | floor missed, % | "
    "low missed | high missed | low missed, beyond chance | high missed | no value, % | width"
)


@study(COLUMNS, 400, 1000)
def panel_labels(asked: Asked) -> Iterator[Cells]:
    """Four ratings an item, for panels of three. A tenth of the ratings is missing at random."""
    yield from _simulated(asked, 3)


@study(COLUMNS, 200, 1000)
def panels_of_five(asked: Asked) -> Iterator[Cells]:
    """Six ratings an item, for panels of five."""
    yield from _simulated(asked, 5)


def _simulated(asked: Asked, panel_size: int) -> Iterator[Cells]:
    for name, draw in POPULATIONS.items():
        truth = truth_of(draw, panel_size)
        for n in (100, 300):
            results = []
            for number in range(asked.rounds):
                random = np.random.default_rng((panel_size, n, number))
                gone = random.random((n, panel_size + 1)) < 0.1 / (panel_size + 1)
                sizes = panel_size + 1 - gone.sum(1)
                ratings = rated(random, draw(random, n), sizes)
                results.append(
                    label_reliability(ratings, panel_size=panel_size, inference=asked.inference)
                )
            yield _line(name, truth, results, n)


@study(COLUMNS.replace("population", "data set"), 100, 1000, real=True)
def real_panel_labels(asked: Asked) -> Iterator[Cells]:
    """Four raters of each item are drawn. The truth is the share of disjoint panels that agree."""
    for name in REAL:
        file = asked.folder / f"{name}.csv"
        if not file.exists():
            yield f"{name}: not there, so it is left out."
            continue
        frame = pd.read_csv(file, dtype=str)
        frame = frame[frame["replicate"] == "1"]
        frame["item"] = frame["round"] + " " + frame["item"]
        counts = pd.crosstab(frame["item"], frame["label"]).to_numpy()
        counts = counts[counts.sum(1) >= 20]
        truth = _disjoint(counts, np.random.default_rng(2))
        results = []
        for number in range(asked.rounds):
            random = np.random.default_rng(number)
            items = random.integers(len(counts), size=len(counts))
            drawn = np.array([random.multivariate_hypergeometric(counts[i], 4) for i in items])
            scale = Scale(tuple(f"c{k}" for k in range(counts.shape[1])))
            ratings = ItemCounts(CategoryCounts(drawn, scale=scale).merged())
            results.append(label_reliability(ratings, panel_size=3, inference=asked.inference))
        yield _line(name, truth, results, len(counts))


def _disjoint(counts: np.ndarray, random: Random, times: int = 400) -> tuple[float, float]:
    same = np.zeros(times)
    shares = np.zeros(counts.shape[1])
    for number in range(times):
        one = np.array([random.multivariate_hypergeometric(row, 3) for row in counts])
        other = np.array([random.multivariate_hypergeometric(row, 3) for row in counts - one])
        chances = [found == found.max(1, keepdims=True) for found in (one, other)]
        chances = [most / most.sum(1, keepdims=True) for most in chances]
        same[number] = (chances[0] * chances[1]).sum(1).mean()
        shares += (chances[0] + chances[1]).mean(0) / (2 * times)
    chance = float((shares**2).sum())
    return float(same.mean()), (float(same.mean()) - chance) / (1 - chance)
