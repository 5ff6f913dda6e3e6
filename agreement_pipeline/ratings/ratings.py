"""The checked ratings: a table of a session, one row a rating."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from agreement_pipeline.engine import BATCH_ROWS, Relation, Session, duckdb_session
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings.arrays import (
    as_number_array,
    as_whole_numbers_or_missing,
    iterate_growing_batches,
    numbers_as_arrow,
    texts_as_arrow,
)
from agreement_pipeline.ratings.cells import STRATUM, Cells, ItemTexts, load_frame_as_cells
from agreement_pipeline.ratings.origin import NO_ANSWER, SAME_LABEL_TWICE, Origin
from agreement_pipeline.ratings.placeholders import NUMBERS_FOR_NOTHING, placeholders_among
from agreement_pipeline.ratings.scale import (
    MISSING,
    Codes,
    Level,
    Scale,
    category_text,
    no_categories_error,
)
from agreement_pipeline.ratings.validation import (
    EXTRAS,
    UNLIMITED,
    Classifiers,
    Limits,
    NumbersError,
    Packing,
    RatingsValidator,
    content_columns,
    is_beside_ratings,
)
from agreement_pipeline.ratings.vocabularies import MAX_RATERS, ForeignWords, find_foreign_words
from agreement_pipeline.text import called, listed

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

LABELS = ("label", "code", "number")
PACKED_COLUMNS = ("item", "at", "place", "rater", *LABELS, "occurrence", "earlier")
"""These columns follow from the labels of items in words, if no rater met an item again."""
MAX_CELLS_PER_RATING = 4
"""Items are unpacked if there are at most so many cells of items by raters for each rating."""
CHANGES = ("last_label", "changed_at")
MAX_LISTED_ITEMS = 200
ATTRIBUTES_WITHOUT_NAMES = (
    "_n",
    "digest",
    "_n_by_place",
    "patterns",
    "items_in_order",
    "_all_rated",
)
"""What does not change when raters get other names, and is not found again."""


@dataclass(frozen=True)
class Patterns:
    """Distinct rows of items, with the first labels of all raters.

    Attributes
    ----------
    words
        Shape (P, W): the labels of a row, packed.
    n, items
        Shape (P,): how many items show each row, and how many it stands for by their weights.
    gold, cluster
        Shape (P,): are they gold, and the number of their cluster; -1 if there is none.
    """

    words: Codes
    n: Codes
    items: Codes
    gold: np.ndarray
    cluster: Codes


@dataclass(frozen=True, eq=False)
class Ratings:
    """Checked ratings: who gave which item which label. `read_ratings` makes them.

    Parameters
    ----------
    table
        A table of a session, one row a rating: `item`, `place` (of the rater), `code` (of the
        category, from 1) or `d0`, `d1`, … (the numbers of the label), `occurrence`, `earlier`,
        `gold`, and those of `has`. Ratings of earlier rounds count for intra-rater agreement only.
    known
        One row an item with what is known of it. None if nothing is.
    coded
        The scale that the codes are of.
    names
        The raters by place.
    classifiers
        The raters that are models. They are compared with the panel and are never part of it.
    has
        The optional columns: `confidence`, `assisted`, `drawn`, `timestamp`, `last_label` and
        `changed_at` of ratings; `text`, `gold`, `gold_label`, `cluster`, `weight` and
        `stratum:NAME`, `part:NAME` and `content:NAME` of items. A cluster is the document, patient
        or batch of an item. A weight is how many equal items it stands for. A stratum of NAME is,
        for example, its language. Parts say which unit of which item it is, and contents are
        columns of the delivery that no measure reads. A label is the first that a rater gave, as
        far as it is known. The last one stands in `last_label` where it is another, and trains.
    met_again, preceded
        True if a rater may have met an item again, and if there may be ratings of earlier rounds.
    also_gold, origin
        Items that are gold in another round of the same release, and where ratings came from.
        Neither is in the digest.
    texts
        The texts of items, if `known` tells rows in the place of them.
    """

    table: Relation
    known: Relation | None
    scale: Scale
    coded: Scale
    names: tuple[str, ...]
    classifiers: tuple[str, ...] = ()
    has: frozenset[str] = frozenset()
    met_again: bool = True
    preceded: bool = True
    also_gold: frozenset[str] = frozenset()
    origin: Origin | None = None
    texts: ItemTexts | None = None

    @classmethod
    def from_cells(
        cls,
        cells: Cells,
        scale: Scale | None = None,
        *,
        level: Level | None = "nominal",
        classifiers: Classifiers = (),
        models: Collection[str] = (),
        limits: Limits = UNLIMITED,
        origin: Origin | None = None,
        in_order: bool = False,
        same_label_counts_once: bool = False,
    ) -> "Ratings":
        """Check cells as a source wrote them.

        Parameters
        ----------
        cells
            A row a rating. Rows without a label are missing ratings and are left out.
        scale, level
            Without a scale it is read off the labels, on this level. Without a level, that is read
            off them too.
        classifiers
            Names of raters that are models, or a function from all raters and the source's name to
            these names.
        models
            More of them, as far as they rated.
        in_order
            They will be read in order, so that items are grouped only once.
        same_label_counts_once
            A rating that repeats the item, rater and label of another is left out, and `origin`
            says how many are. False: such ratings are refused.

        Raises
        ------
        RatingsError
            If one of these holds:

            - a column is missing or there twice, or nothing is rated;
            - a name is empty, or a value is none of its column or of the scale;
            - one (item, rater, occurrence) has two labels;
            - an item stands in two clusters or strata, or only some items stand in one.
        """
        try:
            validator = RatingsValidator(cells, scale, level, limits)
        except NumbersError as numbers:
            validator = RatingsValidator(cells, numbers.scale, "interval", limits)
        with validator.saying_item_errors_first():
            validator.check(classifiers, models)
            ratings = cls(
                validator.table,
                validator.item_contents,
                validator.scale,
                validator.scale,
                validator.raters,
                validator.classifiers,
                validator.has,
                validator.has_replicates,
                validator.has_earlier_rounds,
                origin=origin and origin.with_left_out(NO_ANSWER, validator.n_unanswered),
                texts=validator.texts,
            )
            vars(ratings).update(everyone=validator.raters, _n=validator.n)
            if (
                in_order
                and validator.scale.categories
                and not (validator.has_replicates or validator.has_earlier_rounds)
            ):
                _ = ratings.items_in_order
            if validator.items_later:
                rows = ratings._distinct_rows(*validator.name_length_and_blanks_sql)
                vars(ratings)["patterns"] = ratings.patterns_in(rows)
                longest, blank = (
                    as_whole_numbers_or_missing(rows[name]) for name in ("longest", "blank")
                )
                validator.check_item_aggregates(longest.max(), blank.max())
            if ratings.has_repeated_ratings:
                if not same_label_counts_once:
                    validator.refuse_repeated_ratings()
                ratings = ratings._with_table(*validator.single_ratings())
        return ratings

    def _with_table(self, rated: Relation, n_left_out: int) -> "Ratings":
        origin = self.origin and self.origin.with_left_out(SAME_LABEL_TWICE, n_left_out)
        single = replace(self, table=rated, origin=origin)
        vars(single).update(everyone=self.everyone)
        return single

    @classmethod
    def from_frame(
        cls,
        frame: "pd.DataFrame",
        scale: Scale,
        *,
        classifiers: Sequence[str] = (),
        source: str = "ratings",
        columns: Mapping[str, str] | None = None,
        first_row: int = 1,
        session: Session | None = None,
    ) -> "Ratings":
        """Check a long table.

        Parameters
        ----------
        frame
            The columns `item`, `rater` and `label`, and any of `occurrence`, `earlier` and those of
            `has`. Rows without a label are missing ratings. A vector of numbers may be a tuple, a
            list, an array, or text with `|` between; a set of labels, a set or such a text.
        source, columns, first_row
            For errors: the name of the file, of each column, and the number of its first row. An
            index level `row` numbers the rows itself, and a level `column` names the column.

        Examples
        --------
        >>> import pandas as pd
        >>> said = {"item": ["i1", "i1"], "rater": ["a", "b"], "label": ["yes", "no"]}
        >>> Ratings.from_frame(pd.DataFrame(said), Scale(("no", "yes"))).raters
        ('a', 'b')
        """
        session = session or duckdb_session()
        cells = load_frame_as_cells(session, frame, source, columns or {}, first_row)
        return cls.from_cells(cells, scale, classifiers=classifiers)

    def __len__(self) -> int:
        return self._n_rows

    @property
    def session(self) -> Session:
        return self.table.session

    @property
    def engine(self) -> str:
        return self.session.engine

    # Who rated, and how much

    @cached_property
    def everyone(self) -> tuple[str, ...]:
        """The raters and classifiers that rated something, in the order of their places."""
        places_present = self.table.query_column(
            f"SELECT DISTINCT place FROM {self.table} ORDER BY place"
        )
        return tuple(self.names[place] for place in places_present)

    @cached_property
    def raters(self) -> tuple[str, ...]:
        return tuple(name for name in self.everyone if name not in self.classifiers)

    @cached_property
    def _n_rows(self) -> int:
        return self._count("TRUE")

    @cached_property
    def n_rated(self) -> int:
        """Gold items count too."""
        return self._count("TRUE", "DISTINCT item") if self.preceded else int(self.patterns.n.sum())

    @cached_property
    def n_items(self) -> int:
        """Items count that are not gold and were rated in the round itself."""
        return int(self.patterns.n[~self.patterns.gold].sum())

    @cached_property
    def n_earlier(self) -> int:
        return self._count("earlier") if self.preceded else 0

    @cached_property
    def n_repeated(self) -> int:
        return self._count("occurrence > 1") if self.met_again else 0

    @cached_property
    def n_by_rater(self) -> Mapping[str, int]:
        """Items of the round itself count, gold items too."""
        counts = zip(self.names, self.n_by_place.sum(0).tolist(), strict=True)
        return {name: n for name, n in counts if n}

    @cached_property
    def n_by_place(self) -> Codes:
        """Items of the round itself by rater, first those that are not gold. Shape (2, R)."""
        counts = np.zeros((2, len(self.names)), dtype=np.int64)
        for row, place, _ in self._labels_of_patterns:
            np.add.at(counts, (self.patterns.gold[row].astype(int), place), self.patterns.n[row])
        return counts

    @cached_property
    def n_by_category(self) -> Mapping[str, int]:
        """Ratings of gold items count too."""
        return {self.scale.names[place]: n for place, n in self._n_by_place}

    @cached_property
    def undeclared_placeholders(self) -> Mapping[str, int]:
        """How often a label occurs that may say that nobody gave one, and that nobody declared."""
        scale = self.scale
        if scale.dimensions > 1 or (scale.declared and not scale.continuous):
            return {}
        if not scale.continuous:
            counts = self.n_by_category
            return {label: counts[label] for label in placeholders_among(counts)}
        codes = ", ".join(
            f"{float(sign * code)!r}" for code in NUMBERS_FOR_NOTHING for sign in (1, -1)
        )
        query = (
            f"SELECT d0 AS code, COUNT(*) AS n FROM {self.table} WHERE d0 IN ({codes}) GROUP BY d0"
        )
        if not (code_rows := self.session.query(query).to_pylist()):
            return {}
        bounds_query = (
            f"SELECT MIN(d0) AS low, MAX(d0) AS high FROM {self.table} WHERE d0 NOT IN ({codes})"
        )
        (bounds,) = self.session.query(bounds_query).to_pylist()
        counts = {category_text(row["code"]): int(row["n"]) for row in code_rows}
        bound_labels = [category_text(bound) for bound in bounds.values() if bound is not None]
        return {label: counts[label] for label in placeholders_among([*counts, *bound_labels])}

    @cached_property
    def foreign_words(self) -> "tuple[ForeignWords, ...]":
        """Raters whose words do not meet those of the others."""
        is_compared = self.scale.level == "nominal" and 2 <= len(self.names) <= MAX_RATERS
        if not is_compared:
            return ()
        label_parts = [
            (row, rater, self.scale_positions_of_codes(code))
            for row, rater, code in self.packing.iterate_labels(
                self.patterns.words, range(len(self.names))
            )
        ]
        return find_foreign_words(self.names, self.scale.names, label_parts, self.patterns.n)

    @property
    def places_of_used_categories(self) -> Codes:
        """The places on the scale of the categories that occur."""
        return np.array([place for place, _ in self._n_by_place], dtype=np.int64)

    @cached_property
    def _n_by_place(self) -> list[tuple[int, int]]:
        if not self._is_packed:
            table = self.session.query(
                f"SELECT code, COUNT(*) AS n FROM {self.table} GROUP BY code"
            )
            codes, counts = (
                as_whole_numbers_or_missing(table["code"]) - 1,
                as_whole_numbers_or_missing(table["n"]),
            )
        else:
            counts = np.zeros(1 << self.packing.bits, dtype=np.int64)
            for row, _, code in self._labels_of_patterns:
                np.add.at(counts, code, self.patterns.n[row])
            codes = np.flatnonzero(counts)
            counts = counts[codes]
        return sorted(
            zip(self.scale_positions_of_codes(codes).tolist(), counts.tolist(), strict=True)
        )

    @cached_property
    def n_of_panel(self) -> int:
        """Classifiers do not count."""
        if not self.classifiers:
            return len(self)
        return self._count(self.is_of_panel_sql)

    @cached_property
    def n_assisted(self) -> int:
        if "assisted" not in self.has:
            return 0
        return self._count(f"{self.is_of_panel_sql} AND assisted")

    @property
    def is_assistance_known(self) -> bool:
        if "assisted" not in self.has:
            return False
        return not self._count(f"{self.is_of_panel_sql} AND assisted IS NULL")

    @cached_property
    def n_edited_labels(self) -> tuple[int, int]:
        """Labels of the panel that were changed later: those with a first label, and others.

        Nobody knows the first label of the others.
        """
        if not {*CHANGES} & self.has:
            return 0, 0
        has_last_label = "last_label IS NOT NULL" if "last_label" in self.has else "FALSE"
        is_changed = "changed_at IS NOT NULL" if "changed_at" in self.has else "FALSE"
        with_first = self._count(f"{self.is_of_panel_sql} AND {has_last_label}")
        return with_first, self._count(
            f"{self.is_of_panel_sql} AND {is_changed} AND NOT ({has_last_label})"
        )

    @property
    def are_first_labels_known(self) -> bool:
        return bool({*CHANGES} & self.has) and not self.n_edited_labels[1]

    @cached_property
    def gold(self) -> frozenset[str]:
        """The items whose label was known before. They are not released, and not measured."""
        if "gold" not in self.has:
            return self.also_gold
        return self.also_gold | {
            *self.table.query_column(f"SELECT item FROM {self.known} WHERE gold")
        }

    @cached_property
    def strata(self) -> dict[str, tuple[str, ...]]:
        """Rated items count that are not gold. Keys are the names of columns."""
        strata_by_name = {}
        for name in self._table_columns:
            if name.startswith(STRATUM):
                stratum_query = (
                    f"SELECT DISTINCT {self.session.column_sql(name)} AS s FROM "
                    f"{self.own_first_ratings}"
                )
                strata = self.table.query_column(f"{stratum_query} WHERE NOT gold ORDER BY s")
                strata_by_name[name.removeprefix(STRATUM)] = tuple(strata)
        return strata_by_name

    @cached_property
    def cluster_names(self) -> frozenset[str]:
        return frozenset(self.without_gold.ordered_clusters.to_pylist())

    @cached_property
    def ordered_clusters(self) -> "pa.Array":
        """The clusters of all items, in the order of their first items. So names do not matter."""
        import pyarrow as pa

        if "cluster" not in self.has:
            return texts_as_arrow([])
        first_items = self.session.query(
            f"SELECT cluster, MIN(item) AS item FROM {self.known} GROUP BY cluster ORDER BY item"
        )
        return pa.chunked_array(first_items["cluster"]).combine_chunks()

    @cached_property
    def digest(self) -> str:
        """SHA-256 of what was rated and how, and of which items stand together.

        Two tables with the same digest and gold items give the same estimates to the last digit.
        """
        from agreement_pipeline.ratings.digest import digest_ratings

        are_models = [name in self.classifiers for name in self.everyone]
        items = self.rated_items().chunks
        return digest_ratings(
            self.scale,
            are_models,
            self.extra_columns,
            items,
            self.iterate_ratings,
            self.item_contents,
        )

    def item_contents(self) -> "tuple[list[str], pa.Array, Iterator[pa.RecordBatch]]":
        """What is known of items: its columns, all items in order, and the columns in batches."""
        names = [name for name in content_columns(self.has) if name != "cluster"]
        names += ["cluster_at"] * ("cluster" in self.has)
        batch = self._load_items(names)
        return names, batch["item"], self._with_texts(batch)

    @property
    def extra_columns(self) -> list[str]:
        return [name for name in EXTRAS if name in self.has]

    # What is asked of them

    def first_ratings(
        self,
        columns: Sequence[str],
        *,
        items: Collection[str] | None = None,
        raters: Collection[str] | None = None,
        gold: bool = False,
    ) -> "pa.Table":
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
            - `last_label`, `changed_at`: what the rater said last, if it is another label, and when
        items, raters
            The items and the raters to look at. None: all.
        gold
            Gold items too.
        """
        import pyarrow as pa

        test, _dependencies = self._is_of_items_sql(items)
        of_gold = "TRUE" if gold or not self.gold else "NOT gold"
        tests = {of_gold, test, self._is_of_raters_sql(raters)} - {"TRUE"}
        batches_found: Iterable[pa.RecordBatch] = ()
        if self.own_first_ratings is self.table and not tests and len(self):
            batches_found = self.iterate_ratings(columns)
        elif (
            self.own_first_ratings is self.table
            and "items_in_order" in vars(self)
            and self._can_unpack(columns)
        ):
            order = "" if test == "TRUE" else "ORDER BY item"  # a join of names keeps no order
            batches_found = self._iterate_unpacked(
                columns, f"WHERE {of_gold} AND {test} {order}", raters
            )
        if batches := list(batches_found):
            return pa.Table.from_batches(batches).combine_chunks()
        test_list = " AND ".join(sorted(tests)) or "TRUE"
        return self._load_table(
            columns, f"{self.own_first_ratings} WHERE {test_list} ORDER BY item, place"
        )

    def replicated_ratings(self, columns: Sequence[str], *, gold: bool = False) -> "pa.Table":
        """All ratings of an item that its rater met again, in the order of `every`.

        Earlier rounds count. The rest is as in `first`.
        """
        if not self.met_again:
            return self._load_table(columns, f"{self.table} LIMIT 0")
        n_met = "COUNT(*) OVER (PARTITION BY item, place) AS met"
        meetings = f"SELECT *, {n_met} FROM {self._table_with_gold}"
        replicated = f"({meetings} WHERE {'TRUE' if gold else 'NOT gold'}) AS m WHERE met >= 2"
        return self._load_table(columns, f"{replicated} ORDER BY item, place, occurrence")

    def iterate_ratings(self, columns: Sequence[str]) -> "Iterator[pa.RecordBatch]":
        """The order is that of item, rater and occurrence. Columns are those of `first` and of
        `items`.
        """
        if self._can_unpack(columns):
            return self._iterate_unpacked(columns)
        select_list = self._select_list_sql(columns)
        if item_columns := [name for name in columns if is_beside_ratings(name)]:
            of_items = [f"k.{self.session.column_sql(name)}" for name in item_columns]
            rating_columns = [
                f"r.{self.session.column_sql(n)}"
                for n in self._table_columns
                if n not in item_columns
            ]
            batches = self.session.query_batches(
                f"SELECT {select_list} FROM (SELECT {', '.join([*rating_columns, *of_items])} FROM "
                f"{self.table} AS r LEFT JOIN {self.known} AS k ON r.item = k.item) AS b ORDER BY "
                f"{self._order_sql}"
            )
        else:
            batches = self.session.query_batches(f"SELECT {select_list} FROM {self._in_order}")
        return self._number_items(batches, columns)

    def _number_items(
        self, rows: "Iterator[pa.RecordBatch]", columns: Sequence[str]
    ) -> "Iterator[pa.RecordBatch]":
        """The asked columns of rows in order. Places of items are counted through all batches."""
        last_item, last_place = None, -1
        for batch in rows:
            for part in self._with_texts(batch) if batch.num_rows else ():
                item_places = (
                    _item_places(part["item"], last_item, last_place) if "at" in columns else None
                )
                yield self._answer_columns(part, columns, item_places)
                if item_places is not None:
                    last_item, last_place = part["item"][-1], int(item_places[-1])

    def _load_table(self, columns: Sequence[str], rows: str) -> "pa.Table":
        """The asked columns of a query's rows, which are in the order of items."""
        import pyarrow as pa

        batch = _combine_batch(
            self.session.query(f"SELECT {self._select_list_sql(columns)} FROM {rows}")
        )
        item_places = _item_places(batch["item"], None, -1) if "at" in columns else None
        return pa.Table.from_batches([self._answer_columns(batch, columns, item_places)])

    def _select_list_sql(self, columns: Sequence[str]) -> str:
        """The columns of the table that the asked ones are made of, as SQL."""
        label_columns = self.label_columns
        needs = {"at": ["item"], "rater": ["place"], **dict.fromkeys(LABELS, label_columns)}
        needed_columns = dict.fromkeys(
            column for name in columns for column in needs.get(name, [name])
        )
        return ", ".join(map(self.session.column_sql, needed_columns)) or "item"

    def _answer_columns(
        self, part: "pa.RecordBatch", columns: Sequence[str], item_places: Codes | None
    ) -> "pa.RecordBatch":
        """The asked columns, made of those of the table."""
        import pyarrow as pa

        arrays: dict[str, Any] = {}
        for name in columns:
            if name == "at":
                assert item_places is not None
                arrays[name] = numbers_as_arrow(item_places)
            elif name in ("place", "rater"):
                places = self._places_of_everyone[as_whole_numbers_or_missing(part["place"])]
                is_place = name == "place"
                arrays[name] = (
                    numbers_as_arrow(places) if is_place else _names_at(places, self.everyone)
                )
            elif name in LABELS:
                arrays[name] = self._labels(part, name)
            else:
                arrays[name] = part[name]
        return pa.record_batch(arrays)

    @cached_property
    def _places_of_everyone(self) -> Codes:
        """For each place of a rater, the place among `everyone`; -1 for one who rated nothing."""
        place_by_name = {name: place for place, name in enumerate(self.everyone)}
        return np.array([place_by_name.get(name, MISSING) for name in self.names], dtype=np.int64)

    def _labels(self, part: "pa.RecordBatch", name: str) -> "pa.Array":
        """The labels in one of the forms of `first`: name, code or number."""
        import pyarrow as pa

        if self.coded.categories is None:
            if name == "code":
                raise no_categories_error(self.scale)
            values = [as_number_array(part[dimension]) for dimension in _number_columns(self.scale)]
            if len(values) == 1:
                return numbers_as_arrow(values[0])
            flat = numbers_as_arrow(np.column_stack(values).ravel())
            starts = np.arange(part.num_rows + 1, dtype=np.int32) * len(values)
            return pa.ListArray.from_arrays(numbers_as_arrow(starts), flat)
        codes = self.scale_positions_of_codes(as_whole_numbers_or_missing(part["code"]) - 1)
        if name == "code":
            return numbers_as_arrow(codes)
        if name == "number" or self.scale.numeric:
            return numbers_as_arrow(self.scale.scores[codes])
        return _names_at(codes, self.scale.names)

    def scale_positions_of_codes(self, codes: Codes) -> Codes:
        """The place on the scale of each code of the table, which counts from 0; -1 stays."""
        if self.scale.categories is None or self.coded.categories is None:
            raise no_categories_error(self.scale)
        if self.coded.categories == self.scale.categories:
            return codes
        names = self.scale.names
        position_by_code = [
            names.index(name) if name in names else MISSING for name in self.coded.names
        ]
        scale_positions = np.append(np.array(position_by_code, dtype=np.int64), MISSING)[codes]
        off = np.unique(codes[(scale_positions == MISSING) & (codes != MISSING)])
        if len(off):
            labels = [self.coded.names[code] for code in off]
            raise RatingsError(
                f"ratings: found {called('label', labels)}; expected one of {listed(names, 12)}. "
                "Correct the label or add it to the scale."
            )
        return scale_positions

    def rated_items(self, *, items: Collection[str] | None = None) -> "pa.ChunkedArray":
        """The names of the items with a rating, in order. Earlier and gold ones count."""
        if items is None:
            return self._all_rated_items
        test, _dependencies = self._is_of_items_sql(items)
        text = f"SELECT DISTINCT item FROM {self.table} WHERE {test} ORDER BY item"
        return self.session.query(text)["item"]

    @cached_property
    def _all_rated_items(self) -> "pa.ChunkedArray":
        import pyarrow as pa

        if self._can_unpack(["item"]):
            return self.session.query(f"SELECT item FROM {self.items_in_order}")["item"]
        last_place, names = -1, [texts_as_arrow([])]
        for batch in self.iterate_ratings(["item", "at"]):
            item_places = as_whole_numbers_or_missing(batch["at"])
            names.append(
                batch["item"].take(np.flatnonzero(np.diff(item_places, prepend=last_place)))
            )
            last_place = int(item_places[-1])
        return pa.chunked_array(names)

    def _is_of_raters_sql(self, raters: Collection[str] | None) -> str:
        """The test of SQL whether a row is of some raters."""
        if raters is None or {*self.everyone} <= {*raters}:
            return "TRUE"
        places = [str(place) for place, name in enumerate(self.names) if name in raters]
        return f"place IN ({', '.join(places)})" if places else "FALSE"

    def items(
        self, columns: Sequence[str] = (), *, names: Collection[str] | None = None
    ) -> "pa.Table":
        """Items are in the order of names. `columns` are some of `text`, `gold`, `gold_label`,
        `cluster`, `weight`, `stratum:NAME`, `part:NAME` and `content:NAME`. `cluster_at` is the
        number of the cluster, in the order of first items.
        """
        import pyarrow as pa

        return pa.Table.from_batches(self._with_texts(self._load_items(columns, names)))

    def _load_items(
        self, columns: Sequence[str], names: Collection[str] | None = None
    ) -> "pa.RecordBatch":
        """What is known of some items, in the order of their names, without the texts."""
        import pyarrow as pa

        if self.known is None:
            return pa.record_batch({"item": texts_as_arrow([])})
        column_by_name = {name: "cluster" if name == "cluster_at" else name for name in columns}
        quoted = self.session.column_sql
        select_list = [
            "item",
            *(f"{quoted(column)} AS {quoted(name)}" for name, column in column_by_name.items()),
        ]
        test, _dependencies = self._is_of_items_sql(names)
        table = self.session.query(
            f"SELECT {', '.join(select_list)} FROM {self.known} WHERE {test} ORDER BY item"
        )
        if "cluster_at" in columns:
            column_index = [*columns].index("cluster_at") + 1
            coded = (
                pa.chunked_array(table.column(column_index)).combine_chunks().dictionary_encode()
            )
            table = table.set_column(column_index, "cluster_at", coded.indices.cast(pa.int64()))
        return _combine_batch(table)

    def _with_texts(self, rows: "pa.RecordBatch") -> "Iterator[pa.RecordBatch]":
        """Rows in parts of few bytes. The texts stand in the place of `nth`."""
        if "text" not in rows.schema.names or (texts := self.texts) is None:
            return iter([rows])
        column = rows.schema.get_field_index("text")

        def build_part(part: slice) -> "pa.RecordBatch":
            rows_of_part = rows.slice(part.start, part.stop - part.start)
            return rows_of_part.set_column(column, "text", texts.texts_at(rows_of_part["text"]))

        return (
            iterate_growing_batches(rows.num_rows, build_part)
            if rows.num_rows
            else iter([build_part(slice(0, 0))])
        )

    def to_pandas(self) -> "pd.DataFrame":
        """All ratings, in the order of item, rater and occurrence."""
        return self.head(len(self))

    def head(self, n: int) -> "pd.DataFrame":
        """The first ratings, in the order of item, rater and occurrence."""
        from agreement_pipeline.ratings.frames import ratings_frame

        columns, batches = (
            ["item", "rater", "label", "occurrence", "earlier", *self.extra_columns],
            [],
        )
        for batch in self.iterate_ratings(columns):
            batches.append(batch.slice(0, n))
            n -= len(batches[-1])
            if not n:
                break
        return ratings_frame(batches, self.everyone, self.scale)

    @property
    def _order_sql(self) -> str:
        return "item, place, occurrence" if self.met_again else "item, place"

    @cached_property
    def _in_order(self) -> Relation:
        unseen = ("gold", "nth")
        columns = [name for name in self._table_columns if name not in unseen]
        return self.session.sort_table(self.table, len(self), columns, self._order_sql)

    @cached_property
    def items_in_order(self) -> Relation:
        """The rows of `by_item`, in the order of the items' names."""
        rows = self.table.create_view(self.query_by_item_sql())
        columns = ["item", *self.packing.columns, "gold", *self._item_columns_of_patterns]
        return self.session.sort_table(rows, len(self) // len(self.names), columns, "item")

    @property
    def _is_packed(self) -> bool:
        """True if the table of packed items has all that the ratings say."""
        return bool(self.coded.categories) and not (self.met_again or self.preceded)

    def _can_unpack(self, columns: Sequence[str]) -> bool:
        """Items are fewer than ratings."""
        are_packed = self._is_packed and {*columns} <= {*PACKED_COLUMNS}
        return are_packed and self.n_rated * len(self.names) <= MAX_CELLS_PER_RATING * len(self)

    def _iterate_unpacked(
        self, columns: Sequence[str], items: str = "", raters: Collection[str] | None = None
    ) -> "Iterator[pa.RecordBatch]":
        """The ratings of some items by some raters, in order."""
        import pyarrow as pa

        rows, last_place = 1 + BATCH_ROWS // len(self.names), -1
        other_places = [
            other_place
            for other_place, name in enumerate(self.names)
            if raters is not None and name not in raters
        ]
        text = f"SELECT * FROM {self.items_in_order} {items}"
        for batch in self.session.query_batches(text, rows):
            codes = self.packing.unpack_codes(self._packed_words(batch), range(len(self.names)))
            codes[:, other_places] = MISSING
            item, place = np.nonzero(is_given := codes >= 0)
            if not len(item):
                continue
            places = last_place + np.cumsum(is_given.any(1))
            last_place = int(places[-1])
            part = {"place": numbers_as_arrow(place), "code": numbers_as_arrow(codes[is_given] + 1)}
            if "item" in columns:
                part["item"] = batch["item"].take(numbers_as_arrow(item))
            if "occurrence" in columns:
                part["occurrence"] = numbers_as_arrow(np.ones(len(item), dtype=np.int32))
            if "earlier" in columns:
                part["earlier"] = pa.array(np.zeros(len(item), dtype=bool))
            yield self._answer_columns(pa.record_batch(part), columns, places[item])

    # What counting asks

    @cached_property
    def _table_with_gold(self) -> Relation:
        """The table in which items that are gold in another round are gold too."""
        if not self.also_gold:
            return self.table
        test, dependencies = self._is_of_items_sql(self.also_gold)
        return self.table_with_computed({"gold": f"gold OR {test}"}, *dependencies)

    @cached_property
    def own_first_ratings(self) -> Relation:
        """The first rating of each rater and item in the round itself."""
        if not (self.met_again or self.preceded):
            return self._table_with_gold
        table = self._table_with_gold
        turn_sql = "ROW_NUMBER() OVER (PARTITION BY item, place ORDER BY occurrence) AS turn"
        rows = f"SELECT *, {turn_sql} FROM {table}{' WHERE NOT earlier' if self.preceded else ''}"
        return table.create_view(f"SELECT * FROM ({rows}) AS t WHERE turn = 1")

    @cached_property
    def packing(self) -> Packing:
        """How the labels of an item are packed into whole numbers."""
        return self._packing()

    def _packing(self, slots: Sequence[int] | None = None) -> Packing:
        """Without categories, one bit says that there is a label."""
        return Packing(len(self.names), len(self.coded.categories or ("rated",)), slots)

    @property
    def _item_columns_of_patterns(self) -> list[str]:
        return [name for name in ("cluster", "weight") if name in self.has]

    def query_by_item_sql(self, extra: Sequence[str] = ()) -> str:
        """The query for one row an item: its labels in words, gold, cluster, weight."""
        of_items = [f"MIN({name}) AS {name}" for name in self._item_columns_of_patterns]
        is_gold = "BOOL_OR(gold)" if self.also_gold or "gold" in self.has else "FALSE"
        columns = ["item", *self.packing.packing_aggregates_sql(self.session), f"{is_gold} AS gold"]
        select_list = ", ".join([*columns, *of_items, *extra])
        return f"SELECT {select_list} FROM {self.own_first_ratings} GROUP BY item"

    @cached_property
    def patterns(self) -> Patterns:
        """The distinct rows of labels, and how many items have each."""
        return self.patterns_in(self._distinct_rows())

    def _distinct_rows(self, *aggregates: str) -> "pa.Table":
        """The rows of `by_item` that differ beside their items, and what is asked of these."""
        keys = ", ".join([*self.packing.columns, "gold", *self._item_columns_of_patterns])
        rows = vars(self).get("items_in_order") or f"({self.query_by_item_sql()})"
        select_list = ", ".join([keys, "COUNT(*) AS items", *aggregates])
        return self.session.query(f"SELECT {select_list} FROM {rows} AS i GROUP BY {keys}")

    def patterns_in(self, table: "pa.Table") -> Patterns:
        """The rows of an answer to `by_item`, with how many items show each in `items`."""
        items = n = as_whole_numbers_or_missing(table["items"])
        clusters = np.full(table.num_rows, MISSING)
        if "weight" in self.has:
            items = n * as_whole_numbers_or_missing(table["weight"])
        if "cluster" in self.has:
            from pyarrow.compute import index_in

            ordered_clusters = self.without_gold.ordered_clusters
            clusters = as_whole_numbers_or_missing(
                index_in(table["cluster"], value_set=ordered_clusters)
            )
        return Patterns(
            self._packed_words(table),
            n,
            items,
            as_whole_numbers_or_missing(table["gold"]) > 0,
            clusters,
        )

    @property
    def panel_rows(self) -> tuple[Codes, Codes]:
        """The distinct rows of labels that the panel gave to items that are not gold, packed, and
        how many items have each.
        """
        use = ~self.patterns.gold
        words = self.patterns.words[use] & self._mask_of_panel
        distinct, places = np.unique(words, axis=0, return_inverse=True)
        counts = np.bincount(places.ravel(), self.patterns.n[use], minlength=len(distinct))
        return distinct, counts.astype(np.int64)

    @property
    def _mask_of_panel(self) -> Codes:
        """The bits of packed words that hold labels of the panel."""
        packing = self.packing
        masks = np.zeros(len(packing.columns), dtype=np.int64)
        for place, name in enumerate(self.names):
            if name not in self.classifiers:
                word, turn = divmod(packing.slots[place], packing.a_word)
                masks[word] |= ((1 << packing.bits) - 1) << (packing.bits * turn)
        return masks

    def rows_that_differ(self, words: Codes) -> np.ndarray:
        """Of packed rows of labels: do at least two of the labels differ? Shape (P,)."""
        lowest = np.full(len(words), len(self.coded.categories or ()))
        highest = np.full(len(words), MISSING)
        for row, _, code in self.packing.iterate_labels(words, range(len(self.names))):
            np.minimum.at(lowest, row, code)
            np.maximum.at(highest, row, code)
        return np.asarray(highest > lowest)

    def with_fewer_of_rows(self, words: Codes, n_kept: Codes) -> "Ratings":
        """Of the items with each of these packed rows of the panel, only so many."""
        import pyarrow as pa

        columns = self.packing.columns
        table = {column: numbers_as_arrow(words[:, index]) for index, column in enumerate(columns)}
        limits_table = pa.table({**table, "n_kept": numbers_as_arrow(n_kept)})
        rows = self.session.load_batches(limits_table.schema, limits_table.to_batches())
        masks = self._mask_of_panel.tolist()
        of_panel = ", ".join(
            f"{column} & {mask} AS {column}" for column, mask in zip(columns, masks, strict=True)
        )
        keys = ", ".join(columns)
        turn = f"ROW_NUMBER() OVER (PARTITION BY {keys} ORDER BY item) AS turn"
        items = f"SELECT item, {of_panel} FROM ({self.query_by_item_sql()}) AS i WHERE NOT gold"
        numbered = f"SELECT item, {keys}, {turn} FROM ({items}) AS p"
        is_same_row = " AND ".join(f"n.{column} = r.{column}" for column in columns)
        dropped = self.table.create_view(
            f"SELECT n.item AS item FROM ({numbered}) AS n JOIN {rows} AS r ON {is_same_row} "
            "WHERE n.turn > r.n_kept",
            rows,
        )
        remaining = self.table.create_view(
            f"SELECT * FROM {self.table} WHERE item NOT IN (SELECT item FROM {dropped})", dropped
        )
        return replace(self, table=remaining)

    @property
    def _labels_of_patterns(self) -> Iterator[tuple[Codes, Codes, Codes]]:
        """Row, place and code of each label in the distinct rows, in parts."""
        return self.packing.iterate_labels(self.patterns.words, range(len(self.names)))

    def _packed_words(self, table: "pa.Table | pa.RecordBatch") -> Codes:
        words = np.column_stack(
            [as_whole_numbers_or_missing(table[column]) for column in self.packing.columns]
        )
        return np.maximum(words, 0)

    @property
    def has_repeated_ratings(self) -> bool:
        """True if one rater gave one item two labels as one occurrence."""
        if not (self.met_again or self.preceded):
            return sum(self.n_by_rater.values()) < len(self)
        keys = "item, place, occurrence"
        repeated = f"SELECT item FROM {self.table} GROUP BY {keys} HAVING COUNT(*) > 1 LIMIT 1"
        return bool(self.table.query_column(repeated))

    def select_raters(self, raters: Collection[str]) -> "Ratings":
        """The ratings of some raters."""
        return self._filter(self._is_of_raters_sql(raters))

    @property
    def is_of_panel_sql(self) -> str:
        """The test of SQL whether a row is a rating of the panel."""
        models = [str(place) for place, name in enumerate(self.names) if name in self.classifiers]
        return f"place NOT IN ({', '.join(models)})" if models else "TRUE"

    @property
    def label_columns(self) -> list[str]:
        """The columns of the table that hold a label."""
        return ["code"] if self.coded.categories else _number_columns(self.scale)

    @property
    def _table_columns(self) -> list[str]:
        numbers = [] if self.coded.categories else _number_columns(self.scale)
        of_items = [name for name in content_columns(self.has) if not is_beside_ratings(name)]
        label = ["item", "place", "code", *numbers, "occurrence", "earlier"]
        return [*label, *self.extra_columns, "gold", *of_items, "nth"]

    def _count(self, test: str, counted_sql: str = "*") -> int:
        return int(
            self.table.query_column(f"SELECT COUNT({counted_sql}) FROM {self.table} WHERE {test}")[
                0
            ]
        )

    def table_with_computed(
        self, sql_by_column: Mapping[str, str], *dependencies: Relation
    ) -> Relation:
        """The table with some columns computed by SQL."""
        quoted = self.session.column_sql
        select_list = (
            f"{sql_by_column.get(name) or quoted(name)} AS {quoted(name)}"
            for name in self._table_columns
        )
        return self.table.create_view(
            f"SELECT {', '.join(select_list)} FROM {self.table}", *dependencies
        )

    def _filter(self, test: str, **changes: Any) -> "Ratings":
        """The ratings whose rows meet a test of SQL."""
        rated = self.table.create_view(f"SELECT * FROM {self.table} WHERE {test}")
        return replace(self, table=rated, **changes)

    def _is_of_items_sql(self, items: Collection[str] | None) -> tuple[str, tuple[Relation, ...]]:
        """Is the item of a row one of some? And what the test asks."""
        if items is None:
            return "TRUE", ()
        if len(items) <= MAX_LISTED_ITEMS:
            listed = ", ".join(map(self.session.literal_sql, sorted(items)))
            return f"(item IN ({listed}))" if items else "FALSE", ()
        import pyarrow as pa

        table = pa.table({"item": texts_as_arrow(sorted(items))})
        relation = self.session.load_batches(table.schema, table.to_batches())
        return f"(item IN (SELECT item FROM {relation}))", (relation,)

    # Other ratings made of these

    def with_origin(self, origin: Origin | None) -> "Ratings":
        """The same ratings, from another origin. What was computed of them is kept."""
        copy = replace(self, origin=origin)
        attributes = {
            name: value for name, value in vars(self).items() if not isinstance(value, Ratings)
        }
        vars(copy).update({**attributes, "origin": origin})
        return copy

    def with_gold(self, items: frozenset[str]) -> "Ratings":
        """Some more items are gold."""
        return self if items <= self.gold else replace(self, also_gold=self.also_gold | items)

    @property
    def without_gold(self) -> "Ratings":
        """The ratings of items that are not gold."""
        # What holds itself stays in memory until garbage is collected.
        return self._without_gold if self.also_gold or "gold" in self.has else self

    @cached_property
    def _without_gold(self) -> "Ratings":
        test, dependencies = self._is_of_items_sql(self.also_gold)
        is_kept = f"NOT {test}" + " AND NOT gold" * ("gold" in self.has)
        rated = self._table_with_gold.create_view(
            f"SELECT * FROM {self._table_with_gold} WHERE NOT gold"
        )
        known_items = self.known and self.known.create_view(
            f"SELECT * FROM {self.known} WHERE {is_kept}", *dependencies
        )
        return replace(self, table=rated, known=known_items, also_gold=frozenset())

    def without_labels(self, labels: Collection[str]) -> "Ratings":
        """The ratings in which some labels are missing, and are no categories of the scale."""
        scale = self.scale
        if scale.continuous or self.coded.categories is None:
            numbers = ", ".join(f"{float(label)!r}" for label in sorted(labels))
            return self._filter(f"d0 NOT IN ({numbers})")
        codes = [code for code, name in enumerate(self.coded.names, 1) if name in labels]
        remaining_categories = tuple(
            category
            for category, name in zip(scale.categories or (), scale.names, strict=True)
            if name not in labels
        )
        test = f"code NOT IN ({', '.join(map(str, codes)) or '0'})"
        part = self._filter(test, scale=replace(scale, categories=remaining_categories))
        if self._is_packed:  # the rows need not be grouped again
            vars(part)["patterns"] = self._patterns_without(codes)
        return part

    def _patterns_without(self, codes: Collection[int]) -> Patterns:
        patterns, packing = self.patterns, self.packing
        words = patterns.words.copy()
        for row, place, code in self._labels_of_patterns:
            is_removed = np.isin(code + 1, list(codes))
            slots = np.array(packing.slots, dtype=np.int64)[place[is_removed]]
            word, turn = np.divmod(slots, packing.a_word)
            np.subtract.at(
                words, (row[is_removed], word), (code[is_removed] + 1) << (packing.bits * turn)
            )
        rated = words.any(axis=1)
        return Patterns(
            words[rated],
            patterns.n[rated],
            patterns.items[rated],
            patterns.gold[rated],
            patterns.cluster[rated],
        )

    def with_other_labels(
        self, items: "pa.Array", raters: Sequence[str], codes: Codes
    ) -> "Ratings":
        """The ratings with other labels of raters for items. Codes are places on the scale."""
        import pyarrow as pa

        place_by_rater = {name: place for place, name in enumerate(self.names)}
        places = numbers_as_arrow(np.array([place_by_rater[name] for name in raters]))
        coded = np.array([self.coded.names.index(name) + 1 for name in self.scale.names])
        label_table = pa.table(
            {"item": items, "place": places, "other": numbers_as_arrow(coded[codes])}
        )
        new_labels = self.session.load_batches(label_table.schema, label_table.to_batches())
        quoted = [self.session.column_sql(name) for name in self._table_columns if name != "code"]
        rated = self.table.create_view(
            f"SELECT {', '.join(f'r.{name}' for name in quoted)}, "
            f"COALESCE(o.other, r.code) AS code FROM {self.table} AS r "
            f"LEFT JOIN {new_labels} AS o ON r.item = o.item AND r.place = o.place",
            new_labels,
        )
        return replace(self, table=rated)

    @property
    def without_earlier(self) -> "Ratings":
        """Replicates stay, ratings of earlier rounds do not."""
        if not self.preceded:
            return self
        return self._filter("NOT earlier", preceded=False)

    @property
    def without_assisted(self) -> "Ratings":
        """The ratings without those of the panel that began as a suggestion."""
        return self._without_assisted if "assisted" in self.has else self

    @cached_property
    def _without_assisted(self) -> "Ratings":
        return self._filter(f"NOT COALESCE({self.is_of_panel_sql} AND assisted, FALSE)")

    def select_strata(self, column: str, strata: Collection[str]) -> "Ratings":
        """Classifiers that rated none of the items are left out."""
        names = ", ".join(map(self.session.literal_sql, strata)) or "NULL"
        test = f"{self.session.column_sql(STRATUM + column)} IN ({names})"
        known_items = self.known and self.known.create_view(
            f"SELECT * FROM {self.known} WHERE {test}"
        )
        part = self._filter(test, known=known_items)
        remaining_classifiers = tuple(name for name in self.classifiers if name in part.everyone)
        return replace(part, classifiers=remaining_classifiers)

    def with_stratum(self, column: str, strata: Relation) -> "Ratings":
        """The ratings with one more column of strata. `strata` has the columns `item` and
        `stratum`, and a row for each item.
        """
        name = STRATUM + column
        quoted = self.session.column_sql(name)

        def with_strata(rows: Relation) -> Relation:
            own_columns = [
                f"r.{self.session.column_sql(column_name)}"
                for column_name in rows.schema.names
                if column_name != name
            ]
            return self.session.materialize(
                f"SELECT {', '.join(own_columns)}, s.stratum AS {quoted} FROM {rows} AS r "
                f"JOIN {strata} AS s ON r.item = s.item"
            )

        item_rows = self.known
        if item_rows is None:
            item_rows = strata.create_view(f"SELECT DISTINCT item FROM {self.table}", self.table)
        marked = replace(
            self, table=with_strata(self.table), known=with_strata(item_rows), has=self.has | {name}
        )
        vars(marked).update(everyone=self.everyone, _n=len(self))
        return marked

    def preceded_by(
        self, earlier: Sequence["Ratings"], *, exported_again: bool = False
    ) -> "Ratings":
        """The ratings, preceded by what the same raters gave the same items in earlier rounds.

        What was earlier in those rounds already is left out. If old ratings are `exported_again`,
        one with the same label, and at the same time where both tell one, is no replicate of
        itself.
        """
        quoted, renumbered = self.session.column_sql, ("occurrence", "earlier", "nth")
        shared_columns = [name for name in self._table_columns if name not in renumbered]
        of_item = ["item", "place", "gold", *content_columns(self.has)]
        columns = ", ".join(map(quoted, shared_columns))
        keys = ", ".join(quoted(name) for name in shared_columns if name in of_item)
        sides = ", ".join(
            f"{'o' if name in of_item else 'e'}.{quoted(name)}" for name in shared_columns
        )
        earlier_relations = [
            earlier_ratings.own_ratings_coded_for(self) for earlier_ratings in earlier
        ]
        if exported_again:
            earlier_relations = [self._without_own(rows) for rows in earlier_relations]
        parts = [
            f"SELECT {sides}, e.nth AS nth, TRUE AS earlier, {turn} AS turn, e.occurrence AS was "
            f"FROM {rows} AS e JOIN (SELECT DISTINCT {keys} FROM {self.table}) AS o "
            "ON e.item = o.item AND e.place = o.place"
            for turn, rows in enumerate(earlier_relations)
        ]
        parts.append(
            f"SELECT {columns}, nth, FALSE AS earlier, {len(earlier_relations)} AS turn, "
            f"occurrence AS was FROM {self.table}"
        )
        number = "ROW_NUMBER() OVER (PARTITION BY item, place ORDER BY turn, was) AS occurrence"
        rated = self.session.materialize(
            f"SELECT {columns}, nth, earlier, {number} FROM ({' UNION ALL '.join(parts)}) AS b"
        )
        preceded = replace(self, table=rated, met_again=True, preceded=True)
        if self.coded.categories and preceded._count("code = 0"):
            raise RatingsError(
                f"ratings: found labels of an earlier round that are none of "
                f"{listed(self.scale.names, 12)}; expected the same categories in all rounds. "
                "Correct the label or add it to the scale."
            )
        return preceded

    def _without_own(self, earlier: Relation) -> Relation:
        """Earlier ratings, without those that stand in these ratings once more."""
        keys = ("item", "place", "occurrence", *self.label_columns)
        tests = [f"r.{key} = e.{key}" for key in keys]
        if "timestamp" in self.has:
            is_same_time = "CAST(r.timestamp AS STRING) = CAST(e.timestamp AS STRING)"
            tests.append(f"(r.timestamp IS NULL OR e.timestamp IS NULL OR {is_same_time})")
        return earlier.create_view(
            f"SELECT e.* FROM {earlier} AS e LEFT JOIN {self.table} AS r "
            f"ON {' AND '.join(tests)} WHERE r.item IS NULL",
            self.table,
        )

    def own_ratings_coded_for(self, later: "Ratings") -> Relation:
        """The round's own ratings by a later round's raters, with its places and codes, in its
        session.
        """
        session, table = later.session, self.table
        if session is not self.session:
            columns_kept = ", ".join(
                self.session.column_sql(name) for name in self._table_columns if name != "nth"
            )
            rows = table.create_view(f"SELECT {columns_kept} FROM {table}")
            table = session.load_batches(
                rows.schema, self.session.query_batches(f"SELECT * FROM {rows}")
            )
        place_by_name = {name: place for place, name in enumerate(later.names)}
        places = [
            (place, place_by_name[name])
            for place, name in enumerate(self.names)
            if name in place_by_name
        ]
        sql_by_column = {name: name for name in ("item", "occurrence", "nth")}
        sql_by_column["place"] = f"CASE place {when_clauses_sql(places)} END"
        scale, coded = later.coded, self.coded
        if scale.categories and coded.categories:
            names = scale.names
            codes = [
                names.index(category) + 1 if category in names else 0 for category in coded.names
            ]
            sql_by_column["code"] = f"CASE code {when_clauses_sql(enumerate(codes, 1))} END"
        elif scale.categories:
            codes_of = when_clauses_sql(
                (score, code) for code, score in enumerate(scale.scores.tolist(), 1)
            )
            sql_by_column["code"] = f"CASE d0 {codes_of} ELSE 0 END"
        elif coded.categories:
            scores = when_clauses_sql(enumerate(coded.scores.tolist(), 1))
            sql_by_column |= {"code": "1", "d0": f"CAST(CASE code {scores} END AS DOUBLE)"}
        else:
            sql_by_column |= {name: name for name in ("code", *_number_columns(scale))}
        sql_by_column |= {
            name: name if name in self.has else "NULL" for name in later.extra_columns
        }
        columns = ", ".join(
            f"{sql} AS {session.column_sql(name)}" for name, sql in sql_by_column.items()
        )
        place_list = ", ".join(str(place) for place, _ in places) or "-1"
        return table.create_view(
            f"SELECT {columns} FROM {table} WHERE NOT earlier AND place IN ({place_list})"
        )

    def renamed(self, names: Mapping[str, str]) -> "Ratings":
        """Raters without a new name keep their old one."""
        new_names = [names.get(name, name) for name in self.names]
        ordered = tuple(sorted(new_names))
        cases = when_clauses_sql(
            (place, ordered.index(name)) for place, name in enumerate(new_names)
        )
        rated = self.table_with_computed({"place": f"CAST(CASE place {cases} END AS BIGINT)"})
        classifiers = tuple(sorted(names.get(name, name) for name in self.classifiers))
        origin = self.origin and self.origin.with_raters_renamed(names)
        renamed = replace(self, table=rated, names=ordered, classifiers=classifiers, origin=origin)
        if len({*new_names}) == len(new_names):
            slots = [self.packing.slots[new_names.index(name)] for name in ordered]
            attributes = {
                name: value
                for name, value in vars(self).items()
                if name in ATTRIBUTES_WITHOUT_NAMES
            }
            everyone = tuple(sorted(names.get(name, name) for name in self.everyone))
            vars(renamed).update(attributes, packing=self._packing(slots), everyone=everyone)
        return renamed


def _combine_batch(table: "pa.Table") -> "pa.RecordBatch":
    import pyarrow as pa

    arrays = [
        column.combine_chunks() if column.num_chunks else pa.nulls(0, column.type)
        for column in table.columns
    ]
    return pa.RecordBatch.from_arrays(arrays, names=table.schema.names)


def _item_places(items: "pa.Array", last_item: object, last_place: int) -> Codes:
    """The place of each row's item, counted on from the last one of the rows before."""
    import pyarrow.compute as pc

    new = np.ones(len(items), dtype=np.int64)
    new[1:] = as_whole_numbers_or_missing(pc.not_equal(items[1:], items[:-1]))
    new[:1] = [items[0] != last_item] if len(items) else []
    return np.asarray(last_place + np.cumsum(new))


def _names_at(places: Codes, names: Sequence[str]) -> "pa.Array":
    return texts_as_arrow(names).take(numbers_as_arrow(places))


def _number_columns(scale: Scale) -> list[str]:
    """The columns of the table that hold the numbers of a label."""
    return [f"d{index}" for index in range(scale.dimensions)]


def when_clauses_sql(pairs: Iterable[tuple[float, float]]) -> str:
    """The WHEN clauses of a CASE. At least one, since SQL wants one."""
    return (
        " ".join(f"WHEN {value!r} THEN {result!r}" for value, result in pairs) or "WHEN -1 THEN -1"
    )
