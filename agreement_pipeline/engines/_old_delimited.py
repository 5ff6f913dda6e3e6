"""The cells of delimited text.

Arrow reads text that follows RFC 4180. All other text is read row by row, which is slow, and finds
the row of a mistake.
"""

import csv
from collections.abc import Generator, Iterable, Iterator, Sequence
from io import BytesIO, StringIO
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.mistakes import shown
from agreement_pipeline.ratings import TEXT, in_pandas
from agreement_pipeline.readers.columns import refuse_twice
from agreement_pipeline.readers.files import Steady, readable, text_bytes, text_of
from agreement_pipeline.readers.limits import Limits
from agreement_pipeline.readers.lines import Lines, lines_of
from agreement_pipeline.text import counted

BLOCK_BYTES = 1 << 19
"""What Arrow reads at once. With larger blocks it takes more memory, and more system time."""
MANY, ROWS_A_TEXT = 1_000, 16
"""A column of many rows comes in codes if its first block has so many rows for each text."""


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

    def read(self, names: Sequence[str]) -> pd.DataFrame:
        """Some columns as text. Only an empty cell is missing."""
        with readable(self._file.path):
            fast = _read_by_arrow(self._file.path, self._lines, self.header, names)
        found = self._row_by_row()[list(names)] if fast is None else fast
        self._file.refuse_change()
        return found

    def parts(self, names: Sequence[str]) -> Iterator[Any]:
        """The same columns as Arrow batches of text, some rows at a time."""
        with readable(self._file.path):
            n_rows = yield from _by_arrow_in_parts(self._file.path, self._lines, self.header, names)
        if n_rows is not None:
            yield from _in_batches(self._row_by_row()[list(names)].iloc[n_rows:])
        self._file.refuse_change()

    def _row_by_row(self) -> pd.DataFrame:
        text = text_of(text_bytes(self._file.path), self._source)
        rows = _rows(_reader(text, self._lines.separator), self._source)
        width = len(next(rows))
        cells = list(chain.from_iterable(_of_one_width(rows, width, self._source)))
        return pd.DataFrame({name: _texts(cells[at::width]) for at, name in enumerate(self.header)})


def _header(lines: Lines, path: Path) -> list[str]:
    """The cells of the first row, which may span several lines."""
    line = lines.first
    spans = line.count(b'"') % 2 or b"\r" in line.rstrip(b"\n")[:-1]
    text = text_of(text_bytes(path) if spans else line, path.name)
    return next(_rows(_reader(text, lines.separator), path.name), [])


def _reader(text: str, separator: str) -> Iterable[list[str]]:
    return csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True)


def _read_by_arrow(
    path: Path, lines: Lines, header: Sequence[str], names: Sequence[str]
) -> pd.DataFrame | None:
    """The columns, or None if the text must be read row by row. Few texts come in codes."""
    import pyarrow as pa

    if not lines.regular:
        return None
    try:
        table = _cells(str(path), lines, header, _types(lines, header, names))
    except (pa.ArrowException, UnicodeDecodeError):
        return None
    table = table.unify_dictionaries()
    long = any(_longest(column) > csv.field_size_limit() for column in table.columns)
    return None if long else in_pandas(table, split_blocks=True, self_destruct=True)


def _by_arrow_in_parts(
    path: Path, lines: Lines, header: Sequence[str], names: Sequence[str]
) -> Generator[Any, None, int | None]:
    """The columns in batches. It returns after how many rows the text must be read row by row."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    n_rows = 0
    if not lines.regular:
        return n_rows
    texts = dict.fromkeys(names, pa.large_string())
    try:
        for batch in arrow_csv.open_csv(str(path), *_options(lines, header, texts)):
            if any(_longest(pa.chunked_array([each])) > csv.field_size_limit() for each in batch):
                return n_rows
            yield batch
            n_rows += batch.num_rows
    except pa.ArrowException:
        return n_rows
    return None


def _in_batches(frame: pd.DataFrame) -> Iterator[Any]:
    import pyarrow as pa

    texts = pa.schema([(name, pa.large_string()) for name in frame])
    yield from pa.Table.from_pandas(frame, texts, preserve_index=False).to_batches()


def _cells(
    source: BytesIO | str, lines: Lines, header: Sequence[str], types: dict[str, Any]
) -> Any:
    """Some columns of a text of regular lines, as an Arrow table."""
    from pyarrow import csv as arrow_csv

    return arrow_csv.read_csv(source, *_options(lines, header, types))


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


def _types(lines: Lines, header: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
    """How each column is read: as texts, or as codes if its first rows have few texts."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = dict.fromkeys(names, pa.large_string())
    ends_in_a_cell = lines.head.count(b'"') % 2
    if lines.count < MANY or ends_in_a_cell:
        return texts
    first = _cells(BytesIO(lines.head), lines, header, texts)
    codes, few = pa.dictionary(pa.int32(), pa.large_string()), len(first) // ROWS_A_TEXT
    repeated = {name for name in names if pc.count_distinct(first[name]).as_py() < few}
    return {name: codes if name in repeated else kind for name, kind in texts.items()}


def _longest(column: Any) -> int:
    """The bytes of the longest cell."""
    import pyarrow as pa
    import pyarrow.compute as pc

    coded = pa.types.is_dictionary(column.type)
    parts = [each.dictionary for each in column.chunks] if coded else column.chunks
    return max((pc.max(pc.binary_length(each)).as_py() or 0 for each in parts), default=0)


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
        if not cells:
            yield [""] * width
        elif len(cells) != width:
            raise RatingsError(
                f"{source}: row {number}: found {counted(len(cells), 'cell')}; expected {width}, "
                "as in the header. Complete the row, or quote the cell that holds a separator. If "
                "it is the last row, the file may be cut off."
            )
        else:
            yield cells


def _texts(cells: list[str]) -> pd.Series:
    texts: pd.Series = pd.Series(cells, dtype=TEXT)
    return texts.mask(texts == "")
