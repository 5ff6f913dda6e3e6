"""Estimating measures on a statistic."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from agreement_pipeline.errors import PolicyError
from agreement_pipeline.estimates.estimates import Estimate
from agreement_pipeline.estimates.scope import ROUND, Scope
from agreement_pipeline.intervals import (
    NOTHING,
    ConfidenceDistribution,
    Evidence,
    Inference,
    gathered,
    points_of,
    what_is_known,
)
from agreement_pipeline.measures import MEASURES, Coefficient, Measure, measure_named
from agreement_pipeline.ratings import Array, Scale
from agreement_pipeline.statistics import Clusters, Statistic, chosen_ratings
from agreement_pipeline.text import listed, meant
from agreement_pipeline.units import NONE

DEFAULT = Inference()
CHOSEN = 0.001
"""The level at which ratings are taken to depend on what was said."""

NEARLY_ALL = 0.95
"""The share of the labels from which chance alone gives nearly all agreement."""

ALSO_CALLED = {
    "alpha": "krippendorff_alpha",
    "pabak": "bennett_s",
    "randolph_kappa": "bennett_s",
}
"""Names of measures in other packages, and their names here."""
UNUSED = "no pair of ratings holds the category"


def estimate(
    measure: str,
    statistic: Statistic,
    inference: Inference = DEFAULT,
    *,
    scope: Scope = ROUND,
    clusters: ArrayLike | None = None,
) -> Estimate:
    """One measure on one statistic. A measure of every category gives the lowest category.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> from agreement_pipeline.statistics import CategoryCounts
    >>> counts = CategoryCounts([[3, 0], [0, 3]], [10, 10], scale=Scale(("no", "yes")))
    >>> found = estimate("krippendorff_alpha", counts)
    >>> found.value, found.interval.high <= 1, found.interval.low < 0.8
    (1.0, True, True)
    """
    return estimate_each([measure], statistic, inference, scope=scope, clusters=clusters)[0]


def estimate_each(
    measures: Iterable[str],
    statistic: Statistic,
    inference: Inference = DEFAULT,
    *,
    scope: Scope = ROUND,
    clusters: ArrayLike | None = None,
) -> list[Estimate]:
    """Several measures on one statistic, from the same resamples.

    On the whole round, a measure of every category also gives the value of each category. A measure
    that is asked for by two names is computed once.

    Expensive measures use fewer resamples, and the estimate's `method` says how many.

    - An expensive measure uses 400. Its limits are uncertain by about a seventh of a standard
      error, and `p_value` has steps of 1/400.
    - A statistic of more than 20,000 rows, for example of real-valued ratings, gets 200,000,000
      weights in all. Its number of resamples follows from that, and is at least 1,000.

    If fewer than ten of these resamples would lie beyond a limit, the limits are set to the
    measure's bounds. At 95 %, 400 resamples are enough. At 98 %, 1,000 are. On few items, a limit
    may lie beyond all resamples. Then the limits are the bounds too.

    A measure that needs every rater's rating uses only the items that have them. `method` says how
    many items are left out.

    Parameters
    ----------
    measures
        Names of registered measures.
    statistic
        What the measures are computed from. A method for raters at large needs a statistic that
        names its raters.
    inference
        How the limits are found.
    scope
        What the statistic is about.
    clusters
        The cluster of each row, for example the document of an item. Items of different clusters
        must be in different rows. Whole clusters are resampled. None: the statistic's own clusters.

    Raises
    ------
    PolicyError
        A measure is not registered. Or `clusters` does not have one name for each row. Or the
        method is for raters at large, and the statistic does not name its raters.
    RatingsError
        The name of a cluster is missing.
    """
    asked = [registered(name) for name in measures]
    records = [registered(name) for name in dict.fromkeys(record.computed_as for record in asked)]
    basis = (
        statistic
        if clusters is None
        else statistic.in_clusters(Clusters.of_rows(clusters, statistic.weights.shape[-1]))
    )
    points = points_of(records, basis)
    evidence = gathered(points, basis, inference)
    found: dict[str, list[Estimate]] = {}
    for point in points:
        make = _Maker(point.record, point.statistic, inference)
        if point.undefined is not None:
            found[point.record.name] = [make(scope, point.found, None, undefined=point.undefined)]
        else:
            of_record = _by_category if point.record.per_category else _of_scope
            found[point.record.name] = of_record(
                make, scope, point.found, evidence[point.record.name]
            )
    return [
        replace(each, measure=record.name) for record in asked for each in found[record.computed_as]
    ]


def registered(name: str) -> Measure:
    """The measure of that name. A distance may follow the name of a family of weighted measures.

    Raises
    ------
    PolicyError
        No measure has that name.
    """
    record = measure_named(name) if isinstance(name, str) else None
    if record is None:
        elsewhere = ALSO_CALLED.get(str(name))
        hint = meant(elsewhere or name, MEASURES, "docs/measures.md lists them.")
        raise PolicyError(
            f"measure: found {name!r}; "
            f"expected one of the {len(MEASURES)} registered measures. {hint}"
        )
    return record


@dataclass(frozen=True)
class _Maker:
    """Makes the estimates of one measure on one statistic."""

    record: Measure
    statistic: Any
    inference: Inference

    def __call__(
        self,
        scope: Scope,
        point: Coefficient,
        evidence: Evidence | None,
        *,
        lowest: str | None = None,
        undefined: str | None = None,
    ) -> Estimate:
        rests_on = self.record.rests_on
        dropped = rests_on.among(self.statistic) - rests_on.items(self.statistic)
        known = self._known(evidence) if evidence is not None and undefined is None else None
        return Estimate(
            measure=self.record.name,
            scope=scope,
            value=None if known is None else float(point.value),
            interval=None if known is None else known.limits(self.inference.tail),
            confidence_level=self.inference.confidence_level,
            method=self._method(point, known, 0 if evidence is None else len(evidence.draws)),
            n_items=rests_on.among(self.statistic),
            n_raters=rests_on.raters(self.statistic),
            n_ratings=rests_on.ratings(self.statistic),
            observed=_number(point.observed),
            expected=_number(point.expected),
            lowest=lowest,
            on_marking=self._on_marking(lowest or scope.name) if self.record.per_category else None,
            undefined=undefined,
            dropped={rests_on.others: dropped} if dropped else {},
            convention=self.record.convention,
            categories=self.statistic.scale.names,
            raters_left_out=self.record.raters_left_out(self.statistic)
            if scope.kind in ("round", "category")
            else (),
            n_clusters=rests_on.clusters(self.statistic),
            always_valid_at=self.inference.always_valid_at,
            looks=self.inference.looks,
            judged_on=None if self.inference.looks is None else self._judged_on,
            chosen=self._chosen,
            prevailing=self._prevailing,
            population=self.inference.interval_method.population,
            distribution=known,
        )

    def _on_marking(self, category: str) -> float | None:
        """The share of the disagreement on a category in which the other rater said *none*."""
        names = self.statistic.scale.names
        if NONE not in names or category not in names or not self._reads_panel:
            return None
        counts = self.statistic.unnamed()
        c, nothing = counts.counts[:, names.index(category)], counts.counts[:, names.index(NONE)]
        others = np.maximum(counts.sizes - 1, 1)
        on_marking = counts.weights @ (
            c * (counts.sizes - c if category == NONE else nothing) / others
        )
        every = counts.weights @ (c * (counts.sizes - c) / others)
        return float(on_marking / every) if every > 0 else None

    @property
    def _reads_panel(self) -> bool:
        """True if the measure reads what the panel said, label by label, and nothing beside it."""
        return self.record.needs in ("counts", "patterns") and self.statistic.holds == "labels"

    @property
    def _chosen(self) -> float | None:
        """The p-value of ratings missing completely at random, if it is small."""
        if self.record.withstands_chosen or not self._reads_panel:
            return None
        p = chosen_ratings(self.statistic.unnamed())
        return p if p <= CHOSEN else None

    @property
    def _prevailing(self) -> tuple[str, float] | None:
        """The category of nearly all labels that meet another, if it makes the value low."""
        if not self.record.chance_corrected or not self._reads_panel:
            return None
        counts = self.statistic.unnamed()
        given = np.atleast_2d(counts.meeting)[0]
        most, whole = int(given.argmax()), float(given.sum())
        if not whole or given[most] < NEARLY_ALL * whole:
            return None
        return counts.scale.names[most], float(given[most]) / whole

    def _known(self, evidence: Evidence) -> ConfidenceDistribution:
        """The confidence distribution of the true value."""
        return what_is_known(evidence, self.inference, self.record.bounds, self._judged_on)

    @property
    def _judged_on(self) -> int:
        """The number of items, or of clusters, of the round that is judged."""
        clusters, n = self.statistic.clusters, self.inference.judged_on
        if n is not None:
            return n
        return self.record.rests_on.among(self.statistic) if clusters is None else clusters.n

    def _method(
        self, point: Coefficient, known: ConfidenceDistribution | None, n_draws: int
    ) -> str:
        """How the interval is found, which raters it is about, and what else to know of it."""
        fewer = f"{n_draws} " if 0 < n_draws < self.inference.n_resamples else ""
        units = "clusters" if self.statistic.clusters else "items"
        whole = ["whole clusters"] if self.statistic.clusters else []
        several = []
        if self.inference.always_valid_at is not None:
            several = [f"always valid, tightest at {self.inference.always_valid_at} {units}"]
        elif self.inference.looks is not None:
            several = [f"for looks at {self.inference.looks} {units}"]
        said = [
            f"{fewer}{self.inference.interval_method.description}",
            *whole,
            *several,
            self.inference.interval_method.population,
        ]
        if known is not None and (why := known.why_without(self.inference.tail)):
            said.append(f"{why} for limits at {100 * self.inference.confidence_level:g} %")
        if self.record.crossed and self.statistic.left_out:
            said.append(f"items with missing ratings left out: {self.statistic.left_out}")
        if point.monte_carlo_error is not None:
            said.append(f"value from random sampling, standard error {point.monte_carlo_error:.1g}")
        return "; ".join(said)


def _by_category(
    make: _Maker, scope: Scope, point: Coefficient, evidence: Evidence
) -> list[Estimate]:
    """The estimate of the lowest category. On the round, one estimate per category follows."""
    names = make.statistic.scale.names
    used = ~np.isnan(point.value)
    of_all = _of_lowest(make, scope, point, evidence)
    if scope != ROUND:
        return [of_all]
    return [
        of_all,
        *(
            _of_category(make, point, evidence, k, None if used[k] else UNUSED)
            for k in range(len(names))
        ),
    ]


def _of_lowest(make: _Maker, scope: Scope, point: Coefficient, evidence: Evidence) -> Estimate:
    """The estimate of the lowest category; undefined if a declared category has no value."""
    scale, used = make.statistic.scale, ~np.isnan(point.value)
    if unseen := why_no_lowest(point.value, scale):
        return make(scope, NOTHING, evidence, undefined=unseen)
    lowest = int(np.nanargmin(point.value))
    return make(
        scope,
        _category(point, lowest),
        evidence.at(lambda values: values[..., used].min(-1)),
        lowest=scale.names[lowest],
    )


def why_no_lowest(values: Array, scale: Scale) -> str | None:
    """Why nobody knows which category is the lowest; None if every declared one has a value.

    `values` are those of each category (K,). A category that was declared and not seen may be the
    lowest. Where none are declared, the categories are those that were seen.
    """
    unseen = [name for name, value in zip(scale.names, values, strict=True) if np.isnan(value)]
    if not scale.declared or not unseen:
        return None
    found = f"category {unseen[0]!r}" if len(unseen) == 1 else f"categories {listed(unseen)}"
    return f"no pair of ratings holds the declared {found}"


def _of_category(
    make: _Maker, point: Coefficient, evidence: Evidence, k: int, undefined: str | None
) -> Estimate:
    scope = Scope("category", make.statistic.scale.names[k])
    return make(
        scope, _category(point, k), evidence.at(lambda values: values[..., k]), undefined=undefined
    )


def _of_scope(make: _Maker, scope: Scope, point: Coefficient, evidence: Evidence) -> list[Estimate]:
    return [make(scope, point, evidence)]


def _category(point: Coefficient, k: int) -> Coefficient:
    parts = (None if part is None else part[..., k] for part in point)
    return Coefficient(*parts)  # type: ignore[arg-type]


def _number(value: Array | None) -> float | None:
    if value is None or np.ndim(value) > 0 or not np.isfinite(value):
        return None
    return float(value)
