"""COCO: a JSON file for each rater, with boxes, polygons and keypoints.

The file's name is the rater's.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers.drawn import Drawn
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.submissions import Submission
from agreement_pipeline.readers.tool import Tool
from agreement_pipeline.units import Box, Keypoints, LabelObject, Polygon

PARTS = {"images", "annotations", "categories"}
KEYPOINTS = "keypoints"
Data = Mapping[str, Any]


def submissions(export: Export) -> Iterator[Submission]:
    """The images of each rater. They have no answers but objects."""
    for each in draws(export, "boxes"):
        yield Submission(each.item, each.rater, {}, each.record, fields=each.fields)


def draws(export: Export, kind: str) -> Iterator[Submission]:
    """The objects of each rater in each image."""
    for path in export.files:
        place = export.place(path)
        for _, record in export.records_in(path):
            yield from _images(record, kind, path.stem, place)


def _images(record: Data, kind: str, rater: str, place: str) -> Iterator[Submission]:
    names = {each["id"]: each["name"] for each in record["categories"]}
    drawn: defaultdict[Any, list[LabelObject]] = defaultdict(list)
    for each in record["annotations"]:
        where = f"{place}: image {each['image_id']}, annotation {each['id']}"
        if each["category_id"] not in names:
            raise RatingsError(
                f"{where}: found category {each['category_id']!r}; expected the id of one of the "
                "categories of the file. Export again."
            )
        if kind != KEYPOINTS or any(each.get(KEYPOINTS, ())[2::3]):
            drawn[each["image_id"]].append(_object(each, kind, names[each["category_id"]], where))
    for image in record["images"]:
        name = image["file_name"]
        extent = (image["width"], image["height"])
        yield Submission(
            name,
            rater,
            {kind: Drawn(tuple(drawn[image["id"]]), extent)},
            f"{place}: image {image['id']}",
            fields={"id": image["id"], "name": name, "stem": PurePosixPath(name).stem},
        )


def _object(annotation: Data, kind: str, category: str, where: str) -> LabelObject:
    if kind == "boxes":
        x, y, width, height = annotation["bbox"]
        return Box(x, y, width, height, category, where)
    if kind == KEYPOINTS:
        return _body(annotation, category, where)
    areas = annotation["segmentation"]
    if not isinstance(areas, list) or len(areas) != 1:
        found = "a mask, or an area of several parts" if areas else "no area"
        raise RatingsError(
            f"{where}: found {found}; expected one polygon. "
            "Read the boxes, or draw each part as an object of its own."
        )
    flat = areas[0]
    return Polygon(tuple(zip(flat[::2], flat[1::2], strict=True)), category, where)


def _body(annotation: Data, category: str, where: str) -> Keypoints:
    """Each keypoint is x, y, and 0 if it was not set."""
    flat = annotation[KEYPOINTS]
    points = tuple(
        (x, y) if seen else None
        for x, y, seen in zip(flat[::3], flat[1::3], flat[2::3], strict=True)
    )
    return Keypoints(points, annotation["area"], category, where)


COCO = Tool(
    "coco",
    "COCO's files of raters",
    lambda export: {*export.first} >= PARTS,
    submissions,
    frozenset({"raters"}),
    draws=draws,
    kinds=("boxes",),
).register()
