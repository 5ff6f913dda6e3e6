"""Members: each label of a set is a unit of its own, with *yes* or *no*."""

from collections.abc import Sequence

import pandas as pd

from agreement_pipeline.ratings import Scale
from agreement_pipeline.units.marked import Marked
from agreement_pipeline.units.objects import ChosenSet
from agreement_pipeline.units.rule import UnitRule, UnitSettings, register

ANSWERS = ("no", "yes")


def rows(marked: Sequence[Marked], settings: UnitSettings, labels: Sequence[str]) -> pd.DataFrame:
    """A row for each label of a set, each item and each rater who opened it."""
    members = settings.members or sorted({name for each in marked for name in _ticked(each)})
    found = [
        (
            f"{each.item} {label}",
            each.rater,
            each.occurrence,
            ANSWERS[label in ticked],
            each.item,
        )
        for each in marked
        for ticked in [_ticked(each)]
        for label in members
    ]
    return pd.DataFrame(found, columns=["item", "rater", "occurrence", "label", "cluster"])


def _ticked(marked: Marked) -> frozenset[str]:
    """The labels that a rater ticked in an item. Whoever opened it and ticked nothing said no."""
    sets = [each.members for each in marked.objects if isinstance(each, ChosenSet)]
    return frozenset().union(*sets)


MEMBERS = register(
    UnitRule(
        "members",
        "each label of an item",
        frozenset({"sets"}),
        frozenset({"members"}),
        rows,
        lambda marked, source: Scale(ANSWERS),
    )
)
