r"""Limits for a round that is judged more than once.

At sizes that were named before, this is a group sequential test with an error spending function
(Lan and DeMets 1983). On K looks at sizes :math:`n_1 < … < n_K`, the limits of look k lie
:math:`z_k` standard errors from the value. Of the tail, look k spends
:math:`f(t_k) - f(t_{k-1})`, where :math:`t_k = n_k / n_K`:

- `obrien_fleming`: :math:`f(t) = 2 - 2 \Phi(\Phi^{-1}(1 - tail / 2) / \sqrt{t})`, nearly all of
  it at the last look;
- `pocock`: :math:`f(t) = tail \ln(1 + (e - 1) t)`, about the same at every look.

The values at the looks are sums of independent normal steps. The density of those that crossed no
limit so far is integrated from look to look (Armitage, McPherson and Rowe 1969).

At any size, it is an asymptotic confidence sequence with Robbins' normal mixture as its boundary
(Waudby-Smith and others 2024). On n items the limits lie

.. math:: z_n = \sqrt{\frac{n\rho^2 + 1}{n\rho^2} \ln\frac{n\rho^2 + 1}{\alpha^2}}

standard errors from the value. The probability that the true value is ever outside, at any n, is at
most :math:`\alpha`. This holds better and better the more items the first look sees.

References: https://doi.org/10.1093/biomet/70.3.659, https://doi.org/10.2307/2343787,
https://doi.org/10.1214/24-AOS2408, https://doi.org/10.1214/aoms/1177696786
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Annotated, Literal, get_args

import numpy as np

from agreement_pipeline.errors import PolicyError
from agreement_pipeline.intervals.distributions import (
    MIN_TAIL,
    NORMAL,
    TOO_FEW_ITEMS,
    Bounds,
    BoundsOnly,
    ConfidenceDistribution,
    bisect,
    is_beyond_bounds,
    min_draws,
)
from agreement_pipeline.intervals.draws import Interval
from agreement_pipeline.mistakes import (
    CLOSED,
    Requirement,
    Value,
    is_whole_number_between,
    one_of_value,
    refuse_mistakes,
    value_in_message,
)
from agreement_pipeline.ratings import Array

Spending = Literal["obrien_fleming", "pocock"]

MAX_LOOKS = 20
MAX_ITEMS = 10_000_000
MAX_STANDARD_ERRORS = 9.0
N_NODES = 60
MAX_STEPS_PER_PANEL = 5
MAX_PANELS = 33
MIN_SPENT_PROBABILITY = 1e-15
SECANT_TOLERANCE = 1e-9
N_FIXED_POINT_STEPS = 60
ALWAYS_VALID_RANGE = (1 / 4, 10)
"""The items on which resamples must show always valid limits, in multiples of `always_valid_at`."""

SIZES = Value(
    f"from 2 to {MAX_LOOKS} whole numbers of items (or clusters), each larger than the last",
    lambda sizes: (
        isinstance(sizes, (list, tuple))
        and 2 <= len(sizes) <= MAX_LOOKS
        and all(is_whole_number_between(2, MAX_ITEMS)(size) for size in sizes)
        and all(size < next_size for size, next_size in pairwise(sizes))
    ),
    "A round of one look needs no plan.",
)


@dataclass(frozen=True)
class Looks:
    """The sizes at which a growing round is judged, named before it is judged.

    Parameters
    ----------
    at
        The number of items of the round at each look. Clusters, if items come in clusters.
    spending
        How the tail is spent. *obrien_fleming*: early looks admit only what is far above the
        cut-off, and the last look is nearly as narrow as a single one. *pocock*: all looks are
        about equally narrow.

    Raises
    ------
    PolicyError
        The sizes do not rise, or the spending is unknown.
    """

    __pydantic_config__ = CLOSED

    at: Annotated[tuple[int, ...], SIZES]
    spending: Annotated[Spending, one_of_value(get_args(Spending))] = "obrien_fleming"

    def __post_init__(self) -> None:
        refuse_mistakes(self, PolicyError, self._needs())
        object.__setattr__(self, "at", tuple(self.at))

    def _needs(self) -> Iterator[Requirement]:
        close_pairs = [pair for pair in pairwise(self.at) if pair[1] * 100 < pair[0] * 101]
        yield Requirement(
            "at",
            not close_pairs,
            "each size larger than the last by a hundredth or more",
            "Leave a look out.",
            found=f"looks at {value_in_message(close_pairs[0]) if close_pairs else ''}",
        )

    def __str__(self) -> str:
        *earlier, last_size = self.at
        return f"{', '.join(map(str, earlier))} and {last_size} ({self.spending})"

    def next_look_after(self, n: int) -> int | None:
        return next((size for size in self.at if size > n), None)

    def tails(self, tail: float) -> tuple[float, ...]:
        """The tail of a single look at which each look's limits lie."""
        times = [size / self.at[-1] for size in self.at]
        spent = [SPENDING_FUNCTIONS[self.spending](time, tail) for time in times]
        return tuple(_normal_cdf(-z) for z in limits_in_standard_errors(spent, times))


def build_at_look(
    single_look: ConfidenceDistribution, looks: Looks, n: int, bounds: Bounds
) -> ConfidenceDistribution:
    if n in looks.at:
        return AtLook(single_look, bounds, looks, looks.at.index(n))
    following = looks.next_look_after(n)
    next_step = f"the next look is at {following}" if following else "the plan has ended"
    return BoundsOnly(bounds, f"no look is planned at {n}, and {next_step}")


@dataclass(frozen=True, eq=False)
class WidenedForLooks(ConfidenceDistribution):
    """`single_look` is what is known if the round is judged once. With few resamples or few items,
    it is too coarse for limits so far out, which are then the bounds.
    """

    single_look: ConfidenceDistribution
    bounds: Bounds

    @abstractmethod
    def single_look_tail(self, tail: float) -> float:
        """The tail of a single look at which the limits lie, for a tail of all looks together."""

    @abstractmethod
    def overall_tail(self, tail: float) -> float:
        """The inverse of `single_look_tail`, at most one half."""

    @property
    def finest_tail(self) -> float:
        return self._bounded_overall_tail(self.single_look.finest_tail)

    def limits(self, tail: float) -> Interval:
        if self.missing_limits_reason(tail):
            return Interval(*self.bounds)
        return self.single_look.limits(self.single_look_tail(tail))

    def missing_limits_reason(self, tail: float) -> str | None:
        single_tail = self.single_look_tail(tail)
        return (
            TOO_FEW_ITEMS
            if single_tail < self.single_look.finest_tail
            else self.single_look.missing_limits_reason(single_tail)
        )

    def tail_at(self, cutoff: float, upper: bool) -> float:
        if is_beyond_bounds(cutoff, self.bounds, upper):
            return 0.0
        return self._bounded_overall_tail(
            max(self.single_look.tail_at(cutoff, upper), self.single_look.finest_tail)
        )

    def _bounded_overall_tail(self, tail: float) -> float:
        if tail > 0.5:
            return 1 - self._bounded_overall_tail(1 - tail)
        return 0.0 if tail <= 0 else self.overall_tail(tail)


@dataclass(frozen=True, eq=False)
class AtLook(WidenedForLooks):
    looks: Looks
    number: int

    def single_look_tail(self, tail: float) -> float:
        return _single_tail_at_look(self.looks, self.number, tail)

    def overall_tail(self, tail: float) -> float:
        return _find_overall_tail(self.looks, self.number, tail)


@cache
def _single_tail_at_look(looks: Looks, number: int, tail: float) -> float:
    return looks.tails(tail)[number]


@cache
def _find_overall_tail(looks: Looks, number: int, tail: float) -> float:
    """The smallest tail of all looks whose limits at this look lie at `tail` of a single one.

    In standard errors, both distances rise together along nearly a line, so the secant finds it.
    """
    lowest, highest = (
        _single_tail_at_look(looks, number, single_tail) for single_tail in (MIN_TAIL, 0.5)
    )
    if not lowest < tail < highest:
        return MIN_TAIL if tail <= lowest else 0.5
    target, z = NORMAL.inv_cdf(tail), NORMAL.inv_cdf
    previous_z, current_z = z(MIN_TAIL), 0.0
    previous_gap, current_gap = z(lowest) - target, z(highest) - target
    while abs(current_gap) > SECANT_TOLERANCE and previous_gap != current_gap:
        previous_z, current_z = (
            current_z,
            current_z - current_gap * (current_z - previous_z) / (current_gap - previous_gap),
        )
        previous_gap, current_gap = (
            current_gap,
            z(_single_tail_at_look(looks, number, _normal_cdf(current_z))) - target,
        )
    return _normal_cdf(current_z)


def limits_in_standard_errors(spent: Sequence[float], times: Sequence[float]) -> tuple[float, ...]:
    """The distance of each look's limit from the value, in standard errors.

    `spent` is the probability to have crossed a limit by each look, `times` the share of items.

    >>> [round(z, 3) for z in limits_in_standard_errors((0.0125, 0.025), (0.5, 1.0))]
    [2.241, 2.125]
    """
    limits: list[float] = []
    density = _Density(np.zeros(1), np.ones(1))
    previous_time, previous_spent = 0.0, 0.0
    for time, crossed in zip(times, spent, strict=True):
        step = math.sqrt(time - previous_time)
        limit = density.limit_crossed_with(
            max(crossed - previous_spent, MIN_SPENT_PROBABILITY), step
        )
        density = density.after_step(
            step, min(limit, MAX_STANDARD_ERRORS * math.sqrt(time)), math.sqrt(time)
        )
        limits.append(limit / math.sqrt(time))
        previous_time, previous_spent = time, crossed
    return tuple(limits)


def tail_with_second_look(tail: float) -> float:
    r"""The most that a tail can grow to if a round may be judged again after more items.

    It is :math:`tail + \exp(-z^2 / 2) / 4` if the first look says how many more items there are
    (Proschan and Hunsberger 1995, https://doi.org/10.2307/2533262).

    >>> round(tail_with_second_look(0.025), 4)
    0.0616
    """
    return tail + math.exp(-(NORMAL.inv_cdf(tail) ** 2) / 2) / 4


@dataclass(frozen=True)
class _Density:
    points: Array
    mass: Array

    def limit_crossed_with(self, probability: float, step: float) -> float:
        lowest, highest = float(self.points.min()), float(self.points.max())

        def too_low(limit: float) -> bool:
            crossing_shares = [_normal_cdf(z) for z in ((self.points - limit) / step).tolist()]
            return float(self.mass @ np.array(crossing_shares)) > probability

        return bisect(
            lowest - MAX_STANDARD_ERRORS * step, highest + MAX_STANDARD_ERRORS * step, too_low
        )[1]

    def after_step(self, step: float, limit: float, scale: float) -> "_Density":
        lowest = -MAX_STANDARD_ERRORS * scale
        n = min(max(math.ceil((limit - lowest) / step / MAX_STEPS_PER_PANEL), 1), MAX_PANELS)
        points, weights = _legendre_nodes(N_NODES)
        half = (limit - lowest) / n / 2
        middles = lowest + half * np.arange(1, 2 * n, 2)
        new_points = (middles[:, None] + half * points).ravel()
        normal = np.exp(-(((new_points[:, None] - self.points) / step) ** 2) / 2) / math.sqrt(
            2 * math.pi
        )
        return _Density(new_points, np.tile(weights, n) * half * (normal @ self.mass) / step)


_legendre_nodes = cache(np.polynomial.legendre.leggauss)

SPENDING_FUNCTIONS: dict[Spending, Callable[[float, float], float]] = {
    "obrien_fleming": lambda time, tail: (
        2 * _normal_cdf(NORMAL.inv_cdf(tail / 2) / math.sqrt(time))
    ),
    "pocock": lambda time, tail: tail * math.log1p((math.e - 1) * time),
}


def _normal_cdf(z: float) -> float:
    """It is exact far out too."""
    return math.erfc(-z / math.sqrt(2)) / 2


def mixture_variance(tightest_n: int, alpha: float) -> float:
    r"""The :math:`\rho^2` with which :math:`z_n` is smallest at `at` items.

    It solves :math:`n\rho^2 = \ln(1 + n\rho^2) - 2\ln\alpha`.

    >>> round(500 * mixture_variance(500, 0.05), 3)
    8.212
    """
    information = 1.0
    for _ in range(N_FIXED_POINT_STEPS):
        information = math.log1p(information) - 2 * math.log(alpha)
    return information / tightest_n


def critical_value(information: float, alpha: float) -> float:
    r"""The distance from the value to either limit, in standard errors.

    `information` is :math:`n\rho^2`.

    >>> tightest = mixture_variance(500, 0.05)
    >>> [round(critical_value(n * tightest, 0.05), 3) for n in (500, 100)]
    [3.035, 3.347]
    """
    return math.sqrt(
        (information + 1) / information * (math.log1p(information) - 2 * math.log(alpha))
    )


def min_always_valid_draws(confidence_level: float) -> int:
    """They do from a quarter of the items at which always valid limits are tightest, to ten times
    as many.

    >>> min_always_valid_draws(0.95)
    17398
    """
    alpha = 1 - confidence_level
    furthest = max(
        critical_value(share * mixture_variance(1, alpha), alpha) for share in ALWAYS_VALID_RANGE
    )
    return min_draws(NORMAL.cdf(-furthest))


@dataclass(frozen=True, eq=False)
class AlwaysValid(WidenedForLooks):
    r"""`information` is the number of items (or clusters) on which agreement was read, times
    :math:`\rho^2`.
    """

    information: float

    def single_look_tail(self, tail: float) -> float:
        return NORMAL.cdf(-critical_value(self.information, 2 * tail))

    def overall_tail(self, tail: float) -> float:
        power = NORMAL.inv_cdf(tail) ** 2 * self.information / (self.information + 1) / 2
        return min(0.5, math.exp(math.log1p(self.information) / 2 - power) / 2)
