"""JSON files: the records of an export one at a time, and the cells of a table in JSON Lines."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import pyarrow as pa

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.mistakes import value_in_message
from agreement_pipeline.ratings import Limits, category_text
from agreement_pipeline.readers.columns import refuse_repeated_names
from agreement_pipeline.readers.files import (
    WAIT,
    CutOffError,
    StableFile,
    open_text,
)

CHUNK_CHARACTERS = 1 << 20
BATCH_ROWS = 8_192
NOT_BLANK = re.compile(r"\S")
UNFINISHED_WORD = re.compile(r'[^\s{}\[\],:"]*\s*')
"""A word that may go on, such as half of a number: it has no mark after it."""
SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
LARGE_FILE_BYTES = 100_000_000
_progress_by_stream: dict[object, str] = {}


def large_file_progress() -> str:
    """How far the large file is that was opened last; empty if none is being read.

    >>> large_file_progress()
    ''
    """
    return next(reversed([*_progress_by_stream.values()]), "")


class _RepeatedNameError(ValueError):
    """An object has a name twice; its names are the arguments."""


def _object_of_unique_names(pairs: list[tuple[str, Any]]) -> dict[str, object]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise _RepeatedNameError(*(name for name, _ in pairs))
    return record


def _is_cut_off(error: Exception, text: str) -> bool:
    """True if a text is no JSON since it ends too early."""
    if not isinstance(error, json.JSONDecodeError) or error.msg == "Extra data":
        return False
    return bool(UNFINISHED_WORD.fullmatch(text, error.pos)) or error.msg.startswith(
        "Unterminated string"
    )


def _refuse_half_character(value: object, place: str) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = f"\\u{ord(error.object[error.start]):04x}"
        raise RatingsError(
            f"{place}: found half a character ({half}); expected whole characters. "
            "Correct the record, or export the file again as UTF-8."
        ) from None


# Records: an array, lines, or a single object


def read_json_objects(path: Path, place: str = "") -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file, numbered from 1. No more than a few are in memory."""
    place = place or path.name
    with open_text(path, place) as file:
        stream = _JsonStream(path, file, place)
        try:
            yield from stream.iterate_numbered_records()
        finally:
            _progress_by_stream.pop(stream, None)


class _JsonStream:
    def __init__(self, path: Path, file: TextIO, place: str) -> None:
        self.path, self.file, self.place = path, file, place
        self.buffer, self.position, self.number = "", 0, 0
        self.size = path.stat().st_size
        self.decoder = json.JSONDecoder(object_pairs_hook=_object_of_unique_names)

    def iterate_numbered_records(self) -> Iterator[tuple[int, dict[str, Any]]]:
        array = self._next_mark() == "["
        self.position += array
        while (mark := self._next_mark()) and mark != "]":
            self.number += 1
            yield self.number, self._parse_object()
            if array and self._next_mark() == ",":
                self.position += 1
        if array and not mark:
            self.number += 1
            raise self._cut_off_error("before")
        self.position += bool(mark)
        if mark and (not array or self._next_mark()):
            raise self._record_error(
                "text after the last record", "the end of the file. Remove the text"
            )

    def _next_mark(self) -> str:
        while not (match := NOT_BLANK.search(self.buffer, self.position)):
            self.position = len(self.buffer)
            if not self._read_more():
                return ""
        self.position = match.start()
        return match.group()

    def _read_more(self) -> bool:
        self.buffer, self.position = self.buffer[self.position :], 0
        text = self.file.read(max(CHUNK_CHARACTERS, len(self.buffer)))
        if self.size >= LARGE_FILE_BYTES:
            _progress_by_stream[self] = (
                f"{self.file.buffer.tell() / self.size:.0%} of {self.path.name}"
            )
        self.buffer += text
        return bool(text)

    def _parse_object(self) -> dict[str, Any]:
        while True:
            try:
                record, end_position = self.decoder.raw_decode(self.buffer, self.position)
                break
            except _RepeatedNameError as repeated:
                refuse_repeated_names([*repeated.args], f"{self.place}: record {self.number}")
                raise
            except (ValueError, RecursionError) as error:
                if not _is_cut_off(error, self.buffer):
                    raise self._record_error(
                        f"text that is not readable as JSON ({error})"
                    ) from None
                if not self._read_more():
                    raise self._cut_off_error("in the middle of") from None
        if not isinstance(record, dict):
            raise self._record_error(value_in_message(record))
        if SURROGATE.search(self.buffer, self.position, end_position):
            _refuse_half_character(record, f"{self.place}: record {self.number}")
        self.position = end_position
        return record

    def _cut_off_error(self, preposition: str) -> CutOffError:
        return CutOffError(
            f"{self.place}: record {self.number}: found a file that is cut off {preposition} this "
            f"record; expected whole records and the end of the list. {WAIT}"
        )

    def _record_error(
        self, finding: str, expected: str = "a JSON object. Correct the record"
    ) -> RatingsError:
        return RatingsError(
            f"{self.place}: record {self.number}: found {finding}; expected {expected}, or export "
            "the file again."
        )


# Tables: JSON Lines. Each line is read once, and its texts are then kept in Arrow


class JsonLines:
    def __init__(self, path: Path, limits: Limits) -> None:
        names, self._parts = dict[str, None](), list[tuple[int, dict[str, Any]]]()
        records = _iterate_records(path, limits)
        while batch := list(islice(records, BATCH_ROWS)):
            places: dict[str, list[int]] = {}
            for index, record in enumerate(batch):
                for name in record:
                    places.setdefault(name, []).append(index)
            names |= dict.fromkeys(places)
            if len(names) <= limits.columns:
                cells: dict[str, Any] = {}
                for name, indices in places.items():
                    column: list[Any] = [None] * len(batch)
                    for index in indices:
                        column[index] = _value_as_cell(batch[index][name])
                    cells[name] = column
                    if all(
                        column[index] is None or isinstance(column[index], str) for index in indices
                    ):
                        cells[name] = pa.array(column, pa.large_string())
                self._parts.append((len(batch), cells))
        limits.refuse_beyond("columns", len(names), path.name, "columns")
        self.header = list(names)

    def iterate_batches(
        self, names: Sequence[str], _lists: object = ()
    ) -> Iterator[dict[str, Any]]:
        for n_rows, columns in self._parts:
            empty = pa.nulls(n_rows, pa.large_string())
            yield {name: columns.get(name, empty) for name in names}


def _value_as_cell(value: object) -> object:
    """A value as a cell: flags as text, lists as lists of cells."""
    if isinstance(value, list):
        return [None if member == "" else _value_as_cell(member) for member in value]
    return category_text(value) if isinstance(value, bool) else value


def _iterate_records(path: Path, limits: Limits) -> Iterator[dict[str, object]]:
    """The lines as records. Blank lines at the end are none."""
    source, row, waiting = path.name, 0, list[str]()
    for block in StableFile.at_path(path).iterate_blocks():
        for line in block.decode().removesuffix("\n").split("\n"):
            if line.strip() and waiting:
                for row, waiting_line in enumerate(waiting, row + 1):  # noqa: B020
                    yield _parse_record(waiting_line, row, False, source)
                waiting.clear()
            waiting.append(line)
    yield _parse_record(waiting[0], row + 1, True, source)
    limits.refuse_beyond("rows", row + len(waiting), source, "lines")


_LINE = json.JSONDecoder(
    object_pairs_hook=_object_of_unique_names,
    parse_int=str,
    parse_float=lambda written: category_text(float(written)),
    parse_constant=lambda written: None if written == "NaN" else written,
)


def _parse_record(line: str, row: int, is_last: bool, source: str) -> dict[str, object]:
    text, place = line.strip(), f"{source}: row {row}"
    if not text:
        return {}
    finding, step = None, "Correct the line."
    try:
        record = _LINE.decode(line)
        if isinstance(record, dict):
            if SURROGATE.search(line):
                _refuse_half_character(record, place)
            return record
        is_document = isinstance(record, list) and bool(record) and isinstance(record[0], dict)
        finding, step = value_in_message(text), "Write each row as an object."
    except _RepeatedNameError as repeated:
        refuse_repeated_names([*repeated.args], place)
        raise
    except (json.JSONDecodeError, RecursionError) as error:
        is_document = row == 1 and not is_last and text in ("[", "{", "[{")
        finding = f"text that is not readable as JSON ({error})"
        if is_last and text.startswith("{") and _is_cut_off(error, line):
            finding, step = f"a last line that is cut off ({error})", WAIT
    if is_document:  # a list, or an object over several lines
        raise RatingsError(
            f"{place}: found a JSON document that is no tool's export; expected a JSON object in "
            "every line, or an export as its tool writes it. "
            "Export again and rename no field, or write one rating a line."
        )
    raise RatingsError(f"{place}: found {finding}; expected a JSON object in every line. {step}")
