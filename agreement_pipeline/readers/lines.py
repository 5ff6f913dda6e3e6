"""One pass over a file of text: its lines, and if a fast reader must find the same cells."""

from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agreement_pipeline.readers.files import blank, readable, refuse_nul

FEED, RETURN, QUOTE = b'\n\r"'
BLOCK_BYTES = 1_000_000
Letters = np.ndarray[Any, np.dtype[np.uint8]]
Places = np.ndarray[Any, np.dtype[np.int64]]


@dataclass
class Lines:
    """What one pass over a file of delimited text finds.

    Attributes
    ----------
    separator
        What stands between its cells.
    head
        Its first lines.
    count
        How many lines it has.
    regular
        True if Arrow and Python's reader must find the same cells.
    quoted
        True if a quote stands below the first line.
    blank
        True if it has nothing but blanks.
    n_quotes
        How many quotes it has.
    """

    separator: str
    head: bytes = b""
    count: int = 0
    regular: bool = True
    quoted: bool = False
    blank: bool = True
    n_quotes: int = 0

    @property
    def first(self) -> bytes:
        """The first line."""
        return self.head[: self.head.find(b"\n") + 1 or len(self.head)]

    def add(self, block: bytes) -> None:
        """Look at the lines that follow those before."""
        text = np.frombuffer(block, dtype=np.uint8)
        quotes = np.flatnonzero(text == QUOTE) if b'"' in block else np.empty(0, dtype=np.int64)
        self.regular &= _is_regular(block, text, quotes, self.n_quotes, self.separator)
        self.count += int(np.count_nonzero(text == FEED)) + _lone_returns(block)
        self.blank &= block.isspace()
        self.head = self.head or block
        self.n_quotes += len(quotes)
        self.quoted = self.n_quotes > self.first.count(b'"')


def lines_of(path: Path, separator: str) -> Lines:
    """Look at a file of delimited text. A block of its lines at a time is in memory.

    Raises
    ------
    RatingsError
        The file cannot be read, is blank, or holds a NUL byte.
    """
    found = Lines(separator)
    for block in blocks_of(path):
        refuse_nul(block, path.name, found.count)
        found.add(block)
    if found.blank:
        raise blank(path.name)
    found.regular &= found.n_quotes % 2 == 0 and found.first.count(b'"') % 2 == 0
    return found


def blocks_of(path: Path) -> Iterator[bytes]:
    """The bytes of a file in blocks of whole lines, without a byte order mark.

    Raises
    ------
    RatingsError
        The file cannot be read.
    """
    with readable(path), path.open("rb") as file:
        block = (file.read(BLOCK_BYTES) + file.readline()).removeprefix(BOM_UTF8)
        while block:
            yield block
            block = file.read(BLOCK_BYTES) + file.readline()


def _lone_returns(block: bytes) -> int:
    return block.count(b"\r") - block.count(b"\r\n") if b"\r" in block else 0


def _is_regular(block: bytes, text: Letters, quotes: Places, n_before: int, separator: str) -> bool:
    """True if lines are UTF-8 that follows RFC 4180, without a carriage return in a cell.

    Arrow loses the line feed after a carriage return in a cell if a block of its own ends there.
    """
    if not _is_utf8(block) or _lone_returns(block):
        return False
    if b"\r" in block:
        quotes_before = np.searchsorted(quotes, np.flatnonzero(text == RETURN)) + n_before
        if (quotes_before % 2).any():
            return False
    return _quotes_fit(text, quotes, n_before, separator)


def _quotes_fit(text: Letters, quotes: Places, n_before: int, separator: str) -> bool:
    """True if every quote opens a cell, closes one, or is doubled inside of one."""
    before, after = _ends(f'{separator}\n"'), _ends(f'{separator}\r\n"')
    opening, closing = quotes[n_before % 2 :: 2], quotes[1 - n_before % 2 :: 2]
    inner, last = opening[opening > 0], closing[closing < len(text) - 1]
    return bool(before[text[inner - 1]].all() and after[text[last + 1]].all())


def _ends(characters: str) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """True for the bytes of some characters. Shape (256,)."""
    ends = np.zeros(256, dtype=bool)
    ends[list(characters.encode())] = True
    return ends


def _is_utf8(block: bytes) -> bool:
    if block.isascii():
        return True
    try:
        block.decode()
    except UnicodeDecodeError:
        return False
    return True
