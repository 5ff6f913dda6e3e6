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
    Bounds,
    ConfidenceDistribution,
    fewest_draws,
)
from agreement_pipeline.intervals.further_out import FurtherOut

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


@dataclass(frozen=True)
class _Mixture:
    r"""The boundary at one number of items. `information` is :math:`n\rho^2`."""

    information: float

    def beyond(self, tail: float) -> float:
        """The other distribution's tail beyond the critical value."""
        return NORMAL.cdf(-critical_value(self.information, 2 * tail))

    def overall(self, tail: float) -> float:
        """The tail whose always valid limits are the other limits at `tail`; at most one half."""
        power = NORMAL.inv_cdf(tail) ** 2 * self.information / (self.information + 1) / 2
        return min(0.5, math.exp(math.log1p(self.information) / 2 - power) / 2)


def always_valid(once: ConfidenceDistribution, information: float, bounds: Bounds) -> FurtherOut:
    r"""The limits of another distribution, moved further out, so that they hold at any time.

    Parameters
    ----------
    once
        What is known if the round is judged once.
    information
        The items (or clusters) on which agreement was read, times :math:`\rho^2`.
    bounds
        Of the measure.
    """
    return FurtherOut(once, _Mixture(information), bounds)
