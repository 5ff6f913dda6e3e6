"""The label objects in the result of a Label Studio annotation.

Places in images are in percent of the image. A region may have several labels, and is then as many
objects.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, Literal

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers.drawn import Drawn, pixels
from agreement_pipeline.units import (
    Box,
    LabelObject,
    Polygon,
    Preference,
    Ranking,
    Segment,
    Span,
)

Part = Mapping[str, Any]
CHOSEN: dict[str, Literal["first", "second", "tie"]] = {"left": "first", "right": "second"}


def objects_in(result: object, where: str, kind: str) -> dict[str, Drawn]:
    """The objects of a kind, by question."""
    types, make = MADE.get(kind, ((), _span))
    found: defaultdict[str, list[LabelObject]] = defaultdict(list)
    extents: dict[str, tuple[float, ...]] = {}
    for n, part in enumerate(result if isinstance(result, list) else (), 1):
        if part.get("type") in types:
            place, name = f"{where}, object {n}", part.get("from_name", kind)
            found[name] += [make(part, label, place) for label in _labels(part)]
            extents[name] = _extent(part)
    return {name: Drawn(tuple(objects), extents[name]) for name, objects in found.items()}


def _labels(part: Part) -> list[str]:
    """The labels of a region. Rankings and preferences have none."""
    said = part["value"].get(part["type"])
    return said if isinstance(said, list) else [""]


def _extent(part: Part) -> tuple[float, ...]:
    """The size of an image, or the length of a recording."""
    if "original_width" in part:
        return float(part["original_width"]), float(part["original_height"])
    return (float(part["original_length"]),) if "original_length" in part else ()


def _span(part: Part, label: str, where: str) -> LabelObject:
    offsets = part["value"].get("globalOffsets") or part["value"]
    return Span(int(offsets["start"]), int(offsets["end"]), label, where)


def _segment(part: Part, label: str, where: str) -> LabelObject:
    return Segment(float(part["value"]["start"]), float(part["value"]["end"]), label, where)


def _box(part: Part, label: str, where: str) -> LabelObject:
    value, (width, height) = part["value"], _extent(part)
    if value.get("rotation"):
        raise RatingsError(
            f"{where}: found a rotation of {value['rotation']} degrees; expected an upright box. "
            "Draw a polygon instead."
        )
    return Box(
        pixels(value["x"], width),
        pixels(value["y"], height),
        pixels(value["width"], width),
        pixels(value["height"], height),
        label,
        where,
    )


def _polygon(part: Part, label: str, where: str) -> LabelObject:
    width, height = _extent(part)
    points = tuple((pixels(x, width), pixels(y, height)) for x, y in part["value"]["points"])
    return Polygon(points, label, where)


def _ranking(part: Part, label: str, where: str) -> LabelObject:
    said = part["value"]["ranker"]
    order = next(iter(said.values())) if isinstance(said, Mapping) else said
    return Ranking(tuple(frozenset({name}) for name in order), where)


def _preference(part: Part, label: str, where: str) -> LabelObject:
    return Preference("left", "right", CHOSEN.get(part["value"]["selected"], "tie"), where)


MADE: dict[str, tuple[tuple[str, ...], Callable[[Part, str, str], LabelObject]]] = {
    "spans": (("labels", "hypertextlabels"), _span),
    "segments": (("labels", "timeserieslabels"), _segment),
    "boxes": (("rectanglelabels",), _box),
    "polygons": (("polygonlabels",), _polygon),
    "rankings": (("ranker",), _ranking),
    "preferences": (("pairwise",), _preference),
}

__all__ = ["objects_in"]
