"""Measure the time and memory of Krippendorff's alpha on distinct numbers.

The script prints CPU seconds and peak memory above the input.
For sizes that the package krippendorff survives, its figures stand beside ours.

`python benchmarks/alpha_of_numbers.py [--quick]`
"""

import argparse
import time
import tracemalloc
from collections.abc import Callable

import krippendorff
import numpy as np

from agreement_pipeline import Scale
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.statistics import NumbersByRater

LEVELS = ("interval", "ordinal", "ratio")


def made(items: int, raters: int) -> np.ndarray:
    rng = np.random.default_rng([items, raters])
    return np.exp(rng.normal(size=(items, 1)) + rng.normal(size=(items, raters)) / 2)


def ours(table: np.ndarray, level: str) -> Callable[[], float]:
    """Alpha from a new statistic each time, because sorting its numbers is part of the cost."""
    raters = range(table.shape[1])
    return lambda: float(
        MEASURES["krippendorff_alpha"](
            NumbersByRater(table, scale=Scale(None, level), raters=raters)
        ).value
    )


def theirs(table: np.ndarray, level: str) -> Callable[[], float]:
    by_rater = np.ascontiguousarray(table.T)
    return lambda: krippendorff.alpha(by_rater, level_of_measurement=level)


def costs(function: Callable[[], float]) -> tuple[float, float, float]:
    """CPU seconds, additional peak megabytes, and the value."""
    start = time.process_time()
    value = function()
    seconds = time.process_time() - start
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return seconds, peak, value


def beside_the_peer(sizes: list[tuple[int, int]]) -> None:
    print(
        "items, raters, level: ours CPU s, peak MB; krippendorff CPU s, peak MB; "
        "difference of the values"
    )
    for items, raters in sizes:
        for level in LEVELS:
            table = made(items, raters)
            (s, mb, value), (peer_s, peer_mb, peer_value) = (
                costs(ours(table, level)),
                costs(theirs(table, level)),
            )
            print(
                f"  {items:7d} {raters}  {level:9s} {s:8.4f} {mb:9.3f}   "
                f"{peer_s:8.3f} {peer_mb:9.1f}   {abs(value - peer_value):.0e}"
            )


def alone(items: int, raters: int) -> None:
    print(
        f"\n{items} items by {raters} raters, an input of {items * raters * 8 / 1e6:.0f} MB: "
        "CPU s, peak MB above it"
    )
    for level in LEVELS:
        s, mb, _ = costs(ours(made(items, raters), level))
        print(f"  {level:9s} {s:8.3f} {mb:9.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only what takes seconds")
    quick = parser.parse_args().quick
    beside_the_peer([(25, 2), (50, 2)] if quick else [(25, 2), (50, 2), (100, 2), (200, 2)])
    alone(10_000 if quick else 100_000, 5)


if __name__ == "__main__":
    main()
