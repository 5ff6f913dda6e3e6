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
from agreement_pipeline.readers.files import open_text
from agreement_pipeline.readers.rows import (
    ObjectAnswer,
    Submission,
)
from agreement_pipeline.readers.submissions import tool
from agreement_pipeline.text import counted
from agreement_pipeline.units import TOKENS, Span

TAG = re.compile(r"O|(?P<place>[BIESLU])[-_](?P<category>\S+)")
TOKEN_COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
COLUMNS_LINE, DOCUMENT_MARKS = "# global.columns =", ("# newdoc", "-DOCSTART-")
BEGINNING_MARKS, ENDING_MARKS = "BSU", "ELSU"
SAMPLE_LINES, SAMPLE_LETTERS = 50, 65_536
"""The format is told by so many lines, and by so many letters at most."""


class Token(NamedTuple):
    line: int
    text: str
    tags: Mapping[str, str]


def _is_conll(export: Export) -> bool:
    try:
        with export.files[0].open(encoding="utf-8-sig") as file:
            first_lines = file.read(SAMPLE_LETTERS).split("\n")[:SAMPLE_LINES]
        sentences = [tokens for _, tokens in _iterate_sentences(first_lines, "", "")]
    except (RatingsError, UnicodeDecodeError):
        return False
    tags = [tag for tokens in sentences for token in tokens for tag in token.tags.values()]
    return bool(tags) and all(map(TAG.fullmatch, tags))


@tool(
    "conll",
    "CoNLL's files of raters",
    _is_conll,
    shows={"raters"},
    kinds=("spans",),
)
def read_conll(export: Export, kind: str = "") -> Iterator[Submission]:
    for path in export.files:
        place, folders = export.file_name_in_export(path), export.folder_names_of(path)
        rater = folders[0] if folders else path.stem
        item_prefix = "/".join([*folders[1:], path.stem]) + " " if folders else ""
        for item, tokens in _iterate_items(path, place, rater):
            item_place = f"{place}: row {tokens[0].line}"
            text = " ".join(token.text for token in tokens)
            stops = list(accumulate(len(token.text) + 1 for token in tokens))
            places = [
                [stop - 1 - len(t.text), stop - 1] for stop, t in zip(stops, tokens, strict=True)
            ]
            for tag_rater in tokens[0].tags:
                yield Submission(
                    item_prefix + item,
                    tag_rater,
                    {kind: _spans_of_tokens(tokens, tag_rater, place)} if kind else {},
                    item_place if tag_rater == rater else f"{item_place}, column {tag_rater!r}",
                    fields={"name": item_prefix + item, "text": text, TOKENS: places},
                )


def _iterate_items(path: Path, place: str, rater: str) -> Iterator[tuple[str, list[Token]]]:
    with open_text(path, place, newline=None) as file:
        is_marked = any(line.strip().startswith(DOCUMENT_MARKS) for line in file)
        file.seek(0)
        number, name, tokens = 0, "", list[Token]()
        for begins, sentence in _iterate_sentences(file, place, rater):
            if begins is not None or not is_marked:
                if tokens:
                    yield name, tokens
                number, tokens = number + 1, []
                name = begins or str(number)
            if number:
                tokens += sentence
        if tokens:
            yield name, tokens


def _iterate_sentences(
    lines: Iterable[str], place: str, rater: str
) -> Iterator[tuple[str | None, list[Token]]]:
    columns: list[str] = []
    begins: str | None = None
    tokens: list[Token] = []
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text.startswith(COLUMNS_LINE):
            columns = text.removeprefix(COLUMNS_LINE).split()
        is_mark = text.startswith(DOCUMENT_MARKS)
        if tokens and (not text or is_mark):
            yield begins, tokens
            begins, tokens = None, []
        if is_mark:
            begins = text.partition("=")[2].strip()
        elif text and not (text.startswith("#") and "\t" not in text and columns):
            tokens.append(_parse_token(line, number, columns, place, rater))
    if tokens or begins is not None:
        yield begins, tokens


def _parse_token(line: str, number: int, columns: Sequence[str], place: str, rater: str) -> Token:
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
    cell_by_column = dict(zip(columns, cells, strict=True))
    raters = {
        name: tag for name, tag in cell_by_column.items() if name.upper() not in TOKEN_COLUMNS
    }
    return Token(number, cell_by_column.get("FORM", cells[0]), raters)


def _spans_of_tokens(tokens: Sequence[Token], rater: str, place: str) -> ObjectAnswer:
    spans_with_lines: list[tuple[int, int, str, int]] = []
    offset, is_open = 0, False
    for token in tokens:
        tag, stop = token.tags[rater], offset + len(token.text)
        match = TAG.fullmatch(tag)
        if match is None:
            raise RatingsError(
                f"{place}: row {token.line}: found tag {tag!r}; expected O, or a category after "
                "B-, I-, E-, L-, S- or U-. Correct the tag."
            )
        mark, category = match["place"], match["category"]
        if (
            category
            and is_open
            and mark not in BEGINNING_MARKS
            and spans_with_lines[-1][2] == category
        ):
            spans_with_lines[-1] = (
                spans_with_lines[-1][0],
                stop,
                category,
                spans_with_lines[-1][3],
            )
        elif category:
            spans_with_lines.append((offset, stop, category, token.line))
        is_open = bool(category) and mark not in ENDING_MARKS
        offset = stop + 1
    spans = [
        Span(start, stop, category, f"{place}: row {line}, object {n}")
        for n, (start, stop, category, line) in enumerate(spans_with_lines, 1)
    ]
    return ObjectAnswer(tuple(spans))
