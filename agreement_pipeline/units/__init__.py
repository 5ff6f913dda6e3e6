"""Label objects of an item as units: ordinary ratings with the item as the cluster."""

from agreement_pipeline.units.answers import (
    ABOUT as ABOUT,
    CHOICES as CHOICES,
    MEMBER as MEMBER,
    PART_MEMBER as PART_MEMBER,
    strata_of_members as strata_of_members,
)
from agreement_pipeline.units.matched import (
    groups_of as groups_of,
)
from agreement_pipeline.units.objects import (
    ALTERNATIVES as ALTERNATIVES,
    ANSWERS as ANSWERS,
    AREAS as AREAS,
    KINDS as KINDS,
    POSITION_LENGTH as POSITION_LENGTH,
    TOKENS as TOKENS,
    Area as Area,
    Box as Box,
    ChosenSet as ChosenSet,
    Keypoints as Keypoints,
    LabelObject as LabelObject,
    Marked as Marked,
    Polygon as Polygon,
    Preference as Preference,
    Ranking as Ranking,
    Rubric as Rubric,
    Segment as Segment,
    Span as Span,
    extents_of as extents_of,
    in_order as in_order,
)
from agreement_pipeline.units.places import (
    NONE as NONE,
    document_of as document_of,
    item_of as item_of,
    numbers_named as numbers_named,
    place_of as place_of,
    points_named as points_named,
)
from agreement_pipeline.units.shapes import (
    frame_of_place as frame_of_place,
    most_central as most_central,
    points_of_place as points_of_place,
    signed_area as signed_area,
)
from agreement_pipeline.units.settings import (
    RULES as RULES,
    UnitSettings as UnitSettings,
)
from agreement_pipeline.units.units import (
    MARKED as MARKED,
    Objects as Objects,
    Units as Units,
    at_each as at_each,
    objects_of as objects_of,
    size_columns_of as size_columns_of,
    units_of as units_of,
)
