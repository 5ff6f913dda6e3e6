"""INCEpTION: its agreement diagnosis, its annotations as UIMA CAS JSON 0.4, and WebAnno TSV 3.

The diagnosis has a row a position, and a column a rater. It does not show agreement on what to
mark.

Annotations are a folder a document, with a file for each rater. Offsets in a file count UTF-16 code
units, as Java does. Ours count characters.

A line of WebAnno TSV is a token: its number, its offsets, its text, and a column for each feature
of a layer. `_` is no annotation, `*` one without a value, and `|` stands between several. `PER[3]`
on several lines is one annotation, number 3.
"""

import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TypeAlias

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.mistakes import value_in_message
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.files import open_text, read_first_bytes
from agreement_pipeline.readers.rows import (
    Data,
    ObjectAnswer,
    Submission,
)
from agreement_pipeline.readers.submissions import (
    build_fields_test,
    group_values,
    tool,
)
from agreement_pipeline.text import counted
from agreement_pipeline.units import TOKENS, Span

OWN_COLUMNS = ("Type", "Collection", "Document", "Layer", "Feature", "Position", "Flags")
NO_LABEL = ("<no annotation>", "<no label>", "")
BUILT_IN = (
    "uima.",
    "de.tudarmstadt.ukp.dkpro.core.api.segmentation.",
    "de.tudarmstadt.ukp.dkpro.core.api.metadata.",
    "de.tudarmstadt.ukp.clarin.webanno.api.",
)
TOKEN_TYPE = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token"
MAX_SINGLE_UNIT = 0xFFFF
STRUCTURES, TYPE, SOFA = "%FEATURE_STRUCTURES", "%TYPE", "uima.cas.Sofa"
OF_RELATIONS = {"@Governor", "@Dependent"}
FORMAT, TEXT = "#FORMAT=WebAnno TSV 3", "#Text="
CODE_UNITS = "utf-16-le"
BLANK = " ".encode(CODE_UNITS)
SPANS, RELATIONS, CHAINS = "#T_SP=", "#T_RL=", "#T_CH="
TOKEN = re.compile(r"\d+-\d+(?:\.\d+)?")
VALUE = re.compile(r"(?P<value>(?:\\.|[^|\\\[])+)(?:\[(?P<number>\d+)\])?", re.DOTALL)
ESCAPED = re.compile(r"\\(.)", re.DOTALL)
TEXT_BY_ESCAPE = {"t": "\t", "n": "\n", "r": "\r"}
MAX_GAP_UNITS = 1_000_000
"""It is counted in code units, between two sentences."""
NO_ANNOTATION, NO_VALUE = "_", "*"
Mark: TypeAlias = tuple[int, int, Mapping[str, str], str]
"""The start and the end of an annotation in code units, its label by question, and its place."""


@tool(
    "inception",
    "INCEpTION's agreement diagnosis",
    build_fields_test("Document", "Layer", "Feature", "Position"),
    column_endings=("Layer",),
    shows={"raters"},
)
def read_diagnosis(export: Export) -> Iterator[Submission]:
    for place, row in export.records():
        question = f"{row['Layer']}.{row['Feature']}"
        for rater in (name for name in row if name not in OWN_COLUMNS):
            yield Submission(
                f"{row['Document']} {row['Position']}",
                rater,
                {question: None if row[rater] in NO_LABEL else row[rater]},
                f"{place}, column {rater!r}",
                fields={name: row[name] for name in OWN_COLUMNS},
            )


def _iterate_documents(export: Export) -> Iterator[tuple[Path, str, str]]:
    for path in export.files:
        place = export.file_name_in_export(path)
        if export.path in (path, path.parent):
            raise RatingsError(
                f"{place}: found a file in no folder, so no document; expected a folder for each "
                "document, with a file for each rater. Export the project with its annotations."
            )
        yield path, str(path.parent.relative_to(export.path)), place


def _characters_by_unit(text: str) -> dict[int, int]:
    """The number of characters before each code unit with which a character begins."""
    units = accumulate((1 + (ord(character) > MAX_SINGLE_UNIT) for character in text), initial=0)
    return {unit: place for place, unit in enumerate(units)}


def _build_token_places(text: str, tokens: Iterable[tuple[int, int]]) -> dict[str, list[list[int]]]:
    """The field of the tokens' places in characters, if all are places of the text."""
    characters = _characters_by_unit(text)
    places = [[characters.get(start, -1), characters.get(stop, -1)] for start, stop in tokens]
    is_known = bool(places) and all(0 <= start < stop for start, stop in places)
    return {TOKENS: places} if is_known else {}


def object_answer_by_question(text: str, marks: Iterable[Mark]) -> dict[str, ObjectAnswer]:
    r"""The spans for each question. All offsets are checked, also of marks without a label.

    >>> marks = [(2, 3, {"Layer.value": "end"}, "x")]
    >>> object_answer_by_question("\N{GRINNING FACE}!", marks)["Layer.value"].objects
    (Span(start=1, end=2, category='end'),)
    """
    characters = _characters_by_unit(text)

    def to_characters(unit: int, place: str) -> int:
        if unit not in characters:
            raise RatingsError(
                f"{place}: found offset {unit}, where no character begins in a text of "
                f"{max(characters)} code units; expected one inside the text. Export again."
            )
        return characters[unit]

    question_spans = list[tuple[str, Span]]()
    for start, stop, labels, place in marks:
        bounds = to_characters(start, place), to_characters(stop, place)
        question_spans += [
            (question, Span(*bounds, label, place)) for question, label in labels.items()
        ]
    return {
        question: ObjectAnswer(spans, (len(text),))
        for question, spans in group_values(question_spans).items()
    }


# UIMA CAS JSON


@tool(
    "inception_cas",
    "INCEpTION's annotations (UIMA CAS JSON)",
    lambda export: export.kind == "json" and STRUCTURES in export.first_record,
    shows={"raters"},
    kinds=("spans",),
)
def read_cas(export: Export, kind: str = "") -> Iterator[Submission]:
    for path, document, _ in _iterate_documents(export):
        for place, record in export.records(path):
            structures = record[STRUCTURES]
            texts = [
                structure["sofaString"] for structure in structures if structure.get(TYPE) == SOFA
            ]
            if len(texts) != 1:
                raise RatingsError(
                    f"{place}: found {len(texts)} texts; expected one in a document. "
                    "Export the project again."
                )
            text = str(texts[0])
            yield Submission(
                document,
                path.stem,
                object_answer_by_question(text, _marks_of_structures(structures, place))
                if kind
                else {},
                place,
                fields={
                    "name": document,
                    "text": text,
                    **_build_token_places(
                        text,
                        (
                            (structure["begin"], structure["end"])
                            for structure in structures
                            if structure.get(TYPE) == TOKEN_TYPE
                        ),
                    ),
                },
            )


def _marks_of_structures(structures: list[Data], place: str) -> Iterator[Mark]:
    for structure in structures:
        layer = str(structure[TYPE])
        is_span = "begin" in structure or "end" in structure
        if layer.startswith(BUILT_IN) or not is_span or OF_RELATIONS & {*structure}:
            continue
        labels = {
            f"{layer.rpartition('.')[2]}.{name}": value
            for name, value in structure.items()
            if isinstance(value, str) and not name.startswith(("%", "@"))
        }
        yield structure["begin"], structure["end"], labels, f"{place}, object {structure['%ID']}"


# WebAnno TSV


@tool(
    "webanno",
    "WebAnno TSV 3 of INCEpTION",
    lambda export: (
        read_first_bytes(export.files[0]).removeprefix(BOM_UTF8).startswith(FORMAT.encode())
    ),
    shows={"raters"},
    kinds=("spans",),
)
def read_tsv(export: Export, kind: str = "") -> Iterator[Submission]:
    for path, name, place in _iterate_documents(export):
        with open_text(path, place, newline="\n") as file:
            text, marks, tokens = _read_document(file, place)
        values = object_answer_by_question(text, marks) if kind else {}
        fields = {"name": name, "text": text, **_build_token_places(text, tokens)}
        yield Submission(name, path.stem, values, place, fields=fields)


def _read_document(
    lines: Iterable[str], place: str
) -> tuple[str, Iterable[Mark], list[tuple[int, int]]]:
    questions, sentence, units = list[str](), list[str](), bytearray()
    mark_by_key: dict[tuple[str, str], Mark] = {}
    tokens = list[tuple[int, int]]()
    for row, line in enumerate(lines, 1):
        text, line_place = line.rstrip("\r\n"), f"{place}: row {row}"
        if text.startswith((SPANS, RELATIONS, CHAINS)):
            questions += _parse_header_columns(text)
        elif text.startswith(TEXT):
            sentence.append(_unescape_tsv(text.removeprefix(TEXT)))
        elif text and not text.startswith("#"):
            token, *cells = text.split("\t")
            start, stop = _read_offsets(token, cells, len(questions), line_place)
            if "." not in token:  # a part of a token has a line of its own
                tokens.append((start, stop))
            if sentence:
                units += _blank_bytes_between(len(units) // len(BLANK), start, line_place)
                units += "\n".join(sentence).encode(CODE_UNITS)
                sentence = []
            for question, value, number in _iterate_annotations_of_token(questions, cells[2:]):
                key = (question, number or f"{token} {value}")
                new = start, stop, {question: value}, f"{line_place}, object {len(mark_by_key) + 1}"
                begin, _, labels, name = mark_by_key.get(key, new)
                mark_by_key[key] = begin, stop, labels, name
    return units.decode(CODE_UNITS), mark_by_key.values(), tokens


def _iterate_annotations_of_token(
    questions: Sequence[str], cells: Sequence[str]
) -> Iterator[tuple[str, str, str]]:
    """The question, the label and the number, if it has one, of each annotation of a token.

    The label of a layer without features is the layer's name.
    """
    for question, cell in zip(questions, cells, strict=False):
        for match in VALUE.finditer(cell) if question else ():
            value = match["value"]
            if value == NO_VALUE and "." not in question:
                yield question, question, match["number"] or ""
            elif value not in (NO_ANNOTATION, NO_VALUE):
                yield question, _unescape_tsv(value), match["number"] or ""


def _read_offsets(token: str, cells: Sequence[str], n_features: int, place: str) -> tuple[int, int]:
    is_token = TOKEN.fullmatch(token)
    if len(cells) < 2 + n_features or not is_token:
        finding = counted(1 + len(cells), "cell")
        finding += "" if is_token else f" that begin with {value_in_message(token)}"
        raise RatingsError(
            f"{place}: found {finding}; expected the number, the offsets and the text of "
            f"a token, and {counted(n_features, 'feature')}. Export the document again."
        )
    start, stop = (int(offset) for offset in cells[0].split("-"))
    return start, stop


def _blank_bytes_between(previous_stop: int, start: int, place: str) -> bytes:
    if not 0 <= start - previous_stop <= MAX_GAP_UNITS:
        raise RatingsError(
            f"{place}: found a sentence that begins at {start}, and the text before it ends at "
            f"{previous_stop}; expected it after that, by {MAX_GAP_UNITS:,} at most. "
            "Export the document again."
        )
    return BLANK * (start - previous_stop)


def _parse_header_columns(header: str) -> list[str]:
    kind, _, columns = header.partition("=")
    layer, *features = columns.rstrip("|").split("|")
    short = layer.rpartition(".")[2]
    names = [f"{short}.{name}" for name in features] or [short]
    is_read = f"{kind}=" == SPANS and not layer.startswith(BUILT_IN)
    return names if is_read else [""] * len(names)


def _unescape_tsv(text: str) -> str:
    return ESCAPED.sub(lambda found: TEXT_BY_ESCAPE.get(found[1], found[1]), text)
