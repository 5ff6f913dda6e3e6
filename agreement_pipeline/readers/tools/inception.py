"""INCEpTION: its agreement diagnosis, its annotations as UIMA CAS JSON 0.4, and WebAnno TSV 3.

The diagnosis has a row a position, and a column a rater. A position that a rater did not mark is no
answer here. So this shows agreement on the label of what both marked, and not on what to mark.

Annotations are a folder a document, with a file for each rater. Offsets in a file count UTF-16 code
units, as Java does. Ours count characters.

A line of WebAnno TSV is a token: its number, its offsets, its text, and a column for each feature
of a layer. `_` is no annotation, `*` one without a value, and `|` stands between several. `PER[3]`
on several lines is one annotation, number 3.
"""

import re
from codecs import BOM_UTF8
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.mistakes import shown
from agreement_pipeline.readers.exports import Export, register
from agreement_pipeline.readers.files import start_of
from agreement_pipeline.readers.submissions import Data, Drawn, Submission, Tool, has
from agreement_pipeline.text import counted
from agreement_pipeline.units import Span

OWN = ("Type", "Collection", "Document", "Layer", "Feature", "Position", "Flags")
"""The columns of the diagnosis that are no raters."""
NO_LABEL = ("<no annotation>", "<no label>", "")
BUILT_IN = (
    "uima.",
    "de.tudarmstadt.ukp.dkpro.core.api.segmentation.",
    "de.tudarmstadt.ukp.dkpro.core.api.metadata.",
    "de.tudarmstadt.ukp.clarin.webanno.api.",
)
"""Types that nobody annotates: texts, tokens, sentences and documents."""
BEYOND = 0xFFFF
"""The last character that is one code unit."""
STRUCTURES, TYPE, SOFA = "%FEATURE_STRUCTURES", "%TYPE", "uima.cas.Sofa"
OF_RELATIONS = {"@Governor", "@Dependent"}
FORMAT, TEXT = "#FORMAT=WebAnno TSV 3", "#Text="
CODE_UNITS = "utf-16-le"
BLANK = " ".encode(CODE_UNITS)
SPANS, RELATIONS, CHAINS = "#T_SP=", "#T_RL=", "#T_CH="
TOKEN = re.compile(r"\d+-\d+(?:\.\d+)?")
VALUE = re.compile(r"(?P<value>(?:\\.|[^|\\\[])+)(?:\[(?P<number>\d+)\])?", re.DOTALL)
ESCAPED = re.compile(r"\\(.)", re.DOTALL)
PLAIN = {"t": "\t", "n": "\n", "r": "\r"}
LONGEST_GAP = 1_000_000
"""How many code units may lie between two sentences."""
NOTHING, UNNAMED = "_", "*"


def diagnosis(export: Export) -> Iterator[Submission]:
    """The labels at all positions."""
    for place, row in export.records():
        question = f"{row['Layer']}.{row['Feature']}"
        for rater in (name for name in row if name not in OWN):
            yield Submission(
                f"{row['Document']} {row['Position']}",
                rater,
                {question: None if row[rater] in NO_LABEL else row[rater]},
                f"{place}, column {rater!r}",
                fields={name: row[name] for name in OWN},
            )


def _documents(export: Export) -> Iterator[tuple[Path, str, str]]:
    """The files of an export: what one rater marked in one document. Each with its place."""
    for path in export.files:
        place = export.place(path)
        if export.path in (path, path.parent):
            raise RatingsError(
                f"{place}: found a file in no folder, so no document; expected a folder for each "
                "document, with a file for each rater. Export the project with its annotations."
            )
        yield path, str(path.parent.relative_to(export.path)), place


class Characters:
    """A text whose offsets are told in code units.

    >>> text = Characters("\N{GRINNING FACE}!")
    >>> text.length, text.at(2, "x"), text.at(3, "x")
    (2, 1, 2)
    """

    def __init__(self, text: str) -> None:
        units = accumulate((1 + (ord(each) > BEYOND) for each in text), initial=0)
        self.length, self._places = len(text), {unit: place for place, unit in enumerate(units)}

    def at(self, unit: int, where: str) -> int:
        """The character that begins at a code unit."""
        if unit not in self._places:
            raise RatingsError(
                f"{where}: found offset {unit}, where no character begins in a text of "
                f"{max(self._places)} code units; expected one inside the text. Export again."
            )
        return self._places[unit]

    def drawn(self, spans: Mapping[str, Sequence[Span]]) -> dict[str, Drawn]:
        """What is drawn for each question."""
        return {name: Drawn(tuple(said), (self.length,)) for name, said in spans.items() if said}


# UIMA CAS JSON


def of_cas(export: Export, kind: str = "") -> Iterator[Submission]:
    """The documents of each rater. They have no answers but spans, for each feature of a layer."""
    for path, document, _ in _documents(export):
        for where, record in export.records_in(path):
            structures = record[STRUCTURES]
            texts = [each["sofaString"] for each in structures if each.get(TYPE) == SOFA]
            if len(texts) != 1:
                raise RatingsError(
                    f"{where}: found {len(texts)} texts; expected one in a document. "
                    "Export the project again."
                )
            text = str(texts[0])
            yield Submission(
                document,
                path.stem,
                _of_structures(structures, text, where) if kind else {},
                where,
                fields={"name": document, "text": text},
            )


def _of_structures(structures: list[Data], text: str, place: str) -> dict[str, Drawn]:
    """The spans of each feature of each layer. A span without a value of a feature is not there."""
    characters = Characters(text)
    found: defaultdict[str, list[Span]] = defaultdict(list)
    for each in structures:
        layer = str(each.get(TYPE, ""))
        if layer.startswith(BUILT_IN) or "begin" not in each or OF_RELATIONS & {*each}:
            continue
        where = f"{place}, object {each['%ID']}"
        start, end = (characters.at(each[name], where) for name in ("begin", "end"))
        for name, value in each.items():
            if isinstance(value, str) and not name.startswith(("%", "@")):
                question = f"{layer.rpartition('.')[2]}.{name}"
                found[question].append(Span(start, end, value, where))
    return characters.drawn(found)


# WebAnno TSV


@dataclass
class _Found:
    """An annotation: its feature, its value, its offsets so far, and its first row."""

    question: str
    value: str
    start: int
    end: int
    row: int


@dataclass
class _Document:
    """What is read of a file so far."""

    columns: list[str] = field(default_factory=list)
    pieces: list[tuple[int, str]] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    found: dict[tuple[str, str], _Found] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The sentences at their offsets, with blanks between them."""
        units = b""
        for start, said in self.pieces:
            units += BLANK * (start - len(units) // len(BLANK)) + said.encode(CODE_UNITS)
        return units.decode(CODE_UNITS)

    def begin_sentence(self, start: int, where: str) -> None:
        """Add the lines that wait, which are a sentence."""
        before, said = self.pieces[-1] if self.pieces else (0, "")
        end = before + len(said.encode(CODE_UNITS)) // len(BLANK)
        if not 0 <= start - end <= LONGEST_GAP:
            raise RatingsError(
                f"{where}: found a sentence that begins at {start}, and the text before it ends at "
                f"{end}; expected it after that, by {LONGEST_GAP:,} at most. "
                "Export the document again."
            )
        self.pieces.append((start, "\n".join(self.waiting)))
        self.waiting = []


def of_tsv(export: Export, kind: str = "") -> Iterator[Submission]:
    """The documents of each rater. They have no answers but spans, for each feature of a layer."""
    for path, name, place in _documents(export):
        with path.open(encoding="utf-8-sig", newline="\n") as file:
            document = _document(file, place)
        text = document.text
        spans: dict[str, list[Span]] = {question: [] for question in document.columns if question}
        characters = Characters(text if kind else "")
        for n, each in enumerate(document.found.values() if kind else (), 1):
            where = f"{place}: row {each.row}, object {n}"
            start, end = (characters.at(unit, where) for unit in (each.start, each.end))
            spans[each.question].append(Span(start, end, each.value, where))
        yield Submission(
            name,
            path.stem,
            characters.drawn(spans),
            place,
            fields={"name": name, "text": text},
        )


def _document(lines: Iterable[str], place: str) -> _Document:
    document = _Document()
    for row, line in enumerate(lines, 1):
        said = line.rstrip("\r\n")
        if said.startswith((SPANS, RELATIONS, CHAINS)):
            document.columns += _columns(said)
        elif said.startswith(TEXT):
            document.waiting.append(_plain(said.removeprefix(TEXT)))
        elif said and not said.startswith("#"):
            _add_token(document, said.split("\t"), f"{place}: row {row}", row)
    return document


def _columns(header: str) -> list[str]:
    """The questions in the columns of a layer. Empty for columns that are no features of spans."""
    kind, _, said = header.partition("=")
    layer, *features = said.rstrip("|").split("|")
    short = layer.rpartition(".")[2]
    names = [f"{short}.{name}" for name in features] or [short]
    is_read = f"{kind}=" == SPANS and not layer.startswith(BUILT_IN)
    return names if is_read else [""] * len(names)


def _add_token(document: _Document, cells: Sequence[str], where: str, row: int) -> None:
    is_token = TOKEN.fullmatch(cells[0])
    if len(cells) < 3 + len(document.columns) or not is_token:
        found = counted(len(cells), "cell")
        found += "" if is_token else f" that begin with {shown(cells[0])}"
        raise RatingsError(
            f"{where}: found {found}; expected the number, the offsets and the text of "
            f"a token, and {counted(len(document.columns), 'feature')}. Export the document again."
        )
    start, end = (int(each) for each in cells[1].split("-"))
    if document.waiting:
        document.begin_sentence(start, where)
    for question, cell in zip(document.columns, cells[3:], strict=False):
        for one in VALUE.finditer(cell) if question else ():
            value = _label(one["value"], question)
            key = (question, one["number"] or f"{cells[0]} {one[0]}")
            if value is not None:
                new = _Found(question, value, start, end, row)
                document.found.setdefault(key, new).end = end


def _label(value: str, question: str) -> str | None:
    """The label of an annotation. That of a layer without features is the layer's name."""
    if value == UNNAMED and "." not in question:
        return question
    return None if value in (NOTHING, UNNAMED) else _plain(value)


def _plain(said: str) -> str:
    """A text without its escapes."""
    return ESCAPED.sub(lambda found: PLAIN.get(found[1], found[1]), said)


register(
    Tool(
        "inception",
        "INCEpTION's agreement diagnosis",
        has("Document", "Layer", "Feature", "Position"),
        diagnosis,
        shows={"raters"},
    )
)
register(
    Tool(
        "inception_cas",
        "INCEpTION's annotations (UIMA CAS JSON)",
        lambda export: export.kind == "json" and STRUCTURES in export.first,
        of_cas,
        shows={"raters"},
        kinds=("spans",),
    )
)
register(
    Tool(
        "webanno",
        "WebAnno TSV 3 of INCEpTION",
        lambda export: (
            bool(export.files)
            and start_of(export.files[0]).removeprefix(BOM_UTF8).startswith(FORMAT.encode())
        ),
        of_tsv,
        shows={"raters"},
        kinds=("spans",),
    )
)
