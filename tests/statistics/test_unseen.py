"""Unseen items: how they are split, how large they are, and who stands where."""

import numpy as np
import pytest

from agreement_pipeline.ratings import MISSING, Scale
from agreement_pipeline.statistics import CategoryCounts, Clusters, LabelsByRater
from agreement_pipeline.statistics.unseen import (
    categories_to_split_between,
    category_splits,
    cell_splits,
    first_label_splits,
    rater_splits,
    turn_replicating_raters,
    typical_size,
)

FIVE = (1, 2, 3, 4, 10)


@pytest.mark.parametrize(
    ("level", "used", "pair"),
    [
        ("nominal", [10, 0, 30, 20, 5], (2, 3)),
        ("nominal", [10, 0, 10, 10, 0], (0, 2)),
        ("nominal", [0, 0, 7, 0, 0], (2, 0)),
        (
            "ordinal",
            [10, 0, 30, 20, 5],
            (2, 4),
        ),  # mid-ranks 5, 10, 25, 50, 62.5: the fifth lies 37.5 off, the first 20
        (
            "ordinal",
            [40, 0, 45, 5, 0],
            (2, 0),
        ),  # mid-ranks 20, 40, 62.5, 87.5, 90: the first lies 42.5 off, the fourth 25
        ("interval", [10, 0, 30, 20, 5], (2, 4)),
        ("interval", [10, 0, 0, 30, 1], (3, 4)),
        ("interval", [10, 0, 30, 20, 0], (2, 0)),
        ("ratio", [10, 0, 30, 20, 5], (2, 4)),  # (10 - 3) / 13 is more than (3 - 1) / 4
        ("ratio", [10, 0, 0, 30, 1], (3, 0)),  # (4 - 1) / 5 is more than (10 - 4) / 14
    ],
)
def test_an_unseen_item_is_split_between_the_most_used_category_and_the_farthest_in_use(
    level, used, pair
):
    assert (
        categories_to_split_between(np.array(used, dtype=float), Scale(FIVE, level, declared=False))
        == pair
    )


@pytest.mark.parametrize(
    ("level", "used", "pair"),
    [
        ("nominal", [10, 0, 30, 20, 0], (2, 3)),
        ("ordinal", [10, 0, 30, 20, 0], (2, 4)),  # mid-ranks 5, 10, 25, 50, 60
        ("ordinal", [0, 0, 45, 5, 0], (2, 4)),  # mid-ranks 0, 0, 22.5, 47.5, 50
        ("interval", [10, 0, 30, 20, 0], (2, 4)),
        ("interval", [10, 30, 0, 0, 0], (1, 4)),
        ("ratio", [0, 0, 30, 20, 0], (2, 4)),  # 7 / 13 is more than 2 / 4
    ],
)
def test_where_categories_are_declared_it_is_split_from_the_farthest_of_them(level, used, pair):
    assert categories_to_split_between(np.array(used, dtype=float), Scale(FIVE, level)) == pair


@pytest.mark.parametrize(("category", "pair"), [(0, (0, 2)), (1, (1, 2)), (2, (2, 3))])
def test_where_one_category_is_asked_for_it_is_split_from_another(category, pair):
    assert (
        categories_to_split_between(np.array([10.0, 0, 30, 20, 5]), Scale(FIVE), category) == pair
    )


def test_of_categories_equally_far_the_most_used_is_taken():
    assert categories_to_split_between(np.array([3.0, 9, 4]), Scale((1, 2, 3), "interval")) == (
        1,
        2,
    )


def test_zero_on_a_ratio_scale_is_at_no_distance_from_itself():
    assert categories_to_split_between(np.array([9.0, 4, 1]), Scale((0, 1, 5), "ratio")) == (0, 1)


@pytest.mark.parametrize(
    ("sizes", "weights", "size"),
    [
        ([3, 3, 2], [1, 1, 5], 2),
        ([3, 3, 2], [2, 2, 3], 3),
        ([1, 1, 4], [90, 9, 1], 4),
        ([1, 0], [1, 1], 2),
        ([], [], 2),
    ],
)
def test_the_typical_size_is_the_most_common_one_where_ratings_meet(sizes, weights, size):
    assert typical_size(np.array(sizes, dtype=float), np.array(weights, dtype=float)) == size


def test_splits_by_category_go_from_all_of_one_to_all_of_the_other():
    assert category_splits(2, (2, 0), 3).tolist() == [[0, 0, 2], [1, 0, 1], [2, 0, 0]]


@pytest.mark.parametrize(
    ("size", "n_raters", "most"),
    [(2, 2, 8), (2, 3, 8), (5, 5, 8), (3, 8, 8), (3, 9, 8), (4, 50, 8), (3, 5, 1), (1, 1, 8)],
)
def test_splits_by_rater_are_rolled_from_place_to_place_one_row_after_the_other(
    size, n_raters, most
):
    turns = min(n_raters, most)
    rows = [[2] * n + [0] * (size - n) + [MISSING] * (n_raters - size) for n in range(size, -1, -1)]
    rolled = [
        np.roll(row, turn * n_raters // turns).tolist() for row in rows for turn in range(turns)
    ]
    found = rater_splits(size, (2, 0), n_raters, most)
    assert found.tolist() == rolled
    assert found.dtype == np.int64


def test_first_labels_are_split_as_the_raters_own_labels_are():
    assert first_label_splits(2, (0, 1), 4).tolist() == [[0, 0, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]]
    assert (first_label_splits(6, (0, 1), 3) == 0).sum(1).tolist() == [3, 3, 2, 2, 1, 1, 0]


@pytest.mark.parametrize(
    ("n_raters", "typical", "turns"),
    [(1, 1, 1), (5, 1, 5), (4, 2, 2), (5, 2, 3), (3, 3, 1), (20, 7, 3)],
)
def test_every_rater_meets_some_unseen_item_again_and_none_has_more_than_one_turn_beside_another(
    n_raters, typical, turns
):
    rater, item = np.arange(n_raters * typical) % n_raters, np.repeat(np.arange(n_raters), typical)
    found = turn_replicating_raters(rater, item, np.ones(n_raters))
    times = np.bincount(np.concatenate(found), minlength=n_raters)
    assert [len(raters) for raters in found] == [typical] * turns
    assert times.min() == 1
    assert times.max() <= 2


def test_cells_of_any_size_are_split_alike_and_a_long_mixed_one_names_every_category_in_use():
    of_six, of_three = np.moveaxis(
        cell_splits(6, np.array([6, 3]), (2, 0), np.array([5.0, 3.0, 9.0, 0.0])), 1, 0
    )
    assert of_six.tolist() == [
        [0, 0, 6, 0],
        [1, 1, 4, 0],
        [2, 1, 3, 0],
        [2, 1, 3, 0],
        [3, 1, 2, 0],
        [4, 1, 1, 0],
        [6, 0, 0, 0],
    ]
    assert of_three.tolist() == [
        [0, 0, 3, 0],
        [1, 0, 2, 0],
        [1, 0, 2, 0],
        [1, 0, 2, 0],
        [2, 0, 1, 0],
        [3, 0, 0, 0],
        [3, 0, 0, 0],
    ]
    assert (
        cell_splits(3, np.array([3]), (1, 0), np.ones(2))[:, 0].tolist()
        == category_splits(3, (1, 0), 2).tolist()
    )


def test_how_often_a_disagreement_was_seen_is_not_told_where_a_cluster_holds_several_items():
    rows, scale = [[2, 0], [1, 1], [1, 1]], Scale(("no", "yes"))

    def times(*clusters):
        found = Clusters.from_names(clusters) if clusters else None
        counts = CategoryCounts(rows, [1, 1, 1], scale=scale, clusters=found)
        return counts.times_seen(counts.with_unseen(3.0)).max()

    assert times() == times("d1", "d2", "d3") == 2
    assert times("d1", "d2", "d2") == 0


def test_a_disagreement_of_a_panel_was_seen_whoever_gave_which_label():
    rows, weights = [[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1], [0, 0, 1]], [9, 4, 3, 5, 2]
    panel = LabelsByRater(rows, weights, scale=Scale(("no", "yes")), raters="xyz")
    possible = panel.with_unseen(3.0)
    expected = [
        sum(w for w, row in zip(weights, rows, strict=True) if sorted(row) == sorted(unseen))
        * (len({*unseen}) > 1)
        for unseen in possible.codes[len(rows) :].tolist()
    ]
    assert {*expected} == {0, 2, 7}
    assert panel.times_seen(possible).tolist() == expected
