import numpy as np
import pytest

from agreement_pipeline import Scale
from agreement_pipeline.measures.fleiss import fleiss_kappa
from agreement_pipeline.measures.gwet import gwet_ordinal_alpha
from agreement_pipeline.measures.weighting import IDENTITY, ORDINAL, QUADRATIC, WEIGHTINGS
from agreement_pipeline.statistics import CategoryCounts, LabelsByRater
from tests.forms import FORMS

K = 3
SCALE = Scale((0.0, 1.0, 4.0), "interval")


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


@pytest.mark.parametrize("weighting", [IDENTITY, *WEIGHTINGS.values()])
@pytest.mark.parametrize("seed", range(3))
def test_with_missing_ratings_it_is_the_loop_over_pairs(weighting, seed):
    codes = np.random.default_rng(seed).integers(-1, K, size=(25, 4))
    counts = LabelsByRater(codes, scale=SCALE, raters=tuple("abcd")).counts()
    assert float(fleiss_kappa(counts, weighting).value) == pytest.approx(
        slow(codes.tolist(), weighting.matrix(SCALE)), abs=1e-12
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
