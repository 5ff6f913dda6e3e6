"""The interval methods, registered by name: from resampled values to a confidence distribution.

An undefined resample counts as the measure's smallest value for the lower limit, and as the
greatest for the upper one. A method that uses variances then gives only the measure's bounds.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from agreement_pipeline.errors import PolicyError
from agreement_pipeline.intervals.distributions import (
    NORMAL,
    Bounds,
    BoundsOnly,
    ConfidenceDistribution,
    CorrectedPercentiles,
    Exact,
    Percentiles,
    Student,
    WiderOf,
    build_expanded_percentiles,
)
from agreement_pipeline.intervals.draws import BAYESIAN, ITEMS, PRIOR_MASS, SMOOTHED, Scheme
from agreement_pipeline.ratings import Array

Population = Literal["these raters", "raters at large"]

MIN_RATERS = 3
NO_VARIATION = 1e-24
TOO_FEW_VALUES = "too few defined values"


@dataclass(frozen=True)
class Evidence:
    """What a method may use: the value, and values under other weights.

    Parts that the method does not use are empty. Of every category, a value has the shape (K,).

    Attributes
    ----------
    draws, seen, raised
        The values under B resamples (B,): with unseen items, without them, and with unseen items
        that raise the measure most.
    left_out, times
        The values with one item, cluster or group left out, and how many items each stands for (G,)
    unlike
        From a tail to the values with as many unlike items as this sample may have missed (J,).
    n, n_deciding
        On how many items agreement was read, or equally large clusters that would tell as much; and
        how many of them decide what is known.
    n_raters
        The number of equally busy raters who would tell as much as the raters of these items.
    """

    value: Array
    draws: Array
    seen_draws: Array
    raised_draws: Array
    left_out: Array
    times: Array
    unlike: Callable[[float], Array]
    without_rater: Array
    n: float
    n_deciding: float
    n_raters: float = 0.0

    def apply_to_values(self, part: Callable[[Array], Array]) -> "Evidence":
        arrays: dict[str, Any] = {
            name: part(getattr(self, name))
            for name in (
                "value",
                "draws",
                "seen_draws",
                "raised_draws",
                "left_out",
                "without_rater",
            )
        }
        return replace(self, **arrays, unlike=lambda tail: part(self.unlike(tail)))


FromEvidence = Callable[[Evidence, Bounds], ConfidenceDistribution]


@dataclass(frozen=True)
class IntervalMethod:
    """A registered method.

    `distribution_of_many` makes no correction for few items, for always valid limits. `leaves_out`
    says if items are left out. `by_tail` says that unseen items differ as much as the tail of
    errors says. A policy may use a method that `decides`: its lower limit held in the coverage
    study (docs/proofs/intervals.md).
    """

    name: str
    description: str
    distribution: FromEvidence
    distribution_of_many: FromEvidence | None = None
    population: Population = "these raters"
    scheme: Scheme | None = None
    leaves_out: bool = False
    by_tail: bool = False
    decides: bool = False

    @property
    def is_of_raters_at_large(self) -> bool:
        return self.population == "raters at large"


def jackknife_variance(values: Array, times: Array) -> float:
    r"""Tukey's jackknife variance from values with one item left out, shape (G,).

    .. math:: v = \frac{n - 1}{n} \sum_i (\hat\theta_{(i)} - \hat\theta_{(\cdot)})^2

    Each value stands for `times` items. The variance is nan if a value is nan, or if fewer than two
    items are left out (Efron and Stein 1981, https://doi.org/10.1214/aos/1176345462).

    >>> round(jackknife_variance(np.array([2.5, 2.0, 1.5]), np.ones(3)), 6)
    0.333333
    """
    n = float(times.sum())
    if n < 2:
        return float("nan")
    return float((n - 1) / n * (times @ (values - times @ values / n) ** 2))


def bca_acceleration(values: Array, times: Array) -> float:
    """Efron's acceleration of BCa, from values with one item left out; 0 if all are equal.

    Efron (1987), https://doi.org/10.1080/01621459.1987.10478410
    """
    deviations = times @ values / times.sum() - values
    spread = float(times @ deviations**2)
    return float(times @ deviations**3) / (6 * spread**1.5) if spread > 0 else 0.0


def _percentile_distribution(
    evidence: Evidence, bounds: Bounds, *, unseen: bool = False
) -> ConfidenceDistribution:
    seen_draws, raised_draws = (
        (evidence.seen_draws, evidence.raised_draws) if unseen else (None, None)
    )
    return Percentiles(
        evidence.draws,
        float(evidence.value),
        bounds,
        seen_draws=seen_draws,
        raised_draws=raised_draws,
    )


def _expanded_percentile_distribution(evidence: Evidence, bounds: Bounds) -> ConfidenceDistribution:
    value, seen_draws, raised_draws = (
        float(evidence.value),
        evidence.seen_draws,
        evidence.raised_draws,
    )
    n = evidence.n_deciding
    return build_expanded_percentiles(
        evidence.draws, value, bounds, n, seen_draws=seen_draws, raised_draws=raised_draws
    )


def _bca_distribution(evidence: Evidence, bounds: Bounds) -> ConfidenceDistribution:
    """The bias comes from the share of resamples under the value. The skewness comes from the
    values with one item left out.
    """
    draws, value, left_out = evidence.draws, float(evidence.value), evidence.left_out
    if jackknife_variance(left_out, evidence.times) <= NO_VARIATION:
        return Exact(value, evidence.unlike, bounds)
    share_under = float(np.mean(draws < value) + np.mean(draws == value) / 2)
    if np.isnan(left_out).any() or not 0 < share_under < 1:
        return BoundsOnly(bounds, TOO_FEW_VALUES)
    skewness = bca_acceleration(left_out, evidence.times)
    return CorrectedPercentiles(draws, value, bounds, NORMAL.inv_cdf(share_under), skewness)


def _jackknife_distribution(
    evidence: Evidence, bounds: Bounds, *, log: bool = False
) -> ConfidenceDistribution:
    squared_error = jackknife_variance(evidence.left_out, evidence.times)
    return _student_distribution(evidence, squared_error, _n_independent(evidence), bounds, log)


def _two_way_distribution(
    evidence: Evidence, bounds: Bounds, *, log: bool = False
) -> ConfidenceDistribution:
    """It has one degree of freedom fewer than there are raters, or items if they are fewer.

    The limits are never narrower than the exact ones, because a few clusters that are alike by
    chance do not show how much other clusters differ.
    """
    raters = round(evidence.n_raters)
    if raters < MIN_RATERS:
        return BoundsOnly(bounds, "too few raters")
    squared_error = jackknife_variance(evidence.left_out, evidence.times) + jackknife_variance(
        evidence.without_rater, np.ones(len(evidence.without_rater))
    )
    student = _student_distribution(
        evidence, squared_error, min(raters, _n_independent(evidence)), bounds, log
    )
    if isinstance(student, Exact):
        return student
    return WiderOf(student, Exact(float(evidence.value), evidence.unlike, bounds))


def _n_independent(evidence: Evidence) -> int:
    return round(min(evidence.n, float(evidence.times.sum())))


def _student_distribution(
    evidence: Evidence, squared_error: float, n: int, bounds: Bounds, log: bool
) -> ConfidenceDistribution:
    """The limits are exact if nothing varies, and the bounds if the standard error is unknown."""
    value = float(evidence.value)
    if squared_error <= NO_VARIATION:
        return Exact(value, evidence.unlike, bounds)
    if n < 2 or math.isnan(squared_error):
        return BoundsOnly(bounds, TOO_FEW_VALUES)
    return Student(value, math.sqrt(squared_error), n - 1, bounds, log)


DEFAULT_METHOD = "smoothed_bayesian_bootstrap"

METHODS: dict[str, IntervalMethod] = {
    method.name: method
    for method in (
        IntervalMethod(
            DEFAULT_METHOD,
            f"Dirichlet draws over item patterns, prior mass {PRIOR_MASS:g}",
            _expanded_percentile_distribution,
            distribution_of_many=partial(_percentile_distribution, unseen=True),
            scheme=SMOOTHED,
            decides=True,
        ),
        IntervalMethod(
            "tail_adaptive_bootstrap",
            f"Dirichlet draws over item patterns, prior mass {PRIOR_MASS:g} by the tail of errors",
            _expanded_percentile_distribution,
            distribution_of_many=partial(_percentile_distribution, unseen=True),
            scheme=SMOOTHED,
            by_tail=True,
            decides=True,
        ),
        IntervalMethod(
            "bayesian_bootstrap",
            "Dirichlet draws over item patterns",
            _percentile_distribution,
            scheme=BAYESIAN,
        ),
        IntervalMethod(
            "item_bootstrap",
            "items drawn with replacement, percentiles",
            _percentile_distribution,
            scheme=ITEMS,
        ),
        IntervalMethod(
            "bca_bootstrap",
            "items drawn with replacement, BCa",
            _bca_distribution,
            scheme=ITEMS,
            leaves_out=True,
        ),
        IntervalMethod(
            "jackknife_t", "jackknife over items, t", _jackknife_distribution, leaves_out=True
        ),
        IntervalMethod(
            "jackknife_log",
            "jackknife over items, t on the logarithm of the distance from perfect agreement",
            partial(_jackknife_distribution, log=True),
            leaves_out=True,
        ),
        IntervalMethod(
            "two_way_jackknife",
            "jackknife over raters and items, t by raters",
            _two_way_distribution,
            population="raters at large",
            leaves_out=True,
        ),
        IntervalMethod(
            "two_way_jackknife_log",
            "jackknife over raters and items, "
            "t by raters on the logarithm of the distance from perfect agreement",
            partial(_two_way_distribution, log=True),
            population="raters at large",
            leaves_out=True,
            decides=True,
        ),
    )
}


def find_interval_method(name: str) -> IntervalMethod:
    if not isinstance(name, str) or name not in METHODS:
        raise PolicyError(
            f"interval method: found {name!r}; expected one of {', '.join(METHODS)}. "
            f"{DEFAULT_METHOD} is usual."
        )
    return METHODS[name]
