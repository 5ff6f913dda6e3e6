"""Pascal VOC: a folder for each rater, with an XML file for each image. It holds boxes.

The corners are kept as they are written. Some tools count pixels from 1 and others from 0, and that
is alike for all raters of an export.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from xml.etree import ElementTree as Xml

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers.drawn import DECIMALS, Drawn
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.submissions import Submission
from agreement_pipeline.readers.tool import Tool
from agreement_pipeline.readers.xml_files import begins_with, elements
from agreement_pipeline.units import Box


def submissions(export: Export) -> Iterator[Submission]:
    """The images of each rater. They have no answers but boxes."""
    for each in draws(export, "boxes"):
        yield replace(each, values={})


def draws(export: Export, kind: str) -> Iterator[Submission]:
    """The boxes of each rater in each image."""
    for path in export.files:
        place = export.place(path)
        *_, image = elements(path, place)
        name = image.findtext("filename", "")
        yield Submission(
            name,
            _rater(export, path, place),
            {kind: Drawn(_boxes(image, place), _extent(image))},
            place,
            fields={"name": name, "stem": PurePosixPath(name).stem},
        )


def _rater(export: Export, path: Path, place: str) -> str:
    folders = path.relative_to(export.path).parts[:-1] if path != export.path else ()
    if not folders:
        raise RatingsError(
            f"{place}: found an image in no folder, so no rater; expected a folder for each rater. "
            "Put the files of each rater into a folder of the rater's name."
        )
    return folders[0]


def _extent(image: Xml.Element) -> tuple[float, ...]:
    size = image.find("size")
    if size is None:
        return ()
    return float(size.findtext("width", "")), float(size.findtext("height", ""))


def _boxes(image: Xml.Element, place: str) -> tuple[Box, ...]:
    return tuple(
        _box(each, f"{place}, object {n}") for n, each in enumerate(image.findall("object"), 1)
    )


def _box(said: Xml.Element, where: str) -> Box:
    frame = said.find("bndbox")
    if frame is None:
        raise RatingsError(
            f"{where}: found no bndbox; expected the corners of a box. Export the image again."
        )
    left, top, right, bottom = (
        float(frame.findtext(name, "")) for name in ("xmin", "ymin", "xmax", "ymax")
    )
    width, height = round(right - left, DECIMALS), round(bottom - top, DECIMALS)
    return Box(left, top, width, height, said.findtext("name", ""), where)


PASCAL_VOC = Tool(
    "pascal_voc",
    "Pascal VOC's folders of raters",
    lambda export: begins_with(export, b"<annotation>"),
    submissions,
    frozenset({"raters"}),
    draws=draws,
    kinds=("boxes",),
).register()
