"""Tables of whole numbers under names: counts by category, and tables of two raters."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from agreement_pipeline.engine import duckdb_session
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import LIMITS, Array, Limits
from agreement_pipeline.readers.cells import cells_of
from agreement_pipeline.readers.registry import Source
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
    loaded = table.load(duckdb_session(), {f"c{at}": n for at, n in enumerate(table.header)}, ())
    found = loaded.ask(f"SELECT * FROM {loaded} ORDER BY nth")
    cells = {name: found[f"c{at}"].to_pylist() for at, name in enumerate(table.header)}
    places = [f"{table.source}: row {row}" for row in found["row"].to_pylist()]
    rows = _names(cells[first], places, first)
    values = np.column_stack([_whole(cells[name], places, name) for name in columns])
    _refuse_total(values, columns, f"{table.source}: column")
    _refuse_total(values.T, rows, f"{table.source}: row")
    return Numbers(table.source, rows, tuple(columns), values)


def _names(cells: Sequence[object], places: Sequence[str], column: str) -> tuple[str, ...]:
    first: dict[str, str] = {}
    for place, cell in zip(places, cells, strict=True):
        if cell is None:
            raise RatingsError(
                f"{place}, column {column!r}: found no name; expected one in every row. Fill it in."
            )
        name = str(cell)
        if name in first:
            raise RatingsError(
                f"{place}, column {column!r}: found {name!r}, which is in "
                f"{first[name].rpartition(': ')[2]} too; expected each once. "
                "Correct the name, or leave one out."
            )
        first[name] = place
    return tuple(first)


def _whole(cells: Sequence[object], places: Sequence[str], column: str) -> Array:
    numbers = np.array([_number(cell) for cell in cells])
    bad = ~((numbers >= 0) & (numbers <= MOST) & (numbers == np.floor(numbers)))
    if bad.any():
        at = int(bad.argmax())
        found = "nothing" if cells[at] is None else repr(cells[at])
        most = f" to {MOST:.0f}" if numbers[at] > MOST else ""
        raise RatingsError(
            f"{places[at]}, column {column!r}: found {found}; expected a "
            f"whole number from 0{most}. Write 0 where there is none."
        )
    return numbers


def _number(cell: object) -> float:
    """A cell as a number. It is nan for what is none."""
    text = str(cell)
    try:
        return float(text) if text.isascii() and "_" not in text else np.nan
    except ValueError:
        return np.nan


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
