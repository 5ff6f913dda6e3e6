"""What a long table of ratings must be, and what is said of the row and column where it is not."""

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
    """The ratings of a long table, one row each, and what it says of the items; as `Ratings.from_frame` has it.

    Raises
    ------
    RatingsError
        Something is not as it must be; the message names the file, the row and the column.
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
    """Words for errors: which file, what its columns are called, and which row (and column, where each rater has one) a rating stands in."""

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
            return f"{self.source}: {', '.join(cells[:5])}{f', … {len(cells) - 5} more' if len(cells) > 5 else ''}"
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
            f"{where.source}: no column {listed([where.column(name) for name in missing])} among {there}; "
            "item, rater and label are required. Name the columns that hold them."
        )
    twice = sorted({str(name) for name in frame.columns[frame.columns.duplicated()]})
    if twice:
        raise RatingsError(
            f"{where.source}: column {listed(twice)} found twice; each is required once. Drop or rename the other one."
        )
    rated = frame[frame["label"].notna()]
    if rated.empty:
        raise RatingsError(
            f"{where.source}: no rating found; at least one row with a label is required. Check that the export is complete."
        )
    return rated


def _names(table: pd.DataFrame, name: str, where: _Where) -> pd.Series:
    values = table[name]
    bad = values.index[values.isna() | (values.astype(str).str.strip() == "")]
    if len(bad):
        raise RatingsError(
            f"{where.at(bad, name)}: no {name} found; one is required in every row. Fill it in or drop the rows."
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
            f"{where.at(bad, 'label')}: label {listed(sorted(set(texts[bad])))} found; one of {listed(scale.names, 12)} is required. "
            "Correct the label or add it to the scale."
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
            f"{where.at(bad, 'label')}: label {listed(labels[bad].tolist())} found; "
            f"{need} is required on the {scale.level} level{most}. Correct the label, or use level nominal or ordinal for names."
        )
    return numbers


def _vectors(labels: pd.Series, scale: Scale, where: _Where) -> pd.Series:
    vectors = labels.map(numbers_of)
    bad = labels.index[vectors.map(len) != scale.dimensions]
    if len(bad):
        raise RatingsError(
            f"{where.at(bad, 'label')}: label {listed(labels[bad].tolist())} found; "
            f"{scale.dimensions} finite numbers are required on the {scale.level} level, none beyond {LARGEST:g} in size, "
            f"as {'|'.join('1' * scale.dimensions)}. Correct the label."
        )
    return vectors.astype(object)


def _occurrences(table: pd.DataFrame, where: _Where) -> pd.Series:
    if "occurrence" not in table:
        return pd.Series(1, index=table.index, dtype="int64")
    numbers = pd.to_numeric(table["occurrence"], errors="coerce")
    bad = numbers.index[~((numbers >= 1) & (numbers % 1 == 0))]
    if len(bad):
        raise RatingsError(
            f"{where.at(bad, 'occurrence')}: {listed(table['occurrence'][bad].tolist())} found; "
            "a whole number from 1 is required. Number a rater's meetings with an item 1, 2, …."
        )
    return numbers.astype("int64")


def _flags(table: pd.DataFrame, name: str, where: _Where) -> pd.Series:
    """A column of yes and no, where a blank is no."""
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
            f"{where.at(bad, name)}: {listed(table[name][bad].tolist())} found; yes or no (true, false, 1, 0) is required. Correct it."
        )
    return said.map(FLAGS).eq(True)


def _confidences(table: pd.DataFrame, where: _Where) -> pd.Series:
    """Numbers from 0 to 1; nan where none was stated."""
    said = table["confidence"].map(
        lambda value: None if isinstance(value, str) and not value.strip() else value
    )
    numbers = pd.to_numeric(said, errors="coerce").astype(float)
    bad = numbers.index[said.notna() & ~((numbers >= 0) & (numbers <= 1))]
    if len(bad):
        raise RatingsError(
            f"{where.at(bad, 'confidence')}: {listed(table['confidence'][bad].tolist())} found; a number from 0 to 1, or nothing, is required. "
            "Divide by the highest confidence that could be stated, or leave the column out."
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
        f"{where.at(same.index, 'item', 'rater')}: rater {first['rater']!r} labelled item "
        f"{first['item']!r} {len(same)} times as occurrence {first['occurrence']} ({listed(same['label'].tolist())}; "
        f"{int(twice.sum())} such rows in all); one label for each (item, rater, occurrence) is required. "
        "Keep one of them, name the column that numbers the occurrences, or give each round a table of its own."
    )


def _contents(frame: pd.DataFrame, where: _Where) -> pd.DataFrame:
    """What the rows say of their items; two rows of one item must say the same."""
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
            f"{where.at(bad, *names)}: item {item!r} has two different contents; one is required. Give each content its own item."
        )
    return (
        said.set_index("item").sort_index()
        if names
        else pd.DataFrame(index=pd.Index([], name="item"))
    )


def _clusters(said: pd.DataFrame, where: _Where) -> pd.Series:
    """The cluster of each row's item: the same one in all its rows, and none of them without."""
    absent = said.index[said["cluster"].isna() | (said["cluster"].astype(str).str.strip() == "")]
    if len(absent):
        raise RatingsError(
            f"{where.at(absent, 'cluster')}: no cluster found, and others have one; one is required for every item, or for none. "
            "Fill it in: an item that belongs to no other is a cluster of its own."
        )
    names = said["cluster"].map(category_text).astype(str).astype(object)
    _refuse_alike(names, where)
    several = said["item"].isin(_in_several(said["item"], names))
    if several.any():
        item = said.loc[several, "item"].iloc[0]
        mine = names[said["item"] == item].drop_duplicates()
        raise RatingsError(
            f"{where.at(mine.index, 'cluster')}: item {item!r} in clusters {listed(mine.tolist())} found; one is required of each item. "
            "Correct the cluster, or give each its own item."
        )
    return names


def _refuse_alike(names: pd.Series, where: _Where) -> None:
    """Clusters that print alike are one that was written in several ways; taken for several, they would make every interval too narrow."""
    alike = lookalikes(names.unique())
    if alike:
        rows = names.index[names.isin(alike[0])]
        raise RatingsError(
            f"{where.at(rows, 'cluster')}: clusters {described(alike[0])} found, which print alike; names that do not are required. "
            "Write the cluster in one way, or rename one of them."
        )


def _in_several(items: pd.Series, clusters: pd.Series) -> pd.Index:
    """The items that stand in more than one cluster."""
    n_clusters = clusters.groupby(items.to_numpy()).nunique()
    return n_clusters.index[n_clusters > 1]
