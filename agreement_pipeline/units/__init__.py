"""Label objects of an item as units: ordinary ratings with the item as the cluster."""

from agreement_pipeline.units.answers import (
    ABOUT as ABOUT,
    CHOICES as CHOICES,
    MEMBER as MEMBER,
    PART_MEMBER as PART_MEMBER,
    strata_of_members as strata_of_members,
)
from agreement_pipeline.units.matched import (
    group_similar_areas as group_similar_areas,
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
    extent_by_item_of as extent_by_item_of,
    answers_in_order as answers_in_order,
)
from agreement_pipeline.units.places import (
    NONE as NONE,
    document_of as document_of,
    item_of as item_of,
    number_names_of_units as number_names_of_units,
    place_numbers_of as place_numbers_of,
    point_noun_of_units as point_noun_of_units,
)
from agreement_pipeline.units.shapes import (
    frame_of_place as frame_of_place,
    most_central_place as most_central_place,
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
