"""Matched objects: objects of different raters that are alike are one unit.

Whoever opened the item and drew nothing like it says *none*. If nobody drew anything, the item is
one unit, and all say *none*.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence

import pandas as pd

from agreement_pipeline.ratings import TEXT
from agreement_pipeline.units.marked import Marked, extents_of
from agreement_pipeline.units.matching import Group, groups_of
from agreement_pipeline.units.nothing import NONE
from agreement_pipeline.units.objects import Area
from agreement_pipeline.units.rule import UnitRule, UnitSettings, register, scale_of_areas

COLUMNS = ["item", "rater", "occurrence", "label", "drawn", "cluster"]


def rows(marked: Sequence[Marked], settings: UnitSettings, labels: Sequence[str]) -> pd.DataFrame:
    """A row for each matched unit and each rater who opened the item."""
    extents_of(marked)
    opened: defaultdict[str, list[Marked]] = defaultdict(list)
    for each in marked:
        opened[each.item].append(each)
    found = [
        (f"{item} {name}", each.rater, each.occurrence, *_answer(said.get(_seat(each))), item)
        for item, raters in opened.items()
        for name, said in _units(raters, settings)
        for each in raters
    ]
    return pd.DataFrame(found, columns=COLUMNS).astype({"drawn": TEXT})


def _answer(area: Area | None) -> tuple[str, str | None]:
    """What a rater says of a unit, and where the object lies that says it."""
    if area is None:
        return NONE, None
    numbers = [int(number) if number == int(number) else number for number in area.geometry]
    return area.category, json.dumps(numbers)


def _units(
    raters: Sequence[Marked], settings: UnitSettings
) -> Iterator[tuple[str, dict[tuple[str, int], Area]]]:
    """The units of an item: the name of each, and the object of each rater in it."""
    drawn = [(_seat(each), area) for each in raters for area in each.areas]
    groups = groups_of(drawn, settings)
    if not groups:
        yield "nothing marked", {}
    names: dict[str, int] = {}
    for group in groups:
        name = group[0].area.place
        names[name] = names.get(name, 0) + 1
        yield f"{name} ({names[name]})" if names[name] > 1 else name, _drawn(group)


def _drawn(group: Group) -> dict[tuple[str, int], Area]:
    return {rater: node.area for node in group for rater in node.raters}  # type: ignore[misc]


def _seat(marked: Marked) -> tuple[str, int]:
    """Who marked, and which time it was."""
    return marked.rater, marked.occurrence


MATCHED = register(
    UnitRule(
        "matched",
        "objects that are alike",
        frozenset({"spans", "segments", "boxes", "polygons", "keypoints"}),
        frozenset({"similarity", "at_least", "sigmas", "part"}),
        rows,
        scale_of_areas,
    )
)
