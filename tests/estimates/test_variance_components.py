"""Variance components by a loop over all pairs of ratings, and of a known population."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from agreement_pipeline import Scale
from agreement_pipeline.errors import AgreementError
from agreement_pipeline.estimates import estimate_components_of_table
from agreement_pipeline.statistics import LabelsByRater, NumbersByRater


def numbers_of(values):
    names = tuple(f"r{place}" for place in range(values.shape[1]))
    return NumbersByRater(values, scale=Scale(None, "interval"), raters=names)


def by_pairs(cells):
    half = {}
    for (item, rater, x), (other, another, y) in combinations(cells, 2):
        apart = half.setdefault((item != other, rater != another), [])
        apart.append(float(((x - y) ** 2).sum()) / 2)
    within_items, within_raters, apart = (
        np.mean(half[key]) for key in ((False, True), (True, False), (True, True))
    )
    raters = max(apart - within_raters, 0)
    return apart - within_items, raters, within_items - raters


def test_numbers_with_missing_ratings_are_compared_pair_by_pair():
    random = np.random.default_rng(0)
    values = random.normal(size=(14, 1)) + 0.5 * random.normal(size=(1, 7))
    values = values + random.normal(size=(14, 7))
    values[random.random(values.shape) < 0.4] = np.nan
    places = np.argwhere(~np.isnan(values))
    expected = by_pairs([(i, j, values[i, [j]]) for i, j in places])
    found = estimate_components_of_table(numbers_of(values))
    assert_allclose((found.items, found.raters, found.both), expected, atol=1e-12)


def test_categories_are_zeros_and_ones():
    random = np.random.default_rng(1)
    codes = random.integers(0, 3, size=(20, 1)) * (random.random((20, 4)) < 0.8)
    expected = by_pairs([(i, j, np.eye(3)[codes[i, j]]) for i in range(20) for j in range(4)])
    labels = LabelsByRater(codes, scale=Scale(tuple("abc")), raters=tuple("wxyz"))
    found = estimate_components_of_table(labels)
    assert_allclose((found.items, found.raters, found.both), expected, atol=1e-12)


def test_a_known_population_is_found():
    random = np.random.default_rng(2)
    values = random.normal(size=(3000, 1)) + 0.6 * random.normal(size=(1, 400))
    values = values[:, :].copy()
    rated = random.random((3000, 400)) < 0.02
    values = np.where(rated, values + 0.8 * random.normal(size=rated.shape), np.nan)
    found = estimate_components_of_table(numbers_of(values))
    assert_allclose((found.items, found.raters, found.both), (1, 0.36, 0.64), atol=0.07)
    assert found.reliability(4) == pytest.approx(0.8, abs=0.03)
    assert found.needed_ratings(0.8) == pytest.approx(4, abs=0.4)


def test_raters_of_one_item_alone_leave_their_habits_in_the_rest():
    """No rater has two ratings, so only pairs of one item and of different items are compared."""
    random = np.random.default_rng(3)
    values = np.full((8, 24), np.nan)
    for item in range(8):
        values[item, 3 * item : 3 * item + 3] = random.normal() + 0.5 * random.normal(size=3)
    cells = [(item, values[item, rater]) for item, rater in np.argwhere(~np.isnan(values))]
    half = {True: [], False: []}
    for (item, x), (other, y) in combinations(cells, 2):
        half[item == other].append((x - y) ** 2 / 2)
    within = np.mean(half[True])
    found = estimate_components_of_table(numbers_of(values))
    expected = (np.mean(half[False]) - within, 0, within)
    assert_allclose((found.items, found.raters, found.both), expected, atol=1e-12)


def test_one_item_has_no_variance_between_items():
    found = estimate_components_of_table(numbers_of(np.array([[1.0, 2.0, 4.0]])))
    assert_allclose((found.items, found.raters, found.both), (0, 0, 7 / 3), atol=1e-12)


def test_single_ratings_have_no_components():
    values = np.where(np.eye(9, 2), 1.0, np.nan)
    with pytest.raises(AgreementError, match="no item with two ratings"):
        estimate_components_of_table(numbers_of(values))
