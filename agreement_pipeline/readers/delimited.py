"""Delimited text: as the cells of a table, and as the records of an export.

Arrow reads the cells of text that follows RFC 4180. All other text is read row by row, which is
slow, and finds the row of a mistake.
"""

import csv
from collections.abc import Generator, Iterable, Iterator, Sequence
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.mistakes import shown
from agreement_pipeline.ratings import Limits
from agreement_pipeline.readers.columns import refuse_twice
from agreement_pipeline.readers.files import (
    Steady,
    readable,
    start_of,
    text_of,
)
from agreement_pipeline.text import counted

SEPARATORS = ",\t;|"
SAMPLE = 20
RETURN, QUOTE = b'\r"'
BLOCK_BYTES = 1 << 19
"""What Arrow reads at once. With larger blocks it takes more memory, and more system time."""
AT_ONCE = 8_192
"""How many rows are Python objects at once."""
Places = np.ndarray[Any, np.dtype[np.int64]]


def separator_in(path: Path, usual: str | None = None) -> str:
    """The separator of a file of delimited text: the usual one, if it parts the header.

    Else it is the mark that parts the first rows into equally many cells, if there is one. If no
    mark is usual, it is the one that parts the header into most cells.
    """
    start = start_of(path).decode("utf-8-sig", errors="replace")
    *lines, _ = [*start.splitlines(), ""][: SAMPLE + 1]
    widths = {
        mark: [len(cells) for cells in csv.reader(lines, delimiter=mark) if cells]
        for mark in SEPARATORS
    }
    if usual is None:
        return max(SEPARATORS, key=lambda mark: widths[mark][:1])
    if not lines or not lines[0] or widths[usual][0] != 1:
        return usual
    equal = [mark for mark, found in widths.items() if {*found} == {found[0]} != {1}]
    return max(equal, key=lambda mark: widths[mark], default=usual)


def delimited_rows(path: Path, place: str, errors: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of data as records, each with its number. Blank lines are none."""
    try:
        with path.open(encoding="utf-8-sig", errors=errors, newline="") as file:
            rows = _rows(file, separator_in(path), place)
            _, header = next(rows, (1, []))
            for number, cells in rows:
                if cells:
                    yield number, dict(zip(header, cells, strict=True))
    except UnicodeDecodeError:
        text_of(path.read_bytes(), path.name)
        raise


def _rows(lines: Iterable[str], separator: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """The rows with their numbers, the header first. A blank line has no cells."""
    number = width = 0
    try:
        for number, cells in enumerate(csv.reader(lines, delimiter=separator, strict=True), 1):
            width = len(cells) if number == 1 else width
            if len(cells) not in (0, width):
                raise RatingsError(
                    f"{source}: row {number}: found {counted(len(cells), 'cell')}; expected "
                    f"{width}, as in the header. Complete the row, or quote the cell that holds a "
                    "separator. If it is the last row, the file may be cut off."
                )
            yield number, cells
    except csv.Error as error:
        raise RatingsError(
            f"{source}: row {number + 1}: found text that is not readable as delimited text "
            f"({error}); expected quotes that close, around cells of at most "
            f"{csv.field_size_limit()} characters. "
            "Correct the row, or save the table as JSON Lines."
        ) from None


class Delimited:
    """A file of delimited text.

    Attributes
    ----------
    header
        The names of its columns.
    """

    def __init__(self, path: Path, separator: str, limits: Limits) -> None:
        self._file, self._source, self._separator = Steady.at(path), path.name, separator
        self._look(limits)
        _refuse_no_header(self.header, separator, self._source)
        refuse_twice(self.header, f"{self._source}: row 1")

    def _look(self, limits: Limits) -> None:
        """One pass over the lines: the header, and if Arrow must find the same cells as Python.

        A block of lines at a time is in memory.
        """
        n_lines, self._regular, n_quotes, head = 0, True, 0, b""
        for block in self._file.blocks():
            quotes = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == QUOTE)
            lone_returns = block.count(b"\r") - block.count(b"\r\n")
            is_regular = _is_regular(block, quotes, n_quotes, self._separator)
            self._regular &= is_regular and not lone_returns
            n_lines += block.count(b"\n") + lone_returns
            n_quotes += len(quotes)
            head = head or block
        in_first = head.partition(b"\n")[0].count(QUOTE)
        self._quoted = n_quotes > in_first
        self._regular &= n_quotes % 2 == 0 and in_first % 2 == 0
        rows = _rows(StringIO(head.decode(), newline=""), self._separator, self._source)
        self.header = next(rows, (1, []))[1]
        limits.refuse_beyond("columns", len(self.header), f"{self._source}: row 1", "columns")
        limits.refuse_beyond("rows", n_lines, self._source, "lines")

    def batches(self, names: Sequence[str], _lists: object = ()) -> Iterator[pa.RecordBatch]:
        """Some columns as batches of texts. Only an empty cell is missing."""
        with readable(self._file.path):
            n_rows = (yield from self._by_arrow(names)) if self._regular else 0
        if n_rows is not None:
            yield from self._row_by_row(names, n_rows)
        self._file.refuse_change()

    def _by_arrow(self, names: Sequence[str]) -> Generator[Any, None, int | None]:
        """The columns in batches. It returns after how many rows Arrow cannot go on."""
        from pyarrow import csv as arrow_csv

        n_rows = 0
        reading = arrow_csv.ReadOptions(
            column_names=self.header, skip_rows=1, block_size=BLOCK_BYTES, use_threads=True
        )
        parsing = arrow_csv.ParseOptions(
            delimiter=self._separator,
            quote_char=self._quoted and '"',
            newlines_in_values=self._quoted,
            ignore_empty_lines=False,
        )
        converting = arrow_csv.ConvertOptions(
            check_utf8=False,  # regular lines are UTF-8
            column_types=dict.fromkeys(names, pa.large_string()),
            include_columns=list(dict.fromkeys(names)),
            null_values=[""],
            strings_can_be_null=True,
        )
        try:
            for batch in arrow_csv.open_csv(str(self._file.path), reading, parsing, converting):
                longest = [pc.max(pc.binary_length(each)).as_py() or 0 for each in batch.columns]
                if max(longest) > csv.field_size_limit():
                    return n_rows
                yield batch
                n_rows += batch.num_rows
        except pa.ArrowException:
            return n_rows
        return None

    def _row_by_row(self, names: Sequence[str], start: int) -> Iterator[pa.RecordBatch]:
        """The rows from one on, read by the standard library."""
        text = StringIO(b"".join(self._file.blocks()).decode(), newline="")
        places, blank = [self.header.index(name) for name in names], [""] * len(self.header)
        rows = islice(_rows(text, self._separator, self._source), start + 1, None)
        data = (cells or blank for _, cells in rows)
        while some := list(islice(data, AT_ONCE)):
            columns = [[cells[at] or None for cells in some] for at in places]
            arrays = [pa.array(column, pa.large_string()) for column in columns]
            yield pa.record_batch(arrays, names=list(names))


def _refuse_no_header(header: list[str], separator: str, source: str) -> None:
    if not header:
        raise RatingsError(
            f"{source}: row 1: found a blank line; expected the names of the columns. "
            "Remove the line."
        )
    other = next(
        (mark for mark in ";\t,|" if mark != separator and len(header) == 1 and mark in header[0]),
        None,
    )
    if other:
        raise RatingsError(
            f"{source}: row 1: found one column, {shown(header[0])}, that holds {other!r}; "
            f"expected columns separated by {separator!r}, as in a file of this name. Save it with "
            "that separator, or under the right name (.csv for commas, .tsv for tabs)."
        )


def _is_regular(block: bytes, quotes: Places, n_before: int, separator: str) -> bool:
    """True if lines follow RFC 4180, without a carriage return in a cell.

    Then every quote opens a cell, closes one, or is doubled inside of one. Arrow loses the line
    feed after a carriage return in a cell if a block of its own ends there.
    """
    text = np.frombuffer(block, dtype=np.uint8)
    if b"\r" in block:
        quotes_before = np.searchsorted(quotes, np.flatnonzero(text == RETURN)) + n_before
        if (quotes_before % 2).any():
            return False
    opening, closing = quotes[n_before % 2 :: 2], quotes[1 - n_before % 2 :: 2]
    before = text[opening[opening > 0] - 1]
    after = text[closing[closing < len(text) - 1] + 1]
    return bool(
        np.isin(before, list(f'{separator}\n"'.encode())).all()
        and np.isin(after, list(f'{separator}\r\n"'.encode())).all()
    )
