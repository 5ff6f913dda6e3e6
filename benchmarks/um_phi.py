"""Measure the time and memory of Um's φ and of Berry and Mielke's R.

The script prints CPU seconds and peak memory.
The time of a brute-force computation of the definition stands beside them.

`python benchmarks/um_phi.py [--quick]`
"""

import argparse
import time
import tracemalloc
from collections.abc import Callable
from itertools import combinations

import numpy as np

from agreement_pipeline import Scale
from agreement_pipeline.estimates import estimate
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.statistics import NumbersByRater


def made(items: int, raters: int, dimensions: int) -> NumbersByRater:
    rng = np.random.default_rng([items, raters, dimensions])
    values = rng.normal(size=(items, 1, dimensions)) + 0.4 * rng.normal(
        size=(items, raters, dimensions)
    )
    scale = (
        Scale(None, "interval")
        if dimensions == 1
        else Scale(None, "multivariate interval", dimensions=dimensions)
    )
    return NumbersByRater(values, scale=scale, raters=range(raters))


def brute_areas(values: NumbersByRater) -> float:
    """The expected disagreement of φ in two dimensions, over all triangles, apex by apex."""
    table = values.values
    total, count = 0.0, 0
    for panel in combinations(range(table.shape[1]), 3):
        for apex in table[:, panel[0]]:
            u, v = table[:, panel[1]] - apex, table[:, panel[2]] - apex
            total += np.abs(u[:, None, 0] * v[None, :, 1] - u[:, None, 1] * v[None, :, 0]).sum() / 2
        count += len(table) ** 3
    return total / count


def brute_distances(values: NumbersByRater) -> float:
    """The expected disagreement of R, over all pairs of points, point by point."""
    table = values.values
    pairs = list(combinations(range(table.shape[1]), 2))
    return (
        sum(
            np.linalg.norm(table[:, t] - point, axis=1).sum()
            for s, t in pairs
            for point in table[:, s]
        )
        / len(pairs)
        / len(table) ** 2
    )


def timed(function: Callable[[], object]) -> tuple[float, object]:
    start = time.process_time()
    result = function()
    return time.process_time() - start, result


def peak_megabytes(function: Callable[[], object]) -> float:
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return peak


def against_brute_force(
    name: str, brute: Callable[[NumbersByRater], float], sizes: list[int]
) -> None:
    print(
        f"\n{name}, two dimensions, three raters: CPU s, brute force CPU s, ratio, "
        "relative difference of the expected disagreement"
    )
    for items in sizes:
        values = made(items, 3, 2)
        ours, found = timed(lambda values=values: MEASURES[name](values))
        theirs, expected = timed(lambda values=values: brute(values))
        print(
            f"  n = {items:6d}  {ours:9.4f}  {theirs:9.3f}  {theirs / ours:8.1f}  "
            f"{abs(found.expected / expected - 1):.1e}"
        )


def points(name: str, shapes: list[tuple[int, int, int]]) -> None:
    print(f"\n{name}: items, raters, dimensions: CPU s, peak MB, value, Monte Carlo standard error")
    for shape in shapes:
        values = made(*shape)
        seconds, found = timed(lambda values=values: MEASURES[name](values))
        memory = (
            peak_megabytes(lambda values=values: MEASURES[name](values))
            if seconds < 2
            else float("nan")
        )
        error = "exact" if found.monte_carlo_error is None else f"{found.monte_carlo_error:.1e}"
        print(f"  {shape!s:18s} {seconds:9.3f}  {memory:8.1f}  {found.value:.5f}  {error}")


def intervals(shapes: list[tuple[int, int, int]]) -> None:
    print(
        "\nestimates with intervals: CPU s of um_phi and berry_mielke_r (400 draws) "
        "and krippendorff_alpha (10,000 draws)"
    )
    for shape in shapes:
        values = made(*shape)
        seconds = [
            timed(lambda name=name, values=values: estimate(name, values))[0]
            for name in ("um_phi", "berry_mielke_r", "krippendorff_alpha")
        ]
        print(f"  {shape!s:18s} " + "  ".join(f"{each:8.2f}" for each in seconds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only what takes seconds")
    quick = parser.parse_args().quick
    against_brute_force("um_phi", brute_areas, [7, 100, 300] if quick else [7, 100, 300, 1000])
    against_brute_force(
        "berry_mielke_r", brute_distances, [7, 100, 1000] if quick else [7, 100, 1000, 5000]
    )
    points(
        "um_phi",
        [(1000, 3, 1), (1000, 3, 2), (1000, 4, 3)]
        if quick
        else [
            (100_000, 5, 1),
            (1000, 3, 2),
            (5000, 3, 2),
            (1000, 5, 2),
            (20_000, 3, 2),
            (40, 4, 3),
            (5000, 4, 3),
        ],
    )
    points(
        "berry_mielke_r",
        [(1000, 3, 2), (21_000, 3, 2)]
        if quick
        else [(100_000, 5, 1), (5000, 3, 2), (20_000, 3, 2), (21_000, 3, 2), (100_000, 3, 2)],
    )
    intervals(
        [(100, 3, 2)]
        if quick
        else [(100, 3, 2), (500, 3, 2), (1000, 3, 2), (5000, 3, 2), (1000, 4, 3)]
    )


if __name__ == "__main__":
    main()
