"""How often the right rater is named, and how often nobody is.

In `who_stands_out`, rounds of 300 items are simulated with five raters and with forty, who label
every item, and with forty of whom five label an item. The last two situations have 200 items.
Labels are one of three, and errors go to either other label. The rounds of the last line are held
since no rater met an item twice, though one of five has 12 % of errors where the others have 2 %.

In `who_differs_by_habit`, the first rater has a habit that few labels show, or nobody has one.
In `who_differs_by_coefficient`, a rule reads a coefficient of a fixed panel, and it is asked.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from agreement_pipeline import Ratings, Scale, judge, load_policy
from agreement_pipeline.estimates import DEFAULT_OF_ROUNDS, StandingOut, standing_out
from agreement_pipeline.evidence import describe_who_differs, summarize
from agreement_pipeline.measures import krippendorff_alpha
from agreement_pipeline.ratings import MISSING
from agreement_pipeline.statistics import Clusters, LabelsByRater, NumbersByRater
from benchmarks.studies.study import Asked, Cells, seeded, study

SCALE, SHARES, N_ITEMS, SEED = Scale(("safe", "rude", "hateful")), (0.5, 0.3, 0.2), 300, 2026
USUAL = 0.1
"""The share of errors of a usual rater."""


@dataclass(frozen=True)
class Situation:
    """A panel, the share of rounds in which a finding is right, and what the share must be."""

    name: str
    right: Callable[[StandingOut], bool]
    demand: str
    errors: Mapping[int, float]
    camps: bool = False
    n_items: int = N_ITEMS


def somebody(found: StandingOut) -> bool:
    return found.finding == "raters"


def the_first(found: StandingOut) -> bool:
    return [rater.name for rater in found.raters] == ["r00"]


def is_named(found: StandingOut) -> bool:
    return "r00" in [rater.name for rater in found.raters]


def the_camps(found: StandingOut) -> bool:
    camps = [camp.raters for camp in found.camps]
    return found.finding == "camps" and sorted(sorted(camps)[0]) == [
        name for place, name in enumerate(sorted(sum(camps, ()))) if place % 5 not in (1, 3)
    ]


SITUATIONS = (
    Situation("all alike: somebody is named", somebody, "at most 5", {}),
    Situation("all alike: two camps are said", lambda f: f.finding == "camps", "at most 5", {}),
    Situation("one at chance: that one is named", the_first, "95 or more", {0: 2 / 3}),
    Situation("one with 20 % of errors, others 10 %: named", is_named, "80 or more", {0: 0.2}),
    Situation("one with 12 % of errors, others 10 %: named", is_named, "at most 1", {0: 0.12}),
    Situation("two camps: both are said, nobody named", the_camps, "90 or more", {}, camps=True),
    Situation("20 % and 10 %, of 200 items: named", is_named, "none", {0: 0.2}, n_items=200),
    Situation("12 % and 10 %, of 200 items: named", is_named, "at most 2", {0: 0.12}, n_items=200),
)


def panel(
    situation: Situation,
    n_raters: int,
    rng: np.random.Generator,
    an_item: int | None = None,
    usual: float = USUAL,
) -> LabelsByRater:
    """The labels of a round. In camps, two of each five raters call half of *rude* safe."""
    n_items = situation.n_items
    true = rng.choice(len(SHARES), n_items, p=SHARES)
    seen = np.repeat(true[:, None], n_raters, 1)
    if situation.camps:
        borderline = (true == 1) & (rng.random(n_items) < 0.8)
        seen[np.ix_(borderline, np.isin(np.arange(n_raters) % 5, (1, 3)))] = 0
    errors = np.full(n_raters, usual)
    for rater, share in situation.errors.items():
        errors[rater] = share
    wrong = rng.random(seen.shape) < errors
    codes = np.where(wrong, (seen + rng.integers(1, len(SHARES), seen.shape)) % len(SHARES), seen)
    if an_item is not None:
        order = rng.random(codes.shape).argsort(1)
        codes = np.where(order < an_item, codes, MISSING)
    names = [f"r{place:02}" for place in range(n_raters)]
    return LabelsByRater(codes, scale=SCALE, raters=names)


def share(situation: Situation, n_raters: int, n_rounds: int, an_item: int | None = None) -> float:
    """In how many of a hundred rounds the finding is the one that is asked about."""
    rng = np.random.default_rng((SEED, n_raters, SITUATIONS.index(situation)))
    rounds = (panel(situation, n_raters, rng, an_item) for _ in range(n_rounds))
    return 100 * np.mean([situation.right(standing_out(each)) for each in rounds])


def named_without_replicates(n_rounds: int) -> float:
    """In how many of a hundred rounds somebody is named that are held for missing replicates."""
    rng, policy = np.random.default_rng(SEED), load_policy("replicated")
    policy, held, named = replace(policy, n_resamples=1_000), 0, 0
    odd = Situation("", somebody, "", {0: 0.12})
    for _ in range(n_rounds):
        codes = panel(odd, 5, rng, usual=0.02)
        frame = pd.DataFrame(
            [
                (f"i{item:03}", rater, SCALE.names[said])
                for item, row in enumerate(codes.codes.repeat(codes.weights.astype(int), axis=0))
                for rater, said in zip(codes.raters, row, strict=True)
            ],
            columns=["item", "rater", "label"],
        )
        ratings = Ratings.from_frame(frame, SCALE)
        found = summarize(ratings, policy, judge(ratings, policy))
        if {each.code for each in found.decision.unmet} == {"undefined"}:
            held += 1
            named += found.who_differs != ""
    return 100 * named / held


@dataclass(frozen=True)
class Habits:
    """A panel whose first rater has a habit, of items whose categories have some shares.

    Raters err in `errors` of the ratings, and the first in `errors_of_first`. On nominal scales an
    error is any other category, as often as it occurs, and else the next one up or down. The first
    rater gives the most common category instead of the last in `missed` of the items, the next
    higher category in `raised`, and the category at the other end in `turned`. `an_item` raters
    label an item, and items come in clusters of `cluster`, whose items are all hard or all easy.
    """

    shares: Sequence[float]
    n_raters: int
    n_items: int
    level: str = "nominal"
    errors: float = 0.05
    errors_of_first: float | None = None
    missed: float = 0.0
    raised: float = 0.0
    turned: float = 0.0
    an_item: int | None = None
    cluster: int = 1

    def draw(self, rng: np.random.Generator) -> LabelsByRater:
        k, shape = len(self.shares), (self.n_items, self.n_raters)
        true = rng.choice(k, self.n_items, p=self.shares)
        seen = np.repeat(true[:, None], self.n_raters, 1)
        cluster = np.arange(self.n_items) // self.cluster
        hard = rng.random(self.n_items)[cluster] < 1 / 2
        errors = np.full(shape, self.errors)
        if self.cluster > 1:
            errors *= np.where(hard, 1.8, 0.2)[:, None]
        if self.errors_of_first is not None:
            errors[:, 0] *= self.errors_of_first / self.errors
        errs = rng.random(shape) < errors
        if self.level == "nominal":
            other = rng.choice(k, shape, p=self.shares)
        else:
            other = np.clip(seen + rng.choice((-1, 1), shape), 0, k - 1)
        codes = np.where(errs, other, seen)
        first = codes[:, 0]
        is_missed = (first == k - 1) & (rng.random(self.n_items) < self.missed)
        first[is_missed] = int(np.argmax(self.shares))
        first[:] = np.minimum(first + (rng.random(self.n_items) < self.raised), k - 1)
        first[:] = np.where(rng.random(self.n_items) < self.turned, k - 1 - first, first)
        if self.an_item is not None:
            codes[rng.random(shape).argsort(1) >= self.an_item] = MISSING
        names = tuple(range(1, k + 1)) if self.level == "interval" else tuple("abcde"[:k])
        return LabelsByRater(
            codes,
            scale=Scale(names, self.level),
            raters=[f"r{place:02}" for place in range(self.n_raters)],
            clusters=Clusters.from_names(cluster) if self.cluster > 1 else None,
        )


@dataclass(frozen=True)
class Measured:
    """Numbers of mean 0 and spread 3 with errors of some spread. The first rater has other errors,
    whose spread is `spread` times as large.
    """

    n_raters: int
    n_items: int
    errors: float = 1.0
    bias: float = 0.0
    spread: float = 1.0
    level: str = "interval"
    heavy: bool = False

    def draw(self, rng: np.random.Generator) -> NumbersByRater:
        shape = (self.n_items, self.n_raters)
        errors = rng.standard_t(3, shape) / np.sqrt(3) if self.heavy else rng.normal(0, 1, shape)
        errors *= self.errors
        errors[:, 0] = self.spread * errors[:, 0] + self.bias
        values = rng.normal(0, 3, (self.n_items, 1)) + errors
        values = np.exp(values / 4) if self.level == "ratio" else values
        names = [f"r{place:02}" for place in range(self.n_raters)]
        return NumbersByRater(values, scale=Scale(None, self.level), raters=names)


SAFE, IN_ORDER = (0.5, 0.3, 0.2), (0.1, 0.2, 0.4, 0.2, 0.1)


def rare(share: float, n_raters: int, n_items: int, errors: float, **habit: Any) -> Habits:
    """Two categories, of which one is rare."""
    return Habits((1 - share, share), n_raters, n_items, errors=errors, **habit)


def in_order(n_raters: int, n_items: int, errors: float = 0.2, **habit: Any) -> Habits:
    return Habits(IN_ORDER, n_raters, n_items, habit.pop("level", "ordinal"), errors, **habit)


HABITS: Mapping[str, Habits | Measured] = {
    "never a category of 10 %: 3 raters, 100 items": rare(0.1, 3, 100, 0.05, missed=1),
    "never a category of 10 %: 3 raters, 1,000 items": rare(0.1, 3, 1_000, 0.05, missed=1),
    "never one of 5 %: 5 raters, 300 items": rare(0.05, 5, 300, 0.02, missed=1),
    "never one of 5 %: 3 raters, 1,000 items": rare(0.05, 3, 1_000, 0.02, missed=1),
    "never one of 3 %: 5 raters, 300 items": rare(0.03, 5, 300, 0.01, missed=1),
    "never one of 2 %: 5 raters, 300 items": rare(0.02, 5, 300, 0.005, missed=1),
    "never one of 2 %: 4 raters, 1,000 items": rare(0.02, 4, 1_000, 0.01, missed=1),
    "half of one of 10 % missed: 5 raters, 300 items": rare(0.1, 5, 300, 0.03, missed=0.5),
    "half of one of 10 % missed: 3 raters, 1,000 items": rare(0.1, 3, 1_000, 0.03, missed=0.5),
    "half of one of 5 % missed: 5 raters, 300 items": rare(0.05, 5, 300, 0.01, missed=0.5),
    "60 % of one of 5 % missed: 3 raters, 1,000 items": rare(0.05, 3, 1_000, 0.02, missed=0.6),
    "half of one of 2 % missed: 3 raters, 1,000 items": rare(0.02, 3, 1_000, 0.005, missed=0.5),
    "half of one of 2 % missed: 5 raters, 1,000 items": rare(0.02, 5, 1_000, 0.005, missed=0.5),
    "one step up always: 5 raters, 300 items": in_order(5, 300, raised=1),
    "one step up always: 3 raters, 1,000 items": in_order(3, 1_000, raised=1),
    "one step up always, interval: 5 raters, 300 items": in_order(
        5, 300, level="interval", raised=1
    ),
    "one step up on 30 %: 5 raters, 300 items": in_order(5, 300, raised=0.3),
    "turned on 10 %: 3 raters, 1,000 items": in_order(3, 1_000, turned=0.1),
    "turned on 5 %: 5 raters, 300 items": in_order(5, 300, turned=0.05),
    "numbers, errors of twice the spread: 5 raters, 300 items": Measured(5, 300, spread=2),
    "numbers, half a spread too high: 5 raters, 300 items": Measured(5, 300, bias=1.5),
    "numbers, half a spread too high, ratio level": Measured(5, 300, bias=1.5, level="ratio"),
    "numbers, half a spread too high, ordinal level": Measured(5, 300, bias=1.5, level="ordinal"),
}
ALIKE: Mapping[str, Habits | Measured] = {
    "3 raters, 100 items": Habits(SAFE, 3, 100, errors=0.15),
    "3 raters, 1,000 items": Habits(SAFE, 3, 1_000, errors=0.15),
    "5 raters, 300 items": Habits(SAFE, 5, 300, errors=0.15),
    "30 raters, 300 items": Habits(SAFE, 30, 300, errors=0.3),
    "30 raters, 4 an item, 300 items": Habits(SAFE, 30, 300, errors=0.15, an_item=4),
    "a category of 10 %: 30 raters, 4 an item, 300 items": rare(0.1, 30, 300, 0.3, an_item=4),
    "a category of 10 %: 5 raters, 40 items": rare(0.1, 5, 40, 0.3),
    "a category of 5 %: 3 raters, 40 items": rare(0.05, 3, 40, 0.3),
    "a category of 5 %: 3 raters, 60 items, more errors": rare(0.05, 3, 60, 0.4),
    "a category of 5 %: 10 raters, 60 items": rare(0.05, 10, 60, 0.3),
    "a category of 5 %: 5 raters, 300 items": rare(0.05, 5, 300, 0.1),
    "a category of 5 %: 3 raters, 1,000 items": rare(0.05, 3, 1_000, 0.3),
    "a category of 3 %: 5 raters, 100 items": rare(0.03, 5, 100, 0.3),
    "a category of 3 %: 3 raters, 100 items, more errors": rare(0.03, 3, 100, 0.5),
    "a category of 2 %: 3 raters, 300 items": rare(0.02, 3, 300, 0.3),
    "ordinal: 3 raters, 50 items": in_order(3, 50, 0.4),
    "ordinal: 5 raters, 300 items": in_order(5, 300, 0.3),
    "40 clusters of 10 items: 3 raters": Habits(SAFE, 3, 400, errors=0.2, cluster=10),
    "50 clusters of 8, a category of 10 %: 5 raters": rare(0.1, 5, 400, 0.2, cluster=8),
    "numbers: 3 raters, 60 items": Measured(3, 60),
    "numbers with heavy tails: 4 raters, 100 items": Measured(4, 100, heavy=True),
    "numbers with heavy tails, ratio level: 3 raters, 300 items": Measured(
        3, 300, heavy=True, level="ratio"
    ),
}
N_OF_POPULATION = 20_000


def rise_without_the_first(population: Habits | Measured) -> float:
    """How much higher alpha of a very large round is without the first rater."""
    large = replace(population, n_items=N_OF_POPULATION).draw(np.random.default_rng(SEED))
    alphas = [
        float(krippendorff_alpha(panel.counts() if panel.holds == "labels" else panel).value)
        for panel in (large, large.without("r00"))
    ]
    return alphas[1] - alphas[0]


HALF_A_SPREAD = Measured(5, 300, bias=1.5)
BY_COEFFICIENT: Mapping[str, tuple[str, Habits | Measured]] = {
    "half a spread too high: 5 raters, 300 items": ("icc_3_1", HALF_A_SPREAD),
    "half a spread too high, absolute agreement": ("icc_2_1", HALF_A_SPREAD),
    "errors of twice the spread: 5 raters, 300 items": ("icc_3_1", Measured(5, 300, spread=2)),
    "both of these: 5 raters, 300 items": ("icc_3_k", Measured(5, 300, bias=1.5, spread=2)),
    "half of one of 10 % missed: 5 raters, 300 items": (
        "conger_kappa",
        rare(0.1, 5, 300, 0.03, missed=0.5),
    ),
    "45 % by luck, others 10 %: 3 raters, 300 items": (
        "light_kappa",
        Habits(SAFE, 3, 300, errors=0.1, errors_of_first=0.45),
    ),
    "alike, much error: 3 raters, 60 items": ("icc_3_1", Measured(3, 60, errors=3)),
    "alike, much error: 3 raters, 1,500 items": ("icc_3_1", Measured(3, 1_500, errors=3)),
    "alike, heavy tails: 4 raters, 100 items": ("icc_2_1", Measured(4, 100, heavy=True)),
    "alike, a category of 10 %: 5 raters, 40 items": ("conger_kappa", rare(0.1, 5, 40, 0.3)),
    "alike, a category of 3 %: 3 raters, 100 items": ("conger_kappa", rare(0.03, 3, 100, 0.5)),
    "alike, 40 clusters of 10 items: 3 raters": (
        "conger_kappa",
        Habits(SAFE, 3, 400, errors=0.2, cluster=10),
    ),
    "alike, a category of 10 %: 4 raters, 60 items": ("light_kappa", rare(0.1, 4, 60, 0.3)),
}


def names_in_rounds(
    population: Habits | Measured, n_rounds: int, measure: str = DEFAULT_OF_ROUNDS
) -> Sequence[Sequence[str]]:
    """Who is named in each round."""
    panels = seeded(population.draw, n_rounds, SEED)
    return [[rater.name for rater in standing_out(panel, measure).raters] for panel in panels]


def named_beside_a_copy(n_raters: int, n_rounds: int) -> float:
    """In how many of a hundred rounds anybody is named whose second rater copies the first."""
    population, named = Habits(SAFE, n_raters, 300, errors=0.15), 0
    for panel in seeded(population.draw, n_rounds, SEED):
        codes = panel.codes.repeat(panel.weights.astype(int), axis=0)
        codes[:, 1] = codes[:, 0]
        rows = zip(*np.nonzero(codes >= 0), codes[codes >= 0], strict=True)
        frame = pd.DataFrame(
            [(f"i{item:03}", panel.raters[rater], SCALE.names[code]) for item, rater, code in rows],
            columns=["item", "rater", "label"],
        )
        named += "differs from the rest" in describe_who_differs(Ratings.from_frame(frame, SCALE))
    return 100 * named / n_rounds


@study("the first rater | α higher without them | named | another named", rounds=500)
def who_differs_by_habit(asked: Asked) -> Iterator[Cells]:
    """The percentage of rounds in which the first rater is named, and in which another is."""
    for habit, population in HABITS.items():
        names = names_in_rounds(population, asked.rounds)
        first = np.mean(["r00" in named for named in names])
        another = np.mean([bool({*named} - {"r00"}) for named in names])
        rise = rise_without_the_first(population)
        yield habit, f"{rise:.2f}", f"{100 * first:.1f}", f"{100 * another:.1f}"


@study("the first rater | coefficient | named | by α | others named | by α", rounds=500)
def who_differs_by_coefficient(asked: Asked) -> Iterator[Cells]:
    """The percentage of rounds in which the first rater is named, and in which another is.

    Where all are alike, it is that in which anybody is named.
    """
    for title, (measure, population) in BY_COEFFICIENT.items():
        is_alike = title.startswith("alike")
        first, others = [], []
        for name in (measure, DEFAULT_OF_ROUNDS):
            names = names_in_rounds(population, asked.rounds, name)
            apart = set() if is_alike else {"r00"}
            share_of_first = np.mean([bool({*named} & apart) for named in names])
            share_of_others = np.mean([bool({*named} - apart) for named in names])
            first.append("" if is_alike else f"{100 * share_of_first:.1f}")
            others.append(f"{100 * share_of_others:.1f}")
        yield title, measure, *first, *others


@study("raters who are alike | somebody named", rounds=500)
def nobody_differs(asked: Asked) -> Iterator[Cells]:
    """The percentage of rounds in which anybody is named though all are alike."""
    for title, population in ALIKE.items():
        names = names_in_rounds(population, asked.rounds)
        yield title, f"{100 * np.mean([bool(named) for named in names]):.1f}"
    for n_raters in (3, 4):
        named = named_beside_a_copy(n_raters, max(1, asked.rounds // 5))
        yield f"one copies another: {n_raters} raters, 300 items", f"{named:.1f}"


@study("the raters | five | forty | forty, five an item | asked of the first two", rounds=2_000)
def who_stands_out(asked: Asked) -> Iterator[Cells]:
    """The percentage of rounds in which each finding comes. The last line has a quarter as many."""
    for each in SITUATIONS:
        panels = ((5, None), (40, None), (40, 5))
        found = (f"{share(each, n, asked.rounds, an_item):.1f}" for n, an_item in panels)
        yield each.name, *found, each.demand
    named = named_without_replicates(asked.rounds // 4)
    yield "no replicates: somebody is named", f"{named:.1f}", "", "", "at most 5"
