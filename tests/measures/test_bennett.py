import numpy as np
import pytest
from statsmodels.stats.inter_rater import fleiss_kappa as theirs

from agreement_pipeline import Scale
from agreement_pipeline.measures.bennett import bennett_s
from agreement_pipeline.measures.weighting import IDENTITY, WEIGHTINGS
from agreement_pipeline.statistics import CategoryCounts, LabelsByRater
from tests.forms import FORMS

K = 4
SCALE = Scale((0.0, 1.0, 2.0, 5.0), "ratio")


@pytest.mark.parametrize("seed", range(3))
def test_on_complete_ratings_it_is_the_free_marginal_kappa_of_statsmodels(seed):
    rows = np.random.default_rng(seed).multinomial(4, [0.5, 0.3, 0.2], size=30)
    for name in ("bennett_s", "brennan_prediger"):
        ours = FORMS[name](CategoryCounts(rows, scale=Scale(tuple("abc"))))
        assert float(ours.value) == pytest.approx(theirs(rows, method="randolph"), abs=1e-12)


@pytest.mark.parametrize("weighting", [IDENTITY, *WEIGHTINGS.values()])
def test_with_missing_ratings_it_is_the_loop_over_pairs(weighting):
    codes = np.random.default_rng(4).integers(-1, K, size=(25, 3))
    w = weighting.matrix(SCALE)
    agreed = []
    for row in codes.tolist():
        labels = [k for k in row if k >= 0]
        pairs = [w[a][b] for i, a in enumerate(labels) for j, b in enumerate(labels) if i != j]
        agreed += [sum(pairs) / len(pairs)] if pairs else []
    expected = sum(w[a][b] for a in range(K) for b in range(K)) / K**2
    counts = LabelsByRater(codes, scale=SCALE, raters=tuple("abc")).counts()
    assert float(bennett_s(counts, weighting).value) == pytest.approx(
        (np.mean(agreed) - expected) / (1 - expected), abs=1e-12
    )


def test_without_weights_it_is_never_less_than_the_value_of_two_categories_never_agreed_on():
    never = CategoryCounts([[1, 1]], [9], scale=Scale(("no", "yes")))
    assert float(FORMS["bennett_s"](never).value) == -1
    assert FORMS["bennett_s"].bounds == FORMS["brennan_prediger"].bounds == (-1, 1)
    assert FORMS["brennan_prediger_quadratic"].bounds == (-np.inf, 1)
    assert (
        float(
            FORMS["brennan_prediger_quadratic"](
                CategoryCounts([[1, 0, 1]], [9], scale=Scale(("a", "b", "c"), "ordinal"))
            ).value
        )
        < -1
    )
