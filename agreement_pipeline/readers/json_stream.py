"""The objects of a JSON file, one at a time: an array, lines, or a single object."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.mistakes import shown
from agreement_pipeline.readers.files import WAIT, CutOffError, text_of

CHUNK = 1 << 20
NOT_BLANK = re.compile(r"\S")
BEGUN = re.compile(r'[^\s{}\[\],:"]*\s*')
"""A word that may go on, for example half of a number: it has no mark after it."""
LARGE = 100_000_000
"""From how many bytes on it is said how far a file has been read."""
HALF = re.compile(r"\\u[dD][89a-fA-F]")
"""How JSON writes half of a character."""


class _Place(NamedTuple):
    name: str
    size: int
    at: int


_now: dict[object, _Place] = {}


@contextmanager
def _followed(path: Path) -> Iterator[Callable[[int], None]]:
    """While a file is read: a function that is told how many bytes have been read."""
    reading, size = object(), path.stat().st_size

    def note(at: int) -> None:
        if size >= LARGE:
            _now[reading] = _Place(path.name, size, at)

    try:
        yield note
    finally:
        _now.pop(reading, None)


def how_far() -> str:
    """How far the file is that was opened last. Empty if no large file is being read.

    >>> how_far()
    ''
    """
    for name, size, at in reversed(list(_now.values())):
        return f"{at / size:.0%} of {name}"
    return ""


def json_objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file, numbered from 1. No more than a few are in memory.

    Raises
    ------
    CutOffError
        The file ends within a record or a list.
    RatingsError
        The file is no JSON, or is not UTF-8.
    """
    with path.open(encoding="utf-8-sig", newline="") as file, _followed(path) as note:
        yield from _Stream(path, file, note).objects()


def is_cut(error: Exception, text: str) -> bool:
    """True if a text that is not readable as JSON may go on after its end."""
    if not isinstance(error, json.JSONDecodeError) or error.msg == "Extra data":
        return False
    begun = BEGUN.fullmatch(text, error.pos)
    return bool(begun) or error.msg.startswith("Unterminated string")


class _Stream:
    def __init__(self, path: Path, file: TextIO, note: Callable[[int], None]) -> None:
        self.path, self.file, self.buffer, self.at = path, file, "", 0
        self.note = note
        self.decoder = json.JSONDecoder()

    def objects(self) -> Iterator[tuple[int, dict[str, Any]]]:
        number, mark = 0, self._next_mark()
        array = mark == "["
        if array:
            self.at += 1
        while (mark := self._next_mark()) and mark != "]":
            number += 1
            yield number, self._object(number)
            if array and self._next_mark() == ",":
                self.at += 1
        if array and not mark:
            raise self._cut(number + 1, "before")
        if mark:
            self.at += 1
        if mark and (not array or self._next_mark()):
            raise self._after(number)

    def _next_mark(self) -> str:
        """The next character that is not blank; empty at the end."""
        while True:
            found = NOT_BLANK.search(self.buffer, self.at)
            if found:
                self.at = found.start()
                return found.group()
            self.at = len(self.buffer)
            if not self._more():
                return ""

    def _more(self) -> bool:
        """Read on, and forget what is done."""
        self.buffer, self.at = self.buffer[self.at :], 0
        try:
            read = self.file.read(max(CHUNK, len(self.buffer)))
        except UnicodeDecodeError:
            text_of(self.path.read_bytes(), self.path.name)
            raise
        self.note(self.file.buffer.tell())
        self.buffer += read
        return bool(read)

    def _object(self, number: int) -> dict[str, Any]:
        while True:
            start = self.at
            try:
                found, self.at = self.decoder.raw_decode(self.buffer, self.at)
            except (ValueError, RecursionError) as error:
                if not is_cut(error, self.buffer):
                    found_text = f"text that is not readable as JSON ({error})"
                    raise self._wrong(number, found_text) from None
                if not self._more():
                    raise self._cut(number, "in the middle of") from None
            else:
                if not isinstance(found, dict):
                    raise self._wrong(number, shown(found))
                if HALF.search(self.buffer, start, self.at):
                    self._refuse_half_characters(found, number)
                return found

    def _refuse_half_characters(self, found: dict[str, Any], number: int) -> None:
        written = json.dumps(found, ensure_ascii=False)
        try:
            written.encode()
        except UnicodeEncodeError as error:
            raise RatingsError(
                f"{self.path.name}: record {number}: found half a character "
                f"(\\u{ord(written[error.start]):04x}); expected whole characters. "
                "Correct the record, or export the file again."
            ) from None

    def _cut(self, number: int, where: str) -> CutOffError:
        return CutOffError(
            f"{self.path.name}: record {number}: found a file that is cut off {where} this "
            f"record; expected whole records and the end of the list. {WAIT}"
        )

    def _after(self, number: int) -> RatingsError:
        return RatingsError(
            f"{self.path.name}: record {number}: found text after the last record; expected the "
            "end of the file. Remove the text, or export the file again."
        )

    def _wrong(self, number: int, found: str) -> RatingsError:
        return RatingsError(
            f"{self.path.name}: record {number}: found {found}; expected a JSON object. "
            "Correct the record, or export the file again."
        )
