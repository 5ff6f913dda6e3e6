"""Formats of marked images: CVAT for images 1.1, COCO and Pascal VOC.

CVAT has an XML file a job, and the rater is the job's assignee. COCO has a JSON file for each
rater, with boxes, polygons and keypoints. Pascal VOC has a folder for each rater, with an XML file
of boxes for each image. Corners are kept as they are written: some tools count pixels from 1 and
others from 0, and that is alike for all raters of an export.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree import ElementTree as Xml
from xml.parsers import expat

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers.exports import Export, register
from agreement_pipeline.readers.files import START, start_of
from agreement_pipeline.readers.submissions import (
    DECIMALS,
    Data,
    Drawn,
    Submission,
    Tool,
    has,
    refuse_rotation,
)
from agreement_pipeline.units import Box, Keypoints, LabelObject, Polygon

TAG, KEYPOINTS = "tag", "keypoints"


def _fields(name: str, **known: object) -> dict[str, Any]:
    """What is known of an image."""
    return {**known, "name": name, "stem": PurePosixPath(name).stem}


def _box(corners: tuple[float, float, float, float], label: str, where: str) -> Box:
    left, top, right, bottom = corners
    return Box(
        left, top, round(right - left, DECIMALS), round(bottom - top, DECIMALS), label, where
    )


# XML


def elements(path: Path, place: str) -> Iterator[Xml.Element]:
    """The elements of a file, each when it ends.

    A document that declares anything is refused: entities can grow endlessly.
    """
    try:
        _refuse_declarations(path, place)
        for _, element in Xml.iterparse(path):
            yield element
    except RatingsError:
        raise
    except (Xml.ParseError, expat.ExpatError, LookupError, ValueError) as error:
        raise RatingsError(
            f"{place}: found text that is not readable as XML ({error}); expected a whole "
            "file. Export it again."
        ) from None


def _refuse_declarations(path: Path, place: str) -> None:
    def refuse(*_: object) -> None:
        raise RatingsError(
            f"{place}: found a DOCTYPE; expected none in an export. Export it again."
        )

    begun: list[str] = []
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = lambda name, _: begun.append(name)
    with path.open("rb") as file:
        while not begun and (part := file.read(START)):
            parser.Parse(part)
    if not begun:
        parser.Parse(b"", True)


# CVAT


def cvat(export: Export, kind: str = "") -> Iterator[Submission]:
    """The tags of all jobs. Of a kind: their boxes or their polygons."""
    for path in export.files:
        place, rater = export.place(path), None
        for element in elements(path, place):
            if element.tag == "meta":
                rater = _assignee(element, place)
            elif element.tag == "image":
                name, where = element.get("name", ""), f"{place}: image {element.get('id')}"
                yield Submission(
                    name,
                    rater,
                    {kind: _shapes(element, kind, where)} if kind else _tags(element),
                    where,
                    assisted=any(each.get("source", "manual") != "manual" for each in element),
                    fields=_fields(name, id=element.get("id")),
                )
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


def _tags(image: Xml.Element) -> dict[str, Any]:
    values: defaultdict[str, list[str]] = defaultdict(list)
    for tag in image.findall(TAG):
        values[TAG].append(tag.get("label", ""))
        for attribute in tag.findall("attribute"):
            values[attribute.get("name", "")].append(attribute.text or "")
    return {question: tuple(said) for question, said in values.items()}


def _shapes(image: Xml.Element, kind: str, where: str) -> Drawn:
    shapes = image.findall("box" if kind == "boxes" else "polygon")
    objects = tuple(
        _shape(shape, kind, f"{where}, object {n}") for n, shape in enumerate(shapes, 1)
    )
    return Drawn(objects, (float(image.attrib["width"]), float(image.attrib["height"])))


def _shape(shape: Xml.Element, kind: str, where: str) -> LabelObject:
    said = shape.attrib
    refuse_rotation(said.get("rotation"), where)
    if kind == "boxes":
        left, top, right, bottom = (float(said[name]) for name in ("xtl", "ytl", "xbr", "ybr"))
        return _box((left, top, right, bottom), said["label"], where)
    corners = (point.split(",") for point in said["points"].split(";"))
    return Polygon(tuple((float(x), float(y)) for x, y in corners), said["label"], where)


# COCO


def coco(export: Export, kind: str = "") -> Iterator[Submission]:
    """The images of each rater. They have no answers but objects."""
    for path in export.files:
        place = export.place(path)
        for _, record in export.records_in(path):
            drawn = _objects(record, kind or "boxes", place)
            for image in record["images"]:
                name, extent = image["file_name"], (image["width"], image["height"])
                objects = Drawn(tuple(drawn[image["id"]]), extent)
                yield Submission(
                    name,
                    path.stem,
                    {kind: objects} if kind else {},
                    f"{place}: image {image['id']}",
                    fields=_fields(name, id=image["id"]),
                )


def _objects(record: Data, kind: str, place: str) -> Mapping[Any, list[LabelObject]]:
    """The objects of a kind in each image, by its id."""
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
    return drawn


def _object(annotation: Data, kind: str, category: str, where: str) -> LabelObject:
    if kind == "boxes":
        x, y, width, height = annotation["bbox"]
        return Box(x, y, width, height, category, where)
    if kind == KEYPOINTS:  # each is x, y, and 0 if it was not set
        flat = annotation[KEYPOINTS]
        points = tuple(
            (x, y) if seen else None
            for x, y, seen in zip(flat[::3], flat[1::3], flat[2::3], strict=True)
        )
        return Keypoints(points, annotation["area"], category, where)
    areas = annotation["segmentation"]
    if not isinstance(areas, list) or len(areas) != 1:
        found = "a mask, or an area of several parts" if areas else "no area"
        raise RatingsError(
            f"{where}: found {found}; expected one polygon. "
            "Read the boxes, or draw each part as an object of its own."
        )
    (flat,) = areas
    return Polygon(tuple(zip(flat[::2], flat[1::2], strict=True)), category, where)


# Pascal VOC


def pascal_voc(export: Export, kind: str = "") -> Iterator[Submission]:
    """The images of each rater. They have no answers but boxes."""
    for path in export.files:
        place = export.place(path)
        *_, image = elements(path, place)
        name, folders = image.findtext("filename", ""), export.folders(path)
        if not folders:
            raise RatingsError(
                f"{place}: found an image in no folder, so no rater; expected a folder for each "
                "rater. Put the files of each rater into a folder of the rater's name."
            )
        boxes = tuple(
            _box_of(each, f"{place}, object {n}")
            for n, each in enumerate(image.findall("object"), 1)
        )
        size = image.find("size")
        sizes = () if size is None else (size.findtext("width", ""), size.findtext("height", ""))
        drawn = Drawn(boxes, tuple(map(float, sizes)))
        values = {kind: drawn} if kind else {}
        yield Submission(name, folders[0], values, place, fields=_fields(name))


def _box_of(said: Xml.Element, where: str) -> Box:
    frame = said.find("bndbox")
    if frame is None:
        raise RatingsError(
            f"{where}: found no bndbox; expected the corners of a box. Export the image again."
        )
    left, top, right, bottom = (
        float(frame.findtext(name, "")) for name in ("xmin", "ymin", "xmax", "ymax")
    )
    return _box((left, top, right, bottom), said.findtext("name", ""), where)


def _is_xml(mark: bytes) -> Callable[[Export], bool]:
    """What tells XML by a mark near its start."""
    return lambda export: export.kind == "xml" and mark in start_of(export.files[0])


register(
    Tool(
        "coco",
        "COCO's files of raters",
        has("images", "annotations", "categories"),
        coco,
        shows={"raters"},
        kinds=("boxes",),
    )
)
register(
    Tool(
        "cvat",
        "CVAT for images 1.1",
        _is_xml(b"<annotations>"),
        cvat,
        shows={"raters", "assisted"},
        kinds=("boxes", "polygons"),
    )
)
register(
    Tool(
        "pascal_voc",
        "Pascal VOC's folders of raters",
        _is_xml(b"<annotation>"),
        pascal_voc,
        shows={"raters"},
        kinds=("boxes",),
    )
)
