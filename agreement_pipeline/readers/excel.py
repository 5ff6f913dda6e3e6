"""The first sheet of an Excel workbook. Its cells become text, as those of other tables."""

from pathlib import Path
from typing import Any

import pyarrow as pa

from agreement_pipeline.errors import MissingExtraError, RatingsError
from agreement_pipeline.ratings import Limits, category_text
from agreement_pipeline.readers.columns import refuse_twice
from agreement_pipeline.text import listed


def sheet(path: Path, limits: Limits) -> pa.Table:
    """The only sheet of a workbook. The first row names the columns.

    Raises
    ------
    MissingExtraError
        The library for workbooks is not installed.
    RatingsError
        The file is no workbook, or it has several sheets.
    """
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise MissingExtraError.of(f"{path.name}, an Excel file", "openpyxl", "excel") from None
    try:
        book = load_workbook(path, read_only=True, data_only=True)
    except Exception as error:
        raise RatingsError(
            f"{path.name}: found no Excel workbook ({error}); expected a whole one. "
            "Save the table again, or as CSV."
        ) from None
    if len(book.sheetnames) > 1:
        raise RatingsError(
            f"{path.name}: found sheets {listed(book.sheetnames)}; expected one. "
            "Save the sheet of the ratings as a file of its own."
        )
    return _table(book.active.iter_rows(values_only=True), path.name, limits)


def _table(rows: Any, source: str, limits: Limits) -> pa.Table:
    header = enumerate(next(rows, ()))
    names = {at: str(name) for at, name in header if name is not None}
    refuse_twice(list(names.values()), f"{source}: row 1")
    limits.refuse_beyond("columns", len(names), source, "columns")
    cells = []
    for number, row in enumerate(rows, 1):
        limits.refuse_beyond("rows", number, source, "rows or more")
        cells.append([None if value is None else category_text(value) for value in row])
    columns = {
        name: pa.array([row[at] if at < len(row) else None for row in cells], pa.large_string())
        for at, name in names.items()
    }
    return pa.table(columns)
