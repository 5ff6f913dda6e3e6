"""Pairs: each pair of alternatives in an item is a unit, with *first*, *second* or *tie*.

The first of a pair is the one whose name sorts first. So a pair is one unit in whatever order it
was shown. Alternatives that a rater did not rank are missing.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

import pandas as pd

from agreement_pipeline.ratings import Scale
from agreement_pipeline.units.marked import Marked
from agreement_pipeline.units.objects import Choice, Preference, Ranking
from agreement_pipeline.units.rule import UnitRule, UnitSettings, register

CHOICES: tuple[Choice, ...] = ("first", "second", "tie")
TURNED: dict[Choice, Choice] = {"first": "second", "second": "first", "tie": "tie"}


def rows(marked: Sequence[Marked], settings: UnitSettings, labels: Sequence[str]) -> pd.DataFrame:
    """A row for each pair and each rater who compared the two.

    `shown` says which of the two was shown first, where that is known.
    """
    found = [
        (f"{each.item} {one} : {other}", each.rater, each.occurrence, choice, each.item, shown)
        for each in marked
        for said in each.objects
        for one, other, choice, shown in _compared(said)
    ]
    columns = ["item", "rater", "occurrence", "label", "cluster", "shown"]
    return pd.DataFrame(found, columns=columns)


def _compared(said: object) -> Iterator[tuple[str, str, Choice, str | None]]:
    if isinstance(said, Preference):
        in_order = said.first < said.second
        one, other = sorted((said.first, said.second))
        choice = said.choice if in_order else TURNED[said.choice]
        yield one, other, choice, "first" if in_order else "second"
    elif isinstance(said, Ranking):
        ranks = {name: rank for rank, group in enumerate(said.groups) for name in group}
        for one, other in combinations(sorted(ranks), 2):
            difference = ranks[one] - ranks[other]
            yield one, other, CHOICES[(difference > 0) + 2 * (difference == 0)], None


PAIRS = register(
    UnitRule(
        "pairs",
        "each pair of alternatives",
        frozenset({"rankings", "preferences"}),
        frozenset(),
        rows,
        lambda marked, source: Scale(CHOICES),
    )
)
