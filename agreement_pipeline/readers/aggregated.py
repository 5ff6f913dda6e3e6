"""Tables of whole numbers under names: counts by category, and tables of two raters."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Array
from agreement_pipeline.ratings.limits import LIMITS, Limits
from agreement_pipeline.readers.registry import Source
from agreement_pipeline.readers.table import cells_of
from agreement_pipeline.text import listed

MOST = 2.0**53
"""Larger whole numbers are not exact."""
TOTALS = {"total", "totals", "sum", "all", "margin"}


class Numbers(NamedTuple):
    """Whole numbers by row and column.

    Attributes
    ----------
    source
        The name of the table, for errors.
    rows, columns
        What the rows and the columns are called.
    values
        Shape (rows, columns).
    """

    source: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: Array


def whole_numbers(source: Source, names: str | None = None, limits: Limits = LIMITS) -> Numbers:
    """A table whose first column, or the one called `names`, says what each row is.

    All other columns hold whole numbers from 0.

    Raises
    ------
    RatingsError
        The table is broken, or two rows have one name. Or a cell holds something else, or a total.
        The error names the row and the column.
    """
    table = cells_of(source, limits)
    first = table.header[0] if names is None else names
    if first not in table.header:
        raise RatingsError(
            f"{table.source}: found no column {first!r} among {listed(table.header, 12)}; expected "
            "the column that names the rows. Name it."
        )
    columns = [name for name in table.header if name != first]
    if not columns:
        raise RatingsError(
            f"{table.source}: found no column beside {first!r}; expected a column of whole numbers "
            "for each category. Check the separator of the table."
        )
    cells = table.read(table.header)
    rows = _names(cells[first], table.source)
    values = np.column_stack([_whole(cells[name], table.source) for name in columns])
    _refuse_total(values, columns, f"{table.source}: column")
    _refuse_total(values.T, rows, f"{table.source}: row")
    return Numbers(table.source, rows, tuple(columns), values)


def _names(cells: pd.Series, source: str) -> tuple[str, ...]:
    missing = cells.index[cells.isna()]
    if len(missing):
        raise RatingsError(
            f"{source}: row {missing[0]}, column {cells.name!r}: found no name; expected one in "
            "every row. Fill it in."
        )
    names = [str(name) for name in cells]
    first: dict[str, object] = {}
    for place, name in zip(cells.index, names, strict=True):
        if name in first:
            raise RatingsError(
                f"{source}: row {place}, column {cells.name!r}: found {name!r}, which is in row "
                f"{first[name]} too; expected each once. Correct the name, or leave one out."
            )
        first[name] = place
    return tuple(names)


def _whole(cells: pd.Series, source: str) -> Array:
    numbers = pd.to_numeric(cells.astype(object), errors="coerce").to_numpy(dtype=float)
    bad = ~((numbers >= 0) & (numbers <= MOST) & (numbers == np.floor(numbers)))
    if bad.any():
        place = int(bad.argmax())
        found = "nothing" if pd.isna(cells.iloc[place]) else repr(cells.iloc[place])
        most = f" to {MOST:.0f}" if numbers[place] > MOST else ""
        raise RatingsError(
            f"{source}: row {cells.index[place]}, column {cells.name!r}: found {found}; expected a "
            f"whole number from 0{most}. Write 0 where there is none."
        )
    return numbers


def _refuse_total(values: Array, names: Sequence[str], where: str) -> None:
    """Refuse a column that is the sum of all others and is called so."""
    for place, name in enumerate(names):
        if name.strip().casefold() in TOTALS:
            others = np.delete(values, place, axis=1).sum(1)
            if np.array_equal(others, values[:, place]):
                raise RatingsError(
                    f"{where} {name!r}: found the sum of all others; expected no totals. "
                    "Leave it out."
                )
