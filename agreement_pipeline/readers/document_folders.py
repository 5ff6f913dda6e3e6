"""What INCEpTION exports in any format: folders of documents, a file a rater, and its own types."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers.exports import Export

BUILT_IN = (
    "uima.",
    "de.tudarmstadt.ukp.dkpro.core.api.segmentation.",
    "de.tudarmstadt.ukp.dkpro.core.api.metadata.",
    "de.tudarmstadt.ukp.clarin.webanno.api.",
)
"""Types that nobody annotates: texts, tokens, sentences and documents."""


class DocumentOfRater(NamedTuple):
    """A file: what one rater marked in one document. `place` is how errors call it."""

    document: str
    rater: str
    path: Path
    place: str


def documents_of_raters(export: Export) -> Iterator[DocumentOfRater]:
    """The files of an export.

    Raises
    ------
    RatingsError
        A file lies in no folder, so it is of no document.
    """
    for path in export.files:
        place = export.place(path)
        if export.path in (path, path.parent):
            raise RatingsError(
                f"{place}: found a file in no folder, so no document; expected a folder for each "
                "document, with a file for each rater. Export the project with its annotations."
            )
        document = str(path.parent.relative_to(export.path))
        yield DocumentOfRater(document, path.stem, path, place)
