r"""A control chart of one measure over rounds of different sizes.

It is a Shewhart chart of single values whose limits follow each round's own standard error
(Montgomery 2020, sections 6.4 and 7.3.2). Each round is compared with the rounds before it that did
not fall out:

- :math:`\tau^2` is by how much rounds differ beyond their standard errors (DerSimonian and Laird
  1986, https://doi.org/10.1016/0197-2456(86)90046-2). It is added to the variance of each round
  (Spiegelhalter 2005, https://doi.org/10.1136/qshc.2005.013755).
- The centre is the mean of the earlier values, weighted by :math:`w = 1 / (se^2 + \tau^2)`.
- The limits are :math:`t \sqrt{se^2 + \tau^2 + 1 / \sum w}` around the centre, with the standard
  error of the round itself. t is Student's quantile with n - 1 degrees of freedom. It leaves out
  0.135 % on each side, as three standard errors of a normal distribution do.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from agreement_pipeline.errors import AgreementError
from agreement_pipeline.intervals import Interval
from agreement_pipeline.ratings import Array
from agreement_pipeline.students_t import quantile

MIN_EARLIER_ROUNDS = 7
"""Fewer than eight rounds cannot tell."""
UNBOUNDED = (-math.inf, math.inf)
TAIL = 0.00135
"""What a normal distribution has beyond three standard errors on one side."""


@dataclass(frozen=True)
class RoundReading:
    round: str
    value: float
    error: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.value) and math.isfinite(self.error) and self.error > 0):
            raise AgreementError(
                f"round {self.round}: found value {self.value} with standard error {self.error}; "
                "expected a finite value with a standard error over 0. Leave the round out."
            )


@dataclass(frozen=True)
class ChartedRound:
    """`centre` and `limits` are what the earlier rounds let one expect; None if there are
    too few.
    """

    reading: RoundReading
    centre: float | None = None
    limits: Interval | None = None

    @property
    def is_out_of_limits(self) -> bool:
        return self.limits is not None and not (
            self.limits.low <= self.reading.value <= self.limits.high
        )

    @property
    def is_below_limits(self) -> bool:
        return (
            self.is_out_of_limits and self.centre is not None and self.reading.value < self.centre
        )


def build_control_chart(
    readings: Iterable[RoundReading],
    earlier_chart: Sequence[ChartedRound] = (),
    bounds: tuple[float, float] = UNBOUNDED,
) -> tuple[ChartedRound, ...]:
    """Each round against the rounds before it, in the order given.

    No limit lies beyond the `bounds` of the measure.

    An `earlier_chart` is taken over as far as its readings are the same.

    Examples
    --------
    >>> usual = [RoundReading(f"w{n}", 0.8 + 0.01 * (n % 2), 0.02) for n in range(7)]
    >>> chart = build_control_chart([*usual, RoundReading("w7", 0.65, 0.02)])
    >>> [charted_round.is_out_of_limits for charted_round in chart][-2:]
    [False, True]
    """
    all_readings = list(readings)
    is_unchanged = [
        new_reading == old.reading
        for new_reading, old in zip(all_readings, earlier_chart, strict=False)
    ]
    chart = list(earlier_chart[: (*is_unchanged, False).index(False)])
    readings_in_control = [charted.reading for charted in chart if not charted.is_out_of_limits]
    n = len(readings_in_control)
    values, variances = np.zeros(n + len(all_readings)), np.zeros(n + len(all_readings))
    values[:n] = [reading.value for reading in readings_in_control]
    variances[:n] = [reading.error * reading.error for reading in readings_in_control]
    for reading in all_readings[len(chart) :]:
        charted_reading = _chart_reading(values[:n], variances[:n], reading, bounds)
        chart.append(charted_reading)
        if not charted_reading.is_out_of_limits:
            values[n], variances[n] = reading.value, reading.error * reading.error
            n += 1
    return tuple(chart)


def _chart_reading(
    values: Array, variances: Array, reading: RoundReading, bounds: tuple[float, float]
) -> ChartedRound:
    if len(values) < MIN_EARLIER_ROUNDS:
        return ChartedRound(reading)
    variance_between = variance_between_rounds(values, variances)
    weights = 1 / (variances + variance_between)
    centre = float(weights @ values / weights.sum())
    t = -quantile(TAIL, len(values) - 1)
    reach = t * math.sqrt(reading.error**2 + variance_between + 1 / weights.sum())
    low, high = max(bounds[0], centre - reach), min(bounds[1], centre + reach)
    return ChartedRound(reading, centre, Interval(low, high))


def variance_between_rounds(values: Array, variances: Array) -> float:
    weights = 1 / variances
    centre = weights @ values / weights.sum()
    excess = weights @ (values - centre) ** 2 - (len(values) - 1)
    return max(0.0, float(excess / (weights.sum() - (weights**2).sum() / weights.sum())))
