"""Parts of a round on which raters agree less than on the round: one value may hide them.

They are its strata, its clusters taken alike however many items they hold, the labels that began as
no suggestion, and the items of raters who share none with the others.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from agreement_pipeline.estimates.estimates import Estimate, estimate, find_registered_measure
from agreement_pipeline.estimates.panel_labels import estimate_label
from agreement_pipeline.estimates.parts import (
    ScopeRequest,
    StratumOfRatings,
    iterate_parts,
    iterate_parts_of_stratum,
    iterate_strata,
)
from agreement_pipeline.intervals import Inference, Interval, compute_points
from agreement_pipeline.ratings import (
    FIRST_DELIVERED,
    Ratings,
    Trains,
    group_raters_by_shared_items,
)
from agreement_pipeline.statistics import Statistic, seed_from_arrays
from agreement_pipeline.students_t import lower_tail_probability, quantile
from agreement_pipeline.text import counted
from agreement_pipeline.units import ABOUT

FEWEST_ITEMS = 10
NEEDS = ("counts", "patterns", "values")
ALIKE = "clusters that count alike"
UNASSISTED = "labels that began as no suggestion"


class WeakPart(NamedTuple):
    """A part of a round.

    Attributes
    ----------
    p
        The p-value of the hypothesis that the true value reaches a cut-off. It is 1 if the value
        itself reaches it, and if the part cannot be judged.
    is_judged
        False if it has no value or too few items, or if nearly all its labels are of one category.
        Then chance alone gives nearly all agreement, and a low value tells little of the raters.
    """

    name: str
    column: str
    value: float | None = None
    p: float = 1.0
    limits: Interval | None = None
    differs: bool = True
    is_judged: bool = True


def judge_parts_of_round(
    ratings: Ratings,
    measure: str,
    cutoff: float,
    inference: Inference,
    *,
    left_out: Collection[str] = (),
    trains: Trains | None = None,
) -> list[WeakPart]:
    """Whether a measure of agreement between raters reaches a cut-off on each part of a round.

    The limits are about these raters, for a round that is judged once. Columns of strata may be
    left out. A measure of replicates, of confidence or of classifiers has no parts. One of the
    label speaks of the label that `trains`.
    """
    single_look = Inference(inference.confidence_level, inference.n_resamples)
    if find_registered_measure(measure).needs == "label":
        return [
            _judge_label_of_part(WeakPart(name, column), measure, part, cutoff, single_look, trains)
            for name, column, part in _iterate_ratings_of_parts(ratings, left_out)
        ]
    if find_registered_measure(measure).needs not in NEEDS:
        return []
    return [
        _judge_part(WeakPart(name, column), measure, build_statistic(), cutoff, single_look)
        for name, column, build_statistic in _iterate_statistics_of_parts(
            ratings, measure, left_out
        )
    ]


def columns_without_difference(parts: Sequence[WeakPart]) -> tuple[str, ...]:
    """The labels of units differ in no part of it, or in nearly none of the order shown."""
    explaining_columns = []
    for column in ABOUT:
        column_parts = [part for part in parts if part.column == column]
        speaks_against = [
            part.is_judged if column == "shown" else part.differs for part in column_parts
        ]
        if column_parts and not any(speaks_against):
            explaining_columns.append(column)
    return tuple(explaining_columns)


def _iterate_ratings_of_parts(
    ratings: Ratings, left_out: Collection[str]
) -> Iterator[tuple[str, str, Ratings]]:
    for stratum in iterate_strata(ratings):
        if stratum.column not in left_out:
            yield _stratum_name(stratum), stratum.column, stratum.ratings
    for name, part in _iterate_parts_known_from_labels(ratings):
        yield name, "", part


def _judge_label_of_part(
    part: WeakPart,
    measure: str,
    ratings: Ratings,
    cutoff: float,
    inference: Inference,
    trains: Trains | None,
) -> WeakPart:
    (label_estimate,) = estimate_label(ratings, [measure], inference, trains)
    if (
        label_estimate.value is None
        or label_estimate.n_apart < FEWEST_ITEMS
        or label_estimate.at_least
    ):
        return part._replace(is_judged=False)
    if label_estimate.value >= cutoff:
        return part._replace(value=label_estimate.value)
    p = _p_value_of_reaching(label_estimate, cutoff, inference.tail)
    return part._replace(value=label_estimate.value, p=p, limits=label_estimate.interval)


def _stratum_name(stratum: StratumOfRatings) -> str:
    if stratum.column == FIRST_DELIVERED:
        return f"the items that came first in {stratum.names[0]}"
    return str(stratum.scope)


def _iterate_statistics_of_parts(
    ratings: Ratings, measure: str, left_out: Collection[str]
) -> Iterator[tuple[str, str, Callable[[], Statistic]]]:
    needs, round_request = find_registered_measure(measure).needs, ScopeRequest(("round",))
    for stratum in iterate_strata(ratings):
        if stratum.column not in left_out:
            for _, build_statistic in iterate_parts_of_stratum(stratum, needs, keeps_names=False):
                yield _stratum_name(stratum), stratum.column, build_statistic
    if "cluster" in ratings.has:
        for _, build_statistic in iterate_parts(ratings, needs, round_request):
            yield ALIKE, "", partial(_weigh_clusters_alike, build_statistic)
    for name, part in _iterate_parts_known_from_labels(ratings):
        for _, build_statistic in iterate_parts(part, needs, round_request):
            yield name, "", build_statistic


def _iterate_parts_known_from_labels(ratings: Ratings) -> Iterator[tuple[str, Ratings]]:
    if ratings.n_assisted:
        yield UNASSISTED, ratings.without_assisted
    teams = group_raters_by_shared_items(ratings)
    if len(teams) > 1:
        for team in teams:
            name = f"the items of {counted(len(team), 'rater')} who share none with others"
            yield name, ratings.select_raters(team)


def _weigh_clusters_alike(build_statistic: Callable[[], Any]) -> Any:
    """Each cluster counts alike, however many items it holds."""
    statistic = build_statistic()
    clusters, weights = statistic.clusters, statistic.weights
    n_held = clusters.items_by_cluster(weights, statistic.readable)[clusters.places]
    typical = float(n_held[n_held > 0].mean()) if (n_held > 0).any() else 1.0
    return statistic.with_weights(
        np.where(n_held > 0, weights / np.maximum(n_held, 1) * typical, 0.0)
    )


def _judge_part(
    part: WeakPart, measure: str, statistic: Any, cutoff: float, inference: Inference
) -> WeakPart:
    (point,) = compute_points([find_registered_measure(measure)], statistic)
    if point.undefined is not None:
        return part._replace(differs=False, is_judged=False)
    value = float(np.nanmin(point.coefficient.value))
    if value >= cutoff:
        return part._replace(value=value)
    seeded = replace(inference, seed=seed_from_arrays(statistic))
    part_estimate = estimate(measure, statistic, seeded)
    if part_estimate.n_apart < FEWEST_ITEMS or part_estimate.prevailing is not None:
        return part._replace(value=value, is_judged=False)
    p = _p_value_of_reaching(part_estimate, cutoff, inference.tail)
    return part._replace(value=value, p=p, limits=part_estimate.interval)


def _p_value_of_reaching(part_estimate: Estimate, cutoff: float, tail: float) -> float:
    """Resamples tell no small p. Beyond them, Student's t does, with the upper limit at
    this tail.
    """
    confidence = part_estimate.distribution
    if confidence is None or part_estimate.interval is None or part_estimate.value is None:
        return 1.0
    p, reach = confidence.confidence_over(cutoff), part_estimate.interval.high - part_estimate.value
    if p > confidence.finest_tail or reach <= 0:
        return p
    t = (cutoff - part_estimate.value) / reach * quantile(1 - tail, part_estimate.n_apart - 1)
    return min(p, lower_tail_probability(-t, part_estimate.n_apart - 1))
