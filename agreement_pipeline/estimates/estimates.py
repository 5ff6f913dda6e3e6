"""A measure's value with its uncertainty, what it rests on, and why it has none."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from agreement_pipeline.errors import PolicyError
from agreement_pipeline.intervals import (
    DEFAULT_METHOD,
    TOO_FEW_DRAWS,
    AlwaysValid,
    Anything,
    Asked,
    ConfidenceDistribution,
    Evidence,
    Interval,
    IntervalMethod,
    OfDraws,
    Population,
    Wider,
    gathered,
    interval_method,
    mixture,
    points_of,
    too_few,
)
from agreement_pipeline.measures import MEASURES, Coefficient, Measure
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import Clusters, Statistic

ScopeKind = Literal["round", "category", "rater", "without", "pair", "classifier"]
SCOPE_KINDS: tuple[str, ...] = get_args(ScopeKind)
CONFIDENCE_LEVEL = 0.95
N_RESAMPLES = 10_000
UNUSED = "no pair of ratings holds the category"


class Scope(NamedTuple):
    """What an estimate speaks of: the whole round, or one category, rater, pair of raters or classifier, or the round without a rater.

    >>> str(Scope("rater", "ana")), str(ROUND)
    ('rater ana', 'round')
    """

    kind: str
    name: str = ""

    @classmethod
    def of_pair(cls, one: str, other: str) -> "Scope":
        """Two raters, in whatever order they are given."""
        return cls("pair", " and ".join(sorted((one, other))))

    def renamed(self, names: Mapping[str, str]) -> "Scope":
        """The same scope under other rater names; whoever has none keeps hers."""
        if self.kind == "pair":
            words = self.name.split(" and ")
            splits = (
                (" and ".join(words[:n]), " and ".join(words[n:])) for n in range(1, len(words))
            )
            return next(
                (
                    Scope.of_pair(names[one], names[other])
                    for one, other in splits
                    if one in names and other in names
                ),
                self,
            )
        return (
            self._replace(name=names.get(self.name, self.name))
            if self.kind in ("rater", "without")
            else self
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".strip()


ROUND = Scope("round")


@dataclass(frozen=True)
class Estimate:
    """A measure on a scope, with its interval.

    Attributes
    ----------
    measure, scope
        The registry name, and what it speaks of.
    value, interval
        None where undefined; the interval holds the true value with `confidence_level`; always valid, at every number of items the round may have.
        A limit is infinite where too many draws are undefined for a measure without a bound to give one.
    confidence_level, method
        Of the interval.
    observed, expected
        The coefficient's parts.
    n_items, n_raters, n_ratings
        What it rests on; of raters, those who rated an item that agreement is read on.
    n_clusters
        The clusters that the items stand in on which agreement was read; None where items come one by one.
    dropped
        Items on which agreement could not be read: how many, by what they have.
    lowest
        For a measure of every category, the category whose value the round's own value is.
    undefined
        Why there is no value; None where there is one.
    convention, categories
        How the measure counts missing ratings, and the categories in order; none on a continuous scale.
    raters_left_out
        The raters of the round whom it does not speak of: their replicates, or their confidence, are missing or show nothing.
    always_valid_at
        The items at which limits that hold at any time are tightest; None where they are of a round judged once.
    population
        Whether the interval speaks of these raters on other items, or of raters at large.
    known
        What is known of the true value, of which the interval shows the limits at one level.
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
    undefined: str | None = None
    dropped: Mapping[str, int] = field(default_factory=dict, hash=False)
    convention: str = ""
    categories: tuple[str, ...] = ()
    raters_left_out: tuple[str, ...] = ()
    n_clusters: int | None = None
    always_valid_at: int | None = None
    population: Population = "these raters"
    known: ConfidenceDistribution | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if (self.value is None) == (self.undefined is None) or (self.value is None) != (
            self.interval is None
        ):
            raise ValueError(
                f"estimate of {self.measure}: a value with an interval, or a reason why it is undefined, is required; exactly one of them."
            )
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(
                f"estimate of {self.measure}: value {self.value} found; a finite number is required."
            )

    @property
    def n_dropped(self) -> int:
        """Items on which agreement could not be read."""
        return sum(self.dropped.values())

    @property
    def n_used(self) -> int:
        """Items on which agreement was read."""
        return self.n_items - self.n_dropped

    @property
    def low(self) -> float | None:
        """The lower limit as plain data; None where it is without limit, or there is no value."""
        return self.interval.low if self.interval and math.isfinite(self.interval.low) else None

    @property
    def high(self) -> float | None:
        """The upper limit as plain data; None where it is without limit, or there is no value."""
        return self.interval.high if self.interval and math.isfinite(self.interval.high) else None

    @property
    def draws(self) -> Array | None:
        """The resampled values; None where there are none."""
        return self.known.draws if isinstance(self.known, OfDraws) else None

    @property
    def without_limits(self) -> str | None:
        """Of what there is too little, where the limits are no more than the measure's bounds; None where they are limits of its own, or there are none."""
        return (
            None if self.known is None else self.known.why_without((1 - self.confidence_level) / 2)
        )

    def miss_probability(self, cutoff: float) -> float | None:
        """The probability q that the true value is under `cutoff`: the tail at which the lower limit would touch it; None where there is no value.

        It never falls as the cut-off rises, and the lower limit at a confidence level of 1 - α reaches the cut-off where q is at most α/2.
        """
        return None if self.known is None else self.known.under(cutoff)

    def to_mapping(self) -> dict[str, Any]:
        """The estimate as plain data, in the form the command line prints."""
        return {
            "measure": self.measure,
            "scope": str(self.scope),
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "confidence_level": self.confidence_level,
            "method": self.method,
            "n_items": self.n_items,
            "n_dropped": self.n_dropped,
            "dropped": dict(self.dropped),
            "n_raters": self.n_raters,
            "n_ratings": self.n_ratings,
            "n_clusters": self.n_clusters,
            "observed": self.observed,
            "expected": self.expected,
            "lowest": self.lowest,
            "convention": self.convention,
            "categories": list(self.categories),
            "undefined": self.undefined,
            "raters_left_out": list(self.raters_left_out),
        }


def estimate(
    measure: str,
    statistic: Statistic,
    *,
    seed: int = 0,
    scope: Scope = ROUND,
    confidence_level: float = CONFIDENCE_LEVEL,
    n_resamples: int = N_RESAMPLES,
    method: str = DEFAULT_METHOD,
    clusters: ArrayLike | None = None,
    always_valid_at: int | None = None,
) -> Estimate:
    """One measure on one statistic; of a measure of every category, the lowest.

    Examples
    --------
    >>> from agreement_pipeline import CategoryCounts, Scale
    >>> counts = CategoryCounts([[3, 0], [0, 3]], [10, 10], scale=Scale(("no", "yes")))
    >>> found = estimate("krippendorff_alpha", counts)
    >>> found.value, found.interval.high <= 1, found.interval.low < 0.8
    (1.0, True, True)
    """
    options = {
        "seed": seed,
        "scope": scope,
        "confidence_level": confidence_level,
        "n_resamples": n_resamples,
        "method": method,
        "clusters": clusters,
    }
    return estimate_each([measure], statistic, always_valid_at=always_valid_at, **options)[0]  # type: ignore[arg-type]


def estimate_each(
    measures: Iterable[str],
    statistic: Statistic,
    *,
    seed: int = 0,
    scope: Scope = ROUND,
    confidence_level: float = CONFIDENCE_LEVEL,
    n_resamples: int = N_RESAMPLES,
    method: str = DEFAULT_METHOD,
    clusters: ArrayLike | None = None,
    always_valid_at: int | None = None,
) -> list[Estimate]:
    """Several measures on one statistic, from the same draws; of a measure of every category and the round also the value of each.

    A measure asked for under two names is computed once.

    `method` names one of `METHODS`. One that speaks of raters at large asks for a statistic that names its raters; patterns will do for a measure
    that forgets them. Where the statistic's items come in clusters, clusters are drawn whole; `clusters` names the cluster of each row (the document
    an item is of, or its batch), and rows of different clusters must then be rows of their own. `always_valid_at` asks for limits that hold
    however often a round is looked at while it fills, tightest at so many items; where the draws are too few for limits so far out, they are the
    measure's bounds.

    Where draws are dear, fewer are made, and the estimate's `method` says how many. An expensive measure is given 400: its limits are then uncertain by about
    a seventh of a standard error, and `miss_probability` comes in steps of 1/400. A statistic of more than 20,000 rows, as of real-valued ratings,
    is given as many as 200,000,000 weights make, but 1,000 at the least. Limits beyond which fewer than ten of these draws would lie, were
    the items many, are the measure's bounds: 400 are enough at 95 %, and 1,000 at 98 %. So are limits that lie further out than any draw, since the items
    are few. A measure of items that every rater rated rests on those alone, and
    `method` says how many are left out.

    Raises
    ------
    PolicyError
        A measure or a method is not registered; the clusters named are not one a row; raters at large are asked about where raters are forgotten, or
        at any time; limits are to be tightest at fewer items than one; or the confidence level is no probability, or the draws are none.
    RatingsError
        The name of a cluster is missing.
    """
    refuse_impossible(confidence_level, n_resamples)
    asked = [registered(name) for name in measures]
    records = [MEASURES[name] for name in dict.fromkeys(record.computed_as for record in asked)]
    how = _method(method, always_valid_at)
    basis = (
        statistic
        if clusters is None
        else statistic.in_clusters(Clusters.of_rows(clusters, statistic.weights.shape[-1]))
    )
    points = points_of(records, basis)
    evidence = gathered(points, basis, how, Asked(n_resamples, seed))
    found: dict[str, list[Estimate]] = {}
    for point in points:
        make = _Maker(
            point.record, point.statistic, how, confidence_level, n_resamples, always_valid_at
        )
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


def refuse_impossible(confidence_level: float, n_resamples: int) -> None:
    """Refuse a confidence level that is none, and draws that are none, before anything is drawn.

    Raises
    ------
    PolicyError
        One of them is impossible.
    """
    if not 0 < confidence_level < 1:
        raise PolicyError(
            f"confidence_level {confidence_level!r} found; more than 0 and less than 1 is required. 0.95 is usual."
        )
    if n_resamples < 1:
        raise PolicyError(
            f"n_resamples {n_resamples!r} found; a whole number from 1 is required. 10000 is usual."
        )


def _method(name: str, always_valid_at: int | None) -> IntervalMethod:
    how = interval_method(name)
    if always_valid_at is not None and always_valid_at < 1:
        raise PolicyError(
            f"always_valid_at {always_valid_at!r} found; a number of items (or clusters) from 1 is required. Correct it."
        )
    if always_valid_at is not None and how.population == "raters at large":
        raise PolicyError(
            f"always valid limits by {name} found; a method that speaks of these raters is required, since a round gains items and not raters."
        )
    return how


def registered(name: str) -> Measure:
    """The measure of that name.

    Raises
    ------
    PolicyError
        None is registered under it.
    """
    if not isinstance(name, str) or name not in MEASURES:
        from difflib import get_close_matches

        near = get_close_matches(str(name), MEASURES, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else "docs/measures.md lists them."
        raise PolicyError(
            f"measure {name!r} found; one of the {len(MEASURES)} registered measures is required. {hint}"
        )
    return MEASURES[name]


@dataclass(frozen=True)
class _Maker:
    """Makes the estimates of one measure on one statistic."""

    record: Measure
    statistic: Any
    how: IntervalMethod
    confidence_level: float
    n_resamples: int
    always_valid_at: int | None

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
            interval=None if known is None else known.limits((1 - self.confidence_level) / 2),
            confidence_level=self.confidence_level,
            method=self._method(point, known, 0 if evidence is None else len(evidence.draws)),
            n_items=rests_on.among(self.statistic),
            n_raters=rests_on.raters(self.statistic),
            n_ratings=rests_on.ratings(self.statistic),
            observed=_number(point.observed),
            expected=_number(point.expected),
            lowest=lowest,
            undefined=undefined,
            dropped={rests_on.others: dropped} if dropped else {},
            convention=self.record.convention,
            categories=self.statistic.scale.names,
            raters_left_out=self.record.raters_left_out(self.statistic)
            if scope.kind in ("round", "category")
            else (),
            n_clusters=rests_on.clusters(self.statistic),
            always_valid_at=self.always_valid_at,
            population=self.how.population,
            known=known,
        )

    def _known(self, evidence: Evidence) -> ConfidenceDistribution:
        """What is known of the true value: if the round is judged once, or at any time."""
        if self.always_valid_at is None:
            coarse = too_few(len(evidence.draws), self.n_resamples, self.confidence_level)
            return (
                Anything(self.record.bounds, TOO_FEW_DRAWS)
                if coarse
                else self.how.knows(evidence, self.record.bounds)
            )
        once, of_many = (
            knows(evidence, self.record.bounds)
            for knows in (self.how.knows, self.how.knows_of_many or self.how.knows)
        )
        return Wider(
            AlwaysValid(
                of_many,
                evidence.n * mixture(self.always_valid_at, 1 - self.confidence_level),
                self.record.bounds,
            ),
            once,
        )

    def _method(
        self, point: Coefficient, known: ConfidenceDistribution | None, n_draws: int
    ) -> str:
        """How the interval was found, of whom it speaks, and what else the estimate's reader must know of it."""
        fewer = f"{n_draws} " if 0 < n_draws < self.n_resamples else ""
        units = "clusters" if self.statistic.clusters else "items"
        whole = ["whole clusters"] if self.statistic.clusters else []
        always = (
            []
            if self.always_valid_at is None
            else [f"always valid, tightest at {self.always_valid_at} {units}"]
        )
        said = [f"{fewer}{self.how.description}", *whole, *always, self.how.population]
        if known is not None and (why := known.why_without((1 - self.confidence_level) / 2)):
            said.append(f"{why} for limits at {100 * self.confidence_level:g} %")
        if self.record.crossed and self.statistic.left_out:
            said.append(f"items with missing ratings left out: {self.statistic.left_out}")
        if point.monte_carlo_error is not None:
            said.append(f"value from random sampling, standard error {point.monte_carlo_error:.1g}")
        return "; ".join(said)


def _by_category(
    make: _Maker, scope: Scope, point: Coefficient, evidence: Evidence
) -> list[Estimate]:
    """The lowest over the categories that have a value; then, of the round, each category."""
    names = make.statistic.scale.names
    used = ~np.isnan(point.value)
    lowest = int(np.nanargmin(point.value))
    of_all = make(
        scope,
        _category(point, lowest),
        evidence.at(lambda values: values[..., used].min(-1)),
        lowest=names[lowest],
    )
    if scope != ROUND:
        return [of_all]
    return [
        of_all,
        *(
            _of_category(make, point, evidence, k, None if used[k] else UNUSED)
            for k in range(len(names))
        ),
    ]


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
    return Coefficient(*(None if part is None else part[..., k] for part in point))  # type: ignore[arg-type]


def _number(value: Array | None) -> float | None:
    if value is None or np.ndim(value) > 0 or not np.isfinite(value):
        return None
    return float(value)
