"""Would another panel give the same label: bounds by listing all panels, and slow loops."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from agreement_pipeline import Columns, Scale, label_reliability, read_ratings
from agreement_pipeline.counting import ItemCounts
from agreement_pipeline.errors import AgreementError
from agreement_pipeline.estimates import estimate
from agreement_pipeline.estimates.panel_labels import (
    MIN_ITEMS_SCORED,
    SCORES,
    mean_reliability,
    same_label_scores,
    share_reliability,
)
from agreement_pipeline.intervals import Inference
from agreement_pipeline.statistics import CategoryCounts, NumbersByRater

FAST = Inference(n_resamples=1000)


def scale_of(n_categories):
    return Scale(tuple(f"c{k}" for k in range(n_categories)))


def counted(rows, weights=None):
    return CategoryCounts(rows, weights, scale=scale_of(len(rows[0])))


def chances_by_type(shares, n_ratings):
    """The chance of each type of so many ratings, and of each label, by listing all sequences."""
    by_type, labels = {}, np.zeros(len(shares))
    for ratings in product(range(len(shares)), repeat=n_ratings):
        chance = float(np.prod([shares[k] for k in ratings]))
        times = np.bincount(ratings, minlength=len(shares))
        kind = tuple(sorted((int(n) for n in times if n), reverse=True))
        by_type[kind] = by_type.get(kind, 0.0) + chance
        labels += chance * (times == times.max()) / (times == times.max()).sum()
    return by_type, labels


def shares_to_try(n_categories, n, seed=0):
    random = np.random.default_rng(seed)
    yield from np.eye(n_categories)[:1]
    yield np.full(n_categories, 1 / n_categories)
    for concentration in (0.1, 0.4, 1.0, 3.0):
        yield from random.dirichlet([concentration] * n_categories, n)


@pytest.mark.parametrize(
    ("panel_size", "n_categories", "n", "gap"),
    [(3, 2, 60, 0.014), (3, 3, 40, 0.014), (3, 5, 8, 0.014), (5, 2, 30, 0.02), (5, 3, 10, 0.02)],
)
def test_the_scores_lie_around_the_chance_that_panels_agree(panel_size, n_categories, n, gap):
    for shares in shares_to_try(n_categories, n):
        by_type, _ = chances_by_type(shares, panel_size + 1)
        _, labels = chances_by_type(shares, panel_size)
        under, over = (
            sum(chance * SCORES[panel_size][kind][side] for kind, chance in by_type.items())
            for side in (0, 1)
        )
        agree = float((labels**2).sum())
        assert under <= agree <= over
        assert over - under <= gap + 1e-4


def test_the_scores_of_three_hold_for_ten_categories_too():
    """q_k = p_k (1 - s_2 + p_k), so power sums are enough: no panel must be listed."""
    for n_categories in (6, 8, 10):
        for p in shares_to_try(n_categories, 300, seed=1):
            s2, s3, s4 = (float((p**power).sum()) for power in (2, 3, 4))
            agree = float(((p * (1 - s2 + p)) ** 2).sum())
            chance = {
                (4,): s4,
                (3, 1): 4 * (s3 - s4),
                (2, 2): 3 * (s2**2 - s4),
                (2, 1, 1): 6 * (s2 - s2**2 - 2 * s3 + 2 * s4),
            }
            chance[1, 1, 1, 1] = 1 - sum(chance.values())
            under, over = (
                sum(SCORES[3][kind][side] * share for kind, share in chance.items())
                for side in (0, 1)
            )
            assert under - 1e-6 <= agree <= over + 1e-6


@pytest.mark.parametrize("panel_size", [3, 5])
def test_pairs_that_agree_are_a_floor(panel_size):
    for shares in shares_to_try(3, 20):
        _, labels = chances_by_type(shares, panel_size)
        assert float((labels**2).sum()) >= float((shares**2).sum()) - 1e-12


def label_of(ratings):
    times = np.bincount(ratings, minlength=3)
    return (times == times.max()) / (times == times.max()).sum()


@pytest.mark.parametrize("ratings", [(0, 0, 1, 0, 2, 1), (0, 1, 2, 0, 1, 2, 0), (1, 1, 1, 1, 1, 0)])
def test_six_ratings_or_more_are_split_into_two_panels(ratings):
    places = range(len(ratings))
    agree = [
        label_of([ratings[i] for i in one]) @ label_of([ratings[i] for i in other])
        for one in combinations(places, 3)
        for other in combinations(sorted({*places} - {*one}), 3)
    ]
    scores = same_label_scores(counted([np.bincount(ratings, minlength=3)]), 3)
    assert_allclose([scores.under[0], scores.over[0]], np.mean(agree), atol=1e-12)


def test_five_ratings_get_the_mean_over_their_choices_of_four():
    ratings = (0, 0, 1, 0, 2)
    expected = [
        SCORES[3][tuple(sorted(filter(None, np.bincount(some)), reverse=True))]
        for some in combinations(ratings, 4)
    ]
    scores = same_label_scores(counted([np.bincount(ratings)]), 3)
    assert_allclose([scores.under[0], scores.over[0]], np.mean(expected, axis=0), atol=1e-12)


def test_one_category_of_shares_is_the_one_way_icc_of_zeros_and_ones():
    random = np.random.default_rng(3)
    labels = random.random((80, 4)) < random.beta(0.5, 0.5, (80, 1))
    yes = labels.sum(1)
    counts = counted(np.stack([yes, 4 - yes], axis=1))
    raters = ("a", "b", "c", "d")
    numbers = NumbersByRater(labels.astype(float), scale=Scale(None, "interval"), raters=raters)
    expected = estimate("icc_1_k", numbers, FAST).value
    assert_allclose(share_reliability(counts, counts.weights), expected, atol=1e-12)
    assert_allclose(mean_reliability(numbers, numbers.weights), expected, atol=1e-12)


def test_means_of_unequal_numbers_follow_the_variance_of_errors():
    """Hard items get two ratings and easy ones six, or the other way round."""
    random = np.random.default_rng(4)
    for hard_size, easy_size in ((6, 2), (2, 6)):
        is_hard = random.random(40_000) < 0.5
        sizes, sd = np.where(is_hard, hard_size, easy_size), np.where(is_hard, 1.5, 0.5)
        errors = random.normal(size=(len(sizes), 6)) * sd[:, None]
        values = random.normal(size=(len(sizes), 1)) + errors
        values[np.arange(6) >= sizes[:, None]] = np.nan
        raters = tuple("abcdef")
        numbers = NumbersByRater(values, scale=Scale(None, "interval"), raters=raters)
        expected = 1 / (1 + float((sd**2 / sizes).mean()))
        assert_allclose(mean_reliability(numbers, numbers.weights), expected, atol=0.01)


def rated(shares_yes, sizes, seed=5):
    random = np.random.default_rng(seed)
    yes = random.binomial(sizes, shares_yes)
    return ItemCounts(counted(np.stack([yes, sizes - yes], axis=1)).merged())


def test_three_ratings_give_a_floor_and_say_what_would_give_more():
    sizes = np.full(300, 3)
    result = label_reliability(rated(np.full(300, 0.9), sizes), inference=FAST)
    assert (result.kind, result.panel_size, result.n_items) == ("plurality", 3, 300)
    assert result.same_label is None
    assert result.floor.low < result.floor.least < 0.9
    assert "4 ratings on 300 items drawn by chance can" in result.missing_reason
    assert "on at least" in result.sentences[0]


def test_a_fourth_rating_on_a_part_gives_an_estimate():
    sizes = np.where(np.arange(1000) < 300, 4, 3)
    result = label_reliability(rated(np.full(1000, 0.9), sizes), inference=FAST)
    v = 0.09
    assert (result.panel_size, result.n_items_scored) == (3, 300)
    assert result.same_label.low < 1 - 6 * v**2 - 8 * v**3 < result.same_label.high
    assert result.floor.low < result.same_label.low


def test_a_rare_label_has_no_value_beyond_chance():
    result = label_reliability(rated(np.full(300, 0.99), np.full(300, 4)), inference=FAST)
    assert result.same_label is not None
    assert result.beyond_chance is None
    assert "fewer than 10 panel labels" in result.missing_reason


def test_a_third_rating_on_disputes_alone_gives_no_floor():
    rows, weights = [[2, 0], [0, 2], [2, 1], [1, 2]], [100, 80, 20, 15]
    result = label_reliability(ItemCounts(counted(rows, weights)), inference=FAST)
    assert (result.floor, result.same_label) == (None, None)
    assert "more ratings stand only on items whose first ones differ" in result.missing_reason


def test_too_few_items_with_more_ratings_give_no_estimate():
    sizes = np.where(np.arange(300) < MIN_ITEMS_SCORED - 1, 4, 3)
    assert label_reliability(rated(np.full(300, 0.9), sizes), inference=FAST).same_label is None


@pytest.mark.parametrize("size", [0, -1, 2.5, "3"])
def test_a_wrong_panel_size_is_refused(size):
    with pytest.raises(AgreementError, match=r"panel_size: found .*; expected a whole number"):
        label_reliability(rated(np.full(9, 0.9), np.full(9, 3)), panel_size=size)


def test_a_panel_without_scores_is_told_which_there_are():
    result = label_reliability(rated(np.full(99, 0.9), np.full(99, 9)), panel_size=4)
    assert result.floor is not None
    assert "panels of 4 cannot be compared; name one of 1, 2, 3 and 5" in result.missing_reason


def test_a_table_is_read_and_numbers_give_the_reliability_of_means():
    random = np.random.default_rng(6)
    truth = random.normal(size=100)
    rows = [(i, who, truth[i] + random.normal()) for i in range(100) for who in "abc"]
    table = pd.DataFrame(rows, columns=["item", "rater", "label"])
    ratings = read_ratings(table, scale=Scale(None, "interval"))
    result = label_reliability(ratings, inference=FAST)
    assert (result.kind, result.floor) == ("mean", None)
    assert result.reliability.low < 0.75 < result.reliability.high
    assert result.to_mapping()["reliability"]["low"] == result.reliability.low


def test_clusters_are_drawn_whole():
    """Copies of an item in one cluster are no new evidence, so limits stay as wide."""
    base = [
        (f"i{n}", who, "yn"[(n * 7 + k * (n % 5 == 0)) % 2])
        for n in range(60)
        for k, who in enumerate("abcd")
    ]
    copies = [(f"{item}-{c}", who, label, item) for item, who, label in base for c in range(10)]
    table = pd.DataFrame(copies, columns=["item", "rater", "label", "doc"])
    alone = label_reliability(read_ratings(table.drop(columns="doc")), panel_size=3)
    whole = label_reliability(read_ratings(table, Columns(cluster="doc")), panel_size=3)
    widths = [each.same_label.high - each.same_label.low for each in (alone, whole)]
    assert widths[1] > 2 * widths[0]
