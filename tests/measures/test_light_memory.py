import tracemalloc
from itertools import combinations

import numpy as np
import pytest

from agreement_pipeline import Scale
from agreement_pipeline.estimates import estimate
from agreement_pipeline.measures import MEASURES, cohen
from agreement_pipeline.statistics import LabelsByRater


def crowd(n_items, n_raters, each):
    rng = np.random.default_rng(9)
    codes = np.full((n_items, n_raters), -1)
    for row in codes:
        row[rng.choice(n_raters, each, replace=False)] = rng.integers(0, 2, each)
    return LabelsByRater(
        codes, scale=Scale(("no", "yes")), raters=[f"r{j}" for j in range(n_raters)]
    )


def peak_of(work):
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_crowd_of_two_hundred_raters_takes_less_than_a_hundred_megabytes():
    patterns = crowd(5000, 200, 3)
    assert peak_of(lambda: MEASURES["light_kappa"](patterns)) < 100e6
    assert peak_of(lambda: estimate("light_kappa", crowd(5000, 200, 3))) < 100e6


@pytest.mark.parametrize("cells", [1, 40, 10**9])
def test_pairs_taken_in_blocks_have_the_mean_of_all_pairs(monkeypatch, cells):
    monkeypatch.setattr(cohen, "CELLS_PER_BLOCK", cells)
    patterns = crowd(60, 6, 5)
    pairs = [
        float(MEASURES["cohen_kappa"](patterns.select_raters(pair)).value)
        for pair in combinations(patterns.raters, 2)
    ]
    assert float(MEASURES["light_kappa"](patterns).value) == pytest.approx(
        np.mean(pairs), abs=1e-12
    )
