"""The checks of a long table of ratings; an error names the row and the column."""

from dataclasses import dataclass
from typing import NoReturn

import numpy as np
import pandas as pd

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings.coding import by_distinct, coded, numbers_in, order_of, row_keys
from agreement_pipeline.ratings.lookalikes import described, lookalikes
from agreement_pipeline.ratings.scale import Scale
from agreement_pipeline.ratings.spelling import LARGEST, numbers_of
from agreement_pipeline.text import listed

MOST_OCCURRENCES = 2**31 - 1
KEY = ("item", "rater", "occurrence")
REQUIRED = ("item", "rater", "label")
CONTENT = ("text", "gold", "cluster", "weight")
MOST_WEIGHT = 2**53
FLAGS = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False, "": False}


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
    where = _Where.of(frame, source, columns, first_row)
    frame = frame.reset_index(drop=True)
    table = _present(frame, where)
    table = pd.DataFrame(
        {
            "item": _names(table, "item", where),
            "rater": _names(table, "rater", where),
            "label": _labels(table["label"], scale, where),
            "occurrence": _occurrences(table, where),
            "earlier": _flags(table, "earlier", where),
            **({"confidence": _confidences(table, where)} if "confidence" in table else {}),
            **({"timestamp": table["timestamp"]} if "timestamp" in table else {}),
        }
    )
    return _sorted(table, where), _contents(frame, where)


def _sorted(table: pd.DataFrame, where: "_Where") -> pd.DataFrame:
    """The ratings in the order of item, rater and occurrence, if none is there twice."""
    order = _order(table, where)
    return (table if order is None else table.iloc[order]).reset_index(drop=True)


def _order(table: pd.DataFrame, where: "_Where") -> np.ndarray | None:
    """The places of the ratings in order. None if they are in order."""
    keys = row_keys(table)
    if (keys[1:] > keys[:-1]).all():
        return None
    order = order_of(keys)
    if order is None:
        _refuse_repeats(table, keys, where)
    return order


@dataclass(frozen=True)
class _Where:
    """Places for errors: a file, the names of its columns, and the row of each rating.

    In a wide table each rating has a rater's column too.
    """

    source: str
    columns: dict[str, str]
    rows: pd.Index
    rater_columns: pd.Index | None

    @classmethod
    def of(
        cls, frame: pd.DataFrame, source: str, columns: dict[str, str], first_row: int
    ) -> "_Where":
        levels = frame.index.names
        rows = (
            frame.index.get_level_values("row")
            if "row" in levels
            else pd.RangeIndex(first_row, first_row + len(frame))
        )
        return cls(
            source,
            columns,
            rows,
            frame.index.get_level_values("column") if "column" in levels else None,
        )

    def column(self, name: str) -> str:
        return self.columns.get(name, name)

    def at(self, positions: pd.Index, *names: str) -> str:
        """The file, the rows and the columns, in words."""
        if self.rater_columns is not None and {"rater", "label"} & set(names):
            cells = [f"row {self.rows[i]} column {self.rater_columns[i]!r}" for i in positions]
            more = f", … {len(cells) - 5} more" if len(cells) > 5 else ""
            return f"{self.source}: {', '.join(cells[:5])}{more}"
        rows = dict.fromkeys(self.rows[positions].tolist())
        columns = [self.column(name) for name in names]
        return f"{self.source}: {_counted('row', list(rows))}, {_counted('column', columns)}"


def _counted(what: str, values: list[object] | list[str]) -> str:
    return f"{what} {values[0]!r}" if len(values) == 1 else f"{what}s {listed(values)}"


def _present(frame: pd.DataFrame, where: _Where) -> pd.DataFrame:
    missing = [name for name in REQUIRED if name not in frame.columns]
    if missing:
        there = listed([where.column(str(name)) for name in frame.columns])
        raise RatingsError(
            f"{where.source}: found no column {listed([where.column(name) for name in missing])} "
            f"among {there}; expected item, rater and label. Name the columns that hold them."
        )
    twice = sorted({str(name) for name in frame.columns[frame.columns.duplicated()]})
    if twice:
        raise RatingsError(
            f"{where.source}: found column {listed(twice)} twice; expected each once. "
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


def _names(table: pd.DataFrame, name: str, where: _Where) -> pd.Series:
    found = coded(table[name])
    bad = table.index[found.each(_blank(found.texts), True)]
    if len(bad):
        raise RatingsError(
            f"{where.at(bad, name)}: found no {name}; expected one in every row. "
            "Fill it in or drop the rows."
        )
    return pd.Series(found.categorical(), index=table.index)


def _blank(texts: pd.Index) -> np.ndarray:
    """True for texts of nothing but blanks."""
    likely = np.flatnonzero(~texts.str.contains(r"[!-~]", regex=True))
    blank = np.zeros(len(texts), dtype=bool)
    blank[likely] = [not text.strip() for text in texts[likely]]
    return blank


def _labels(labels: pd.Series, scale: Scale, where: _Where) -> pd.Series:
    if scale.dimensions > 1:
        return _vectors(labels, scale, where)
    if scale.numeric:
        return _numbers(labels, scale, where)
    found = coded(labels)
    places = found.each(scale.places(found.texts), -1)
    bad = places < 0
    if bad.any():
        off = sorted(set(found.texts[found.codes[bad]]))
        raise RatingsError(
            f"{where.at(labels.index[bad], 'label')}: found label {listed(off)}; expected "
            f"one of {listed(scale.names, 12)}. Correct the label or add it to the scale."
        )
    names = pd.Categorical.from_codes(places, categories=pd.Index(scale.names, dtype="str"))
    return pd.Series(names, index=labels.index)


def _numbers(labels: pd.Series, scale: Scale, where: _Where) -> pd.Series:
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
            f"{where.at(bad, 'label')}: found label {listed(labels[bad].tolist())}; expected "
            f"{need} on the {scale.level} level{most}. "
            "Correct the label, or use level nominal or ordinal for names."
        )
    return numbers


def _vectors(labels: pd.Series, scale: Scale, where: _Where) -> pd.Series:
    vectors = labels.map(numbers_of)
    bad = labels.index[vectors.map(len) != scale.dimensions]
    if len(bad):
        raise RatingsError(
            f"{where.at(bad, 'label')}: found label {listed(labels[bad].tolist())}; expected "
            f"{scale.dimensions} finite numbers on the {scale.level} level, none beyond "
            f"{LARGEST:g} in size, as {'|'.join('1' * scale.dimensions)}. Correct the label."
        )
    return vectors.astype(object)


def _occurrences(table: pd.DataFrame, where: _Where) -> pd.Series:
    if "occurrence" not in table:
        return pd.Series(np.ones(len(table), dtype=np.int32), index=table.index)
    step = "Number a rater's meetings with an item 1, 2, …."
    return _whole(table, "occurrence", MOST_OCCURRENCES, step, where).astype("int32")


def _whole(table: pd.DataFrame, name: str, most: int, step: str, where: _Where) -> pd.Series:
    numbers = pd.Series(numbers_in(table[name]), index=table.index)
    bad = numbers.index[~((numbers >= 1) & (numbers <= most) & (numbers % 1 == 0))]
    if len(bad):
        raise RatingsError(
            f"{where.at(bad, name)}: found {listed(table[name][bad].tolist())}; "
            f"expected a whole number from 1 to {most}. {step}"
        )
    return numbers


def _flags(table: pd.DataFrame, name: str, where: _Where) -> pd.Series:
    """A column of yes and no. A blank means no."""
    if name not in table:
        return pd.Series(np.zeros(len(table), dtype=bool), index=table.index)
    if table[name].dtype == bool:
        return table[name]
    said = by_distinct(table[name], _flag, 0)
    bad = table.index[said < 0]
    if len(bad):
        raise RatingsError(
            f"{where.at(bad, name)}: found {listed(table[name][bad].tolist())}; "
            "expected yes or no (true, false, 1, 0). Correct it."
        )
    return pd.Series(said == 1, index=table.index)


def _flag(texts: pd.Series) -> list[int]:
    """1 for yes, 0 for no, -1 for what is neither."""
    return [int(FLAGS.get(text.strip().lower(), -1)) for text in texts]


def _confidences(table: pd.DataFrame, where: _Where) -> pd.Series:
    """Numbers from 0 to 1; NaN for a rating without one."""
    said = table["confidence"]
    numbers = pd.Series(numbers_in(said), index=table.index)
    likely = said.notna() & ~((numbers >= 0) & (numbers <= 1))
    bad = table.index[likely & (said.astype(str).str.strip() != "" if likely.any() else False)]
    if len(bad):
        raise RatingsError(
            f"{where.at(bad, 'confidence')}: found {listed(table['confidence'][bad].tolist())}; "
            "expected a number from 0 to 1, or nothing. Divide by the highest confidence that "
            "could be stated, or leave the column out."
        )
    return numbers


def _refuse_repeats(table: pd.DataFrame, keys: np.ndarray, where: _Where) -> NoReturn:
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


def _contents(frame: pd.DataFrame, where: _Where) -> pd.DataFrame:
    """The contents of the items. All rows of an item must have the same contents."""
    names = [name for name in CONTENT if name in frame.columns]
    if not names:
        return pd.DataFrame(index=pd.Index([], name="item", dtype="str"))
    items = pd.Series(coded(frame["item"]).categorical(), index=frame.index)
    said = frame[names].assign(item=items)[items.notna()]
    if "gold" in names:
        said["gold"] = _flags(said, "gold", where)
    if "cluster" in names:
        said["cluster"] = _clusters(said, where)
    if "weight" in names:
        step = "Say how many equal items the item stands for, or leave the column out."
        said["weight"] = _whole(said, "weight", MOST_WEIGHT, step, where).astype("int64")
    said = said.drop_duplicates()
    bad = said.index[said["item"].duplicated(keep=False)]
    if len(bad):
        item = said.loc[bad[0], "item"]
        raise RatingsError(
            f"{where.at(bad, *names)}: found two different contents of item {item!r}; "
            "expected one. Give each content its own item."
        )
    ordered = said.sort_values("item")
    if "text" in names and isinstance(ordered["text"].dtype, pd.CategoricalDtype):
        ordered["text"] = ordered["text"].astype("str")
    index = pd.Index(ordered["item"].astype("str"), name="item")
    return ordered.drop(columns="item").set_axis(index)


def _clusters(said: pd.DataFrame, where: _Where) -> pd.Series:
    """The cluster of each row's item. Every item has one cluster, the same in all its rows."""
    found = coded(said["cluster"])
    absent = said.index[found.each(_blank(found.texts), True)]
    if len(absent):
        raise RatingsError(
            f"{where.at(absent, 'cluster')}: found no cluster, and others have one; expected one "
            "for every item, or for none. Fill it in: an item that belongs to no other is a "
            "cluster of its own."
        )
    names = pd.Series(found.categorical(), index=said.index)
    _refuse_alike(names, where)
    pairs = pd.DataFrame({"item": said["item"], "cluster": names}).drop_duplicates()
    several = pairs.index[pairs["item"].duplicated(keep=False)]
    if len(several):
        item = said.loc[several[0], "item"]
        mine = names[said["item"] == item].drop_duplicates()
        raise RatingsError(
            f"{where.at(mine.index, 'cluster')}: found item {item!r} in clusters "
            f"{listed(mine.tolist())}; expected one of each item. "
            "Correct the cluster, or give each its own item."
        )
    return names.astype("str")


def _refuse_alike(names: pd.Series, where: _Where) -> None:
    """Refuse clusters that print alike: they are probably one cluster, written in several ways.

    If one cluster counted as several, every interval would be too narrow.
    """
    alike = lookalikes(names.cat.categories)
    if alike:
        rows = names.index[names.isin(alike[0])]
        raise RatingsError(
            f"{where.at(rows, 'cluster')}: found clusters {described(alike[0])}, which print "
            "alike; expected names that do not. "
            "Write the cluster in one way, or rename one of them."
        )
