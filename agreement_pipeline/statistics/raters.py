"""The raters of a statistic: how much of what is read each of them rated, and the statistic without each."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agreement_pipeline.errors import PolicyError
from agreement_pipeline.ratings import Array, Codes
from agreement_pipeline.statistics.confident import ConfidentPatterns
from agreement_pipeline.statistics.groups import GroupPatterns
from agreement_pipeline.statistics.panel import PanelPatterns
from agreement_pipeline.statistics.panel_values import PanelValues
from agreement_pipeline.statistics.patterns import CategoryCounts
from agreement_pipeline.statistics.replicate_values import ReplicateValues
from agreement_pipeline.statistics.replicates import ReplicateCounts
from agreement_pipeline.statistics.rows import changed
from agreement_pipeline.statistics.values import RatingValues


def without_raters(statistic: Any) -> Iterator[Any]:
    """The statistic without each of its raters; without each of the panel's where classifiers stand apart, of those with replicates where they count.

    One at a time: of many raters each is nearly as large as the whole.

    Raises
    ------
    PolicyError
        The statistic has forgotten who its raters are.
    """
    if isinstance(statistic, CategoryCounts):
        raise PolicyError(
            "raters at large: category counts found; a statistic that names its raters is required. Give rating patterns."
        )
    if isinstance(statistic, (PanelPatterns, PanelValues)):
        return (
            changed(statistic, panel=statistic.panel.without(rater))
            for rater in statistic.panel.raters
        )
    if isinstance(statistic, GroupPatterns):
        return (
            replace(statistic, patterns=statistic.patterns.without(rater))
            for rater in statistic.first
        )
    if isinstance(statistic, ConfidentPatterns):
        return (
            statistic.only([name for name in statistic.raters if name != rater])
            for rater in statistic.raters
        )
    if isinstance(statistic, ReplicateCounts):
        return (_without_counts(statistic, int(rater)) for rater in np.unique(statistic.rater))
    if isinstance(statistic, ReplicateValues):
        return (_without_values(statistic, int(rater)) for rater in np.unique(statistic.rater))
    return (statistic.without(rater) for rater in statistic.raters)


def _without_counts(replicates: ReplicateCounts, rater: int) -> ReplicateCounts:
    kept = replicates.rater != rater
    patterns = replicates.patterns.without(replicates.raters[rater])
    return ReplicateCounts(
        replicates.counts[kept],
        replicates.item[kept],
        _moved_up(replicates.rater[kept], rater),
        patterns,
    )


def _without_values(replicates: ReplicateValues, rater: int) -> ReplicateValues:
    kept, gone = replicates.rater != rater, replicates.raters[rater]
    raters, round_raters = (
        [name for name in names if name != gone]
        for names in (replicates.raters, replicates.round_raters)
    )
    cells = replicates.values[kept], replicates.item[kept], _moved_up(replicates.rater[kept], rater)
    return ReplicateValues(
        *cells,
        replicates.weights,
        scale=replicates.scale,
        raters=raters,
        round_raters=round_raters,
        clusters=replicates.clusters,
    )


def _moved_up(raters: Codes, gone: int) -> Codes:
    """Positions where the one that is gone leaves no gap."""
    return raters - (raters > gone)


def items_by_rater(statistic: Any, rows: NDArray[np.bool_]) -> Array:
    """How many items of these rows each of those whom `without_raters` leaves out rated, or met again where replicates count."""
    if isinstance(statistic, (ReplicateCounts, ReplicateValues)):
        raters, places = np.unique(statistic.rater, return_inverse=True)
        return np.asarray(
            np.bincount(
                places, statistic.cell_weights * rows[statistic.item], minlength=len(raters)
            ),
            dtype=float,
        )
    return np.asarray(statistic.weights[rows] @ _rated(statistic)[rows])


ByRater = Callable[[Any, NDArray[np.bool_]], Array]
"""From a statistic and rows of it to what each rater whom `without_raters` leaves out says on them, in items or in another unit."""


def raters_on(
    statistic: Any, rows: NDArray[np.bool_], by_rater: ByRater = items_by_rater
) -> NDArray[np.bool_]:
    """Which of them rated an item of these rows: the others show nothing of how raters agree on them."""
    return by_rater(statistic, rows) > 0


def effective_raters(
    statistic: Any, rows: NDArray[np.bool_], by_rater: ByRater = items_by_rater
) -> float:
    """How many raters of equally many items would say as much as these of theirs, by Kish's (1965) formula; 0 where nobody rated an item of these rows."""
    items = by_rater(statistic, rows)
    return float(items.sum() ** 2 / (items @ items)) if items.any() else 0.0


def count_raters(
    statistic: Any, rows: NDArray[np.bool_], by_rater: ByRater = items_by_rater
) -> int:
    """How many raters rated an item of these rows; of counts, which have forgotten who, as many as they say."""
    return (
        statistic.n_raters
        if isinstance(statistic, CategoryCounts)
        else int(raters_on(statistic, rows, by_rater).sum())
    )


def _rated(statistic: Any) -> NDArray[np.bool_]:
    """Who rated which row, of those whom `without_raters` leaves out."""
    if isinstance(statistic, (PanelPatterns, PanelValues)):
        return _rated(statistic.panel)
    if isinstance(statistic, GroupPatterns):
        return _rated(statistic.patterns.only(statistic.first))
    if isinstance(statistic, ConfidentPatterns):
        return statistic.stated
    return (
        statistic.rated if isinstance(statistic, RatingValues) else np.asarray(statistic.codes >= 0)
    )
