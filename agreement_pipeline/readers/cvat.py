"""CVAT for images 1.1, one XML file a job: the tags of images. The rater is the job's assignee."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree import ElementTree as Xml

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers.exports import START, Export
from agreement_pipeline.readers.submissions import Submission
from agreement_pipeline.readers.tool import Tool

TAG = "tag"
MARK = b"<annotations>"


def submissions(export: Export) -> Iterator[Submission]:
    """The tags of all jobs. Boxes and other shapes are left out."""
    for path in export.files:
        place = export.place(path)
        try:
            yield from _job(path, place)
        except Xml.ParseError as error:
            raise RatingsError(
                f"{place}: found text that is not readable as XML ({error}); expected a whole "
                "file. Export the job again."
            ) from None


def _job(path: Path, place: str) -> Iterator[Submission]:
    _refuse_declarations(path, place)
    rater = None
    for _, element in Xml.iterparse(path):
        if element.tag == "meta":
            rater = _assignee(element, place)
        elif element.tag == "image":
            yield _image(element, rater, place)
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


def _image(image: Xml.Element, rater: str | None, place: str) -> Submission:
    values: defaultdict[str, list[str]] = defaultdict(list)
    tags = image.findall(TAG)
    for tag in tags:
        values[TAG].append(tag.get("label", ""))
        for attribute in tag.findall("attribute"):
            values[attribute.get("name", "")].append(attribute.text or "")
    name = image.get("name", "")
    answers: dict[str, Any] = {question: tuple(said) for question, said in values.items()}
    return Submission(
        name,
        rater,
        answers,
        f"{place}: image {image.get('id')}",
        assisted=any(tag.get("source", "manual") != "manual" for tag in tags),
        fields={"id": image.get("id"), "name": name, "stem": PurePosixPath(name).stem},
    )


def _refuse_declarations(path: Path, place: str) -> None:
    """Refuse a document that declares entities: they can expand without end."""
    with path.open("rb") as file:
        if b"<!DOCTYPE" in file.read(START):
            raise RatingsError(
                f"{place}: found a DOCTYPE; expected none in an export. Export the job again."
            )


def _is_cvat(export: Export) -> bool:
    if export.kind != "xml":
        return False
    with export.files[0].open("rb") as file:
        return MARK in file.read(START)


CVAT = Tool(
    "cvat",
    "CVAT for images 1.1",
    _is_cvat,
    submissions,
    frozenset({"raters", "assisted"}),
).register()
