import numpy as np
import pytest
from statsmodels.stats.inter_rater import fleiss_kappa as theirs

from agreement_pipeline import Scale
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.statistics import CategoryCounts

KRAEMER = MEASURES["kraemer_icc"]
SCALE = Scale(("no", "yes"))


@pytest.mark.parametrize("seed", range(3))
def test_with_equal_numbers_of_ratings_it_is_the_fleiss_kappa_of_statsmodels(seed):
    yes = np.random.default_rng(seed).binomial(
        5, np.random.default_rng(seed + 9).beta(1, 1, size=30)
    )
    rows = np.column_stack([5 - yes, yes])
    assert float(KRAEMER(CategoryCounts(rows, scale=SCALE)).value) == pytest.approx(
        theirs(rows), abs=1e-12
    )


def test_with_unequal_numbers_it_is_one_less_variance_within_items_over_that_of_a_rating():
    rows = [(2, 0), (1, 3), (0, 5), (1, 1), (4, 1), (1, 0)]
    items = [[0] * no + [1] * yes for no, yes in rows]
    p = np.mean([label for item in items for label in item])
    within = sum(np.var(item) * len(item) for item in items) / sum(len(item) - 1 for item in items)
    assert float(KRAEMER(CategoryCounts(rows, scale=SCALE)).value) == pytest.approx(
        1 - within / (p * (1 - p)), abs=1e-12
    )


def test_three_categories_are_refused():
    counts = CategoryCounts([[2, 1, 0]], scale=Scale(tuple("abc")))
    assert np.isnan(KRAEMER(counts).value)
    assert KRAEMER.why_undefined(counts) == "the scale does not have exactly two categories"
