r"""Limits that hold however often a round is looked at while it fills.

An asymptotic confidence sequence with Robbins' normal mixture as its boundary: on n items the limits lie

.. math:: z_n = \sqrt{\frac{n\rho^2 + 1}{n\rho^2} \ln\frac{n\rho^2 + 1}{\alpha^2}}

standard errors from the value. The probability that the true value is ever outside, at whichever n, is at most :math:`\alpha` as the first look comes
at more and more items. Nothing counts the looks: the limits are a function of the ratings alone.

References
----------
Waudby-Smith, I., Arbour, D., Sinha, R., Kennedy, E. H. & Ramdas, A. (2024). Time-uniform central limit theory and asymptotic confidence sequences. Annals
of Statistics 52(6), 2613-2640. https://doi.org/10.1214/24-AOS2408
Robbins, H. (1970). Statistical methods related to the law of the iterated logarithm. Annals of Mathematical Statistics 41(5), 1397-1409.
https://doi.org/10.1214/aoms/1177696786
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
"""From which share of the items at which limits are tightest, to how many times as many, the draws must tell them."""


def mixture(at: int, alpha: float) -> float:
    r"""The :math:`\rho^2` with which :math:`z_n` is least at `at` items: :math:`n\rho^2 = \ln(1 + n\rho^2) - 2\ln\alpha`.

    >>> round(500 * mixture(500, 0.05), 3)
    8.212
    """
    information = 1.0
    for _ in range(STEPS):
        information = math.log1p(information) - 2 * math.log(alpha)
    return information / at


def critical_value(information: float, alpha: float) -> float:
    r"""Standard errors from the value to either limit, where `information` is :math:`n\rho^2`.

    >>> round(critical_value(500 * mixture(500, 0.05), 0.05), 3), round(critical_value(100 * mixture(500, 0.05), 0.05), 3)
    (3.035, 3.347)
    """
    return math.sqrt(
        (information + 1) / information * (math.log1p(information) - 2 * math.log(alpha))
    )


def draws_needed(confidence_level: float) -> int:
    """The fewest draws of which ten lie beyond each limit, from a quarter of the items at which it is tightest, however many these are, to ten times as many.

    >>> draws_needed(0.95)
    17398
    """
    alpha = 1 - confidence_level
    furthest = max(critical_value(share * mixture(1, alpha), alpha) for share in RANGE)
    return fewest_draws(NORMAL.cdf(-furthest))


@dataclass(frozen=True, eq=False)
class AlwaysValid:
    r"""What may be said of a true value at any time: the limits of another distribution, further out.

    They are the bounds where the other distribution is too coarse for limits so far out, as with few draws, or few items. q is half of the least
    level at which the always valid interval would leave the cut-off out, so that it is read as any other q is.

    Parameters
    ----------
    once
        What is known if the round is judged once.
    information
        Items (or clusters) that agreement was read on, times :math:`\rho^2`.
    bounds
        Of the measure.
    """

    once: ConfidenceDistribution
    information: float
    bounds: Bounds

    @property
    def finest(self) -> float:
        """The least q that the other distribution can tell."""
        return self._always(self.once.finest)

    def limits(self, tail: float) -> Interval:
        """The other distribution's limits at the tail beyond the critical value."""
        return (
            Interval(*self.bounds)
            if self.why_without(tail)
            else self.once.limits(self._beyond(tail))
        )

    def why_without(self, tail: float) -> str | None:
        """The other distribution is too coarse for limits so far out."""
        return (
            TOO_FEW_ITEMS
            if self._beyond(tail) < self.once.finest
            else self.once.why_without(self._beyond(tail))
        )

    def under(self, cutoff: float) -> float:
        """The tail at which the lower limit would touch it."""
        return (
            0.0
            if cutoff <= self.bounds[0]
            else self._always(max(self.once.under(cutoff), self.once.finest))
        )

    def over(self, cutoff: float) -> float:
        """The tail at which the upper limit would touch it."""
        return (
            0.0
            if cutoff > self.bounds[1]
            else self._always(max(self.once.over(cutoff), self.once.finest))
        )

    def _beyond(self, tail: float) -> float:
        """The other distribution's tail, of limits as many standard errors out as are needed at any time."""
        return NORMAL.cdf(-critical_value(self.information, 2 * tail))

    def _always(self, tail: float) -> float:
        """The tail whose always valid limits are the others' at `tail`; a half where that is none."""
        if tail > 0.5:
            return 1 - self._always(1 - tail)
        if tail <= 0:
            return 0.0
        power = NORMAL.inv_cdf(tail) ** 2 * self.information / (self.information + 1) / 2
        return min(0.5, math.exp(math.log1p(self.information) / 2 - power) / 2)
