"""Hugging Face data sets on disk: a folder with Arrow files, `dataset_info.json` and `state.json`.

It is a table, long or wide. Labels that are stored as numbers of names get their names.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from agreement_pipeline.engine import Session
from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.ratings import LIMITS, Limits
from agreement_pipeline.readers.cells import Cells, arrow_cells
from agreement_pipeline.readers.class_labels import Named, named_in
from agreement_pipeline.readers.columns import COLUMNS, Columns, Layout
from agreement_pipeline.readers.exports import INFO, STATE, Export
from agreement_pipeline.readers.registry import Reader, Rows, Source, register
from agreement_pipeline.readers.rules import RULES, Rules
from agreement_pipeline.readers.table import cells_rounds, cells_rows

SPLIT = "split"
Data = Mapping[str, Any]


def data_set_rows(
    source: Source,
    columns: Columns = COLUMNS,
    layout: Layout = "long",
    limits: Limits = LIMITS,
    rules: Rules = RULES,
    session: Session | None = None,
) -> Rows:
    """The ratings of a data set. The column `split` names the split, if there are several.

    Raises
    ------
    RatingsError
        The data set is broken or lacks a column.
    """
    if not isinstance(source, Path):
        raise ProjectError(
            "reader: found hugging_face for a table in memory; expected a folder that "
            "save_to_disk wrote. Leave the reader out."
        )
    return cells_rows(_cells(source, limits), columns, layout, limits, rules, session)


def data_set_rounds(
    path: Path, columns: Columns = COLUMNS, limits: Limits = LIMITS
) -> tuple[str, ...]:
    """The rounds that a column of the data set names, sorted."""
    return cells_rounds(_cells(path, limits), columns)


def _cells(folder: Path, limits: Limits) -> Cells:
    places = sorted(path.parent for path in folder.rglob(STATE))
    parts = [_split(place, folder.name) for place in places]
    tables = [table for table, _ in parts]
    if len(parts) > 1:
        tables = [_with_split(table, place) for table, place in zip(tables, places, strict=True)]
    whole = pa.concat_tables(tables, promote_options="permissive")
    named = {column: of for _, names in reversed(parts) for column, of in names.items()}
    return arrow_cells(whole, folder.name, limits, named)


def _with_split(table: pa.Table, place: Path) -> pa.Table:
    if SPLIT in table.column_names:
        return table
    return table.append_column(SPLIT, pa.array([place.name] * len(table), pa.large_string()))


def _split(folder: Path, name: str) -> tuple[pa.Table, dict[str, Named]]:
    """One split, and what names the numbers of its labels."""
    state, info = (_json(folder / each, name) for each in (STATE, INFO))
    try:
        tables = [
            pa.ipc.open_stream(pa.memory_map(str(folder / each["filename"]))).read_all()
            for each in state["_data_files"]
        ]
        table = pa.concat_tables(tables)
    except (pa.ArrowException, OSError, KeyError, TypeError) as error:
        raise RatingsError(
            f"{name}: found no whole data set ({error}); expected the Arrow files that {STATE} "
            "lists. Save the data set again."
        ) from None
    return _without_nan(table), named_in(info, name)


def _without_nan(table: pa.Table) -> pa.Table:
    """A table whose floats are missing where they are NaN, as the library writes them."""
    for at, field in enumerate(table.schema):
        if pa.types.is_floating(field.type):
            numbers = table.column(at)
            known = pc.if_else(pc.is_nan(numbers), pa.scalar(None, field.type), numbers)
            table = table.set_column(at, field, known)
    return table


def _json(path: Path, name: str) -> Data:
    try:
        found: Data = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise RatingsError(
            f"{name}: found no {path.name} that can be read ({error}); expected what save_to_disk "
            "writes. Save the data set again."
        ) from None
    return found


def _is_data_set(export: Export) -> bool:
    return export.path.is_dir() and any(each.parent in export.data_sets for each in export.files)


HUGGING_FACE = register(
    Reader("hugging_face", "a Hugging Face data set", _is_data_set, data_set_rows, data_set_rounds)
)
