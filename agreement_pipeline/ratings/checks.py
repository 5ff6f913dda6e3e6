"""The checks of a long table of ratings; an error names the row and the column."""

from dataclasses import dataclass

import pandas as pd

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings.lookalikes import described, lookalikes
from agreement_pipeline.ratings.scale import LARGEST, Scale, category_text, numbers_of
from agreement_pipeline.text import listed

KEY = ("item", "rater", "occurrence")
REQUIRED = ("item", "rater", "label")
CONTENT = ("text", "gold", "cluster")
FLAGS = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False, "": False}


def checked(
    frame: pd.DataFrame, scale: Scale, source: str, columns: dict[str, str], first_row: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The ratings of a long table, one row each, and the contents of its items.

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
    _refuse_repeats(table, where)
    return table, _contents(frame, where)


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
    rated = frame[frame["label"].notna()]
    if rated.empty:
        raise RatingsError(
            f"{where.source}: found no rating; expected at least one row with a label. "
            "Check that the export is complete."
        )
    return rated


def _names(table: pd.DataFrame, name: str, where: _Where) -> pd.Series:
    values = table[name]
    bad = values.index[values.isna() | (values.astype(str).str.strip() == "")]
    if len(bad):
        raise RatingsError(
            f"{where.at(bad, name)}: found no {name}; expected one in every row. "
            "Fill it in or drop the rows."
        )
    return values.map(category_text).astype(str).astype(object)


def _labels(labels: pd.Series, scale: Scale, where: _Where) -> pd.Series:
    if scale.dimensions > 1:
        return _vectors(labels, scale, where)
    if scale.numeric:
        return _numbers(labels, scale, where)
    texts = labels.map(category_text)
    bad = texts.index[~texts.isin(scale.names)]
    if len(bad):
        raise RatingsError(
            f"{where.at(bad, 'label')}: found label {listed(sorted(set(texts[bad])))}; expected "
            f"one of {listed(scale.names, 12)}. Correct the label or add it to the scale."
        )
    return texts.astype(object)


def _numbers(labels: pd.Series, scale: Scale, where: _Where) -> pd.Series:
    numbers = pd.to_numeric(labels, errors="coerce").astype(float)
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
        return pd.Series(1, index=table.index, dtype="int64")
    numbers = pd.to_numeric(table["occurrence"], errors="coerce")
    bad = numbers.index[~((numbers >= 1) & (numbers % 1 == 0))]
    if len(bad):
        raise RatingsError(
            f"{where.at(bad, 'occurrence')}: found {listed(table['occurrence'][bad].tolist())}; "
            "expected a whole number from 1. Number a rater's meetings with an item 1, 2, …."
        )
    return numbers.astype("int64")


def _flags(table: pd.DataFrame, name: str, where: _Where) -> pd.Series:
    """A column of yes and no. A blank means no."""
    if name not in table:
        return pd.Series(False, index=table.index)
    said = (
        table[name]
        .map(category_text, na_action="ignore")
        .astype(object)
        .map(lambda text: text.strip().lower(), na_action="ignore")
    )
    bad = said.index[said.notna() & ~said.isin(FLAGS)]
    if len(bad):
        raise RatingsError(
            f"{where.at(bad, name)}: found {listed(table[name][bad].tolist())}; "
            "expected yes or no (true, false, 1, 0). Correct it."
        )
    return said.map(FLAGS).eq(True)


def _confidences(table: pd.DataFrame, where: _Where) -> pd.Series:
    """Numbers from 0 to 1; NaN for a rating without one."""
    said = table["confidence"].map(
        lambda value: None if isinstance(value, str) and not value.strip() else value
    )
    numbers = pd.to_numeric(said, errors="coerce").astype(float)
    bad = numbers.index[said.notna() & ~((numbers >= 0) & (numbers <= 1))]
    if len(bad):
        raise RatingsError(
            f"{where.at(bad, 'confidence')}: found {listed(table['confidence'][bad].tolist())}; "
            "expected a number from 0 to 1, or nothing. Divide by the highest confidence that "
            "could be stated, or leave the column out."
        )
    return numbers


def _refuse_repeats(table: pd.DataFrame, where: _Where) -> None:
    twice = table.duplicated(list(KEY), keep=False)
    if not twice.any():
        return
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
    said = frame.assign(item=frame["item"].map(category_text, na_action="ignore").astype(object))[
        ["item", *names]
    ].dropna(subset=["item"])
    if "gold" in names:
        said["gold"] = _flags(said, "gold", where)
    if "cluster" in names:
        said["cluster"] = _clusters(said, where)
    said = said.drop_duplicates()
    bad = said.index[said["item"].duplicated(keep=False)]
    if len(bad):
        item = said.loc[bad[0], "item"]
        raise RatingsError(
            f"{where.at(bad, *names)}: found two different contents of item {item!r}; "
            "expected one. Give each content its own item."
        )
    return (
        said.set_index("item").sort_index()
        if names
        else pd.DataFrame(index=pd.Index([], name="item"))
    )


def _clusters(said: pd.DataFrame, where: _Where) -> pd.Series:
    """The cluster of each row's item. Every item has one cluster, the same in all its rows."""
    absent = said.index[said["cluster"].isna() | (said["cluster"].astype(str).str.strip() == "")]
    if len(absent):
        raise RatingsError(
            f"{where.at(absent, 'cluster')}: found no cluster, and others have one; expected one "
            "for every item, or for none. Fill it in: an item that belongs to no other is a "
            "cluster of its own."
        )
    names = said["cluster"].map(category_text).astype(str).astype(object)
    _refuse_alike(names, where)
    several = said["item"].isin(_in_several(said["item"], names))
    if several.any():
        item = said.loc[several, "item"].iloc[0]
        mine = names[said["item"] == item].drop_duplicates()
        raise RatingsError(
            f"{where.at(mine.index, 'cluster')}: found item {item!r} in clusters "
            f"{listed(mine.tolist())}; expected one of each item. "
            "Correct the cluster, or give each its own item."
        )
    return names


def _refuse_alike(names: pd.Series, where: _Where) -> None:
    """Refuse clusters that print alike: they are probably one cluster, written in several ways.

    If one cluster counted as several, every interval would be too narrow.
    """
    alike = lookalikes(names.unique())
    if alike:
        rows = names.index[names.isin(alike[0])]
        raise RatingsError(
            f"{where.at(rows, 'cluster')}: found clusters {described(alike[0])}, which print "
            "alike; expected names that do not. "
            "Write the cluster in one way, or rename one of them."
        )


def _in_several(items: pd.Series, clusters: pd.Series) -> pd.Index:
    """The items that are in more than one cluster."""
    n_clusters = clusters.groupby(items.to_numpy()).nunique()
    return n_clusters.index[n_clusters > 1]
