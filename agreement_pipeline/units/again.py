"""From the units of a round back to the objects that its raters marked.

So units can be made again with another similarity or step, and without the export.
"""

import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pandas as pd

from agreement_pipeline.ratings import TEXT, Ratings, in_pandas
from agreement_pipeline.units.marked import Marked
from agreement_pipeline.units.nothing import NONE
from agreement_pipeline.units.objects import Area, Box, Keypoints, Polygon, Segment, Span
from agreement_pipeline.units.places import document_of, item_of, numbers_named
from agreement_pipeline.units.rule import Part, UnitSettings
from agreement_pipeline.units.similarity import SIGMAS
from agreement_pipeline.units.units import MARKED

KINDS = {2: "segments", 4: "boxes"}
"""The kind of an object by how many numbers it has."""
SPAN = ("start", "end")


class Objects(NamedTuple):
    """The objects of a round, as its units have them.

    Attributes
    ----------
    marked
        What each rater marked in each item.
    settings
        The kind, the rule and the part of the units. The similarity and the step are the usual
        ones, since units do not say theirs. A step is one position of the round.
    clusters
        The cluster of each item.
    """

    marked: list[Marked]
    settings: UnitSettings
    clusters: dict[str, str]


def objects_of(ratings: Ratings) -> Objects | None:
    """The objects of the units of a round, without its gold items.

    None if the ratings are no units, or if the units say too little.

    >>> from agreement_pipeline.units import units_of
    >>> boxes = [Marked("i", name, (Box(0, 0, 3, 4.5, "A"),), (9, 9)) for name in ("ana", "ben")]
    >>> found = objects_of(units_of(boxes, UnitSettings("boxes")).ratings)
    >>> found.settings.kind, found.marked[0].objects == boxes[0].objects
    ('boxes', True)
    """
    settings = _settings_of(ratings)
    if settings is None:
        return None
    found = ratings.first(["item", "rater", "label", *({"drawn"} & ratings.has)])
    said = in_pandas(found).astype(TEXT).rename(columns={"item": "unit"})
    said["item"] = said["unit"].map(document_of)
    known = ratings.items(["cluster"])
    units = zip(known["item"].to_pylist(), known["cluster"].to_pylist(), strict=True)
    clusters = {document_of(unit): cluster for unit, cluster in units}
    return Objects(list(_marked(said, settings, {*ratings.classifiers})), settings, clusters)


def _settings_of(ratings: Ratings) -> UnitSettings | None:
    names = ratings.scale.names
    part: Part = "all" if NONE in names else "naming"
    if "cluster" not in ratings.has:
        return None
    if "drawn" in ratings.has:
        kind = _kind_of(ratings) if MARKED not in names else None
        return None if kind is None else UnitSettings(kind, rule="matched", part=part)
    if "weight" in ratings.has and numbers_named(ratings.items()["item"].to_pylist()) == SPAN:
        return UnitSettings("spans", part=part)
    return None


def _kind_of(ratings: Ratings) -> str | None:
    """The kind of the objects. None for keypoints without sigmas of their own."""
    drawn = ratings.first(["drawn"])["drawn"].drop_null()
    numbers = len(json.loads(drawn[0].as_py())) if len(drawn) else 0
    if numbers in KINDS:
        return KINDS[numbers]
    if numbers % 2 == 0:
        return "polygons" if numbers else None
    return "keypoints" if numbers == 2 * len(SIGMAS) + 1 else None


def _marked(said: pd.DataFrame, settings: UnitSettings, models: set[str]) -> Iterator[Marked]:
    at_positions = settings.rule == "positions"
    lengths = _lengths(said) if at_positions else {}
    areas = _spans if at_positions else _drawn
    for key, rows in said.groupby(["item", "rater"], sort=False):
        item, rater = map(str, key)
        there = rows[rows["label"] != NONE]
        yield Marked(
            item,
            rater,
            tuple(areas(there, settings)),
            (lengths[item],) if at_positions else (),
            model=rater in models,
        )


def _lengths(said: pd.DataFrame) -> dict[str, float]:
    """The length of each item: where its last run ends."""
    ends = said["unit"].map(lambda unit: item_of(unit, SPAN)[1][1])
    return dict(ends.groupby(said["item"]).max())


def _spans(rows: pd.DataFrame, _: UnitSettings) -> Iterator[Area]:
    for unit, label in zip(rows["unit"], rows["label"], strict=True):
        start, end = item_of(unit, SPAN)[1]
        yield Span(int(start or 0), int(end or 0), label)


def _drawn(rows: pd.DataFrame, settings: UnitSettings) -> Iterator[Area]:
    for drawn, label in zip(rows["drawn"], rows["label"], strict=True):
        yield _area(json.loads(drawn), label, settings.kind)


def _area(numbers: list[float], label: str, kind: str) -> Area:
    if kind == "segments":
        return Segment(numbers[0], numbers[1], label)
    if kind == "boxes":
        x, y, width, height = numbers
        return Box(x, y, width, height, label)
    if kind == "polygons":
        return Polygon(tuple(_points(numbers)), label)
    points = (None if min(point) < 0 else point for point in _points(numbers[:-1]))
    return Keypoints(tuple(points), numbers[-1], label)


def _points(numbers: list[float]) -> Iterable[tuple[float, float]]:
    return zip(numbers[::2], numbers[1::2], strict=True)
