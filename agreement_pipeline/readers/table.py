"""Tables, long or wide: delimited text, JSON Lines and Parquet."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.ratings import Level, Ratings, Scale, category_text
from agreement_pipeline.readers.cells import UNFINISHED, read_cells
from agreement_pipeline.readers.columns import (
    COLUMNS,
    Columns,
    Layout,
    chosen_columns,
    rater_columns,
)
from agreement_pipeline.readers.limits import LIMITS, Limits
from agreement_pipeline.text import listed

NAMED = ("item", "rater", "label", "round", "cluster")


def read_ratings(
    path: Path,
    columns: Columns = COLUMNS,
    *,
    layout: Layout = "long",
    scale: Scale | None = None,
    level: Level = "nominal",
    classifiers: Sequence[str] = (),
    usable: bool = True,
    round_name: str | None = None,
    limits: Limits = LIMITS,
) -> Ratings:
    """Read a table and check it.

    Parameters
    ----------
    path, columns, layout
        As for `read_table`.
    scale
        What the labels may be; when omitted, what they are, on `level`.
    classifiers
        Names of raters that are models.
    usable
        Refuse ratings in which no two raters meet.
    round_name
        The round to read, of a table with a column of them; it may be omitted where that names one.
    limits
        How large the table may be.

    Raises
    ------
    RatingsError
        The file or the ratings in it are not what they must be, or are of several rounds.
    """
    frame, chosen = _read(path, columns, layout, limits)
    frame = of_round(frame, round_name, f"{path.name}: column {chosen.get('round', 'round')!r}")
    where = f"{path.name}: {f'column {columns.label!r}' if layout == 'long' else 'the columns of raters'}"
    if scale is None and level in ("nominal", "ordinal"):
        limits.refuse_beyond(
            "categories",
            frame["label"].map(category_text, na_action="ignore").nunique(),
            where,
            "different labels",
        )
    wide_open = scale or (
        Scale(None, level)
        if level in ("interval", "ratio")
        else _suggested(frame["label"], level, where)
    )
    ratings = Ratings.from_frame(
        frame, wide_open, classifiers=classifiers, source=path.name, columns=chosen
    )
    if scale is None:
        ratings = replace(ratings, scale=_suggested(ratings.table["label"], level, where))
    if usable:
        refuse_unusable(ratings, path.name)
    return ratings


def read_table(
    path: Path, columns: Columns = COLUMNS, *, layout: Layout = "long", limits: Limits = LIMITS
) -> pd.DataFrame:
    """The ratings in a table under their canonical names, one row a rating in the file's order.

    Cells of text are kept as they are written (`NA`, `001` and `1e5` too); only an empty one is missing. Columns that nothing names are left out.

    Parameters
    ----------
    path
        A .csv, .tsv, .jsonl, .ndjson or .parquet file.
    columns
        What its columns are called.
    layout
        long: one row a rating. wide: one row an item, one column a rater.
    limits
        How large it may be.

    Returns
    -------
    DataFrame
        The index level `row` is the row of the file, and in a wide table the level `column` is its column.

    Raises
    ------
    RatingsError
        The file is not what it must be, or has not the columns.
    ProjectError
        Columns of raters are named for a long table, or one of raters or labels for a wide one.
    """
    return _read(path, columns, layout, limits)[0]


def of_round(frame: pd.DataFrame, name: str | None, where: str) -> pd.DataFrame:
    """The rows of one round; all of them where none is named, and the table names no more than one.

    Raises
    ------
    RatingsError
        The table names several rounds and nobody one of them, or not the one that is named.
    """
    found = [] if "round" not in frame else frame["round"].drop_duplicates().tolist()
    if name is None and len(found) <= 1:
        return frame
    if name is None:
        raise RatingsError(
            f"{where}: {len(found)} rounds found, {listed(found)}; one is required of ratings that are read as one. Choose one (--of-round NAME, or "
            "columns: {round: …} in a project for a round each), or rename the column to read them together."
        )
    if name not in found:
        raise RatingsError(
            f"{where}: no round {name!r} among {listed(found)}; one that is there is required. Correct its name."
        )
    return frame[frame["round"] == name]


def read_rounds(path: Path, columns: Columns, limits: Limits = LIMITS) -> tuple[str, ...]:
    """The rounds that a table with a column of them names, sorted.

    Raises
    ------
    RatingsError
        The file is not what it must be, has no such column, or has a row without a round.
    """
    cells = read_cells(path, limits)
    column = columns.round or "round"
    if column not in cells:
        raise RatingsError(
            f"{path.name}: no column {column!r} among {listed(cells.columns)}; the round of every row is required. Name the column that holds it."
        )
    absent = cells.index[cells[column].isna()]
    if len(absent):
        raise RatingsError(
            f"{path.name}: rows {listed(absent.tolist())}, column {column!r}: no round found; one is required in every row. Fill it in."
        )
    return tuple(sorted({category_text(name) for name in cells[column]}))


def refuse_unusable(ratings: Ratings, source: str) -> None:
    """Refuse ratings that cannot say how far raters agree, since no two of them meet.

    Raises
    ------
    RatingsError
        Fewer than two raters of the panel, or no item that two of them rated.
    """
    raters = ratings.raters
    if len(raters) < 2:
        models = (
            f", and the classifiers {listed(ratings.classifiers)}" if ratings.classifiers else ""
        )
        raise RatingsError(
            f"{source}: ratings by {len(raters)} rater found, {listed(raters)}{models}; two raters or more are required, since agreement compares them. "
            "Add the other raters' ratings, or name the column that tells the raters apart."
        )
    panel = ratings.current[ratings.current["rater"].isin(raters)]
    each = panel.groupby("item").size()
    if not (each >= 2).any():
        raise RatingsError(
            f"{source}: no item with ratings by two raters found ({len(panel)} ratings of {len(each)} items by {len(raters)} raters); "
            "at least one is required. Let raters overlap on some items, and check that their exports name the items alike."
        )


def _read(
    path: Path, columns: Columns, layout: Layout, limits: Limits
) -> tuple[pd.DataFrame, dict[str, str]]:
    """The ratings, and what the columns they came from are called."""
    _refuse_of_other_layout(columns, layout)
    cells = read_cells(path, limits)
    header = [str(name) for name in cells.columns]
    chosen = chosen_columns(header, columns, layout, path.name)
    raters = rater_columns(header, columns, chosen, path.name) if layout == "wide" else []
    _refuse_no_single_value(cells, (*chosen.values(), *raters), path.name)
    _refuse_long(
        cells,
        [*(column for name, column in chosen.items() if name in NAMED), *raters],
        path.name,
        limits,
    )
    frame = cells[list(chosen.values())].set_axis(list(chosen), axis=1)
    if "round" in frame:
        frame["round"] = frame["round"].map(category_text, na_action="ignore")
    return (_by_rater(frame, cells[raters]) if raters else frame), chosen


def _refuse_of_other_layout(columns: Columns, layout: Layout) -> None:
    if layout == "long" and columns.raters:
        raise ProjectError(
            f"columns: raters {listed(columns.raters)} found in the layout long; they belong to a wide table. Say layout wide, or name no raters."
        )
    named = [
        f"{name} {getattr(columns, name)!r}"
        for name in ("rater", "label")
        if getattr(columns, name) != getattr(COLUMNS, name)
    ]
    if layout == "wide" and named:
        raise ProjectError(
            f"columns: {' and '.join(named)} found in the layout wide; they belong to a long table. Say layout long, or name the columns of raters alone."
        )


def _suggested(labels: pd.Series, level: Level, where: str) -> Scale:
    if labels.isna().all():
        raise RatingsError(
            f"{where}: no label found in {len(labels)} rows; at least one rating is required. Check that the export is complete."
        )
    try:
        return Scale.from_labels(labels.dropna(), level)
    except RatingsError as error:
        raise RatingsError(f"{where}: {error}") from None


def _by_rater(frame: pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    """One row a rating, row by row of the wide table."""
    raters = labels.columns.tolist() * len(labels)
    ratings = frame.iloc[np.repeat(np.arange(len(frame)), labels.shape[1])]
    ratings = ratings.set_axis(
        pd.MultiIndex.from_arrays([ratings.index, raters], names=["row", "column"])
    )
    return ratings.assign(rater=raters, label=labels.astype(object).to_numpy().ravel())


def _refuse_long(cells: pd.DataFrame, names: Iterable[str], source: str, limits: Limits) -> None:
    for name in names:
        limits.refuse_beyond(
            "name_length", len(name), f"{source}: row 1", "characters in the name of a column"
        )
        if cells[name].dtype in (object, "str"):
            lengths = cells[name].map(_length)
            limits.refuse_beyond(
                "name_length",
                int(lengths.max()),
                f"{source}: row {lengths.idxmax()}, column {name!r}",
                "characters",
            )


def _length(value: object) -> int:
    return len(value) if isinstance(value, str) else 0


def _refuse_no_single_value(cells: pd.DataFrame, names: Iterable[str], source: str) -> None:
    for name in names:
        bad = (
            cells[name][cells[name].map(_no_single_value)]
            if cells[name].dtype == object
            else cells[name].iloc[:0]
        )
        if len(bad):
            found = bad.iloc[0]
            raise RatingsError(
                f"{source}: row {bad.index[0]}, column {name!r}: {found!r} found; one value, or null, is required. {_next_step(found)}"
            )


def _next_step(found: object) -> str:
    values = list(found) if isinstance(found, (list, np.ndarray)) else []
    if len(values) != 1 or _no_single_value(values[0]):
        return "Correct the row."
    return f"One label a rating: write the value itself out, as {str(values[0])!r}."


def _no_single_value(value: object) -> bool:
    return isinstance(value, (list, dict, np.ndarray)) or (
        isinstance(value, float) and math.isnan(value)
    )


__all__ = [
    "COLUMNS",
    "UNFINISHED",
    "Columns",
    "Layout",
    "of_round",
    "read_ratings",
    "read_rounds",
    "read_table",
    "refuse_unusable",
]
