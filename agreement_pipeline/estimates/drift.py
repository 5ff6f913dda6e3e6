"""Drift: what raters, models and categories became on items that two rounds share.

The items are the same, so what differs is how they were judged. A fixed set of items that comes
back in every round shows it best. Gold items count here too.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from agreement_pipeline.errors import AgreementError
from agreement_pipeline.estimates.gold import FirstLabels, clusters_of, first_labels, rated_items
from agreement_pipeline.estimates.scope import Scope
from agreement_pipeline.intervals import Interval, mean_interval, share_interval
from agreement_pipeline.measures import ratio
from agreement_pipeline.ratings import Array, Codes, Ratings
from agreement_pipeline.tables import Table, Tabular

What = Literal["same label", "change of share", "change of mean"]
ONE_CLUSTER = "the shared items come from one cluster; 2 are required for an interval"
ONE_ITEM = "one item is shared; 2 are required for an interval"
IN_CLUSTERS = "items come in clusters, and the interval of a share takes each as drawn by itself"


@dataclass(frozen=True)
class Drift(Tabular):
    """What became of a rater, a model or a category.

    Attributes
    ----------
    scope
        Whom or what it is about.
    what
        *same label*: of a rater, the share of items with the same label as before. *change of
        share*: of a category, its share of an item's labels, now minus before. *change of mean*: of
        a rater of numbers, their mean, now minus before.
    value, interval
        The number and its interval. Such intervals aim at holding the true number in the share
        `confidence_level` of rounds.
    n_items
        The shared items that it rests on.
    undefined
        Why there is no interval; None if there is one.
    """

    scope: Scope
    what: What
    value: float
    interval: Interval | None
    confidence_level: float
    n_items: int
    undefined: str | None = None

    @property
    def moved(self) -> bool:
        """True for a change whose interval leaves out 0."""
        change = self.what != "same label" and self.interval is not None
        return change and not self.interval.low <= 0 <= self.interval.high  # type: ignore[union-attr]

    def rows(self) -> Iterator[dict[str, Any]]:
        """The drift in one row."""
        yield {
            "scope": str(self.scope),
            "what": self.what,
            "value": self.value,
            "low": None if self.interval is None else self.interval.low,
            "high": None if self.interval is None else self.interval.high,
            "items": self.n_items,
            "undefined": self.undefined,
        }


def drift(now: Ratings, before: Ratings, level: float = 0.95) -> Table[Drift]:
    """The drift of raters, models and categories from one round to another.

    A rater or a model is compared with themselves on the items that they labelled in both rounds.
    A category is compared on the items that the panel labelled in both.

    Raises
    ------
    AgreementError
        The rounds have different scales, or share no item.
    """
    if now.scale != before.scale:
        raise AgreementError(
            f"drift: found the scale {now.scale.in_words} and before it {before.scale.in_words}; "
            "expected one scale. Read both rounds with the same categories."
        )
    items = sorted({*rated_items(now)} & {*rated_items(before)})
    if not items:
        raise AgreementError(
            "drift: found no item that both rounds share; expected some. "
            "Give a fixed set of items in every round."
        )
    labels = [first_labels(each, items) for each in (now, before)]
    made = _Maker(now, labels[0], labels[1], clusters_of(now, items), level)
    return Table((*made.of_raters(), *made.of_categories()))


@dataclass(frozen=True)
class _Maker:
    ratings: Ratings
    now: FirstLabels
    before: FirstLabels
    clusters: Codes | None
    level: float

    def of_raters(self) -> Iterator[Drift]:
        """Each rater and model beside themselves."""
        for name in sorted({*self.now.raters} & {*self.before.raters}):
            now, before = (each.of((name,))[:, 0] for each in (self.now, self.before))
            scope = Scope("classifier" if name in self.ratings.classifiers else "rater", name)
            if not (both := ~np.isnan(now + before)).any():
                continue
            if self.ratings.scale.continuous:
                yield self._change(scope, "change of mean", now, before)
            else:
                yield self._same(scope, now[both] == before[both])

    def of_categories(self) -> Iterator[Drift]:
        """Each category's share of the panel's labels of an item."""
        if self.ratings.scale.continuous:
            return
        panels = [
            each.of({*each.raters} - {*self.ratings.classifiers})
            for each in (self.now, self.before)
        ]
        for place, name in enumerate(self.ratings.scale.names):
            now, before = (ratio((each == place).sum(1), _labels(each)) for each in panels)
            if not np.isnan(now + before).all():
                yield self._change(Scope("category", name), "change of share", now, before)

    def _same(self, scope: Scope, same: NDArray[np.bool_]) -> Drift:
        n, in_clusters = len(same), self.clusters is not None
        limits = None if in_clusters else share_interval(int(same.sum()), n, self.level)
        why = IN_CLUSTERS if in_clusters else None
        return Drift(scope, "same label", float(same.mean()), limits, self.level, n, why)

    def _change(self, scope: Scope, what: What, now: Array, before: Array) -> Drift:
        both = np.flatnonzero(~np.isnan(now + before))
        change = now[both] - before[both]
        limits = mean_interval(change, self._clusters(both), self.level)
        few = ONE_ITEM if len(both) == 1 else ONE_CLUSTER
        why = few if limits is None else None
        return Drift(scope, what, float(change.mean()), limits, self.level, len(both), why)

    def _clusters(self, places: Codes) -> Codes:
        if self.clusters is None:
            return np.arange(len(places))
        return np.asarray(np.unique(self.clusters[places], return_inverse=True)[1])


def _labels(values: Array) -> Array:
    """The number of labels of each item."""
    return np.asarray((~np.isnan(values)).sum(1), dtype=float)


__all__ = ["Drift", "drift"]
