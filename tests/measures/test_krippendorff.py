"""Krippendorff's alpha against another implementation, its definition and its edge cases."""

import krippendorff
import numpy as np
import pytest

from agreement_pipeline.measures import MEASURES
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import CategoryCounts
from tests.measures.loops import slow_alpha, slow_difference

alpha = MEASURES["krippendorff_alpha"]
FIVE = (1, 2, 3, 4, 5)


def counted(codes, scale, weights=None):
    return CategoryCounts(
        [[np.sum(row == k) for k in range(len(scale.names))] for row in np.asarray(codes)],
        weights,
        scale=scale,
    )


def with_gaps(rng, items, raters, categories, missing):
    truth = rng.integers(categories, size=(items, 1))
    codes = np.where(
        rng.random((items, raters)) < 0.6, truth, rng.integers(categories, size=(items, raters))
    )
    return np.where(rng.random(codes.shape) < missing, -1, codes)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
@pytest.mark.parametrize("seed", range(5))
def test_alpha_is_that_of_the_krippendorff_package_with_missing_ratings(level, seed):
    rng = np.random.default_rng(seed)
    codes = with_gaps(rng, 40, 4, 5, 0.3)
    data = np.where(codes < 0, np.nan, codes + 1.0)
    theirs = krippendorff.alpha(
        reliability_data=data.T, level_of_measurement=level, value_domain=list(FIVE)
    )
    assert alpha(counted(codes, Scale(FIVE, level))).value == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_and_its_parts_are_the_definition_as_a_loop_over_pairs(level):
    codes = with_gaps(np.random.default_rng(7), 15, 3, 5, 0.2)
    items = [[FIVE[k] for k in row if k >= 0] for row in codes]
    given = [label for row in items if len(row) >= 2 for label in row]
    found = alpha(counted(codes, Scale(FIVE, level)))
    assert (found.value, found.observed, found.expected) == pytest.approx(
        slow_alpha(items, slow_difference(level, given)), rel=1e-12
    )


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_the_unit_of_an_interval_or_ratio_scale_does_not_matter_however_small(unit):
    rows, weights = [[2, 0, 0], [0, 1, 1], [0, 0, 2], [1, 1, 0]], [4, 2, 5, 1]
    for level, shift in (("interval", 3.0), ("ratio", 0.0)):
        plain = alpha(CategoryCounts(rows, weights, scale=Scale((1, 2, 4), level))).value
        moved = Scale(tuple(unit * (score + shift) for score in (1, 2, 4)), level)
        assert alpha(CategoryCounts(rows, weights, scale=moved)).value == pytest.approx(
            plain, abs=1e-9
        )


def test_categories_that_are_close_on_a_wide_scale_are_told_apart():
    wide = Scale((-(10**9), 1, 2, 10**9), "interval")
    close = CategoryCounts([[0, 2, 0, 0], [0, 1, 1, 0], [0, 0, 2, 0]], [4, 2, 4], scale=wide)
    as_nominal = CategoryCounts([[2, 0], [1, 1], [0, 2]], [4, 2, 4], scale=Scale(("a", "b")))
    assert alpha(close).value == pytest.approx(alpha(as_nominal).value, abs=1e-12)


def test_a_draw_that_leaves_no_more_than_one_rating_to_pair_has_no_value():
    counts = CategoryCounts([[1, 1], [1, 0]], scale=Scale(("no", "yes")))
    fading = counts.with_weights(np.array([[1.0, 1.0], [0.5, 1.5], [0.4, 1.6], [0.0, 2.0]]))
    assert np.isnan(alpha(fading).value).tolist() == [False, True, True, True]
