"""Raters who are copies of others: they agree far beyond what both do with the rest.

Two raters who work independently make their own mistakes. So they differ about as often from each
other as from a third rater. Where nobody differs much from anybody, nothing can be told.
"""

from typing import Any

import numpy as np
import pandas as pd

from agreement_pipeline.contract.facts._pairs import Pairs
from agreement_pipeline.contract.facts.fact import Fact, fact
from agreement_pipeline.contract.facts.panel import Panel
from agreement_pipeline.ratings import described, lookalikes

MET = 30
NEAR = 0.05
FEWEST = 20
BY_CHANCE = 1e-3
TENTH = 0.1
SHOWN = 3
Codes = np.ndarray[Any, Any]


@fact
def pairs_of_identical_raters(panel: Panel) -> Fact:
    """How many pairs never differ, though both differ from everybody else.

    Pairs that by chance never differ are told apart by their number: among all pairs there is less
    than a thousandth of one.
    """
    pairs, expected = _compared(panel)
    by_chance = len(expected) * np.exp(-expected)
    told = (expected >= TENTH * pairs.met) & (by_chance <= BY_CHANCE)
    never = (pairs.differed == 0) & told
    return _told(panel, pairs, expected, never, "never differ")


@fact
def pairs_of_raters_too_near(panel: Panel) -> Fact:
    """How many pairs differ less than a tenth as often as both differ from everybody else.

    Nothing can be told of raters who differ from somebody else on less than a tenth of the items.
    """
    pairs, expected = _compared(panel)
    apart = (expected >= TENTH * pairs.met) & (expected >= FEWEST)
    near = (pairs.differed < TENTH * expected) & apart
    return _told(panel, pairs, expected, near, "differ too seldom")


@fact
def raters_that_print_alike(panel: Panel) -> Fact:
    """How many raters have a name that prints as that of another rater."""
    names = panel.raters
    alike = lookalikes(names)
    if len(alike) > 1:
        alike = lookalikes(names[place] for place in pd.unique(panel.columns["place"]))
    words = "; ".join(described(group) for group in alike[:SHOWN])
    count = sum(len(group) for group in alike)
    return Fact(
        count,
        f"{count} of {len(names)} raters have a name that prints as another"
        f"{f': {words}' if alike else ''}",
    )


def _compared(panel: Panel) -> tuple[Pairs, Codes]:
    """The pairs that can be told, and on how many items they should differ.

    They should differ as often as the nearer of the two differs from the nearest rater who is no
    near copy.
    """
    pairs = panel.pairs
    pairs = pairs.where(pairs.met >= MET)
    nearest = np.full(len(panel.raters), np.inf)
    far = pairs.where(pairs.share > NEAR)
    for raters in (far.first, far.second):
        np.minimum.at(nearest, raters, far.share)
    expected = pairs.met * np.minimum(nearest[pairs.first], nearest[pairs.second])
    telling = np.isfinite(expected)
    return pairs.where(telling), expected[telling]


def _told(panel: Panel, pairs: Pairs, expected: Codes, which: Codes, what: str) -> Fact:
    found, count = pairs.where(which), int(which.sum())
    words = f"{count} of {len(pairs.met)} pairs of raters {what}"
    shown = [
        f"{panel.raters[a]!a} and {panel.raters[b]!a} on {differed} of {met} items "
        f"instead of about {about:.0f}"
        for a, b, met, differed, about in zip(
            found.first, found.second, found.met, found.differed, expected[which], strict=True
        )
    ][:SHOWN]
    return Fact(count, words + (f", such as {'; '.join(shown)}" if shown else ""))
