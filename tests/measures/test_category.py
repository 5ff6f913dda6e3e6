"""Agreement by category against loops over pairs of ratings."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import f1_score

from agreement_pipeline.measures import MEASURES
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import CategoryCounts

ABC = Scale(("a", "b", "c"))


def counted(codes):
    return CategoryCounts(
        [[np.sum(row == k) for k in range(3)] for row in np.asarray(codes)], scale=ABC
    )


@pytest.fixture(params=range(5))
def codes(request):
    rng = np.random.default_rng(request.param)
    return np.where(rng.random((25, 4)) < 0.3, -1, rng.integers(3, size=(25, 4)))


def test_category_agreement_is_the_share_of_pairs_naming_a_category_in_which_both_do(codes):
    pairs = [pair for row in codes for pair in combinations([k for k in row if k >= 0], 2)]
    expected = [
        sum(pair == (k, k) for pair in pairs) / sum(k in pair for pair in pairs) for k in range(3)
    ]
    assert MEASURES["category_agreement"](counted(codes)).value == pytest.approx(
        expected, abs=1e-12
    )


def test_specific_agreement_is_the_chance_that_the_other_rater_of_a_pair_names_the_category_too(
    codes,
):
    pairs = [pair for row in codes for pair in combinations([k for k in row if k >= 0], 2)]
    expected = [
        2 * sum(pair == (k, k) for pair in pairs) / sum(pair.count(k) for pair in pairs)
        for k in range(3)
    ]
    assert MEASURES["specific_agreement"](counted(codes)).value == pytest.approx(
        expected, abs=1e-12
    )


def test_specific_agreement_of_two_raters_is_the_f1_score_of_either_against_the_other():
    codes = np.random.default_rng(1).integers(3, size=(50, 2))
    theirs = f1_score(codes[:, 0], codes[:, 1], average=None)
    assert MEASURES["specific_agreement"](counted(codes)).value == pytest.approx(theirs, abs=1e-12)


def test_a_category_in_no_pair_has_no_value_and_leaves_the_others_theirs():
    counts = CategoryCounts([[2, 0, 0], [1, 1, 0], [0, 0, 1]], scale=ABC)
    for name in ("category_agreement", "specific_agreement"):
        assert np.isnan(MEASURES[name](counts).value).tolist() == [False, False, True]
