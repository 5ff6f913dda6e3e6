"""A measure's value with its uncertainty, what it rests on, and why it has none."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from agreement_pipeline.errors import PolicyError
from agreement_pipeline.intervals import METHOD, PRIOR_MASS, Interval, percentile_interval, resampled
from agreement_pipeline.measures import MEASURES, Coefficient, Measure
from agreement_pipeline.patterns import Array, Statistic

CONFIDENCE_LEVEL = 0.95
N_RESAMPLES = 10_000
N_RESAMPLES_OF_EXPENSIVE = 200
N_RESAMPLES_OF_MANY_ROWS = 1_000
MOST_DRAWN_WEIGHTS = 100_000_000

NOTHING = Coefficient(np.array(np.nan), observed=np.array(np.nan))  # what is not computed, since a condition is declared to hold

S = TypeVar("S", bound=Statistic)


class Scope(NamedTuple):
    """What an estimate speaks of: the whole round, or one category, rater, pair of raters or classifier, or the round without a rater.

    >>> str(Scope("rater", "ana")), str(ROUND)
    ('rater ana', 'round')
    """

    kind: str
    name: str = ""

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
        None where undefined; the interval holds the true value with `confidence_level`. A limit is infinite where too many draws are undefined
        for a measure without a bound to give one.
    confidence_level, method
        Of the interval.
    observed, expected
        The coefficient's parts.
    n_items, n_raters, n_ratings
        What it rests on.
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
    draws
        The resampled values.
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
    draws: Array | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if (self.value is None) == (self.undefined is None) or (self.value is None) != (self.interval is None):
            raise ValueError(f"estimate of {self.measure}: a value with an interval, or a reason why it is undefined, is required; exactly one of them.")
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(f"estimate of {self.measure}: value {self.value} found; a finite number is required.")

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

    def miss_probability(self, cutoff: float) -> float | None:
        """The probability q that the true value is under `cutoff`: the share of draws that are, undefined ones included."""
        return None if self.draws is None else float(np.mean(~(self.draws >= cutoff)))

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
    return estimates([measure], statistic, seed=seed, scope=scope, confidence_level=confidence_level, n_resamples=n_resamples)[0]


def estimates(
    measures: Iterable[str],
    statistic: Statistic,
    *,
    seed: int = 0,
    scope: Scope = ROUND,
    confidence_level: float = CONFIDENCE_LEVEL,
    n_resamples: int = N_RESAMPLES,
) -> list[Estimate]:
    """Several measures on one statistic, from the same draws; of a measure of every category and the round also the value of each.

    A measure asked for under two names is computed once.

    Where draws are dear, fewer are made, and `method` says how many. An expensive measure is given 200: its limits are then uncertain by about
    a fifth of a standard error, and `miss_probability` comes in steps of 1/200. A statistic of more than 10,000 rows, as of real-valued ratings,
    is given as many as 100,000,000 weights make, but 1,000 at the least. A measure of items that every rater rated rests on those alone, and
    `method` says how many are left out.

    Raises
    ------
    PolicyError
        A measure is not registered.
    """
    asked = [registered(name) for name in measures]
    records = [MEASURES[name] for name in dict.fromkeys(record.computed_as for record in asked)]
    bases = _bases(records, statistic)
    reasons = {record.name: record.why_undefined(bases[record.name]) for record in records}
    draws = _draws([record for record in records if reasons[record.name] is None], bases, n_resamples, seed)
    found: dict[str, list[Estimate]] = {}
    for record in records:
        make = _Maker(record, bases[record.name], confidence_level, n_resamples)
        if (reason := reasons[record.name]) is not None:
            found[record.name] = [make(scope, NOTHING, np.empty(0), undefined=reason)]
        else:
            of_record = _by_category if record.per_category else _of_scope
            found[record.name] = of_record(make, scope, record(make.statistic), draws[record.name])
    return [replace(each, measure=record.name) for record in asked for each in found[record.computed_as]]


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
        raise PolicyError(f"measure {name!r} found; one of the {len(MEASURES)} registered measures is required. {hint}")
    return MEASURES[name]


def _bases(records: Sequence[Measure], statistic: Any) -> dict[str, Any]:
    """What of the statistic each measure rests on."""
    crossed = statistic.crossed() if any(record.crossed for record in records) else statistic
    return {record.name: crossed if record.crossed else statistic for record in records}


def _affordable(statistic: Statistic) -> int:
    rows = max(1, int(statistic.weights.shape[-1]))
    return max(N_RESAMPLES_OF_MANY_ROWS, MOST_DRAWN_WEIGHTS // rows)


def _draws(records: Sequence[Measure], bases: Mapping[str, Any], n_resamples: int, seed: int) -> dict[str, Array]:
    """The draws of each measure; measures on the same basis, with as many draws, share them."""
    groups: dict[tuple[bool, int], list[Measure]] = {}
    for record in records:
        affordable = N_RESAMPLES_OF_EXPENSIVE if record.expensive else _affordable(bases[record.name])
        groups.setdefault((record.crossed, min(n_resamples, affordable)), []).append(record)
    draws: dict[str, Array] = {}
    for (_, n), group in groups.items():
        basis = bases[group[0].name]
        split = _split_by_category(basis) if any(record.per_category for record in group) else []
        blocks = [[_drawn(record, split, block) for record in group] for block in resampled(basis, n, seed)]
        draws |= {record.name: np.concatenate(values) for record, values in zip(group, zip(*blocks, strict=True), strict=True)}
    return draws


def _split_by_category(statistic: Statistic) -> list[Statistic]:
    """The statistic with the unseen items of each category: a category that was always agreed on is not certain either, however rare."""
    return [statistic.with_unseen(PRIOR_MASS, category) for category in range(len(statistic.scale.names))]


def _drawn(record: Measure, split: Sequence[Statistic], block: Statistic) -> Array:
    """The measure's values in a block of draws; those of each category with the unseen items of that category."""
    if not record.per_category:
        return np.asarray(record(block).value)
    return np.stack([record(possible.reweighted(block.weights)).value[..., k] for k, possible in enumerate(split)], axis=-1)


@dataclass(frozen=True)
class _Maker:
    """Makes the estimates of one measure on one statistic."""

    record: Measure
    statistic: Any
    confidence_level: float
    n_resamples: int

    def __call__(self, scope: Scope, point: Coefficient, draws: Array, *, lowest: str | None = None, undefined: str | None = None) -> Estimate:
        defined, rests_on = undefined is None, self.record.rests_on
        dropped = rests_on.among(self.statistic) - rests_on.items(self.statistic)
        value = float(point.value) if defined else None
        return Estimate(
            measure=self.record.name,
            scope=scope,
            value=value,
            interval=None if value is None else percentile_interval(draws, self.confidence_level, self.record.bounds).including(value),
            confidence_level=self.confidence_level,
            method=_method(self, point, len(draws)),
            n_items=rests_on.among(self.statistic),
            n_raters=self.statistic.n_raters,
            n_ratings=self.statistic.n_ratings,
            observed=_number(point.observed),
            expected=_number(point.expected),
            lowest=lowest,
            undefined=undefined,
            dropped={rests_on.others: dropped} if dropped else {},
            convention=self.record.convention,
            categories=self.statistic.scale.names,
            raters_left_out=self.record.raters_left_out(self.statistic) if scope.kind in ("round", "category") else (),
            draws=draws if defined else None,
        )


def _method(make: _Maker, point: Coefficient, n_draws: int) -> str:
    """How the interval was found, and what else the estimate's reader must know of it."""
    said = [f"{n_draws} {METHOD}" if 0 < n_draws < make.n_resamples else METHOD]
    if make.record.crossed and make.statistic.left_out:
        said.append(f"items with missing ratings left out: {make.statistic.left_out}")
    if point.monte_carlo_error is not None:
        said.append(f"value from random sampling, standard error {point.monte_carlo_error:.1g}")
    return "; ".join(said)


def _by_category(make: _Maker, scope: Scope, point: Coefficient, draws: Array) -> list[Estimate]:
    """The lowest over the categories that have a value; then, of the round, each category."""
    names = make.statistic.scale.names
    used = ~np.isnan(point.value)
    lowest = int(np.nanargmin(point.value))
    of_all = make(scope, _category(point, lowest), draws[:, used].min(1), lowest=names[lowest])
    if scope != ROUND:
        return [of_all]
    unused = "no pair of ratings holds the category"
    of_each = [make(Scope("category", name), _category(point, k), draws[:, k], undefined=None if used[k] else unused) for k, name in enumerate(names)]
    return [of_all, *of_each]


def _of_scope(make: _Maker, scope: Scope, point: Coefficient, draws: Array) -> list[Estimate]:
    return [make(scope, point, draws)]


def _category(point: Coefficient, k: int) -> Coefficient:
    return Coefficient(*(None if part is None else part[..., k] for part in point))  # type: ignore[arg-type]


def _number(value: Array | None) -> float | None:
    if value is None or np.ndim(value) > 0 or not np.isfinite(value):
        return None
    return float(value)
