"""JSON files: the records of an export one at a time, and the cells of a table in JSON Lines."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import pyarrow as pa

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.mistakes import shown
from agreement_pipeline.ratings import Limits, category_text
from agreement_pipeline.readers.columns import refuse_twice
from agreement_pipeline.readers.files import (
    WAIT,
    CutOffError,
    Steady,
    opened,
)

CHUNK = 1 << 20
AT_ONCE = 8_192
NOT_BLANK = re.compile(r"\S")
BEGUN = re.compile(r'[^\s{}\[\],:"]*\s*')
"""A word that may go on, such as half of a number: it has no mark after it."""
HALF = re.compile(r"\\u[dD][89a-fA-F]")
LARGE = 100_000_000
_now: dict[object, str] = {}


def how_far() -> str:
    """How far the large file is that was opened last; empty if none is being read.

    >>> how_far()
    ''
    """
    return next(reversed([*_now.values()]), "")


class _NameTwiceError(ValueError):
    """An object has a name twice; its names are the arguments."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _NameTwiceError(*(name for name, _ in pairs))
    return found


def _is_cut(error: Exception, text: str) -> bool:
    if not isinstance(error, json.JSONDecodeError) or error.msg == "Extra data":
        return False
    return bool(BEGUN.fullmatch(text, error.pos)) or error.msg.startswith("Unterminated string")


def _refuse_half(found: object, where: str) -> None:
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = f"\\u{ord(error.object[error.start]):04x}"
        raise RatingsError(
            f"{where}: found half a character ({half}); expected whole characters. "
            "Correct the record, or export the file again as UTF-8."
        ) from None


# Records: an array, lines, or a single object


def json_objects(path: Path, place: str = "") -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file, numbered from 1. No more than a few are in memory."""
    place = place or path.name
    with opened(path, place) as file:
        stream = _Stream(path, file, place)
        try:
            yield from stream.objects()
        finally:
            _now.pop(stream, None)


class _Stream:
    def __init__(self, path: Path, file: TextIO, place: str) -> None:
        self.path, self.file, self.place = path, file, place
        self.buffer, self.at, self.number = "", 0, 0
        self.size = path.stat().st_size
        self.decoder = json.JSONDecoder(object_pairs_hook=_once)

    def objects(self) -> Iterator[tuple[int, dict[str, Any]]]:
        array = self._next_mark() == "["
        self.at += array
        while (mark := self._next_mark()) and mark != "]":
            self.number += 1
            yield self.number, self._object()
            if array and self._next_mark() == ",":
                self.at += 1
        if array and not mark:
            self.number += 1
            raise self._cut("before")
        self.at += bool(mark)
        if mark and (not array or self._next_mark()):
            raise self._wrong("text after the last record", "the end of the file. Remove the text")

    def _next_mark(self) -> str:
        while not (found := NOT_BLANK.search(self.buffer, self.at)):
            self.at = len(self.buffer)
            if not self._more():
                return ""
        self.at = found.start()
        return found.group()

    def _more(self) -> bool:
        self.buffer, self.at = self.buffer[self.at :], 0
        read = self.file.read(max(CHUNK, len(self.buffer)))
        if self.size >= LARGE:
            _now[self] = f"{self.file.buffer.tell() / self.size:.0%} of {self.path.name}"
        self.buffer += read
        return bool(read)

    def _object(self) -> dict[str, Any]:
        while True:
            try:
                found, end = self.decoder.raw_decode(self.buffer, self.at)
                break
            except _NameTwiceError as twice:
                refuse_twice([*twice.args], f"{self.place}: record {self.number}")
                raise
            except (ValueError, RecursionError) as error:
                if not _is_cut(error, self.buffer):
                    raise self._wrong(f"text that is not readable as JSON ({error})") from None
                if not self._more():
                    raise self._cut("in the middle of") from None
        if not isinstance(found, dict):
            raise self._wrong(shown(found))
        if HALF.search(self.buffer, self.at, end):
            _refuse_half(found, f"{self.place}: record {self.number}")
        self.at = end
        return found

    def _cut(self, where: str) -> CutOffError:
        return CutOffError(
            f"{self.place}: record {self.number}: found a file that is cut off {where} this "
            f"record; expected whole records and the end of the list. {WAIT}"
        )

    def _wrong(
        self, found: str, expected: str = "a JSON object. Correct the record"
    ) -> RatingsError:
        return RatingsError(
            f"{self.place}: record {self.number}: found {found}; expected {expected}, or export "
            "the file again."
        )


# Tables: JSON Lines. Each line is read once, and its texts are then kept in Arrow


class JsonLines:
    def __init__(self, path: Path, limits: Limits) -> None:
        names, self._parts = dict[str, None](), list[tuple[int, dict[str, Any]]]()
        records = _records(path, limits)
        while some := list(islice(records, AT_ONCE)):
            places: dict[str, list[int]] = {}
            for at, record in enumerate(some):
                for name in record:
                    places.setdefault(name, []).append(at)
            names |= dict.fromkeys(places)
            if len(names) <= limits.columns:
                cells: dict[str, Any] = {}
                for name, there in places.items():
                    column: list[Any] = [None] * len(some)
                    for at in there:
                        column[at] = _cell(some[at][name])
                    cells[name] = column
                    if all(column[at] is None or isinstance(column[at], str) for at in there):
                        cells[name] = pa.array(column, pa.large_string())
                self._parts.append((len(some), cells))
        limits.refuse_beyond("columns", len(names), path.name, "columns")
        self.header = list(names)

    def batches(self, names: Sequence[str], _lists: object = ()) -> Iterator[dict[str, Any]]:
        for n_rows, columns in self._parts:
            empty = pa.nulls(n_rows, pa.large_string())
            yield {name: columns.get(name, empty) for name in names}


def _cell(value: object) -> object:
    if isinstance(value, list):
        return [None if each == "" else _cell(each) for each in value]
    return category_text(value) if isinstance(value, bool) else value


def _records(path: Path, limits: Limits) -> Iterator[dict[str, object]]:
    source, row, waiting = path.name, 0, list[str]()
    for block in Steady.at(path).blocks():
        for line in block.decode().removesuffix("\n").split("\n"):
            if line.strip() and waiting:
                for row, each in enumerate(waiting, row + 1):  # noqa: B020
                    yield _record(each, row, False, source)
                waiting.clear()
            waiting.append(line)
    yield _record(waiting[0], row + 1, True, source)
    limits.refuse_beyond("rows", row + len(waiting), source, "lines")


_LINE = json.JSONDecoder(
    object_pairs_hook=_once,
    parse_int=str,
    parse_float=lambda written: category_text(float(written)),
    parse_constant=lambda written: None if written == "NaN" else written,
)


def _record(line: str, row: int, last: bool, source: str) -> dict[str, object]:
    text, where = line.strip(), f"{source}: row {row}"
    if not text:
        return {}
    found, step = None, "Correct the line."
    try:
        record = _LINE.decode(line)
        if isinstance(record, dict):
            if HALF.search(line):
                _refuse_half(record, where)
            return record
        is_document = isinstance(record, list) and bool(record) and isinstance(record[0], dict)
        found, step = shown(text), "Write each row as an object."
    except _NameTwiceError as twice:
        refuse_twice([*twice.args], where)
        raise
    except (json.JSONDecodeError, RecursionError) as error:
        is_document = row == 1 and not last and text in ("[", "{", "[{")
        found = f"text that is not readable as JSON ({error})"
        if last and text.startswith("{") and _is_cut(error, line):
            found, step = f"a last line that is cut off ({error})", WAIT
    if is_document:  # a list, or an object over several lines
        raise RatingsError(
            f"{where}: found a JSON document that is no tool's export; expected a JSON object in "
            "every line, or an export as its tool writes it. "
            "Export again and rename no field, or write one rating a line."
        )
    raise RatingsError(f"{where}: found {found}; expected a JSON object in every line. {step}")
