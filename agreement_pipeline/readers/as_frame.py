"""Rows as a pandas frame, and the checks of its cells."""

from typing import Any

import numpy as np
import pandas as pd

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import coded, in_pandas
from agreement_pipeline.readers.limits import Limits
from agreement_pipeline.readers.registry import TABLE, Rows

NAMED = ("item", "rater", "label", "round", "cluster")


def frame_of(rows: Rows) -> pd.DataFrame:
    """The rows as a frame, in their order. NaN and None stay apart."""
    found = rows.cells.ask(f"SELECT * FROM {rows.cells} ORDER BY nth").drop_columns("nth")
    columns = {name: _apart(found[name]) for name in found.column_names}
    if "round" in columns:
        columns["round"] = pd.Series(coded(columns["round"]).categorical())
    levels = [name for name in ("row", "column") if name in columns]
    return pd.DataFrame(columns).set_index(levels)


def _apart(column: Any) -> pd.Series:
    values: pd.Series = in_pandas(column, integer_object_nulls=True)
    missing = column.is_null().to_numpy()
    if values.dtype.kind != "f" or not (values.isna() & ~missing).any():
        return values
    return values.astype(object).mask(missing, None)


def refuse_unlike(frame: pd.DataFrame, rows: Rows, limits: Limits) -> None:
    """Refuse NaN, names that are too long, and a header that is met again.

    Raises
    ------
    RatingsError
        There is one.
    """
    for name in frame:
        _refuse_nan(frame[name], rows)
    is_wide = "column" in frame.index.names
    for name in NAMED:
        if name in frame and not (name == "rater" and is_wide):
            _refuse_long(frame[name], rows, limits)
    if not is_wide and rows.reader in ("", TABLE):
        _refuse_header_again(frame, rows)


def _refuse_header_again(frame: pd.DataFrame, rows: Rows) -> None:
    again = np.ones(len(frame), dtype=bool)
    for name in ("label", "item", "rater"):
        again &= (frame[name] == rows.columns.get(name)).to_numpy(dtype=bool, na_value=False)
    if again.any():
        raise RatingsError(
            f"{rows.source}: row {frame.index[again][0]}: found the header again; expected it "
            "once, above all ratings. Remove the row, or deliver the files in one folder."
        )


def _place(rows: Rows, values: pd.Series, at: int) -> str:
    """Where a cell is."""
    place = values.index[at]
    row, column = place if isinstance(place, tuple) else (place, None)
    of_label = column if values.name == "label" else None
    return f"{rows.source}: row {row}, column {of_label or rows.columns.get(str(values.name))!r}"


def _refuse_nan(values: pd.Series, rows: Rows) -> None:
    if values.dtype == object:
        bad = values.map(lambda each: isinstance(each, float) and each != each).to_numpy()  # noqa: PLR0124
        if bad.any():
            raise RatingsError(
                f"{_place(rows, values, int(bad.argmax()))}: found nan; expected one value, or "
                "null. Correct the row."
            )


def _refuse_long(values: pd.Series, rows: Rows, limits: Limits) -> None:
    if values.dtype.kind in "if":
        return
    lengths = values.astype(object).map(lambda each: len(each) if isinstance(each, str) else 0)
    at = int(lengths.to_numpy().argmax()) if len(lengths) else 0
    if len(lengths) and lengths.iloc[at] > limits.name_length:
        where = _place(rows, values, at)
        limits.refuse_beyond("name_length", int(lengths.iloc[at]), where, "characters")
