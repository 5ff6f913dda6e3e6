"""Would another panel give the same label: bounds by listing all panels, and slow loops."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from agreement_pipeline import Columns, Scale, label_reliability, measure, read_ratings
from agreement_pipeline.counting import ItemCounts
from agreement_pipeline.errors import AgreementError
from agreement_pipeline.estimates import estimate
from agreement_pipeline.estimates.panel_labels import (
    MIN_ITEMS_COMPARED,
    SCORES,
    estimate_label,
    same_label_scores,
)
from agreement_pipeline.intervals import Inference
from agreement_pipeline.ratings import Trains
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


def reliability_of(ratings, **more):
    (found,) = estimate_label(ratings, ["label_reliability"], FAST, **more)
    return found


def test_means_and_shares_with_equal_numbers_are_the_one_way_icc():
    random = np.random.default_rng(3)
    labels = (random.random((80, 4)) < random.beta(0.5, 0.5, (80, 1))).astype(int)
    numbers = NumbersByRater(
        labels.astype(float), scale=Scale(None, "interval"), raters=("a", "b", "c", "d")
    )
    expected = estimate("icc_1_k", numbers, FAST).value
    rows = [(i, "abcd"[r], labels[i, r]) for i in range(80) for r in range(4)]
    table = pd.DataFrame(rows, columns=["item", "rater", "label"])
    of_means = reliability_of(read_ratings(table, scale=Scale(None, "interval")))
    assert_allclose(of_means.value, expected, atol=1e-12)
    counts = counted(np.stack([labels.sum(1), 4 - labels.sum(1)], axis=1))
    of_shares = reliability_of(ItemCounts(counts.merged()), trains=Trains("shares"))
    assert_allclose(of_shares.value, expected, atol=1e-12)
    assert of_shares.interval.low < of_shares.value < of_shares.interval.high


def test_single_ratings_are_as_reliable_as_alpha_says():
    """One rater: by a loop over pairs of ratings, which is alpha where all items have two."""
    random = np.random.default_rng(8)
    truth = random.integers(1, 6, 200)
    labels = np.clip(truth[:, None] + random.integers(-1, 2, (200, 2)), 1, 5)
    rows = [(i, "ab"[r], int(labels[i, r])) for i in range(200) for r in range(2)]
    table = pd.DataFrame(rows, columns=["item", "rater", "label"])
    one_rater = Trains("one_rater", "random_sample")
    for scale in (
        Scale(tuple("12345")),
        Scale(tuple("12345"), "ordinal"),
        Scale((1, 2, 3, 4, 5), "interval"),
        Scale(None, "interval"),
    ):
        ratings = read_ratings(table, scale=scale)
        expected = measure(ratings, "krippendorff_alpha", FAST).value
        assert_allclose(reliability_of(ratings, trains=one_rater).value, expected, atol=0.002)


def split_medians(values, size):
    """Labels of all disjoint panels of an item, by listing them."""
    places = range(len(values))
    for one in combinations(places, size):
        for other in combinations(sorted({*places} - {*one}), size):
            yield np.median([values[i] for i in one]), np.median([values[i] for i in other])


def test_medians_are_compared_over_the_splits_into_two_panels():
    random = np.random.default_rng(9)
    labels = np.clip(random.integers(1, 6, 60)[:, None] + random.integers(-2, 3, (60, 6)), 1, 5)
    pairs = [list(split_medians(row, 3)) for row in labels]
    same = np.mean([[x == y for x, y in each] for each in pairs])
    half = np.mean([[(x - y) ** 2 / 2 for x, y in each] for each in pairs])
    first = np.array([[x for x, _ in each] for each in pairs])
    variance = ((first**2).mean() - first.mean() ** 2) * 60 / 59
    counts = CategoryCounts(
        [np.bincount(row - 1, minlength=5) for row in labels],
        scale=Scale((1, 2, 3, 4, 5), "interval"),
    ).merged()
    result = label_reliability(
        ItemCounts(counts), trains=Trains("median"), panel_size=3, inference=FAST
    )
    assert_allclose(result.same_label.least, same, atol=1e-12)
    assert_allclose(result.reliability.least, 1 - half / variance, atol=1e-12)
    rows = [(i, f"r{r}", float(labels[i, r])) for i in range(60) for r in range(6)]
    table = pd.DataFrame(rows, columns=["item", "rater", "label"])
    numbers = read_ratings(table, scale=Scale(None, "interval"))
    drawn = label_reliability(numbers, trains=Trains("median"), panel_size=3, inference=FAST)
    assert_allclose(drawn.reliability.least, 1 - half / variance, atol=0.03)
    assert (drawn.same_label, drawn.missing_reason) == (None, "")


def test_one_panel_says_nothing_of_its_median_and_raters_nothing_of_adjudicators():
    result = label_reliability(
        rated(np.full(300, 0.9), np.full(300, 3), level="ordinal"),
        trains=Trains("median"),
        inference=FAST,
    )
    assert (result.same_label, result.reliability) == (None, None)
    assert result.missing_reason.count("a second panel on 300 items drawn by chance does") == 1
    assert result.missing_reason.startswith("one panel does not show")
    found = reliability_of(rated(np.full(99, 0.9), np.full(99, 3)), trains=Trains("adjudicated"))
    assert found.value is None
    assert "second adjudicator" in found.undefined


def test_means_of_unequal_numbers_follow_the_variance_of_errors():
    """Hard items get two ratings and easy ones six, or the other way round."""
    random = np.random.default_rng(4)
    for hard_size, easy_size in ((6, 2), (2, 6)):
        is_hard = random.random(5_000) < 0.5
        sizes, sd = np.where(is_hard, hard_size, easy_size), np.where(is_hard, 1.5, 0.5)
        errors = random.normal(size=(len(sizes), 6)) * sd[:, None]
        values = random.normal(size=(len(sizes), 1)) + errors
        rows = [(i, "abcdef"[r], values[i, r]) for i in range(len(sizes)) for r in range(sizes[i])]
        table = pd.DataFrame(rows, columns=["item", "rater", "label"])
        found = reliability_of(read_ratings(table, scale=Scale(None, "interval")))
        expected = 1 / (1 + float((sd**2 / sizes).mean()))
        assert_allclose(found.value, expected, atol=0.02)


def test_raters_who_always_agree_on_few_items_are_not_certain():
    table = pd.DataFrame(
        [(i, who, float(i)) for i in range(10) for who in "abc"],
        columns=["item", "rater", "label"],
    )
    found = reliability_of(read_ratings(table, scale=Scale(None, "interval")))
    assert found.value == 1
    assert found.interval.low < 0.99


def rated(shares_yes, sizes, seed=5, level="nominal"):
    random = np.random.default_rng(seed)
    yes = random.binomial(sizes, shares_yes)
    counts = CategoryCounts(np.stack([yes, sizes - yes], axis=1), scale=Scale(("c0", "c1"), level))
    return ItemCounts(counts.merged())


def test_three_ratings_give_a_floor_and_say_what_would_give_more():
    sizes = np.full(300, 3)
    result = label_reliability(rated(np.full(300, 0.9), sizes), inference=FAST)
    assert (result.label, result.panel_size, result.n_items) == ("plurality", 3, 300)
    assert result.is_floor
    assert result.same_label.low < result.same_label.least < 0.9
    assert (result.same_label.greatest, result.same_label.high) == (1, 1)
    assert "have 300 items drawn at random rated by 4 raters each" in result.missing_reason
    assert "on at least" in result.sentences[0]


def test_a_fourth_rating_on_a_part_gives_an_estimate():
    sizes = np.where(np.arange(1000) < 300, 4, 3)
    shares = np.where(np.arange(1000) % 2, 0.9, 0.1)
    result = label_reliability(rated(shares, sizes), inference=FAST)
    v = 0.09
    same = 1 - 6 * v**2 - 8 * v**3
    assert (result.panel_size, result.n_items_compared, result.is_floor) == (3, 300, False)
    assert result.same_label.low < same < result.same_label.high
    assert result.reliability.low < 2 * same - 1 < result.reliability.high


def test_larger_panels_have_the_floor_of_smaller_ones():
    """With nine ratings an item, panels of five are the largest that can be compared."""
    for n_categories in (2, 3):
        for shares in shares_to_try(n_categories, 12, seed=2):
            agree = [float((chances_by_type(shares, size)[1] ** 2).sum()) for size in range(1, 8)]
            assert np.diff(agree).min() > -1e-12
    shares = np.where(np.arange(300) % 2, 0.8, 0.2)
    result = label_reliability(rated(shares, np.full(300, 9)), inference=FAST)
    of_five = label_reliability(rated(shares, np.full(300, 9)), panel_size=5, inference=FAST)
    assert (result.panel_size, result.is_floor, of_five.is_floor) == (9, True, False)
    assert result.same_label.low == pytest.approx(of_five.same_label.low)
    assert "have 300 items drawn at random rated by 18 raters each" in result.missing_reason


def test_a_rare_label_has_no_value_beyond_chance():
    result = label_reliability(rated(np.full(300, 0.99), np.full(300, 4)), inference=FAST)
    assert result.same_label is not None
    assert result.reliability is None
    assert "fewer than 10 labels" in result.missing_reason


def test_a_third_rating_on_disputes_alone_gives_no_floor():
    rows, weights = [[2, 0], [0, 2], [2, 1], [1, 2]], [100, 80, 20, 15]
    result = label_reliability(ItemCounts(counted(rows, weights)), inference=FAST)
    assert (result.same_label, result.reliability) == (None, None)
    assert "more ratings stand only on items whose first ones differ" in result.missing_reason


def test_too_few_items_with_more_ratings_give_no_estimate():
    sizes = np.where(np.arange(300) < MIN_ITEMS_COMPARED - 1, 4, 3)
    assert label_reliability(rated(np.full(300, 0.9), sizes), inference=FAST).is_floor


@pytest.mark.parametrize("size", [0, -1, 2.5, "3"])
def test_a_wrong_panel_size_is_refused(size):
    with pytest.raises(AgreementError, match=r"panel_size: found .*; expected a whole number"):
        label_reliability(rated(np.full(9, 0.9), np.full(9, 3)), panel_size=size)


def test_a_table_is_read_and_numbers_give_the_reliability_of_means():
    random = np.random.default_rng(6)
    truth = random.normal(size=100)
    rows = [(i, who, truth[i] + random.normal()) for i in range(100) for who in "abc"]
    table = pd.DataFrame(rows, columns=["item", "rater", "label"])
    ratings = read_ratings(table, scale=Scale(None, "interval"))
    result = label_reliability(ratings, inference=FAST)
    assert (result.label, result.same_label) == ("mean", None)
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
