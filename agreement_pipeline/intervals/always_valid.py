r"""Limits that hold however often a round is looked at while it fills.

They are an asymptotic confidence sequence with Robbins' normal mixture as its boundary. On n items
the limits lie

.. math:: z_n = \sqrt{\frac{n\rho^2 + 1}{n\rho^2} \ln\frac{n\rho^2 + 1}{\alpha^2}}

standard errors from the value. The probability that the true value is ever outside, at any n, is at
most :math:`\alpha`. This holds better and better the more items the first look sees. Looks are not
counted: the limits are a function of the ratings alone.

References
----------
Waudby-Smith, I., Arbour, D., Sinha, R., Kennedy, E. H. & Ramdas, A. (2024). Time-uniform central
limit theory and asymptotic confidence sequences. Annals of Statistics 52(6), 2613-2640.
https://doi.org/10.1214/24-AOS2408
Robbins, H. (1970). Statistical methods related to the law of the iterated logarithm. Annals of
Mathematical Statistics 41(5), 1397-1409. https://doi.org/10.1214/aoms/1177696786
"""

import math
from dataclasses import dataclass

from agreement_pipeline.intervals.distributions import (
    NORMAL,
    TOO_FEW_ITEMS,
    Bounds,
    ConfidenceDistribution,
    fewest_draws,
)
from agreement_pipeline.intervals.draws import Interval

STEPS = 60
RANGE = (1 / 4, 10)
"""The items on which resamples must show the limits, in multiples of `always_valid_at`."""


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
    """The fewest resamples of which ten lie beyond each always valid limit.

    This holds from a quarter of the items at which the limits are tightest, to ten times as many.
    The number does not depend on how many items that are.

    >>> draws_needed(0.95)
    17398
    """
    alpha = 1 - confidence_level
    furthest = max(critical_value(share * mixture(1, alpha), alpha) for share in RANGE)
    return fewest_draws(NORMAL.cdf(-furthest))


@dataclass(frozen=True, eq=False)
class AlwaysValid:
    r"""The limits of another distribution, moved further out, so that they hold at any time.

    With few resamples or few items, the other distribution is too coarse for limits so far out.
    Then the limits are the bounds. q is half of the smallest level at which the always valid
    interval leaves the cut-off out. So q is read like any other q.

    Parameters
    ----------
    once
        What is known if the round is judged once.
    information
        The items (or clusters) on which agreement was read, times :math:`\rho^2`.
    bounds
        Of the measure.
    """

    once: ConfidenceDistribution
    information: float
    bounds: Bounds

    @property
    def finest(self) -> float:
        """The smallest q that the other distribution can tell."""
        return self._always(self.once.finest)

    def limits(self, tail: float) -> Interval:
        """The other distribution's limits at the tail beyond the critical value."""
        return (
            Interval(*self.bounds)
            if self.why_without(tail)
            else self.once.limits(self._beyond(tail))
        )

    def why_without(self, tail: float) -> str | None:
        """The reason if the other distribution is too coarse for limits so far out."""
        return (
            TOO_FEW_ITEMS
            if self._beyond(tail) < self.once.finest
            else self.once.why_without(self._beyond(tail))
        )

    def under(self, cutoff: float) -> float:
        """The tail at which the lower limit touches the cut-off."""
        return (
            0.0
            if cutoff <= self.bounds[0]
            else self._always(max(self.once.under(cutoff), self.once.finest))
        )

    def over(self, cutoff: float) -> float:
        """The tail at which the upper limit touches the cut-off."""
        return (
            0.0
            if cutoff > self.bounds[1]
            else self._always(max(self.once.over(cutoff), self.once.finest))
        )

    def _beyond(self, tail: float) -> float:
        """The other distribution's tail beyond the critical value."""
        return NORMAL.cdf(-critical_value(self.information, 2 * tail))

    def _always(self, tail: float) -> float:
        """The tail whose always valid limits are the other limits at `tail`; at most one half."""
        if tail > 0.5:
            return 1 - self._always(1 - tail)
        if tail <= 0:
            return 0.0
        power = NORMAL.inv_cdf(tail) ** 2 * self.information / (self.information + 1) / 2
        return min(0.5, math.exp(math.log1p(self.information) / 2 - power) / 2)
