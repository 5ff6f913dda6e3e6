"""The raters of a statistic, against looking at them one by one."""

import numpy as np
import pytest

from agreement_pipeline.errors import PolicyError
from agreement_pipeline.estimates import estimate
from agreement_pipeline.intervals import Inference
from agreement_pipeline.policy import Rule
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import (
    CategoryCounts,
    LabelsByRater,
    NumbersByRater,
    ReplicatedLabels,
    ReplicatedNumbers,
    effective_number_of_raters,
)

TWO = Scale(("no", "yes"))
NUMBERS = Scale(None, "interval")
SEEN = CategoryCounts([[3, 0], [2, 1], [0, 3], [1, 1]], [4, 2, 5, 3], scale=TWO)
PANEL = LabelsByRater(
    [[0, 0, 0], [0, 1, 0], [1, 1, 1], [0, -1, 1]], [4, 2, 5, 3], scale=TWO, raters="abc"
)
ALONE = LabelsByRater(
    [[0, 0, -1, -1], [1, 0, -1, -1], [-1, -1, 1, -1], [-1, -1, -1, 0]],
    [20, 9, 5, 4],
    scale=TWO,
    raters="abcd",
)
"""Two who meet, and two whose items nobody else rated."""


def test_each_rater_is_left_out_of_whatever_names_its_raters():
    assert [each.raters for each in PANEL.without_each_rater()] == [
        ("b", "c"),
        ("a", "c"),
        ("a", "b"),
    ]
    values = NumbersByRater([[1.0, 2.0, 3.0]], scale=Scale(None, "interval"), raters="abc")
    assert [each.values[0, :, 0].tolist() for each in values.without_each_rater()] == [
        [2, 3],
        [1, 3],
        [1, 2],
    ]
    panels = PANEL.with_classifier([0, 0, 1, 1], "model").without_each_rater()
    assert [(each.classifier, each.panel.raters) for each in panels] == [
        ("model", ("b", "c")),
        ("model", ("a", "c")),
        ("model", ("a", "b")),
    ]


def test_each_rater_of_the_panel_is_left_out_where_classifiers_stand_apart():
    numbers = NumbersByRater([[1.0, 2.0, 3.0]], scale=Scale(None, "interval"), raters="abc")
    panels = numbers.with_classifier([[4.0]], "model").without_each_rater()
    assert [(each.panel.values[0, :, 0].tolist(), each.labels.tolist()) for each in panels] == [
        ([2, 3], [[4]]),
        ([1, 3], [[4]]),
        ([1, 2], [[4]]),
    ]
    groups = PANEL.in_groups(("b",)).without_each_rater()
    assert [(each.first_group_raters, each.second) for each in groups] == [
        (("c",), ("b",)),
        (("a",), ("b",)),
    ]


def test_raters_are_left_out_one_at_a_time(monkeypatch):
    """Of 800 raters of 11,000 items, all the tables without one of them would be 58 GB."""
    made = []
    monkeypatch.setattr(LabelsByRater, "without", lambda patterns, rater: made.append(rater))
    others = PANEL.without_each_rater()
    assert made == []
    next(others)
    assert made == ["a"]


def test_a_rater_left_out_takes_her_confidence_with_her():
    stated = np.where(PANEL.codes >= 0, [0.1, 0.2, 0.3], np.nan)
    found = list(PANEL.with_confidence(stated).without_each_rater())
    assert [each.raters for each in found] == [("b", "c"), ("a", "c"), ("a", "b")]
    assert np.array_equal(found[1].confidence, stated[:, [0, 2]], equal_nan=True)


def test_a_rater_left_out_of_replicates_in_numbers_takes_all_she_said_with_her():
    scale = Scale(None, "interval")
    replicates = ReplicatedNumbers(
        [[1.0, 2.0], [3.0, 3.0], [5.0, 4.0]],
        [0, 0, 1],
        [0, 2, 2],
        [2, 1],
        scale=scale,
        raters="abc",
        round_raters="bc",
    )
    first, second = replicates.without_each_rater()
    assert (
        first.values[:, :, 0].tolist(),
        first.item.tolist(),
        [first.raters[r] for r in first.rater],
    ) == ([[3, 3], [5, 4]], [0, 1], ["c", "c"])
    assert (
        second.values[:, :, 0].tolist(),
        second.item.tolist(),
        [second.raters[r] for r in second.rater],
    ) == ([[1, 2]], [0], ["a"])
    assert (first.round_raters, second.round_raters, second.weights.tolist()) == (
        ("b", "c"),
        ("b",),
        [2, 1],
    )


def test_a_rater_left_out_of_replicates_takes_all_she_said_with_her():
    replicates = ReplicatedLabels([[2, 0], [1, 1], [0, 2]], [0, 0, 2], [0, 2, 2], PANEL)
    first, second = replicates.without_each_rater()
    assert (first.counts.tolist(), first.item.tolist(), [first.raters[r] for r in first.rater]) == (
        [[1, 1], [0, 2]],
        [0, 2],
        ["c", "c"],
    )
    assert (second.counts.tolist(), [second.raters[r] for r in second.rater]) == ([[2, 0]], ["a"])
    assert first.first.codes.tolist() == PANEL.codes[:, 1:].tolist()


def test_raters_who_were_forgotten_cannot_be_left_out():
    with pytest.raises(
        PolicyError, match="found category counts; expected a statistic that names its raters"
    ):
        SEEN.without_each_rater()


def numbers(codes):
    return NumbersByRater(
        np.where(codes >= 0, codes, np.nan).astype(float), scale=NUMBERS, raters="abcd"
    )


@pytest.mark.parametrize(
    ("statistic", "expected"),
    [
        (ALONE, [29, 29, 0, 0]),
        (numbers(ALONE.codes), [2, 2, 0, 0]),
        (
            ALONE.with_confidence(np.where(ALONE.codes >= 0, [0.5, 0.5, 0.9, np.nan], np.nan)),
            [29, 29, 0, 0],
        ),
        (ALONE.with_classifier([0, 0, 1, -1], "model"), [29, 29, 5, 0]),
        (
            numbers(ALONE.codes).with_classifier([[0.0], [0.0], [1.0], [np.nan]], "model"),
            [2, 2, 1, 0],
        ),
        (
            LabelsByRater([[0, 0, -1, 1], [-1, 0, 0, -1]], scale=TWO, raters="abcd").in_groups(
                ("d",)
            ),
            [1, 1, 0],
        ),
        (ReplicatedLabels([[2, 0], [1, 1]], [0, 2], [1, 2], ALONE), [20, 5]),
        (
            ReplicatedNumbers(
                [[1.0, 2.0], [3.0, 3.0]], [0, 1], [0, 2], [2, 1], scale=NUMBERS, raters="abc"
            ),
            [2, 1],
        ),
    ],
    ids=lambda each: type(each).__name__,
)
def test_raters_count_by_the_items_that_are_read_and_are_there_if_they_rated_one(
    statistic, expected
):
    nowhere = np.zeros_like(statistic.readable)
    assert statistic.n_items_by_rater(statistic.readable).tolist() == expected
    assert (statistic.n_items_by_rater(statistic.readable) > 0).tolist() == [
        items > 0 for items in expected
    ]
    assert len(list(statistic.without_each_rater())) == len(expected)
    assert (statistic.n_items_by_rater(statistic.readable) > 0).sum() == sum(
        items > 0 for items in expected
    )
    assert effective_number_of_raters(
        statistic.n_items_by_rater(statistic.readable)
    ) == pytest.approx(sum(expected) ** 2 / sum(items**2 for items in expected))
    assert not statistic.n_items_by_rater(nowhere).any()
    assert effective_number_of_raters(statistic.n_items_by_rater(nowhere)) == 0


@pytest.mark.parametrize(("n_raters", "n"), [(3, 30), (5, 60), (10, 60), (30, 300)])
def test_raters_who_miss_a_tenth_of_the_items_at_random_are_as_many_as_there_are(n_raters, n):
    rng = np.random.default_rng(n_raters)
    for _ in range(200):
        seen = LabelsByRater(
            np.where(rng.random((n, n_raters)) < 0.1, -1, 0),
            scale=TWO,
            raters=[str(rater) for rater in range(n_raters)],
        )
        assert round(effective_number_of_raters(seen.n_items_by_rater(seen.readable))) == n_raters


def test_items_that_nobody_stands_behind_show_no_rater():
    weighed = ALONE.with_weights(np.array([1.0, 0, 0, 0]))
    assert (weighed.n_items_by_rater(np.ones(4, dtype=bool)) > 0).tolist() == [
        True,
        True,
        False,
        False,
    ]
    third = ALONE.with_weights(np.array([0.0, 0, 1, 0])).n_items_by_rater(np.ones(4, dtype=bool))
    assert (third > 0).tolist() == [False, False, True, False]


@pytest.mark.parametrize("statistic", [ALONE, ALONE.counts()], ids=["patterns", "counts"])
def test_those_who_met_nobody_are_none_of_the_raters_that_a_rule_asks_for(statistic):
    found = estimate("krippendorff_alpha", statistic, Inference(n_resamples=1000))
    assert (found.n_items, found.n_used, found.n_raters) == (38, 29, 2)
    (said,) = Rule("krippendorff_alpha", min_raters=3, effect="warn").judge([found])
    assert (said.code, said.kind) == ("too_few_raters", "not_evaluated")
    (said,) = Rule("krippendorff_alpha", min_raters=2, effect="warn").judge([found])
    assert said.code != "too_few_raters"
