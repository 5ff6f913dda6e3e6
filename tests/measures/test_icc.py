import json
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from agreement_pipeline import MEASURES, RatingValues, Scale

SHARED = Path(__file__).parents[3] / "shared" / "data" / "reference_vectors.json"
needs_data = pytest.mark.skipif(not SHARED.exists(), reason="the shared data are not here")
FORMS = ["icc_1_1", "icc_1_k", "icc_2_1", "icc_2_k", "icc_3_1", "icc_3_k"]
SHROUT_FLEISS_TABLE_2 = [
    [9, 2, 5, 8],
    [6, 1, 3, 2],
    [8, 4, 6, 8],
    [7, 1, 2, 6],
    [10, 5, 6, 9],
    [6, 2, 4, 7],
]


def numbers(table, weights=None):
    return RatingValues(
        table, weights, scale=Scale(None, "interval"), raters=range(np.shape(table)[1])
    )


def icc(form, table, weights=None):
    return MEASURES[form](numbers(table, weights)).value


def exact_one_way(table):
    """The one-way analysis of variance in fractions, rating by rating; k is Donner's n_0.

    None if there are too few items or ratings.
    """
    items = [[Fraction(x) for x in row if not np.isnan(x)] for row in table]
    items = [row for row in items if len(row) >= 2]
    n, every = len(items), [x for row in items for x in row]
    if n < 2 or len(every) == n:
        return None
    mean = sum(every) / len(every)
    bms = sum(len(row) * (sum(row) / len(row) - mean) ** 2 for row in items) / (n - 1)
    wms = sum((x - sum(row) / len(row)) ** 2 for row in items for x in row) / (len(every) - n)
    k = (len(every) - Fraction(sum(len(row) ** 2 for row in items), len(every))) / (n - 1)
    return bms, wms, k


def exact_two_way(table):
    rows = [[Fraction(x) for x in row] for row in table if not np.isnan(row).any()]
    n, k = len(rows), np.shape(table)[1]
    if n < 2:
        return None
    items, raters = (
        [sum(row) / k for row in rows],
        [sum(column) / n for column in zip(*rows, strict=True)],
    )
    mean = sum(items) / n
    bms = k * sum((item - mean) ** 2 for item in items) / (n - 1)
    jms = n * sum((rater - mean) ** 2 for rater in raters) / (k - 1)
    ems = sum(
        (rows[i][j] - items[i] - raters[j] + mean) ** 2 for i in range(n) for j in range(k)
    ) / ((n - 1) * (k - 1))
    return bms, jms, ems, n, k


def exact_icc(form, table):
    """None if there are too few items or the total variance is not positive."""
    parts = exact_one_way(table) if form.startswith("icc_1") else exact_two_way(table)
    if parts is None:
        return None
    if form.startswith("icc_1"):
        bms, rest, k = parts
        below = bms + (k - 1) * rest if form == "icc_1_1" else bms
    else:
        bms, jms, rest, n, k = parts
        below = {
            "icc_2_1": bms + (k - 1) * rest + k * (jms - rest) / n,
            "icc_2_k": bms + (jms - rest) / n,
            "icc_3_1": bms + (k - 1) * rest,
            "icc_3_k": bms,
        }[form]
    return (bms - rest) / below if below > 0 else None


@pytest.mark.parametrize(
    ("form", "printed"), list(zip(FORMS, [0.17, 0.44, 0.29, 0.62, 0.71, 0.91], strict=True))
)
def test_the_six_forms_of_shrout_and_fleiss_1979(form, printed):
    assert icc(form, SHROUT_FLEISS_TABLE_2) == pytest.approx(printed, abs=0.005)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("missing", [0, 0.25])
def test_each_form_is_that_of_the_analysis_of_variance(form, missing):
    rng = np.random.default_rng(1)
    table = rng.normal(size=(15, 1)) + rng.normal(size=4) + rng.normal(size=(15, 4))
    table[rng.random(table.shape) < missing] = np.nan
    assert icc(form, table) == pytest.approx(float(exact_icc(form, table)), rel=1e-12)


def test_each_form_is_that_of_pingouin():
    with warnings.catch_warnings(action="ignore"):
        pingouin = pytest.importorskip("pingouin")
    rng = np.random.default_rng(2)
    table = rng.normal(size=(12, 1)) + rng.normal(size=3) + rng.normal(size=(12, 3))
    long = pd.DataFrame(
        [(i, j, table[i, j]) for i in range(12) for j in range(3)],
        columns=["item", "rater", "label"],
    )
    with warnings.catch_warnings(action="ignore"):
        theirs = pingouin.intraclass_corr(long, targets="item", raters="rater", ratings="label")[
            "ICC"
        ]
    ours = [
        float(icc(form, table))
        for form in ("icc_1_1", "icc_2_1", "icc_3_1", "icc_1_k", "icc_2_k", "icc_3_k")
    ]
    assert ours == pytest.approx(list(theirs), rel=1e-9)


def published(case):
    return next(each for each in json.loads(SHARED.read_text())["cases"] if each["id"] == case)


@needs_data
@pytest.mark.parametrize(
    ("case", "form"),
    [
        ("pingouin_wine_ICC11", "icc_1_1"),
        ("pingouin_wine_ICC1k", "icc_1_k"),
        ("pingouin_wine_ICCA1", "icc_2_1"),
        ("pingouin_wine_ICCC1", "icc_3_1"),
        ("shrout_fleiss_ICCA1", "icc_2_1"),
    ],
)
def test_the_published_reference_values(case, form):
    found = published(case)
    assert icc(form, np.array(found["data"]["values"]).T) == pytest.approx(
        found["expected"], abs=found["tolerance"]
    )


@needs_data
@pytest.mark.parametrize(("form", "value"), [("icc_2_k", 0.914450), ("icc_3_k", 0.915159)])
def test_the_averages_on_the_wine_data_are_those_of_the_analysis_of_variance_of_statsmodels(
    form, value
):
    table = np.array(published("pingouin_wine_ICCA1")["data"]["values"], dtype=float).T
    items, raters = np.indices(table.shape)
    long = pd.DataFrame({"rating": table.ravel(), "item": items.ravel(), "rater": raters.ravel()})
    squares = anova_lm(ols("rating ~ C(item) + C(rater)", long).fit())["mean_sq"]
    bms, jms, ems = squares["C(item)"], squares["C(rater)"], squares["Residual"]
    theirs = (bms - ems) / (bms + (jms - ems) / len(table) if form == "icc_2_k" else bms)
    assert theirs == pytest.approx(value, abs=5e-7)
    assert icc(form, table) == pytest.approx(theirs, rel=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_whole_weights_repeat_items(form):
    rng = np.random.default_rng(3)
    table, weights = rng.normal(size=(9, 1)) + rng.normal(size=(9, 3)), rng.integers(0, 4, (4, 9))
    table[0, 0] = np.nan
    repeated = [float(icc(form, np.repeat(table, row, axis=0))) for row in weights]
    assert icc(form, table, weights) == pytest.approx(repeated, rel=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_no_form_depends_on_the_unit_or_the_origin(form):
    table = np.array(SHROUT_FLEISS_TABLE_2)
    for moved in (1e-9 * table, 1e6 + table, -3 * table):
        assert icc(form, moved) == pytest.approx(icc(form, table), rel=1e-9)


@pytest.mark.parametrize("shift", [50, 1e5, 1e7, 1e10])
def test_consistency_does_not_see_what_a_rater_adds_to_all_ratings(shift):
    table = np.array(SHROUT_FLEISS_TABLE_2, dtype=float)
    moved = np.add(table, [0, 0, 0, shift])
    for form in ("icc_3_1", "icc_3_k"):
        assert icc(form, moved) == pytest.approx(icc(form, table), rel=1e-9)
        assert MEASURES[form].why_undefined(numbers(moved)) is None
    assert icc("icc_2_1", moved) < icc("icc_2_1", table) / 5


@pytest.mark.parametrize("form", FORMS[2:])
@pytest.mark.parametrize("shift", [50, 1e5, 1e7, 1e10])
def test_the_two_way_forms_are_exact_whatever_a_rater_adds(form, shift):
    moved = np.add(SHROUT_FLEISS_TABLE_2, [0, shift, 0, -3 * shift])
    assert icc(form, moved) == pytest.approx(float(exact_icc(form, moved)), rel=1e-9)


def test_the_averages_are_the_single_forms_stepped_up():
    for single, average in (("icc_1_1", "icc_1_k"), ("icc_2_1", "icc_2_k"), ("icc_3_1", "icc_3_k")):
        one = icc(single, SHROUT_FLEISS_TABLE_2)
        assert icc(average, SHROUT_FLEISS_TABLE_2) == pytest.approx(
            4 * one / (1 + 3 * one), rel=1e-12
        )


def test_observed_is_what_of_the_expected_variance_is_not_between_items():
    for form in FORMS:
        found = MEASURES[form](numbers(SHROUT_FLEISS_TABLE_2))
        assert found.value == pytest.approx(1 - found.observed / found.expected)


NAN = np.nan
SAME = [[4, 4], [4, 4], [4, 4]]
RATERS_APART = [[1, 2], [1, 2], [1, 2]]
CROSSED = [[1, 2], [2, 1]]
MEANS_ALIKE = [[1, 3], [3, 1], [2, 2], [1, 3]]


@pytest.mark.parametrize(
    ("table", "form", "reason"),
    [
        (SAME, "icc_1_1", "the estimated variance is not positive"),
        (SAME, "icc_3_k", "the estimated variance is not positive"),
        (RATERS_APART, "icc_3_1", "the estimated variance is not positive"),
        (RATERS_APART, "icc_1_k", "the estimated variance is not positive"),
        (RATERS_APART, "icc_2_1", None),
        (CROSSED, "icc_2_1", "the estimated variance is not positive"),
        (CROSSED, "icc_3_1", None),
        (MEANS_ALIKE, "icc_2_k", "the estimated variance is not positive"),
        (MEANS_ALIKE, "icc_2_1", None),
        ([[1, NAN], [2, NAN]], "icc_1_1", "no item has two ratings"),
        ([[1, 2], [NAN, NAN]], "icc_1_1", "fewer than two items have two ratings"),
        ([[1, NAN], [NAN, 2]], "icc_2_1", "no item was rated by every rater"),
        ([[1, 2], [3, NAN]], "icc_2_1", "fewer than two items were rated by every rater"),
        ([[1], [2]], "icc_3_1", "there is only one rater"),
        ([[1, 2], [3, NAN]], "icc_1_1", "fewer than two items have two ratings"),
        ([[1, 2], [3, 5], [9, NAN]], "icc_1_1", None),
    ],
)
def test_a_form_is_undefined_for_a_reason_exactly_where_it_has_no_value(table, form, reason):
    assert MEASURES[form].why_undefined(numbers(table)) == reason
    assert np.isnan(icc(form, table)) == (reason is not None)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("missing", [0, 0.2])
def test_a_form_has_no_value_exactly_where_the_variance_in_fractions_is_not_positive(form, missing):
    rng = np.random.default_rng(5)
    undefined = 0
    for _ in range(300):
        table = rng.integers(0, 3, (rng.integers(1, 5), rng.integers(2, 4))) / 7
        table[rng.random(table.shape) < missing] = np.nan
        expected, found = exact_icc(form, table), icc(form, table)
        undefined += expected is None
        assert (
            np.isnan(found)
            == (expected is None)
            == (MEASURES[form].why_undefined(numbers(table)) is not None)
        )
        assert expected is None or found == pytest.approx(float(expected), rel=1e-9, abs=1e-9)
    assert 5 < undefined < 295


@pytest.mark.parametrize("form", FORMS)
def test_an_item_with_one_rating_changes_no_form(form):
    assert icc(form, [*SHROUT_FLEISS_TABLE_2, [NAN, 200, NAN, NAN]]) == pytest.approx(
        icc(form, SHROUT_FLEISS_TABLE_2), rel=1e-12
    )


def test_no_form_exceeds_1_where_items_differ_less_than_their_error():
    rng = np.random.default_rng(4)
    for _ in range(300):
        table = rng.integers(0, 3, (3, 2)).astype(float)
        assert all(
            np.isnan(value) or value <= 1 + 1e-12 for value in (icc(form, table) for form in FORMS)
        )
