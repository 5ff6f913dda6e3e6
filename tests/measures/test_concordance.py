from itertools import combinations

import numpy as np
import pytest

from agreement_pipeline import Scale
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.statistics import NumbersByRater

lin_ccc = MEASURES["lin_ccc"]


def numbers(table, weights=None):
    return NumbersByRater(
        table, weights, scale=Scale(None, "interval"), raters=range(np.shape(table)[1])
    )


def slow_pair(x, y):
    """Lin's equation for two raters: numerator and denominator, moments divided by n."""
    n = len(x)
    mean_x, mean_y = sum(x) / n, sum(y) / n
    covariance = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / n
    variances = sum((a - mean_x) ** 2 for a in x) / n + sum((b - mean_y) ** 2 for b in y) / n
    return 2 * covariance, variances + (mean_x - mean_y) ** 2


@pytest.mark.parametrize("raters", [2, 3, 5])
def test_the_coefficient_pools_the_pairs_of_raters(raters):
    rng = np.random.default_rng(raters)
    table = rng.normal(size=(10, 1)) + 0.3 * rng.normal(size=raters) + rng.normal(size=(10, raters))
    pairs = [slow_pair(table[:, s], table[:, t]) for s, t in combinations(range(raters), 2)]
    assert lin_ccc(numbers(table)).value == pytest.approx(
        sum(a for a, _ in pairs) / sum(b for _, b in pairs), rel=1e-12
    )


def test_observed_and_expected_are_mean_squared_differences():
    table = np.array([[1.0, 2.5], [4.0, 3.0], [2.0, 2.0]])
    found = lin_ccc(numbers(table))
    assert found.observed == pytest.approx(np.mean((table[:, 0] - table[:, 1]) ** 2))
    assert found.expected == pytest.approx(np.mean((table[:, :1] - table[:, 1]) ** 2))


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ([[2, 2], [2, 2]], "every rating of the items that every rater rated is the same"),
        ([[2, 2], [5, np.nan]], "every rating of the items that every rater rated is the same"),
        ([[2, np.nan], [np.nan, 3]], "no item was rated by every rater"),
        ([[2], [3]], "there is only one rater"),
    ],
)
def test_it_is_undefined_for_a_reason_exactly_where_it_has_no_value(table, reason):
    assert lin_ccc.why_undefined(numbers(table)).startswith(reason)
    assert np.isnan(lin_ccc(numbers(table)).value)
    assert lin_ccc.why_undefined(numbers([[2, 2], [2, 3]])) is None
