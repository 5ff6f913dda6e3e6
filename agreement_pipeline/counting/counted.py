"""Ratings that were counted before: statistics that were kept and add, and tables of counts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, ClassVar, NoReturn

import numpy as np

from agreement_pipeline.counting.queried import Counting, OfRatings
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Level, Ratings, Scale, without_categories
from agreement_pipeline.readers import COLUMNS, LIMITS, Columns, Limits, Source
from agreement_pipeline.statistics import (
    CategoryCounts,
    LabelsByRater,
    NumbersByRater,
    ReplicatedLabels,
    ReplicatedNumbers,
    archive_of,
    arrays_of,
    as_array,
    statistic_bytes,
    statistic_of,
)

STATISTICS = ("everybody", "replicates", "sure")
NAMES = ("rated_by", "classifiers", "gold")
SAID, AGAIN = "said", "again."

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
        counting, scale = OfRatings(), ratings.scale
        again = {name: counting.replicates(ratings, (name,)) for name in ratings.classifiers}
        return cls(
            counting.by_rater(ratings, counting.classifiers(ratings)).with_scale(scale),
            counting.replicates(ratings).with_scale(scale),
            {name: each.with_scale(scale) for name, each in again.items()},
            None if scale.continuous else counting.confident_labels(ratings).with_scale(scale),
            tuple(sorted((*ratings.raters, *ratings.classifiers))),
            ratings.classifiers,
            ratings.gold,
        )

    def __add__(self, other: "CountedRatings") -> "CountedRatings":
        models = {*self.classifiers, *other.classifiers}
        if both := {*models} & {*self.raters, *other.raters}:
            raise RatingsError(
                f"sum of rounds: found {min(both)!r} as a classifier of one round and as a rater "
                "of another; expected one or the other. Name the classifier in every round."
            )
        one, two = self.of_classifiers, other.of_classifiers
        return replace(
            self,
            everybody=add(self.everybody, other.everybody),
            replicates=add(self.replicates, other.replicates),
            of_classifiers={
                **one,
                **two,
                **{name: add(one[name], two[name]) for name in one if name in two},
            },
            sure=None if self.sure is None else add(self.sure, other.sure),
            rated_by=tuple(sorted({*self.rated_by, *other.rated_by})),
            classifiers=tuple(sorted(models)),
            gold=self.gold | other.gold,
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> "CountedRatings":
        kept = arrays_of(data)
        tables = {name: statistic_of(kept[name].tobytes()) for name in STATISTICS if name in kept}
        said = json.loads(kept[SAID].tobytes())
        of_classifiers = {
            name: statistic_of(kept[f"{AGAIN}{place}"].tobytes())
            for place, name in enumerate(said["classifiers"])
        }
        fields: Any = {"sure": None, **tables, **{name: tuple(said[name]) for name in NAMES}}
        gold = frozenset(said["gold"])
        return cls(**{**fields, "gold": gold, "of_classifiers": of_classifiers})

    def to_bytes(self) -> bytes:
        """Equal statistics have equal bytes."""
        said = {name: sorted(getattr(self, name)) for name in NAMES}
        tables = {name: getattr(self, name) for name in STATISTICS}
        for place, name in enumerate(self.classifiers):
            tables[f"{AGAIN}{place}"] = self.of_classifiers[name]
        kept = {name: as_array(statistic_bytes(each)) for name, each in tables.items() if each}
        return archive_of({SAID: as_array(json.dumps(said).encode()), **kept})

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


class OfCounted(Counting):
    def present(self, ratings: CountedRatings) -> Names:
        everybody = ratings.everybody
        rated = np.asarray(everybody.given.any(0))
        there = zip(everybody.raters, rated, strict=True)
        return tuple(sorted(name for name, here in there if here))

    def counts(self, ratings: CountedRatings) -> CategoryCounts:
        return self.labels(ratings).counts().merged()

    def by_rater(
        self, ratings: CountedRatings, classifiers: Names = ()
    ) -> LabelsByRater | NumbersByRater:
        some = ratings.everybody.only((*self.panel(ratings), *classifiers))
        rows = np.asarray(some.given.any(1))
        if not rows.all():
            some = type(some)(
                some.said[rows],
                some.weights[rows],
                scale=some.scale,
                raters=some.raters,
                clusters=None if some.clusters is None else some.clusters.at(rows),
            )
        return some.in_order()

    def confident_labels(self, ratings: CountedRatings) -> LabelsByRater:
        if ratings.sure is None:
            raise without_categories(ratings.scale)
        return ratings.sure.in_order()

    def replicates(self, ratings: CountedRatings, raters: Names | None = None) -> Replicates:
        if raters is None:
            return ratings.replicates.in_order()
        (classifier,) = raters
        return ratings.of_classifiers[classifier].in_order()

    def without_items(self, *_: CountedRatings) -> NoReturn:
        raise RatingsError(
            "ratings counted before: found a question about single items; expected one about "
            "agreement. Read the ratings again."
        )

    items = by_item = aligned = without_items


def summed(parts: list[CountedRatings]) -> CountedRatings:
    return reduce(add, parts)


TWO = ("rows", "columns")


@dataclass(frozen=True, eq=False)
class CountsOfItems:
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
) -> CountsOfItems:
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
    from agreement_pipeline.readers import whole_numbers

    table = whole_numbers(source, item, limits, columns)
    scale = scale or Scale(tuple(table.columns), level)
    places = _places(table.columns, scale, f"{table.source}: row 1")
    counts = np.zeros((len(table.rows), len(scale.names)))
    counts[:, places] = table.values
    return CountsOfItems(CategoryCounts(counts[counts.any(1)], scale=scale).merged())


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
    from agreement_pipeline.readers import whole_numbers

    table = whole_numbers(source, rows, limits, columns)
    scale = scale or Scale(tuple(table.columns), level)
    across = _places(table.columns, scale, f"{table.source}: row 1")
    down = _places(table.rows, scale, f"{table.source}: first column")
    codes = [(a, b) for a in down for b in across]
    met = table.values.ravel() > 0
    labels = LabelsByRater(
        np.array(codes).reshape(-1, 2)[met], table.values.ravel()[met], scale=scale, raters=TWO
    ).merged()
    sure = labels.with_confidence(np.full(labels.codes.shape, np.nan))
    nothing = np.empty(0, dtype=np.int64)
    nobody = LabelsByRater(nothing.reshape(0, 2), scale=scale, raters=TWO)
    again = ReplicatedLabels(np.empty((0, len(scale.names))), nothing, nothing, nobody)
    return CountedRatings(labels, again, {}, sure, TWO, (), frozenset())


def _places(names: Sequence[str], scale: Scale, where: str) -> list[int]:
    try:
        return [scale.index(name) for name in names]
    except RatingsError as error:
        raise RatingsError(f"{where}: {error}") from error


class OfCounts:
    def panel(self, ratings: CountsOfItems) -> Names:
        return ()

    classifiers = panel

    def counts(self, ratings: CountsOfItems) -> CategoryCounts:
        return ratings.counts.in_order()

    def without_raters(self, *_: CountsOfItems | Names | None) -> NoReturn:
        raise RatingsError(
            "counts of categories: found no raters; expected raters by name for this question. "
            "Choose a measure such as krippendorff_alpha, or give one row a rating."
        )

    items = labels = confident_labels = numbers = by_rater = without_raters
    replicates = by_item = aligned = without_raters
