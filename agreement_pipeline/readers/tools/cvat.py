"""CVAT for images 1.1, one XML file a job: the tags of images. The rater is the job's assignee."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree import ElementTree as Xml

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers.drawn import DECIMALS, Drawn
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.submissions import Submission
from agreement_pipeline.readers.tool import Tool
from agreement_pipeline.readers.xml_files import begins_with, elements
from agreement_pipeline.units import Box, LabelObject, Polygon

TAG = "tag"
Answers = Callable[[Xml.Element, str], dict[str, Any]]
MARK = b"<annotations>"


def submissions(export: Export) -> Iterator[Submission]:
    """The tags of all jobs. Boxes and other shapes are left out."""
    yield from _jobs(export, lambda image, _: _tags(image))


def draws(export: Export, kind: str) -> Iterator[Submission]:
    """The boxes or the polygons of all jobs."""
    yield from _jobs(export, lambda image, where: {kind: _drawn(image, kind, where)})


def _jobs(export: Export, answers: Answers) -> Iterator[Submission]:
    for path in export.files:
        yield from _job(path, export.place(path), answers)


def _job(path: Path, place: str, answers: Answers) -> Iterator[Submission]:
    rater = None
    for element in elements(path, place):
        if element.tag == "meta":
            rater = _assignee(element, place)
        elif element.tag == "image":
            yield _image(element, rater, place, answers)
            element.clear()


def _assignee(meta: Xml.Element, place: str) -> str:
    job = meta.find("job")
    found = None if job is None else job.find("assignee")
    name = None if found is None else (found.findtext("username") or found.text or "").strip()
    if not name:
        raise RatingsError(
            f"{place}: found no assignee of a job, so no rater; expected one. Assign the job, and "
            "export each job by itself: the export of a task does not say who annotated."
        )
    return name


def _image(image: Xml.Element, rater: str | None, place: str, answers: Answers) -> Submission:
    name, where = image.get("name", ""), f"{place}: image {image.get('id')}"
    return Submission(
        name,
        rater,
        answers(image, where),
        where,
        assisted=any(each.get("source", "manual") != "manual" for each in image),
        fields={"id": image.get("id"), "name": name, "stem": PurePosixPath(name).stem},
    )


def _tags(image: Xml.Element) -> dict[str, Any]:
    values: defaultdict[str, list[str]] = defaultdict(list)
    for tag in image.findall(TAG):
        values[TAG].append(tag.get("label", ""))
        for attribute in tag.findall("attribute"):
            values[attribute.get("name", "")].append(attribute.text or "")
    return {question: tuple(said) for question, said in values.items()}


def _drawn(image: Xml.Element, kind: str, where: str) -> Drawn:
    shapes = image.findall("box" if kind == "boxes" else "polygon")
    objects = tuple(
        _object(shape, kind, f"{where}, object {n}") for n, shape in enumerate(shapes, 1)
    )
    return Drawn(objects, (float(image.attrib["width"]), float(image.attrib["height"])))


def _object(shape: Xml.Element, kind: str, where: str) -> LabelObject:
    said = shape.attrib
    if float(said.get("rotation", 0)):
        raise RatingsError(
            f"{where}: found a rotation of {said['rotation']} degrees; expected an upright box. "
            "Draw a polygon instead."
        )
    if kind == "boxes":
        left, top, right, bottom = (float(said[name]) for name in ("xtl", "ytl", "xbr", "ybr"))
        width, height = round(right - left, DECIMALS), round(bottom - top, DECIMALS)
        return Box(left, top, width, height, said["label"], where)
    corners = (point.split(",") for point in said["points"].split(";"))
    return Polygon(tuple((float(x), float(y)) for x, y in corners), said["label"], where)


CVAT = Tool(
    "cvat",
    "CVAT for images 1.1",
    lambda export: begins_with(export, MARK),
    submissions,
    frozenset({"raters", "assisted"}),
    draws=draws,
    kinds=("boxes", "polygons"),
).register()
