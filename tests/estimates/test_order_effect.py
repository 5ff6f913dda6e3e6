"""The effect of the order of presentation: loops over answers, and SciPy's intervals."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.estimates import order_effect
from agreement_pipeline.units import Marked, Preference, Ranking

TURNED = {"first": "second", "second": "first", "tie": "tie"}


def answers(n_items, raters="abc", seed=0):
    rng = np.random.default_rng(seed)
    return [
        (f"q{n:02}", rater, bool(rng.integers(2)), str(rng.choice(["first", "second", "tie"])))
        for n in range(n_items)
        for rater in raters
    ]


def marked(said):
    return [
        Marked(item, rater, (Preference(*("yx" if turned else "xy"), choice),))
        for item, rater, turned, choice in said
    ]


def pairs(said, same):
    """The item, and whether two raters prefer the same, of each two raters in such orders."""
    return [
        (item, (TURNED[choice] if turned else choice) == (TURNED[c] if t else c))
        for (item, rater, turned, choice), (i, r, t, c) in combinations(said, 2)
        if item == i and rater != r and (turned == t) == same
    ]


@pytest.mark.parametrize("seed", range(3))
def test_shares_are_loops_over_answers(seed):
    said = answers(12, seed=seed)
    found = order_effect(marked(said)[::-1])
    chosen = [choice == "first" for *_, choice in said if choice != "tie"]
    assert (found.first.value, found.first.n) == (pytest.approx(np.mean(chosen)), len(chosen))
    within, across = ([same for _, same in pairs(said, order)] for order in (True, False))
    assert (found.within.value, found.within.n) == (pytest.approx(np.mean(within)), len(within))
    assert (found.across.value, found.across.n) == (pytest.approx(np.mean(across)), len(across))
    assert found.difference.value == pytest.approx(np.mean(within) - np.mean(across))


def test_the_interval_of_one_answer_an_item_is_students():
    said = [each for each in answers(30, raters="a", seed=4) if each[3] != "tie"]
    found = order_effect(marked(said), level=0.9)
    values = [choice == "first" for *_, choice in said]
    low, high = stats.ttest_1samp(np.array(values, float), 0.5).confidence_interval(0.9)
    assert found.first.interval == pytest.approx((low, high))
    assert found.within.undefined == "no two raters saw a pair in the same order"


@pytest.mark.parametrize("seed", range(3))
def test_the_interval_of_the_difference_is_that_of_a_jackknife_of_items_almost(seed):
    said = answers(300, seed=seed)
    found = order_effect(marked(said)).difference
    items = sorted({item for item, *_ in said})
    sums = np.zeros((2, len(items), 2))
    for side, order in enumerate((True, False)):
        for item, same in pairs_by_item(said, order):
            sums[side, items.index(item)] += same, 1
    rest = sums.sum(1, keepdims=True) - sums
    left_out = rest[0, :, 0] / rest[0, :, 1] - rest[1, :, 0] / rest[1, :, 1]
    n = len(items)
    error = np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum())
    reach = stats.t.ppf(0.975, n - 1) * error
    assert found.interval.high - found.value == pytest.approx(reach, rel=0.02)


def pairs_by_item(said, same):
    for start in range(0, len(said), 3):
        yield from pairs(said[start : start + 3], same)


def test_raters_who_follow_the_order_agree_within_and_not_across():
    said = [
        (f"q{n}", rater, turned, "first")
        for n in range(8)
        for rater, turned in (("a", False), ("b", False), ("c", True))
    ]
    found = order_effect(marked(said))
    assert [each.value for each in (found.first, found.within, found.across)] == [1, 1, 0]
    assert found.difference.interval == (1, 1)


def test_what_is_undefined_says_why():
    one = order_effect(marked([("q1", "a", False, "first"), ("q1", "b", True, "tie")]))
    assert one.first.value == 1
    assert one.first.interval is None
    assert "fewer than two items" in one.first.undefined
    assert one.difference.value is None
    ties = order_effect(marked([("q1", "a", False, "tie")]))
    assert (ties.first.value, ties.first.undefined) == (None, "all preferences are ties")


def test_rankings_have_no_order_of_presentation():
    ranked = Marked("q1", "a", (Ranking((frozenset("x"), frozenset("y"))),))
    with pytest.raises(RatingsError, match="found no preference between two alternatives"):
        order_effect([ranked])


def test_a_difference_on_one_item_has_no_interval():
    said = [("q1", "a", False, "first"), ("q1", "b", False, "first"), ("q1", "c", True, "first")]
    found = order_effect(marked(said)).difference
    assert (found.value, found.interval, found.n) == (1.0, None, 3)
    assert found.undefined
