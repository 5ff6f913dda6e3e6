"""A rating alone on its item does not change the interval of a measure that leaves it out."""

import numpy as np
import pytest

from agreement_pipeline import CategoryCounts, RatingPatterns, RatingValues, Scale, estimate
from agreement_pipeline.intervals import Inference
from agreement_pipeline.statistics import PanelPatterns

N = 200


def codes_of_three(seed=4):
    """Three raters of three categories, who agree well."""
    truth = np.random.default_rng(seed).integers(0, 3, size=(N, 1))
    return np.where(
        np.random.default_rng(seed + 1).random((N, 3)) < 0.94,
        truth,
        np.random.default_rng(seed + 2).integers(0, 3, size=(N, 3)),
    )


def limits(measure, statistic):
    return tuple(estimate(measure, statistic, Inference(n_resamples=10_000)).interval)


def counts_with(rows, far, level):
    codes = np.vstack([codes_of_three(), *rows])
    return RatingPatterns(codes, scale=Scale((1.0, 2.0, 3.0, far), level), raters=tuple("abc"))


@pytest.mark.parametrize(
    ("level", "far"), [("interval", 200.0), ("ratio", 0.0), ("ordinal", 4.0), ("nominal", 4.0)]
)
def test_a_far_label_of_a_single_rater_does_not_move_alphas_limits(level, far):
    alone = limits("krippendorff_alpha", counts_with([], far, level).counts())
    joined = limits("krippendorff_alpha", counts_with([[[3, -1, -1]]], far, level).counts())
    assert joined == pytest.approx(alone, abs=0.005)


def test_nor_does_a_far_number_where_any_may_occur():
    numbers = np.vstack(
        [
            codes_of_three() + np.random.default_rng(8).normal(0, 0.01, (N, 3)),
            [[200.0, np.nan, np.nan]],
        ]
    )
    scale = Scale(None, "interval")
    values = [
        RatingValues(table, scale=scale, raters=tuple("abc")) for table in (numbers[:-1], numbers)
    ]
    alone, joined = (limits("krippendorff_alpha", of) for of in values)
    assert joined == pytest.approx(alone, abs=0.005)


def test_unseen_items_are_split_between_categories_that_meet_each_other():
    codes = [[0, 0], [0, 1], [1, 1], [2, -1], [2, -1], [2, -1], [2, -1]]
    patterns = RatingPatterns(codes, scale=Scale(("a", "b", "c")), raters=("x", "y"))
    assert patterns.with_unseen(3.0).codes[len(codes) :].max() == 1
    assert patterns.counts().with_unseen(3.0).counts[len(codes) :, 2].sum() == 0


def test_where_no_rating_meets_another_they_are_split_between_those_there_are():
    lonely = CategoryCounts([[0, 1, 0], [0, 0, 1]], [3, 2], scale=Scale(("a", "b", "c")))
    assert lonely.with_unseen(3.0).counts[2:].sum(0)[0] == 0
    assert lonely.with_unseen(3.0).counts[2:].sum() > 0


def test_a_panel_meets_its_classifier_and_so_its_single_ratings_count():
    panel = RatingPatterns([[0], [0], [2]], scale=Scale(("a", "b", "c")), raters=("x",))
    assert set(PanelPatterns(panel, [0, 0, 2], "model").with_unseen(3.0).labels.tolist()) == {0, 2}
