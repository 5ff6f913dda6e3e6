"""XML files, one element after the other."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as Xml
from xml.parsers import expat

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers.files import START_BYTES


def iterate_elements(path: Path, place: str) -> Iterator[Xml.Element]:
    """A document that declares anything is refused: entities can grow endlessly."""
    opened_tags: list[str] = []

    def refuse(*_: object) -> None:
        raise RatingsError(
            f"{place}: found a DOCTYPE; expected none in an export. Export it again."
        )

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = lambda name, _: opened_tags.append(name)
    try:
        part: bytes | None = None
        with path.open("rb") as file:
            while not opened_tags and part != b"":
                part = file.read(START_BYTES)
                # Since 2.6, Expat may wait for the end of the file before it reads a long comment.
                parser.Parse(part, not part)
        for _, element in Xml.iterparse(path):
            yield element
    except RatingsError:
        raise
    except (Xml.ParseError, expat.ExpatError, LookupError, ValueError) as error:
        raise RatingsError(
            f"{place}: found text that is not readable as XML ({error}); expected a whole "
            "file. Export it again."
        ) from None
