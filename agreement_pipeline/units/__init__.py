"""Label objects of an item as units: ordinary ratings with the item as the cluster.

A registered rule a file. A file in this folder is enough.
"""

from typing import TYPE_CHECKING

from agreement_pipeline.faces import later

if TYPE_CHECKING:
    from agreement_pipeline.units.marked import Marked, extents_of, in_order
    from agreement_pipeline.units.matching import Group, Node, groups_of
    from agreement_pipeline.units.nothing import NONE
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
    from agreement_pipeline.units.registered import (
        RULES,
        Objects,
        UnitRule,
        Units,
        UnitSettings,
        at_each,
        objects_of,
        register,
        units_of,
    )
else:
    __getattr__, __dir__ = later(
        __name__,
        {
            "AREAS": "objects",
            "Area": "objects",
            "Box": "objects",
            "ChosenSet": "objects",
            "Group": "matching",
            "KINDS": "objects",
            "Keypoints": "objects",
            "LabelObject": "objects",
            "Marked": "marked",
            "NONE": "nothing",
            "Node": "matching",
            "Objects": "registered",
            "Polygon": "objects",
            "Preference": "objects",
            "RULES": "registered",
            "Ranking": "objects",
            "Rubric": "objects",
            "Segment": "objects",
            "Span": "objects",
            "UnitRule": "registered",
            "UnitSettings": "registered",
            "Units": "registered",
            "at_each": "registered",
            "document_of": "places",
            "extents_of": "marked",
            "groups_of": "matching",
            "in_order": "marked",
            "item_of": "places",
            "numbers_named": "places",
            "objects_of": "registered",
            "place_of": "places",
            "points_named": "places",
            "register": "registered",
            "units_of": "registered",
        },
    )

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
