"""Estimates of a round's ratings, on every scope.

The assets, the command line, the lock and `verify` all use this module.
"""

import os
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from agreement_pipeline.counting import Rated, counting_for, require_ratings
from agreement_pipeline.errors import AgreementError
from agreement_pipeline.estimates.estimates import (
    DEFAULT,
    ROUND,
    SCOPE_KINDS,
    Estimate,
    Scope,
    ScopeKind,
    estimate_each,
    find_registered_measure,
)
from agreement_pipeline.estimates.gold import right_label_by_item
from agreement_pipeline.estimates.panel_labels import estimate_label
from agreement_pipeline.estimates.parts import (
    ScopeRequest,
    ShownRaters,
    StratumOfRatings,
    iterate_parts,
    iterate_parts_of_stratum,
    iterate_strata,
    pool_small_strata,
)
from agreement_pipeline.intervals import DEFAULT_METHOD, Inference, compute_points, map_in_order
from agreement_pipeline.measures import MEASURES, Needs
from agreement_pipeline.ratings import Scale, Trains
from agreement_pipeline.statistics import Statistic, seed_from_arrays
from agreement_pipeline.tables import Table

DETAILS = ("rater", "without", "pair")
DETAIL_RESAMPLES = 1_000
SCOPES_OF_NAMED_RATERS = ("rater", "pair")
OF_RATER = {
    "no rater met an item twice": "the rater met no item twice",
    "no rater met two items again": "the rater did not meet two items again",
}
TASKS_AHEAD = 16


def applicable_measures(ratings: Rated, question: str | None = None) -> tuple[str, ...]:
    """Measures of gold items are left out where no right label is known."""
    right = right_label_by_item(ratings)
    return tuple(
        name
        for name, record in MEASURES.items()
        if record.defined_on(ratings.scale)
        and question in (None, record.question)
        and (right or record.needs != "gold")
    )


def build_round_statistic(ratings: Rated, measure: str) -> Statistic | None:
    parts = iterate_parts(ratings, find_registered_measure(measure).needs, ScopeRequest(("round",)))
    return next((build_statistic() for _, build_statistic in parts), None)


def measure(
    ratings: Rated, measure: str = "krippendorff_alpha", inference: Inference = DEFAULT
) -> Estimate:
    """Measure the whole round, with an interval.

    For values of parts of the round, use `survey`.

    Raises
    ------
    AgreementError
        The measure is not defined on the scale, or has no value for the whole round.

    Examples
    --------
    >>> import pandas as pd
    >>> from agreement_pipeline import read_ratings
    >>> rows = [(item, rater, "no") for item in range(9) for rater in ("ana", "ben")]
    >>> rows += [(9, "ana", "yes"), (9, "ben", "yes")]
    >>> ratings = read_ratings(pd.DataFrame(rows, columns=["item", "rater", "label"]))
    >>> measure(ratings).value
    1.0
    """
    require_ratings(ratings)
    require_defined(ratings.scale, measure)
    round_estimate = next(measure_ratings(ratings, [measure], inference, scopes=("round",)), None)
    if round_estimate is None:
        raise AgreementError(
            f"{measure}: found a measure of parts of a round; expected one with a value for the "
            "whole round. Use survey, which gives the value of each part."
        )
    return round_estimate


def value_by_scope(ratings: Rated, measure: str, kind: ScopeKind) -> dict[Scope, float]:
    record = find_registered_measure(find_registered_measure(measure).computed_as)
    parts = iterate_parts(ratings, record.needs, ScopeRequest((kind,)))
    points = (
        (scope, compute_points([record], build_statistic())[0]) for scope, build_statistic in parts
    )
    return {
        scope: float(point.coefficient.value) for scope, point in points if point.undefined is None
    }


def require_defined(scale: Scale, measure: str) -> None:
    record = find_registered_measure(measure)
    if not record.defined_on(scale):
        without = " without categories" if scale.continuous else ""
        raise AgreementError(
            f"{measure}: found level {scale.level}{without}; "
            f"expected one of {', '.join(sorted(record.levels))}. Choose another measure or level."
        )


def measure_ratings(
    ratings: Rated,
    measures: Iterable[str],
    inference: Inference = DEFAULT,
    *,
    scopes: Container[str] = SCOPE_KINDS,
    shown: ShownRaters | None = None,
    trains: Trains | None = None,
) -> Iterator[Estimate]:
    """Estimates of the measures on every scope, or on the kinds of scope named.

    The seed of the resamples comes from the statistic, so equal statistics give equal limits. An
    expensive measure is estimated on the round alone. The interval of a rater or a pair is never
    one for raters at large. Measures of the label speak of the one that `trains`.
    """
    names = tuple(measures)
    yield from _estimate_tasks(
        _iterate_tasks(ratings, names, inference, scopes, shown), ratings, shown
    )
    yield from _estimate_label_of_round(ratings, names, inference, scopes, trains)


def _estimate_label_of_round(
    ratings: Rated,
    measures: Iterable[str],
    inference: Inference,
    scopes: Container[str],
    trains: Trains | None,
) -> Iterator[Estimate]:
    names = [
        name
        for name in dict.fromkeys(measures)
        if find_registered_measure(name).needs == "label"
        and find_registered_measure(name).defined_on(ratings.scale)
    ]
    if "label" in scopes and names:
        for estimate in estimate_label(ratings, names, inference, trains):
            yield _add_what_ratings_tell(ratings, estimate)


class _Task(NamedTuple):
    names: list[str]
    scope: Scope
    statistic: Statistic
    inference: Inference
    kinds: Container[str] = SCOPE_KINDS

    def estimate(self) -> list[Estimate]:
        seeded = replace(self.inference, seed=seed_from_arrays(self.statistic))
        estimates = estimate_each(self.names, self.statistic, seeded, scope=self.scope)
        return [estimate for estimate in estimates if estimate.scope.kind in self.kinds]


def _iterate_tasks(
    ratings: Rated,
    measures: Iterable[str],
    inference: Inference,
    scopes: Container[str],
    shown_raters: ShownRaters | None,
) -> Iterator[_Task]:
    if inference.looks is not None:
        # The size of the whole round says at which look of a plan it is.
        panel = counting_for(ratings).by_rater(ratings)
        judged_on = panel.n_items if panel.clusters is None else panel.clusters.n
        inference = replace(inference, judged_on=judged_on)
    request = ScopeRequest(
        scopes, shown_raters, keeps_names=inference.interval_method.is_of_raters_at_large
    )
    records = [
        record
        for record in map(find_registered_measure, dict.fromkeys(measures))
        if record.defined_on(ratings.scale)
    ]
    for needs in dict.fromkeys(record.needs for record in records):
        of_needs = [record for record in records if record.needs == needs]
        for scope, build_statistic in iterate_parts(ratings, needs, request):
            group = [
                measure_record.name
                for measure_record in of_needs
                if not (measure_record.classifiers_only and scope.kind == "rater")
                and (scope == ROUND or not measure_record.expensive)
            ]
            if group:
                yield _Task(
                    group, scope, build_statistic(), _inference_for(inference, scope, needs), scopes
                )


def _estimate_tasks(
    tasks: Iterable[_Task], ratings: Rated, shown_raters: ShownRaters | None
) -> Iterator[Estimate]:
    large = shown_raters is not None and shown_raters.left_out_sentence() is not None
    cores = (os.cpu_count() or 1) if large else 1
    for estimates in map_in_order(_Task.estimate, tasks, cores=cores, ahead=TASKS_AHEAD):
        yield from (
            _add_what_ratings_tell(ratings, estimate)
            for estimate in _sort_as_listed(estimates, ratings.scale)
        )


def _sort_as_listed(estimates: list[Estimate], scale: Scale) -> list[Estimate]:
    measures = list(dict.fromkeys(estimate.measure for estimate in estimates))
    listed = {Scope("category", name): place for place, name in enumerate(scale.names, 1)}
    return sorted(
        estimates,
        key=lambda estimate: (measures.index(estimate.measure), listed.get(estimate.scope, 0)),
    )


def measure_strata(
    ratings: Rated, measures: Iterable[str], inference: Inference, min_units: int
) -> Iterator[Estimate]:
    """The strata of a column with fewer than `min_units` items, or clusters, are one."""
    strata = {stratum.scope: stratum for stratum in iterate_strata(ratings)}
    small = dict[tuple[str, str], list[StratumOfRatings]]()
    for stratum_estimate in measure_ratings(ratings, measures, inference, scopes=("stratum",)):
        if stratum_estimate.n_apart < min_units:
            stratum = strata[stratum_estimate.scope]
            small.setdefault((stratum_estimate.measure, stratum.column), []).append(stratum)
        else:
            yield stratum_estimate
    for (name, _), small_strata in small.items():
        needs = find_registered_measure(name).needs
        for scope, build_statistic in iterate_parts_of_stratum(
            pool_small_strata(small_strata), needs, inference.interval_method.is_of_raters_at_large
        ):
            pooled = _Task(
                [name], scope, build_statistic(), _inference_for(inference, scope, needs)
            )
            yield from (_add_what_ratings_tell(ratings, estimate) for estimate in pooled.estimate())


def _inference_for(inference: Inference, scope: Scope, needs: Needs) -> Inference:
    is_about_these_raters = scope.kind in SCOPES_OF_NAMED_RATERS or needs in ("strata", "gold")
    if inference.interval_method.is_of_raters_at_large and is_about_these_raters:
        return replace(inference, method=DEFAULT_METHOD)
    return inference


def _add_what_ratings_tell(ratings: Rated, estimate: Estimate) -> Estimate:
    """What the ratings tell of an estimate and their statistic does not.

    Raters who marked an object can only differ on what it is called.
    """
    record = find_registered_measure(estimate.measure)
    if reason := estimate.undefined:
        if estimate.scope.kind == "rater" and record.needs == "replicates":
            reason = OF_RATER.get(reason, reason.replace("every rater", "the rater"))
        if ratings.gold and record.needs != "gold":
            reason = f"{reason}, gold items apart"
        return replace(estimate, undefined=reason)
    naming = ratings.origin is not None and ratings.origin.part == "naming"
    of_the_panel = record.per_category and record.needs in ("counts", "patterns")
    if naming and of_the_panel and estimate.value is not None and estimate.value < 1:
        return replace(estimate, on_marking=0.0)
    return estimate


def survey(
    ratings: Rated,
    measures: Sequence[str],
    inference: Inference = DEFAULT,
    *,
    scopes: Container[str] = SCOPE_KINDS,
    judged: Container[str] = (),
    shown: ShownRaters | None = None,
    trains: Trains | None = None,
) -> Table[Estimate]:
    """Measure every scope, or the named kinds of scope, for people to read.

    There are many raters, pairs and rounds without a rater. So these estimates use fewer
    resamples, and limits for a round that is judged once, unless their kind is named in `judged`.
    If a panel has only one pair, it has the limits of the round. `shown` says which raters of a
    large panel are measured. Measures with the scope label are about the label that `trains`.
    """
    require_ratings(ratings)
    requested_kinds = [kind for kind in SCOPE_KINDS if kind in scopes]
    parts_only = {*DETAILS} - ({"pair"} if len(ratings.raters) == 2 else set())
    details = [kind for kind in requested_kinds if kind in parts_only and kind not in judged]
    main_kinds = [kind for kind in requested_kinds if kind not in details]
    main_tasks = _iterate_tasks(ratings, measures, inference, main_kinds, shown)
    single_look = replace(inference, always_valid_at=None, looks=None)
    n_detail_resamples = min(
        single_look.n_resamples, max(DETAIL_RESAMPLES, single_look.min_resamples())
    )
    single_look = replace(single_look, n_resamples=n_detail_resamples)
    parts = _iterate_tasks(ratings, measures, single_look, details, shown)
    of_label = _estimate_label_of_round(ratings, measures, inference, scopes, trains)
    return Table((*_estimate_tasks(chain(main_tasks, parts), ratings, shown), *of_label))
