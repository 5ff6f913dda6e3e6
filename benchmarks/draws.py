"""Measure the time of 10,000 resamples of all headline measures, for a million items.

There are five raters, a classifier and five categories. The script prints wall and CPU seconds.

`python benchmarks/draws.py [--items N] [--missing SHARE]` runs in one process.
A measure that needs to know who gave which rating has many rows, and then fewer resamples.
For comparison, the script times a bootstrap of alpha that resamples items one by one,
from the counts of each item. It times a few such resamples and scales the time up.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np

from agreement_pipeline import Scale
from agreement_pipeline.estimates import estimate_each
from agreement_pipeline.intervals import Inference, points_of
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.statistics import CategoryCounts, LabelsByRater

RATERS, CATEGORIES, CLEAR = 5, 5, 0.64
HEADLINES = (
    ("krippendorff_alpha", "fleiss_kappa", "gwet_ac1", "percent_agreement"),
    ("shah_kappa_s",),
    ("vanbelle_albert_kappa",),
    ("shah_s",),
)
ONE_BY_ONE = 5


def codes(items: int, missing: float) -> np.ndarray:
    """The codes of five raters and a classifier, which is the last column.

    All raters know a clear item and guess the others. Some ratings of the raters are missing.
    """
    rng = np.random.default_rng(0)
    truth = rng.integers(CATEGORIES, size=(items, 1))
    given = np.where(
        rng.random((items, 1)) < CLEAR, truth, rng.integers(CATEGORIES, size=(items, RATERS + 1))
    )
    return np.where(
        (rng.random(given.shape) < missing) & (np.arange(RATERS + 1) < RATERS), -1, given
    )


def timed(function: Callable[[], object]) -> tuple[np.ndarray, object]:
    """Wall and CPU seconds, and the result."""
    start = np.array([time.perf_counter(), time.process_time()])
    found = function()
    return np.array([time.perf_counter(), time.process_time()]) - start, found


def one_by_one(counts: CategoryCounts) -> np.ndarray:
    """Seconds for `N_RESAMPLES` resamples of alpha that draw items one by one."""
    rng, items = (
        np.random.default_rng(1),
        np.repeat(counts.counts, counts.weights.astype(int), axis=0),
    )

    def draw() -> None:
        MEASURES["krippendorff_alpha"](
            CategoryCounts(items[rng.integers(len(items), size=len(items))], scale=counts.scale)
        )

    return (
        timed(lambda: [draw() for _ in range(ONE_BY_ONE)])[0] / ONE_BY_ONE * Inference.n_resamples
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--missing", type=float, default=0.1)
    options = parser.parse_args()
    given = codes(options.items, options.missing)
    scale, names = Scale(tuple("abcde")), tuple("12345")
    seconds, joint = timed(
        lambda: LabelsByRater(given, scale=scale, raters=(*names, "model")).merged()
    )
    print(f"making items distinct: {shown(seconds)}, {len(joint.codes)} rows with the classifier")
    patterns = joint.only(names).merged()
    statistics = {
        "counts": patterns.counts().merged(),
        "patterns": patterns,
        "panel": joint.only(names).with_classifier(joint.codes[:, -1], "model"),
    }
    total = np.zeros(2)
    for measures in HEADLINES:
        record = MEASURES[measures[0]]
        seconds, found = timed(
            lambda measures=measures, statistic=statistics[record.needs]: estimate_each(
                measures, statistic
            )
        )
        total += seconds
        rows = points_of([record], statistics[record.needs])[0].basis.weights.shape[-1]
        values = ", ".join(f"{each.measure} {each.value:.4f}" for each in found)
        print(f"{rows:6d} rows  {len(found[0].draws):6d} draws  {shown(seconds)}: {values}")
    print(f"all headline measures: {shown(total)}")
    print(
        f"alpha alone, items drawn one by one: {shown(one_by_one(statistics['counts']))} "
        f"({ONE_BY_ONE} draws, scaled up)"
    )


def shown(seconds: np.ndarray) -> str:
    return f"{seconds[0]:.2f} s ({seconds[1]:.2f} CPU)"


if __name__ == "__main__":
    main()
