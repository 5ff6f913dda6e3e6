"""XML files of tools. A document that declares anything is refused: entities can grow endlessly."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as Xml
from xml.parsers import expat

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers.exports import START, Export


def elements(path: Path, place: str) -> Iterator[Xml.Element]:
    """The elements of a file, each when it ends.

    Raises
    ------
    RatingsError
        The file is no whole XML, or it has a DOCTYPE.
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


def begins_with(export: Export, mark: bytes) -> bool:
    """True if the first file is XML that has a mark near its start."""
    if export.kind != "xml":
        return False
    with export.files[0].open("rb") as file:
        return mark in file.read(START)


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
