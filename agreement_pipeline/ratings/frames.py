"""Frames of pandas: the faces of ratings."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from agreement_pipeline.engine import Session
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings.cells import Cells
from agreement_pipeline.ratings.scale import Scale
from agreement_pipeline.ratings.spelling import category_text
from agreement_pipeline.ratings.texts import TEXT
from agreement_pipeline.text import called

VECTOR = (tuple, list, np.ndarray)


def cells_of_frame(frame: pd.DataFrame) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The columns of a frame as Arrow batches."""
    arrays = [_cells(frame.iloc[:, at]) for at in range(frame.shape[1])]
    table = pa.table(arrays, names=[str(name) for name in frame.columns])
    return table.schema, iter(table.to_batches())


def _cells(values: "pd.Series[Any]") -> pa.Array:
    if isinstance(values.dtype, pd.CategoricalDtype):
        values = values.astype(values.cat.categories.dtype)
    if values.dtype == bool or isinstance(values.dtype, pd.BooleanDtype):
        values = values.astype(object)
    if values.dtype != object:
        return pa.array(values, from_pandas=True)
    there = values[values.notna()] if not values.map(lambda x: isinstance(x, VECTOR)).any() else values
    kinds = {type(each) for each in there}
    if kinds <= {str}:
        return pa.array(values.where(values.notna(), None), pa.string())
    if kinds <= {int} or kinds <= {float, int}:
        try:
            return pa.array(values.where(values.notna(), None).tolist(), from_pandas=True)
        except (pa.ArrowException, OverflowError):
            pass
    return pa.array([_text(each) for each in values], pa.string())


def _text(value: Any) -> str | None:
    if isinstance(value, VECTOR):
        return "|".join(repr(float(each)) if isinstance(each, (int, float, np.number)) else str(each) for each in value)
    if value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and value != value):
        return None
    return category_text(value)


def frame_in(
    session: Session,
    frame: pd.DataFrame,
    source: str,
    columns: Mapping[str, str],
    first_row: int,
) -> Cells:
    """The cells of a frame in a session."""
    twice = sorted({str(name) for name in frame.columns[frame.columns.duplicated()]})
    if twice:
        of = [columns.get(name, name) for name in twice]
        raise RatingsError(
            f"{source}: found {called('column', twice)} twice; expected each once. "
            "Drop or rename the other one."
        )
    named = frame.reset_index(drop=True)
    levels = frame.index.names
    if "column" in levels:
        named = named.assign(column=frame.index.get_level_values("column").astype(str))
    if "row" in levels:
        rows = frame.index.get_level_values("row")
        named = named.assign(row=rows)
    relation = session.load(*cells_of_frame(named))
    if "row" not in levels:
        relation = relation.view(f"SELECT *, nth + {first_row} AS row FROM {relation}")
    return Cells(relation, source, dict(columns))


def frame_of(parts: Iterable[pa.RecordBatch], everyone: Sequence[str], scale: Scale) -> pd.DataFrame:
    """Ratings as a frame. Items, raters and categories are categorical."""
    table = pa.Table.from_batches(parts)
    frame = table.to_pandas()
    items = pd.Index(pd.unique(frame["item"]), dtype=TEXT)
    frame["item"] = pd.Categorical(frame["item"].astype(TEXT), categories=items)
    frame["rater"] = pd.Categorical(frame["rater"].astype(TEXT), categories=pd.Index(everyone, dtype=TEXT))
    if not scale.numeric:
        frame["label"] = pd.Categorical(frame["label"].astype(TEXT), categories=pd.Index(scale.names, dtype=TEXT))
    elif scale.dimensions > 1:
        frame["label"] = frame["label"].map(tuple)
    frame["occurrence"] = frame["occurrence"].astype("int32")
    if "assisted" in frame:
        frame["assisted"] = frame["assisted"].astype("boolean")
    for name in ("drawn", "timestamp"):
        if name in frame and pa.types.is_string(table.schema.field(name).type):
            frame[name] = frame[name].astype(TEXT)
    return frame
