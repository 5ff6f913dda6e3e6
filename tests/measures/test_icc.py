import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline import Scale
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.statistics import NumbersByRater

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
    return NumbersByRater(
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


@pytest.mark.parametrize("form", FORMS[2:])
@pytest.mark.parametrize("shift", [50, 1e5, 1e7, 1e10])
def test_the_two_way_forms_are_exact_whatever_a_rater_adds(form, shift):
    moved = np.add(SHROUT_FLEISS_TABLE_2, [0, shift, 0, -3 * shift])
    assert icc(form, moved) == pytest.approx(float(exact_icc(form, moved)), rel=1e-9)


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
