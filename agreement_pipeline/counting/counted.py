"""Ratings that were counted before: statistics that were kept and add, and tables of counts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, ClassVar, NoReturn

import numpy as np

from agreement_pipeline.counting.queried import Counting, RatingsCounting
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Level, Ratings, Scale, no_categories_error
from agreement_pipeline.readers import COLUMNS, LIMITS, Columns, Limits, Source
from agreement_pipeline.statistics import (
    CategoryCounts,
    LabelsByRater,
    NumbersByRater,
    ReplicatedLabels,
    ReplicatedNumbers,
    arrays_from_npz,
    bytes_as_array,
    npz_from_arrays,
    statistic_bytes,
    statistic_from_bytes,
)

STATISTICS = ("everybody", "replicates", "sure")
NAME_FIELDS = ("rated_by", "classifiers", "gold")
DETAILS_KEY, REPLICATES_PREFIX = "said", "again."

Names = tuple[str, ...]
Replicates = ReplicatedLabels | ReplicatedNumbers


@dataclass(frozen=True, eq=False)
class CountedRatings:
    """What was counted of the ratings of some rounds, without the ratings. Two of them add.

    An item that several rounds rated is an item of each. Replicates are those within a round.

    `everybody` has first ratings, and `sure` those of the panel with their confidence. `replicates`
    and `of_classifiers` are what the panel, and each classifier, said of items that they met again.
    """

    has: ClassVar[frozenset[str]] = frozenset()
    origin: ClassVar[None] = None

    everybody: LabelsByRater | NumbersByRater
    replicates: Replicates
    of_classifiers: Mapping[str, Replicates]
    sure: LabelsByRater | None
    rated_by: Names
    classifiers: Names
    gold: frozenset[str]

    @classmethod
    def of(cls, ratings: Ratings) -> "CountedRatings":
        """Count all that estimates need of the ratings of a round."""
        counting, scale = RatingsCounting(), ratings.scale
        replicates_by_classifier = {
            name: counting.replicates(ratings, (name,)) for name in ratings.classifiers
        }
        return cls(
            counting.by_rater(ratings, counting.classifiers(ratings)).with_scale(scale),
            counting.replicates(ratings).with_scale(scale),
            {
                name: replicates.with_scale(scale)
                for name, replicates in replicates_by_classifier.items()
            },
            None if scale.continuous else counting.confident_labels(ratings).with_scale(scale),
            tuple(sorted((*ratings.raters, *ratings.classifiers))),
            ratings.classifiers,
            ratings.gold,
        )

    def __add__(self, other: "CountedRatings") -> "CountedRatings":
        models = {*self.classifiers, *other.classifiers}
        if in_both_roles := {*models} & {*self.raters, *other.raters}:
            raise RatingsError(
                f"sum of rounds: found {min(in_both_roles)!r} as a classifier of one round and as "
                "a rater of another; expected one or the other. Name the classifier in every round."
            )
        left_replicates, right_replicates = self.of_classifiers, other.of_classifiers
        return replace(
            self,
            everybody=add(self.everybody, other.everybody),
            replicates=add(self.replicates, other.replicates),
            of_classifiers={
                **left_replicates,
                **right_replicates,
                **{
                    name: add(left_replicates[name], right_replicates[name])
                    for name in left_replicates
                    if name in right_replicates
                },
            },
            sure=None if self.sure is None else add(self.sure, other.sure),
            rated_by=tuple(sorted({*self.rated_by, *other.rated_by})),
            classifiers=tuple(sorted(models)),
            gold=self.gold | other.gold,
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> "CountedRatings":
        arrays = arrays_from_npz(data)
        tables = {
            name: statistic_from_bytes(arrays[name].tobytes())
            for name in STATISTICS
            if name in arrays
        }
        details = json.loads(arrays[DETAILS_KEY].tobytes())
        of_classifiers = {
            name: statistic_from_bytes(arrays[f"{REPLICATES_PREFIX}{place}"].tobytes())
            for place, name in enumerate(details["classifiers"])
        }
        fields: Any = {
            "sure": None,
            **tables,
            **{name: tuple(details[name]) for name in NAME_FIELDS},
        }
        gold = frozenset(details["gold"])
        return cls(**{**fields, "gold": gold, "of_classifiers": of_classifiers})

    def to_bytes(self) -> bytes:
        """Equal statistics have equal bytes."""
        details = {name: sorted(getattr(self, name)) for name in NAME_FIELDS}
        tables = {name: getattr(self, name) for name in STATISTICS}
        for place, name in enumerate(self.classifiers):
            tables[f"{REPLICATES_PREFIX}{place}"] = self.of_classifiers[name]
        arrays = {
            name: bytes_as_array(statistic_bytes(statistic))
            for name, statistic in tables.items()
            if statistic
        }
        return npz_from_arrays(
            {DETAILS_KEY: bytes_as_array(json.dumps(details).encode()), **arrays}
        )

    @property
    def scale(self) -> Scale:
        return self.everybody.scale

    @property
    def raters(self) -> Names:
        return tuple(name for name in self.rated_by if name not in self.classifiers)

    @property
    def cluster_names(self) -> frozenset[str]:
        """Numbers stand for the names of clusters, which were not kept."""
        clusters = self.everybody.clusters
        return frozenset() if clusters is None else frozenset(map(str, range(clusters.n)))


class CountedRatingsCounting(Counting):
    def names_with_ratings(self, ratings: CountedRatings) -> Names:
        everybody = ratings.everybody
        rated = np.asarray(everybody.given.any(0))
        rated_by_rater = zip(everybody.raters, rated, strict=True)
        return tuple(sorted(name for name, is_rated in rated_by_rater if is_rated))

    def counts(self, ratings: CountedRatings) -> CategoryCounts:
        return self.labels(ratings).counts().merged()

    def by_rater(
        self, ratings: CountedRatings, classifiers: Names = ()
    ) -> LabelsByRater | NumbersByRater:
        statistic = ratings.everybody.select_raters((*self.panel(ratings), *classifiers))
        rows = np.asarray(statistic.given.any(1))
        if not rows.all():
            statistic = type(statistic)(
                statistic.cell_values[rows],
                statistic.weights[rows],
                scale=statistic.scale,
                raters=statistic.raters,
                clusters=None
                if statistic.clusters is None
                else statistic.clusters.select_rows(rows),
            )
        return statistic.in_canonical_order()

    def confident_labels(self, ratings: CountedRatings) -> LabelsByRater:
        if ratings.sure is None:
            raise no_categories_error(ratings.scale)
        return ratings.sure.in_canonical_order()

    def replicates(self, ratings: CountedRatings, raters: Names | None = None) -> Replicates:
        if raters is None:
            return ratings.replicates.in_canonical_order()
        (classifier,) = raters
        return ratings.of_classifiers[classifier].in_canonical_order()

    def without_items(self, *_: CountedRatings) -> NoReturn:
        raise RatingsError(
            "ratings counted before: found a question about single items; expected one about "
            "agreement. Read the ratings again."
        )

    items = by_item = aligned = without_items


def sum_counted(parts: list[CountedRatings]) -> CountedRatings:
    return reduce(add, parts)


ROWS_AND_COLUMNS = ("rows", "columns")


@dataclass(frozen=True, eq=False)
class ItemCounts:
    has: ClassVar[frozenset[str]] = frozenset()
    classifiers: ClassVar[Names] = ()
    raters: ClassVar[Names] = ()
    gold: ClassVar[frozenset[str]] = frozenset()
    cluster_names: ClassVar[frozenset[str]] = frozenset()
    origin: ClassVar[None] = None

    counts: CategoryCounts

    @property
    def scale(self) -> Scale:
        return self.counts.scale


def read_counts(
    source: Source,
    item: str | None = None,
    *,
    scale: Scale | None = None,
    level: Level = "nominal",
    limits: Limits = LIMITS,
    columns: Columns = COLUMNS,
) -> ItemCounts:
    """Read a table with a row for each item, and how often it got each category.

    Parameters
    ----------
    source
        A path, a DataFrame, or anything that gives Arrow batches.
    item
        The column that names the items. None: the first one. All other columns are categories.
    scale, level
        Without a scale, the categories are those of the table, at this level.

    Raises
    ------
    RatingsError
        A cell is no whole number, an item is there twice, or a column is no category.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"item": ["a", "b", "c"], "no": [3, 1, 0], "yes": [0, 2, 3]})
    >>> read_counts(table).counts.n_ratings
    9
    """
    from agreement_pipeline.readers import read_whole_numbers

    table = read_whole_numbers(source, item, limits, columns)
    scale = scale or Scale(tuple(table.columns), level)
    places = _scale_places_of_names(table.columns, scale, f"{table.source}: row 1")
    counts = np.zeros((len(table.rows), len(scale.names)))
    counts[:, places] = table.values
    return ItemCounts(CategoryCounts(counts[counts.any(1)], scale=scale).merged())


def read_contingency(
    source: Source,
    rows: str | None = None,
    *,
    scale: Scale | None = None,
    level: Level = "nominal",
    limits: Limits = LIMITS,
    columns: Columns = COLUMNS,
) -> CountedRatings:
    """Read a table of two raters, `rows` and `columns`: how many items got each pair of categories.

    Parameters
    ----------
    rows
        The column with the categories of the rows. None: the first one.

    Raises
    ------
    RatingsError
        A cell is no whole number, or rows and columns do not have the same categories.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"": ["no", "yes"], "no": [40, 5], "yes": [3, 12]})
    >>> read_contingency(table).everybody.n_items
    60
    """
    from agreement_pipeline.readers import read_whole_numbers

    table = read_whole_numbers(source, rows, limits, columns)
    scale = scale or Scale(tuple(table.columns), level)
    column_places = _scale_places_of_names(table.columns, scale, f"{table.source}: row 1")
    row_places = _scale_places_of_names(table.rows, scale, f"{table.source}: first column")
    codes = [(a, b) for a in row_places for b in column_places]
    occurs = table.values.ravel() > 0
    labels = LabelsByRater(
        np.array(codes).reshape(-1, 2)[occurs],
        table.values.ravel()[occurs],
        scale=scale,
        raters=ROWS_AND_COLUMNS,
    ).merged()
    sure = labels.with_confidence(np.full(labels.codes.shape, np.nan))
    no_rows = np.empty(0, dtype=np.int64)
    no_labels = LabelsByRater(no_rows.reshape(0, 2), scale=scale, raters=ROWS_AND_COLUMNS)
    no_replicates = ReplicatedLabels(np.empty((0, len(scale.names))), no_rows, no_rows, no_labels)
    return CountedRatings(labels, no_replicates, {}, sure, ROWS_AND_COLUMNS, (), frozenset())


def _scale_places_of_names(names: Sequence[str], scale: Scale, place: str) -> list[int]:
    try:
        return [scale.position_of_label(name) for name in names]
    except RatingsError as error:
        raise RatingsError(f"{place}: {error}") from error


class ItemCountsCounting:
    def panel(self, ratings: ItemCounts) -> Names:
        return ()

    classifiers = panel

    def counts(self, ratings: ItemCounts) -> CategoryCounts:
        return ratings.counts.in_canonical_order()

    def without_raters(self, *_: ItemCounts | Names | None) -> NoReturn:
        raise RatingsError(
            "counts of categories: found no raters; expected raters by name for this question. "
            "Choose a measure such as krippendorff_alpha, or give one row a rating."
        )

    items = labels = confident_labels = numbers = by_rater = without_raters
    replicates = by_item = aligned = without_raters
