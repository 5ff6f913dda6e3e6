"""The cells of delimited text.

Arrow reads text that follows RFC 4180. All other text is read row by row, which is slow, and finds
the row of a mistake.
"""

import csv
from collections.abc import Generator, Iterable, Iterator, Sequence
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.mistakes import shown
from agreement_pipeline.ratings import Limits
from agreement_pipeline.readers.columns import refuse_twice
from agreement_pipeline.readers.files import Steady, readable, text_bytes, text_of
from agreement_pipeline.readers.lines import Lines, lines_of
from agreement_pipeline.text import counted

BLOCK_BYTES = 1 << 19
"""What Arrow reads at once. With larger blocks it takes more memory, and more system time."""
AT_ONCE = 8_192
"""How many rows are Python objects at once."""


class Delimited:
    """A file of delimited text.

    Attributes
    ----------
    header
        The names of its columns.

    Raises
    ------
    RatingsError
        The file is broken or too large.
    """

    def __init__(self, path: Path, separator: str, limits: Limits) -> None:
        self._file, self._source = Steady.at(path), path.name
        self._lines = lines_of(path, separator)
        self.header = _header(self._lines, path)
        limits.refuse_beyond("columns", len(self.header), f"{self._source}: row 1", "columns")
        limits.refuse_beyond("rows", self._lines.count, self._source, "lines")
        _refuse_no_header(self.header, separator, self._source)
        refuse_twice(self.header, f"{self._source}: row 1")
        self._file.refuse_change()

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Some columns as batches of texts. Only an empty cell is missing."""
        with readable(self._file.path):
            n_rows = yield from _by_arrow(self._file.path, self._lines, self.header, names)
        if n_rows is not None:
            yield from self._row_by_row(names, n_rows)
        self._file.refuse_change()

    def _row_by_row(self, names: Sequence[str], start: int) -> Iterator[pa.RecordBatch]:
        """The rows from one on, read by the standard library."""
        text = text_of(text_bytes(self._file.path), self._source)
        rows = _rows(_reader(text, self._lines.separator), self._source)
        places = [self.header.index(name) for name in names]
        width = len(next(rows))
        data = islice(_of_one_width(rows, width, self._source), start, None)
        while some := list(islice(data, AT_ONCE)):
            columns = [[cells[at] or None for cells in some] for at in places]
            arrays = [pa.array(column, pa.large_string()) for column in columns]
            yield pa.record_batch(arrays, names=list(names))


def _header(lines: Lines, path: Path) -> list[str]:
    """The cells of the first row, which may span several lines."""
    line = lines.first
    spans = line.count(b'"') % 2 or b"\r" in line.rstrip(b"\n")[:-1]
    text = text_of(text_bytes(path) if spans else line, path.name)
    return next(_rows(_reader(text, lines.separator), path.name), [])


def _reader(text: str, separator: str) -> Iterable[list[str]]:
    return csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True)


def _by_arrow(
    path: Path, lines: Lines, header: Sequence[str], names: Sequence[str]
) -> Generator[Any, None, int | None]:
    """The columns in batches. It returns after how many rows the text must be read row by row."""
    from pyarrow import csv as arrow_csv

    n_rows = 0
    if not lines.regular:
        return n_rows
    texts = dict.fromkeys(names, pa.large_string())
    try:
        for batch in arrow_csv.open_csv(str(path), *_options(lines, header, texts)):
            if any(_longest(each) > csv.field_size_limit() for each in batch.columns):
                return n_rows
            yield batch
            n_rows += batch.num_rows
    except pa.ArrowException:
        return n_rows
    return None


def _options(lines: Lines, header: Sequence[str], types: dict[str, Any]) -> tuple[Any, Any, Any]:
    """How Arrow reads some columns of a text of regular lines."""
    from pyarrow import csv as arrow_csv

    return (
        arrow_csv.ReadOptions(
            column_names=list(header), skip_rows=1, block_size=BLOCK_BYTES, use_threads=True
        ),
        arrow_csv.ParseOptions(
            delimiter=lines.separator,
            quote_char=lines.quoted and '"',
            newlines_in_values=lines.quoted,
            ignore_empty_lines=False,
        ),
        arrow_csv.ConvertOptions(
            check_utf8=False,  # regular lines are UTF-8
            column_types=types,
            include_columns=list(types),
            null_values=[""],
            strings_can_be_null=True,
        ),
    )


def _longest(column: pa.Array) -> int:
    """The bytes of the longest cell."""
    if not len(column):
        return 0
    ends = np.frombuffer(column.buffers()[1], np.int64, len(column) + 1, column.offset * 8)
    return int(np.diff(ends).max())


def _rows(reader: Iterable[list[str]], source: str) -> Iterator[list[str]]:
    row = 1
    try:
        for cells in reader:
            yield cells
            row += 1
    except csv.Error as error:
        raise RatingsError(
            f"{source}: row {row}: found text that is not readable as delimited text ({error}); "
            "expected quotes that close, around cells of at most "
            f"{csv.field_size_limit()} characters. "
            "Correct the row, or save the table as JSON Lines."
        ) from None


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


def _of_one_width(rows: Iterator[list[str]], width: int, source: str) -> Iterator[list[str]]:
    """The rows of data. A blank line is a row of missing cells, so later rows keep their number."""
    for number, cells in enumerate(rows, 2):
        if cells and len(cells) != width:
            raise RatingsError(
                f"{source}: row {number}: found {counted(len(cells), 'cell')}; expected {width}, "
                "as in the header. Complete the row, or quote the cell that holds a separator. If "
                "it is the last row, the file may be cut off."
            )
        yield cells or [""] * width
