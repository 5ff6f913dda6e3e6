"""How often a round with chosen gaps is admitted, and how often one with gaps at random is held.

Ratings are yes or no. Raters guess on hard items, and skip some of these or of all.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from agreement_pipeline import Ratings, Scale
from agreement_pipeline.contract import Contract
from agreement_pipeline.integrity.facts import FACTS
from agreement_pipeline.integrity.panel import Panel
from agreement_pipeline.policy import assess, load_policy
from benchmarks.studies.study import Asked, Cells, percent, seeded, study

SCALE = Scale(("no", "yes"))
POLICY = replace(load_policy("standard"), n_resamples=1000)
FACT = "dispute_where_ratings_lack"
HARD = 0.21
"""The share of items on which raters guess: alpha of all ratings is .79."""
Random = np.random.Generator
Said = np.ndarray
Made = Callable[[Random], Said]


def said(
    random: Random, n_items: int, errors: list[float], hard: float | np.ndarray = HARD
) -> tuple[Said, np.ndarray]:
    """Labels of all raters (items, raters), and which items are hard. Raters guess on these."""
    is_hard = random.random((n_items, 1)) < hard
    truth = random.integers(2, size=(n_items, 1))
    wrong = random.random((n_items, len(errors))) < np.where(is_hard, 0.5, errors)
    return np.where(wrong, 1 - truth, truth), is_hard


def without(labels: Said, gone: np.ndarray) -> Said:
    return np.where(gone, -1, labels)


def skipped(random: Random, n_items: int, share: float = 0.3, n_raters: int = 3) -> Said:
    """So many ratings of hard items are skipped."""
    labels, hard = said(random, n_items, [0.0] * n_raters)
    return without(labels, hard & (random.random(labels.shape) < share))


def dissent_gone(random: Random, n_items: int) -> Said:
    """Who differs from the others is deleted in two thirds of the items. Alpha of all is .70."""
    labels, _ = said(random, n_items, [0.0] * 3, 0.3)
    yes = labels.sum(1, keepdims=True)
    alone = (labels == np.where(yes == 1, 1, 0)) & ((yes == 1) | (yes == 2))
    return without(labels, alone & (random.random((n_items, 1)) < 2 / 3))


def at_random(random: Random, share: float, errors: list[float], n_items: int = 600) -> Said:
    labels, _ = said(random, n_items, errors, 0.06)
    return without(labels, random.random(labels.shape) < share)


def workloads(random: Random) -> Said:
    """Five raters who rate from all to a seventh of the items. Those who rate less err more."""
    labels, _ = said(random, 600, [0.01, 0.02, 0.04, 0.08, 0.15], 0.06)
    kept = random.random(labels.shape) < [1, 0.9, 0.6, 0.3, 0.15]
    return without(labels, ~kept)


def experts_seldom(random: Random) -> Said:
    """Two who err rate all, and two who never do a third of the items."""
    labels, _ = said(random, 600, [0.08, 0.08, 0.0, 0.0], 0.04)
    return without(labels, random.random(labels.shape) < [0, 0, 0.67, 0.67])


def by_item(random: Random, *, lost: float = 0.05) -> Said:
    """Three of eight raters an item, who are unequal. A few ratings were lost."""
    labels, _ = said(random, 600, np.linspace(0, 0.1, 8).tolist(), 0.05)
    turn = random.random(labels.shape).argsort(1).argsort(1)
    return without(labels, (turn >= 3) | (random.random(labels.shape) < lost))


def third(random: Random, share: float, *, disputed: bool = False) -> Said:
    """A third rater, by design, on a share of the items, or where two differ."""
    labels, _ = said(random, 600, [0.02, 0.02, 0.1], 0.08)
    kept = labels[:, 0] != labels[:, 1] if disputed else random.random(600) < share
    labels[~kept, 2] = -1
    return labels


def joins(random: Random) -> Said:
    """A new rater, who errs more, joins for the last third of the items."""
    labels, _ = said(random, 600, [0.02, 0.03, 0.12], 0.06)
    labels[:400, 2] = -1
    return labels


def leaves(random: Random) -> Said:
    """A rater leaves after two thirds of 3,000 items, which become harder all the time."""
    labels, _ = said(random, 3000, [0.0] * 3, np.linspace(0.02, 0.3, 3000)[:, None])
    labels[2000:, 2] = -1
    return labels


DISHONEST: dict[str, Made] = {
    "30 % of the ratings of hard items are skipped, 300 items": lambda r: skipped(r, 300),
    "30 % of them are skipped, 1,000 items": lambda r: skipped(r, 1000),
    "30 % of them are skipped, 300 items and five raters": lambda r: skipped(r, 300, n_raters=5),
    "15 % of them are skipped, 300 items": lambda r: skipped(r, 300, 0.15),
    "15 % of them are skipped, 1,000 items": lambda r: skipped(r, 1000, 0.15),
    "dissent is deleted in two thirds of the items, 300 items": lambda r: dissent_gone(r, 300),
    "dissent is deleted in two thirds of the items, 2,000 items": lambda r: dissent_gone(r, 2000),
}
HONEST: dict[str, Made] = {
    "a tenth is missing at random, three raters": lambda r: at_random(r, 0.1, [0.02, 0.04, 0.08]),
    "a third is missing at random, five raters": lambda r: at_random(
        r, 0.33, [0.01, 0.02, 0.04, 0.08, 0.15]
    ),
    "uneven workloads of unequal raters": workloads,
    "two who are always right rate a third": experts_seldom,
    "three of eight raters an item": by_item,
    "a third rater on a third of the items": lambda r: third(r, 1 / 3),
    "a third rater on nine items in ten": lambda r: third(r, 0.9),
    "a third rater where two differ": lambda r: third(r, 0, disputed=True),
    "a new rater joins": joins,
    "a rater leaves while items become harder": leaves,
}


def ratings_of(labels: Said) -> Ratings:
    item, rater = np.nonzero(labels >= 0)
    names = np.array(SCALE.names)
    columns = {
        "item": [f"i{at:04}" for at in item],
        "rater": [f"r{at}" for at in rater],
        "label": names[labels[item, rater]],
    }
    return Ratings.from_frame(pd.DataFrame(columns), SCALE)


def is_held(ratings: Ratings) -> bool:
    return bool(FACTS[FACT](Panel(ratings)).value)


def rounds(made: Made, n: int) -> Iterator[Ratings]:
    number = [*DISHONEST.values(), *HONEST.values()].index(made)
    return map(ratings_of, seeded(made, n, 36, number))


@study("round | admitted, % | admitted before, % | found, %", rounds=200)
def skipped_ratings(asked: Asked) -> Iterator[Cells]:
    """How often a round is admitted whose gaps were chosen, with this check and without it."""
    for name, made in DISHONEST.items():
        found = []
        for ratings in rounds(made, asked.rounds):
            before = assess(ratings, POLICY, Contract.none(), checked=()).decision.admitted
            held = is_held(ratings)
            found.append((before and not held, before, held))
        yield name, *percent(*zip(*found, strict=True))


@study("round | held, %", rounds=2000)
def honest_gaps(asked: Asked) -> Iterator[Cells]:
    """How often a round is held whose gaps are at random or by design."""
    for name, made in HONEST.items():
        held = [is_held(each) for each in rounds(made, asked.rounds)]
        yield name, f"{100 * np.mean(held):.2f}"
