"""How often rules and plans admit a round, and how many items that takes."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from statistics import NormalDist

import numpy as np
from scipy.stats import f as variance_ratio

from agreement_pipeline.estimates import Estimate, Scope, estimate
from agreement_pipeline.intervals import DEFAULT_METHOD, Inference, Looks
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.policy import RELIABLE, Policy, Rule
from agreement_pipeline.policy.planning import build_assumed_population, plan_measure
from agreement_pipeline.statistics import CategoryCounts, CountsOfStratum
from benchmarks.populations import (
    LARGER_ERRORS,
    TWO,
    Errors,
    Mixture,
    Population,
    Sample,
    alike,
    camps,
    guessed,
    hard_items,
)
from benchmarks.studies.failures import GROWING
from benchmarks.studies.study import (
    ALPHA,
    Asked,
    Cells,
    estimates,
    limits,
    percent,
    seeded,
    study,
    with_error,
)

PLOT = Path(__file__).parents[2] / "docs/images/gate.png"
TRUTHS, ITEMS, RARE = (0.6, 0.7, 0.75, 0.79, 0.8, 0.85, 0.9), (50, 200, 1000), (0.5, 0.1, 0.03)
POWER, TAIL = 0.9, 0.025
N_UNPLANNED = (1, 2, 3, 5, 10)
NORMAL = NormalDist()


@study(
    "prevalence | items | " + " | ".join(f"true {truth:.2f}" for truth in TRUTHS),
    rounds=1000,
    draws=1000,
    on_page=True,
)
def gate(asked: Asked) -> Iterator[Cells]:
    """The operating characteristic of the rule "α at least 0.8": how often it admits a round.

    Three raters know an item or guess it, all alike. One of two categories has the prevalence.
    """
    for rare in RARE:
        for n in ITEMS:
            lows = []
            for truth in TRUTHS:
                rounds = guessed(rare, truth, (n,), raters=3).statistics(ALPHA, n, asked.rounds)
                lows.append(limits(ALPHA, rounds, asked.inference)[0])
            yield f"{100 * rare:g} %", f"{n:,}", *percent(*(low >= RELIABLE for low in lows))


def plot_gate(lines: Sequence[str]) -> None:
    """Draw the shares of the table."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 3.2), layout="constrained")
    axes = figure.subplots()
    styles = [
        (colour, style)
        for colour in ("#23395b", "#b3392f", "#2a9d6f")
        for style in [":", "--", "-"]
    ]
    for line, (colour, style) in zip(lines, styles, strict=True):
        rare, n, *shares = line.strip("| ").split(" | ")
        label = f"{rare}, {n} items"
        axes.plot(TRUTHS, list(map(float, shares)), style, color=colour, label=label)
    axes.axvline(RELIABLE, color="#8d99ae", linewidth=1)
    axes.set_xlabel("true α")
    axes.set_ylabel("rounds admitted, %")
    axes.legend(fontsize=7, frameon=False, title="prevalence", title_fontsize=7)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(PLOT, dpi=110, metadata={"Software": None})


ENOUGH = 20_000
"""So many rounds show how α is distributed, and of so many items its standard error."""


def _values(population: Mixture, n: int) -> np.ndarray:
    """α in many rounds of n items."""
    codes, likely = population.ways
    drawn = np.random.default_rng(n).multinomial(n, likely / likely.sum(), size=ENOUGH)
    counts = (codes[:, :, None] == np.arange(len(population.scale.names))).sum(1)
    return MEASURES[ALPHA](CategoryCounts(counts, drawn, scale=population.scale)).value


def _items_of_known_error(population: Mixture, truth: float) -> int:
    """The items of somebody who knows the standard error of a round."""
    reach = NORMAL.inv_cdf(1 - TAIL) + NORMAL.inv_cdf(POWER)
    deviation = _values(population, ENOUGH).std() * math.sqrt(ENOUGH)
    return math.ceil((reach * deviation / (truth - RELIABLE)) ** 2)


def _least_of_exact(at_cutoff: Mixture, n: int) -> float:
    """The α from which on the exact test of the cut-off admits a round of n items."""
    return float(np.nanquantile(_values(at_cutoff, n), 1 - TAIL, method="higher"))


def _items_for_power(admits: Callable[[int], float], least: int) -> int:
    """The number of items at which a gate has the power, between two numbers 1 % apart."""
    low, high = least, least
    while admits(high) < POWER:
        low, high = high, math.ceil(1.2 * high)
    while high > 1.01 * low:
        middle = round(math.sqrt(low * high))
        low, high = (low, middle) if admits(middle) >= POWER else (middle, high)
    return round((low + high) / 2)


def admitted(population: Mixture, n: int, least: float, asked: Asked) -> np.ndarray:
    """How often rounds of n items are admitted: by the rule, and if α is more."""
    met, rounds = np.zeros(2), population.statistics(ALPHA, n, asked.rounds)
    for found, times in estimates(ALPHA, rounds, asked.inference):
        if found.value is not None and found.interval:
            met += times * np.array([found.interval.low >= RELIABLE, found.value > least])
    return met / asked.rounds


@study(
    "prevalence | true α | the rule | exact test | ratio | known standard error",
    rounds=2000,
    draws=1000,
    on_page=True,
)
def power(asked: Asked) -> Iterator[Cells]:
    """How many items a gate at α 0.8 needs to admit nine good rounds in ten.

    The exact test knows the population but for α: it admits a round whose α is among the greatest
    2.5 % of rounds of true α 0.8. No honest gate needs fewer items. Somebody who knows the standard
    error admits a round whose α lies 1.96 standard errors above the cut-off.

    The rule and the exact test judge the same rounds, with a tenth more items than the exact test
    needs. So their luck is shared. The normal quantile of the power grows with the root of the
    number of items.
    """
    for truth in (0.85, 0.9):
        for rare in RARE:
            good, at_cutoff = (guessed(rare, true, (), raters=3) for true in (truth, RELIABLE))
            known = _items_of_known_error(good, truth)

            def of_exact(n: int, good: Mixture = good, at_cutoff: Mixture = at_cutoff) -> float:
                return float(np.mean(_values(good, n) > _least_of_exact(at_cutoff, n)))

            best = _items_for_power(of_exact, known // 2)
            n = round(1.1 * best)
            quantiles = [
                NORMAL.inv_cdf(1 - TAIL) + NORMAL.inv_cdf(share)
                for share in admitted(good, n, _least_of_exact(at_cutoff, n), asked)
            ]
            items = round(best * (quantiles[1] / quantiles[0]) ** 2)
            ratio = f"{items / best:.2f}"
            yield (
                f"{100 * rare:g} %",
                f"{truth:.2f}",
                f"{items:,}",
                f"{best:,}",
                ratio,
                f"{known:,}",
            )


EXPECTED, RATERS, EVEN = 0.85, 4, np.array([0.5, 0.5])


def as_assumed() -> Mixture:
    """An item is clear to all, or guessed by all."""
    share, given = hard_items(EVEN, EXPECTED)
    return Mixture("as the plan assumes", (), (), TWO, share, alike(given, RATERS))


def careless() -> Mixture:
    """Each rater guesses some items, whatever the others do."""
    skill = math.sqrt(EXPECTED)
    given = alike(skill * np.eye(2) + (1 - skill) * EVEN, RATERS)
    return Mixture("careless raters", (), (), TWO, EVEN, given)


def of_one_mind(split: float) -> Mixture:
    """Two raters say yes to a share of the items and two say no. All agree on the others."""
    no, yes = np.eye(2)
    given = np.array([[no] * 4, [yes] * 4, [yes, yes, no, no]])
    share = np.append((1 - split) * EVEN, split)
    return Mixture("two camps of one mind", (), (), TWO, share, given)


def as_expected(in_camps: Callable[[float], Mixture]) -> Mixture:
    """Two camps, with as many items that they read in two ways as give the expected α."""
    few, many = 0.0, 0.5
    for _ in range(40):
        middle = (few + many) / 2
        above = in_camps(middle).truth(ALPHA) > EXPECTED
        few, many = (middle, many) if above else (few, middle)
    return in_camps(many)


def deciding(population: Mixture, n_items: int, asked: Asked) -> np.ndarray:
    """The rounds whose lower limit reaches the cut-off."""
    rounds = population.statistics(ALPHA, n_items, asked.rounds, 1)
    return limits(ALPHA, rounds, asked.inference)[0] >= RELIABLE


SIDE_BY_SIDE = (
    DEFAULT_METHOD,
    "tail_adaptive_bootstrap",
    "item_bootstrap",
    "bca_bootstrap",
    "jackknife_log",
)


@study(
    "raters | errors | true α | items | the default | by the tail | percentile | BCa | log t",
    rounds=1000,
    draws=400,
)
def open_prices(asked: Asked) -> Iterator[Cells]:
    """The shares of rounds of open numbers that each method admits at 0.8."""
    alike = (Errors("alike", 0.85), (250, 350, 450, 550, 650, 700)), (Errors("alike", 0.9), (130,))
    larger = ((errors, (100, 200, 400, 1000)) for errors in LARGER_ERRORS)
    for raters, (errors, sizes) in product((2, 3, 5), (*alike, *larger)):
        for n in sizes:
            made = partial(errors.drawn, n, raters=raters)
            drawn = [(each, 1) for each in seeded(made, asked.rounds, n)]
            methods = (replace(asked.inference, method=name) for name in SIDE_BY_SIDE)
            lows = (limits(ALPHA, drawn, method)[0] for method in methods)
            shares = percent(*(low >= RELIABLE for low in lows))
            yield raters, errors.name, f"{errors.truth:.2f}", n, *shares


SMALL = (60, 100, 160, 240, 300, 400, 600)


@study(
    "raters | errors | true α | items | the default | by the tail | exact normal test",
    rounds=1000,
    draws=400,
)
def small_open_rounds(asked: Asked) -> Iterator[Cells]:
    """The shares of small rounds of open numbers that two methods and the exact test admit at 0.8.

    The exact test knows that errors and items are normal. It is that of ICC(1, 1), which α nearly
    equals (Shrout and Fleiss 1979, https://doi.org/10.1037/0033-2909.86.2.420).
    """
    errors = *(Errors("alike", truth) for truth in (0.85, 0.9, 0.95)), *LARGER_ERRORS[:2]
    for raters, each, n in product((2, 3), errors, SMALL):
        drawn = list(seeded(partial(each.drawn, n, raters=raters), asked.rounds, n))
        methods = (replace(asked.inference, method=name) for name in SIDE_BY_SIDE[:2])
        lows = (limits(ALPHA, [(one, 1) for one in drawn], method)[0] for method in methods)
        exact = np.array([_is_admitted_exactly(one.values[:, :, 0]) for one in drawn])
        shares = percent(*(low >= RELIABLE for low in lows), exact)
        yield raters, each.name, f"{each.truth:.2f}", n, *shares


def _is_admitted_exactly(numbers: np.ndarray) -> bool:
    """The F test of the mean squares of items and of errors, if all items have all ratings."""
    n, raters = numbers.shape
    ratio = raters * numbers.mean(1).var(ddof=1) / numbers.var(1, ddof=1).mean()
    at_cutoff = 1 + raters * RELIABLE / (1 - RELIABLE)
    return bool(ratio >= at_cutoff * variance_ratio.ppf(1 - TAIL, n - 1, n * (raters - 1)))


@study("population of four raters | true α | items planned | rounds that decide", rounds=4000)
def planned_sizes(asked: Asked) -> Iterator[Cells]:
    """How often a round of the planned size decides, if raters are not as the plan assumes.

    The plan knows the true α and the share of yes.
    """
    for population in (as_assumed(), careless(), as_expected(camps), as_expected(of_one_mind)):
        codes, likely = population.ways
        yes, truth = float(likely @ codes.mean(1)), population.truth(ALPHA)
        told = build_assumed_population(ALPHA, truth, (1 - yes, yes), RATERS)
        n_items = plan_measure(ALPHA, told, reliable=RELIABLE, probability=POWER).n_items
        share = with_error(deciding(population, n_items, asked))
        yield population.name, f"{truth:.3f}", n_items, share


N_TIMES_DRAWN = 20
"""More items are drawn than are judged, so that the rounds are those of the table."""


@study(
    "population | items at first | judged once | `obrien_fleming` | `pocock` | `always_valid_at`",
    rounds=2000,
)
def planned_looks(asked: Asked) -> Iterator[Cells]:
    """How often a round of a true α at the cut-off is admitted, if it may be judged twice.

    If it is held, it may grow and be judged again:

    - by a plan of two looks, at the first size and at twice as many items, for each spending;
    - by always valid limits, at the same two sizes.

    The promise is 2.5 %.
    """
    for name, shape in GROWING.items():
        for first in (100, 300):
            rng = np.random.default_rng(first)
            population = Population(N_TIMES_DRAWN * first, *shape)
            found = [
                _looks(Sample.drawn(population, rng), first, replace(asked.inference, seed=number))
                for number in range(asked.rounds)
            ]
            yield name, first, *map(with_error, np.array(found).T)


@study("population | items at each look | 1 | 2 | 3 | 5 | 10", rounds=400)
def unplanned_looks(asked: Asked) -> Iterator[Cells]:
    """How often a round of a true α at the cut-off is admitted at one of so many looks, in percent.

    It grows by as many items as it had at first until it is admitted, and nobody planned that. The
    promise of one look is 2.5 %.
    """
    for name, shape in GROWING.items():
        for first in (100, 300):
            rng = np.random.default_rng(first)
            population = Population(N_UNPLANNED[-1] * first, *shape)
            looks_needed = np.array(
                [
                    _looks_until_admitted(
                        Sample.drawn(population, rng), first, replace(asked.inference, seed=number)
                    )
                    for number in range(asked.rounds)
                ]
            )
            shares = (100 * np.mean(looks_needed <= n) for n in N_UNPLANNED)
            yield name, f"{first} more", *(f"{share:.1f}" for share in shares)


def _looks_until_admitted(sample: Sample, first: int, inference: Inference) -> float:
    for look in range(1, N_UNPLANNED[-1] + 1):
        counts = replace(sample, codes=sample.codes[: look * first]).counts("nominal")
        if estimate(ALPHA, counts, inference).low >= RELIABLE:
            return look
    return math.inf


def _looks(sample: Sample, first: int, inference: Inference) -> tuple[bool, ...]:
    """Whether each way of looking admits one round."""

    def found(n: int, **settings: object) -> Estimate:
        counts = replace(sample, codes=sample.codes[:n]).counts("nominal")
        return estimate(ALPHA, counts, replace(inference, **settings))

    twice = (first, 2 * first)
    at_first = found(first)
    once = at_first.low >= RELIABLE
    ways = (
        {"looks": Looks(twice, "obrien_fleming")},
        {"looks": Looks(twice, "pocock")},
        {"always_valid_at": twice[1], "n_resamples": 2 * inference.n_resamples},
    )
    return (
        once,
        *(any(found(n, **way).low >= RELIABLE for n in twice) for way in ways),
    )


@study(
    "strata | items in each | expected disagreement | one is called reliable, no correction "
    "| one is called reliable | round admitted",
    rounds=600,
    draws=5000,
)
def strata(asked: Asked) -> Iterator[Cells]:
    """How often strata at the cut-off are called reliable, and their round is admitted.

    All strata of a round are of one size, and the true α of each is exactly the cut-off. So every
    stratum that is called reliable is called so wrongly. Three raters label an item with yes or no.
    One item in five is hard: every label is a guess. All labels of other items are right.
    """
    words = {ALPHA: "own", "stratum_alpha": "the round's"}
    for k, n_items in ((1, 200), (2, 200), (4, 200), (8, 200), (8, 100), (8, 50)):
        for measure, expected in words.items():
            yield k, n_items, expected, *percent(*_judged_strata(measure, k, n_items, asked))


def _judged_strata(measure: str, k: int, n_items: int, asked: Asked) -> np.ndarray:
    """The rounds with a stratum called reliable by itself, and by Holm, and those admitted."""
    rng, found = np.random.default_rng([k, n_items]), []
    rule = Rule(measure, scope="stratum")
    policy = Policy("strata", 1, (rule,), admit=("reliable",))
    for number in range(asked.rounds):
        rows = [_of_stratum(rng, n_items) for _ in range(k)]
        inference = replace(asked.inference, seed=number)
        judged = list(_of_strata(measure, rows, inference))
        alone, together = (
            [each.kind == "reliable" for each in judge(judged)]
            for judge in (rule.judge, policy.judge)
        )
        found.append((any(alone), any(together), all(together)))
    return np.array(found).T


def _of_stratum(rng: np.random.Generator, n_items: int, n_raters: int = 3) -> np.ndarray:
    """How many raters said no and yes of each item of a stratum."""
    right = rng.integers(2, size=(n_items, 1))
    guesses = rng.integers(2, size=(n_items, n_raters))
    yes = np.where(rng.random((n_items, 1)) < RELIABLE, right, guesses).sum(1)
    return np.column_stack([n_raters - yes, yes])


def _of_strata(measure: str, rows: list[np.ndarray], inference: Inference) -> Iterator[Estimate]:
    """The estimate of each stratum, with its own expected disagreement or that of the round."""
    place = np.repeat(np.arange(len(rows)), [len(each) for each in rows])
    whole = CategoryCounts(np.vstack(rows), scale=TWO, n_raters=3)
    for number, own in enumerate(rows):
        here = CategoryCounts(own, scale=TWO, n_raters=3)
        part = here if measure == ALPHA else CountsOfStratum(whole, place == number)
        yield estimate(
            measure, part.merged(), inference, scope=Scope.of_stratum("part", str(number))
        )


@study("verdicts | own level: standard errors | Holm | times the items", rounds=100_000)
def holm_price(asked: Asked) -> Iterator[Cells]:
    """How many more items an admission needs if all verdicts of a round must hold together.

    All verdicts rest on independent normal values that lie equally far above the cut-off. A round
    is admitted if each verdict reaches its own level, or if all do so by Holm's procedure. Items
    grow with the square of the distance.
    """
    for k in (2, 4, 8, 20):
        errors = np.sort(np.random.default_rng(k).normal(size=(asked.rounds, k)), axis=1)
        levels = [NORMAL.inv_cdf(1 - TAIL / place) for place in range(1, k + 1)]
        own, together = _distance(errors[:, :1], levels[:1]), _distance(errors, levels)
        yield k, f"{own:.2f}", f"{together:.2f}", f"{(together / own) ** 2:.3f}"


def _distance(errors: np.ndarray, levels: list[float]) -> float:
    """The distance in standard errors with which nine rounds in ten reach all levels."""
    low, high = 0.0, 10.0
    for _ in range(30):
        middle = (low + high) / 2
        admits = (errors + middle >= levels).all(1).mean() >= POWER
        low, high = (low, middle) if admits else (middle, high)
    return high
