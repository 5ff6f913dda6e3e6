"""The methods that turn resampled values into an interval, registered by name.

One rule for what is undefined holds for all of them: a value that is not there counts against the interval on either side. A draw without a
value is the measure's least value for the lower limit and its greatest for the upper one; a method that rests on variances gives the bounds
themselves. It can only widen an interval.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np

from agreement_pipeline.errors import PolicyError
from agreement_pipeline.intervals import BAYESIAN, ITEMS, PRIOR_MASS, SMOOTHED, Interval, Scheme, percentile_interval, quantile_interval
from agreement_pipeline.jackknife import acceleration, variance
from agreement_pipeline.measures._student import quantile
from agreement_pipeline.patterns import Array

Population = Literal["these raters", "raters at large"]

FEWEST_RATERS = 3
NO_VARIATION = 1e-24
MOST_POWER = 700.0


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
        With as many items unlike the others as a sample without any may hide, one kind of item a row, shape (J, ...).
    without_rater
        With one rater left out, shape (R, ...).
    n
        How many items (or clusters) agreement was read on.
    """

    value: Array
    draws: Array
    left_out: Array
    times: Array
    unlike: Array
    without_rater: Array
    n: int

    def at(self, part: Callable[[Array], Array]) -> "Evidence":
        """The evidence on one category, or on the lowest of some."""
        arrays = {name: part(getattr(self, name)) for name in ("value", "draws", "left_out", "unlike", "without_rater")}
        return Evidence(**arrays, times=self.times, n=self.n)


Limits = Callable[[Evidence, float, tuple[float, float]], Interval]


@dataclass(frozen=True)
class IntervalMethod:
    """A registered method.

    Attributes
    ----------
    name, description
        What policies call it, and what estimates say of it.
    limits
        From evidence, confidence level and the measure's bounds to an interval.
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
    limits: Limits
    population: Population = "these raters"
    scheme: Scheme | None = None
    leaves_out: bool = False
    decides: bool = False


def _percentile(evidence: Evidence, confidence_level: float, bounds: tuple[float, float]) -> Interval:
    return percentile_interval(evidence.draws, confidence_level, bounds)


def _bca(evidence: Evidence, confidence_level: float, bounds: tuple[float, float]) -> Interval:
    r"""Efron's (1987) bias-corrected and accelerated quantiles, :math:`\Phi(z_0 + (z_0 + z) / (1 - a (z_0 + z)))`."""
    draws, value = evidence.draws, float(evidence.value)
    if _unvaried(evidence):
        return _exact(evidence, bounds)
    under = float(np.mean(draws < value) + np.mean(draws == value) / 2)
    if np.isnan(evidence.left_out).any() or not 0 < under < 1:
        return Interval(*bounds)
    normal, a = NormalDist(), acceleration(evidence.left_out, evidence.times)
    z_0, z = normal.inv_cdf(under), normal.inv_cdf((1 - confidence_level) / 2)
    lower, upper = (normal.cdf(z_0 + (z_0 + side) / max(1 - a * (z_0 + side), 1e-9)) for side in (z, -z))
    return quantile_interval(draws, lower, upper, bounds)


def _jackknife_t(evidence: Evidence, confidence_level: float, bounds: tuple[float, float]) -> Interval:
    r""":math:`\hat\theta \pm t \sqrt{v}`, with n - 1 degrees of freedom."""
    return _exact(evidence, bounds) if _unvaried(evidence) else _even(float(evidence.value), _reach(evidence, confidence_level), bounds)


def _jackknife_log(evidence: Evidence, confidence_level: float, bounds: tuple[float, float]) -> Interval:
    r"""The same for :math:`\ln(\theta_{max} - \theta)`."""
    return _exact(evidence, bounds) if _unvaried(evidence) else _uneven(float(evidence.value), _reach(evidence, confidence_level), bounds)


def _two_way(evidence: Evidence, confidence_level: float, bounds: tuple[float, float]) -> Interval:
    r""":math:`\hat\theta \pm t \sqrt{v_{items} + v_{raters}}`, with one degree of freedom less than raters; with fewer than three, anything."""
    reach = _reach_of_raters(evidence, confidence_level)
    return _exact(evidence, bounds) if reach == 0 else _even(float(evidence.value), reach, bounds)


def _two_way_log(evidence: Evidence, confidence_level: float, bounds: tuple[float, float]) -> Interval:
    r"""The same for :math:`\ln(\theta_{max} - \theta)`."""
    reach = _reach_of_raters(evidence, confidence_level)
    return _exact(evidence, bounds) if reach == 0 else _uneven(float(evidence.value), reach, bounds)


def _unvaried(evidence: Evidence) -> bool:
    """Does leaving out any item change nothing, as where all ratings agree?"""
    return variance(evidence.left_out, evidence.times) <= NO_VARIATION


def _exact(evidence: Evidence, bounds: tuple[float, float]) -> Interval:
    """The values between which the measure stays while unlike items are no more frequent than Clopper and Pearson's limit."""
    low = np.where(np.isnan(evidence.unlike), bounds[0], evidence.unlike)
    high = np.where(np.isnan(evidence.unlike), bounds[1], evidence.unlike)
    return Interval(float(low.min()), float(high.max())).including(float(evidence.value))


def _reach(evidence: Evidence, confidence_level: float) -> float:
    """Student's t times the standard error, with one degree of freedom less than there are items, or groups of them; nan where it is not known."""
    df = round(min(evidence.n, evidence.times.sum())) - 1
    return quantile((1 + confidence_level) / 2, df) * math.sqrt(variance(evidence.left_out, evidence.times)) if df >= 1 else math.nan


def _reach_of_raters(evidence: Evidence, confidence_level: float) -> float:
    """The same with raters and items left out, by the number of raters; 0 where neither changes anything, nan with fewer than three raters."""
    raters = len(evidence.without_rater)
    if raters < FEWEST_RATERS:
        return math.nan
    squared = variance(evidence.left_out, evidence.times) + variance(evidence.without_rater, np.ones(raters))
    return 0.0 if squared <= NO_VARIATION else quantile((1 + confidence_level) / 2, raters - 1) * math.sqrt(squared)


def _even(value: float, reach: float, bounds: tuple[float, float]) -> Interval:
    """As far to either side, inside the bounds; the bounds where the reach is not known."""
    return Interval(*bounds) if math.isnan(reach) else Interval(max(value - reach, bounds[0]), min(value + reach, bounds[1]))


def _uneven(value: float, reach: float, bounds: tuple[float, float]) -> Interval:
    """As far to either side of the logarithm of the distance from the greatest value, by the delta method: lower near it, and never past it."""
    apart = bounds[1] - value
    if math.isnan(reach) or math.isinf(apart) or apart <= 0:
        return _even(value, reach, bounds)
    factor = math.exp(min(reach / apart, MOST_POWER))
    return Interval(max(bounds[1] - apart * factor, bounds[0]), bounds[1] - apart / factor)


DEFAULT_METHOD = "smoothed_bayesian_bootstrap"

METHODS: dict[str, IntervalMethod] = {
    method.name: method
    for method in (
        IntervalMethod(DEFAULT_METHOD, f"Dirichlet draws over item patterns, prior mass {PRIOR_MASS:g}", _percentile, scheme=SMOOTHED, decides=True),
        IntervalMethod("bayesian_bootstrap", "Dirichlet draws over item patterns", _percentile, scheme=BAYESIAN),
        IntervalMethod("item_bootstrap", "items drawn with replacement, percentiles", _percentile, scheme=ITEMS),
        IntervalMethod("bca_bootstrap", "items drawn with replacement, BCa", _bca, scheme=ITEMS, leaves_out=True),
        IntervalMethod("jackknife_t", "jackknife over items, t", _jackknife_t, leaves_out=True),
        IntervalMethod("jackknife_log", "jackknife over items, t on the logarithm of the distance from perfect agreement", _jackknife_log, leaves_out=True),
        IntervalMethod("two_way_jackknife", "jackknife over raters and items, t by raters", _two_way, population="raters at large", leaves_out=True),
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
        raise PolicyError(f"interval method {name!r} found; one of {', '.join(METHODS)} is required. {DEFAULT_METHOD} is usual.")
    return METHODS[name]
