"""How often the right rater is named, and how often nobody is.

Rounds of 300 items are simulated with five raters and with forty, who label every item, and with
forty of whom five label an item. The last two situations have 200 items. Labels are one of three,
and errors go to either other label. The rounds of the last line are held since no rater met an item
twice, though one of five has 12 % of errors where the others have 2 %.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from agreement_pipeline import Ratings, Scale, judge, load_policy
from agreement_pipeline.estimates import StandingOut, standing_out
from agreement_pipeline.evidence import summarize
from agreement_pipeline.ratings import MISSING
from agreement_pipeline.statistics import LabelsByRater
from benchmarks.studies.study import Asked, Cells, study

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
    return [each.raters for each in found.found] == [("r00",)]


def is_named(found: StandingOut) -> bool:
    return found.finding == "raters" and ("r00",) in [each.raters for each in found.found]


def the_camps(found: StandingOut) -> bool:
    camps = [each.raters for each in found.found]
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


@study("the raters | five | forty | forty, five an item | asked of the first two", rounds=2_000)
def who_stands_out(asked: Asked) -> Iterator[Cells]:
    """The percentage of rounds in which each finding comes. The last line has a quarter as many."""
    for each in SITUATIONS:
        panels = ((5, None), (40, None), (40, 5))
        found = (f"{share(each, n, asked.rounds, an_item):.1f}" for n, an_item in panels)
        yield each.name, *found, each.demand
    named = named_without_replicates(asked.rounds // 4)
    yield "no replicates: somebody is named", f"{named:.1f}", "", "", "at most 5"
