"""How often the limits of a corrected share miss it.

A population of 20,000 items is made anew for each round. Raters give the category to an item with a
chance of its own, from a beta distribution, so that two raters of an item agree as α says. The
classifier gives what most raters would and errs in a share of the items. In half of the situations
it calls another 12 % of all items positive.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product
from math import log, sqrt
from statistics import NormalDist

import numpy as np
import pandas as pd

from agreement_pipeline.intervals import Interval
from agreement_pipeline.models.correction import majority_shares
from agreement_pipeline.models.prediction_powered import (
    OfRaters,
    PredictionPowered,
    Stratum,
    estimates,
    prediction_powered,
)
from benchmarks.studies.study import Asked, Cells, study

N_ITEMS, SEED = 20_000, 2026
SHARES, LABELS = (0.02, 0.1, 0.5), (30, 200, 1_000)
ACCURACIES, BIASES = (0.5, 0.9, 0.98), (0.0, 0.12)
PANELS = ((2, 0.5), (3, 0.7), (5, 0.9))
PROMISED, ALLOWED, ERRORS = 0.05, 0.01, 3.5


@dataclass(frozen=True)
class Situation:
    """A share, the labelled items, a classifier, a panel, and how items are drawn.

    Where raters are `apart`, each has a log-odds of their own more than others, and the truth is
    about raters at large.
    """

    share: float
    n: int
    accuracy: float
    bias: float
    panel: tuple[int, float]
    design: str = "simple"
    majority_of: int | None = None
    apart: float = 0.0


def rng_of(at: Situation) -> np.random.Generator:
    return np.random.default_rng([SEED, *str(at).encode()])


def population(
    at: Situation, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each item's chance of the category, the classifier's label, and the cluster."""
    spread = 1 / at.panel[1] - 1
    cluster = np.arange(N_ITEMS)
    if at.design == "clustered":
        cluster = np.sort(rng.integers(0, N_ITEMS // 5, N_ITEMS))
        cluster = np.unique(cluster, return_inverse=True)[1]
    chance = rng.beta(at.share * spread, (1 - at.share) * spread, N_ITEMS)
    if at.design == "clustered":  # half of the items are like the first of their cluster
        first = np.flatnonzero(np.diff(cluster, prepend=-1))
        chance = np.where(rng.random(N_ITEMS) < 0.5, chance[first][cluster], chance)
    said = np.where(rng.random(N_ITEMS) < at.accuracy, chance > 0.5, chance <= 0.5)
    turned = rng.choice(
        np.flatnonzero(~said), min(int(at.bias * N_ITEMS), int((~said).sum())), False
    )
    said[turned] = True
    return chance, said.astype(float), cluster


def labelled(at: Situation, chance: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """What the panel says of some items: the share, or the share of majorities."""
    given = rng.binomial(at.panel[0], chance).astype(float)
    if at.majority_of is None:
        return given / at.panel[0]
    return majority_shares(given, np.full(len(given), at.panel[0]), at.majority_of)


def estimated(at: Situation, rng: np.random.Generator) -> tuple[float, float, PredictionPowered]:
    """The true share of a population, the best ratio, and what a draw says of the share."""
    chance, said, cluster = population(at, rng)
    groups = [np.arange(N_ITEMS)]
    if at.design == "stratified":
        groups = [np.flatnonzero(said == each) for each in (0.0, 1.0)]
    strata = []
    for group in groups:
        units = np.unique(cluster[group], return_inverse=True)[1]
        sizes = np.bincount(units)
        n_drawn = round(at.n / len(groups) / sizes.mean())
        drawn = np.sort(rng.choice(len(sizes), min(n_drawn, len(sizes)), replace=False))
        some = np.flatnonzero(np.isin(units, drawn))
        labels = np.bincount(units[some], labelled(at, chance[group][some], rng), len(sizes))
        strata.append(
            Stratum(sizes.astype(float), np.bincount(units, said[group]), drawn, labels[drawn])
        )
    true = chance
    if at.majority_of is not None:
        assert at.majority_of == 3
        true = chance**2 * (3 - 2 * chance)
    known = np.corrcoef(labelled(at, chance, rng), said)[0, 1]
    return float(true.mean()), sqrt(1 - known**2), prediction_powered(strata, 0.95)


def estimated_at_large(
    at: Situation, rng: np.random.Generator
) -> tuple[float, float, PredictionPowered]:
    """The same, if the same raters label all drawn items, and are a sample of raters."""
    chance, said, _ = population(at, rng)
    odds = np.log(np.clip(chance, 1e-9, 1 - 1e-9) / np.clip(1 - chance, 1e-9, 1))
    drawn = rng.choice(N_ITEMS, at.n, replace=False)
    own = rng.normal(0, at.apart, at.panel[0])
    given = rng.random((at.n, at.panel[0])) < 1 / (1 + np.exp(-odds[drawn, None] - own))

    def strata(some: np.ndarray) -> list[Stratum]:
        return [Stratum(np.ones(N_ITEMS), said, drawn, some.mean(1))]

    without = [estimates(strata(np.delete(given, rater, 1))) for rater in range(at.panel[0])]
    nodes, weights = np.polynomial.hermite_e.hermegauss(15)
    others = [(1 / (1 + np.exp(-odds - at.apart * each))).mean() for each in nodes]
    true = float(weights @ others / weights.sum())
    of_raters = OfRaters.without_each(without)
    return true, 1.0, prediction_powered(strata(given), 0.95, of_raters)


def outcome(at: Situation, rounds: int) -> dict[str, object]:
    """The situation, and how often the truth lay under the limits and above them.

    `ratio` is the width as a share of the classical one's. `best` is what it is on many labels:
    √(1 - ρ²), where ρ is the correlation of the labels of the panel and of the classifier.
    """
    rng, found = rng_of(at), []
    for _ in range(rounds):
        true, best, said = (estimated_at_large if at.apart else estimated)(at, rng)
        widths = (np.ptp(each.interval) for each in (said.corrected, said.classical))
        low, high = said.corrected.interval
        found.append((true < low, true > high, *widths, best))
    under, above, corrected, classical, best = np.mean(found, axis=0)
    ratio = corrected / classical
    return {**asdict(at), "under": under, "above": above, "ratio": ratio, "best": best}


def normal(stratum: Stratum) -> Interval:
    """The limits of PPI++: a normal distribution around the estimate."""
    reach = NormalDist().inv_cdf(0.975) * sqrt(stratum.variances[1])
    return Interval(stratum.value - reach, stratum.value + reach)


def rectified(stratum: Stratum) -> tuple[np.ndarray, float, float]:
    """The rectified labels of the drawn items, and their lowest and highest value."""
    n, n_items = len(stratum.drawn), len(stratum.sizes)
    weight = stratum.tuned * n_items / (n_items - n)
    offset = weight * stratum.uncorrected
    return (
        stratum.labels - weight * stratum.predicted[stratum.drawn] + offset,
        offset - weight,
        (offset + 1),
    )


def half_a_unit(stratum: Stratum) -> Interval:
    """The limits of this package, with half a unit more in the place of one."""
    values, least, most = rectified(stratum)
    rng = np.random.default_rng(SEED)
    weights, more = rng.standard_gamma(1.0, (2_000, len(values))), rng.standard_gamma(0.5, 2_000)
    total, mass = weights @ values, weights.sum(1) + more
    return _central((total + least * more) / mass, (total + most * more) / mass)


def _central(low: np.ndarray, high: np.ndarray) -> Interval:
    return Interval(float(np.quantile(low, 0.025)), float(np.quantile(high, 0.975)))


def two_strata(stratum: Stratum) -> Interval:
    """Exact limits for either label of the classifier, combined (Fay and others 2015)."""
    limits = np.zeros((2, 2_000))
    rng = np.random.default_rng(SEED)
    for label in (0.0, 1.0):
        share = float((stratum.predicted == label).mean())
        values = stratum.labels[stratum.predicted[stratum.drawn] == label]
        weights = rng.standard_gamma(1.0, (2_000, len(values) + 1))
        total = weights[:, 1:] @ values
        mass = weights.sum(1)
        limits += share * np.array([total / mass, (total + weights[:, 0]) / mass])
    return _central(*limits)


def betting(stratum: Stratum) -> Interval:
    """Hedged capital with predictable bets (Waudby-Smith and Ramdas 2024) on rectified labels."""
    values, least, most = rectified(stratum)
    x = (np.random.default_rng(SEED).permutation(values) - least) / (most - least)
    n, grid = len(x), np.linspace(0, 1, 1_001)[1:-1]
    known = np.arange(1, n + 1)
    mean = (0.5 + np.cumsum(x)) / (known + 1)
    variance = (0.25 + np.cumsum((x - mean) ** 2)) / (known + 1)
    bets = np.sqrt(2 * log(2 / 0.05) / (n * np.append(0.25, variance[:-1])))[:, None]
    up = np.log1p(np.minimum(bets, 0.5 / grid) * (x[:, None] - grid)).sum(0)
    down = np.log1p(-np.minimum(bets, 0.5 / (1 - grid)) * (x[:, None] - grid)).sum(0)
    held = grid[np.maximum(up, down) + log(0.5) < log(1 / 0.05)]
    scale = most - least
    return Interval(least + scale * float(held.min()), least + scale * float(held.max()))


def chosen(stratum: Stratum) -> Interval:
    """The limits of this package."""
    return prediction_powered([stratum], 0.95).corrected.interval


METHODS = (chosen, normal, half_a_unit, two_strata, betting)


@study(f"share | labels | accuracy | {' | '.join(each.__name__ for each in METHODS)}", rounds=150)
def ways_to_correct(asked: Asked) -> Iterator[Cells]:
    """How often limits miss that could have been chosen, and their width beside the classical."""
    for share, n, accuracy in product(SHARES, LABELS[:2], ACCURACIES):
        at = Situation(share, n, accuracy, 0.0, (2, 0.9))
        rng, truths, limits, classical = rng_of(at), [], [], []
        for _ in range(asked.rounds):
            chance, said, _ = population(at, rng)
            drawn = rng.choice(N_ITEMS, n, replace=False)
            stratum = Stratum(np.ones(N_ITEMS), said, drawn, labelled(at, chance[drawn], rng))
            truths.append(chance.mean())
            limits.append([each(stratum) for each in METHODS])
            classical.append(prediction_powered([stratum], 0.95).classical.interval)
        low, high = np.clip(limits, 0, 1).transpose(2, 1, 0)
        missed = ((truths < low) | (truths > high)).mean(1)
        widths = (high - low).mean(1) / np.diff(classical).mean()
        pairs = zip(missed, widths, strict=True)
        yield share, n, accuracy, *(f"{100 * miss:.1f} ({width:.2f})" for miss, width in pairs)


def situations() -> Iterator[Situation]:
    """All simple draws, and then a few of other designs."""
    for share, n, accuracy, bias, panel in product(SHARES, LABELS, ACCURACIES, BIASES, PANELS):
        yield Situation(share, n, accuracy, bias, panel)
    for share, n, accuracy in product(SHARES, (150, 600), (0.5, 0.9)):
        yield Situation(share, n, accuracy, 0.0, (3, 0.7), "stratified")
        yield Situation(share, n, accuracy, 0.0, (3, 0.7), "clustered")
        yield Situation(share, n, accuracy, 0.12, (5, 0.7), "simple", 3)
    for share, n, raters in product(SHARES, (60, 300), (3, 5, 10)):
        yield Situation(share, n, 0.9, 0.0, (raters, 0.7), "raters at large", apart=0.5)


@study(
    "draw | share | labels | under | above | the worst | width at .5 | at .9 | at .98", rounds=200
)
def corrected_shares(asked: Asked) -> Iterator[Cells]:
    """The outcomes of a share, a number of labels and a design together."""
    every = pd.DataFrame([outcome(at, asked.rounds) for at in situations()])
    every["missed"] = every["under"] + every["above"]
    key = ["design", "majority_of", "share", "n"]
    for (design, majority, share, n), some in every.groupby(key, dropna=False):
        widths = some.groupby("accuracy")["ratio"].mean().reindex(ACCURACIES)
        sides = (f"{100 * each:.1f}" for each in some[["under", "above"]].mean())
        worst = f"{100 * some['missed'].max():.1f}"
        called = design if np.isnan(majority) else f"majority of {majority:.0f}"
        ratios = ("" if np.isnan(each) else f"{each:.2f}" for each in widths)
        yield called, f"{share:g}", f"{n:,}", *sides, worst, *ratios
    error = sqrt(PROMISED * (1 - PROMISED) / asked.rounds)
    fails = (every["missed"] > PROMISED + ALLOWED + ERRORS * error).sum()
    yield f"{len(every)} situations: {fails} miss more than promised."
    yield f"The widest is {every['ratio'].max():.2f} of the classical interval."
    good = every[(every["accuracy"] >= 0.9) & (every["n"] >= 200)]
    can = good[(good["design"] == "simple") & (good["best"] <= 0.8)]
    yield (
        f"With an accuracy of .9 and 200 labels, {len(can)} of {len(good)} can come under .8; "
        f"{(can['ratio'] <= 0.85).sum()} of these come under .85."
    )
