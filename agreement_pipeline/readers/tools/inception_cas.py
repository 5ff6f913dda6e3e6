"""INCEpTION's annotations as UIMA CAS JSON 0.4: a folder a document, with a file for each rater.

Offsets in the file count UTF-16 code units, as Java does. Ours count characters.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers.code_units import character_at, characters_of
from agreement_pipeline.readers.document_folders import BUILT_IN, documents_of_raters
from agreement_pipeline.readers.drawn import Drawn
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.submissions import Submission
from agreement_pipeline.readers.tool import Tool
from agreement_pipeline.units import Span

STRUCTURES, TYPE, ID = "%FEATURE_STRUCTURES", "%TYPE", "%ID"
SOFA = "uima.cas.Sofa"
OF_RELATIONS = {"@Governor", "@Dependent"}
Structure = Mapping[str, Any]


def submissions(export: Export) -> Iterator[Submission]:
    """The documents of each rater. They have no answers but spans."""
    yield from _read(export, spans=False)


def draws(export: Export, kind: str) -> Iterator[Submission]:
    """The spans of each rater in each document, for each feature of a layer."""
    yield from _read(export, spans=True)


def _read(export: Export, *, spans: bool) -> Iterator[Submission]:
    for each in documents_of_raters(export):
        for where, record in export.records_in(each.path):
            structures = record[STRUCTURES]
            text = _text(structures, where)
            yield Submission(
                each.document,
                each.rater,
                _spans(structures, text, where) if spans else {},
                where,
                fields={"name": each.document, "text": text},
            )


def _text(structures: list[Structure], place: str) -> str:
    texts = [each["sofaString"] for each in structures if each.get(TYPE) == SOFA]
    if len(texts) != 1:
        raise RatingsError(
            f"{place}: found {len(texts)} texts; expected one in a document. "
            "Export the project again."
        )
    return str(texts[0])


def _spans(structures: list[Structure], text: str, place: str) -> dict[str, Drawn]:
    """The spans of each feature of each layer. A span without a value of a feature is not there."""
    characters = characters_of(text)
    found: defaultdict[str, list[Span]] = defaultdict(list)
    for each in structures:
        layer = str(each.get(TYPE, ""))
        if layer.startswith(BUILT_IN) or "begin" not in each or OF_RELATIONS & {*each}:
            continue
        where = f"{place}, object {each[ID]}"
        start, end = (character_at(characters, each[name], where) for name in ("begin", "end"))
        for name, value in each.items():
            if isinstance(value, str) and not name.startswith(("%", "@")):
                question = f"{layer.rpartition('.')[2]}.{name}"
                found[question].append(Span(start, end, value, where))
    return {name: Drawn(tuple(said), (len(text),)) for name, said in found.items()}


INCEPTION_CAS = Tool(
    "inception_cas",
    "INCEpTION's annotations (UIMA CAS JSON)",
    lambda export: export.kind == "json" and STRUCTURES in export.first,
    submissions,
    frozenset({"raters"}),
    draws=draws,
    kinds=("spans",),
).register()
