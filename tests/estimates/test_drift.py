"""Drift on shared items, beside slow loops and SciPy."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from agreement_pipeline.errors import AgreementError
from agreement_pipeline.estimates import find_drift
from agreement_pipeline.intervals import mean_interval, mean_interval_of_rows, share_interval
from agreement_pipeline.ratings import Ratings, Scale

SCALE = Scale(("no", "maybe", "yes"))
RATERS = ("ana", "ben", "model")


def frame_of(seed, first, n=30, yes=0.3):
    random = np.random.default_rng(seed)
    return pd.DataFrame(
        [
            (f"i{item:02}", rater, random.choice(SCALE.names, p=[(1 - yes) / 2] * 2 + [yes]))
            for item in range(first, first + n)
            for rater in RATERS
            if random.random() < 0.9
        ],
        columns=["item", "rater", "label"],
    )


NOW, BEFORE = frame_of(1, 10, yes=0.5), frame_of(2, 0)


def ratings_of(frame, scale=SCALE, classifiers=("model",)):
    return Ratings.from_frame(frame, scale, classifiers=classifiers)


def by_scope(found):
    return {str(each.scope): each for each in found}


@pytest.fixture(scope="module")
def found():
    return by_scope(find_drift(ratings_of(NOW), ratings_of(BEFORE)))


@pytest.mark.parametrize("rater", RATERS)
def test_a_rater_and_a_model_are_compared_with_themselves(found, rater):
    now, before = (
        {row.item: row.label for row in each.itertuples() if row.rater == rater}
        for each in (NOW, BEFORE)
    )
    both = [item for item in now if item in before]
    same = sum(now[item] == before[item] for item in both)
    mine = found[f"{'classifier' if rater == 'model' else 'rater'} {rater}"]
    known = stats.binomtest(same, len(both)).proportion_ci(0.95, "exact")
    assert (mine.what, mine.n_items) == ("same label", len(both))
    assert (mine.value, *mine.interval) == pytest.approx((same / len(both), known.low, known.high))


@pytest.mark.parametrize("category", SCALE.names)
def test_a_category_is_compared_on_the_same_items_of_the_panel(found, category):
    changes = []
    for item in sorted({*NOW["item"]} & {*BEFORE["item"]}):
        labels = [
            each[(each["item"] == item) & (each["rater"] != "model")]["label"]
            for each in (NOW, BEFORE)
        ]
        if all(len(each) for each in labels):
            changes.append((labels[0] == category).mean() - (labels[1] == category).mean())
    known = stats.ttest_1samp(changes, 0).confidence_interval(0.95)
    mine = found[f"category {category}"]
    assert (mine.value, *mine.interval) == pytest.approx((np.mean(changes), known.low, known.high))
    assert mine.n_items == len(changes)


def test_a_change_whose_interval_leaves_out_nothing_has_moved():
    before = ratings_of(frame_of(3, 0, 60, yes=0.1))
    moved = by_scope(find_drift(ratings_of(frame_of(4, 0, 60, yes=0.7)), before))
    assert moved["category yes"].moved
    assert moved["category yes"].value > 0
    assert not moved["rater ana"].moved
    assert not any(each.moved for each in find_drift(before, before))


def test_whole_clusters_say_how_much_items_tell():
    names = {f"i{item:02}": f"d{item // 5}" for item in range(40)}
    rounds = [each.assign(cluster=each["item"].map(names)) for each in (NOW, BEFORE)]
    now, before = map(ratings_of, rounds)
    found = by_scope(find_drift(now, before))
    assert (found["rater ana"].interval, found["rater ana"].undefined.split(",")[0]) == (
        None,
        "items come in clusters",
    )
    assert found["category yes"].interval is not None
    one = by_scope(find_drift(*(ratings_of(each.assign(cluster="d")) for each in (NOW, BEFORE))))
    assert one["category yes"].interval is None
    assert one["category yes"].undefined.startswith("the shared items come from one cluster;")


def test_of_numbers_the_mean_of_a_rater_may_change():
    random = np.random.default_rng(5)
    scale, values = Scale(None, "interval"), random.normal(size=20)
    rounds = [
        ratings_of(
            pd.DataFrame({"item": range(20), "rater": "ana", "label": values + shift}), scale, ()
        )
        for shift in (np.linspace(0.5, 1.5, 20), 0.0)
    ]
    (found,) = find_drift(*rounds)
    known = stats.ttest_1samp(np.linspace(0.5, 1.5, 20), 0).confidence_interval(0.95)
    assert (found.what, found.moved) == ("change of mean", True)
    assert (found.value, *found.interval) == pytest.approx((1.0, known.low, known.high))


@pytest.mark.parametrize(
    ("before", "words"),
    [
        (ratings_of(frame_of(2, 50)), "found no item that both rounds share"),
        (
            ratings_of(BEFORE, Scale(("no", "maybe", "yes", "x"))),
            r"found the scale nominal with categories \['no', 'maybe', 'yes'\] and before it "
            r"nominal with categories \['no', 'maybe', 'yes', 'x'\]; expected one scale",
        ),
        (
            ratings_of(BEFORE, Scale(("no", "maybe", "yes"), declared=False)),
            r"before it nominal with categories \[.*\], read off the labels; expected one scale",
        ),
    ],
)
def test_rounds_that_cannot_be_compared_are_refused(before, words):
    with pytest.raises(AgreementError, match=words):
        find_drift(ratings_of(NOW), before)


def test_a_mean_over_clusters_of_equal_size_is_the_mean_of_their_means():
    random = np.random.default_rng(6)
    means = random.normal(size=8)
    values = (means[:, None] + np.array([-1.0, 0.0, 1.0])).ravel()
    known = stats.ttest_1samp(means, 0).confidence_interval(0.9)
    found = mean_interval(values, np.repeat(np.arange(8), 3), 0.9)
    assert tuple(found) == pytest.approx((known.low, known.high))
    assert mean_interval(values, np.zeros(24, dtype=int), 0.9) is None


def test_a_mean_over_rows_of_equal_items_is_that_over_their_items():
    values, items = np.array([-1.0, 0.25, 2.0]), np.array([3, 7, 2])
    known = stats.ttest_1samp(np.repeat(values, items), 0).confidence_interval(0.9)
    found = mean_interval_of_rows(values, items, 0.9)
    assert tuple(found) == pytest.approx((known.low, known.high))
    assert mean_interval_of_rows(values[:1], items[:1] // 3, 0.9) is None


@pytest.mark.parametrize(("successes", "n"), [(0, 5), (5, 5), (3, 7), (190, 200)])
def test_the_interval_of_a_share_is_clopper_and_pearson_s(successes, n):
    known = stats.binomtest(successes, n).proportion_ci(0.9, "exact")
    assert tuple(share_interval(successes, n, 0.9)) == pytest.approx((known.low, known.high))


def test_vectors_are_compared_by_dimension():
    frame = pd.DataFrame({"item": [1, 1], "rater": [*"ab"], "label": [(1.0, 2.0), (2.0, 1.0)]})
    scale = Scale(None, "multivariate interval", dimensions=2)
    ratings = Ratings.from_frame(frame, scale)
    with pytest.raises(AgreementError, match=r"expected labels of one dimension. Compare each"):
        find_drift(ratings, ratings)


def test_drift_is_a_table_with_its_limits():
    found = find_drift(ratings_of(NOW), ratings_of(BEFORE))
    first, row = found[0], found.to_frame().iloc[0]
    assert (row["scope"], row["what"]) == (str(first.scope), first.what)
    assert (row["value"], row["low"], row["high"]) == (first.value, *first.interval)
    assert row["items"] == first.n_items
