"""A table in several files, as one."""

from collections.abc import Mapping

import pandas as pd

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import TEXT
from agreement_pipeline.ratings.limits import Limits
from agreement_pipeline.readers.registry import Rows
from agreement_pipeline.text import listed


def joined(parts: Mapping[str, Rows], source: str, limits: Limits) -> Rows:
    """The rows of several files together. Each row is named by its number and its file.

    Raises
    ------
    RatingsError
        A file has other columns than the first, or there are too many rows.
    """
    first, *others = parts
    columns = parts[first].columns
    for name in others:
        if parts[name].columns != columns:
            raise RatingsError(
                f"{source}: found columns {listed(parts[name].columns.values(), 12)} in {name}, "
                f"and {listed(columns.values(), 12)} in {first}; expected the same in each file of "
                "a folder, which is one table. Rename the columns, or move the file."
            )
    limits.refuse_beyond("rows", sum(len(rows.frame) for rows in parts.values()), source, "rows")
    frames = [_named(rows.frame, name) for name, rows in parts.items()]
    return Rows(pd.concat(frames), columns, source)


def _named(frame: pd.DataFrame, file: str) -> pd.DataFrame:
    """A frame whose rows are named by their file too, with texts instead of codes."""
    coded = [name for name in frame if isinstance(frame[name].dtype, pd.CategoricalDtype)]
    named = [f"{row} of {file}" for row in frame.index.get_level_values("row")]
    index = (
        pd.MultiIndex.from_arrays(
            [named, frame.index.get_level_values("column")], names=["row", "column"]
        )
        if frame.index.nlevels > 1
        else pd.Index(named, name="row")
    )
    return frame.astype(dict.fromkeys(coded, TEXT)).set_axis(index)
