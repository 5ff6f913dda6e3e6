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
    resampling_masses,
    reweight_to_draw,
)
from agreement_pipeline.measures import MEASURES, Coefficient, Measure, find_measure
from agreement_pipeline.ratings import Array, Scale
from agreement_pipeline.statistics import CategoryCounts, Statistic, missing_at_random_p_value
from agreement_pipeline.tables import Tabular
from agreement_pipeline.text import listed, p_in_words
from agreement_pipeline.units import NONE

ScopeKind = Literal[
    "round", "category", "rater", "without", "pair", "classifier", "stratum", "label"
]
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
    def of_pair(cls, name: str, other_name: str) -> "Scope":
        return cls("pair", " and ".join(map(quote_if_ambiguous, sorted((name, other_name)))))

    @classmethod
    def parse(cls, text: str) -> "Scope":
        """The scope that is written so.

        >>> Scope.parse('rater "a and b"')
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
            first_name, second_name = (_unquoted(quoted_name) for quoted_name in pair.groups())
            return Scope.of_pair(
                names.get(first_name, first_name), names.get(second_name, second_name)
            )
        return (
            self._replace(name=names.get(self.name, self.name))
            if self.kind in ("rater", "without")
            else self
        )

    def __str__(self) -> str:
        name = self.name if self.kind == "pair" else quote_if_ambiguous(self.name)
        return f"{self.kind} {name}" if self.name else self.kind


def quote_if_ambiguous(name: str) -> str:
    r"""A name is in quotes if it could be taken for something else.

    >>> print(*map(quote_if_ambiguous, ("ana", "a and b", "ana\n- ben")))
    ana "a and b" "ana\n- ben"
    """
    plain = name.isprintable() and not name.startswith('"') and " and " not in f" {name} "
    text = name if plain else json.dumps(name, ensure_ascii=False)
    return "".join(
        character if character.isprintable() else json.dumps(character)[1:-1] for character in text
    )


def _unquoted(text: str) -> str:
    try:
        return str(json.loads(text)) if text.startswith('"') else text
    except ValueError:
        return text


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
        The number of items that do not count, for each reason, such as having one rating.
    lowest
        For a measure of every category, the category whose value is the round's value.
    on_marking
        For units of marked objects, the share of the disagreement in which the other rater said
        *none*. 0 if the names alone are asked. None without a category *none*.
    raters_left_out
        The raters who do not count because their replicates or their confidence show nothing.
    chosen
        A small p-value of ratings missing completely at random, if that matters.
    prevailing
        The category of nearly all labels, and its share of them. None if there is none.
    at_least
        If the value is only a lower bound: which ratings would show more. Empty otherwise.
    population, distribution
        Which raters the interval is about, and the confidence distribution of the true value.
    statistic, inference
        What was estimated and how, from which fresh rounds can be drawn. None if they are not kept.
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
    at_least: str = ""
    population: Population = "these raters"
    distribution: ConfidenceDistribution | None = field(default=None, repr=False, compare=False)
    statistic: Statistic | None = field(default=None, repr=False, compare=False)
    inference: Inference | None = field(default=None, repr=False, compare=False)

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
        return None if self.distribution is None else self.distribution.confidence_under(cutoff)

    def to_mapping(self) -> dict[str, Any]:
        at_least = {"at_least": self.at_least} if self.at_least else {}
        return (
            self.attributes(*MAPPED)
            | {
                "scope": str(self.scope),
                "dropped": dict(self.dropped),
                "categories": list(self.categories),
                "raters_left_out": list(self.raters_left_out),
            }
            | at_least
        )

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
SCOPES_THAT_KEEP = ("round", "stratum", "classifier")
"""Others are many, and each would keep a copy of the round."""
CHOSEN_RATINGS_LEVEL = 0.001
"""The level at which ratings are taken to depend on what was said."""

PREVAILING_SHARE = 0.95
"""The share of the labels from which chance alone gives nearly all agreement."""

MEASURE_SYNONYMS = {
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
    requested = [find_registered_measure(name) for name in measures]
    records = [
        find_registered_measure(name)
        for name in dict.fromkeys(record.computed_as for record in requested)
    ]
    points = compute_points(records, statistic)
    evidence = gather_evidence(points, statistic, inference)
    estimates_by_measure = {
        point.record.name: list(
            _EstimateBuilder(point, inference).build_overall_and_categories(scope, evidence)
        )
        for point in points
    }
    kept = statistic if scope.kind in SCOPES_THAT_KEEP else None
    return [
        replace(estimate, measure=record.name, statistic=kept, inference=inference)
        for record in requested
        for estimate in estimates_by_measure[record.computed_as]
    ]


COMMON_MEASURES = (
    "cohen_kappa",
    "fleiss_kappa",
    "conger_kappa",
    "light_kappa",
    "icc_1_1",
    "icc_2_1",
    "icc_3_1",
)
"""Of a name that several families share, these are told."""


def reestimate(estimate: Estimate, statistic: Statistic, inference: Inference) -> Estimate:
    """The estimate of the same measure and scope on another statistic."""
    of_category = estimate.scope.kind == "category"
    scope = ROUND if of_category else estimate.scope
    estimates = estimate_each([estimate.measure], statistic, inference, scope=scope)
    return next(other for other in estimates if other.scope == estimate.scope)


def estimate_redrawn(
    estimate: Estimate,
    population: Statistic,
    n_units: int,
    inference: Inference,
    rng: np.random.Generator,
) -> Estimate:
    """The same estimate on a fresh round, of so many items or clusters drawn from a population."""
    masses = resampling_masses(population)
    draws = rng.multinomial(n_units, masses / masses.sum()).astype(float)
    drawn = reweight_to_draw(population, draws)
    return reestimate(estimate, drawn, replace(inference, lower_only=True))


def find_registered_measure(name: str) -> Measure:
    """The measure of that name, or a `PolicyError`. A distance may follow the name of a family."""
    record = find_measure(name) if isinstance(name, str) else None
    if record is None:
        similar_names = get_close_matches(str(name).lower(), [*MEASURE_SYNONYMS, *MEASURES], n=1)
        family = [other for other in COMMON_MEASURES if str(name).lower() in other.split("_")]
        hint = "`agreement-pipeline guide measures` lists them."
        if len(family) > 1:
            hint = f"There are several: {', '.join(family)}. Name one of them."
        elif similar_names:
            hint = f"Did you mean {MEASURE_SYNONYMS.get(similar_names[0], similar_names[0])!r}?"
        raise PolicyError(
            f"measure: found {name!r}; "
            f"expected one of the {len(MEASURES)} registered measures. {hint}"
        )
    return record


@dataclass(frozen=True)
class _EstimateBuilder:
    point: Point
    inference: Inference

    def build_overall_and_categories(
        self, scope: Scope, evidence: Mapping[str, Evidence]
    ) -> Iterator[Estimate]:
        all_coefficients, record = self.point.coefficient, self.point.record
        measure_evidence, scale = evidence.get(record.name), self.point.statistic.scale
        if measure_evidence is None or not record.per_category:
            yield self.build(
                scope, all_coefficients, measure_evidence, undefined=self.point.undefined
            )
            return
        used = ~np.isnan(all_coefficients.value)
        if reason := missing_category_reason(all_coefficients.value, scale):
            yield self.build(scope, UNDEFINED_COEFFICIENT, measure_evidence, undefined=reason)
        else:
            lowest = int(np.nanargmin(all_coefficients.value))
            of_lowest = measure_evidence.apply_to_values(lambda draws: draws[..., used].min(-1))
            yield self.build(
                scope,
                _coefficient_of_category(all_coefficients, lowest),
                of_lowest,
                lowest=scale.names[lowest],
            )
        for k, name in enumerate(scale.names if scope == ROUND else ()):
            of_category = measure_evidence.apply_to_values(itemgetter((..., k)))
            reason = None if used[k] else UNUSED
            yield self.build(
                Scope("category", name),
                _coefficient_of_category(all_coefficients, k),
                of_category,
                undefined=reason,
            )

    def build(
        self,
        scope: Scope,
        coefficient: Coefficient,
        evidence: Evidence | None,
        *,
        lowest: str | None = None,
        undefined: str | None = None,
    ) -> Estimate:
        record, statistic, inference = self.point.record, self.point.statistic, self.inference
        rests_on, confidence, judged_on = record.rests_on, None, inference.judged_on
        n_items, clusters = rests_on.among(statistic), statistic.clusters
        if judged_on is None:
            judged_on = n_items if clusters is None else clusters.n
        if evidence is not None and undefined is None:
            confidence = build_confidence_distribution(
                evidence, inference, record.bounds, judged_on
            )
        dropped = n_items - rests_on.n_items(statistic)
        of_panel = scope.kind in ("round", "category")
        counts = None
        if record.needs in ("counts", "patterns") and statistic.holds == "labels":
            counts = statistic.without_rater_names()
        return Estimate(
            measure=record.name,
            scope=scope,
            value=None if confidence is None else float(coefficient.value),
            interval=None if confidence is None else confidence.limits(inference.tail),
            confidence_level=inference.confidence_level,
            method=self._describe_method(coefficient, confidence, evidence),
            n_items=n_items,
            n_raters=rests_on.n_raters(statistic),
            n_ratings=rests_on.ratings(statistic),
            observed=_finite_number(coefficient.observed),
            expected=_finite_number(coefficient.expected),
            lowest=lowest,
            on_marking=_share_of_disagreement_on_marking(record, counts, lowest or scope.name),
            undefined=undefined,
            dropped={rests_on.others: dropped} if dropped else {},
            convention=record.convention,
            categories=statistic.scale.names,
            raters_left_out=record.raters_left_out(statistic) if of_panel else (),
            n_clusters=rests_on.n_clusters(statistic),
            always_valid_at=inference.always_valid_at,
            looks=inference.looks,
            judged_on=None if inference.looks is None else judged_on,
            chosen=_chosen_ratings_p(record, counts),
            prevailing=_prevailing_category(record, counts),
            population=inference.interval_method.population,
            distribution=confidence,
        )

    def _describe_method(
        self,
        coefficient: Coefficient,
        distribution: ConfidenceDistribution | None,
        evidence: Evidence | None,
    ) -> str:
        inference, statistic = self.inference, self.point.statistic
        method, n_draws = inference.interval_method, 0 if evidence is None else len(evidence.draws)
        units = "clusters" if statistic.clusters else "items"
        n_draws_prefix = f"{n_draws} " if 0 < n_draws < inference.n_resamples else ""
        parts = [f"{n_draws_prefix}{method.description}"]
        if statistic.clusters:
            parts.append("whole clusters")
        if inference.always_valid_at is not None:
            parts.append(f"always valid, tightest at {inference.always_valid_at} {units}")
        elif inference.looks is not None:
            parts.append(f"for looks at {inference.looks} {units}")
        parts.append(method.population)
        if distribution is not None and (
            reason := distribution.missing_limits_reason(inference.tail)
        ):
            parts.append(f"{reason} for limits at {100 * inference.confidence_level:g} %")
        if self.point.record.crossed and statistic.left_out:
            parts.append(f"items with missing ratings left out: {statistic.left_out}")
        if coefficient.monte_carlo_error is not None:
            error = coefficient.monte_carlo_error
            parts.append(f"value from random sampling, standard error {error:.1g}")
        return "; ".join(parts)


def _share_of_disagreement_on_marking(
    record: Measure, counts: CategoryCounts | None, category: str
) -> float | None:
    if counts is None or not record.per_category or not {NONE, category} <= {*counts.scale.names}:
        return None
    names, sizes = counts.scale.names, counts.sizes
    c, none_counts = counts.counts[:, names.index(category)], counts.counts[:, names.index(NONE)]
    n_other_ratings = np.maximum(sizes - 1, 1)
    on_marking = counts.weights @ (
        c * (sizes - c if category == NONE else none_counts) / n_other_ratings
    )
    disagreement = counts.weights @ (c * (sizes - c) / n_other_ratings)
    return float(on_marking / disagreement) if disagreement > 0 else None


def _chosen_ratings_p(record: Measure, counts: CategoryCounts | None) -> float | None:
    if counts is None or record.withstands_chosen:
        return None
    p = missing_at_random_p_value(counts)
    return p if p <= CHOSEN_RATINGS_LEVEL else None


def _prevailing_category(
    record: Measure, counts: CategoryCounts | None
) -> tuple[str, float] | None:
    if counts is None or not record.chance_corrected:
        return None
    label_weights = np.atleast_2d(counts.n_pairable_by_category)[0]
    prevailing, total = int(label_weights.argmax()), float(label_weights.sum())
    if not total or label_weights[prevailing] < PREVAILING_SHARE * total:
        return None
    return counts.scale.names[prevailing], float(label_weights[prevailing]) / total


def missing_category_reason(values: Array, scale: Scale) -> str | None:
    """A category that was declared and not seen may be the lowest. `values` are theirs (K,)."""
    unseen = [name for name, value in zip(scale.names, values, strict=True) if np.isnan(value)]
    if not scale.declared or not unseen:
        return None
    subject = f"category {unseen[0]!r}" if len(unseen) == 1 else f"categories {listed(unseen)}"
    return f"no pair of ratings holds the declared {subject}"


def _coefficient_of_category(point: Coefficient, k: int) -> Coefficient:
    parts = (None if part is None else part[..., k] for part in point)
    return Coefficient(*parts)  # type: ignore[arg-type]


def _finite_number(value: Array | None) -> float | None:
    if value is None or np.ndim(value) > 0 or not np.isfinite(value):
        return None
    return float(value)
