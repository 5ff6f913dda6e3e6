"""Delimited text: as the cells of a table, and as the records of an export.

Arrow reads the cells of text that follows RFC 4180. All other text is read row by row, which is
slow, and finds the row of a mistake.
"""

import csv
import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.mistakes import value_in_message
from agreement_pipeline.ratings import Codes, Limits
from agreement_pipeline.readers.columns import (
    COLUMNS,
    LATER_HEADER_HINT,
    Columns,
    refuse_repeated_names,
)
from agreement_pipeline.readers.files import (
    StableFile,
    count_line_feeds,
    open_text,
    read_first_bytes,
    refusing_read_errors,
)
from agreement_pipeline.text import counted

SEPARATORS = ",\t;|"
SAMPLE_LINES = 20
RETURN, QUOTE = b'\r"'
BLOCK_BYTES = 1 << 19
"""With larger blocks Arrow takes more memory, and more system time."""
BATCH_ROWS = 8_192


def detect_separator(
    path: Path, default: str | None = None, format_columns: Columns = COLUMNS
) -> str:
    """The usual separator, if it parts the header.

    Else it is the mark that parts most rows as the header, or the header into most cells.
    """
    start = (
        read_first_bytes(path)
        .decode(format_columns.encoding, errors="replace")
        .removeprefix("\ufeff")
    )
    below = "\n".join(start.split("\n")[format_columns.header_row - 1 :])
    *lines, _ = [*re.split("\r\n|\r|\n", below.rstrip("\r\n")), ""][: SAMPLE_LINES + 1]
    widths = {
        mark: [len(cells) for cells in csv.reader(lines, delimiter=mark) if cells]
        for mark in SEPARATORS
    }
    if default is None:
        return max(SEPARATORS, key=lambda mark: widths[mark][:1])
    if not lines or not lines[0] or widths[default][0] != 1:
        return default
    alike = {
        mark: row_widths.count(row_widths[0])
        for mark, row_widths in widths.items()
        if row_widths[0] > 1
    }
    mark = max(alike, key=lambda mark: (alike[mark], widths[mark]), default=default)
    return mark if 2 * alike.get(mark, 0) >= len(widths[mark]) else default


def has_separator_line(path: Path, columns: Columns = COLUMNS) -> bool:
    """True if the first line only names the separator (`sep=;`), as Excel reads and writes it."""
    start = read_first_bytes(path).decode(columns.encoding, errors="replace").removeprefix("\ufeff")
    return re.match("sep=[^\r\n]\r?\n", start) is not None


def skip_separator_line(path: Path, columns: Columns) -> Columns:
    """The columns of a table whose header stands under a line that names the separator."""
    is_above = columns.header_row == 1 and has_separator_line(path, columns)
    return replace(columns, header_row=2) if is_above else columns


def read_delimited_rows(
    path: Path, place: str, errors: str
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows below the header, numbered, as records."""
    with open_text(path, place, errors) as file:
        columns = skip_separator_line(path, COLUMNS)
        for _ in range(1, columns.header_row):
            next(file)
        rows = _parse_delimited_rows(
            file, detect_separator(path, format_columns=columns), place, columns.header_row
        )
        _, header = next(rows, (1, []))
        for number, cells in rows:
            if cells:
                yield number, dict(zip(header, cells, strict=True))


def _parse_delimited_rows(
    lines: Iterable[str], separator: str, source: str, first_row: int = 1
) -> Iterator[tuple[int, list[str]]]:
    number, width = first_row - 1, 0
    try:
        for number, cells in enumerate(
            csv.reader(lines, delimiter=separator, strict=True), first_row
        ):
            width = len(cells) if number == first_row else width
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
    def __init__(
        self, path: Path, default_separator: str, limits: Limits, columns: Columns
    ) -> None:
        self._source, self._first = path.name, columns.header_row
        self._file = StableFile.at_path(path, columns.encoding, n_skipped_lines=self._first - 1)
        self._separator = detect_separator(path, default_separator, columns)
        self._read_header_and_check(limits)
        place = f"{self._source}: row {self._first}"
        if not self.header:
            raise RatingsError(
                f"{place}: found a blank line; expected the names of the columns. Remove the line."
            )
        first_column, *other_columns = self.header
        marks = ";\t,|".replace(self._separator, "")
        if not other_columns and (
            mark := next((candidate for candidate in marks if candidate in first_column), None)
        ):
            raise RatingsError(
                f"{place}: found one column, {value_in_message(first_column)}, that holds "
                f"{mark!r}; expected "
                f"columns separated by {self._separator!r}, as in a file of this name. Save it "
                "with that separator, or under the right name (.csv for commas, .tsv for tabs)"
                f"{LATER_HEADER_HINT}."
            )
        refuse_repeated_names(self.header, place)

    def _read_header_and_check(self, limits: Limits) -> None:
        start = read_first_bytes(self._file.path).decode(self._file.encoding, errors="replace")
        if self._first > 1 and "\r" in start and "\n" not in start:
            raise RatingsError(
                f"{self._source}: found lines that end in a carriage return alone; expected line "
                f"feeds, so that row {self._first} can be told. Save the file with them."
            )
        above = start.split("\n")[:-1][: self._first - 1]
        # Arrow takes a carriage return for the end of a line that is not read.
        can_skip_lines = len(above) == self._first - 1 and not any(
            "\r" in line[:-1] for line in above
        )
        n_lines, self._regular, n_quotes, head = 0, can_skip_lines, 0, b""
        for block in self._file.iterate_blocks():
            quotes = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == QUOTE)
            lone_returns = block.count(b"\r") - block.count(b"\r\n") if b"\r" in block else 0
            is_regular = _has_regular_quotes(block, quotes, n_quotes, self._separator)
            self._regular &= is_regular and not lone_returns
            n_lines += count_line_feeds(block) + lone_returns
            n_quotes += len(quotes)
            head = head or block
        in_first = head.partition(b"\n")[0].count(QUOTE)
        self._quoted = n_quotes > in_first
        self._regular &= n_quotes % 2 == 0 and in_first % 2 == 0
        self.header = next(self._parse_block(head), (1, []))[1]
        place = f"{self._source}: row {self._first}"
        limits.refuse_beyond("columns", len(self.header), place, "columns")
        limits.refuse_beyond("rows", n_lines, self._source, "lines")

    def _parse_block(self, data: bytes) -> Iterator[tuple[int, list[str]]]:
        text = StringIO(data.decode(), newline="")
        return _parse_delimited_rows(text, self._separator, self._source, self._first)

    def iterate_batches(
        self, names: Sequence[str], _lists: object = ()
    ) -> Iterator[pa.RecordBatch]:
        with refusing_read_errors(self._file.path):
            n_rows = (yield from self._iterate_batches_by_arrow(names)) if self._regular else 0
        if n_rows is not None:
            places, blank = [self.header.index(name) for name in names], [""] * len(self.header)
            rows = islice(
                self._parse_block(b"".join(self._file.iterate_blocks())), n_rows + 1, None
            )
            data = (cells or blank for _, cells in rows)
            while batch := list(islice(data, BATCH_ROWS)):
                columns = [[cells[place] or None for cells in batch] for place in places]
                arrays = [pa.array(column, pa.large_string()) for column in columns]
                yield pa.record_batch(arrays, names=list(names))
        self._file.refuse_change()

    def _iterate_batches_by_arrow(self, names: Sequence[str]) -> Generator[Any, None, int | None]:
        """It returns after how many rows Arrow cannot go on."""
        from pyarrow import csv as arrow_csv

        n_rows = 0
        reading = arrow_csv.ReadOptions(
            column_names=self.header,
            skip_rows=self._first,
            block_size=BLOCK_BYTES,
            use_threads=True,
            encoding=self._file.encoding,
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
            text = pa.OSFile(str(self._file.path))  # Arrow would unpack what is called a.csv.gz
            for batch in arrow_csv.open_csv(text, reading, parsing, converting):
                longest = [
                    pc.max(pc.binary_length(column)).as_py() or 0 for column in batch.columns
                ]
                if max(longest) > csv.field_size_limit():
                    return n_rows
                yield batch
                n_rows += batch.num_rows
        except pa.ArrowException:
            return n_rows
        return None


def _has_regular_quotes(block: bytes, quotes: Codes, n_before: int, separator: str) -> bool:
    """Every quote opens a cell, closes one, or is doubled inside of one, as in RFC 4180.

    Arrow loses the line feed after a carriage return in a cell if a block of its own ends there.
    """
    text = np.frombuffer(block, dtype=np.uint8)
    if b"\r" in block:
        quotes_before = np.searchsorted(quotes, np.flatnonzero(text == RETURN)) + n_before
        if (quotes_before % 2).any():
            return False
    opening, closing = quotes[n_before % 2 :: 2], quotes[1 - n_before % 2 :: 2]
    before_opening = text[opening[opening > 0] - 1]
    after_closing = text[closing[closing < len(text) - 1] + 1]
    return bool(
        np.isin(before_opening, list(f'{separator}\n"'.encode())).all()
        and np.isin(after_closing, list(f'{separator}\r\n"'.encode())).all()
    )
