"""How good plans from an earlier round are, and what the reason of a held round says.

Rounds are simulated as earlier ones, a plan is made from each, and the share of rounds of the
planned size that decide is read off a curve of the true population. Rules are at 0.8, or at another
cut-off for real panels.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from scipy.special import betainc

from agreement_pipeline import Scale
from agreement_pipeline.estimates import build_round_statistic, estimate
from agreement_pipeline.intervals import DEFAULT_METHOD
from agreement_pipeline.policy.fresh_round import (
    HOPELESS_SHARE,
    MIN_RELATIVE_GAIN,
    plan_fresh_round,
)
from agreement_pipeline.policy.planning import (
    PLANNING_INFERENCE,
    RuleOnSimulation,
    build_assumed_population,
    compute_true_value,
    plan_measure,
    simulate_rounds,
)
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import CategoryCounts, Statistic
from benchmarks.populations import MODELS, Errors, Population, Sample
from benchmarks.studies.real_rounds import ratings_of, rounds_in
from benchmarks.studies.study import ALPHA, Asked, Cells, study

CUTOFF, POWER, TAIL, SEED = 0.8, 0.9, 0.025, 23
NORMAL = NormalDist()
OF_PLANS = (
    "raters | true α | cut-off | earlier items | needed | refused | decide | under 80 % "
    "| median | 5 % | 95 % | needed is in the range"
)
SIZES = np.geomspace(40, 60_000, 80).astype(int)
LOW_POWER = 0.8
SPLIT = 0.75
"""Of three raters who guess yes or no, the share of items on which they do not agree."""

Cell = tuple[float, int]
CELLS: tuple[Cell, ...] = ((0.85, 150), (0.88, 150), (0.9, 150), (0.92, 150))
FURTHER: tuple[Cell, ...] = ((0.79, 150), (0.88, 100), (0.85, 300), (0.88, 300))


class Exact:
    """Three raters know an item or guess yes or no: how often a round of so many items decides."""

    def __init__(self) -> None:
        scale = Scale(("no", "yes"))

        def admitted(n: int, split: int) -> bool:
            rows = np.array([n - split, n - split, split, split]) / 2
            counts = CategoryCounts([[3, 0], [0, 3], [2, 1], [1, 2]], rows, scale=scale)
            return estimate(ALPHA, counts, PLANNING_INFERENCE).interval.low >= CUTOFF

        most = np.array([_last(lambda k, n=n: admitted(n, k), n) for n in SIZES])
        short = ((1 - CUTOFF) * SPLIT * SIZES - most - 0.5) / np.sqrt(SIZES)
        smooth = np.polyval(np.polyfit(SIZES**-0.5, short, 3), SIZES**-0.5)
        self._most = (1 - CUTOFF) * SPLIT * SIZES - smooth * np.sqrt(SIZES)

    def deciding(self, values: Array) -> Array:
        """The share that decides by number of items, for each true value. Shape (sizes, values)."""
        most = np.maximum(self._most, 0.0)[:, None]
        share = np.clip((1 - np.atleast_1d(values)) * SPLIT, 0, 1)
        return np.where(
            self._most[:, None] < 0, 0.0, betainc(SIZES[:, None] - most, most + 1, 1 - share)
        )


def _last(holds: Callable[[int], bool], end: int) -> int:
    """The last number for which it holds, or -1."""
    low, high = -1, end
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def smallest(shares: Array, wanted: float) -> float:
    """The number of items at which the share is the wanted one; nan if it never is."""
    place = int(np.argmax(shares >= wanted))
    if shares[place] < wanted:
        return float("nan")
    return float(np.interp(wanted, shares[: place + 1], SIZES[: place + 1]))


Draws = Array
Rule = Callable[[Exact, Draws], float]
"""From values that an earlier round leaves open to a number of items, or nan for a refusal."""


def at_value(exact: Exact, values: Draws) -> float:
    return smallest(exact.deciding(np.median(values))[:, 0], POWER)


def at_quantile(share: float) -> Rule:
    """As if the value was the lower limit of one side: safeguard power."""
    return lambda exact, values: smallest(
        exact.deciding(np.quantile(values, 1 - share))[:, 0], POWER
    )


def assurance(likely: float, *, alone: bool = True, priced: bool = False) -> Rule:
    """The mean share that decides is the wanted one; of values over the cut-off `alone` or of all.

    `priced` stops where a doubling brings too little.
    """
    wanted = NORMAL.inv_cdf(POWER)
    worth = MIN_RELATIVE_GAIN * NORMAL.pdf(wanted) * (wanted - NORMAL.inv_cdf(TAIL)) / 2

    def rule(exact: Exact, values: Draws) -> float:
        over = values > CUTOFF
        if over.mean() < likely:
            return float("nan")
        shares = exact.deciding(values[over] if alone else values).mean(1)
        enough = smallest(shares, POWER)
        if not priced:
            return enough
        brings = np.gradient(shares, np.log(SIZES))
        stop = (shares >= HOPELESS_SHARE * POWER) & (brings < worth)
        return float(np.nanmin([enough, SIZES[np.argmax(stop)] if stop.any() else np.nan]))

    return rule


RULES: dict[str, Rule] = {
    "the value that was found": at_value,
    "a lower limit of 70 %": at_quantile(0.7),
    "a lower limit of 80 %": at_quantile(0.8),
    "assurance, of all values": assurance(0.9, alone=False),
    "assurance, of values over the cut-off, 9 in 10": assurance(0.9),
    "the same, 3 in 4": assurance(0.75),
    "ended by the price, 9 in 10": assurance(0.9, priced=True),
    "**ended by the price, 3 in 4**": assurance(0.75, priced=True),
    "ended by the price, 1 in 2": assurance(0.5, priced=True),
}


def values_open(earlier: CategoryCounts, n: int = 500) -> Draws:
    """The values under weights of the Bayesian bootstrap, of counts of no and yes by three."""
    shares = np.random.default_rng(0).dirichlet(earlier.weights, size=n)
    yes, split = shares @ earlier.counts[:, 1] / 3, shares @ (earlier.counts.min(1) > 0)
    return np.asarray(1 - split / 3 / (yes * (1 - yes)))


@study(
    "planned by | " + " | ".join(f"{truth:g}, {m}" for truth, m in (*CELLS, *FURTHER)), rounds=400
)
def ways_to_plan(asked: Asked) -> Iterator[Cells]:
    """Ways to plan side by side, on yes and no by three raters.

    The share that decides is exact here: a round decides if it has few enough split items.
    """
    exact = Exact()
    drawn = {
        (truth, m): [
            values_open(each)
            for each in simulate_rounds(
                build_assumed_population(ALPHA, truth, (0.5, 0.5), 3),
                m,
                asked.rounds,
                np.random.default_rng(SEED),
            )
        ]
        for truth, m in (*CELLS, *FURTHER)
    }
    for name, rule in RULES.items():
        found = []
        for (truth, _), rounds in drawn.items():
            curve = exact.deciding(truth)[:, 0]
            plans = np.array([rule(exact, values) for values in rounds])
            needed = smallest(curve, POWER) if truth > CUTOFF else np.nan
            found.append(summary(plans, np.interp(plans, SIZES, curve), needed))
        yield name, *found


def summary(plans: Array, decided: Array, needed: float) -> str:
    """Refused plans, rounds that decide, and the median and mean of items over those needed."""
    made = ~np.isnan(plans)
    refused = f"{100 * (1 - made.mean()):.0f} %"
    if not made.any():
        return refused
    if np.isnan(needed):
        return f"{refused}, {100 * decided[made].mean():.0f} %, {np.median(plans[made]):.0f} items"
    median, mean = np.median(plans[made]) / needed, plans[made].mean() / needed
    return f"{refused}, {100 * decided[made].mean():.0f} %, {median:.2f}, {mean:.1f}"


def planned(
    name: str, population: Statistic, cutoff: float, earlier: int, n_rounds: int
) -> Iterator[object]:
    """The cells of a line: what `plan` says from each of some earlier rounds."""
    rule = {"reliable": cutoff, "probability": POWER}
    known = plan_measure(ALPHA, population, **rule)
    judging, needed = RuleOnSimulation(ALPHA, cutoff, 5, PLANNING_INFERENCE, 1), known.n_items
    sizes = np.unique(np.geomspace(max(20, needed / 6), 6 * needed, 12).astype(int))
    curve = [
        np.mean(
            [
                judging.decides(estimate(ALPHA, each, judging.inference_at_look(number)))
                for number, each in enumerate(
                    simulate_rounds(population, int(n), 300, np.random.default_rng(n))
                )
            ]
        )
        for n in sizes
    ]
    rounds = simulate_rounds(population, earlier, n_rounds, np.random.default_rng(SEED))
    found = [plan_measure(ALPHA, each, **rule, n_rounds=100, sampled=True) for each in rounds]
    plans = np.array([each.n_items for each in found if each.n_items], dtype=float)
    yield from (
        name,
        f"{compute_true_value(ALPHA, population):.3f}",
        f"{cutoff:g}",
        earlier,
        needed,
    )
    yield f"{100 * (1 - len(plans) / n_rounds):.0f} %"
    yield from said_of(plans, sizes, curve, needed) if len(plans) else [""] * 5
    between = [each.between for each in found if each.between]
    held = [few <= needed <= (many or np.inf) for few, many in between]
    yield f"{100 * np.mean(held):.0f} %" if held else ""


def said_of(plans: Array, sizes: Array, curve: list[float], needed: int) -> Iterator[str]:
    """How often rounds of the planned sizes decide, and the sizes over the one that is needed."""
    decided = np.interp(np.sqrt(plans), np.sqrt(sizes), curve)
    error = decided.std() / np.sqrt(len(decided))
    yield f"{100 * decided.mean():.1f} % ± {100 * error:.1f}"
    yield f"{100 * np.mean(decided < LOW_POWER):.0f} %"
    yield from (f"{np.quantile(plans, share) / needed:.2f}" for share in (0.5, 0.05, 0.95))


def panels(folder: Path) -> Iterator[tuple[str, Statistic, float]]:
    """Populations of real panels, each with a cut-off for which some 300 items are needed."""
    for name, cutoff in (("hatecheck", 0.87), ("convabuse", 0.55)):
        _, rows, scale = max(rounds_in(folder / f"{name}.csv"), key=lambda each: len(each[1]))
        basis = build_round_statistic(ratings_of(rows, scale), ALPHA)
        assert basis is not None
        yield name, basis, cutoff


@study(OF_PLANS, rounds=100)
def made_plans(asked: Asked) -> Iterator[Cells]:
    """What plans from earlier rounds of simulated panels reach."""
    for raters, (truth, m) in (
        *((3, cell) for cell in CELLS),
        *((raters, (0.88, 150)) for raters in (2, 5)),
        *((3, cell) for cell in FURTHER[1:]),
    ):
        population = build_assumed_population(ALPHA, truth, (0.5, 0.5), raters)
        yield tuple(planned(str(raters), population, CUTOFF, m, asked.rounds))


@study(OF_PLANS, rounds=100, real=True)
def real_plans(asked: Asked) -> Iterator[Cells]:
    """The same for two real panels of the folder."""
    for name, population, cutoff in panels(asked.folder):
        yield tuple(planned(name, population, cutoff, 150, asked.rounds))


class Panel(NamedTuple):
    """Rounds of a true α, how many items an earlier one has, and how limits are found."""

    name: str
    draw: Callable[[float, int, np.random.Generator], Statistic]
    n_items: int
    method: str = DEFAULT_METHOD


def of_categories(
    raters: int,
    categories: int,
    n_items: int,
    *,
    commonest: float | None = None,
    model: str = MODELS[0],
    level: str = "nominal",
) -> Panel:
    def draw(truth: float, n: int, rng: np.random.Generator) -> Statistic:
        shape = Population(n, raters, categories, commonest, model, 0.0, truth)
        return Sample.drawn(shape, rng).counts(level)

    kinds = f"{categories} categories, {level}"
    if commonest is not None:
        kinds = f"a category of {100 * (1 - commonest):.0f} %"
    return Panel(f"{raters} raters, {kinds}, {model}", draw, n_items)


def of_numbers(raters: int, errors: Errors, n_items: int, method: str = DEFAULT_METHOD) -> Panel:
    def draw(truth: float, n: int, rng: np.random.Generator) -> Statistic:
        return errors._replace(truth=truth).drawn(n, rng, raters)

    limits = "" if method == DEFAULT_METHOD else ", limits by the tail"
    return Panel(
        f"{raters} raters, open numbers, errors {errors.name}{limits}", draw, n_items, method
    )


BY_TAIL = "tail_adaptive_bootstrap"
ADVISED = (
    of_categories(2, 2, 150),
    of_categories(3, 2, 150),
    of_categories(3, 2, 60),
    of_categories(5, 2, 120),
    of_categories(3, 4, 120, model=MODELS[1]),
    of_categories(2, 2, 300, commonest=0.95),
    of_categories(3, 2, 300, commonest=0.97),
    of_categories(3, 5, 100, level="ordinal"),
    of_categories(2, 5, 150, level="interval"),
    of_numbers(2, Errors("alike", 0.9), 100),
    of_numbers(3, Errors("alike", 0.9), 120, BY_TAIL),
    of_numbers(3, Errors("1 % are 10 times as large", 0.9, 0.01, 10.0), 150, BY_TAIL),
)
TRUTHS = (0.8, 0.95)
N_FRESH_ROUNDS = 5


@study(
    "panel | items | held over the cut-off | named a number | median | chance said | decide",
    rounds=100,
    draws=1_000,
    seeded=True,
)
def advice(asked: Asked) -> Iterator[Cells]:
    """How often fresh rounds of the size decide that the step of a held round names.

    The true α of each round is drawn from those over the cut-off, since the chance is for these.
    """
    for place, panel in enumerate(ADVISED):
        rng = np.random.default_rng([SEED + asked.seed, place])
        inference = replace(asked.inference, method=panel.method)
        held, sizes, chances, decided = 0, list[int](), list[float](), list[float]()
        for number in range(asked.rounds):
            truth = float(rng.uniform(*TRUTHS))
            earlier = panel.draw(truth, panel.n_items, rng)
            found = estimate(ALPHA, earlier, replace(inference, seed=number))
            if found.low >= CUTOFF or found.value <= CUTOFF:
                continue
            held += 1
            fresh = plan_fresh_round(found, CUTOFF)
            if fresh is None or fresh.n is None:
                continue
            sizes.append(fresh.n)
            chances.append(fresh.chance)
            once = replace(inference, lower_only=True)
            rounds = (panel.draw(truth, fresh.n, rng) for _ in range(N_FRESH_ROUNDS))
            decided.append(np.mean([estimate(ALPHA, each, once).low >= CUTOFF for each in rounds]))
        yield (
            panel.name,
            panel.n_items,
            *(f"{100 * share:.0f} %" for share in (held / asked.rounds, len(sizes) / max(held, 1))),
            *((f"{np.median(sizes):,.0f}", *both(chances, decided)) if sizes else [""] * 3),
        )


def both(chances: list[float], decided: list[float]) -> tuple[str, str]:
    error = np.std(decided) / np.sqrt(len(decided))
    return f"{100 * np.mean(chances):.0f} %", f"{100 * np.mean(decided):.0f} % ± {100 * error:.0f}"
