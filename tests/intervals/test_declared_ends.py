"""Unseen disagreement reaches the declared ends of a scale, in use or not."""

import numpy as np
import pytest

from agreement_pipeline.estimates import estimate
from agreement_pipeline.intervals import Inference, split_basis
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import (
    CategoryCounts,
    LabelsByRater,
    NumbersByRater,
    ReplicatedLabels,
    ReplicatedNumbers,
)
from tests.forms import FORMS

FEW = Inference(n_resamples=400)
RATERS = ("ana", "ben")
CODES = [[0, 0], [1, 1], [2, 2], [3, 3], [4, 4], [1, 2]]
TIMES = [20, 30, 20, 20, 20, 6]
TO_TEN, SEEN = (0, 1, 2, 3, 4, 10), (0, 1, 2, 3, 4)
WEIGHTED = ["linear", "quadratic", "radical", "ordinal"]


def codes_on(categories, level, declared=True):
    scale = Scale(categories, level, declared=declared)
    return LabelsByRater(CODES, TIMES, scale=scale, raters=RATERS)


def statistic_of(name, labels):
    made = {
        "counts": labels.counts,
        "patterns": lambda: labels,
        "panel": lambda: labels.with_rater_apart("ben"),
        "groups": lambda: labels.in_groups(["ben"]),
        "values": labels.as_numbers,
    }
    return made[FORMS[name].needs]()


@pytest.mark.parametrize("level", ["ordinal", "interval"])
@pytest.mark.parametrize(
    "name",
    [
        "krippendorff_alpha",
        "gwet_ordinal_alpha",
        *(
            f"{family}_{weighting}"
            for family in (
                "fleiss_kappa",
                "cohen_kappa",
                "conger_kappa",
                "schouten_kappa",
                "vanbelle_albert_kappa",
            )
            for weighting in WEIGHTED
        ),
        "icc_1_1",
        "icc_2_1",
        "icc_3_1",
        "lin_ccc",
    ],
)
def test_a_declared_end_that_nobody_gave_lowers_the_limit_of_every_measure_with_distances(
    name, level
):
    if level not in FORMS[name].levels:
        pytest.skip("not defined on the level")
    far, near, read_off = (
        estimate(name, statistic_of(name, codes_on(*each)), FEW)
        for each in ((TO_TEN, level), (SEEN, level), (TO_TEN, level, False))
    )
    assert far.value == pytest.approx(near.value)
    assert far.interval.low < near.interval.low
    assert read_off.interval.low > far.interval.low


def test_where_no_ends_are_declared_the_farthest_category_in_use_is_the_end():
    read_off, declared = (
        codes_on(SEEN, "interval", False).counts(),
        codes_on(SEEN, "interval").counts(),
    )
    assert (
        estimate("krippendorff_alpha", read_off, FEW).interval
        == estimate("krippendorff_alpha", declared, FEW).interval
    )


def test_numbers_on_a_declared_scale_are_split_between_the_most_used_and_the_farthest():
    scale = Scale((10, 0, 4, 5), "interval")
    numbers = NumbersByRater([[4, 4], [4, 5], [5, 5]], [9, 2, 3], scale=scale, raters=RATERS)
    rows = numbers.with_unseen(3.0).values[3:, :, 0]
    assert sorted(map(tuple, rows.tolist())) == [
        (4, 4),
        (4, 4),
        (4, 10),
        (10, 4),
        (10, 10),
        (10, 10),
    ]
    beside = numbers.with_rater_apart("ben").with_unseen(3.0)
    assert set(beside.labels[3:, 0].tolist()) == {4.0, 10.0}


def test_without_a_list_of_categories_numbers_stay_among_the_ratings():
    numbers = NumbersByRater([[4, 4], [4, 5]], scale=Scale(None, "interval"), raters=RATERS)
    rows = numbers.with_unseen(3.0).values[2:]
    assert rows.min() >= 4
    assert rows.max() <= 5


def test_replicates_reach_the_declared_ends_too():
    scale = Scale((0, 4, 5, 10), "interval")
    numbers = ReplicatedNumbers(
        [[4, 4], [4, 5]], [0, 1], [0, 0], [1, 1], scale=scale, raters=("ana",)
    )
    assert set(numbers.with_unseen(3.0).values[2:, :, 0].ravel().tolist()) == {4.0, 10.0}
    first = LabelsByRater([[1], [1], [2]], scale=scale, raters=("ana",))
    labels = ReplicatedLabels([[0, 2, 0, 0], [0, 1, 1, 0], [0, 0, 2, 0]], [0, 1, 2], [0] * 3, first)
    split = split_basis(FORMS["test_retest_kappa_linear"], labels).with_unseen(3.0)
    assert (split.counts[3:].sum(0) > 0).tolist() == [False, True, False, True]


def test_on_a_circle_the_farthest_category_is_on_the_other_side():
    """Of twelve months, June is farthest from December, and January is next to it."""
    months = Scale(tuple(map(str, range(1, 13))), "ordinal")
    rows = 2 * np.eye(12)[[11, 0, 1]]
    counts = CategoryCounts(rows, [9, 5, 5], scale=months)
    split = split_basis(FORMS["fleiss_kappa_circular"], counts).with_unseen(3.0)
    assert np.flatnonzero(split.counts[3:].sum(0)).tolist() == [5, 11]


def test_sets_reach_a_declared_set_that_nobody_gave():
    """Nobody gave x alone. It has no label in common with the set given most."""
    sets = Scale(("a|b", "a", "b", "x"))
    counts = CategoryCounts([[2, 0, 0, 0], [0, 2, 0, 0], [1, 1, 0, 0]], [9, 5, 1], scale=sets)
    for name in ("alpha_jaccard", "alpha_masi"):
        split = split_basis(FORMS[name], counts).with_unseen(3.0)
        assert np.flatnonzero(split.counts[3:].sum(0)).tolist() == [0, 3]
