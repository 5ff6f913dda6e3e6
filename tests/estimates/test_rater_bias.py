"""How raters use a scale, against other programs, loops, and what simulated raters are."""

import numpy as np
import pytest
from scipy.stats import binomtest, ttest_rel
from statsmodels.stats.anova import AnovaRM
from statsmodels.stats.contingency_tables import SquareTable, mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import DescrStatsW

from agreement_pipeline import Scale
from agreement_pipeline.estimates import (
    limits_of_agreement,
    marginal_homogeneity,
    measurement_error,
    use_of_categories,
)
from agreement_pipeline.statistics import LabelsByRater, NumbersByRater

EXACT = {"rel": 1e-9, "abs": 1e-12}


def labels_of(n_raters=3, n_items=240, missing=0.1, seed=4):
    rng = np.random.default_rng(seed)
    true = np.repeat(rng.integers(0, 4, (n_items, 1)), n_raters, axis=1)
    other = rng.choice(4, true.shape, p=(0.4, 0.3, 0.2, 0.1))
    codes = np.where(rng.random(true.shape) < 0.3, other, true)
    codes[rng.random(codes.shape) < 0.2, ...] %= 3
    codes[rng.random(codes.shape) < missing] = -1
    return LabelsByRater(codes, scale=Scale(tuple("wxyz")), raters="abc"[:n_raters])


def table_of(labels, first, second):
    table = np.zeros((4, 4))
    for row in labels.codes:
        i, j = row["abc".index(first)], row["abc".index(second)]
        if min(i, j) >= 0:
            table[i, j] += 1
    return table


def test_stuart_and_maxwells_test_is_that_of_statsmodels():
    labels = labels_of()
    tests = marginal_homogeneity(labels)
    assert [(test.first, test.second) for test in tests] == [("a", "b"), ("a", "c"), ("b", "c")]
    for test in tests:
        table = table_of(labels, test.first, test.second)
        expected = SquareTable(table, shift_zeros=False).homogeneity("stuart_maxwell")
        assert (test.statistic, test.p) == pytest.approx(
            (expected.statistic, expected.pvalue), **EXACT
        )
        assert (test.df, test.n_items) == (expected.df, table.sum())
    adjusted = multipletests([test.p for test in tests], method="holm")[1]
    assert [test.p_holm for test in tests] == pytest.approx(adjusted.tolist(), **EXACT)


def test_categories_that_never_stand_beside_each_other_count_as_they_are():
    """Two blocks of categories: each is a test of its own, of one degree of freedom."""
    codes = [[0, 1]] * 9 + [[1, 0]] * 3 + [[2, 3]] * 8 + [[3, 2]] * 8 + [[0, 0]] * 5
    labels = LabelsByRater(codes, scale=Scale(tuple("wxyz")), raters="ab")
    (test,) = marginal_homogeneity(labels)
    assert (test.statistic, test.df) == (pytest.approx((9 - 3) ** 2 / 12 + 0, **EXACT), 2)


def test_mcnemars_test_of_each_category_is_that_of_statsmodels():
    labels = labels_of(n_items=300)
    uses = use_of_categories(labels)
    assert len(uses) == 3 * 4
    for use in uses:
        table, k = table_of(labels, use.first, use.second), "wxyz".index(use.category)
        both, first, second = table[k, k], table[k].sum(), table[:, k].sum()
        n = table.sum()
        square = [[both, first - both], [second - both, n - first - second + both]]
        assert use.p == pytest.approx(mcnemar(square, exact=True).pvalue, **EXACT)
        assert use.p == pytest.approx(
            binomtest(use.only_first, use.only_first + use.only_second).pvalue, **EXACT
        )
        assert (use.n_items, use.share_first, use.share_second) == pytest.approx(
            (n, first / n, second / n), **EXACT
        )
        signs = np.repeat(
            [1.0, -1.0, 0.0], [use.only_first, use.only_second, int(n - first - second + 2 * both)]
        )
        assert use.interval == pytest.approx(DescrStatsW(signs).tconfint_mean(0.05), **EXACT)
    adjusted = multipletests([use.p for use in uses], method="holm")[1]
    assert [use.p_holm for use in uses] == pytest.approx(adjusted.tolist(), **EXACT)
    assert [use.p for use in uses] == sorted(use.p for use in uses)


def test_of_raters_who_use_categories_alike_some_are_told_apart_in_at_most_five_of_a_hundred():
    found = [
        any(use.p_holm <= 0.05 for use in use_of_categories(alike))
        for alike in (labels_alike(seed) for seed in range(300))
    ]
    assert np.mean(found) <= 0.05


def labels_alike(seed):
    rng = np.random.default_rng(seed)
    true = np.repeat(rng.integers(0, 3, (120, 1)), 4, axis=1)
    codes = np.where(rng.random(true.shape) < 0.3, rng.integers(0, 3, true.shape), true)
    return LabelsByRater(codes, scale=Scale(tuple("xyz")), raters="abcd")


def test_who_shares_no_item_is_not_compared():
    labels = LabelsByRater([[0, -1], [-1, 1]], scale=Scale(("x", "y")), raters="ab")
    assert (use_of_categories(labels), marginal_homogeneity(labels)) == ((), ())
    alike = LabelsByRater([[0, 0], [1, 1]], scale=Scale(("x", "y")), raters="ab")
    assert marginal_homogeneity(alike) == ()
    assert [use.p for use in use_of_categories(alike)] == [1.0, 1.0]


def numbers_of(n_items=60, n_raters=3, seed=6, bias=0.4, missing=0.0):
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 2, (n_items, 1)) + rng.normal(0, 1, (n_items, n_raters))
    values[:, 0] += bias
    values[rng.random(values.shape) < missing] = np.nan
    return NumbersByRater(values, scale=Scale(None, "interval"), raters="abcd"[:n_raters])


def test_limits_of_agreement_are_those_of_bland_and_altmans_formulas():
    numbers = numbers_of(missing=0.1)
    for pair in limits_of_agreement(numbers, 0.9):
        one, other = (numbers.values[:, "abc".index(name), 0] for name in (pair.first, pair.second))
        both = ~np.isnan(one) & ~np.isnan(other)
        apart = (one - other)[both]
        n, mean, spread = len(apart), apart.mean(), apart.std(ddof=1)
        of_mean = ttest_rel(one[both], other[both]).confidence_interval(0.9)
        assert (pair.n_items, pair.bias, pair.spread) == pytest.approx((n, mean, spread), **EXACT)
        assert pair.bias_interval == pytest.approx((of_mean.low, of_mean.high), **EXACT)
        limit = mean + 1.959963984540054 * spread
        assert (pair.low, pair.high) == pytest.approx((2 * mean - limit, limit), **EXACT)
        # Bland and Altman (1999), section 2.2, with the factor that they round to 1.71 squared
        error = spread * np.sqrt(1 / n + 1.959963984540054**2 / (2 * (n - 1)))
        reach = error * (of_mean.high - mean) / (spread / np.sqrt(n))
        assert pair.high_interval == pytest.approx((limit - reach, limit + reach), **EXACT)


def test_the_standard_error_of_measurement_is_the_root_of_the_mean_square_within_items():
    import pandas as pd

    numbers = numbers_of()
    values = numbers.values[:, :, 0]
    frame = pd.DataFrame(
        [(i, j, x) for i, row in enumerate(values) for j, x in enumerate(row)],
        columns=["item", "rater", "x"],
    )
    of_raters = AnovaRM(frame, "x", "item", within=["rater"]).fit().anova_table.iloc[0]
    between = len(values) * ((values.mean(0) - values.mean()) ** 2).sum()
    residual = between / of_raters["Num DF"] / of_raters["F Value"] * of_raters["Den DF"]
    within = (between + residual) / (of_raters["Num DF"] + of_raters["Den DF"])
    error = measurement_error(numbers)
    assert error.value == pytest.approx(np.sqrt(within), **EXACT)
    assert error.repeatability == pytest.approx(1.959963984540054 * np.sqrt(2 * within), **EXACT)
    assert (error.n_items, error.n_ratings) == (60, 180)


def test_intervals_of_numbers_cover_what_they_should():
    """In 95 of 100 rounds of normal errors, within three standard errors of 600 rounds."""
    covered = np.zeros(4)
    for seed in range(600):
        numbers = numbers_of(n_items=40, seed=(8, seed))
        error, pair = measurement_error(numbers), limits_of_agreement(numbers)[0]
        true_error = np.sqrt(1 + 0.4**2 / 3)
        limits = 0.4 - 1.96 * np.sqrt(2), 0.4 + 1.96 * np.sqrt(2)
        for place, (interval, true) in enumerate(
            (
                (error.interval, true_error),
                (pair.bias_interval, 0.4),
                (pair.low_interval, limits[0]),
                (pair.high_interval, limits[1]),
            )
        ):
            covered[place] += interval.low <= true <= interval.high
    assert (np.abs(covered / 600 - 0.95) <= 3 * np.sqrt(0.95 * 0.05 / 600)).all(), covered


def test_numbers_that_never_differ_have_no_error_and_one_item_has_none_known():
    scale = Scale(None, "interval")
    alike = NumbersByRater([[1, 1], [2, 2], [5, 5]], scale=scale, raters="ab")
    assert measurement_error(alike).value == 0
    single = NumbersByRater([[1, 2], [3, np.nan]], scale=scale, raters="ab")
    assert measurement_error(single) is None
    assert limits_of_agreement(single) == ()
