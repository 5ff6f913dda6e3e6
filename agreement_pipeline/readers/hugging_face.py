"""Hugging Face data sets on disk: a folder with Arrow files, `dataset_info.json` and `state.json`.

It is a table, long or wide. Labels that are stored as numbers of names get their names.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.ratings import in_pandas
from agreement_pipeline.ratings.limits import LIMITS, Limits
from agreement_pipeline.readers.cells import Cells, frame_cells
from agreement_pipeline.readers.class_labels import in_names, named_in
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
    return cells_rows(_cells(source, limits), columns, layout, limits, rules)


def data_set_rounds(
    path: Path, columns: Columns = COLUMNS, limits: Limits = LIMITS
) -> tuple[str, ...]:
    """The rounds that a column of the data set names, sorted."""
    return cells_rounds(_cells(path, limits), columns)


def _cells(folder: Path, limits: Limits) -> Cells:
    places = sorted(path.parent for path in folder.rglob(STATE))
    parts = [_split(place, folder.name) for place in places]
    if len(parts) > 1:
        parts = [
            part if SPLIT in part else part.assign(**{SPLIT: place.name})
            for part, place in zip(parts, places, strict=True)
        ]
    return frame_cells(pd.concat(parts, ignore_index=True), folder.name, limits)


def _split(folder: Path, name: str) -> pd.DataFrame:
    import pyarrow as pa

    state, info = (_json(folder / each, name) for each in (STATE, INFO))
    try:
        tables = [
            pa.ipc.open_stream(pa.memory_map(str(folder / each["filename"]))).read_all()
            for each in state["_data_files"]
        ]
        frame: pd.DataFrame = in_pandas(pa.concat_tables(tables), integer_object_nulls=True)
    except (pa.ArrowException, OSError, KeyError, TypeError) as error:
        raise RatingsError(
            f"{name}: found no whole data set ({error}); expected the Arrow files that {STATE} "
            "lists. Save the data set again."
        ) from None
    labels = {column: of for column, of in named_in(info, name).items() if column in frame}
    return frame.assign(**{column: in_names(frame[column], of) for column, of in labels.items()})


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
