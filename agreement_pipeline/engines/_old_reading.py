"""What the engines read of tables, and what they check in memory."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd

from agreement_pipeline.engines._old_cells import Cells, file_cells, refuse_no_row
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.mistakes import shown
from agreement_pipeline.ratings import (
    Level,
    Ratings,
    Scale,
    are_texts,
    category_text,
    coded,
    refuse_all_tiny,
)
from agreement_pipeline.readers import LIMITS, Classifiers, Limits
from agreement_pipeline.text import called, listed

OF_RATERS = "the columns of raters"
BINARY = (bytes, bytearray, memoryview)


@dataclass(frozen=True, eq=False)
class Rows:
    """The ratings of a source under canonical names."""

    frame: pd.DataFrame
    columns: dict[str, str]
    source: str


def of_round(rows: Rows, name: str | None) -> Rows:
    """The rows of one round. If no round is named, all rows of a source with at most one round."""
    frame, where = rows.frame, f"{rows.source}: column {rows.columns.get('round', 'round')!r}"
    said = frame["round"].drop_duplicates() if "round" in frame else pd.Series(dtype=object)
    found = said.dropna().tolist()
    if name is None and found and said.isna().any():
        raise RatingsError(
            f"{where}: found rows without a round beside {called('round', found)}; expected a "
            "round in every row, or in none. Fill it in."
        )
    if name is None and len(found) <= 1:
        return rows
    if name is None:
        raise RatingsError(
            f"{where}: found {len(found)} rounds, {listed(found)}; expected one for ratings that "
            "are read as one. Choose one (--of-round NAME, or columns: {round: …} in a project "
            "for a round each), or read them together (--all-rounds, or all_rounds: true)."
        )
    if not found:
        raise RatingsError(
            f"{where}: found no round in any row; expected rows of round {name!r}. "
            "Name the column of rounds, or no round."
        )
    if name not in found:
        raise RatingsError(
            f"{where}: found no round {name!r} among {listed(found)}; expected one of these. "
            "Correct its name."
        )
    return replace(rows, frame=frame[(frame["round"] == name).to_numpy()])


def checked_rows(
    rows: Rows,
    *,
    scale: Scale | None = None,
    level: Level = "nominal",
    classifiers: Classifiers = (),
    limits: Limits = LIMITS,
) -> Ratings:
    """Check rows under canonical names, and find their scale if none is given.

    Raises
    ------
    RatingsError
        A check of the ratings fails.
    """
    labels = f"column {rows.columns['label']!r}" if "label" in rows.columns else OF_RATERS
    where = f"{rows.source}: {labels}"
    _refuse_no_label(rows, where)
    if scale is None:
        _refuse_many_categories(rows.frame, level, limits, where)
    ratings = Ratings.from_frame(
        rows.frame,
        scale or _widest(rows.frame["label"], level, where),
        classifiers=sorted(_chosen(classifiers, rows)),
        source=rows.source,
        columns=rows.columns,
    )
    if ratings.scale.numeric:
        refuse_all_tiny(ratings.numbers, where)
    if scale is None:
        ratings = replace(ratings, scale=_suggested(ratings.table["label"], level, where))
    return ratings


def _chosen(classifiers: Classifiers, rows: Rows) -> Sequence[str]:
    if callable(classifiers):
        return classifiers(_distinct(rows.frame["rater"]), rows.source)
    return classifiers


def _refuse_no_label(rows: Rows, where: str) -> None:
    if rows.frame["label"].notna().any():
        return
    found, step = "no label in any row", "Check that the export is complete"
    raise RatingsError(f"{where}: found {found}; expected at least one rating. {step}.")


def _refuse_many_categories(frame: pd.DataFrame, level: Level, limits: Limits, where: str) -> None:
    if level in ("nominal", "ordinal"):
        different = len(coded(frame["label"]).texts)
        limits.refuse_beyond("categories", different, where, "different labels")


def _widest(labels: pd.Series, level: Level, where: str) -> Scale:
    """A scale that holds every label that the level allows."""
    if level in ("interval", "ratio"):
        return Scale(None, level)
    return _suggested(labels, level, where)


def _suggested(labels: pd.Series, level: Level, where: str) -> Scale:
    try:
        return Scale.from_labels(_distinct(labels), level)
    except RatingsError as error:
        raise RatingsError(f"{where}: {error}") from None


def _distinct(labels: pd.Series) -> Iterable[object]:
    """The labels without those that are missing, each once if they are of one kind."""
    if isinstance(labels.dtype, pd.CategoricalDtype):
        return coded(labels).texts
    there = labels.dropna()
    return there if there.dtype == object and not are_texts(there) else there.unique()


def text_batches(cells: Cells, columns: Mapping[str, str]) -> Iterator[Any]:
    """The cells of a file of text under canonical names, in batches.

    They are what `table_rows` reads, for what takes Arrow batches and holds them elsewhere.

    Raises
    ------
    RatingsError
        The file is broken, holds no row, or has its header twice.
    """
    import pyarrow as pa

    assert cells.parts is not None
    row, key = cells.first, [columns[name] for name in ("label", "item", "rater")]
    for some in cells.parts(list(columns.values())):
        rows = pd.RangeIndex(row, row + len(some), name="row")
        of_json = isinstance(some, pd.DataFrame)
        part = _texts_of_json(some.set_axis(rows), columns, cells.source) if of_json else some
        _refuse_header_in(part, key, row, cells.source)
        yield pa.record_batch(part.columns, names=[*columns])
        row += len(part)
    refuse_no_row(row - cells.first, cells.source)


def _texts_of_json(frame: pd.DataFrame, columns: Mapping[str, str], source: str) -> Any:
    """Cells of JSON as a batch of texts. All but lists are texts already."""
    import pyarrow as pa

    label = columns["label"]
    cells = frame.assign(**{label: _lists_as_text(frame[label])})
    _refuse_no_single_value(cells, columns.values(), source, [label])
    texts = {name: pa.array(cells[name], pa.large_string(), from_pandas=True) for name in cells}
    return pa.record_batch(texts)


def _refuse_header_in(batch: Any, columns: Sequence[str], first: int, source: str) -> None:
    import pyarrow.compute as pc

    again = reduce(pc.and_, [pc.equal(batch[name], name) for name in columns])
    place = pc.index(again, True).as_py()
    if place >= 0:
        raise _header_again(source, first + place)


def _header_again(source: str, row: int) -> RatingsError:
    return RatingsError(
        f"{source}: row {row}: found the header again; expected it once, above all ratings. "
        "Remove the row, or deliver the files in one folder."
    )


def _lists_as_text(labels: pd.Series) -> pd.Series:
    """Lists as text with `|` between their members. A list with an odd member stays a list."""
    if labels.dtype != object:
        return labels
    is_list = labels.map(lambda label: isinstance(label, (list, np.ndarray)))
    return labels.mask(is_list, labels[is_list].map(_list_as_text)) if is_list.any() else labels


def _list_as_text(label: "list[object] | np.ndarray") -> object:
    members = np.atleast_1d(label).tolist() if isinstance(label, np.ndarray) else list(label)
    if any(_no_single_value(each) or each is None for each in members):
        return members
    texts = list(map(category_text, members))
    return members if any(not text or "|" in text for text in texts) else "|".join(texts) or "|"


def _refuse_no_single_value(
    cells: pd.DataFrame, names: Iterable[str], source: str, labels: Collection[str]
) -> None:
    for name in names:
        bad = (
            cells[name][cells[name].map(_no_single_value)]
            if cells[name].dtype == object
            else cells[name].iloc[:0]
        )
        if len(bad):
            found = bad.iloc[0]
            lists = name in labels and isinstance(found, list)
            several = "one label, a list of labels (none empty, none with |)"
            expected = several if lists else "one value"
            expected = "text" if isinstance(found, BINARY) else expected
            raise RatingsError(
                f"{source}: row {bad.index[0]}, column {name!r}: found {shown(found)}; "
                f"expected {expected}, or null. Correct the row."
            )


def _no_single_value(value: object) -> bool:
    return isinstance(value, (list, dict, np.ndarray, *BINARY)) or (
        isinstance(value, float) and math.isnan(value)
    )


__all__ = ["Cells", "Rows", "checked_rows", "file_cells", "of_round", "text_batches"]
