"""The cells of a table, from a file that is whole: one that is unfinished, cut off or damaged is refused."""

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
from agreement_pipeline.readers.limits import LIMITS, Limits
from agreement_pipeline.text import listed

SEPARATORS = {".csv": ",", ".tsv": "\t"}
JSON_LINES = (".jsonl", ".ndjson")
PARQUET = ".parquet"
ENDINGS = (*SEPARATORS, *JSON_LINES, PARQUET)
UNFINISHED = (".part", ".partial", ".tmp", ".crdownload", ".download", "~")
"""How the names of files end that some program is still writing."""

Records = list[dict[str, object]]


def read_cells(path: Path, limits: Limits = LIMITS) -> pd.DataFrame:
    """Every cell of a table as its file writes it; the index `row` numbers the rows as a person would who opens the file.

    Cells of delimited text and JSON Lines become text, and only an empty cell (or null) is missing. Parquet keeps its types.

    Raises
    ------
    RatingsError
        The file is absent, unfinished, of no known kind, broken, too large, or holds no row.
    """
    refuse_unfinished(path)
    limits.refuse_beyond("file_bytes", path.stat().st_size, path.name, "bytes")
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise RatingsError(
            f"{path.name}: a name ending in {ending!r} found; one of {listed(ENDINGS)} is required. Save the table as one of these."
        )
    if ending == PARQUET:
        frame = _parquet(whole_bytes(path), path.name, limits)
    elif ending in JSON_LINES:
        frame = _json_lines(whole_text(path), path.name, limits)
    else:
        frame = _delimited(whole_text(path), SEPARATORS[ending], path.name, limits)
    if frame.empty:
        raise RatingsError(
            f"{path.name}: no row of data found; at least one rating is required. Check that the export is complete."
        )
    return frame


def refuse_unfinished(path: Path) -> None:
    """Refuse a path that is no file, and a name that says its file is still being written.

    Raises
    ------
    RatingsError
        It is one of these.
    """
    if not path.exists():
        raise RatingsError(f"{path}: no such file found; a table is required. Check the path.")
    if path.is_dir():
        raise RatingsError(
            f"{path}: a folder found; a file is required. Name one of the files in it."
        )
    if not path.is_file():
        raise RatingsError(
            f"{path}: a device, pipe or socket found; a file is required. Save the table as a file."
        )
    if path.name.endswith(UNFINISHED):
        ending = next(ending for ending in UNFINISHED if path.name.endswith(ending))
        raise RatingsError(
            f"{path.name}: a name ending in {ending!r} found, which says it is still being written; a finished file is required. {_WAIT}"
        )


def whole_bytes(path: Path) -> bytes:
    """The bytes of a file that did not change while they were read.

    Raises
    ------
    RatingsError
        It changed, cannot be read, or is empty.
    """
    try:
        before = path.stat()
        data = path.read_bytes()
        after = path.stat()
    except OSError as error:
        raise RatingsError(
            f"{path}: cannot be read ({error.strerror}); a readable file is required. Check its permissions and the disk."
        ) from None
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise RatingsError(
            f"{path.name}: a change found while it was read ({before.st_size} bytes before, {after.st_size} after); a finished file is required. {_WAIT}"
        )
    if not data:
        raise RatingsError(
            f"{path.name}: 0 bytes found; a table with at least one rating is required. Check that the export is complete."
        )
    return data


def whole_text(path: Path) -> str:
    """The text of a file that did not change while it was read, without a byte order mark.

    Raises
    ------
    RatingsError
        It changed, cannot be read, is empty or blank, is not UTF-8, or holds a NUL byte.
    """
    data = whole_bytes(path)
    if b"\0" in data:
        row = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise RatingsError(
            f"{path.name}: line {row}: a NUL byte found; text is required. Save it as UTF-8 text (it may be UTF-16, or damaged)."
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        raise RatingsError(
            f"{path.name}: line {row}: byte 0x{data[error.start]:02x} found, which is not UTF-8; UTF-8 text is required. Save the table as UTF-8."
        ) from None
    if not text.strip():
        raise RatingsError(
            f"{path.name}: nothing but blanks found; a table with at least one rating is required. Check that the export is complete."
        )
    return text


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
            f"{source}: row {row}: not readable as delimited text ({error}); "
            f"quotes that close, around cells of at most {csv.field_size_limit()} characters, are required. "
            "Correct the row, or save the table as JSON Lines."
        ) from None


def _refuse_no_header(header: list[str], separator: str, source: str) -> None:
    if not header:
        raise RatingsError(
            f"{source}: row 1: a blank line found; the names of the columns are required. Remove the line."
        )
    other = next(
        (mark for mark in ";\t,|" if mark != separator and len(header) == 1 and mark in header[0]),
        None,
    )
    if other:
        raise RatingsError(
            f"{source}: row 1: one column found, {header[0]!r}, that holds {other!r}; columns separated by {separator!r} are required by the file's name. "
            "Save it with that separator, or with the ending of its own (.csv for commas, .tsv for tabs)."
        )


def _of_one_width(rows: Iterator[list[str]], width: int, source: str) -> Iterator[list[str]]:
    """The rows of data; a blank line is a row of missing cells, so that the numbers of the rows stay right."""
    for number, cells in enumerate(rows, 2):
        if not cells:
            yield [""] * width
        elif len(cells) != width:
            raise RatingsError(
                f"{source}: row {number}: {len(cells)} cells found; {width} are required, as in the header. "
                "Complete the row, or quote the cell that holds a separator; if it is the last row, the file may be cut off."
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
                f"{where}: a last line that is cut off found ({error}); a JSON object is required in every line. {_WAIT}"
            ) from None
        raise RatingsError(
            f"{where}: not readable as JSON ({error}); a JSON object is required in every line. Correct the line."
        ) from None
    if not isinstance(found, dict):
        raise RatingsError(
            f"{where}: {line.strip()[:40]!r} found; a JSON object is required in every line. Write one object a rating, each on its own line."
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
            f"{where}: half a character ({half}) found; whole ones are required. Export the table again, as UTF-8."
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
            name: _told(column)
            for name, column in zip(table.column_names, table.columns, strict=True)
        }
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise RatingsError(
            f"{source}: not a whole Parquet file found ({str(error).splitlines()[0]}); a finished one is required. {_WAIT}"
        ) from None
    return _numbered(pd.DataFrame(columns), first=1)


def _refuse_large(metadata: Any, source: str, limits: Limits) -> None:
    """A small Parquet file may hold a large table: what it says of itself is read before anything in it is."""
    expanded = sum(
        metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups)
    )
    limits.refuse_beyond("columns", metadata.num_columns, source, "columns")
    limits.refuse_beyond("rows", metadata.num_rows, source, "rows")
    limits.refuse_beyond("file_bytes", expanded, source, "bytes once expanded")


def _told(column: Any) -> pd.Series:
    """An Arrow column, in which NaN is a number that went wrong and None a missing one: pandas alone would take both as missing."""
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
            f"{where}: columns {listed(twice)} found twice; each is required once. Rename or remove one."
        )


def _numbered(frame: pd.DataFrame, *, first: int) -> pd.DataFrame:
    return frame.set_axis(pd.RangeIndex(first, first + len(frame), name="row"))


_WAIT = "Wait until it is complete, or export it again."
