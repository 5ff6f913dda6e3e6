"""Formats of marked images: CVAT for images 1.1, COCO and Pascal VOC.

CVAT has an XML file a job, and the rater is the job's assignee. COCO has a JSON file for each
rater. Pascal VOC has a folder for each rater, with an XML file for each image. Corners are kept as
they are written: some tools count pixels from 1 and others from 0.
"""

from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import Any
from xml.etree import ElementTree as Xml

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.mistakes import value_in_message
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.files import read_first_bytes
from agreement_pipeline.readers.rows import (
    Data,
    ObjectAnswer,
    Submission,
)
from agreement_pipeline.readers.submissions import (
    DECIMALS,
    build_fields_test,
    build_object_answer,
    group_values,
    refuse_rotation,
    tool,
)
from agreement_pipeline.readers.xml_files import iterate_elements
from agreement_pipeline.units import Box, Keypoints, LabelObject, Polygon

KEYPOINTS = "keypoints"


def _build_image_submission(
    name: str,
    rater: str | None,
    place: str,
    values: Data,
    assisted: bool | None = None,
    **known: object,
) -> Submission:
    fields = {**known, "name": name, "stem": PurePosixPath(name).stem, "image": name}
    return Submission(name, rater, values, place, assisted=assisted, fields=fields)


def _build_xml_test(mark: bytes) -> Callable[[Export], bool]:
    return lambda export: export.kind == "xml" and mark in read_first_bytes(export.files[0])


def _box_from_corners(corners: list[float], label: str, place: str) -> Box:
    left, top, right, bottom = corners
    width, height = round(right - left, DECIMALS), round(bottom - top, DECIMALS)
    return Box(left, top, width, height, label, place)


# CVAT


@tool(
    "cvat",
    "CVAT for images 1.1",
    _build_xml_test(b"<annotations>"),
    shows={"raters", "assisted"},
    kinds=("boxes", "polygons"),
)
def read_cvat(export: Export, kind: str = "") -> Iterator[Submission]:
    for path in export.files:
        place, rater = export.file_name_in_export(path), None
        for element in iterate_elements(path, place):
            if element.tag == "meta":
                rater = _read_assignee(element, place)
            elif element.tag == "image":
                number = element.get("id")
                image_place = f"{place}: image {number}"
                assisted = any(child.get("source", "manual") != "manual" for child in element)
                values, name = (
                    _answer_by_question(element, kind, image_place),
                    element.get("name", ""),
                )
                yield _build_image_submission(name, rater, image_place, values, assisted, id=number)
                element.clear()
            elif element.tag == "track":
                raise RatingsError(
                    f"{place}: found tracks of a video; expected images. Export the job as CVAT "
                    "for images 1.1."
                )


def _read_assignee(meta: Xml.Element, place: str) -> str:
    assignee = meta.find("job[1]/assignee")
    name = (
        None if assignee is None else (assignee.findtext("username") or assignee.text or "").strip()
    )
    if not name:
        raise RatingsError(
            f"{place}: found no assignee of a job, so no rater; expected one. Assign the job, and "
            "export each job by itself: the export of a task does not say who annotated."
        )
    return name


def _answer_by_question(image: Xml.Element, kind: str, place: str) -> Data:
    if kind:
        shapes = image.findall("box" if kind == "boxes" else "polygon")
        extent = float(image.attrib["width"]), float(image.attrib["height"])
        return {kind: build_object_answer(shapes, place, _read_shape, extent)}
    answers: list[tuple[str, str]] = []
    for tag in image.findall("tag"):
        answers.append(("tag", tag.get("label", "")))
        answers += [
            (attribute.get("name", ""), attribute.text or "")
            for attribute in tag.findall("attribute")
        ]
    return group_values(answers)


def _read_shape(shape: Xml.Element, place: str) -> LabelObject:
    attributes = shape.attrib
    refuse_rotation(attributes.get("rotation"), place)
    if shape.tag == "box":
        corners = [float(attributes[name]) for name in ("xtl", "ytl", "xbr", "ybr")]
        return _box_from_corners(corners, attributes["label"], place)
    points = (point.split(",") for point in attributes["points"].split(";"))
    return Polygon(tuple((float(x), float(y)) for x, y in points), attributes["label"], place)


# COCO


@tool(
    "coco",
    "COCO's files of raters",
    build_fields_test("images", "annotations", "categories"),
    column_endings=("images",),
    shows={"raters"},
    kinds=("boxes",),
)
def read_coco(export: Export, kind: str = "") -> Iterator[Submission]:
    for path in export.files:
        place = export.file_name_in_export(path)
        for _, record in export.records(path):
            objects_by_image = group_values(_iterate_objects(record, kind or "boxes", place))
            if strangers := {*objects_by_image}.difference(
                image["id"] for image in record["images"]
            ):
                raise RatingsError(
                    f"{place}: found annotations of image "
                    f"{value_in_message(next(iter(strangers)))}; expected "
                    "the id of one of the images of the file. Export again."
                )
            for image in record["images"]:
                number, extent = image["id"], (float(image["width"]), float(image["height"]))
                values = (
                    {kind: ObjectAnswer(objects_by_image.get(number, ()), extent)} if kind else {}
                )
                image_place = f"{place}: image {number}"
                yield _build_image_submission(
                    image["file_name"], path.stem, image_place, values, id=number
                )


def _iterate_objects(record: Data, kind: str, place: str) -> Iterator[tuple[Any, LabelObject]]:
    names = {category["id"]: category["name"] for category in record["categories"]}
    for annotation in record["annotations"]:
        place_of_annotation = (
            f"{place}: image {annotation['image_id']}, annotation {annotation['id']}"
        )
        if annotation["category_id"] not in names:
            raise RatingsError(
                f"{place_of_annotation}: found category {annotation['category_id']!r}; expected "
                "the id of one of the categories of the file. Export again."
            )
        if kind != KEYPOINTS or any(annotation.get(KEYPOINTS, ())[2::3]):
            yield (
                annotation["image_id"],
                _read_object(
                    annotation, kind, names[annotation["category_id"]], place_of_annotation
                ),
            )


def _read_object(annotation: Data, kind: str, category: str, place: str) -> LabelObject:
    if kind == "boxes":
        x, y, width, height = annotation["bbox"]
        return Box(x, y, width, height, category, place)
    if kind == KEYPOINTS:  # each is x, y, and 0 if it was not set
        flat = annotation[KEYPOINTS]
        set_points = zip(flat[::3], flat[1::3], flat[2::3], strict=True)
        points = tuple((x, y) if is_set else None for x, y, is_set in set_points)
        return Keypoints(points, annotation["area"], category, place)
    areas = annotation["segmentation"]
    if not isinstance(areas, list) or len(areas) != 1:
        finding = "a mask, or an area of several parts" if areas else "no area"
        raise RatingsError(
            f"{place}: found {finding}; expected one polygon. "
            "Read the boxes, or draw each part as an object of its own."
        )
    (flat,) = areas
    return Polygon(tuple(zip(flat[::2], flat[1::2], strict=True)), category, place)


# Pascal VOC


@tool(
    "pascal_voc",
    "Pascal VOC's folders of raters",
    _build_xml_test(b"<annotation>"),
    shows={"raters"},
    kinds=("boxes",),
)
def read_pascal_voc(export: Export, kind: str = "") -> Iterator[Submission]:
    for path in export.files:
        place, folders = export.file_name_in_export(path), export.folder_names_of(path)
        *_, image = iterate_elements(path, place)
        if not folders:
            raise RatingsError(
                f"{place}: found an image in no folder, so no rater; expected a folder for each "
                "rater. Put the files of each rater into a folder of the rater's name."
            )
        size = image.find("size")
        names = () if size is None else ("width", "height")
        extent = tuple(float(image.findtext(f"size/{name}", "")) for name in names)
        boxes = build_object_answer(image.findall("object"), place, _read_corner_box, extent)
        values = {kind: boxes} if kind else {}
        yield _build_image_submission(image.findtext("filename", ""), folders[0], place, values)


def _read_corner_box(element: Xml.Element, place: str) -> Box:
    if element.find("bndbox") is None:
        raise RatingsError(
            f"{place}: found no bndbox; expected the corners of a box. Export the image again."
        )
    names = ("xmin", "ymin", "xmax", "ymax")
    corners = [float(element.findtext(f"bndbox/{name}", "")) for name in names]
    return _box_from_corners(corners, element.findtext("name", ""), place)
