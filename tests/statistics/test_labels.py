"""The sufficient statistics: refused at birth, counted, added, and widened by what was not seen."""

import numpy as np
import pytest

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import MISSING, Scale
from agreement_pipeline.statistics import CategoryCounts, LabelsByRater

TWO, THREE = Scale(("no", "yes")), Scale(("a", "b", "c"))


def patterns(codes, weights=None, raters="xyz", scale=TWO):
    return LabelsByRater(codes, weights, scale=scale, raters=raters[: np.shape(codes)[1]])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: CategoryCounts([[1, 2, 3]], scale=TWO),
            r"found shape \(1, 3\); expected \(P, 2\) for the scale\.",
        ),
        (
            lambda: CategoryCounts([[-1, 2]], scale=TWO),
            "category counts: found a negative or non-finite number; expected finite numbers of 0",
        ),
        (
            lambda: CategoryCounts([[np.nan, 2]], scale=TWO),
            "category counts: found a negative or non-finite number; expected finite numbers of 0",
        ),
        (
            lambda: CategoryCounts([[0.5, 1.5]], scale=TWO),
            "category counts: found a fraction; expected whole numbers of ratings",
        ),
        (
            lambda: CategoryCounts([[1, 2]], [1, 1], scale=TWO),
            r"weights: found shape \(2,\); expected \(..., 1\)\. Give",
        ),
        (
            lambda: CategoryCounts([[1, 2]], [-1], scale=TWO),
            "weights: found a negative or non-finite number",
        ),
        (lambda: patterns([[0, 2]]), "codes: found 0 to 2; expected -1 to 1 for the scale"),
        (
            lambda: patterns([[0.9, 1.2]]),
            r"codes: found a fraction or no number; expected whole numbers from -1 to 1\.",
        ),
        (lambda: patterns([[0, np.nan]]), "codes: found a fraction or no number"),
        (lambda: patterns([[0, -2]]), "codes: found -2 to 0; expected"),
        (
            lambda: LabelsByRater([[0, 1]], scale=TWO, raters=("x",)),
            r"found shape \(1, 2\); expected \(P, 1\) for the raters\.",
        ),
        (
            lambda: LabelsByRater([[0, 1]], scale=TWO, raters=("x", "x")),
            r"found raters \['x', 'x'\]; expected each name once\.",
        ),
        (
            lambda: CategoryCounts([[1, 1]], scale=TWO) + CategoryCounts([[1, 1, 1]], scale=THREE),
            r"found a sum over different scales \(nominal with categories \[.*\] and nominal with "
            r"categories \[.*\]\); expected one scale",
        ),
        (
            lambda: patterns([[0]]) + patterns([[0]], scale=THREE),
            "found a sum over different scales .*; expected one scale",
        ),
    ],
)
def test_an_impossible_statistic_is_refused_in_words(make, words):
    with pytest.raises(RatingsError, match=words):
        make()


def test_statistics_know_what_they_rest_on():
    rated = patterns([[0, 1, -1], [-1, -1, -1], [1, 1, 1], [0, -1, -1]], [2, 5, 3, 4])
    for table in (rated, rated.counts()):
        assert (table.n_items, table.n_used, table.n_raters, table.n_ratings) == (9, 5, 3, 17)


def test_equal_rows_are_made_one_in_lexicographic_order_whatever_the_number_of_raters():
    assert CategoryCounts(
        [[2, 1], [0, 3], [2, 1]], [1, 2, 4], scale=TWO
    ).merged().weights.tolist() == [2, 5]
    rng = np.random.default_rng(0)
    for raters in (3, 70):  # 70 raters do not fit into one number
        codes = rng.integers(-1, 2, size=(40, raters))
        few = LabelsByRater(
            codes[rng.integers(5, size=40)], scale=TWO, raters=[str(r) for r in range(raters)]
        )
        found = few.merged()
        expected = {}
        for row in few.codes.tolist():
            expected[tuple(row)] = expected.get(tuple(row), 0) + 1
        assert list(
            zip(map(tuple, found.codes.tolist()), found.weights.tolist(), strict=True)
        ) == sorted(expected.items())


def test_patterns_of_two_rounds_add_by_the_names_of_raters():
    one, other = patterns([[0, 1]], [2], raters="xy"), patterns([[1, 0]], [3], raters="zx")
    both = one + other
    assert both.raters == ("x", "y", "z")
    assert dict(zip(map(tuple, both.codes.tolist()), both.weights.tolist(), strict=True)) == {
        (0, 1, -1): 2,
        (0, -1, 1): 3,
    }


def test_unseen_rows_are_all_splits_of_a_typical_item_between_the_two_most_used_categories():
    seen = CategoryCounts([[0, 3, 0], [0, 0, 3], [1, 0, 0]], [5, 4, 90], scale=THREE)
    possible = seen.with_unseen(3.0)
    assert possible.counts[:3].tolist() == seen.counts.tolist()
    assert possible.counts[3:].tolist() == [
        [0, 3, 0],
        [0, 2, 1],
        [0, 1, 2],
        [0, 0, 3],
    ]  # b and c, 15 and 12 times; no rating meets an a
    assert possible.weights.tolist() == [5, 4, 90, 0.75, 0.75, 0.75, 0.75]


def test_unseen_rows_of_one_category_split_it_from_the_most_used_other():
    seen = CategoryCounts([[0, 3, 0], [0, 0, 3], [3, 0, 0]], [5, 4, 9], scale=THREE)
    assert seen.with_unseen(3.0, category=2).counts[3:].tolist() == [
        [0, 0, 3],
        [1, 0, 2],
        [2, 0, 1],
        [3, 0, 0],
    ]


def test_unseen_rows_by_rater_hold_the_same_splits_and_put_every_rater_in_every_place():
    seen = patterns([[0, 0, -1], [-1, 1, 1], [0, -1, -1]], [5, 4, 90])
    possible = seen.with_unseen(3.0)
    unseen, mass = possible.codes[3:], possible.weights[3:]
    assert mass.sum() == pytest.approx(3)
    assert (unseen >= 0).sum(1).tolist() == [2] * len(unseen)
    splits = {n: mass[(unseen == 0).sum(1) == n].sum() for n in range(3)}
    assert splits == pytest.approx({0: 1.0, 1: 1.0, 2: 1.0})
    for category in (0, 1, MISSING):
        by_rater = (mass[:, None] * (unseen == category)).sum(0)
        assert by_rater == pytest.approx([by_rater[0]] * 3)
