r"""WebAnno TSV 3, of WebAnno and INCEpTION: a folder a document, with a file for each rater.

A line is a token: its number, its offsets, its text, and a column for each feature of a layer. `_`
is no annotation, `*` one without a value, and `|` stands between several. `PER[3]` on several lines
is one annotation, number 3. Offsets count UTF-16 code units, as Java does. Ours count characters.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.mistakes import shown
from agreement_pipeline.readers.code_units import character_at, characters_of
from agreement_pipeline.readers.document_folders import BUILT_IN, documents_of_raters
from agreement_pipeline.readers.drawn import Drawn
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.submissions import Submission
from agreement_pipeline.readers.tool import Tool
from agreement_pipeline.text import counted
from agreement_pipeline.units import Span

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
    def length(self) -> int:
        """Where the last sentence ends, in code units."""
        start, said = self.pieces[-1] if self.pieces else (0, "")
        return start + len(said.encode(CODE_UNITS)) // len(BLANK)

    @property
    def text(self) -> str:
        """The sentences at their offsets, with blanks between them."""
        units = b""
        for start, said in self.pieces:
            units += BLANK * (start - len(units) // len(BLANK)) + said.encode(CODE_UNITS)
        return units.decode(CODE_UNITS)


def submissions(export: Export) -> Iterator[Submission]:
    """The documents of each rater. They have no answers but spans."""
    yield from _read(export, spans=False)


def draws(export: Export, kind: str) -> Iterator[Submission]:
    """The spans of each rater in each document, for each feature of a layer."""
    yield from _read(export, spans=True)


def _read(export: Export, *, spans: bool) -> Iterator[Submission]:
    for each in documents_of_raters(export):
        with each.path.open(encoding="utf-8-sig", newline="\n") as file:
            document = _document(file, each.place)
        yield Submission(
            each.document,
            each.rater,
            _drawn(document, each.place) if spans else {},
            each.place,
            fields={"name": each.document, "text": document.text},
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
    if len(cells) < 3 + len(document.columns) or not TOKEN.fullmatch(cells[0]):
        found = counted(len(cells), "cell")
        found += "" if TOKEN.fullmatch(cells[0]) else f" that begin with {shown(cells[0])}"
        raise RatingsError(
            f"{where}: found {found}; expected the number, the offsets and the text of "
            f"a token, and {counted(len(document.columns), 'feature')}. Export the document again."
        )
    start, end = (int(each) for each in cells[1].split("-"))
    if document.waiting:
        _refuse_gap(document.length, start, where)
        document.pieces.append((start, "\n".join(document.waiting)))
        document.waiting = []
    for place, question in enumerate(document.columns):
        for one in VALUE.finditer(cells[3 + place]) if question else ():
            value = _label(one["value"], question)
            key = (question, one["number"] or f"{cells[0]} {one[0]}")
            if value is not None:
                new = _Found(question, value, start, end, row)
                document.found.setdefault(key, new).end = end


def _refuse_gap(end: int, start: int, where: str) -> None:
    if not 0 <= start - end <= LONGEST_GAP:
        raise RatingsError(
            f"{where}: found a sentence that begins at {start}, and the text before it ends at "
            f"{end}; expected it after that, by {LONGEST_GAP:,} at most. Export the document again."
        )


def _label(value: str, question: str) -> str | None:
    """The label of an annotation. That of a layer without features is the layer's name."""
    if value == UNNAMED and "." not in question:
        return question
    return None if value in (NOTHING, UNNAMED) else _plain(value)


def _drawn(document: _Document, place: str) -> dict[str, Drawn]:
    text = document.text
    units = characters_of(text)
    said: dict[str, list[Span]] = {question: [] for question in document.columns if question}
    for n, each in enumerate(document.found.values(), 1):
        where = f"{place}: row {each.row}, object {n}"
        start, end = (character_at(units, at, where) for at in (each.start, each.end))
        said[each.question].append(Span(start, end, each.value, where))
    return {name: Drawn(tuple(spans), (len(text),)) for name, spans in said.items() if spans}


def _plain(said: str) -> str:
    """A text without its escapes."""
    return ESCAPED.sub(lambda found: PLAIN.get(found[1], found[1]), said)


def _is_webanno(export: Export) -> bool:
    if not export.files:
        return False
    with export.files[0].open("rb") as file:
        return file.read(len(FORMAT) + 3).removeprefix(b"\xef\xbb\xbf").startswith(FORMAT.encode())


WEBANNO = Tool(
    "webanno",
    "WebAnno TSV 3 of INCEpTION",
    _is_webanno,
    submissions,
    frozenset({"raters"}),
    draws=draws,
    kinds=("spans",),
).register()
