import numpy as np
import pytest
from statsmodels.stats.inter_rater import fleiss_kappa as theirs

from agreement_pipeline import Scale
from agreement_pipeline.measures.fleiss import fleiss_kappa
from agreement_pipeline.measures.gwet import gwet_ordinal_alpha
from agreement_pipeline.measures.weighting import IDENTITY, ORDINAL, QUADRATIC, WEIGHTINGS
from agreement_pipeline.statistics import CategoryCounts, LabelsByRater
from tests.forms import FORMS

K = 3
SCALE = Scale((0.0, 1.0, 4.0), "interval")
RAW_4_RATERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 0],
    [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 3],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
]
ABSTRACTORS = [[13, 0, 0], [0, 20, 7], [0, 4, 56]]


def raw_4_raters():
    codes = np.array(RAW_4_RATERS).T - 1
    return LabelsByRater(
        codes, scale=Scale(tuple(range(1, 6)), "interval"), raters=("a", "b", "c", "d")
    )


def abstractors():
    codes = [(a, b) for a in range(3) for b in range(3)]
    return LabelsByRater(
        codes, np.ravel(ABSTRACTORS), scale=Scale((1, 2, 3), "interval"), raters=("a", "b")
    )


def slow(rows, w):
    """Gwet's convention as loops over pairs and items."""
    agreed, shares = [], []
    for row in rows:
        labels = [k for k in row if k >= 0]
        pairs = [w[a][b] for i, a in enumerate(labels) for j, b in enumerate(labels) if i != j]
        agreed += [sum(pairs) / len(pairs)] if pairs else []
        shares += [[labels.count(k) / len(labels) for k in range(K)]] if labels else []
    pi = np.mean(shares, axis=0)
    expected = sum(w[a][b] * pi[a] * pi[b] for a in range(K) for b in range(K))
    return (np.mean(agreed) - expected) / (1 - expected)


@pytest.mark.parametrize("seed", range(5))
def test_on_complete_ratings_it_is_what_statsmodels_computes(seed):
    rows = np.random.default_rng(seed).multinomial(5, [0.5, 0.3, 0.2], size=30)
    ours = float(FORMS["fleiss_kappa"](CategoryCounts(rows, scale=Scale(tuple("abc")))).value)
    assert ours == pytest.approx(theirs(rows), abs=1e-12)


@pytest.mark.parametrize("weighting", [IDENTITY, *WEIGHTINGS.values()])
@pytest.mark.parametrize("seed", range(3))
def test_with_missing_ratings_it_is_the_loop_over_pairs(weighting, seed):
    codes = np.random.default_rng(seed).integers(-1, K, size=(25, 4))
    counts = LabelsByRater(codes, scale=SCALE, raters=tuple("abcd")).counts()
    assert float(fleiss_kappa(counts, weighting).value) == pytest.approx(
        slow(codes.tolist(), weighting.matrix(SCALE)), abs=1e-12
    )


def test_the_quadratic_form_is_what_irrcac_prints():
    found = FORMS["fleiss_kappa_quadratic"](raw_4_raters().counts())
    assert float(found.value) == pytest.approx(0.86494, abs=5e-6)
    assert float(found.observed) == pytest.approx(0.9753788, abs=5e-8)
    assert float(found.expected) == pytest.approx(0.8177083, abs=5e-8)


def test_of_two_raters_the_quadratic_form_is_the_weighted_scotts_pi_that_irrcac_prints():
    assert float(FORMS["fleiss_kappa_quadratic"](abstractors().counts()).value) == pytest.approx(
        0.8921093, abs=5e-8
    )


@pytest.mark.parametrize("seed", range(3))
def test_scotts_pi_is_fleiss_of_two_raters_missing_ratings_or_not(seed):
    codes = np.random.default_rng(seed).integers(-1, K, size=(25, 2))
    patterns = LabelsByRater(codes, scale=Scale(tuple("abc")), raters=("a", "b"))
    assert float(FORMS["scott_pi"](patterns).value) == pytest.approx(
        slow(codes.tolist(), np.eye(K)), abs=1e-12
    )


@pytest.mark.parametrize(
    ("weighting", "alpha"),
    [(QUADRATIC, FORMS["krippendorff_alpha"]), (ORDINAL, gwet_ordinal_alpha)],
)
def test_on_complete_ratings_alpha_is_kappa_drawn_to_1_by_one_part_in_all_ratings(weighting, alpha):
    rows = np.random.default_rng(4).multinomial(5, [0.5, 0.3, 0.2], size=12)
    counts = CategoryCounts(rows, scale=SCALE)
    kappa = float(fleiss_kappa(counts, weighting).value)
    assert float(alpha(counts).value) == pytest.approx(kappa + (1 - kappa) / (5 * 12), abs=1e-12)
