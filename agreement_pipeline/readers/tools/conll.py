"""CoNLL: a token a line, with its tag. The tags begin with B, I, E or S, or they are O.

A rater has a file, or a folder of files. Or a rater has a column, and the first line names all
columns: `# global.columns = FORM ana ben`, as in CoNLL-U Plus.

An item is what stands between two marks of documents, `-DOCSTART-` or `# newdoc`. Without marks it
is a sentence. Its text is the tokens with a blank between them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.files import opened
from agreement_pipeline.readers.submissions import Drawn, Submission, tool
from agreement_pipeline.text import counted
from agreement_pipeline.units import TOKENS, Span

TAG = re.compile(r"O|(?P<place>[BIESLU])[-_](?P<category>\S+)")
OF_TOKENS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
COLUMNS, MARKS = "# global.columns =", ("# newdoc", "-DOCSTART-")
FIRST, LAST = "BSU", "ELSU"
ENOUGH, LETTERS = 50, 65_536
"""The format is told by so many lines, and by so many letters at most."""


class Token(NamedTuple):
    line: int
    text: str
    tags: Mapping[str, str]


def _is_conll(export: Export) -> bool:
    try:
        with export.files[0].open(encoding="utf-8-sig") as file:
            first = file.read(LETTERS).split("\n")[:ENOUGH]
        some = [tokens for _, tokens in _sentences(first, "", "")]
    except (RatingsError, UnicodeDecodeError):
        return False
    tags = [tag for tokens in some for token in tokens for tag in token.tags.values()]
    return bool(tags) and all(map(TAG.fullmatch, tags))


@tool(
    "conll",
    "CoNLL's files of raters",
    _is_conll,
    shows={"raters"},
    kinds=("spans",),
)
def submissions(export: Export, kind: str = "") -> Iterator[Submission]:
    for path in export.files:
        place, folders = export.place(path), export.folders(path)
        rater = folders[0] if folders else path.stem
        inside = "/".join([*folders[1:], path.stem]) + " " if folders else ""
        for item, tokens in _items(path, place, rater):
            where = f"{place}: row {tokens[0].line}"
            text = " ".join(token.text for token in tokens)
            ends = list(accumulate(len(token.text) + 1 for token in tokens))
            places = [[end - 1 - len(t.text), end - 1] for end, t in zip(ends, tokens, strict=True)]
            for said_by in tokens[0].tags:
                yield Submission(
                    inside + item,
                    said_by,
                    {kind: _spans(tokens, said_by, place)} if kind else {},
                    where if said_by == rater else f"{where}, column {said_by!r}",
                    fields={"name": inside + item, "text": text, TOKENS: places},
                )


def _items(path: Path, place: str, rater: str) -> Iterator[tuple[str, list[Token]]]:
    with opened(path, place, newline=None) as file:
        is_marked = any(line.strip().startswith(MARKS) for line in file)
        file.seek(0)
        number, name, tokens = 0, "", list[Token]()
        for begins, some in _sentences(file, place, rater):
            if begins is not None or not is_marked:
                if tokens:
                    yield name, tokens
                number, tokens = number + 1, []
                name = begins or str(number)
            if number:
                tokens += some
        if tokens:
            yield name, tokens


def _sentences(
    lines: Iterable[str], place: str, rater: str
) -> Iterator[tuple[str | None, list[Token]]]:
    columns: list[str] = []
    begins: str | None = None
    tokens: list[Token] = []
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text.startswith(COLUMNS):
            columns = text.removeprefix(COLUMNS).split()
        is_mark = text.startswith(MARKS)
        if tokens and (not text or is_mark):
            yield begins, tokens
            begins, tokens = None, []
        if is_mark:
            begins = text.partition("=")[2].strip()
        elif text and not (text.startswith("#") and "\t" not in text and columns):
            tokens.append(_token(line, number, columns, place, rater))
    if tokens or begins is not None:
        yield begins, tokens


def _token(line: str, number: int, columns: Sequence[str], place: str, rater: str) -> Token:
    text = line.rstrip("\r\n")
    cells = text.split("\t") if "\t" in text else text.split()
    if len(cells) < 2 or (columns and len(cells) != len(columns)):
        expected = f"{len(columns)}, as the first line says" if columns else "a token and its tag"
        raise RatingsError(
            f"{place}: row {number}: found {counted(len(cells), 'cell')}; expected "
            f"{expected}. Export the file again."
        )
    if not columns:
        return Token(number, cells[0], {rater: cells[-1]})
    named = dict(zip(columns, cells, strict=True))
    raters = {name: tag for name, tag in named.items() if name.upper() not in OF_TOKENS}
    return Token(number, named.get("FORM", cells[0]), raters)


def _spans(tokens: Sequence[Token], rater: str, place: str) -> Drawn:
    found: list[tuple[int, int, str, int]] = []
    at, is_open = 0, False
    for token in tokens:
        tag, end = token.tags[rater], at + len(token.text)
        said = TAG.fullmatch(tag)
        if said is None:
            raise RatingsError(
                f"{place}: row {token.line}: found tag {tag!r}; expected O, or a category after "
                "B-, I-, E-, L-, S- or U-. Correct the tag."
            )
        mark, category = said["place"], said["category"]
        if category and is_open and mark not in FIRST and found[-1][2] == category:
            found[-1] = (found[-1][0], end, category, found[-1][3])
        elif category:
            found.append((at, end, category, token.line))
        is_open = bool(category) and mark not in LAST
        at = end + 1
    spans = [
        Span(start, end, category, f"{place}: row {line}, object {n}")
        for n, (start, end, category, line) in enumerate(found, 1)
    ]
    return Drawn(tuple(spans))
