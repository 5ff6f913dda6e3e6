"""Ratings that were counted before: their statistics were kept, and they add."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from hashlib import sha256
from typing import Any, ClassVar, NoReturn, TypeVar

import numpy as np

from agreement_pipeline.counting.queried import Counting, OfRatings
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.statistics import (
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
NAMES = ("rated_by", "classifiers", "gold", "digests")
SAID, AGAIN = "said", "again."

Names = tuple[str, ...]
T = TypeVar("T")
Replicates = ReplicatedLabels | ReplicatedNumbers


@dataclass(frozen=True, eq=False)
class CountedRatings:
    """What was counted of the ratings of some rounds, without the ratings. Two of them add.

    An item that several of the rounds rated is an item of each of them. Replicates are those
    within a round.

    Parameters
    ----------
    everybody
        First ratings by rater: of the panel and of the classifiers.
    replicates
        What the panel said of items that it met again.
    of_classifiers
        What each classifier said of items that it met again.
    sure
        First labels of the panel with their confidence. None on a scale without categories.
    rated_by
        All raters, sorted.
    classifiers
        Those of them that are models.
    gold
        The items whose label was known before.
    digests
        The digest of each round's ratings.
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
    digests: Names

    @classmethod
    def of(cls, ratings: Ratings) -> "CountedRatings":
        """Count the ratings of a round."""
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
            (ratings.digest,),
        )

    def __add__(self, other: "CountedRatings") -> "CountedRatings":
        models = {*self.classifiers, *other.classifiers}
        _refuse_both({*models} & {*self.raters, *other.raters})
        return replace(
            self,
            everybody=_sum(self.everybody, other.everybody),
            replicates=_sum(self.replicates, other.replicates),
            of_classifiers=_joined(self.of_classifiers, other.of_classifiers),
            sure=None if self.sure is None else _sum(self.sure, other.sure),
            rated_by=tuple(sorted({*self.rated_by, *other.rated_by})),
            classifiers=tuple(sorted(models)),
            gold=self.gold | other.gold,
            digests=(*self.digests, *other.digests),
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> "CountedRatings":
        """What `to_bytes` wrote."""
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
        """The statistics as an archive. Equal statistics have equal bytes."""
        said = {name: sorted(getattr(self, name)) for name in NAMES}
        tables = {name: getattr(self, name) for name in STATISTICS}
        for place, name in enumerate(self.classifiers):
            tables[f"{AGAIN}{place}"] = self.of_classifiers[name]
        kept = {name: as_array(statistic_bytes(each)) for name, each in tables.items() if each}
        return archive_of({SAID: as_array(json.dumps(said).encode()), **kept})

    @property
    def scale(self) -> Scale:
        """What the labels may be."""
        return self.everybody.scale

    @property
    def raters(self) -> Names:
        """The raters of the panel, by name."""
        return tuple(name for name in self.rated_by if name not in self.classifiers)

    @property
    def cluster_names(self) -> frozenset[str]:
        """The clusters of the items, by number: their names were not kept."""
        clusters = self.everybody.clusters
        return frozenset() if clusters is None else frozenset(map(str, range(clusters.n)))

    @property
    def digest(self) -> str:
        """SHA-256 of the rounds' digests. Of one round, its own."""
        joined = "\n".join(sorted(self.digests))
        return joined if len(self.digests) == 1 else sha256(joined.encode()).hexdigest()


class OfCounted(Counting):
    """Reads the statistics that were kept. It knows no single items."""

    def present(self, ratings: CountedRatings) -> Names:
        """Those who rated, by name."""
        everybody = ratings.everybody
        rated = np.asarray(everybody.given.any(0))
        there = zip(everybody.raters, rated, strict=True)
        return tuple(sorted(name for name, here in there if here))

    def labels(self, ratings: CountedRatings, classifiers: Names = ()) -> LabelsByRater:
        """First labels in columns: those of the panel and then of some classifiers."""
        return _as(LabelsByRater, self._columns(ratings, classifiers))

    def confident_labels(self, ratings: CountedRatings) -> LabelsByRater:
        """The panel's first labels in columns with the confidence of each."""
        if ratings.sure is None:
            raise TypeError("labels on a scale without categories")
        return ratings.sure.in_order()

    def open_numbers(self, ratings: CountedRatings, classifiers: Names) -> NumbersByRater:
        """First numbers in columns: the panel's and then some classifiers'."""
        return _as(NumbersByRater, self._columns(ratings, classifiers))

    def replicated_labels(
        self, ratings: CountedRatings, raters: Names | None = None
    ) -> ReplicatedLabels:
        """The labels of the panel, or of one classifier, for items they met again."""
        return _as(ReplicatedLabels, _again(ratings, raters)).in_order()

    def open_replicates(self, ratings: CountedRatings, raters: Names | None) -> ReplicatedNumbers:
        """The numbers of the panel, or of one classifier, for items they met again."""
        return _as(ReplicatedNumbers, _again(ratings, raters)).in_order()

    def without_items(self, *_: CountedRatings) -> NoReturn:
        """Items were not kept."""
        raise RatingsError(
            "ratings counted before: found a question about single items; expected one about "
            "agreement. Read the ratings again."
        )

    items = by_item = aligned = without_items

    def _columns(
        self, ratings: CountedRatings, classifiers: Names
    ) -> LabelsByRater | NumbersByRater:
        """The columns of the panel and of some classifiers, where one of them gave a rating."""
        some = ratings.everybody.only((*self.panel(ratings), *classifiers))
        return _rated(some).in_order()


def summed(parts: list[CountedRatings]) -> CountedRatings:
    """The sum of one part or more, in their order."""
    return reduce(CountedRatings.__add__, parts)


def _sum(one: Any, other: Any) -> Any:
    return one + other


def _joined(
    one: Mapping[str, Replicates], other: Mapping[str, Replicates]
) -> dict[str, Replicates]:
    """What each classifier of either said. The sum of both, where it stands in both."""
    both = {name: _sum(one[name], other[name]) for name in one if name in other}
    return {**one, **other, **both}


def _again(ratings: CountedRatings, raters: Names | None) -> Replicates:
    """The replicates of the panel, or of one classifier."""
    if raters is None:
        return ratings.replicates
    (classifier,) = raters
    return ratings.of_classifiers[classifier]


def _as(kind: type[T], statistic: object) -> T:
    """The statistic, if it is of the kind that the scale asks for."""
    if not isinstance(statistic, kind):
        raise TypeError(f"found {type(statistic).__name__} instead of {kind.__name__}")
    return statistic


def _rated(table: LabelsByRater | NumbersByRater) -> LabelsByRater | NumbersByRater:
    """The rows with a rating, and their clusters."""
    rows = np.asarray(table.given.any(1))
    if rows.all():
        return table
    said: Any = {
        "scale": table.scale,
        "raters": table.raters,
        "clusters": None if table.clusters is None else table.clusters.at(rows),
    }
    return type(table)(table.said[rows], table.weights[rows], **said)


def _refuse_both(names: set[str]) -> None:
    if names:
        raise RatingsError(
            f"sum of rounds: found {sorted(names)[0]!r} as a classifier of one round and as a "
            "rater of another; expected one or the other. Name the classifier in every round."
        )
