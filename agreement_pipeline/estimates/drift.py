"""Drift: what raters, models and categories became on items that two rounds share.

A fixed set of items that comes back in every round shows it best. Gold items count here too.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from agreement_pipeline.errors import AgreementError
from agreement_pipeline.estimates.estimates import Scope, WithLimits
from agreement_pipeline.estimates.gold import (
    FirstLabels,
    cluster_numbers_of_items,
    rated_item_names,
    read_first_labels,
)
from agreement_pipeline.intervals import Interval, mean_interval, share_interval
from agreement_pipeline.measures import ratio
from agreement_pipeline.ratings import Array, Codes, Ratings, Scale
from agreement_pipeline.tables import Table

DriftKind = Literal["same label", "change of share", "change of mean"]
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
    what: DriftKind
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


def find_drift(now: Ratings, before: Ratings, level: float = 0.95) -> Table[Drift]:
    """Raters and models are compared on items that they labelled in both rounds, and categories on
    those that the panel did.
    """
    if now.scale != before.scale:
        raise AgreementError(
            f"drift: found the scale {now.scale.in_words} and before it {before.scale.in_words}; "
            "expected one scale. Read both rounds with the same categories."
        )
    items = sorted({*rated_item_names(now)} & {*rated_item_names(before)})
    if not items:
        raise AgreementError(
            "drift: found no item that both rounds share; expected some. "
            "Give a fixed set of items in every round."
        )
    labels_of_both = [read_first_labels(round_ratings, items) for round_ratings in (now, before)]
    builder = _DriftBuilder(now.scale, now.classifiers, cluster_numbers_of_items(now, items), level)
    return Table(
        (
            *builder.iterate_rater_drifts(*labels_of_both),
            *builder.iterate_category_drifts(*labels_of_both),
        )
    )


@dataclass(frozen=True)
class _DriftBuilder:
    scale: Scale
    classifiers: tuple[str, ...]
    clusters: Codes | None
    level: float

    def iterate_rater_drifts(
        self, new_labels: FirstLabels, old_labels: FirstLabels
    ) -> Iterator[Drift]:
        for name in sorted({*new_labels.raters} & {*old_labels.raters}):
            values, old_values = (
                labels.labels_of_raters((name,))[:, 0] for labels in (new_labels, old_labels)
            )
            scope = Scope("classifier" if name in self.classifiers else "rater", name)
            rated_in_both = ~np.isnan(values + old_values)
            if rated_in_both.any() and self.scale.continuous:
                yield self._build_drift(scope, "change of mean", values, old_values)
            elif rated_in_both.any():
                is_same, limits = values[rated_in_both] == old_values[rated_in_both], None
                if self.clusters is None:
                    limits = share_interval(int(is_same.sum()), len(is_same), self.level)
                undefined_reason = None if limits else IN_CLUSTERS
                share = float(is_same.mean())
                yield Drift(
                    scope, "same label", share, limits, self.level, len(is_same), undefined_reason
                )

    def iterate_category_drifts(
        self, new_labels: FirstLabels, old_labels: FirstLabels
    ) -> Iterator[Drift]:
        panels = [
            labels.labels_of_raters({*labels.raters} - {*self.classifiers})
            for labels in (new_labels, old_labels)
        ]
        sizes = [np.asarray((~np.isnan(panel)).sum(1), dtype=float) for panel in panels]
        for place, name in enumerate(() if self.scale.continuous else self.scale.names):
            share, old_share = (
                ratio((panel == place).sum(1), size)
                for panel, size in zip(panels, sizes, strict=True)
            )
            if not np.isnan(share + old_share).all():
                yield self._build_drift(
                    Scope("category", name), "change of share", share, old_share
                )

    def _build_drift(
        self, scope: Scope, kind: DriftKind, new_values: Array, old_values: Array
    ) -> Drift:
        rated_in_both = np.flatnonzero(~np.isnan(new_values + old_values))
        change, clusters = (
            new_values[rated_in_both] - old_values[rated_in_both],
            np.arange(len(rated_in_both)),
        )
        if self.clusters is not None:
            clusters = np.unique(self.clusters[rated_in_both], return_inverse=True)[1]
        limits = mean_interval(change, clusters, self.level)
        undefined_reason = None
        if limits is None:
            undefined_reason = ONE_ITEM if len(rated_in_both) == 1 else ONE_CLUSTER
        return Drift(
            scope,
            kind,
            float(change.mean()),
            limits,
            self.level,
            len(rated_in_both),
            undefined_reason,
        )
