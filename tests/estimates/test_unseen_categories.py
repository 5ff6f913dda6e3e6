"""A category that was declared and not seen may be the lowest, so nobody knows the lowest."""

import numpy as np
import pytest

from agreement_pipeline.estimates import estimate, estimate_each
from agreement_pipeline.estimates.comparison import estimate_difference
from agreement_pipeline.estimates.differences import Side
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.policy import Rule
from agreement_pipeline.policy.planning import compute_true_value
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import CategoryCounts, LabelsByRater, ReplicatedLabels

BY_CATEGORY = ["specific_agreement", "category_agreement", "alpha_by_category", "kappa_by_category"]
OF_A_CLASSIFIER = [
    "precision_beside_raters",
    "precision_by_category",
    "recall_beside_raters",
    "recall_by_category",
]
FEW = Inference(n_resamples=400)


def of_categories(names, declared=True):
    rows = np.zeros((3, len(names)))
    rows[:, :2] = [[2, 0], [0, 2], [1, 1]]
    return CategoryCounts(rows, [60, 60, 1], scale=Scale(tuple(names), declared=declared))


def test_all_measures_by_category_are_tested_here():
    found = [name for name, record in MEASURES.items() if record.per_category]
    assert sorted(found) == sorted(
        [*BY_CATEGORY, *OF_A_CLASSIFIER, "test_retest_kappa_by_category"]
    )


@pytest.mark.parametrize("name", OF_A_CLASSIFIER)
@pytest.mark.parametrize("declared", [True, False])
def test_a_declared_category_that_a_classifier_never_met_leaves_the_lowest_undefined(
    name, declared
):
    codes = np.random.default_rng(1).integers(0, 2, (60, 3))
    scale = Scale(("a", "b", "c"), declared=declared)
    panel = LabelsByRater(codes, scale=scale, raters=("x", "y", "z"))
    of_round, *of_each = estimate_each([name], panel.with_classifier(codes[:, 0], "m"), FEW)
    assert (of_round.value is None) == declared
    assert not declared or "the declared category 'c'" in of_round.undefined
    assert [each.value is None for each in of_each] == [False, False, True]


@pytest.mark.parametrize("name", BY_CATEGORY)
def test_a_declared_category_that_was_not_seen_leaves_the_lowest_undefined(name):
    of_round, *of_each = estimate_each([name], of_categories("abc"), FEW)
    assert (of_round.value, of_round.interval, of_round.lowest) == (None, None, None)
    assert of_round.undefined == "no pair of ratings holds the declared category 'c'"
    assert [each.undefined for each in of_each] == [
        None,
        None,
        "no pair of ratings holds the category",
    ]
    assert of_round.n_items == 121


@pytest.mark.parametrize("name", BY_CATEGORY)
def test_a_rule_on_it_is_not_evaluated_and_names_the_category(name):
    (verdict,) = Rule(name, min_items=1, min_raters=2).judge(
        estimate_each([name], of_categories("abcd"), FEW)
    )
    assert (verdict.kind, verdict.code) == ("not_evaluated", "undefined")
    assert "no pair of ratings holds the declared categories ['c', 'd']" in verdict.reason


@pytest.mark.parametrize("name", BY_CATEGORY)
def test_where_none_are_declared_the_categories_are_those_that_were_seen(name):
    seen, read_off = (
        estimate(name, of_categories(*each), FEW) for each in (("ab", True), ("abc", False))
    )
    assert (seen.value, seen.interval) == (read_off.value, read_off.interval)


def test_a_category_that_nobody_met_again_leaves_the_lowest_repeatability_undefined():
    first = LabelsByRater([[0], [1], [0]], [9, 9, 1], scale=Scale(tuple("abc")), raters=("ana",))
    again = ReplicatedLabels([[2, 0, 0], [0, 2, 0], [1, 1, 0]], [0, 1, 2], [0, 0, 0], first)
    found = estimate("test_retest_kappa_by_category", again, FEW)
    assert found.undefined == "no pair of ratings holds the declared category 'c'"


def test_the_lowest_categories_of_two_rounds_are_not_compared_where_one_is_unseen():
    sides = [Side(name, "alpha_by_category", of_categories(name)) for name in ("abc", "ab")]
    found = estimate_difference(*sides, FEW)
    assert found.undefined == "abc: no pair of ratings holds the declared category 'c'"
    named = [side._replace(category="a") for side in sides]
    assert estimate_difference(*named, FEW).value == 0


def test_a_population_without_a_declared_category_has_no_lowest_value():
    assert np.isnan(compute_true_value("specific_agreement", of_categories("abc")))
    assert compute_true_value("specific_agreement", of_categories("abc", False)) == pytest.approx(
        120 / 121
    )
