"""How often a silver round is admitted.

A classifier labels 20,000 items, of which a fifth are of the rarer label. A rater gives the other
label than is usual for an item in 3 % of cases, so a majority seldom does. The classifier errs on
so many items that its share of wrong labels is exact. Items are drawn as often as `plan` says for
2 % of wrong labels under a limit of 5 %, and a panel labels them. A round is admitted if the upper
limit is under the limit.
"""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from agreement_pipeline.models import items_to_draw
from agreement_pipeline.models.correction import majority_shares
from agreement_pipeline.models.prediction_powered import Stratum, lowest_mean
from benchmarks.studies.study import Asked, Cells, study

N_ITEMS, RARER, SLIPS, SEED = 20_000, 0.2, 0.03, 2026
LIMIT, GOOD, LEVEL, MAJORITY = 0.05, 0.02, 0.95, 3
WRONG, RATERS, DESIGNS = (0.02, 0.05, 0.08), (3, 5), ("simple", "stratified")


class Situation(NamedTuple):
    """The true share of wrong labels, the raters of each drawn item, and how items are drawn."""

    wrong: float
    raters: int
    design: str


def admitted(at: Situation, n: int, rng: np.random.Generator) -> bool:
    """Whether a round of a new population is admitted, with n drawn items."""
    usual = rng.random(N_ITEMS) < RARER
    of_majority = float(SLIPS**3 + 3 * SLIPS**2 * (1 - SLIPS))
    n_errors = round(N_ITEMS * (at.wrong - of_majority) / (1 - 2 * of_majority))
    errs = np.zeros(N_ITEMS, dtype=bool)
    errs[rng.choice(N_ITEMS, n_errors, replace=False)] = True
    said = usual ^ errs
    groups = [np.arange(N_ITEMS)]
    if at.design == "stratified":
        groups = [np.flatnonzero(said == each) for each in (False, True)]
    strata = []
    for group in groups:
        drawn = np.sort(rng.choice(len(group), round(n * len(group) / N_ITEMS), replace=False))
        items = group[drawn]
        slips = rng.binomial(at.raters, SLIPS, len(items)).astype(float)
        agree = np.where(errs[items], slips, at.raters - slips)
        right = majority_shares(agree, np.full(len(items), at.raters), MAJORITY)
        ones = np.ones(len(group))
        strata.append(Stratum(ones, np.zeros(len(group)), drawn, right))
    return 1 - lowest_mean(strata, LEVEL) < LIMIT


def shares(rounds: int, n: int) -> Iterator[tuple[Situation, float]]:
    """Each situation, and the share of its rounds that are admitted."""
    for number, parts in enumerate(product(WRONG, RATERS, DESIGNS)):
        at, rng = Situation(*parts), np.random.default_rng([SEED, number])
        yield at, np.mean([admitted(at, n, rng) for _ in range(rounds)])


@study("wrong labels | raters | draw | admitted", rounds=2_000)
def silver(asked: Asked) -> Iterator[Cells]:
    """How often a round is admitted with as many drawn items as `plan` says."""
    planned = items_to_draw(LIMIT, GOOD, confidence_level=LEVEL)
    for at, share in shares(asked.rounds, planned):
        yield f"{at.wrong:.0%}", at.raters, at.design, f"{100 * share:.2f} %"
    yield f"{planned} items are drawn."
