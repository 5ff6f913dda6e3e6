from itertools import combinations

import numpy as np
import pytest

from agreement_pipeline import MEASURES, RatingValues, Scale

lin_ccc = MEASURES["lin_ccc"]


def numbers(table, weights=None):
    return RatingValues(
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


def test_whole_weights_repeat_items():
    rng = np.random.default_rng(3)
    table, weights = rng.normal(size=(9, 3)), rng.integers(1, 4, (4, 9))
    repeated = [float(lin_ccc(numbers(np.repeat(table, row, axis=0))).value) for row in weights]
    assert lin_ccc(numbers(table, weights)).value == pytest.approx(repeated)


def test_a_shift_counts_as_disagreement():
    table = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    assert lin_ccc(numbers(table)).value == pytest.approx(1)
    assert lin_ccc(numbers(np.add(table, [0, 1]))).value == pytest.approx(4 / 7)
    assert lin_ccc(numbers(table * [1, -1])).value < 0


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
