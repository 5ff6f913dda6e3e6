from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline import Ratings, Scale
from agreement_pipeline.engines.memory import Memory
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.statistics import CategoryCounts

alpha_masi, alpha_jaccard = MEASURES["alpha_masi"], MEASURES["alpha_jaccard"]


def jaccard(one, other):
    return 1 - len(one & other) / len(one | other) if one | other else 0


def masi(one, other):
    if one == other:
        monotonicity = 1
    elif one < other or other < one:
        monotonicity = 2 / 3
    else:
        monotonicity = 1 / 3 if one & other else 0
    return 1 - (1 - jaccard(one, other)) * monotonicity


def slow_alpha(items, distance):
    items = [ratings for ratings in items if len(ratings) >= 2]
    every = [rating for ratings in items for rating in ratings]
    observed = sum(
        sum(distance(a, b) for a, b in permutations(ratings, 2)) / (len(ratings) - 1)
        for ratings in items
    ) / len(every)
    expected = sum(distance(a, b) for a, b in permutations(every, 2)) / (
        len(every) * (len(every) - 1)
    )
    return 1 - observed / expected


def counted(items):
    rows = [
        (f"i{i}", f"r{r}", frozenset(labels))
        for i, ratings in enumerate(items)
        for r, labels in enumerate(ratings)
    ]
    table = pd.DataFrame(rows, columns=["item", "rater", "label"])
    return Memory().counts(Ratings.from_frame(table, Scale.from_labels(table["label"])))


def random_items(rng):
    labels = np.array(list("abcd"))
    return [
        [frozenset(labels[rng.random(4) < 0.4].tolist()) for _ in range(rng.integers(1, 5))]
        for _ in range(25)
    ]


@pytest.mark.parametrize(("measure", "distance"), [(alpha_masi, masi), (alpha_jaccard, jaccard)])
def test_alpha_of_sets_is_the_mean_distance_over_pairs_of_ratings(measure, distance):
    items = random_items(np.random.default_rng(1))
    assert any(not labels for ratings in items for labels in ratings)
    assert measure(counted(items)).value == pytest.approx(slow_alpha(items, distance), rel=1e-12)


def test_the_masi_distances_of_passonneau():
    a, ab, abc, bc, empty = (frozenset(labels) for labels in ("a", "ab", "abc", "bc", ""))
    expected = {
        (a, a): 0,
        (a, ab): 1 - 1 / 2 * 2 / 3,
        (ab, abc): 1 - 2 / 3 * 2 / 3,
        (ab, bc): 1 - 1 / 3 * 1 / 3,
        (a, bc): 1,
        (empty, a): 1,
        (empty, empty): 0,
    }
    for (one, other), distance in expected.items():
        assert masi(one, other) == pytest.approx(distance)
        pair = CategoryCounts(
            [[1, 1, 0], [0, 0, 2]],
            scale=Scale(
                (
                    "|".join(sorted(one)),
                    "|".join(sorted(other)) + ("" if one != other else "|"),
                    "z",
                )
            ),
        )
        assert alpha_masi(pair).observed == pytest.approx(distance / 2)


def test_labels_in_another_order_are_the_same_set():
    counts = CategoryCounts([[1, 1, 0], [0, 0, 2]], scale=Scale(("a|b", "b|a", "c")))
    assert alpha_masi(counts).value == 1
    assert alpha_jaccard(counts).value == 1


@pytest.mark.parametrize("measure", [alpha_masi, alpha_jaccard])
def test_on_single_labels_it_is_the_nominal_alpha(measure):
    rng = np.random.default_rng(2)
    counts = CategoryCounts(
        rng.integers(0, 4, (20, 3)), rng.gamma(1, size=(4, 20)), scale=Scale(("a", "b", "c"))
    )
    assert measure(counts).value == pytest.approx(
        MEASURES["krippendorff_alpha"](counts).value, rel=1e-12
    )


@pytest.mark.parametrize("measure", [alpha_masi, alpha_jaccard])
@pytest.mark.parametrize(
    ("items", "reason"),
    [
        ([[{"a"}], [{"b"}]], "no item has two ratings"),
        (
            [[{"a", "b"}, {"b", "a"}], [{"c"}]],
            "every rating that can be compared with another is the same set of labels",
        ),
    ],
)
def test_alpha_of_sets_is_undefined_for_a_reason_exactly_where_it_has_no_value(
    measure, items, reason
):
    assert measure.why_undefined(counted(items)).startswith(reason)
    assert np.isnan(measure(counted(items)).value)


def test_the_same_set_written_in_two_orders_is_one_set_when_asking_whether_there_are_two():
    counts = CategoryCounts([[1, 1]], scale=Scale(("a|b", "b|a")))
    assert alpha_masi.why_undefined(counts) is not None
    assert np.isnan(alpha_masi(counts).value)


def test_sets_in_a_table_become_their_labels_in_order_and_the_empty_set_is_a_rating():
    table = pd.DataFrame(
        {"item": ["i", "i", "i"], "rater": list("xyz"), "label": [{"b", "a"}, frozenset(), None]}
    )
    scale = Scale(("", "a|b"))
    assert Ratings.from_frame(table, scale).table["label"].tolist() == ["a|b", ""]
    assert Scale.from_labels(table["label"]).categories == scale.categories
