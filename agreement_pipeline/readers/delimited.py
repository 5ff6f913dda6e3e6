"""The cells of delimited text.

Arrow reads text that follows RFC 4180 and has no blank line. All other text is read row by row,
which is slow, and finds the row of a mistake.
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO, StringIO
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers.files import text_bytes, text_of
from agreement_pipeline.readers.limits import Limits
from agreement_pipeline.readers.twice import refuse_twice

QUOTE = ord('"')
BLOCK_BYTES = 4_000_000


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
        self._data, self._separator, self._source = text_bytes(path), separator, path.name
        self.header = _header(self._data, separator, self._source)
        limits.refuse_beyond("columns", len(self.header), f"{self._source}: row 1", "columns")
        limits.refuse_beyond("rows", _n_lines(self._data), self._source, "lines")
        _refuse_no_header(self.header, separator, self._source)
        refuse_twice(self.header, f"{self._source}: row 1")

    def read(self, names: Sequence[str]) -> pd.DataFrame:
        """Some columns as text. Only an empty cell is missing."""
        fast = _read_by_arrow(self._data, self.header, names, self._separator)
        return self._row_by_row()[list(names)] if fast is None else fast

    def _row_by_row(self) -> pd.DataFrame:
        rows = _rows(_reader(text_of(self._data, self._source), self._separator), self._source)
        width = len(next(rows))
        cells = list(chain.from_iterable(_of_one_width(rows, width, self._source)))
        return pd.DataFrame({name: _texts(cells[at::width]) for at, name in enumerate(self.header)})


def _header(data: bytes, separator: str, source: str) -> list[str]:
    """The cells of the first row, which may span several lines."""
    line = data[: data.find(b"\n") + 1 or len(data)].rstrip(b"\n")
    text = text_of(data if line.count(b'"') % 2 or b"\r" in line[:-1] else line, source)
    return next(_rows(_reader(text, separator), source), [])


def _n_lines(data: bytes) -> int:
    returns = data.count(b"\r") - data.count(b"\r\n") if b"\r" in data else 0
    return data.count(b"\n") + returns


def _reader(text: str, separator: str) -> Iterable[list[str]]:
    return csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True)


def _read_by_arrow(
    data: bytes, header: Sequence[str], names: Sequence[str], separator: str
) -> pd.DataFrame | None:
    """The columns, or None if the text must be read row by row."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    if not _is_regular(data, separator):
        return None
    try:
        table = arrow_csv.read_csv(
            BytesIO(data),
            arrow_csv.ReadOptions(
                column_names=list(header), skip_rows=1, block_size=BLOCK_BYTES, use_threads=True
            ),
            arrow_csv.ParseOptions(
                delimiter=separator, newlines_in_values=QUOTE in data, ignore_empty_lines=False
            ),
            arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.large_string()),
                include_columns=list(names),
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
    except (pa.ArrowException, UnicodeDecodeError):
        return None
    return None if _has_long_cell(table) else table.to_pandas()


def _is_regular(data: bytes, separator: str) -> bool:
    """True if Arrow and Python's reader must find the same cells."""
    if b"\n\n" in data or (b"\r" in data and not _returns_are_regular(data)):
        return False
    return (QUOTE not in data or _quotes_are_regular(data, separator)) and _is_utf8(data)


def _returns_are_regular(data: bytes) -> bool:
    """True if a line feed follows every carriage return, and no line is blank."""
    return b"\n\r\n" not in data and data.count(b"\r") == data.count(b"\r\n")


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _quotes_are_regular(data: bytes, separator: str) -> bool:
    """True if every quote opens a cell, closes one, or is doubled inside of one."""
    text = np.frombuffer(data, dtype=np.uint8)
    before, after = _ends(f'{separator}\n"'), _ends(f'{separator}\r\n"')
    n_before = 0
    for start in range(0, len(text), BLOCK_BYTES):
        at = start + np.flatnonzero(text[start : start + BLOCK_BYTES] == QUOTE)
        opening, closing = at[n_before % 2 :: 2], at[1 - n_before % 2 :: 2]
        n_before += len(at)
        inner, last = opening[opening > 0], closing[closing < len(text) - 1]
        if not (before[text[inner - 1]].all() and after[text[last + 1]].all()):
            return False
    return n_before % 2 == 0


def _ends(characters: str) -> NDArray[np.bool_]:
    """True for the bytes of some characters. Shape (256,)."""
    ends = np.zeros(256, dtype=bool)
    ends[list(characters.encode())] = True
    return ends


def _has_long_cell(table: Any) -> bool:
    """True if a cell is longer than Python's reader allows."""
    import pyarrow.compute as pc

    longest = (pc.max(pc.binary_length(column)).as_py() or 0 for column in table.columns)
    return max(longest, default=0) > csv.field_size_limit()


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
            f"{source}: row 1: found one column, {header[0]!r}, that holds {other!r}; expected "
            f"columns separated by {separator!r}, as the file's name says. Save it with that "
            "separator, or under the right name (.csv for commas, .tsv for tabs)."
        )


def _of_one_width(rows: Iterator[list[str]], width: int, source: str) -> Iterator[list[str]]:
    """The rows of data. A blank line is a row of missing cells, so later rows keep their number."""
    for number, cells in enumerate(rows, 2):
        if not cells:
            yield [""] * width
        elif len(cells) != width:
            raise RatingsError(
                f"{source}: row {number}: found {len(cells)} cells; expected {width}, as in the "
                "header. Complete the row, or quote the cell that holds a separator. If it is the "
                "last row, the file may be cut off."
            )
        else:
            yield cells


def _texts(cells: list[str]) -> pd.Series:
    texts = pd.Series(cells, dtype="str")
    return texts.mask(texts == "")
