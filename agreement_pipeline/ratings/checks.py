"""The checks of a long table of ratings; an error names the row and the column."""

from typing import NoReturn

import numpy as np
import pandas as pd

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings.coding import by_distinct, coded, numbers_in
from agreement_pipeline.ratings.contents import blank, contents_of, flags, whole_numbers
from agreement_pipeline.ratings.row_order import is_in_order, order_of, reordered, row_keys
from agreement_pipeline.ratings.scale import Scale
from agreement_pipeline.ratings.spelling import LARGEST, numbers_of
from agreement_pipeline.ratings.texts import TEXT
from agreement_pipeline.ratings.where import Where
from agreement_pipeline.text import called, listed

MOST_OCCURRENCES = 2**31 - 1
KEY = ("item", "rater", "occurrence")
REQUIRED = ("item", "rater", "label")


def checked(
    frame: pd.DataFrame, scale: Scale, source: str, columns: dict[str, str], first_row: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The ratings of a long table in order, one row each, and the contents of its items.

    The parameters are those of `Ratings.from_frame`.

    Raises
    ------
    RatingsError
        A check fails. The message names the file, the row and the column.
    """
    where = Where.of(frame, source, columns, first_row)
    frame = frame.reset_index(drop=True)
    table = _present(frame, where)
    table = pd.DataFrame(
        {
            "item": _names(table, "item", where),
            "rater": _names(table, "rater", where),
            "label": _labels(table["label"], scale, where),
            "occurrence": _occurrences(table, where),
            "earlier": flags(table, "earlier", where),
            **({"confidence": _confidences(table, where)} if "confidence" in table else {}),
            **({"assisted": _assisted(table, where)} if "assisted" in table else {}),
            **({"drawn": _drawn(table, where)} if "drawn" in table else {}),
            **({"timestamp": table["timestamp"]} if "timestamp" in table else {}),
        }
    )
    return _sorted(table, where), contents_of(frame, scale, where)


def _sorted(table: pd.DataFrame, where: Where) -> pd.DataFrame:
    """The ratings in the order of item, rater and occurrence, if none is there twice."""
    order = _order(table, where)
    return table.reset_index(drop=True) if order is None else reordered(table, order)


def _order(table: pd.DataFrame, where: Where) -> np.ndarray | None:
    """The places of the ratings in order. None if they are in order."""
    if is_in_order(table):
        return None
    keys = row_keys(table)
    order = order_of(keys)
    if order is None:
        _refuse_repeats(table, keys, where)
    return order


def _present(frame: pd.DataFrame, where: Where) -> pd.DataFrame:
    missing = [name for name in REQUIRED if name not in frame.columns]
    if missing:
        there = listed([where.column(str(name)) for name in frame.columns], 12)
        absent = called("column", map(where.column, missing))
        raise RatingsError(
            f"{where.source}: found no {absent} among {there}; expected item, rater and label. "
            "Name the columns that hold them."
        )
    twice = sorted({str(name) for name in frame.columns[frame.columns.duplicated()]})
    if twice:
        raise RatingsError(
            f"{where.source}: found {called('column', twice)} twice; expected each once. "
            "Drop or rename the other one."
        )
    labelled = frame["label"].notna()
    rated = frame if labelled.all() else frame.loc[labelled]
    if rated.empty:
        raise RatingsError(
            f"{where.source}: found no rating; expected at least one row with a label. "
            "Check that the export is complete."
        )
    return rated


def _names(table: pd.DataFrame, name: str, where: Where) -> pd.Series:
    found = coded(table[name])
    lacking = blank(found.texts)
    if lacking.any() or found.codes.min() < 0:
        bad = table.index[found.each(lacking, True)]
        raise RatingsError(
            f"{where.at(bad, name)}: found no {name}; expected one in every row. "
            f"Fill it in or drop the row{'' if len(bad) == 1 else 's'}."
        )
    return pd.Series(found.categorical(), index=table.index)


def _labels(labels: pd.Series, scale: Scale, where: Where) -> pd.Series:
    if scale.dimensions > 1:
        return _vectors(labels, scale, where)
    if scale.numeric:
        return _numbers(labels, scale, where)
    found = coded(labels)
    places = found.each(np.asarray(scale.places(found.texts), dtype=np.int32), np.int32(-1))
    bad = places < 0
    if bad.any():
        off = sorted(set(found.texts[found.codes[bad]]))
        raise RatingsError(
            f"{where.at(labels.index[bad], 'label')}: found {called('label', off)}; expected "
            f"one of {listed(scale.names, 12)}. Correct the label or add it to the scale."
        )
    names = pd.Categorical.from_codes(places, categories=pd.Index(scale.names, dtype=TEXT))
    return pd.Series(names, index=labels.index)


def _numbers(labels: pd.Series, scale: Scale, where: Where) -> pd.Series:
    numbers = pd.Series(numbers_in(labels), index=labels.index)
    known = (numbers.abs() <= LARGEST) & (
        numbers.isin(scale.categories) if scale.categories else True
    )
    bad = numbers.index[~known | ((numbers < 0) if scale.level == "ratio" else False)]
    if len(bad):
        need = (
            f"one of {listed(scale.names, 12)}"
            if scale.categories
            else f"a finite {'non-negative ' if scale.level == 'ratio' else ''}number"
        )
        most = "" if scale.categories else f", none beyond {LARGEST:g} in size"
        raise RatingsError(
            f"{where.at(bad, 'label')}: found {called('label', labels[bad])}; expected "
            f"{need} on the {scale.level} level{most}. "
            "Correct the label, or use level nominal or ordinal for names."
        )
    return numbers


def _vectors(labels: pd.Series, scale: Scale, where: Where) -> pd.Series:
    vectors = labels.map(numbers_of)
    bad = labels.index[vectors.map(len) != scale.dimensions]
    if len(bad):
        raise RatingsError(
            f"{where.at(bad, 'label')}: found {called('label', labels[bad])}; expected "
            f"{scale.dimensions} finite numbers on the {scale.level} level, none beyond "
            f"{LARGEST:g} in size, as {'|'.join('1' * scale.dimensions)}. Correct the label."
        )
    return vectors.astype(object)


def _occurrences(table: pd.DataFrame, where: Where) -> pd.Series:
    if "occurrence" not in table:
        return pd.Series(np.ones(len(table), dtype=np.int32), index=table.index)
    step = "Number a rater's meetings with an item from 1."
    return whole_numbers(table, "occurrence", MOST_OCCURRENCES, step, where).astype("int32")


def _confidences(table: pd.DataFrame, where: Where) -> pd.Series:
    """Numbers from 0 to 1; NaN for a rating without one."""
    said = table["confidence"]
    numbers = pd.Series(numbers_in(said), index=table.index)
    likely = said.notna() & ~((numbers >= 0) & (numbers <= 1))
    bad = table.index[likely & (said.astype(TEXT).str.strip() != "" if likely.any() else False)]
    if len(bad):
        raise RatingsError(
            f"{where.at(bad, 'confidence')}: found {listed(table['confidence'][bad].tolist())}; "
            "expected a number from 0 to 1, or nothing. Divide by the highest confidence that "
            "could be stated, or leave the column out."
        )
    return numbers


def _assisted(table: pd.DataFrame, where: Where) -> pd.Series:
    """Whether each label began as a suggestion; missing where that is not known."""
    said = table["assisted"]
    unknown = by_distinct(said, lambda texts: blank(pd.Index(texts)), True)
    return flags(table, "assisted", where).astype("boolean").mask(unknown)


def _drawn(table: pd.DataFrame, where: Where) -> pd.Series:
    """Where the object of each rating lies, as text; missing for a rating without one."""
    said = table["drawn"]
    bad = table.index[said.notna() & ~said.map(lambda each: isinstance(each, str))]
    if len(bad):
        raise RatingsError(
            f"{where.at(bad, 'drawn')}: found {listed(said[bad].tolist())}; expected a list of "
            "numbers as text, or nothing. Leave the column out."
        )
    return said.astype(TEXT)


def _refuse_repeats(table: pd.DataFrame, keys: np.ndarray, where: Where) -> NoReturn:
    twice = pd.Series(keys, index=table.index).duplicated(keep=False)
    first = table[twice].iloc[0]
    same = table[
        (table["item"] == first["item"])
        & (table["rater"] == first["rater"])
        & (table["occurrence"] == first["occurrence"])
    ]
    raise RatingsError(
        f"{where.at(same.index, 'item', 'rater')}: found {len(same)} labels of rater "
        f"{first['rater']!r} for item {first['item']!r} as occurrence {first['occurrence']} "
        f"({listed(same['label'].tolist())}, {int(twice.sum())} such rows in all); "
        "expected one label for each (item, rater, occurrence). Keep one of them, name the column "
        "that numbers the occurrences, or give each round a table of its own."
    )
