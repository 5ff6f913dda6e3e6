"""The checked long table: one row a rating."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pandas as pd

from agreement_pipeline.errors import RatingsError, listed
from agreement_pipeline.lookalikes import described, lookalikes
from agreement_pipeline.scale import LARGEST, Scale, category_text, numbers_of

KEY = ("item", "rater", "occurrence")
REQUIRED = ("item", "rater", "label")
OPTIONAL = ("occurrence", "earlier", "confidence", "timestamp")
CONTENT = ("text", "gold", "cluster")
FLAGS = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False, "": False}


@dataclass(frozen=True, eq=False)
class Ratings:
    """Who gave which item which label, and which time it was.

    Parameters
    ----------
    table
        One row a rating, sorted by item, rater and occurrence: `item` and `rater` (text), `label` (a category, as the scale writes it; a
        number where the scale has none, a tuple of them on a multivariate interval scale),
        `occurrence` (1, 2, … when the rater met the item again), `earlier` (did an earlier round give it? then it speaks for intra-rater
        agreement only) and, where known, `confidence` (a number from 0 to 1, nan where none was stated) and `timestamp`.
    scale
        What the labels may be.
    classifiers
        The raters that are models, not people: they are compared with the panel and never part of it.
    contents
        What is known of the items: index `item`, columns `text`, `gold` and `cluster` (the document, conversation, patient or batch an item is of)
        where given.
    also_gold
        Items that are gold in another round which these ratings are released with: they are gold here too. The digest does not say so.

    Make one with `Ratings.from_frame`.
    """

    table: pd.DataFrame
    scale: Scale
    classifiers: tuple[str, ...] = ()
    contents: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(index=pd.Index([], name="item")))
    also_gold: frozenset[str] = frozenset()

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        scale: Scale,
        *,
        classifiers: Sequence[str] = (),
        source: str = "ratings",
        columns: Mapping[str, str] | None = None,
        first_row: int = 1,
    ) -> "Ratings":
        """Check a long table and put it in order.

        Parameters
        ----------
        frame
            The columns `item`, `rater` and `label`, and any of `occurrence`, `earlier`, `confidence`, `timestamp`, `text`, `gold`, `cluster`.
            Rows without a label are missing ratings and are left out. A vector of numbers is a tuple, a list or an array, or text with `|`
            between the numbers; a set of labels is a set or a frozenset, or its members in order with `|` between them.
        scale
            What the labels may be.
        classifiers
            Names of raters that are models.
        source, columns, first_row
            For error messages: the name of the file, what each column is called in it, and the number of its first row of data.
            A frame whose index has a level `row` numbers its rows itself; a second level `column` names the column each rating stands in,
            for tables with a column a rater.

        Raises
        ------
        RatingsError
            A column is missing or there twice, nothing is rated, a name is empty, a label is not on the scale, a flag is neither yes nor no, a
            confidence is no number from 0 to 1, one (item, rater, occurrence) has two labels, an item stands in two clusters, or some items in one and
            others in none.

        Examples
        --------
        >>> frame = pd.DataFrame({"item": ["i1", "i1"], "rater": ["a", "b"], "label": ["yes", "no"]})
        >>> Ratings.from_frame(frame, Scale(("no", "yes"))).raters
        ('a', 'b')
        """
        where = _Where.of(frame, source, dict(columns or {}), first_row)
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
        unknown = sorted(set(classifiers) - set(table["rater"].unique()))
        if unknown:
            raise RatingsError(
                f"{source}: no rating by classifier {listed(unknown)} found; every named classifier is required to have some. Correct the classifiers' names."
            )
        contents = _contents(frame, where)
        ordered = table.sort_values(list(KEY), kind="stable").reset_index(drop=True)
        return cls(ordered, scale, tuple(sorted(classifiers)), contents)

    @property
    def raters(self) -> tuple[str, ...]:
        """The raters of the panel, by name."""
        return tuple(name for name in sorted(self.table["rater"].unique()) if name not in self.classifiers)

    @cached_property
    def current(self) -> pd.DataFrame:
        """The round's own ratings, the first of each rater and item: what inter-rater agreement rests on."""
        own = self.table[~self.table["earlier"]]
        return own.drop_duplicates(["item", "rater"], keep="first").reset_index(drop=True)

    @cached_property
    def gold(self) -> frozenset[str]:
        """The items whose label was known before: they are not released, and agreement is not read on them."""
        known = self.contents
        return self.also_gold | frozenset(known.index[known["gold"]] if "gold" in known else ())

    @cached_property
    def without_gold(self) -> "Ratings":
        """The ratings of the other items: what agreement and training labels rest on."""
        if not self.gold:
            return self
        table = self.table[~self.table["item"].isin(self.gold)].reset_index(drop=True)
        return replace(self, table=table, contents=self.contents[~self.contents.index.isin(self.gold)], also_gold=frozenset())

    @cached_property
    def cluster_of(self) -> pd.Series | None:
        """The cluster of each item as a number: clusters are counted in the order of their first items, so that their names do not matter."""
        if "cluster" not in self.contents:
            return None
        known = self.contents["cluster"].sort_index()
        return pd.Series(pd.factorize(known)[0], index=known.index)

    @cached_property
    def rater_order(self) -> tuple[str, ...]:
        """All raters in an order that their ratings fix, not their names."""
        return tuple(sorted(self._rater_digests, key=lambda name: (self._rater_digests[name], name)))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of what was rated and how, and which items stand together; the order of rows and the names of raters and clusters do not enter.

        Two tables with the same digest, and the same items gold, give the same estimates to the last digit.
        """
        parts = hashlib.sha256()
        parts.update(json.dumps(self.scale.to_mapping(), sort_keys=True).encode())
        parts.update(_packed(self.table["item"].unique()))
        said = self.contents.drop(columns="cluster", errors="ignore")
        parts.update(said.sort_index().to_csv().encode() if len(said.columns) else b"")
        if self.cluster_of is not None:
            parts.update(b"clusters" + hashlib.sha256(_packed(self.cluster_of.index.to_numpy()) + self.cluster_of.to_numpy(dtype="<i8").tobytes()).digest())
        for value in sorted(self._rater_digests.values()):
            parts.update(value.encode())
        return parts.hexdigest()

    @cached_property
    def _rater_digests(self) -> dict[str, str]:
        _, codes = np.unique(self.table["item"].to_numpy(dtype=object), return_inverse=True)
        labels = self.table["label"].to_numpy(dtype=object)
        extras = self.table[[name for name in ("confidence", "timestamp") if name in self.table]]
        digests = {}
        for name, rows in self.table.groupby("rater", observed=True).indices.items():
            of = hashlib.sha256(b"classifier" if name in self.classifiers else b"panel")
            of.update(len(rows).to_bytes(8, "little"))
            of.update(codes[rows].astype("<i8").tobytes())
            of.update(self.table["occurrence"].to_numpy()[rows].astype("<i8").tobytes())
            of.update(self.table["earlier"].to_numpy()[rows].astype("u1").tobytes())
            of.update(_packed(labels[rows]))
            of.update(extras.iloc[rows].to_csv(index=False).encode() if len(extras.columns) else b"")
            digests[str(name)] = of.hexdigest()
        return digests

    def renamed(self, names: Mapping[str, str]) -> "Ratings":
        """The same ratings under other rater names."""
        table = self.table.assign(rater=self.table["rater"].map(lambda name: names.get(name, name)))
        classifiers = tuple(sorted(names.get(name, name) for name in self.classifiers))
        return replace(self, table=table.sort_values(list(KEY), kind="stable").reset_index(drop=True), classifiers=classifiers)


@dataclass(frozen=True)
class _Where:
    """Words for errors: which file, what its columns are called, and which row (and column, where each rater has one) a rating stands in."""

    source: str
    columns: dict[str, str]
    rows: pd.Index
    rater_columns: pd.Index | None

    @classmethod
    def of(cls, frame: pd.DataFrame, source: str, columns: dict[str, str], first_row: int) -> "_Where":
        levels = frame.index.names
        rows = frame.index.get_level_values("row") if "row" in levels else pd.RangeIndex(first_row, first_row + len(frame))
        return cls(source, columns, rows, frame.index.get_level_values("column") if "column" in levels else None)

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
        raise RatingsError(f"{where.source}: column {listed(twice)} found twice; each is required once. Drop or rename the other one.")
    rated = frame[frame["label"].notna()]
    if rated.empty:
        raise RatingsError(f"{where.source}: no rating found; at least one row with a label is required. Check that the export is complete.")
    return rated


def _names(table: pd.DataFrame, name: str, where: _Where) -> pd.Series:
    values = table[name]
    bad = values.index[values.isna() | (values.astype(str).str.strip() == "")]
    if len(bad):
        raise RatingsError(f"{where.at(bad, name)}: no {name} found; one is required in every row. Fill it in or drop the rows.")
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
    known = (numbers.abs() <= LARGEST) & (numbers.isin(scale.categories) if scale.categories else True)
    bad = numbers.index[~known | ((numbers < 0) if scale.level == "ratio" else False)]
    if len(bad):
        need = f"one of {listed(scale.names, 12)}" if scale.categories else f"a finite {'non-negative ' if scale.level == 'ratio' else ''}number"
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
    said = table[name].map(category_text, na_action="ignore").astype(object).map(lambda text: text.strip().lower(), na_action="ignore")
    bad = said.index[said.notna() & ~said.isin(FLAGS)]
    if len(bad):
        raise RatingsError(f"{where.at(bad, name)}: {listed(table[name][bad].tolist())} found; yes or no (true, false, 1, 0) is required. Correct it.")
    return said.map(FLAGS).eq(True)


def _confidences(table: pd.DataFrame, where: _Where) -> pd.Series:
    """Numbers from 0 to 1; nan where none was stated."""
    said = table["confidence"].map(lambda value: None if isinstance(value, str) and not value.strip() else value)
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
    same = table[(table["item"] == first["item"]) & (table["rater"] == first["rater"]) & (table["occurrence"] == first["occurrence"])]
    raise RatingsError(
        f"{where.at(same.index, 'item', 'rater')}: rater {first['rater']!r} labelled item "
        f"{first['item']!r} {len(same)} times as occurrence {first['occurrence']} ({listed(same['label'].tolist())}; "
        f"{int(twice.sum())} such rows in all); one label for each (item, rater, occurrence) is required. "
        "Keep one of them, or name the column that numbers the occurrences."
    )


def _contents(frame: pd.DataFrame, where: _Where) -> pd.DataFrame:
    """What the rows say of their items; two rows of one item must say the same."""
    names = [name for name in CONTENT if name in frame.columns]
    said = frame.assign(item=frame["item"].map(category_text, na_action="ignore").astype(object))[["item", *names]].dropna(subset=["item"])
    if "gold" in names:
        said["gold"] = _flags(said, "gold", where)
    if "cluster" in names:
        said["cluster"] = _clusters(said, where)
    said = said.drop_duplicates()
    bad = said.index[said["item"].duplicated(keep=False)]
    if len(bad):
        item = said.loc[bad[0], "item"]
        raise RatingsError(f"{where.at(bad, *names)}: item {item!r} has two different contents; one is required. Give each content its own item.")
    return said.set_index("item").sort_index() if names else pd.DataFrame(index=pd.Index([], name="item"))


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


def _packed(texts: Sequence[object] | np.ndarray) -> bytes:
    """Texts as bytes that no other list of texts gives, whatever follows them."""
    encoded = [str(text).encode() for text in texts]
    return np.array([len(encoded), *map(len, encoded)], dtype="<i8").tobytes() + b"".join(encoded)
