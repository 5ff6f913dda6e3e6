"""The interval methods, registered by name: from resampled values to a confidence distribution.

One rule holds for all methods: a missing value always widens the interval and raises p.

- For the lower limit, an undefined resample counts as the measure's smallest value. For the upper
  limit, it counts as the greatest.
- A method that uses variances then gives only the measure's bounds.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
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
    expanded,
)
from agreement_pipeline.intervals.draws import BAYESIAN, ITEMS, PRIOR_MASS, SMOOTHED, Scheme
from agreement_pipeline.intervals.jackknife import acceleration, variance
from agreement_pipeline.ratings import Array

Population = Literal["these raters", "raters at large"]

FEWEST_RATERS = 3
NO_VARIATION = 1e-24


@dataclass(frozen=True)
class Evidence:
    """What a method may use: the value, and values under other weights.

    Parts that the method does not use are empty.

    Attributes
    ----------
    value
        The measure's value, shape (...). The shape is (K,) for a measure of every category.
    draws
        The values under B resamples, shape (B, ...).
    seen
        The values under the same resamples without unseen items, shape (B, ...).
    raised
        The values under the same resamples with unseen items that raise the measure most, shape
        (B, ...). Where labels are numbers without categories, they are those without unseen items.
    left_out, times
        The values with one item, cluster or group left out, shape (G, ...). `times` says how many
        items each value stands for, shape (G,).
    unlike
        A function from a tail probability to values of the measure. They assume as many deviating
        items in the population as this sample may have missed. One row for each kind of deviating
        item, shape (J, ...).
    without_rater
        The values with one rater left out, shape (R, ...).
    n
        The number of items on which agreement was read. With clusters, it is the number of equally
        large clusters that would tell as much.
    n_deciding
        The number of items, or clusters, that decide how much is known. It is smaller than `n` if
        the measure uses other items too.
    n_raters
        The number of equally busy raters who would tell as much as the raters of these items.
    """

    value: Array
    draws: Array
    seen: Array
    raised: Array
    left_out: Array
    times: Array
    unlike: Callable[[float], Array]
    without_rater: Array
    n: float
    n_deciding: float
    n_raters: float = 0.0

    def at(self, part: Callable[[Array], Array]) -> "Evidence":
        """The evidence on one category, or on the lowest of several."""
        arrays: dict[str, Any] = {
            name: part(getattr(self, name))
            for name in ("value", "draws", "seen", "raised", "left_out", "without_rater")
        }
        return replace(self, **arrays, unlike=lambda tail: part(self.unlike(tail)))


FromEvidence = Callable[[Evidence, Bounds], ConfidenceDistribution]


@dataclass(frozen=True)
class IntervalMethod:
    """A registered method.

    Attributes
    ----------
    name, description
        Its name in policies, and its description in estimates.
    distribution
        A function from evidence and the measure's bounds to the confidence distribution of the true
        value.
    distribution_of_many
        A like function without the correction for few items, used for always valid limits. None if
        the method has no such correction.
    population
        Whether the interval is about these raters on other items, or about raters at large.
    scheme
        How weights are drawn; None if no weights are drawn.
    leaves_out
        True if the method uses values with items left out.
    decides
        True if a policy may use the method. Its lower limit must hold in the coverage study
        (docs/proofs/intervals.md).
    """

    name: str
    description: str
    distribution: FromEvidence
    distribution_of_many: FromEvidence | None = None
    population: Population = "these raters"
    scheme: Scheme | None = None
    leaves_out: bool = False
    decides: bool = False


def _percentile(evidence: Evidence, bounds: Bounds) -> ConfidenceDistribution:
    return Percentiles(evidence.draws, float(evidence.value), bounds)


def _smoothed_percentile(evidence: Evidence, bounds: Bounds) -> ConfidenceDistribution:
    return Percentiles(
        evidence.draws,
        float(evidence.value),
        bounds,
        seen=evidence.seen,
        raised=evidence.raised,
    )


def _expanded_percentile(evidence: Evidence, bounds: Bounds) -> ConfidenceDistribution:
    return expanded(
        evidence.draws,
        float(evidence.value),
        bounds,
        evidence.n_deciding,
        seen=evidence.seen,
        raised=evidence.raised,
    )


def _bca(evidence: Evidence, bounds: Bounds) -> ConfidenceDistribution:
    """Percentiles of the resamples, corrected for bias and for skewness.

    The bias comes from the share of resamples under the value. The skewness comes from the values
    with one item left out.
    """
    draws, value = evidence.draws, float(evidence.value)
    if _unvaried(evidence):
        return _exact(evidence, bounds)
    under = float(np.mean(draws < value) + np.mean(draws == value) / 2)
    if np.isnan(evidence.left_out).any() or not 0 < under < 1:
        return BoundsOnly(bounds, "too few defined values")
    return CorrectedPercentiles(
        draws, value, bounds, NORMAL.inv_cdf(under), acceleration(evidence.left_out, evidence.times)
    )


def _jackknife_t(
    evidence: Evidence, bounds: Bounds, *, log: bool = False
) -> ConfidenceDistribution:
    """Student's t with one degree of freedom fewer than there are items, or groups of items."""
    df = _independent(evidence) - 1
    squared = variance(evidence.left_out, evidence.times)
    return (
        _exact(evidence, bounds)
        if squared <= NO_VARIATION
        else _student(evidence, squared, df, bounds, log)
    )


def _jackknife_log(evidence: Evidence, bounds: Bounds) -> ConfidenceDistribution:
    r"""Student's t for :math:`\ln(\theta_{max} - \theta)`, by the jackknife over items."""
    return _jackknife_t(evidence, bounds, log=True)


def _two_way(evidence: Evidence, bounds: Bounds, *, log: bool = False) -> ConfidenceDistribution:
    """Student's t with the variances over items and raters.

    The degrees of freedom are the number of raters less one. If items are fewer than raters, the
    number of items counts instead. With fewer than three raters, only the bounds are known.

    A rater of very few items shows little of how raters differ, and so counts for less than one.
    The limits are never narrower than the exact ones, because a few clusters that are alike by
    chance do not show how much other clusters differ.
    """
    raters = round(evidence.n_raters)
    if raters < FEWEST_RATERS:
        return BoundsOnly(bounds, "too few raters")
    squared = variance(evidence.left_out, evidence.times) + variance(
        evidence.without_rater, np.ones(len(evidence.without_rater))
    )
    df = min(raters, _independent(evidence)) - 1
    exact = _exact(evidence, bounds)
    return (
        exact
        if squared <= NO_VARIATION
        else WiderOf(_student(evidence, squared, df, bounds, log), exact)
    )


def _two_way_log(evidence: Evidence, bounds: Bounds) -> ConfidenceDistribution:
    r"""`_two_way` with Student's t for :math:`\ln(\theta_{max} - \theta)`."""
    return _two_way(evidence, bounds, log=True)


def _independent(evidence: Evidence) -> int:
    """The number of items, equally large clusters, or groups that were left out in turn."""
    return round(min(evidence.n, float(evidence.times.sum())))


def _unvaried(evidence: Evidence) -> bool:
    """True if leaving out an item never changes the value, as when all ratings agree."""
    return variance(evidence.left_out, evidence.times) <= NO_VARIATION


def _exact(evidence: Evidence, bounds: Bounds) -> ConfidenceDistribution:
    return Exact(float(evidence.value), evidence.unlike, bounds)


def _student(
    evidence: Evidence, squared: float, df: int, bounds: Bounds, log: bool
) -> ConfidenceDistribution:
    """Student's t around the value, or only the bounds if the standard error is unknown."""
    known = df >= 1 and not math.isnan(squared)
    return (
        Student(float(evidence.value), math.sqrt(squared), df, bounds, log)
        if known
        else BoundsOnly(bounds, "too few defined values")
    )


DEFAULT_METHOD = "smoothed_bayesian_bootstrap"

METHODS: dict[str, IntervalMethod] = {
    method.name: method
    for method in (
        IntervalMethod(
            DEFAULT_METHOD,
            f"Dirichlet draws over item patterns, prior mass {PRIOR_MASS:g}",
            _expanded_percentile,
            distribution_of_many=_smoothed_percentile,
            scheme=SMOOTHED,
            decides=True,
        ),
        IntervalMethod(
            "bayesian_bootstrap", "Dirichlet draws over item patterns", _percentile, scheme=BAYESIAN
        ),
        IntervalMethod(
            "item_bootstrap", "items drawn with replacement, percentiles", _percentile, scheme=ITEMS
        ),
        IntervalMethod(
            "bca_bootstrap",
            "items drawn with replacement, BCa",
            _bca,
            scheme=ITEMS,
            leaves_out=True,
        ),
        IntervalMethod("jackknife_t", "jackknife over items, t", _jackknife_t, leaves_out=True),
        IntervalMethod(
            "jackknife_log",
            "jackknife over items, t on the logarithm of the distance from perfect agreement",
            _jackknife_log,
            leaves_out=True,
        ),
        IntervalMethod(
            "two_way_jackknife",
            "jackknife over raters and items, t by raters",
            _two_way,
            population="raters at large",
            leaves_out=True,
        ),
        IntervalMethod(
            "two_way_jackknife_log",
            "jackknife over raters and items, "
            "t by raters on the logarithm of the distance from perfect agreement",
            _two_way_log,
            population="raters at large",
            leaves_out=True,
            decides=True,
        ),
    )
}


def interval_method(name: str) -> IntervalMethod:
    """The method of that name.

    Raises
    ------
    PolicyError
        No method has that name.
    """
    if not isinstance(name, str) or name not in METHODS:
        raise PolicyError(
            f"interval method: found {name!r}; expected one of {', '.join(METHODS)}. "
            f"{DEFAULT_METHOD} is usual."
        )
    return METHODS[name]
