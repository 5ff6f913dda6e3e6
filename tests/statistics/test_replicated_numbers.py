"""Numbers said again of an item: refused at birth, counted, added, widened by unseen rows."""

import numpy as np
import pytest

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import (
    LabelsByRater,
    ReplicatedLabels,
    ReplicatedNumbers,
)

LINE, RATIO, PLANE = (
    Scale(None, "interval"),
    Scale(None, "ratio"),
    Scale(None, "multivariate interval", dimensions=2),
)
NAN = np.nan


def values(rows, item=None, rater=None, weights=None, raters="xyz", scale=LINE):
    item = range(len(rows)) if item is None else item
    rater = [0] * len(rows) if rater is None else rater
    return ReplicatedNumbers(
        rows,
        item,
        rater,
        np.ones(max(item) + 1) if weights is None else weights,
        scale=scale,
        raters=raters,
    )


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: values([[1.0, NAN]]),
            "replicated numbers: found a cell of fewer than two ratings; expected at least two",
        ),
        (lambda: values([[1.0, np.inf]]), r"row 1, column '2': found \[inf\]"),
        (
            lambda: values([[1.0, -1.0]], scale=RATIO),
            r"column '2': found \[-1.0\] .*; expected finite non-negative numbers",
        ),
        (
            lambda: values([[1.0, 2.0]], scale=PLANE),
            r"found shape \(1, 2, 1\); expected \(N, 2, 2\) for the raters",
        ),
        (
            lambda: values([[1.0, 2.0]], scale=Scale(("no", "yes"))),
            "found a nominal scale with categories; expected a scale of numbers",
        ),
        (
            lambda: values([[1.0, 2.0]], item=[1], weights=[1.0]),
            r"replicated numbers: item positions: found \[1\]; expected one from 0 to 0",
        ),
        (
            lambda: values([[1.0, 2.0]], rater=[3]),
            r"replicated numbers: rater positions: found \[3\]; expected one from 0 to 2",
        ),
        (
            lambda: values([[1.0, 2.0], [3.0, 4.0]], item=[0, 0]),
            r"replicated numbers: found two cells of one item and rater \[\(0, 0\)\]; expected",
        ),
        (
            lambda: values([[1.0, 2.0]], raters="xyx"),
            r"replicated numbers: found raters \['x', 'x', 'y'\]; expected each name once. "
            "Name the raters apart",
        ),
        (
            lambda: values([[1.0, 2.0]], weights=[-1.0]),
            "weights: found a negative or non-finite number",
        ),
        (
            lambda: values([[1.0, 2.0]]) + values([[1.0, 2.0]], scale=RATIO),
            "found a sum over different scales .*; expected one scale",
        ),
    ],
)
def test_an_impossible_statistic_is_refused_in_words(make, words):
    with pytest.raises(RatingsError, match=words):
        make()


def test_replicates_rest_on_the_items_met_again_and_a_vector_is_one_rating():
    rows = [[(1, 2), (1, 3), (NAN, NAN)], [(0, 0), (1, 1), (2, 2)], [(5, 5), (4, 4), (NAN, NAN)]]
    again = values(rows, item=[0, 2, 2], rater=[1, 1, 2], weights=[2, 5, 3], scale=PLANE)
    assert (again.n_items, again.n_used, again.n_ratings) == (5, 5, 2 * 2 + 3 * 3 + 3 * 2)
    assert again.cells_of_rater("y").rater.tolist() == [1, 1]
    assert again.cells_of_rater("y").item.tolist() == [0, 2]
    assert again.cells_as_items().weights.tolist() == [2, 3, 3]


def test_the_counts_of_a_scale_of_numbers_become_what_was_said():
    first = LabelsByRater(
        [[0, 1], [2, -1]], [2, 3], scale=Scale((1.0, 2.5, 7.0), "interval"), raters="xy"
    )
    found = ReplicatedLabels([[2, 0, 0], [1, 1, 1]], [1, 0], [0, 1], first).as_numbers()
    assert found.values[:, :, 0] == pytest.approx(
        np.array([[1.0, 1.0, NAN], [1.0, 2.5, 7.0]]), nan_ok=True
    )
    assert (found.item.tolist(), found.rater.tolist(), found.weights.tolist(), found.raters) == (
        [1, 0],
        [0, 1],
        [2, 3],
        ("x", "y"),
    )


def test_replicates_of_two_rounds_add_by_the_names_of_raters():
    both = values([[1.0, 2.0]], rater=[1], raters="xy") + values([[3.0, 4.0, 5.0]], raters="yz")
    assert both.raters == ("x", "y", "z")
    assert (both.item.tolist(), both.rater.tolist()) == ([0, 1], [1, 1])
    assert both.values[:, :, 0] == pytest.approx(
        np.array([[1.0, 2.0, NAN], [3.0, 4.0, 5.0]]), nan_ok=True
    )


def test_unseen_replicates_are_split_over_two_values_of_each_raters_own():
    seen = values(
        [[0.0, 0.0], [1.0, 1.0], [10.0, 10.0], [30.0, 30.0]], item=[0, 1, 0, 1], rater=[0, 0, 2, 2]
    )
    possible = seen.with_unseen(3.0)
    assert possible.weights[2:].tolist() == [1, 1, 1]
    assert possible.rater[4:].tolist() == [0, 0, 0, 2, 2, 2]
    assert possible.item[4:].tolist() == [2, 3, 4] * 2
    assert possible.values[4:, :, 0] == pytest.approx(
        np.array([[1, 1], [1, 0], [0, 0], [30, 30], [30, 10], [10, 10]])
    )


def test_an_unseen_item_is_met_again_by_as_many_raters_as_a_typical_one_each_in_turn():
    seen = values(
        [[0.0, 0.0], [1.0, 1.0], [10.0, 10.0], [30.0, 30.0]], item=[0, 1, 2, 3], rater=[0, 0, 2, 2]
    )
    possible = seen.with_unseen(3.0)
    assert possible.weights[4:].tolist() == [0.5] * 6
    assert (possible.rater[4:].tolist(), possible.item[4:].tolist()) == (
        [0, 0, 0, 2, 2, 2],
        [4, 5, 6, 7, 8, 9],
    )
    assert possible.values[4:, :, 0] == pytest.approx(
        np.array([[1, 1], [1, 0], [0, 0], [30, 30], [30, 10], [10, 10]])
    )


def test_without_replicates_nothing_is_added():
    none = ReplicatedNumbers(np.empty((0, 0)), [], [], [], scale=LINE, raters="xy")
    assert none.with_unseen(3.0) is none
    assert (none.n_items, none.n_ratings) == (0, 0)
