"""The checked long table: one row a rating."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings.blocks import BLOCK, held, parts, taken
from agreement_pipeline.ratings.checks import checked
from agreement_pipeline.ratings.coding import preceded, recoded, texts_in, used
from agreement_pipeline.ratings.contents import content_columns
from agreement_pipeline.ratings.digest import BATCH, Batch, RatingsHash
from agreement_pipeline.ratings.given import as_given, known_of_items, plain
from agreement_pipeline.ratings.origin import Origin
from agreement_pipeline.ratings.parquet import growing
from agreement_pipeline.ratings.row_order import in_order_again
from agreement_pipeline.ratings.scale import MISSING, Scale
from agreement_pipeline.ratings.where import STRATUM
from agreement_pipeline.text import called, listed, meant

EXTRAS = ("confidence", "assisted", "drawn", "timestamp")
"""The columns of ratings that need not be known."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """Who gave which item which label, and which time it was.

    Parameters
    ----------
    table
        One row a rating, sorted by item, rater and occurrence. Columns

        - `item` and `rater`: text as codes, whose categories are sorted;
        - `label`: a category as a code, in the order of the scale. A number on interval and ratio
          scales, and a tuple of numbers on a multivariate interval scale;
        - `occurrence`: 1, 2, … if the rater met the item again;
        - `earlier`: True if an earlier round gave it. It then counts for intra-rater agreement
          only;
        - `confidence`, if known: a number from 0 to 1, nan if none was stated;
        - `assisted`, if known: True for a label that began as a suggestion, missing where that is
          not known;
        - `drawn`, if known: where the object of the rating lies, as a list of numbers in a text;
        - `timestamp`, if known.
    scale
        What the labels may be.
    classifiers
        The raters that are models, not people. They are compared with the panel and are never
        part of it.
    contents
        What is known of the items: index `item`, and the columns `text`, `gold`, `gold_label`,
        `cluster` and `weight` if given. `gold_label` is the right label of a gold item. A cluster
        is the document, conversation, patient or batch of an item. A weight is how many equal items
        the item stands for, as a run of equal positions does. A column `stratum:NAME` says which
        stratum of NAME an item is in, such as its language.
    also_gold
        Items that are gold in another round which these ratings are released with. They are gold
        here too. The digest does not say so.
    origin
        Where they came from, if it is known. The digest does not say so.

    Make one with `Ratings.from_frame`.
    """

    table: pd.DataFrame
    scale: Scale
    classifiers: tuple[str, ...] = ()
    contents: pd.DataFrame = field(
        default_factory=lambda: pd.DataFrame(index=pd.Index([], name="item"))
    )
    also_gold: frozenset[str] = frozenset()
    origin: Origin | None = None

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
            The columns `item`, `rater` and `label`, and any of `occurrence`, `earlier`,
            `confidence`, `assisted`, `drawn`, `timestamp`, `text`, `gold`, `gold_label`, `cluster`,
            `weight`, `stratum:NAME`. Rows without a label are missing ratings and are left out. A
            vector of numbers is a tuple, a list or an array, or text with `|` between the numbers.
            A set of labels is a set or a frozenset, or its members with `|` between them.
        scale
            What the labels may be.
        classifiers
            Names of raters that are models.
        source, columns, first_row
            For error messages: the name of the file, the name of each column in it, and the number
            of its first row of data. A frame whose index has a level `row` numbers its rows itself.
            A second level `column` names the column of each rating, for tables with a column a
            rater.

        Raises
        ------
        RatingsError
            If one of these holds:

            - a column is missing or there twice, or nothing is rated;
            - a name is empty, or a label is not on the scale;
            - a flag is neither yes nor no, or a confidence is no number from 0 to 1;
            - one (item, rater, occurrence) has two labels;
            - an item stands in two clusters or strata, or only some items stand in one.

        Examples
        --------
        >>> said = {"item": ["i1", "i1"], "rater": ["a", "b"], "label": ["yes", "no"]}
        >>> frame = pd.DataFrame(said)
        >>> Ratings.from_frame(frame, Scale(("no", "yes"))).raters
        ('a', 'b')
        """
        table, contents = checked(frame, scale, source, dict(columns or {}), first_row)
        raters = used(table["rater"])
        unknown = sorted(set(classifiers) - set(raters))
        if unknown:
            panel = sorted({*raters} - {*classifiers})
            raise RatingsError(
                f"{source}: found no rating by {called('classifier', unknown)}; expected some by "
                "every named classifier. "
                + meant(unknown[0], panel, "Correct the classifiers' names.")
            )
        return cls(table, scale, tuple(sorted(classifiers)), contents)

    @property
    def engine(self) -> str:
        """The name of the engine that counts ratings in memory."""
        return "memory"

    @cached_property
    def everyone(self) -> tuple[str, ...]:
        """All raters, by name: the panel and the classifiers. A `place` counts among them."""
        return tuple(used(self.table["rater"]))

    @property
    def has(self) -> frozenset[str]:
        """The optional columns that are known, of ratings and of items."""
        return frozenset({*self.table} & {*EXTRAS}) | frozenset(content_columns(self.contents))

    def __len__(self) -> int:
        return len(self.table)

    def to_pandas(self) -> pd.DataFrame:
        """All ratings as a frame, in the order of item, rater and occurrence."""
        return self.table

    def head(self, n: int) -> pd.DataFrame:
        """The first `n` rows of `to_pandas`. Their columns have the types that all rows have."""
        return self.table.head(n)

    @property
    def n_rated(self) -> int:
        """How many items have a rating. Gold items and those of earlier rounds count too."""
        return len(used(self.table["item"]))

    @property
    def n_items(self) -> int:
        """How many items that are not gold were rated in the round itself."""
        return len(used(self.without_gold.current["item"]))

    @property
    def n_of_panel(self) -> int:
        """How many ratings are by raters who are no classifiers."""
        return int(self.of_panel.sum())

    @property
    def n_assisted(self) -> int:
        """How many of them are known to have begun as a suggestion."""
        return int(self.assisted.sum())

    @property
    def without_earlier(self) -> "Ratings":
        """The round's own ratings: replicates stay, ratings of earlier rounds do not."""
        if not self.table["earlier"].any():
            return self
        own = self.table[~self.table["earlier"]].reset_index(drop=True)
        names = {name: own[name].cat.remove_unused_categories() for name in ("item", "rater")}
        return replace(self, table=own.assign(**names))

    def first(
        self,
        columns: Sequence[str],
        *,
        items: Collection[str] | None = None,
        raters: Collection[str] | None = None,
        gold: bool = False,
    ) -> pa.Table:
        """The round's own first ratings, in the order of item and rater.

        Parameters
        ----------
        columns
            Some of these:

            - `item`, `rater`: names
            - `at`: the item's place among the items of the answer
            - `place`: the rater's place among `everyone`
            - `label`: the name of the category, a number, or a list of numbers
            - `code`: the place of the category on the scale
            - `number`: the label as a number, where the scale is numeric
            - `occurrence`, `earlier`, `confidence`, `assisted`, `drawn`, `timestamp`
        items
            The items to look at. None: all.
        raters
            The raters to look at, and the items of the answer are then theirs. None: everyone.
        gold
            Gold items too.
        """
        own = self if gold else self.without_gold
        found = _of(_of(own.current, "item", items), "rater", raters)
        return self._in_arrow(found, columns)

    def again(
        self, columns: Sequence[str], *, items: Collection[str] | None = None, gold: bool = False
    ) -> pa.Table:
        """All ratings of the items that a rater met again, in the order of `every`.

        Only the ratings of the rater who did. Earlier rounds count. The rest is as in `first`.
        """
        table = _of((self if gold else self.without_gold).table, "item", items)
        item, rater = (table[name].cat.codes.to_numpy() for name in ("item", "rater"))
        same = (item[1:] == item[:-1]) & (rater[1:] == rater[:-1])
        twice = np.append(same, False) | np.append(False, same)[: len(table)]
        return self._in_arrow(table[twice].reset_index(drop=True), columns)

    def every(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """All ratings in batches, in the order of item, rater and occurrence.

        The columns are those of `first`, and `text`, `gold`, `gold_label`, `cluster`, `weight` and
        `stratum:NAME` of the rating's item.
        """
        item, of_items = self.table["item"].cat, content_columns(columns)
        contents = self.contents.reindex(item.categories) if of_items else self.contents
        known = known_of_items(contents, of_items)
        own = [name for name in columns if name not in of_items]

        def batch(rows: slice) -> pa.RecordBatch:
            part = self._in_arrow(self.table, own, rows)
            places = pa.array(item.codes.to_numpy()[rows])
            found = {name: part[name].combine_chunks() for name in own}
            found |= {name: plain(values.take(places)) for name, values in known.items()}
            return pa.record_batch([found[name] for name in columns], list(columns))

        return growing(len(self.table), batch)

    def rated(
        self,
        *,
        items: Collection[str] | None = None,
        raters: Collection[str] | None = None,
    ) -> pa.ChunkedArray:
        """The names of the items with a rating, in order. Gold and earlier rounds count.

        Parameters
        ----------
        items
            The items to look at. None: all.
        raters
            The raters to look at. None: everyone.
        """
        item = _of(_of(self.table, "item", items), "rater", raters)["item"].cat
        there = item.categories[held(item.codes.to_numpy(), len(item.categories))]
        return pa.chunked_array(pa.array(there, from_pandas=True)).cast(pa.string())

    def items(
        self, columns: Sequence[str] = (), *, names: Collection[str] | None = None
    ) -> pa.Table:
        """What is known of items, in the order of their names.

        Parameters
        ----------
        columns
            Some of `text`, `gold`, `gold_label`, `cluster`, `weight`, `stratum:NAME`, as far as
            they are known. `cluster_at` is the number of the cluster, counted in the order of the
            clusters' first items. The column `item` is always there.
        names
            The items to look at. None: all of which something is known, also those without a
            rating.
        """
        known = self.contents.sort_index()
        if "cluster_at" in columns:
            known = known.assign(cluster_at=pd.factorize(known["cluster"])[0])
        if names is not None:
            known = known[known.index.isin(list(names))]
        found = {"item": pa.array(known.index, pa.string())}
        for name, values in known_of_items(known, columns).items():
            some = parts(max(len(values), 1))
            found[name] = pa.chunked_array([plain(values[part]) for part in some])
        return pa.table(found)

    def _in_arrow(
        self, table: pd.DataFrame, columns: Sequence[str], rows: slice = slice(None)
    ) -> pa.Table:
        """Some columns of ratings of these, and of some of their rows."""
        part = table.iloc[rows]
        some, found = replace(self, table=part), dict[str, Any]()
        for name in columns:
            if name == "at":
                item = table["item"].cat
                there = held(item.codes.to_numpy(), len(item.categories))
                found[name] = (np.cumsum(there) - 1)[part["item"].cat.codes]
            elif name == "place":
                places = pd.Index(self.everyone).get_indexer(part["rater"].cat.categories)
                found[name] = places[part["rater"].cat.codes]
            elif name == "code":
                found[name] = pa.array(some.codes, pa.int64())
            elif name == "number" or (name == "label" and self.scale.dimensions > 1):
                found[name] = pa.array(list(some.numbers), _number_kind(self.scale))
            elif name in ("item", "rater") or (name == "label" and not self.scale.numeric):
                found[name] = pa.array(texts_in(part[name]), pa.string())
            elif name == "assisted":
                found[name] = pa.array(part[name].astype(object), pa.bool_(), from_pandas=True)
            else:
                kind = self._kind_of_times if name == "timestamp" else None
                found[name] = pa.array(part[name], kind, from_pandas=True)
        return pa.table(found)

    @cached_property
    def _kind_of_times(self) -> pa.DataType:
        """The type of all times, which some of them may not show."""
        return as_given(self.table["timestamp"]).type

    @cached_property
    def raters(self) -> tuple[str, ...]:
        """The raters of the panel, by name."""
        return tuple(name for name in used(self.table["rater"]) if name not in self.classifiers)

    @cached_property
    def current(self) -> pd.DataFrame:
        """The round's own ratings, the first of each rater and item.

        Inter-rater agreement rests on these.
        """
        own = self.table
        if own["earlier"].any():
            own = own[~own["earlier"]].reset_index(drop=True)
        item, rater = (own[name].cat.codes.to_numpy() for name in ("item", "rater"))
        again = (item[1:] == item[:-1]) & (rater[1:] == rater[:-1])
        return own[np.append(True, ~again)].reset_index(drop=True) if again.any() else own

    @cached_property
    def gold(self) -> frozenset[str]:
        """The items whose label was known before.

        They are not released, and agreement is not read on them.
        """
        known = self.contents
        return self.also_gold | frozenset(known.index[known["gold"]] if "gold" in known else ())

    @property
    def without_gold(self) -> "Ratings":
        """The ratings of the items that are not gold.

        Agreement and training labels rest on these.
        """
        # What holds itself stays in memory until garbage is collected.
        return self._without_gold if self.gold else self

    @cached_property
    def _without_gold(self) -> "Ratings":
        return replace(self._without_items(self.gold), also_gold=frozenset())

    @cached_property
    def of_panel(self) -> "pd.Series[bool]":
        """True for each rating by a rater who is no classifier."""
        rater = self.table["rater"].cat
        models = np.append(rater.categories.isin(self.classifiers), False)
        return pd.Series(~models[rater.codes.to_numpy()], index=self.table.index)

    @property
    def says_assisted(self) -> bool:
        """True if it is known of each label of the panel whether it began as a suggestion."""
        said = self.table.get("assisted")
        return said is not None and not bool(said[self.of_panel].isna().any())

    @cached_property
    def assisted(self) -> "pd.Series[bool]":
        """True for each rating of the panel that is known to have begun as a suggestion."""
        if "assisted" not in self.table:
            return pd.Series(False, index=self.table.index)
        return self.of_panel & self.table["assisted"].fillna(False).astype(bool)

    @cached_property
    def unassisted(self) -> "Ratings":
        """The ratings without the panel's labels that began as a suggestion.

        What is known of the items stays.
        """
        table = self.table[~self.assisted].reset_index(drop=True)
        names = {name: table[name].cat.remove_unused_categories() for name in ("item", "rater")}
        return replace(self, table=table.assign(**names))

    def _without_items(self, left_out: frozenset[str]) -> "Ratings":
        """The ratings of other items than these."""
        gone = self.table["item"].cat.categories.isin(left_out)
        table = self.table[~gone[self.table["item"].cat.codes]].reset_index(drop=True)
        names = {name: table[name].cat.remove_unused_categories() for name in ("item", "rater")}
        contents = self.contents[~self.contents.index.isin(left_out)]
        return replace(self, table=table.assign(**names), contents=contents)

    @cached_property
    def strata(self) -> dict[str, tuple[str, ...]]:
        """The strata of the rated items that are not gold, sorted, by the name of their column."""
        known = self.without_gold
        rated = known.contents.reindex(used(known.current["item"]))
        return {
            name.removeprefix(STRATUM): tuple(sorted(rated[name].unique()))
            for name in content_columns(rated)
            if name.startswith(STRATUM)
        }

    def within(self, column: str, strata: Collection[str]) -> "Ratings":
        """The ratings of the items in some strata of a column.

        Classifiers that rated none of them are left out.
        """
        stratum = self.contents[STRATUM + column]
        part = self._without_items(frozenset(stratum.index[~stratum.isin(strata)]))
        rated = used(part.table["rater"])
        return replace(part, classifiers=tuple(n for n in self.classifiers if n in rated))

    @property
    def cluster_names(self) -> frozenset[str]:
        """The names of the clusters of all items that are not gold."""
        known = self.without_gold.contents
        return frozenset(known["cluster"]) if "cluster" in known else frozenset()

    @cached_property
    def cluster_of(self) -> pd.Series | None:
        """The cluster of each item as a number; None if items do not come in clusters.

        Clusters are counted in the order of their first items, so their names do not matter.
        """
        if "cluster" not in self.contents:
            return None
        known = self.contents["cluster"].sort_index()
        return pd.Series(pd.factorize(known)[0], index=known.index)

    @cached_property
    def codes(self) -> np.ndarray:
        """The place of each label among the categories of the scale. Shape (n,).

        Raises
        ------
        RatingsError
            The scale has no categories.
        """
        label, scale = self.table["label"], self.scale
        if scale.categories is None:
            raise RatingsError(
                f"ratings: found the {scale.level} level without categories; expected a list "
                "of them to count labels. Name the categories."
            )
        if scale.numeric:
            return _places(label.to_numpy(dtype=float), scale.scores)
        return _places_of_names(label, scale)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of what was rated and how, and of which items stand together.

        The order of rows and the names of raters and clusters do not enter. Two tables with the
        same digest, and the same items gold, give the same estimates to the last digit.
        """
        raters, items = self.table["rater"].cat, self.table["item"].cat
        found = RatingsHash([name in self.classifiers for name in raters.categories])
        found.add_items(items.categories)
        found.add_contents(self.contents, self.cluster_of)
        for part in self.in_parts(BATCH):
            found.add(part._batch())
        return found.hexdigest(self.scale)

    def in_parts(self, size: int = BLOCK) -> Iterator["Ratings"]:
        """The ratings, some rows at a time. What is made of some needs little memory."""
        return (replace(self, table=self.table.iloc[part]) for part in parts(len(self.table), size))

    def _batch(self) -> Batch:
        """All ratings, as they are digested."""
        table, scale = self.table, self.scale
        return Batch(
            table["item"].cat.codes.to_numpy(),
            table["rater"].cat.codes.to_numpy(),
            table["occurrence"].to_numpy(),
            table["earlier"].to_numpy(),
            self.numbers if scale.continuous else self.codes,
            None if (sure := table.get("confidence")) is None else sure.to_numpy(),
            None if (said := table.get("assisted")) is None else _as_numbers(said),
            table.get("drawn"),
            table.get("timestamp"),
        )

    @property
    def numbers(self) -> np.ndarray:
        """The labels as numbers (n,), or as vectors of numbers (n, D)."""
        label, dimensions = self.table["label"], self.scale.dimensions
        if dimensions == 1:
            return label.to_numpy(dtype=float)
        return np.array(label.tolist(), dtype=float).reshape(len(label), dimensions)

    def after(self, earlier: Sequence["Ratings"]) -> "Ratings":
        """The ratings, preceded by what the same raters gave the same items in earlier rounds.

        What was earlier in those rounds already is left out.
        """
        return replace(self, table=preceded(self.table, [each.table for each in earlier]))

    def renamed(self, names: Mapping[str, str]) -> "Ratings":
        """Give raters other names; raters without a new name keep their old one."""
        rater = recoded(self.table["rater"], lambda name: names.get(name, name))
        classifiers = tuple(sorted(names.get(name, name) for name in self.classifiers))
        return replace(
            self, table=in_order_again(self.table.assign(rater=rater)), classifiers=classifiers
        )


def _of(table: pd.DataFrame, column: str, names: Collection[str] | None) -> pd.DataFrame:
    """The ratings of some items or raters."""
    if names is None:
        return table
    of = table[column].cat
    there = of.categories.isin(list(names))
    return table if there.all() else table[there[of.codes]].reset_index(drop=True)


def _number_kind(scale: Scale) -> pa.DataType:
    return pa.float64() if scale.dimensions == 1 else pa.list_(pa.float64())


def _as_numbers(assisted: pd.Series) -> np.ndarray:
    """1 for yes, 0 for no, -1 for what is not known."""
    return np.asarray(assisted.astype("Int8").fillna(-1).to_numpy(dtype=np.int8))


def _places(numbers: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The place of each number among the categories of a scale of numbers."""
    order = np.argsort(scores)
    return np.asarray(order[np.searchsorted(scores, numbers, sorter=order)])


def _places_of_names(label: pd.Series, scale: Scale) -> np.ndarray:
    """The place of each name among the categories of a scale."""
    places = pd.Index(scale.names).get_indexer(label.cat.categories)
    codes = taken(places.astype(np.int32), label.cat.codes.to_numpy())
    if (codes == MISSING).any():
        off = sorted(set(label[codes == MISSING]))
        raise RatingsError(
            f"ratings: found {called('label', off)}; expected one of {listed(scale.names, 12)}. "
            "Correct the label or add it to the scale."
        )
    return codes
