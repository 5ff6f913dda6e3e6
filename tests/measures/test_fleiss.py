"""Coefficients of counted ratings against statsmodels and Gwet's formulas as loops."""

import numpy as np
import pytest
from statsmodels.stats.inter_rater import fleiss_kappa as of_statsmodels

from agreement_pipeline.measures import MEASURES
from agreement_pipeline.measures.bennett import bennett_s
from agreement_pipeline.measures.fleiss import fleiss_kappa
from agreement_pipeline.measures.gwet import gwet_ac2, gwet_ordinal_alpha
from agreement_pipeline.measures.weighting import IDENTITY, ORDINAL, QUADRATIC, WEIGHTINGS
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import CategoryCounts, LabelsByRater
from tests.measures.loops import slow_agreement, slow_prevalence

K = 4
SCALE = Scale((0.0, 1.0, 4.0, 5.0), "ratio")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("name", "method"), [("fleiss_kappa", "fleiss"), ("bennett_s", "randolph")]
)
def test_on_complete_ratings_they_are_what_statsmodels_computes(name, method, seed):
    rows = np.random.default_rng(seed).multinomial(5, [0.5, 0.3, 0.2], size=30)
    ours = MEASURES[name](CategoryCounts(rows, scale=Scale(tuple("abc")))).value
    assert ours == pytest.approx(of_statsmodels(rows, method=method), abs=1e-12)


CHANCE = {
    fleiss_kappa: lambda w, pi: pi @ w @ pi,
    gwet_ac2: lambda w, pi: w.sum() / (K * (K - 1)) * (pi * (1 - pi)).sum(),
    bennett_s: lambda w, _: w.mean(),
}


@pytest.mark.parametrize("weighting", [IDENTITY, *WEIGHTINGS.values()], ids=lambda each: each.title)
@pytest.mark.parametrize("measure", CHANCE, ids=lambda each: each.__name__)
def test_with_missing_ratings_they_are_gwets_formulas_as_loops(measure, weighting):
    codes = np.random.default_rng(1).integers(-1, K, size=(25, 4))
    w = weighting.weight_matrix(SCALE)
    p_o = slow_agreement(codes.tolist(), w)
    p_e = CHANCE[measure](w, slow_prevalence(codes.tolist(), K))
    found = measure(LabelsByRater(codes, scale=SCALE, raters="abcd").counts(), weighting)
    assert (found.observed, found.expected) == pytest.approx((p_o, p_e), abs=1e-12)
    assert found.value == pytest.approx((p_o - p_e) / (1 - p_e), abs=1e-12)


def test_percent_agreement_is_the_mean_over_items_of_pairs_that_agree():
    codes = np.random.default_rng(2).integers(-1, 3, size=(25, 4))
    counts = LabelsByRater(codes, scale=Scale(tuple("abc")), raters="abcd").counts()
    assert MEASURES["percent_agreement"](counts).value == pytest.approx(
        slow_agreement(codes.tolist(), np.eye(3)), abs=1e-12
    )


@pytest.mark.parametrize("seed", range(3))
def test_scotts_pi_is_fleiss_of_two_raters_missing_ratings_or_not(seed):
    codes = np.random.default_rng(seed).integers(-1, 3, size=(25, 2))
    patterns = LabelsByRater(codes, scale=Scale(tuple("abc")), raters="ab")
    p_e = (slow_prevalence(codes.tolist(), 3) ** 2).sum()
    assert MEASURES["scott_pi"](patterns).value == pytest.approx(
        (slow_agreement(codes.tolist(), np.eye(3)) - p_e) / (1 - p_e), abs=1e-12
    )


@pytest.mark.parametrize(
    ("weighting", "alpha"),
    [(QUADRATIC, MEASURES["krippendorff_alpha"]), (ORDINAL, gwet_ordinal_alpha)],
)
def test_on_complete_ratings_alpha_is_kappa_drawn_to_1_by_one_part_in_all_ratings(weighting, alpha):
    rows = np.random.default_rng(4).multinomial(5, [0.5, 0.3, 0.2], size=12)
    counts = CategoryCounts(rows, scale=Scale((0.0, 1.0, 4.0), "interval"))
    kappa = float(fleiss_kappa(counts, weighting).value)
    assert float(alpha(counts).value) == pytest.approx(kappa + (1 - kappa) / (5 * 12), abs=1e-12)


def test_with_missing_ratings_fleiss_kappa_can_fall_far_under_minus_one():
    # One pair, which disagrees, and 98 single ratings of one category: pi = (98.5 / 99, 0.5 / 99).
    counts = CategoryCounts([[1, 1], [1, 0]], [1, 98], scale=Scale(("no", "yes")))
    p_e = (98.5 / 99) ** 2 + (0.5 / 99) ** 2
    assert MEASURES["fleiss_kappa"](counts).value == pytest.approx(-p_e / (1 - p_e))
    assert MEASURES["fleiss_kappa"](counts).value < -90
    assert MEASURES["fleiss_kappa"].bounds[0] == -np.inf
