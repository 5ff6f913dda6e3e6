"""Fleiss' kappa, percent agreement and AC1 against statsmodels and Gwet's formulas as loops."""

from itertools import permutations

import numpy as np
import pytest
from statsmodels.stats.inter_rater import fleiss_kappa as of_statsmodels

from agreement_pipeline.measures import MEASURES
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import CategoryCounts

ABC = Scale(("a", "b", "c"))


def drawn(seed, missing):
    rng = np.random.default_rng(seed)
    codes = np.where(
        rng.random((30, 4)) < 0.6, rng.integers(3, size=(30, 1)), rng.integers(3, size=(30, 4))
    )
    return np.where(rng.random(codes.shape) < missing, -1, codes)


def counted(codes):
    return CategoryCounts([[np.sum(row == k) for k in range(3)] for row in codes], scale=ABC)


def gwets_parts(codes):
    """Observed agreement over items with two ratings or more; prevalence over all rated items."""
    agreement, shares = [], []
    for row in codes:
        given = [k for k in row if k >= 0]
        if given:
            shares.append([given.count(k) / len(given) for k in range(3)])
        if len(given) >= 2:
            agreement.append(np.mean([a == b for a, b in permutations(given, 2)]))
    return np.mean(agreement), np.mean(shares, axis=0)


@pytest.mark.parametrize("seed", range(5))
def test_fleiss_kappa_on_complete_ratings_is_that_of_statsmodels(seed):
    counts = counted(drawn(seed, 0.0))
    assert MEASURES["fleiss_kappa"](counts).value == pytest.approx(
        of_statsmodels(counts.counts.astype(int)), abs=1e-12
    )


@pytest.mark.parametrize("seed", range(5))
def test_coefficients_with_missing_ratings_are_gwets_formulas_as_loops(seed):
    codes = drawn(seed, 0.4)
    p_o, pi = gwets_parts(codes)
    by_name = {"fleiss_kappa": (pi**2).sum(), "gwet_ac1": (pi * (1 - pi)).sum() / 2}
    for name, p_e in by_name.items():
        found = MEASURES[name](counted(codes))
        assert (found.observed, found.expected) == pytest.approx((p_o, p_e), abs=1e-12)
        assert found.value == pytest.approx((p_o - p_e) / (1 - p_e), abs=1e-12)
    assert MEASURES["percent_agreement"](counted(codes)).value == pytest.approx(p_o, abs=1e-12)


def test_with_missing_ratings_fleiss_kappa_can_fall_far_under_minus_one():
    # One pair, which disagrees, and 98 single ratings of one category: pi = (98.5 / 99, 0.5 / 99).
    counts = CategoryCounts([[1, 1], [1, 0]], [1, 98], scale=Scale(("no", "yes")))
    p_e = (98.5 / 99) ** 2 + (0.5 / 99) ** 2
    assert MEASURES["fleiss_kappa"](counts).value == pytest.approx(-p_e / (1 - p_e))
    assert MEASURES["fleiss_kappa"](counts).value < -90
    assert MEASURES["fleiss_kappa"].bounds[0] == -np.inf
