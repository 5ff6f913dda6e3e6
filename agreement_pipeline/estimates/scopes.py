"""Estimates of a round's ratings, on every scope.

The assets, the command line, the lock and `verify` all use this module.
"""

import os
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from agreement_pipeline.counting import Rated, counting_of, require_ratings
from agreement_pipeline.errors import AgreementError
from agreement_pipeline.estimates.estimates import (
    DEFAULT,
    ROUND,
    SCOPE_KINDS,
    Estimate,
    Scope,
    ScopeKind,
    estimate_each,
    registered,
)
from agreement_pipeline.estimates.gold import right_labels
from agreement_pipeline.estimates.parts import (
    Asked,
    Shown,
    Stratum,
    parts_of,
    parts_of_stratum,
    strata_of,
    together,
)
from agreement_pipeline.intervals import DEFAULT_METHOD, Inference, compute_points, map_in_order
from agreement_pipeline.measures import MEASURES, Needs
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import Statistic, seed_of
from agreement_pipeline.tables import Table

DETAILS = ("rater", "without", "pair")
DETAIL_RESAMPLES = 1_000
NAMED = ("rater", "pair")
OF_RATER = {
    "no rater met an item twice": "the rater met no item twice",
    "no rater met two items again": "the rater did not meet two items again",
}
TASKS_AHEAD = 16


def applicable(ratings: Rated, question: str | None = None) -> tuple[str, ...]:
    """Measures of gold items are left out where no right label is known."""
    right = right_labels(ratings)
    return tuple(
        name
        for name, record in MEASURES.items()
        if record.defined_on(ratings.scale)
        and question in (None, record.question)
        and (right or record.needs != "gold")
    )


def basis_of(ratings: Rated, measure: str) -> Statistic | None:
    parts = parts_of(ratings, registered(measure).needs, Asked(("round",)))
    return next((made() for _, made in parts), None)


def measure(
    ratings: Rated, measure: str = "krippendorff_alpha", inference: Inference = DEFAULT
) -> Estimate:
    """One measure of the whole round, with its interval.

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
    found = next(measure_ratings(ratings, [measure], inference, scopes=("round",)), None)
    if found is None:
        raise AgreementError(
            f"{measure}: found a measure of parts of a round; expected one with a value for the "
            "whole round. Use survey, which gives the value of each part."
        )
    return found


def values_of(ratings: Rated, measure: str, kind: ScopeKind) -> dict[Scope, float]:
    record = registered(registered(measure).computed_as)
    parts = parts_of(ratings, record.needs, Asked((kind,)))
    points = ((scope, compute_points([record], made())[0]) for scope, made in parts)
    return {
        scope: float(point.coefficient.value) for scope, point in points if point.undefined is None
    }


def require_defined(scale: Scale, measure: str) -> None:
    record = registered(measure)
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
    shown: Shown | None = None,
) -> Iterator[Estimate]:
    """Estimates of the measures on every scope, or on the kinds of scope named.

    The seed of the resamples comes from the statistic, so equal statistics give equal limits. An
    expensive measure is estimated on the round alone. The interval of a rater or a pair is never
    one for raters at large.
    """
    return _of_tasks(_tasks(ratings, measures, inference, scopes, shown), ratings, shown)


class _Task(NamedTuple):
    names: list[str]
    scope: Scope
    statistic: Statistic
    inference: Inference
    kinds: Container[str] = SCOPE_KINDS

    def estimated(self) -> list[Estimate]:
        seeded = replace(self.inference, seed=seed_of(self.statistic))
        found = estimate_each(self.names, self.statistic, seeded, scope=self.scope)
        return [each for each in found if each.scope.kind in self.kinds]


def _tasks(
    ratings: Rated,
    measures: Iterable[str],
    inference: Inference,
    scopes: Container[str],
    shown: Shown | None,
) -> Iterator[_Task]:
    if inference.looks is not None:
        # The size of the whole round says at which look of a plan it is.
        panel = counting_of(ratings).by_rater(ratings)
        judged_on = panel.n_items if panel.clusters is None else panel.clusters.n
        inference = replace(inference, judged_on=judged_on)
    asked = Asked(scopes, shown, named=inference.interval_method.at_large)
    records = [
        record
        for record in map(registered, dict.fromkeys(measures))
        if record.defined_on(ratings.scale)
    ]
    for needs in dict.fromkeys(record.needs for record in records):
        of_needs = [record for record in records if record.needs == needs]
        for scope, made in parts_of(ratings, needs, asked):
            group = [
                each.name
                for each in of_needs
                if not (each.classifiers_only and scope.kind == "rater")
                and (scope == ROUND or not each.expensive)
            ]
            if group:
                yield _Task(group, scope, made(), _about(inference, scope, needs), scopes)


def _of_tasks(tasks: Iterable[_Task], ratings: Rated, shown: Shown | None) -> Iterator[Estimate]:
    large = shown is not None and shown.left_out() is not None
    cores = (os.cpu_count() or 1) if large else 1
    for found in map_in_order(_Task.estimated, tasks, cores=cores, ahead=TASKS_AHEAD):
        yield from (_of(ratings, each) for each in _as_listed(found, ratings.scale))


def _as_listed(found: list[Estimate], scale: Scale) -> list[Estimate]:
    measures = list(dict.fromkeys(each.measure for each in found))
    listed = {Scope("category", name): place for place, name in enumerate(scale.names, 1)}
    return sorted(found, key=lambda each: (measures.index(each.measure), listed.get(each.scope, 0)))


def measure_strata(
    ratings: Rated, measures: Iterable[str], inference: Inference, fewest: int
) -> Iterator[Estimate]:
    """The strata of a column with fewer than `fewest` items, or clusters, are one."""
    strata = {each.scope: each for each in strata_of(ratings)}
    small = dict[tuple[str, str], list[Stratum]]()
    for found in measure_ratings(ratings, measures, inference, scopes=("stratum",)):
        if found.n_apart < fewest:
            stratum = strata[found.scope]
            small.setdefault((found.measure, stratum.column), []).append(stratum)
        else:
            yield found
    for (name, _), each in small.items():
        needs = registered(name).needs
        for scope, made in parts_of_stratum(
            together(each), needs, inference.interval_method.at_large
        ):
            pooled = _Task([name], scope, made(), _about(inference, scope, needs))
            yield from (_of(ratings, found) for found in pooled.estimated())


def _about(inference: Inference, scope: Scope, needs: Needs) -> Inference:
    of_these = scope.kind in NAMED or needs in ("strata", "gold")
    if inference.interval_method.at_large and of_these:
        return replace(inference, method=DEFAULT_METHOD)
    return inference


def _of(ratings: Rated, found: Estimate) -> Estimate:
    """What the ratings tell of an estimate and their statistic does not.

    Raters who marked an object can only differ on what it is called.
    """
    record = registered(found.measure)
    if why := found.undefined:
        if found.scope.kind == "rater" and record.needs == "replicates":
            why = OF_RATER.get(why, why.replace("every rater", "the rater"))
        if ratings.gold and record.needs != "gold":
            why = f"{why}, gold items apart"
        return replace(found, undefined=why)
    naming = ratings.origin is not None and ratings.origin.part == "naming"
    of_the_panel = record.per_category and record.needs in ("counts", "patterns")
    if naming and of_the_panel and found.value is not None and found.value < 1:
        return replace(found, on_marking=0.0)
    return found


def survey(
    ratings: Rated,
    measures: Sequence[str],
    inference: Inference = DEFAULT,
    *,
    scopes: Container[str] = SCOPE_KINDS,
    judged: Container[str] = (),
    shown: Shown | None = None,
) -> Table[Estimate]:
    """Estimates on every scope, or on the kinds of scope named, for people to read.

    Single raters, pairs and the round without a rater are many. So their estimates use fewer
    resamples, and limits for a round that is judged once, unless their kind is named in `judged`.
    The only pair of a panel is the round, and has its limits. `shown` says which raters of a large
    panel are measured.
    """
    require_ratings(ratings)
    asked = [kind for kind in SCOPE_KINDS if kind in scopes]
    parts_only = {*DETAILS} - ({"pair"} if len(ratings.raters) == 2 else set())
    details = [kind for kind in asked if kind in parts_only and kind not in judged]
    others = [kind for kind in asked if kind not in details]
    whole = _tasks(ratings, measures, inference, others, shown)
    once = replace(inference, always_valid_at=None, looks=None)
    fewer = min(once.n_resamples, max(DETAIL_RESAMPLES, once.min_resamples()))
    once = replace(once, n_resamples=fewer)
    parts = _tasks(ratings, measures, once, details, shown)
    return Table(tuple(_of_tasks(chain(whole, parts), ratings, shown)))
