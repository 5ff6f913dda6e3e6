"""How often the limits of the reliability of the label that trains miss the truth.

Populations are shares of raters by item, so the truth follows from the formula. Of real sets with
many raters an item, the truth is how often disjoint panels of three agree.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import product
from math import factorial

import numpy as np
import pandas as pd

from agreement_pipeline import Policy, Rule, Scale, read_ratings
from agreement_pipeline.counting import CountedRatings, ItemCounts
from agreement_pipeline.estimates import Bounds, LabelReliability, label_reliability
from agreement_pipeline.intervals import Inference
from agreement_pipeline.policy import Plan, plan
from agreement_pipeline.ratings import Level, Ratings, Trains
from agreement_pipeline.statistics import CategoryCounts, NumbersByRater
from benchmarks.studies.study import ROUNDING, Asked, Cells, study

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


def rated(
    random: Random, shares: Shares, sizes: np.ndarray, level: Level = "nominal"
) -> ItemCounts:
    counts = random.multinomial(sizes, shares)
    rows, times = np.unique(counts, axis=0, return_counts=True)
    scale = Scale(tuple(f"c{k}" for k in range(shares.shape[1])), level)
    return ItemCounts(CategoryCounts(rows, times, scale=scale))


Truth = tuple[float, float]
"""The share of items on which two panels agree (nan of numbers), and the reliability."""
COLUMNS = (
    "population | items | panels agree | low missed, % | high missed | reliability | low missed | "
    "high missed | no value | width"
)


def _missed(bounds: list[Bounds | None], truth: float) -> tuple[str, str]:
    there = [each for each in bounds if each is not None]
    if not there:
        return "", ""
    low = np.mean([each.low > truth for each in there])
    high = np.mean([each.high < truth for each in there])
    return f"{100 * low:.1f}", f"{100 * high:.1f}"


def _line(name: str, n: int, truth: Truth, results: Iterable[LabelReliability]) -> list[object]:
    found = list(results)
    same, reliable = [each.same_label for each in found], [each.reliability for each in found]
    width = [each.high - each.low for each in (same if any(same) else reliable) if each]
    return [
        name,
        n,
        "" if np.isnan(truth[0]) else f"{truth[0]:.3f}",
        *_missed(same, truth[0]),
        f"{truth[1]:.3f}",
        *_missed(reliable, truth[1]),
        f"{np.mean([each is None for each in reliable]) * 100:.0f}",
        f"{np.mean(width):.2f}" if width else "",
    ]


def _sizes(random: Random, n: int, n_ratings: int) -> np.ndarray:
    """A tenth of the items misses a rating by chance."""
    return n_ratings - (random.random(n) < 0.1)


def _simulated(
    asked: Asked,
    n_ratings: int,
    truth_of: Callable[[Draw], Truth],
    found: Callable[[ItemCounts, Inference], LabelReliability],
    sizes: tuple[int, ...] = (100, 300),
    level: Level = "nominal",
) -> Iterator[Cells]:
    for name, draw in POPULATIONS.items():
        truth = truth_of(draw)
        for n in sizes:
            generators = (np.random.default_rng((n_ratings, n, i)) for i in range(asked.rounds))
            results = (
                found(
                    rated(random, draw(random, n), _sizes(random, n, n_ratings), level),
                    asked.inference,
                )
                for random in generators
            )
            yield _line(name, n, truth, results)


def _of_panel(size: int) -> Callable[[ItemCounts, Inference], LabelReliability]:
    return lambda ratings, inference: label_reliability(
        ratings, panel_size=size, inference=inference
    )


def _of(trains: str) -> Callable[[ItemCounts, Inference], LabelReliability]:
    return lambda ratings, inference: label_reliability(
        ratings, trains=Trains(trains), inference=inference
    )


@study(COLUMNS, 400, 1000)
def panel_labels(asked: Asked) -> Iterator[Cells]:
    """Four ratings an item, for panels of three."""
    yield from _simulated(asked, 4, partial(truth_of, panel_size=3), _of_panel(3))


@study(COLUMNS, 200, 1000)
def panels_of_five(asked: Asked) -> Iterator[Cells]:
    """Six ratings an item, for panels of five."""
    yield from _simulated(asked, 6, partial(truth_of, panel_size=5), _of_panel(5))


@study(COLUMNS, 400, 1000)
def label_floors(asked: Asked) -> Iterator[Cells]:
    """One panel of three. Only lower limits can miss."""
    yield from _simulated(asked, 3, partial(truth_of, panel_size=3), _of_panel(3))


def _truth_of_shares(draw: Draw, n_ratings: int) -> Truth:
    shares = draw(np.random.default_rng(1), N_FOR_TRUTH)
    between = float(shares.var(0).sum())
    within = float((1 - (shares**2).sum(1)).mean())
    error = within * (0.9 / n_ratings + 0.1 / (n_ratings - 1))
    return np.nan, between / (between + error)


@study(COLUMNS, 400, 1000)
def label_shares(asked: Asked) -> Iterator[Cells]:
    """Shares of three ratings."""
    truth = partial(_truth_of_shares, n_ratings=3)
    yield from _simulated(asked, 3, truth, _of("shares"))


def _truth_of_medians(draw: Draw) -> Truth:
    """Of three ratings, whose median is at most k with the chance 3 F^2 - 2 F^3."""
    shares = draw(np.random.default_rng(1), N_FOR_TRUTH)
    below = shares.cumsum(1)
    chances = np.diff(3 * below**2 - 2 * below**3, axis=1, prepend=0)
    usual = shares.mean(0)
    ranks = usual.cumsum() - usual / 2
    mean, square = chances @ ranks, chances @ ranks**2
    variance = square.mean() - mean.mean() ** 2
    apart = (square - mean**2).mean()
    return float((chances**2).sum(1).mean()), float(1 - apart / variance)


@study(COLUMNS, 200, 1000)
def label_medians(asked: Asked) -> Iterator[Cells]:
    """Two panels of three on ordered categories. A tenth of the items has five ratings."""

    def found(ratings: ItemCounts, inference: Inference) -> LabelReliability:
        trains = Trains("median")
        return label_reliability(ratings, trains=trains, panel_size=3, inference=inference)

    yield from _simulated(asked, 6, _truth_of_medians, found, level="ordinal")


Numbers = Callable[[Random, int], tuple[np.ndarray, np.ndarray]]
"""Of each item, the mean of all raters and the standard deviation of a rating."""


def normal(sd: float) -> Numbers:
    return lambda random, n: (random.normal(size=n), np.full(n, sd))


def uneven(random: Random, n: int) -> tuple[np.ndarray, np.ndarray]:
    return random.normal(size=n), np.where(random.random(n) < 0.5, 0.3, 1.2)


def skewed(random: Random, n: int) -> tuple[np.ndarray, np.ndarray]:
    middle = random.lognormal(sigma=0.8, size=n)
    return middle, 0.5 * middle


def few_disputed(random: Random, n: int) -> tuple[np.ndarray, np.ndarray]:
    return random.normal(size=n), np.where(random.random(n) < 0.01, 6.0, 0.5)


def two_groups(random: Random, n: int) -> tuple[np.ndarray, np.ndarray]:
    return 3.0 * (random.random(n) < 0.2), np.full(n, 0.8)


NUMBERS: dict[str, Numbers] = {
    "normal, errors of .5": normal(0.5),
    "normal, errors of 1": normal(1.0),
    "normal, errors of 2": normal(2.0),
    "half of the items are hard": uneven,
    "lognormal, errors grow with the mean": skewed,
    "two groups, one of them a fifth": two_groups,
    "one item in a hundred is disputed, errors of 6": few_disputed,
}


ERROR_OF_MEDIAN_OF_THREE = 1 - 3**0.5 / np.pi
"""The variance of the median of three normal errors, as a share of that of one."""


@study(COLUMNS, 400, 1000)
def label_means(asked: Asked) -> Iterator[Cells]:
    """Two to six ratings an item, by chance."""
    return _of_numbers(asked, "mean", (2, 6), float(np.mean(1 / np.arange(2, 7))))


@study(COLUMNS, 400, 1000)
def single_numbers(asked: Asked) -> Iterator[Cells]:
    """One rating trains, and items have two or three."""
    return _of_numbers(asked, "one_rater", (2, 3), 1.0)


@study(COLUMNS, 400, 1000)
def medians_of_numbers(asked: Asked) -> Iterator[Cells]:
    """Medians of three, from two panels."""
    return _of_numbers(asked, "median", (6, 6), ERROR_OF_MEDIAN_OF_THREE, panel_size=3)


def _of_numbers(
    asked: Asked,
    label: str,
    n_ratings: tuple[int, int],
    error_of_label: float,
    panel_size: int | None = None,
) -> Iterator[Cells]:
    """`error_of_label` is the variance of its error, as a share of that of one rating."""
    fewest, most = n_ratings
    for name, draw in NUMBERS.items():
        middle, sd = draw(np.random.default_rng(1), N_FOR_TRUTH)
        error = float((sd**2).mean()) * error_of_label
        truth = np.nan, float(middle.var()) / (float(middle.var()) + error)
        for n in (30, 100, 300):
            results = []
            for number in range(asked.rounds):
                random = np.random.default_rng((n, number))
                middle, sd = draw(random, n)
                values = middle[:, None] + sd[:, None] * random.normal(size=(n, most))
                sizes = random.integers(fewest, most + 1, size=n)
                values[np.arange(most) >= sizes[:, None]] = np.nan
                found = label_reliability(
                    numbers_of(values),
                    trains=Trains(label),
                    panel_size=panel_size,
                    inference=asked.inference,
                )
                results.append(found)
            yield _line(name, n, truth, results)


def numbers_of(values: np.ndarray) -> CountedRatings:
    names = tuple(f"r{place}" for place in range(values.shape[1]))
    scale = Scale(None, "interval")
    numbers = NumbersByRater(values, scale=scale, raters=names)
    return CountedRatings(numbers, None, {}, None, names, (), frozenset())


PLANNED: dict[str, tuple[Draw, float]] = {
    "clear (.9) or guessed, five categories": (guessed(0.9, 5), 0.8),
    "errors of .1, two categories": (errors_alike(0.1), 0.8),
    "errors of .15, four categories": (errors_alike(0.15, 4), 0.75),
    "clear (.8) or guessed, two categories": (guessed(0.8, 2), 0.7),
    "a fifth is split, others 98:2": (hard_items(0.2, 0.5, 0.02), 0.7),
    "a tenth at 70:30, one in five is yes": (hard_items(0.1, 0.3, 0.02, 0.2), 0.8),
    "beta(.2, .2)": (betas(0.2, 0.2), 0.7),
    "Dirichlet(.1) of five categories": (dirichlet(0.1, 0.1, 0.1, 0.1, 0.1), 0.67),
}
"""Populations, and the cut-off of a rule on the label."""
N_ITEMS_OF_EARLIER, N_RATINGS_PLANNED, N_TRIALS = (400, 4000), 4, 100


@study(
    "population | label | earlier items | cut-off | reliability | plans | items, median | "
    "promised, % | decided | within 10 points of the plan",
    6,
    1000,
)
def label_plans(asked: Asked) -> Iterator[Cells]:
    """Of each earlier round, with four ratings an item, there is a plan for as many raters. Then
    100 rounds of the planned size, drawn from the same population, are judged by the rule.
    """
    of_earlier = product(("plurality", "shares"), N_ITEMS_OF_EARLIER)
    for label, n_earlier in of_earlier:
        trains = Trains(label)
        for name, (draw, cutoff) in PLANNED.items():
            rule = Rule("label_reliability", "label", reliable=cutoff)
            policy = Policy("label", 1, (rule,), n_resamples=1000)
            reliability = _planned_truth(draw, label)
            planned, decided = list[Plan](), list[float]()
            for number in range(asked.rounds):
                random = np.random.default_rng((7, number))
                earlier = _earlier_round(random, draw, n_earlier)
                plans = plan(policy, earlier, n_rounds=100, trains=trains)
                here = [each for each in plans if each.labels_an_item == N_RATINGS_PLANNED]
                if not here or here[0].n_items is None:
                    continue
                planned.append(here[0])
                decided.append(_share_decided(draw, here[0].n_items, cutoff, trains, number))
            promised = [each.decided or 0.0 for each in planned]
            apart = np.abs(np.subtract(decided, promised))
            yield [
                name,
                label,
                n_earlier,
                f"{cutoff:g}",
                f"{reliability:.3f}",
                f"{len(planned)} of {asked.rounds}",
                f"{np.median([each.n_items for each in planned]):.0f}" if planned else "",
                f"{100 * np.mean(promised):.0f}" if planned else "",
                f"{100 * np.mean(decided):.0f}" if planned else "",
                f"{int((apart <= 0.1 + ROUNDING).sum())} of {len(planned)}",
            ]


def _planned_truth(draw: Draw, label: str) -> float:
    if label == "plurality":
        return truth_of(draw, N_RATINGS_PLANNED - 1)[1]
    shares = draw(np.random.default_rng(1), N_FOR_TRUTH)
    between = float(shares.var(axis=0).sum())
    error = float((shares * (1 - shares)).sum(1).mean()) / N_RATINGS_PLANNED
    return between / (between + error)


def _earlier_round(random: Random, draw: Draw, n_items: int) -> Ratings:
    shares = draw(random, n_items)
    chosen = random.random((n_items, N_RATINGS_PLANNED, 1))
    labels = (chosen > shares.cumsum(1)[:, None, :-1]).sum(2)
    rows = [
        (f"i{item}", f"r{rater}", f"c{label}")
        for item, of_item in enumerate(labels)
        for rater, label in zip(
            random.choice(20, N_RATINGS_PLANNED, replace=False), of_item, strict=True
        )
    ]
    scale = Scale(tuple(f"c{k}" for k in range(shares.shape[1])))
    return read_ratings(pd.DataFrame(rows, columns=["item", "rater", "label"]), scale=scale)


def _share_decided(draw: Draw, n_items: int, cutoff: float, trains: Trains, number: int) -> float:
    inference = Inference(n_resamples=1000)
    deciding = 0
    for trial in range(N_TRIALS):
        random = np.random.default_rng((11, number, trial))
        sizes = np.full(n_items, N_RATINGS_PLANNED)
        ratings = rated(random, draw(random, n_items), sizes)
        found = label_reliability(ratings, trains=trains, inference=inference).reliability
        deciding += found is not None and found.low >= cutoff
    return deciding / N_TRIALS


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
        yield _line(name, len(counts), truth, results)


def _disjoint(counts: np.ndarray, random: Random, times: int = 400) -> Truth:
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
