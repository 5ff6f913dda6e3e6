"""The cells of a table, from a whole file or a DataFrame."""

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from io import StringIO
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import category_text
from agreement_pipeline.readers.files import WAIT, whole_bytes, whole_text
from agreement_pipeline.readers.limits import Limits
from agreement_pipeline.text import listed

SEPARATORS = {".csv": ",", ".tsv": "\t"}
JSON_LINES = (".jsonl", ".ndjson")
PARQUET = ".parquet"
SUFFIXES = (*SEPARATORS, *JSON_LINES, PARQUET)

Records = list[dict[str, object]]


def file_cells(path: Path, limits: Limits) -> pd.DataFrame:
    """Every cell of a table, as its file writes it.

    The index `row` numbers the rows as an editor or a spreadsheet does. Cells of delimited text and
    JSON Lines become text. Only an empty cell or null is missing. Parquet keeps its types.

    Raises
    ------
    RatingsError
        The file is broken or too large, or it holds no row.
    """
    limits.refuse_beyond("file_bytes", path.stat().st_size, path.name, "bytes")
    ending = path.suffix.lower()
    if ending == PARQUET:
        frame = _parquet(whole_bytes(path), path.name, limits)
    elif ending in JSON_LINES:
        frame = _json_lines(whole_text(path), path.name, limits)
    else:
        frame = _delimited(whole_text(path), SEPARATORS[ending], path.name, limits)
    _refuse_no_row(frame, path.name)
    return frame


def frame_cells(table: pd.DataFrame, source: str, limits: Limits) -> pd.DataFrame:
    """Every cell of a DataFrame, with the rows numbered from 1; None, NaN and `pd.NA` are missing.

    Raises
    ------
    RatingsError
        The frame is too large, has a column twice, or holds no row.
    """
    names = [str(name) for name in table.columns]
    limits.refuse_beyond("columns", len(names), source, "columns")
    limits.refuse_beyond("rows", len(table), source, "rows")
    _refuse_twice(names, source)
    _refuse_no_row(table, source)
    columns = {
        name: _missing_as_none(table.iloc[:, at].reset_index(drop=True))
        for at, name in enumerate(names)
    }
    return _numbered(pd.DataFrame(columns), first=1)


def _missing_as_none(column: pd.Series) -> pd.Series:
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.dtype.categories.dtype)
    return column.where(column.notna(), None) if column.dtype == object else column


def _refuse_no_row(frame: pd.DataFrame, source: str) -> None:
    if frame.empty:
        raise RatingsError(
            f"{source}: found no row of data; expected at least one rating. "
            "Check that the export is complete."
        )


def _delimited(text: str, separator: str, source: str, limits: Limits) -> pd.DataFrame:
    reader = csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True)
    rows = _rows(reader, source)
    header = next(rows)
    limits.refuse_beyond("columns", len(header), f"{source}: row 1", "columns")
    limits.refuse_beyond(
        "rows", text.count("\n") + text.count("\r") - text.count("\r\n"), source, "lines"
    )
    _refuse_no_header(header, separator, source)
    _refuse_twice(header, f"{source}: row 1")
    cells = list(chain.from_iterable(_of_one_width(rows, len(header), source)))
    width = len(header)
    frame = pd.DataFrame({name: _texts(cells[at::width]) for at, name in enumerate(header)})
    return _numbered(frame, first=2)


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


def _json_lines(text: str, source: str, limits: Limits) -> pd.DataFrame:
    limits.refuse_beyond("rows", text.count("\n"), source, "lines")
    lines = text.rstrip().split("\n")
    records: Records = [
        _record(line, row, row == len(lines), source) for row, line in enumerate(lines, 1)
    ]
    names = dict.fromkeys(chain.from_iterable(records))
    limits.refuse_beyond("columns", len(names), source, "columns")
    columns = {
        name: pd.Series([record.get(name) for record in records], dtype=object) for name in names
    }
    return _numbered(pd.DataFrame(columns), first=1)


def _record(line: str, row: int, last: bool, source: str) -> dict[str, object]:
    if not line.strip():
        return {}
    where = f"{source}: row {row}"
    try:
        found = json.loads(
            line,
            object_pairs_hook=lambda pairs: _pairs(pairs, where),
            parse_int=str,
            parse_float=_float_text,
            parse_constant=str,
        )
    except (json.JSONDecodeError, RecursionError) as error:
        if last:
            raise RatingsError(
                f"{where}: found a last line that is cut off ({error}); expected a JSON object in "
                f"every line. {WAIT}"
            ) from None
        raise RatingsError(
            f"{where}: found text that is not readable as JSON ({error}); expected a JSON object "
            "in every line. Correct the line."
        ) from None
    if not isinstance(found, dict):
        raise RatingsError(
            f"{where}: found {line.strip()[:40]!r}; expected a JSON object in every line. "
            "Write one object a rating, each on its own line."
        )
    return found


def _pairs(pairs: list[tuple[str, Any]], where: str) -> dict[str, object]:
    _refuse_twice([name for name, _ in pairs], where)
    for name, _ in pairs:
        _refuse_half_characters(name, where)
    return {name: _cell(value, where) for name, value in pairs}


def _cell(value: object, where: str) -> object:
    if isinstance(value, str):
        _refuse_half_characters(value, where)
        return value or None
    return category_text(value) if isinstance(value, bool) else value


def _refuse_half_characters(text: str, where: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = f"\\u{ord(text[error.start]):04x}"
        raise RatingsError(
            f"{where}: found half a character ({half}); expected whole characters. "
            "Export the table again, as UTF-8."
        ) from None


def _float_text(written: str) -> str:
    return category_text(float(written))


def _parquet(data: bytes, source: str, limits: Limits) -> pd.DataFrame:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        _refuse_large(file.metadata, source, limits)
        _refuse_twice(file.schema_arrow.names, source)
        table = file.read()
        table.validate(full=True)
        columns = {
            name: _apart(column)
            for name, column in zip(table.column_names, table.columns, strict=True)
        }
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise RatingsError(
            f"{source}: found no whole Parquet file ({str(error).splitlines()[0]}); expected a "
            f"finished one. {WAIT}"
        ) from None
    return _numbered(pd.DataFrame(columns), first=1)


def _refuse_large(metadata: Any, source: str, limits: Limits) -> None:
    """Refuse by the file's own metadata: a small Parquet file can hold a large table."""
    expanded = sum(
        metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups)
    )
    limits.refuse_beyond("columns", metadata.num_columns, source, "columns")
    limits.refuse_beyond("rows", metadata.num_rows, source, "rows")
    limits.refuse_beyond("file_bytes", expanded, source, "bytes once expanded")


def _apart(column: Any) -> pd.Series:
    """An Arrow column in which NaN and None stay apart.

    NaN is a failed calculation; None is a missing value. pandas alone would read both as missing.
    """
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    values: pd.Series = column.to_pandas(integer_object_nulls=True)
    missing = column.is_null().to_numpy()
    if not pa.types.is_floating(column.type) or not (np.isnan(values) & ~missing).any():
        return values
    return values.astype(object).mask(missing, None)


def _refuse_twice(names: list[str], where: str) -> None:
    if len(set(names)) < len(names):
        twice = sorted(name for name, times in Counter(names).items() if times > 1)
        raise RatingsError(
            f"{where}: found columns {listed(twice)} twice; expected each once. "
            "Rename or remove one."
        )


def _numbered(frame: pd.DataFrame, *, first: int) -> pd.DataFrame:
    return frame.set_axis(pd.RangeIndex(first, first + len(frame), name="row"))
