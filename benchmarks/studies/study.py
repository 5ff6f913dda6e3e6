"""What the studies share: their register, rounds that are drawn, limits, and shares of rounds."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from agreement_pipeline.estimates import Estimate, estimate
from agreement_pipeline.intervals import Inference
from agreement_pipeline.policy import RELIABLE

ALPHA = "krippendorff_alpha"
ROUNDING = 1e-9
T = TypeVar("T")


class Asked(NamedTuple):
    """How many rounds are simulated, how limits are found, and which rounds are drawn.

    Real rounds are in the folder.
    """

    rounds: int
    inference: Inference = Inference()
    seed: int = 0
    folder: Path = Path()


Cells = Sequence[object] | str
"""The cells of a line, or a sentence under the table."""
Lines = Callable[[Asked], Iterator[Cells]]


class Study(NamedTuple):
    """The columns of a table, what makes its lines, and how much is usually simulated.

    `seeded` is True if a seed chooses other rounds, `on_page` if a page has the whole table, and
    `real` if the rounds are those of a folder.
    """

    columns: str
    lines: Lines
    rounds: int
    draws: int
    seeded: bool = False
    on_page: bool = False
    real: bool = False


STUDIES: dict[str, Study] = {}


def study(
    columns: str,
    rounds: int = 1,
    draws: int = 10_000,
    *,
    seeded: bool = False,
    on_page: bool = False,
    real: bool = False,
) -> Callable[[Lines], Lines]:
    """Register a study under the name of the function that makes its lines."""

    def registered(lines: Lines) -> Lines:
        STUDIES[lines.__name__] = Study(columns, lines, rounds, draws, seeded, on_page, real)
        return lines

    return registered


def seeded(made: Callable[[np.random.Generator], T], n: int, *seed: int) -> Iterator[T]:
    """So many rounds of a kind, each from a generator of its own."""
    return (made(np.random.default_rng((*seed, number))) for number in range(n))


def estimates(
    measure: str, rounds: Iterable[tuple[object, int]], inference: Inference, *seed: int
) -> Iterator[tuple[Estimate, int]]:
    """The estimate of each statistic, and how many rounds have this statistic.

    Each has resamples of its own. If all had the same ones, their luck would be shared.
    """
    for number, (statistic, times) in enumerate(rounds):
        own = replace(inference, seed=(*seed, number) if seed else number)
        yield estimate(measure, statistic, own), times


def limits(
    measure: str, rounds: Iterable[tuple[object, int]], inference: Inference, *seed: int
) -> np.ndarray:
    """Lower and upper limits of all rounds, shape (2, rounds). They are nan where there is none."""
    return stacked((e.interval, times) for e, times in estimates(measure, rounds, inference, *seed))


def stacked(intervals: Iterable[tuple[Sequence[float] | None, int]]) -> np.ndarray:
    """Lower and upper limits, each as often as it is counted."""
    found = [interval or (np.nan, np.nan) for interval, times in intervals for _ in range(times)]
    return np.array(found).T


def percent(*outcomes: np.ndarray) -> list[str]:
    """The share of rounds with each outcome."""
    return [f"{100 * np.mean(each):.1f}" for each in outcomes]


def with_error(outcomes: np.ndarray) -> str:
    """The share of rounds with an outcome, and one standard error."""
    share = np.mean(outcomes)
    return f"{100 * share:.1f} % ± {100 * math.sqrt(share * (1 - share) / len(outcomes)):.1f}"


def failed_and_admitted(found: np.ndarray, truth: float) -> list[str]:
    """The shares of limits on the wrong side, lower and upper, and of rounds admitted at 0.8."""
    low, high = found
    return percent(low > truth + ROUNDING, high < truth - ROUNDING, low >= RELIABLE)
