"""Drift: what raters, models and categories became on items that two rounds share.

A fixed set of items that comes back in every round shows it best. Gold items count here too.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from agreement_pipeline.errors import AgreementError
from agreement_pipeline.estimates.estimates import Scope, WithLimits
from agreement_pipeline.estimates.gold import FirstLabels, clusters_of, first_labels, rated_items
from agreement_pipeline.intervals import Interval, mean_interval, share_interval
from agreement_pipeline.measures import ratio
from agreement_pipeline.ratings import Array, Codes, Ratings, Scale
from agreement_pipeline.tables import Table

What = Literal["same label", "change of share", "change of mean"]
ONE_CLUSTER = "the shared items come from one cluster; 2 are required for an interval"
ONE_ITEM = "one item is shared; 2 are required for an interval"
IN_CLUSTERS = "items come in clusters, and the interval of a share takes each as drawn by itself"


@dataclass(frozen=True)
class Drift(WithLimits):
    """`what` is *same label* of a rater, the share of items with the same label as before; *change
    of share* of a category, its share of an item's labels, now minus before; or *change of mean* of
    a rater.
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
        change = self.what != "same label" and self.interval is not None
        return change and not self.interval.low <= 0 <= self.interval.high  # type: ignore[union-attr]

    def rows(self) -> Iterator[dict[str, Any]]:
        yield {
            "scope": str(self.scope),
            **self.attributes("what", "value", "low", "high"),
            "items": self.n_items,
            "undefined": self.undefined,
        }


def drift(now: Ratings, before: Ratings, level: float = 0.95) -> Table[Drift]:
    """Raters and models are compared on items that they labelled in both rounds, and categories on
    those that the panel did.
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
    first = [first_labels(each, items) for each in (now, before)]
    made = _Maker(now.scale, now.classifiers, clusters_of(now, items), level)
    return Table((*made.of_raters(*first), *made.of_categories(*first)))


@dataclass(frozen=True)
class _Maker:
    scale: Scale
    classifiers: tuple[str, ...]
    clusters: Codes | None
    level: float

    def of_raters(self, now: FirstLabels, before: FirstLabels) -> Iterator[Drift]:
        for name in sorted({*now.raters} & {*before.raters}):
            values, earlier = (each.of((name,))[:, 0] for each in (now, before))
            scope = Scope("classifier" if name in self.classifiers else "rater", name)
            both = ~np.isnan(values + earlier)
            if both.any() and self.scale.continuous:
                yield self._change(scope, "change of mean", values, earlier)
            elif both.any():
                same, limits = values[both] == earlier[both], None
                if self.clusters is None:
                    limits = share_interval(int(same.sum()), len(same), self.level)
                why = None if limits else IN_CLUSTERS
                share = float(same.mean())
                yield Drift(scope, "same label", share, limits, self.level, len(same), why)

    def of_categories(self, now: FirstLabels, before: FirstLabels) -> Iterator[Drift]:
        panels = [each.of({*each.raters} - {*self.classifiers}) for each in (now, before)]
        sizes = [np.asarray((~np.isnan(each)).sum(1), dtype=float) for each in panels]
        for place, name in enumerate(() if self.scale.continuous else self.scale.names):
            share, earlier = (
                ratio((each == place).sum(1), size)
                for each, size in zip(panels, sizes, strict=True)
            )
            if not np.isnan(share + earlier).all():
                yield self._change(Scope("category", name), "change of share", share, earlier)

    def _change(self, scope: Scope, what: What, now: Array, before: Array) -> Drift:
        both = np.flatnonzero(~np.isnan(now + before))
        change, clusters = now[both] - before[both], np.arange(len(both))
        if self.clusters is not None:
            clusters = np.unique(self.clusters[both], return_inverse=True)[1]
        limits = mean_interval(change, clusters, self.level)
        why = None
        if limits is None:
            why = ONE_ITEM if len(both) == 1 else ONE_CLUSTER
        return Drift(scope, what, float(change.mean()), limits, self.level, len(both), why)
