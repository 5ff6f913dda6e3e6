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
from agreement_pipeline.mistakes import value_in_message
from agreement_pipeline.ratings import Limits, category_text
from agreement_pipeline.readers.columns import Columns, refuse_repeated_names
from agreement_pipeline.readers.files import DAMAGE_ERRORS, OF_EXCEL_97, read_first_bytes
from agreement_pipeline.text import listed

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

Cells = Mapping[int, object]
Area = tuple[int, int, int, int]
Sheets = dict[str, tuple[Iterator[Cells], Iterable[Area]]]
CONTENT_FILE = "content.xml"
OFFICE, OF_TABLE, OF_TEXT = (
    f"{{urn:oasis:names:tc:opendocument:xmlns:{name}:1.0}}" for name in ("office", "table", "text")
)
CELL_TAGS = (f"{OF_TABLE}table-cell", f"{OF_TABLE}covered-table-cell")
TEXT_BY_TAG = {f"{OF_TEXT}s": " ", f"{OF_TEXT}tab": "\t", f"{OF_TEXT}line-break": "\n"}
MAX_REPEATS, MAX_SHEET_ROWS, MAX_SHEET_COLUMNS = 1_000, 1 << 20, 1 << 14
"""How often one element may repeat a cell, a row or a blank, and how large sheets can be."""
AREA = re.compile(rb'<(?:\w+:)?mergeCell\s+ref="([A-Z]{1,3}[0-9]{1,7}:[A-Z]{1,3}[0-9]{1,7})"')
TRUTH_VALUES = {"TRUE": "True", "FALSE": "False"}
PART_BYTES, OVERLAP_BYTES = 1 << 20, 1 << 8


class UnusableCell(NamedTuple):
    finding: str
    step: str

    def message_at(self, row: int, column: str) -> str:
        return f"row {row}, column {column!r}: found {self.finding}; expected a value. {self.step}"


MERGED = UnusableCell("a cell that is merged with another", "Unmerge the cells, and fill in each.")


def build_error_cell(error_text: object) -> UnusableCell:
    return UnusableCell(f"the error {error_text}", "Correct its formula, or empty the cell.")


def load_sheet(path: Path, limits: Limits, columns: Columns) -> tuple[pa.Table, dict[str, str]]:
    """The chosen sheet as a table of texts, and why some columns are refused if they are read."""
    if read_first_bytes(path).startswith(OF_EXCEL_97):
        raise RatingsError(
            f"{path.name}: found a workbook of Excel 97 to 2003 (.xls), or one with a password; "
            "expected .xlsx or .ods without a password. Save it so, or as CSV."
        )
    sheets = _read_open_document_sheets(path, limits)
    sheets = _read_excel_sheets(path) if sheets is None else sheets
    if not sheets:
        raise RatingsError(
            f"{path.name}: found no sheet with cells; expected one at least. Save the table as CSV."
        )
    sheet_name = columns.sheet
    if sheet_name not in sheets and (sheet_name is not None or len(sheets) > 1):
        expected = "one, or the name of one" if sheet_name is None else f"{sheet_name!r} among them"
        title = next(iter(sheets))
        raise RatingsError(
            f"{path.name}: found sheets {listed(sheets, 20)}; expected {expected}. "
            f"Name the sheet of the ratings, as --sheet {quote(title)} (sheet: "
            f"{json.dumps(title, ensure_ascii=False)} among the columns of a project)."
        )
    header_row = columns.header_row
    rows, areas = sheets[next(iter(sheets)) if sheet_name is None else sheet_name]
    rows = islice(rows, header_row - 1, None)
    header = next(rows, {}).items()
    names = {
        index: str(name) for index, name in header if not isinstance(name, UnusableCell | None)
    }
    refuse_repeated_names(list(names.values()), f"{path.name}: row {header_row}")
    limits.refuse_beyond("columns", len(names), path.name, "columns")
    cells: dict[int, list[str | None]] = {index: [] for index in names}
    with_truth_values = set[int]()
    faults = dict[str, str]()
    for number, row in enumerate(rows, 1):
        limits.refuse_beyond("rows", number, path.name, "rows or more")
        for index, column in cells.items():
            value = row.get(index)
            if isinstance(value, UnusableCell):
                faults.setdefault(names[index], value.message_at(header_row + number, names[index]))
                value = None
            column.append(None if value is None else category_text(value))
            if isinstance(value, bool):
                with_truth_values.add(index)
    for index in with_truth_values:  # a sheet shows the text TRUE as the truth value
        cells[index] = [TRUTH_VALUES.get(cell or "", cell) for cell in cells[index]]
    hidden = {
        name: MERGED.message_at(top + (index == left), name)
        for left, top, right, bottom in areas
        # An area whose first cell is empty hides nothing.
        if header_row < top
        and (left not in cells or any(cells[left][top - header_row - 1 : top - header_row]))
        for index, name in names.items()
        if left <= index <= right and (index, top) != (left, bottom)
    }
    sheet = {name: pa.array(cells[index], pa.large_string()) for index, name in names.items()}
    return pa.table(sheet), faults | hidden


def _read_excel_sheets(path: Path) -> Sheets:
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise MissingExtraError.for_feature(
            f"{path.name}, an Excel file", "openpyxl", "excel"
        ) from None
    data = path.read_bytes()  # of a path, openpyxl asks for the ending of its name

    @cache
    def load(*, values: bool) -> Any:
        return load_workbook(BytesIO(data), read_only=True, data_only=values)

    def rows_of(title: str, *, values: bool) -> Iterator[Any]:
        sheet = load(values=values)[title]
        sheet.reset_dimensions()  # some programs write a smaller size of the sheet than it has
        yield from sheet.iter_rows()

    def read_sheet(sheet: Any) -> tuple[Iterator[Cells], Iterable[Area]]:
        values, formulas = (rows_of(sheet.title, values=values) for values in (True, False))
        return _iterate_cells_of_rows(values, formulas, path.name), _iterate_merged_areas(
            sheet, path.name
        )

    try:
        return {sheet.title: read_sheet(sheet) for sheet in load(values=True).worksheets}
    except Exception as error:
        raise _no_workbook_error(path.name, error) from None


def _iterate_cells_of_rows(
    rows: Iterator[Any], formulas: Iterator[Any], source: str
) -> Iterator[Cells]:
    """The formulas are read from the first row with an empty cell on."""
    n_read = 0
    try:
        for number, row in enumerate(rows):
            # The empty text of a formula is a value, of the type `str`.
            if empty := [
                index
                for index, cell in enumerate(row)
                if cell.value is None and cell.data_type == "n"
            ]:
                formula_row = next(islice(formulas, number - n_read, None))
                n_read = number + 1
                for index in empty:
                    if formula_row[index].value is not None:
                        raise _no_formula_value_error(source, formula_row[index].coordinate)
            yield {
                index: build_error_cell(cell.value) if cell.data_type == "e" else cell.value
                for index, cell in enumerate(row)
            }
    except RatingsError:
        raise
    except Exception as error:
        raise _no_workbook_error(source, error) from None


def _iterate_merged_areas(sheet: Any, source: str) -> Iterator[Area]:
    """From column and row to column and row. Columns begin with 0."""
    # openpyxl does not tell them of a workbook that it only reads.
    from openpyxl.utils.cell import range_boundaries

    overlap = b""
    try:
        with sheet._get_source() as file:
            while part := file.read(PART_BYTES):
                for area in AREA.findall(overlap + part):
                    left, top, right, bottom = range_boundaries(area.decode())
                    yield left - 1, top, right - 1, bottom
                overlap = part[-OVERLAP_BYTES:]
    except Exception as error:
        raise _no_workbook_error(source, error) from None


def _no_formula_value_error(source: str, place: str) -> RatingsError:
    return RatingsError(
        f"{source}: {place}: found a formula without its value, since the program that "
        "wrote the file did not calculate it; expected a value. Open the file in a spreadsheet "
        "program and save it there."
    )


def _no_workbook_error(source: str, error: Exception) -> RatingsError:
    return RatingsError(
        f"{source}: found no workbook ({error}); expected a whole one. "
        "Save the table again, or as CSV."
    )


def _read_open_document_sheets(path: Path, limits: Limits) -> Sheets | None:
    from agreement_pipeline.readers.xml_files import iterate_elements

    sheets: Sheets = {}
    try:
        with ZipFile(path) as archive, TemporaryDirectory() as folder:
            if CONTENT_FILE not in archive.namelist():
                return None
            size = archive.getinfo(CONTENT_FILE).file_size
            limits.refuse_beyond("file_bytes", size, path.name, "bytes once unpacked")
            rows = list[tuple[int, Cells]]()
            for element in iterate_elements(Path(archive.extract(CONTENT_FILE, folder)), path.name):
                if element.tag in TEXT_BY_TAG:
                    times = _read_repeat_count(element, f"{OF_TEXT}c", path.name)
                    element.text = TEXT_BY_TAG[element.tag] * min(times, MAX_REPEATS)
                elif element.tag == f"{OF_TABLE}table-row":
                    rows.append(_read_row(element, path.name))
                    element.clear()
                elif element.tag == f"{OF_TABLE}table":
                    sheets[element.get(f"{OF_TABLE}name", "")] = _repeat_rows(rows, path.name), ()
                    rows = []
    except DAMAGE_ERRORS as error:
        raise _no_workbook_error(path.name, error) from None
    return sheets


def _repeat_rows(rows: Sequence[tuple[int, Cells]], source: str) -> Iterator[Cells]:
    """Each row as often as it stands there. Blank rows at the end are none."""
    n_kept = max((place for place, (_, cells) in enumerate(rows, 1) if cells), default=0)
    used_rows = rows[:n_kept]
    if (n := sum(times for times, _ in used_rows)) > MAX_SHEET_ROWS:
        raise _too_large_error(n, "rows", MAX_SHEET_ROWS, source)
    for times, cells in used_rows:
        yield from repeat(cells, times)


def _read_row(element: "Element", source: str) -> tuple[int, Cells]:
    cells, index = dict[int, object](), 0
    for cell in element:
        if cell.tag in CELL_TAGS:
            times = _read_repeat_count(cell, f"{OF_TABLE}number-columns-repeated", source)
            value = _cell_value(cell, source)
            if value is not None:
                _refuse_long_repetition({value}, times, source)
                if index + times > MAX_SHEET_COLUMNS:
                    raise _too_large_error(index + times, "columns", MAX_SHEET_COLUMNS, source)
                cells |= dict.fromkeys(range(index, index + times), value)
            index += times
    times = _read_repeat_count(element, f"{OF_TABLE}number-rows-repeated", source)
    _refuse_long_repetition({*cells.values()}, times, source)
    return times, cells


def _refuse_long_repetition(values: set[object], times: int, source: str) -> None:
    if times > MAX_REPEATS and values - {MERGED}:
        raise RatingsError(
            f"{source}: found {times} equal rows or cells beside each other; expected "
            f"{MAX_REPEATS} at most. Check that the export is the right one."
        )


def _too_large_error(count: int, noun: str, maximum: int, source: str) -> RatingsError:
    return RatingsError(
        f"{source}: found a sheet of {count:,} {noun} or more; expected {maximum:,} at most, as "
        "spreadsheets have. Check that the export is the right one."
    )


def _read_repeat_count(element: "Element", name: str, source: str) -> int:
    text = element.get(name, "1")
    if not (text.isascii() and text.isdecimal() and len(text) < 9):
        raise RatingsError(
            f"{source}: found {value_in_message(text)} as a number of repetitions; expected a "
            "whole "
            "number. Save the table again, or as CSV."
        )
    return int(text)


def _cell_value(cell: "Element", source: str) -> object:
    """The value of a cell of OpenDocument, or why it is unusable."""
    kind = cell.get(f"{OFFICE}value-type")
    if kind in ("float", "percentage", "currency"):
        return cell.get(f"{OFFICE}value")
    if kind == "boolean":
        return cell.get(f"{OFFICE}boolean-value") == "true"
    if kind in ("date", "time"):
        return cell.get(f"{OFFICE}{kind}-value")
    displayed = "\n".join(
        "".join(paragraph.itertext()) for paragraph in cell if paragraph.tag == f"{OF_TEXT}p"
    )
    if (text := cell.get(f"{OFFICE}string-value")) is not None:
        return text or (build_error_cell(displayed) if displayed else None)
    if kind is None and cell.get(f"{OF_TABLE}formula"):
        raise _no_formula_value_error(source, "a cell")
    return displayed or (MERGED if cell.tag == CELL_TAGS[1] else None)
