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
    FINEST_TAIL,
    NORMAL,
    TOO_FEW_ITEMS,
    Bounds,
    BoundsOnly,
    ConfidenceDistribution,
    beyond_all,
    fewest_draws,
    halved,
)
from agreement_pipeline.intervals.draws import Interval
from agreement_pipeline.mistakes import CLOSED, Need, Value, one_of, refuse_mistakes, shown, whole
from agreement_pipeline.ratings import Array

Spending = Literal["obrien_fleming", "pocock"]

MOST_LOOKS, MOST_ITEMS = 20, 10_000_000
FURTHEST = 9.0
NODES, STEPS_A_PANEL, MOST_PANELS = 60, 5, 33
SMALLEST_SPENT = 1e-15
CLOSE = 1e-9
STEPS = 60
RANGE = (1 / 4, 10)
"""The items on which resamples must show always valid limits, in multiples of `always_valid_at`."""

SIZES = Value(
    f"from 2 to {MOST_LOOKS} whole numbers of items (or clusters), each larger than the last",
    lambda sizes: (
        isinstance(sizes, (list, tuple))
        and 2 <= len(sizes) <= MOST_LOOKS
        and all(whole(2, MOST_ITEMS)(size) for size in sizes)
        and all(one < other for one, other in pairwise(sizes))
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
    spending: Annotated[Spending, one_of(get_args(Spending))] = "obrien_fleming"

    def __post_init__(self) -> None:
        refuse_mistakes(self, PolicyError, self._needs())
        object.__setattr__(self, "at", tuple(self.at))

    def _needs(self) -> Iterator[Need]:
        close = [pair for pair in pairwise(self.at) if pair[1] * 100 < pair[0] * 101]
        yield Need(
            "at",
            not close,
            "each size larger than the last by a hundredth or more",
            "Leave a look out.",
            found=f"looks at {shown(close[0]) if close else ''}",
        )

    def __str__(self) -> str:
        *earlier, last = self.at
        return f"{', '.join(map(str, earlier))} and {last} ({self.spending})"

    def following(self, n: int) -> int | None:
        return next((size for size in self.at if size > n), None)

    def tails(self, tail: float) -> tuple[float, ...]:
        """The tail of a single look at which each look's limits lie."""
        times = [size / self.at[-1] for size in self.at]
        spent = [SPENT[self.spending](time, tail) for time in times]
        return tuple(_lower(-z) for z in boundary(spent, times))


def at_look(
    once: ConfidenceDistribution, looks: Looks, n: int, bounds: Bounds
) -> ConfidenceDistribution:
    if n in looks.at:
        return AtLook(once, bounds, looks, looks.at.index(n))
    following = looks.following(n)
    then = f"the next look is at {following}" if following else "the plan has ended"
    return BoundsOnly(bounds, f"no look is planned at {n}, and {then}")


@dataclass(frozen=True, eq=False)
class FurtherOut(ConfidenceDistribution):
    """`once` is what is known if the round is judged once. With few resamples or few items, it is
    too coarse for limits so far out, which are then the bounds.
    """

    once: ConfidenceDistribution
    bounds: Bounds

    @abstractmethod
    def beyond(self, tail: float) -> float:
        """The tail of a single look at which the limits lie, for a tail of all looks together."""

    @abstractmethod
    def overall(self, tail: float) -> float:
        """The inverse of `beyond`, at most one half."""

    @property
    def finest(self) -> float:
        return self._overall(self.once.finest)

    def limits(self, tail: float) -> Interval:
        if self.why_without(tail):
            return Interval(*self.bounds)
        return self.once.limits(self.beyond(tail))

    def why_without(self, tail: float) -> str | None:
        beyond = self.beyond(tail)
        return TOO_FEW_ITEMS if beyond < self.once.finest else self.once.why_without(beyond)

    def tail_at(self, cutoff: float, upper: bool) -> float:
        if beyond_all(cutoff, self.bounds, upper):
            return 0.0
        return self._overall(max(self.once.tail_at(cutoff, upper), self.once.finest))

    def _overall(self, tail: float) -> float:
        if tail > 0.5:
            return 1 - self._overall(1 - tail)
        return 0.0 if tail <= 0 else self.overall(tail)


@dataclass(frozen=True, eq=False)
class AtLook(FurtherOut):
    looks: Looks
    number: int

    def beyond(self, tail: float) -> float:
        return _tail_at(self.looks, self.number, tail)

    def overall(self, tail: float) -> float:
        return _overall(self.looks, self.number, tail)


@cache
def _tail_at(looks: Looks, number: int, tail: float) -> float:
    return looks.tails(tail)[number]


@cache
def _overall(looks: Looks, number: int, tail: float) -> float:
    """The smallest tail of all looks whose limits at this look lie at `tail` of a single one.

    In standard errors, both distances rise together along nearly a line, so the secant finds it.
    """
    least, most = (_tail_at(looks, number, each) for each in (FINEST_TAIL, 0.5))
    if not least < tail < most:
        return FINEST_TAIL if tail <= least else 0.5
    asked, z = NORMAL.inv_cdf(tail), NORMAL.inv_cdf
    one, other = z(FINEST_TAIL), 0.0
    at_one, at_other = z(least) - asked, z(most) - asked
    while abs(at_other) > CLOSE and at_one != at_other:
        one, other = other, other - at_other * (other - one) / (at_other - at_one)
        at_one, at_other = at_other, z(_tail_at(looks, number, _lower(other))) - asked
    return _lower(other)


def boundary(spent: Sequence[float], times: Sequence[float]) -> tuple[float, ...]:
    """The distance of each look's limit from the value, in standard errors.

    `spent` is the probability to have crossed a limit by each look, `times` the share of items.

    >>> [round(z, 3) for z in boundary((0.0125, 0.025), (0.5, 1.0))]
    [2.241, 2.125]
    """
    found: list[float] = []
    density = _Density(np.zeros(1), np.ones(1))
    before, past = 0.0, 0.0
    for time, crossed in zip(times, spent, strict=True):
        step = math.sqrt(time - before)
        limit = density.crossing(max(crossed - past, SMALLEST_SPENT), step)
        density = density.moved(step, min(limit, FURTHEST * math.sqrt(time)), math.sqrt(time))
        found.append(limit / math.sqrt(time))
        before, past = time, crossed
    return tuple(found)


def second_look(tail: float) -> float:
    r"""The most that a tail can grow to if a round may be judged again after more items.

    It is :math:`tail + \exp(-z^2 / 2) / 4` if the first look says how many more items there are
    (Proschan and Hunsberger 1995, https://doi.org/10.2307/2533262).

    >>> round(second_look(0.025), 4)
    0.0616
    """
    return tail + math.exp(-(NORMAL.inv_cdf(tail) ** 2) / 2) / 4


@dataclass(frozen=True)
class _Density:
    at: Array
    mass: Array

    def crossing(self, probability: float, step: float) -> float:
        least, most = float(self.at.min()), float(self.at.max())

        def too_low(limit: float) -> bool:
            beyond = [_lower(z) for z in ((self.at - limit) / step).tolist()]
            return float(self.mass @ np.array(beyond)) > probability

        return halved(least - FURTHEST * step, most + FURTHEST * step, too_low)[1]

    def moved(self, step: float, limit: float, scale: float) -> "_Density":
        least = -FURTHEST * scale
        n = min(max(math.ceil((limit - least) / step / STEPS_A_PANEL), 1), MOST_PANELS)
        points, weights = _panel(NODES)
        half = (limit - least) / n / 2
        middles = least + half * np.arange(1, 2 * n, 2)
        at = (middles[:, None] + half * points).ravel()
        normal = np.exp(-(((at[:, None] - self.at) / step) ** 2) / 2) / math.sqrt(2 * math.pi)
        return _Density(at, np.tile(weights, n) * half * (normal @ self.mass) / step)


_panel = cache(np.polynomial.legendre.leggauss)

SPENT: dict[Spending, Callable[[float, float], float]] = {
    "obrien_fleming": lambda time, tail: 2 * _lower(NORMAL.inv_cdf(tail / 2) / math.sqrt(time)),
    "pocock": lambda time, tail: tail * math.log1p((math.e - 1) * time),
}


def _lower(z: float) -> float:
    """It is exact far out too."""
    return math.erfc(-z / math.sqrt(2)) / 2


def mixture(at: int, alpha: float) -> float:
    r"""The :math:`\rho^2` with which :math:`z_n` is smallest at `at` items.

    It solves :math:`n\rho^2 = \ln(1 + n\rho^2) - 2\ln\alpha`.

    >>> round(500 * mixture(500, 0.05), 3)
    8.212
    """
    information = 1.0
    for _ in range(STEPS):
        information = math.log1p(information) - 2 * math.log(alpha)
    return information / at


def critical_value(information: float, alpha: float) -> float:
    r"""The distance from the value to either limit, in standard errors.

    `information` is :math:`n\rho^2`.

    >>> tightest = mixture(500, 0.05)
    >>> [round(critical_value(n * tightest, 0.05), 3) for n in (500, 100)]
    [3.035, 3.347]
    """
    return math.sqrt(
        (information + 1) / information * (math.log1p(information) - 2 * math.log(alpha))
    )


def draws_needed(confidence_level: float) -> int:
    """They do from a quarter of the items at which always valid limits are tightest, to ten times
    as many.

    >>> draws_needed(0.95)
    17398
    """
    alpha = 1 - confidence_level
    furthest = max(critical_value(share * mixture(1, alpha), alpha) for share in RANGE)
    return fewest_draws(NORMAL.cdf(-furthest))


@dataclass(frozen=True, eq=False)
class AlwaysValid(FurtherOut):
    r"""`information` is the number of items (or clusters) on which agreement was read, times
    :math:`\rho^2`.
    """

    information: float

    def beyond(self, tail: float) -> float:
        return NORMAL.cdf(-critical_value(self.information, 2 * tail))

    def overall(self, tail: float) -> float:
        power = NORMAL.inv_cdf(tail) ** 2 * self.information / (self.information + 1) / 2
        return min(0.5, math.exp(math.log1p(self.information) / 2 - power) / 2)
