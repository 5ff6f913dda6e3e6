"""The methods that turn resampled values into what is known of the true one, registered by name.

One rule for what is undefined holds for all of them: a value that is not there counts against every statement. A draw without a value is the
measure's least value for the lower limit and its greatest for the upper one; a method that rests on variances then knows nothing but the bounds.
It can only widen an interval, and only raise q.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from agreement_pipeline.errors import PolicyError
from agreement_pipeline.intervals.distributions import (
    NORMAL,
    Anything,
    Bounds,
    ConfidenceDistribution,
    Corrected,
    Exact,
    OfDraws,
    Student,
    Wider,
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
    """What a method may look at: the value, and values under other weights. Parts that the method does not ask for are empty.

    Attributes
    ----------
    value
        The measure's own value, shape (...), here and below (K,) for a measure of every category.
    draws
        Under B draws of weights, shape (B, ...).
    left_out, times
        With one item (or cluster, or group) left out, shape (G, ...), and how many items stand behind each, shape (G,).
    unlike
        From a tail to the values with as many items unlike the others as a sample without any hides with that probability, one kind of item a row,
        shape (J, ...).
    without_rater
        With one rater left out, shape (R, ...).
    n
        How many items agreement was read on, or as many clusters of one size as say as much.
    n_deciding
        The same of those that decide how much is known: fewer where the measure rests on others too.
    n_raters
        How many raters they were read by, or as many of equally many items as say as much.
    """

    value: Array
    draws: Array
    left_out: Array
    times: Array
    unlike: Callable[[float], Array]
    without_rater: Array
    n: float
    n_deciding: float
    n_raters: float = 0.0

    def at(self, part: Callable[[Array], Array]) -> "Evidence":
        """The evidence on one category, or on the lowest of some."""
        arrays: dict[str, Any] = {
            name: part(getattr(self, name))
            for name in ("value", "draws", "left_out", "without_rater")
        }
        return replace(self, **arrays, unlike=lambda tail: part(self.unlike(tail)))


Knows = Callable[[Evidence, Bounds], ConfidenceDistribution]


@dataclass(frozen=True)
class IntervalMethod:
    """A registered method.

    Attributes
    ----------
    name, description
        What policies call it, and what estimates say of it.
    knows
        From evidence and the measure's bounds to what is known of the true value: its limits, and the probability q that it is under a cut-off.
    knows_of_many
        The same without what few items ask for, from where limits that hold at any time are moved out; None where `knows` is that.
    population
        Does it speak of these raters on other items, or of raters at large?
    scheme
        How weights are drawn; None where none are.
    leaves_out
        Does it look at values with items left out?
    decides
        May a policy decide by it? Only where its lower limit held in the coverage study (docs/intervals.md).
    """

    name: str
    description: str
    knows: Knows
    knows_of_many: Knows | None = None
    population: Population = "these raters"
    scheme: Scheme | None = None
    leaves_out: bool = False
    decides: bool = False


def _percentile(evidence: Evidence, bounds: Bounds) -> ConfidenceDistribution:
    return OfDraws(evidence.draws, float(evidence.value), bounds)


def _expanded_percentile(evidence: Evidence, bounds: Bounds) -> ConfidenceDistribution:
    return expanded(evidence.draws, float(evidence.value), bounds, evidence.n_deciding)


def _bca(evidence: Evidence, bounds: Bounds) -> ConfidenceDistribution:
    """Quantiles of the draws, corrected by where the value lies among them and by the skewness of the values with an item left out."""
    draws, value = evidence.draws, float(evidence.value)
    if _unvaried(evidence):
        return _exact(evidence, bounds)
    under = float(np.mean(draws < value) + np.mean(draws == value) / 2)
    if np.isnan(evidence.left_out).any() or not 0 < under < 1:
        return Anything(bounds, "too few defined values")
    return Corrected(
        draws, value, bounds, NORMAL.inv_cdf(under), acceleration(evidence.left_out, evidence.times)
    )


def _jackknife_t(
    evidence: Evidence, bounds: Bounds, *, log: bool = False
) -> ConfidenceDistribution:
    """Student's t with one degree of freedom less than there are items, or groups of them."""
    df = _independent(evidence) - 1
    squared = variance(evidence.left_out, evidence.times)
    return (
        _exact(evidence, bounds)
        if squared <= NO_VARIATION
        else _student(evidence, squared, df, bounds, log)
    )


def _jackknife_log(evidence: Evidence, bounds: Bounds) -> ConfidenceDistribution:
    r"""The same for :math:`\ln(\theta_{max} - \theta)`."""
    return _jackknife_t(evidence, bounds, log=True)


def _two_way(evidence: Evidence, bounds: Bounds, *, log: bool = False) -> ConfidenceDistribution:
    """Student's t with the variances over items and raters, and one degree of freedom less than raters (or items); with fewer than three, anything.

    Raters are counted as those of equally many items who would say as much: one who rated next to nothing does not show how raters differ.
    It never says more than the exact limits do: few clusters that happen to be alike hide how much others may differ.
    """
    raters = round(evidence.n_raters)
    if raters < FEWEST_RATERS:
        return Anything(bounds, "too few raters")
    squared = variance(evidence.left_out, evidence.times) + variance(
        evidence.without_rater, np.ones(len(evidence.without_rater))
    )
    df = min(raters, _independent(evidence)) - 1
    exact = _exact(evidence, bounds)
    return (
        exact
        if squared <= NO_VARIATION
        else Wider(_student(evidence, squared, df, bounds, log), exact)
    )


def _two_way_log(evidence: Evidence, bounds: Bounds) -> ConfidenceDistribution:
    r"""The same for :math:`\ln(\theta_{max} - \theta)`."""
    return _two_way(evidence, bounds, log=True)


def _independent(evidence: Evidence) -> int:
    """How many items (or clusters of one size, or groups of items) the values with one left out rest on."""
    return round(min(evidence.n, float(evidence.times.sum())))


def _unvaried(evidence: Evidence) -> bool:
    """Does leaving out any item change nothing, as where all ratings agree?"""
    return variance(evidence.left_out, evidence.times) <= NO_VARIATION


def _exact(evidence: Evidence, bounds: Bounds) -> ConfidenceDistribution:
    return Exact(float(evidence.value), evidence.unlike, bounds)


def _student(
    evidence: Evidence, squared: float, df: int, bounds: Bounds, log: bool
) -> ConfidenceDistribution:
    """Student's t about the value; anything where its error is not known."""
    known = df >= 1 and not math.isnan(squared)
    return (
        Student(float(evidence.value), math.sqrt(squared), df, bounds, log)
        if known
        else Anything(bounds, "too few defined values")
    )


DEFAULT_METHOD = "smoothed_bayesian_bootstrap"

METHODS: dict[str, IntervalMethod] = {
    method.name: method
    for method in (
        IntervalMethod(
            DEFAULT_METHOD,
            f"Dirichlet draws over item patterns, prior mass {PRIOR_MASS:g}",
            _expanded_percentile,
            knows_of_many=_percentile,
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
            "jackknife over raters and items, t by raters on the logarithm of the distance from perfect agreement",
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
        None is registered under it.
    """
    if not isinstance(name, str) or name not in METHODS:
        raise PolicyError(
            f"interval method {name!r} found; one of {', '.join(METHODS)} is required. {DEFAULT_METHOD} is usual."
        )
    return METHODS[name]
