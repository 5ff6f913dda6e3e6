"""Where a number stands on an axis."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from agreement_pipeline.report.figure import Figure, Mark

STEPS = (1, 2, 2.5, 5, 10)
FEWEST_TICKS, MOST_TICKS = 3, 6


@dataclass(frozen=True)
class Axis:
    """An axis from one number to another, on the sheet from one place to another."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """The place of a number. Numbers outside stand at the end."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def span(self, mark: Mark) -> tuple[float, float]:
        """The places of the limits. Without a limit, the end of the axis."""
        return (
            self.start if mark.low is None else self.at(mark.low),
            self.end if mark.high is None else self.at(mark.high),
        )

    @property
    def ticks(self) -> list[float]:
        """Round numbers on the axis.

        >>> Axis(0.0, 1.0, 0.0, 100.0).ticks
        [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
        """
        rough = (self.high - self.low) / MOST_TICKS
        size = 10.0 ** math.floor(math.log10(rough))
        step = next(step * size for step in STEPS if step * size >= rough)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [round(place * step, 10) for place in range(first, last + 1)]

    @property
    def round_powers(self) -> list[int]:
        """Round numbers whose decimal logarithms are on the axis.

        >>> Axis(0.5, 2.0, 0.0, 100.0).round_powers
        [5, 10, 20, 50, 100]
        """
        tens = range(math.floor(self.low), math.ceil(self.high) + 1)
        found = [step * 10**power for power in tens if power >= 0 for step in (1, 2, 5)]
        return [n for n in found if self.low <= math.log10(n) <= self.high]


def bounds_of(figure: Figure) -> tuple[float, float]:
    """The ends of a figure's axis: of its numbers, its limits and its cut-offs."""
    if figure.bounds is not None:
        return figure.bounds
    own = [cutoff for mark in figure.marks for cutoff in mark.cutoffs]
    numbers = [(mark.value, mark.low, mark.high) for mark in figure.marks]
    said = [*own, *(at for at, _ in figure.cutoffs), *(each for row in numbers for each in row)]
    return spread(said)


def spread(numbers: Iterable[float | None]) -> tuple[float, float]:
    """The ends of an axis that holds some numbers, with room at both ends."""
    known = [each for each in numbers if each is not None and math.isfinite(each)]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    room = (high - low) * 0.04 or 0.1
    return low - room, high + room


def tick_text(value: float) -> str:
    """A number under an axis.

    >>> tick_text(-0.5), tick_text(1000.0)
    ('−0.5', '1,000')
    """
    return f"{value:,g}".replace("-", "−") if abs(value) >= 1000 else f"{value:g}".replace("-", "−")
