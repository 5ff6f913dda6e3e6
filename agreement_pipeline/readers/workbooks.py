"""The sheets of workbooks: those of Excel by openpyxl, and those of OpenDocument (.ods)."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from io import BytesIO
from itertools import islice, repeat
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple
from zipfile import ZipFile

import pyarrow as pa

from agreement_pipeline.errors import MissingExtraError, RatingsError
from agreement_pipeline.mistakes import shown
from agreement_pipeline.ratings import Limits, category_text
from agreement_pipeline.readers.columns import Columns, refuse_twice
from agreement_pipeline.readers.files import DAMAGED, OF_EXCEL_97, start_of
from agreement_pipeline.text import listed

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

Cells = Mapping[int, object]
Area = tuple[int, int, int, int]
Sheets = dict[str, tuple[Iterator[Cells], Iterable[Area]]]
CONTENT = "content.xml"
OFFICE, OF_TABLE, OF_TEXT = (
    f"{{urn:oasis:names:tc:opendocument:xmlns:{name}:1.0}}" for name in ("office", "table", "text")
)
CELLS = (f"{OF_TABLE}table-cell", f"{OF_TABLE}covered-table-cell")
MARKS = {f"{OF_TEXT}s": " ", f"{OF_TEXT}tab": "\t", f"{OF_TEXT}line-break": "\n"}
MOST_REPEATED, MOST_ROWS, MOST_COLUMNS = 1_000, 1 << 20, 1 << 14
"""How often one element may repeat a cell, a row or a blank, and how large sheets can be."""
AREA = re.compile(rb'<(?:\w+:)?mergeCell\s+ref="([A-Z]{1,3}[0-9]{1,7}:[A-Z]{1,3}[0-9]{1,7})"')
TRUTH_VALUES = {"TRUE": "True", "FALSE": "False"}
PART, BESIDE = 1 << 20, 1 << 8


class Wrong(NamedTuple):
    found: str
    step: str

    def at(self, row: int, column: str) -> str:
        return f"row {row}, column {column!r}: found {self.found}; expected a value. {self.step}"


MERGED = Wrong("a cell that is merged with another", "Unmerge the cells, and fill in each.")


def of_error(shown: object) -> Wrong:
    return Wrong(f"the error {shown}", "Correct its formula, or empty the cell.")


def sheet_of(path: Path, limits: Limits, columns: Columns) -> tuple[pa.Table, dict[str, str]]:
    if start_of(path).startswith(OF_EXCEL_97):
        raise RatingsError(
            f"{path.name}: found a workbook of Excel 97 to 2003 (.xls), or one with a password; "
            "expected .xlsx or .ods without a password. Save it so, or as CSV."
        )
    sheets = _of_open_document(path, limits)
    sheets = _of_excel(path) if sheets is None else sheets
    if not sheets:
        raise RatingsError(
            f"{path.name}: found no sheet with cells; expected one at least. Save the table as CSV."
        )
    named = columns.sheet
    if named not in sheets and (named is not None or len(sheets) > 1):
        expected = "one, or the name of one" if named is None else f"{named!r} among them"
        title = next(iter(sheets))
        raise RatingsError(
            f"{path.name}: found sheets {listed(sheets, 20)}; expected {expected}. "
            f"Name the sheet of the ratings, as --sheet {quote(title)} (sheet: "
            f"{json.dumps(title, ensure_ascii=False)} among the columns of a project)."
        )
    first = columns.header_row
    rows, areas = sheets[next(iter(sheets)) if named is None else named]
    rows = islice(rows, first - 1, None)
    header = next(rows, {}).items()
    names = {at: str(name) for at, name in header if not isinstance(name, Wrong | None)}
    refuse_twice(list(names.values()), f"{path.name}: row {first}")
    limits.refuse_beyond("columns", len(names), path.name, "columns")
    cells: dict[int, list[str | None]] = {at: [] for at in names}
    with_truth_values = set[int]()
    wrong = dict[str, str]()
    for number, row in enumerate(rows, 1):
        limits.refuse_beyond("rows", number, path.name, "rows or more")
        for at, column in cells.items():
            value = row.get(at)
            if isinstance(value, Wrong):
                wrong.setdefault(names[at], value.at(first + number, names[at]))
                value = None
            column.append(None if value is None else category_text(value))
            if isinstance(value, bool):
                with_truth_values.add(at)
    for at in with_truth_values:  # a sheet shows the text TRUE as the truth value
        cells[at] = [TRUTH_VALUES.get(cell or "", cell) for cell in cells[at]]
    hidden = {
        name: MERGED.at(top + (at == left), name)
        for left, top, right, last in areas
        # An area whose first cell is empty hides nothing.
        if first < top and (left not in cells or any(cells[left][top - first - 1 : top - first]))
        for at, name in names.items()
        if left <= at <= right and (at, top) != (left, last)
    }
    sheet = {name: pa.array(cells[at], pa.large_string()) for at, name in names.items()}
    return pa.table(sheet), wrong | hidden


def _of_excel(path: Path) -> Sheets:
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise MissingExtraError.of(f"{path.name}, an Excel file", "openpyxl", "excel") from None
    data = path.read_bytes()  # of a path, openpyxl asks for the ending of its name

    @cache
    def opened(*, values: bool) -> Any:
        return load_workbook(BytesIO(data), read_only=True, data_only=values)

    def rows_of(title: str, *, values: bool) -> Iterator[Any]:
        sheet = opened(values=values)[title]
        sheet.reset_dimensions()  # some programs write a smaller size of the sheet than it has
        yield from sheet.iter_rows()

    def read(sheet: Any) -> tuple[Iterator[Cells], Iterable[Area]]:
        values, formulas = (rows_of(sheet.title, values=values) for values in (True, False))
        return _in_place(values, formulas, path.name), _merged_in(sheet, path.name)

    try:
        return {sheet.title: read(sheet) for sheet in opened(values=True).worksheets}
    except Exception as error:
        raise _no_workbook(path.name, error) from None


def _in_place(rows: Iterator[Any], formulas: Iterator[Any], source: str) -> Iterator[Cells]:
    """The formulas are read from the first row with an empty cell on."""
    n_read = 0
    try:
        for number, row in enumerate(rows):
            # The empty text of a formula is a value, of the type `str`.
            if empty := [
                at for at, cell in enumerate(row) if cell.value is None and cell.data_type == "n"
            ]:
                written = next(islice(formulas, number - n_read, None))
                n_read = number + 1
                for at in empty:
                    if written[at].value is not None:
                        raise _no_value(source, written[at].coordinate)
            yield {
                at: of_error(cell.value) if cell.data_type == "e" else cell.value
                for at, cell in enumerate(row)
            }
    except RatingsError:
        raise
    except Exception as error:
        raise _no_workbook(source, error) from None


def _merged_in(sheet: Any, source: str) -> Iterator[Area]:
    """From column and row to column and row. Columns begin with 0."""
    # openpyxl does not tell them of a workbook that it only reads.
    from openpyxl.utils.cell import range_boundaries

    beside = b""
    try:
        with sheet._get_source() as file:
            while part := file.read(PART):
                for area in AREA.findall(beside + part):
                    left, top, right, last = range_boundaries(area.decode())
                    yield left - 1, top, right - 1, last
                beside = part[-BESIDE:]
    except Exception as error:
        raise _no_workbook(source, error) from None


def _no_value(source: str, place: str) -> RatingsError:
    return RatingsError(
        f"{source}: {place}: found a formula without its value, since the program that "
        "wrote the file did not calculate it; expected a value. Open the file in a spreadsheet "
        "program and save it there."
    )


def _no_workbook(source: str, error: Exception) -> RatingsError:
    return RatingsError(
        f"{source}: found no workbook ({error}); expected a whole one. "
        "Save the table again, or as CSV."
    )


def _of_open_document(path: Path, limits: Limits) -> Sheets | None:
    from agreement_pipeline.readers.tools.images import elements

    sheets: Sheets = {}
    try:
        with ZipFile(path) as packed, TemporaryDirectory() as folder:
            if CONTENT not in packed.namelist():
                return None
            size = packed.getinfo(CONTENT).file_size
            limits.refuse_beyond("file_bytes", size, path.name, "bytes once unpacked")
            rows = list[tuple[int, Cells]]()
            for element in elements(Path(packed.extract(CONTENT, folder)), path.name):
                if element.tag in MARKS:
                    times = _times(element, f"{OF_TEXT}c", path.name)
                    element.text = MARKS[element.tag] * min(times, MOST_REPEATED)
                elif element.tag == f"{OF_TABLE}table-row":
                    rows.append(_row(element, path.name))
                    element.clear()
                elif element.tag == f"{OF_TABLE}table":
                    sheets[element.get(f"{OF_TABLE}name", "")] = _each(rows, path.name), ()
                    rows = []
    except DAMAGED as error:
        raise _no_workbook(path.name, error) from None
    return sheets


def _each(rows: Sequence[tuple[int, Cells]], source: str) -> Iterator[Cells]:
    """Each row as often as it stands there. Blank rows at the end are none."""
    n_kept = max((place for place, (_, cells) in enumerate(rows, 1) if cells), default=0)
    kept = rows[:n_kept]
    if (n := sum(times for times, _ in kept)) > MOST_ROWS:
        raise _too_large(n, "rows", MOST_ROWS, source)
    for times, cells in kept:
        yield from repeat(cells, times)


def _row(element: "Element", source: str) -> tuple[int, Cells]:
    cells, at = dict[int, object](), 0
    for cell in element:
        if cell.tag in CELLS:
            times, value = (
                _times(cell, f"{OF_TABLE}number-columns-repeated", source),
                _value(cell, source),
            )
            if value is not None:
                _refuse_repeated({value}, times, source)
                if at + times > MOST_COLUMNS:
                    raise _too_large(at + times, "columns", MOST_COLUMNS, source)
                cells |= dict.fromkeys(range(at, at + times), value)
            at += times
    times = _times(element, f"{OF_TABLE}number-rows-repeated", source)
    _refuse_repeated({*cells.values()}, times, source)
    return times, cells


def _refuse_repeated(values: set[object], times: int, source: str) -> None:
    if times > MOST_REPEATED and values - {MERGED}:
        raise RatingsError(
            f"{source}: found {times} equal rows or cells beside each other; expected "
            f"{MOST_REPEATED} at most. Check that the export is the right one."
        )


def _too_large(found: int, what: str, most: int, source: str) -> RatingsError:
    return RatingsError(
        f"{source}: found a sheet of {found:,} {what} or more; expected {most:,} at most, as "
        "spreadsheets have. Check that the export is the right one."
    )


def _times(element: "Element", name: str, source: str) -> int:
    written = element.get(name, "1")
    if not (written.isascii() and written.isdecimal() and len(written) < 9):
        raise RatingsError(
            f"{source}: found {shown(written)} as a number of repetitions; expected a whole "
            "number. Save the table again, or as CSV."
        )
    return int(written)


def _value(cell: "Element", source: str) -> object:
    kind = cell.get(f"{OFFICE}value-type")
    if kind in ("float", "percentage", "currency"):
        return cell.get(f"{OFFICE}value")
    if kind == "boolean":
        return cell.get(f"{OFFICE}boolean-value") == "true"
    if kind in ("date", "time"):
        return cell.get(f"{OFFICE}{kind}-value")
    shown = "\n".join("".join(each.itertext()) for each in cell if each.tag == f"{OF_TEXT}p")
    if (text := cell.get(f"{OFFICE}string-value")) is not None:
        return text or (of_error(shown) if shown else None)
    if kind is None and cell.get(f"{OF_TABLE}formula"):
        raise _no_value(source, "a cell")
    return shown or (MERGED if cell.tag == CELLS[1] else None)
