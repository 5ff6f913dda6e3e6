"""An estimate: a measure's value with its interval, or the reason why there is no value."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from operator import itemgetter
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from agreement_pipeline.errors import PolicyError
from agreement_pipeline.intervals import (
    UNDEFINED_COEFFICIENT,
    ConfidenceDistribution,
    Evidence,
    Inference,
    Interval,
    Looks,
    Percentiles,
    Point,
    Population,
    build_confidence_distribution,
    compute_points,
    gather_evidence,
)
from agreement_pipeline.measures import MEASURES, Coefficient, Measure, measure_named
from agreement_pipeline.ratings import Array, Scale
from agreement_pipeline.statistics import CategoryCounts, Statistic, chosen_ratings
from agreement_pipeline.tables import Tabular
from agreement_pipeline.text import listed, p_in_words
from agreement_pipeline.units import NONE

ScopeKind = Literal["round", "category", "rater", "without", "pair", "classifier", "stratum"]
SCOPE_KINDS: tuple[str, ...] = get_args(ScopeKind)
PAIR = re.compile(r'("(?:[^"\\]|\\.)*"|.+?) and ("(?:[^"\\]|\\.)*"|.+)', re.DOTALL)


class Scope(NamedTuple):
    """What an estimate is about: the round, or a part of it.

    >>> str(Scope("rater", "ana")), str(ROUND)
    ('rater ana', 'round')
    >>> str(Scope.of_pair("ben", "a and b"))
    'pair "a and b" and ben'
    """

    kind: str
    name: str = ""

    @classmethod
    def of_pair(cls, one: str, other: str) -> "Scope":
        return cls("pair", " and ".join(map(quoted, sorted((one, other)))))

    @classmethod
    def written(cls, text: str) -> "Scope":
        """The scope that is written so.

        >>> Scope.written('rater "a and b"')
        Scope(kind='rater', name='a and b')
        """
        kind, _, name = text.partition(" ")
        return cls(kind, name if kind == "pair" else _unquoted(name))

    @classmethod
    def of_stratum(cls, column: str, name: str) -> "Scope":
        """One stratum of a column.

        >>> str(Scope.of_stratum("language", "de"))
        'stratum language=de'
        """
        return cls("stratum", f"{column}={name}")

    def renamed(self, names: Mapping[str, str]) -> "Scope":
        if self.kind == "pair" and (pair := PAIR.fullmatch(self.name)):
            one, other = (_unquoted(each) for each in pair.groups())
            return Scope.of_pair(names.get(one, one), names.get(other, other))
        return (
            self._replace(name=names.get(self.name, self.name))
            if self.kind in ("rater", "without")
            else self
        )

    def __str__(self) -> str:
        name = self.name if self.kind == "pair" else quoted(self.name)
        return f"{self.kind} {name}" if self.name else self.kind


def quoted(name: str) -> str:
    r"""A name is in quotes if it could be taken for something else.

    >>> print(quoted("ana"), quoted("a and b"), quoted("ana\n- ben"))
    ana "a and b" "ana\n- ben"
    """
    plain = name.isprintable() and not name.startswith('"') and " and " not in f" {name} "
    written = name if plain else json.dumps(name, ensure_ascii=False)
    return "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in written)


def _unquoted(written: str) -> str:
    try:
        return str(json.loads(written)) if written.startswith('"') else written
    except ValueError:
        return written


ROUND = Scope("round")


class WithLimits(Tabular):
    interval: Interval | None

    @property
    def low(self) -> float | None:
        return self.interval.low if self.interval and math.isfinite(self.interval.low) else None

    @property
    def high(self) -> float | None:
        return self.interval.high if self.interval and math.isfinite(self.interval.high) else None

    def attributes(self, *names: str) -> dict[str, Any]:
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class Estimate(WithLimits):
    """A measure on a scope, with its interval.

    Attributes
    ----------
    value, interval, undefined
        The method aims at intervals that contain the true value in the share `confidence_level` of
        rounds, for all planned looks together. Without a value, `undefined` says why. A limit is
        infinite if too many resamples are undefined and the measure has no bound on that side.
    observed, expected
        Observed agreement and chance agreement, from which the value is computed.
    n_items, n_raters, n_ratings, n_clusters
        What the value is computed from: all items, the raters of the items on which agreement is
        read, all ratings, and the clusters of these items or None.
    dropped
        The number of items on which agreement cannot be read, for each reason, such as one rating.
    lowest
        For a measure of every category, the category whose value is the round's value.
    on_marking
        For units of marked objects, the share of the disagreement in which the other rater said
        *none*. 0 if the names alone are asked. None without a category *none*.
    raters_left_out
        The raters who do not count, since their replicates or their confidence show nothing.
    chosen
        A small p-value of ratings missing completely at random, if that matters.
    prevailing
        The category of nearly all labels, and its share of them. None if there is none.
    population, distribution
        Which raters the interval is about, and the confidence distribution of the true value.
    """

    measure: str
    scope: Scope
    value: float | None
    interval: Interval | None
    confidence_level: float
    method: str
    n_items: int
    n_raters: int
    n_ratings: int
    observed: float | None = None
    expected: float | None = None
    lowest: str | None = None
    on_marking: float | None = None
    undefined: str | None = None
    dropped: Mapping[str, int] = field(default_factory=dict, hash=False)
    convention: str = ""
    categories: tuple[str, ...] = ()
    raters_left_out: tuple[str, ...] = ()
    n_clusters: int | None = None
    always_valid_at: int | None = None
    looks: Looks | None = None
    judged_on: int | None = None
    chosen: float | None = None
    prevailing: tuple[str, float] | None = None
    population: Population = "these raters"
    distribution: ConfidenceDistribution | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        valued, limited = self.value is not None, self.interval is not None
        if valued == (self.undefined is not None) or valued != limited:
            raise ValueError(
                f"estimate of {self.measure}: found value {self.value}, interval {self.interval}, "
                f"undefined {self.undefined!r}; expected a value with an interval, or a reason."
            )
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(
                f"estimate of {self.measure}: found value {self.value}; expected a finite number."
            )

    @property
    def n_dropped(self) -> int:
        return sum(self.dropped.values())

    @property
    def n_used(self) -> int:
        return self.n_items - self.n_dropped

    @property
    def n_apart(self) -> int:
        return self.n_used if self.n_clusters is None else self.n_clusters

    @property
    def draws(self) -> Array | None:
        return self.distribution.draws if isinstance(self.distribution, Percentiles) else None

    @property
    def without_limits(self) -> str | None:
        return (
            None
            if self.distribution is None
            else self.distribution.missing_limits_reason((1 - self.confidence_level) / 2)
        )

    def p_value(self, cutoff: float) -> float | None:
        """The p-value of the hypothesis that the true value is under `cutoff`; None if undefined.

        The lower limit at a confidence level of 1 - α reaches the cut-off if p is at most α/2. It
        is not the probability that the true value is under the cut-off.
        """
        return None if self.distribution is None else self.distribution.under(cutoff)

    def to_mapping(self) -> dict[str, Any]:
        return self.attributes(*MAPPED) | {
            "scope": str(self.scope),
            "dropped": dict(self.dropped),
            "categories": list(self.categories),
            "raters_left_out": list(self.raters_left_out),
        }

    @property
    def misled(self) -> str | None:
        if self.chosen is None:
            return None
        return (
            "items with more ratings differ in how much their raters agree "
            f"({p_in_words(self.chosen)}), which biases this measure; "
            "krippendorff_alpha is biased far less"
        )

    def rows(self) -> Iterator[dict[str, Any]]:
        yield {
            **self.attributes("measure", "scope", "value", "low", "high", "confidence_level"),
            "scope": str(self.scope),
            "items": self.n_used,
            "raters": self.n_raters,
            "ratings": self.n_ratings,
            **self.attributes("lowest", "misled", "undefined"),
        }


MAPPED = (
    *("measure", "scope", "value", "low", "high", "confidence_level", "method"),
    *("n_items", "n_dropped", "dropped", "n_raters", "n_ratings", "n_clusters"),
    *("observed", "expected", "lowest", "convention", "categories", "undefined"),
    *("raters_left_out", "misled"),
)
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
) -> Estimate:
    """One measure on one statistic. A measure of every category gives the lowest category.

    >>> from agreement_pipeline import Scale
    >>> counts = CategoryCounts([[3, 0], [0, 3]], [10, 10], scale=Scale(("no", "yes")))
    >>> found = estimate("krippendorff_alpha", counts)
    >>> found.value, found.interval.high <= 1, found.interval.low < 0.8
    (1.0, True, True)
    """
    return estimate_each([measure], statistic, inference, scope=scope)[0]


def estimate_each(
    measures: Iterable[str],
    statistic: Statistic,
    inference: Inference = DEFAULT,
    *,
    scope: Scope = ROUND,
) -> list[Estimate]:
    """Several measures on one statistic, from the same resamples.

    On the whole round, a measure of every category also gives the value of each category. Expensive
    measures use 400 resamples, and statistics of more than 20,000 rows fewer than others. If too
    few would lie beyond a limit, the limits are the measure's bounds.
    """
    asked = [registered(name) for name in measures]
    records = [registered(name) for name in dict.fromkeys(record.computed_as for record in asked)]
    points = compute_points(records, statistic)
    evidence = gather_evidence(points, statistic, inference)
    found = {
        point.record.name: list(_Maker(point, inference).each(scope, evidence)) for point in points
    }
    return [
        replace(each, measure=record.name) for record in asked for each in found[record.computed_as]
    ]


def registered(name: str) -> Measure:
    """The measure of that name, or a `PolicyError`. A distance may follow the name of a family."""
    record = measure_named(name) if isinstance(name, str) else None
    if record is None:
        near = get_close_matches(str(name).lower(), [*ALSO_CALLED, *MEASURES], n=1)
        hint = "`agreement-pipeline guide measures` lists them."
        if near:
            hint = f"Did you mean {ALSO_CALLED.get(near[0], near[0])!r}?"
        raise PolicyError(
            f"measure: found {name!r}; "
            f"expected one of the {len(MEASURES)} registered measures. {hint}"
        )
    return record


@dataclass(frozen=True)
class _Maker:
    point: Point
    inference: Inference

    def each(self, scope: Scope, evidence: Mapping[str, Evidence]) -> Iterator[Estimate]:
        found, record = self.point.coefficient, self.point.record
        known, scale = evidence.get(record.name), self.point.statistic.scale
        if known is None or not record.per_category:
            yield self.one(scope, found, known, undefined=self.point.undefined)
            return
        used = ~np.isnan(found.value)
        if why := why_no_lowest(found.value, scale):
            yield self.one(scope, UNDEFINED_COEFFICIENT, known, undefined=why)
        else:
            lowest = int(np.nanargmin(found.value))
            of_lowest = known.at(lambda each: each[..., used].min(-1))
            yield self.one(scope, _category(found, lowest), of_lowest, lowest=scale.names[lowest])
        for k, name in enumerate(scale.names if scope == ROUND else ()):
            of_category = known.at(itemgetter((..., k)))
            why = None if used[k] else UNUSED
            yield self.one(Scope("category", name), _category(found, k), of_category, undefined=why)

    def one(
        self,
        scope: Scope,
        found: Coefficient,
        evidence: Evidence | None,
        *,
        lowest: str | None = None,
        undefined: str | None = None,
    ) -> Estimate:
        record, statistic, inference = self.point.record, self.point.statistic, self.inference
        rests_on, known, judged_on = record.rests_on, None, inference.judged_on
        n_items, clusters = rests_on.among(statistic), statistic.clusters
        if judged_on is None:
            judged_on = n_items if clusters is None else clusters.n
        if evidence is not None and undefined is None:
            known = build_confidence_distribution(evidence, inference, record.bounds, judged_on)
        dropped = n_items - rests_on.items(statistic)
        of_panel = scope.kind in ("round", "category")
        counts = None
        if record.needs in ("counts", "patterns") and statistic.holds == "labels":
            counts = statistic.unnamed()
        return Estimate(
            measure=record.name,
            scope=scope,
            value=None if known is None else float(found.value),
            interval=None if known is None else known.limits(inference.tail),
            confidence_level=inference.confidence_level,
            method=self._method(found, known, evidence),
            n_items=n_items,
            n_raters=rests_on.raters(statistic),
            n_ratings=rests_on.ratings(statistic),
            observed=_number(found.observed),
            expected=_number(found.expected),
            lowest=lowest,
            on_marking=_on_marking(record, counts, lowest or scope.name),
            undefined=undefined,
            dropped={rests_on.others: dropped} if dropped else {},
            convention=record.convention,
            categories=statistic.scale.names,
            raters_left_out=record.raters_left_out(statistic) if of_panel else (),
            n_clusters=rests_on.clusters(statistic),
            always_valid_at=inference.always_valid_at,
            looks=inference.looks,
            judged_on=None if inference.looks is None else judged_on,
            chosen=_chosen(record, counts),
            prevailing=_prevailing(record, counts),
            population=inference.interval_method.population,
            distribution=known,
        )

    def _method(
        self, found: Coefficient, known: ConfidenceDistribution | None, evidence: Evidence | None
    ) -> str:
        inference, statistic = self.inference, self.point.statistic
        method, n_draws = inference.interval_method, 0 if evidence is None else len(evidence.draws)
        units = "clusters" if statistic.clusters else "items"
        fewer = f"{n_draws} " if 0 < n_draws < inference.n_resamples else ""
        said = [f"{fewer}{method.description}"]
        if statistic.clusters:
            said.append("whole clusters")
        if inference.always_valid_at is not None:
            said.append(f"always valid, tightest at {inference.always_valid_at} {units}")
        elif inference.looks is not None:
            said.append(f"for looks at {inference.looks} {units}")
        said.append(method.population)
        if known is not None and (why := known.missing_limits_reason(inference.tail)):
            said.append(f"{why} for limits at {100 * inference.confidence_level:g} %")
        if self.point.record.crossed and statistic.left_out:
            said.append(f"items with missing ratings left out: {statistic.left_out}")
        if found.monte_carlo_error is not None:
            error = found.monte_carlo_error
            said.append(f"value from random sampling, standard error {error:.1g}")
        return "; ".join(said)


def _on_marking(record: Measure, counts: CategoryCounts | None, category: str) -> float | None:
    if counts is None or not record.per_category or not {NONE, category} <= {*counts.scale.names}:
        return None
    names, sizes = counts.scale.names, counts.sizes
    c, nothing = counts.counts[:, names.index(category)], counts.counts[:, names.index(NONE)]
    others = np.maximum(sizes - 1, 1)
    on_marking = counts.weights @ (c * (sizes - c if category == NONE else nothing) / others)
    every = counts.weights @ (c * (sizes - c) / others)
    return float(on_marking / every) if every > 0 else None


def _chosen(record: Measure, counts: CategoryCounts | None) -> float | None:
    if counts is None or record.withstands_chosen:
        return None
    p = chosen_ratings(counts)
    return p if p <= CHOSEN else None


def _prevailing(record: Measure, counts: CategoryCounts | None) -> tuple[str, float] | None:
    if counts is None or not record.chance_corrected:
        return None
    given = np.atleast_2d(counts.meeting)[0]
    most, whole = int(given.argmax()), float(given.sum())
    if not whole or given[most] < NEARLY_ALL * whole:
        return None
    return counts.scale.names[most], float(given[most]) / whole


def why_no_lowest(values: Array, scale: Scale) -> str | None:
    """A category that was declared and not seen may be the lowest. `values` are theirs (K,)."""
    unseen = [name for name, value in zip(scale.names, values, strict=True) if np.isnan(value)]
    if not scale.declared or not unseen:
        return None
    found = f"category {unseen[0]!r}" if len(unseen) == 1 else f"categories {listed(unseen)}"
    return f"no pair of ratings holds the declared {found}"


def _category(point: Coefficient, k: int) -> Coefficient:
    parts = (None if part is None else part[..., k] for part in point)
    return Coefficient(*parts)  # type: ignore[arg-type]


def _number(value: Array | None) -> float | None:
    if value is None or np.ndim(value) > 0 or not np.isfinite(value):
        return None
    return float(value)
