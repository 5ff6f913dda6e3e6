import numpy as np
import pytest

from agreement_pipeline import Scale
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.statistics import LabelsByRater
from tests.measures.panels import of_table


def value(name, table):
    return float(MEASURES[name](of_table(table)).value)


@pytest.mark.parametrize("seed", range(3))
def test_bangdiwalas_b_is_squares_over_rectangles(seed):
    table = np.random.default_rng(seed).integers(0, 9, size=(4, 4))
    squares = sum(int(table[k, k]) ** 2 for k in range(4))
    rectangles = sum(int(table[k].sum()) * int(table[:, k].sum()) for k in range(4))
    assert value("bangdiwala_b", table) == pytest.approx(squares / rectangles, abs=1e-14)


def test_bangdiwalas_b_of_perfect_agreement_is_1_as_it_is_not_without_the_square():
    assert value("bangdiwala_b", [[7, 0], [0, 3]]) == 1


def test_raters_without_a_common_category_have_no_b():
    patterns = of_table([[0, 9], [0, 0]])
    assert np.isnan(MEASURES["bangdiwala_b"](patterns).value)
    assert (
        MEASURES["bangdiwala_b"].why_undefined(patterns) == "the raters have no category in common"
    )


def test_items_that_one_rater_left_out_count_for_neither_coefficient():
    table = [[8, 2], [1, 9]]
    some = of_table(table) + LabelsByRater(
        [[0, -1], [-1, 1]], [50, 50], scale=Scale(tuple("ab")), raters=("one", "other")
    )
    for name in ("bangdiwala_b", "yule_y", "information_agreement"):
        assert float(MEASURES[name](some).value) == pytest.approx(value(name, table), abs=1e-14)


@pytest.mark.parametrize(("a", "b", "c", "d"), [(21, 5, 3, 21), (1, 9, 8, 2), (10, 1, 1, 10)])
def test_yules_y_is_read_off_the_odds_ratio(a, b, c, d):
    root = np.sqrt(a * d / (b * c))
    assert value("yule_y", [[a, b], [c, d]]) == pytest.approx((root - 1) / (root + 1), abs=1e-14)


@pytest.mark.parametrize("table", [[[5, 0], [3, 4]], [[5, 3], [0, 4]], [[5, 0], [0, 4]]])
def test_yules_y_is_1_when_a_cell_off_the_diagonal_is_empty(table):
    assert value("yule_y", table) == 1


@pytest.mark.parametrize("table", [[[0, 5], [3, 4]], [[5, 3], [4, 0]], [[0, 5], [4, 0]]])
def test_yules_y_is_minus_1_when_a_cell_on_the_diagonal_is_empty(table):
    assert value("yule_y", table) == -1


@pytest.mark.parametrize(
    "table", [[[5, 3], [0, 0]], [[5, 0], [3, 0]], [[5, 0], [0, 0]], [[0, 5], [0, 0]]]
)
def test_a_rater_who_gives_one_category_leaves_yules_y_without_a_value(table):
    patterns = of_table(table)
    assert np.isnan(MEASURES["yule_y"](patterns).value)
    assert (
        MEASURES["yule_y"].why_undefined(patterns)
        == "a rater gave one single category to the items that both rated"
    )


def test_three_categories_are_refused_by_yules_y():
    patterns = of_table(np.full((3, 3), 2))
    assert np.isnan(MEASURES["yule_y"](patterns).value)
    assert (
        MEASURES["yule_y"].why_undefined(patterns)
        == "the scale does not have exactly two categories"
    )


def test_yules_y_does_not_move_when_a_rater_favours_a_category():
    table = np.array([[8, 3], [2, 9]])
    assert value("yule_y", table * [[5], [1]]) == pytest.approx(value("yule_y", table), abs=1e-14)
