"""Hugging Face data sets on disk: a folder with Arrow files, `dataset_info.json` and `state.json`.

It is a table, long or wide. Labels that are stored as numbers of names get their names.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.readers.exports import INFO, STATE, Asked, Reader, Source, register
from agreement_pipeline.readers.parquet import Named, named_in
from agreement_pipeline.readers.rules import Rows
from agreement_pipeline.readers.table import Table, arrow_table, rounds_in, rows_in

SPLIT = "split"
Data = Mapping[str, Any]


class DataSets(Reader):
    """The reader of data sets. The column `split` names the split, if there are several."""

    def rows(self, source: Source, asked: Asked) -> Rows:
        """The ratings of a data set.

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
        return rows_in(_table(source, asked), asked)

    def rounds(self, path: Path, asked: Asked) -> tuple[str, ...]:
        """The rounds that a column of the data set names, sorted."""
        return rounds_in(_table(path, asked), asked)


def _table(folder: Path, asked: Asked) -> Table:
    places = sorted(path.parent for path in folder.rglob(STATE))
    tables, named = [], dict[str, Named]()
    for place in places:
        table, names = _split(place, folder.name)
        if len(places) > 1 and SPLIT not in table.column_names:
            texts = pa.array([place.name] * len(table), pa.large_string())
            table = table.append_column(SPLIT, texts)
        tables.append(table)
        named = {**names, **named}
    whole = pa.concat_tables(tables, promote_options="permissive")
    return arrow_table(whole, folder.name, asked.limits, named)


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
    for at, field in enumerate(table.schema):
        if pa.types.is_floating(field.type):  # the library writes missing numbers as NaN
            numbers = table.column(at)
            known = pc.if_else(pc.is_nan(numbers), pa.scalar(None, field.type), numbers)
            table = table.set_column(at, field, known)
    return table, named_in(info, name)


def _json(path: Path, name: str) -> Data:
    try:
        found: Data = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise RatingsError(
            f"{name}: found no {path.name} that can be read ({error}); expected what save_to_disk "
            "writes. Save the data set again."
        ) from None
    return found


register(
    DataSets(
        "hugging_face",
        "a Hugging Face data set",
        lambda export: (
            export.path.is_dir() and any(each.parent in export.data_sets for each in export.files)
        ),
    )
)
