"""Label objects of an item as units: ordinary ratings with the item as the cluster.

A registered rule a file. A file in this folder is enough.
"""

from importlib import import_module
from pkgutil import iter_modules

from agreement_pipeline.units.again import Objects, objects_of
from agreement_pipeline.units.marked import NONE, Marked, extents_of, in_order
from agreement_pipeline.units.matching import Group, Node, groups_of
from agreement_pipeline.units.objects import (
    AREAS,
    KINDS,
    Area,
    Box,
    ChosenSet,
    Keypoints,
    LabelObject,
    Polygon,
    Preference,
    Ranking,
    Rubric,
    Segment,
    Span,
)
from agreement_pipeline.units.places import (
    document_of,
    item_of,
    numbers_named,
    place_of,
    points_named,
)
from agreement_pipeline.units.rule import RULES, UnitRule, UnitSettings, register
from agreement_pipeline.units.units import Units, at_each, units_of

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = [
    "AREAS",
    "KINDS",
    "NONE",
    "RULES",
    "Area",
    "Box",
    "ChosenSet",
    "Group",
    "Keypoints",
    "LabelObject",
    "Marked",
    "Node",
    "Objects",
    "Polygon",
    "Preference",
    "Ranking",
    "Rubric",
    "Segment",
    "Span",
    "UnitRule",
    "UnitSettings",
    "Units",
    "at_each",
    "document_of",
    "extents_of",
    "groups_of",
    "in_order",
    "item_of",
    "numbers_named",
    "objects_of",
    "place_of",
    "points_named",
    "register",
    "units_of",
]
