"""Unseen clusters disagree as the seen ones make likely, under the method by the tail."""

import numpy as np
import pytest

from agreement_pipeline.estimates import estimate
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.statistics import CategoryCounts, Clusters, LabelsByRater
from benchmarks.populations import TWO
from benchmarks.studies.failures import conversations
from benchmarks.studies.study import ALPHA

BY_TAIL = "tail_adaptive_bootstrap"


def interval(statistic, method, seed=0):
    return estimate(
        ALPHA, statistic, Inference(method=method, n_resamples=1000, seed=seed)
    ).interval


def by_loops(places, unlike):
    """The most items of an unseen cluster, item by item."""
    n, d = {}, {}
    for place, each in zip(places, unlike, strict=True):
        n[place], d[place] = n.get(place, 0) + 1, d.get(place, 0.0) + each
    items, rate = sum(n.values()), sum(d.values()) / sum(n.values())
    s2 = sum((each - rate) ** 2 for each in unlike) / items
    squares = sum(size**2 for size in n.values())
    if sum(n[c] * items >= squares and d[c] > 0 for c in n) < 5:
        return np.inf
    between = sum((d[c] - rate * n[c]) ** 2 for c in n) - s2 * items
    sigma = max(0.0, between / (squares - items)) ** 0.5
    mean = sum(d.values()) / len(d)
    v2 = sum((each / mean - 1) ** 2 for each in d.values()) / len(d)
    return max(1.0, max(d.values()) * max(0.5, v2 / 5), (rate + 3 * sigma) * squares / items)


@pytest.mark.parametrize("seed", range(4))
def test_the_items_of_an_unseen_cluster_are_those_of_the_formula(seed):
    rng = np.random.default_rng(seed)
    places, unlike = rng.integers(14, size=90), rng.choice([0.0, 0.5, 1.0], 90, p=[0.7, 0.2, 0.1])
    places = np.unique(places, return_inverse=True)[1]
    clusters = Clusters(places, np.ones(places.max() + 1))
    found = clusters.with_unseen_as_seen(unlike, np.ones(90))
    assert found.most_unseen == pytest.approx(by_loops(places, unlike))
    twice = Clusters(places, 2 * clusters.times).with_unseen_as_seen(unlike, 2 * np.ones(90))
    both = by_loops(np.r_[places, places + 90], np.r_[unlike, unlike])
    assert twice.most_unseen == pytest.approx(both)


def test_few_large_clusters_without_disagreement_show_nothing_of_unseen_ones():
    """Four of five clusters of the usual size disagree, and one of many small ones."""
    sizes = [20] * 5 + [1] * 40
    places = np.repeat(np.arange(45), sizes)
    unlike = np.zeros(140)
    unlike[[0, 20, 40, 60, 130]] = 1.0
    clusters = Clusters(places, np.ones(45))
    assert clusters.with_unseen_as_seen(unlike, np.ones(140)).most_unseen == np.inf
    unlike[80] = 1.0
    known = clusters.with_unseen_as_seen(unlike, np.ones(140)).most_unseen
    assert known == pytest.approx(by_loops(places, unlike))


def test_unlike_pairs_are_a_share_of_the_most_of_two_categories():
    counts = CategoryCounts([[2, 0], [1, 1], [3, 0], [2, 1], [2, 2], [1, 0]], scale=TWO)
    assert counts.unlike.tolist() == pytest.approx([0, 1, 0, 1, 1, 0])


def test_clusters_in_agreement_of_one_item_or_none_change_nothing():
    agreed = CategoryCounts([[3, 0], [0, 3]], [40, 40], scale=TWO)
    places = np.array([0, 1])
    unanimous = agreed.in_clusters(Clusters(places, np.array([10.0, 10.0])))
    counts = CategoryCounts([[3, 0], [2, 1], [0, 3]], [40, 9, 40], scale=TWO)
    alone = counts.in_clusters(Clusters(np.arange(3), counts.weights))
    for statistic in (unanimous, alone, counts):
        same = (interval(statistic, method) for method in ("smoothed_bayesian_bootstrap", BY_TAIL))
        assert next(same) == next(same)


def test_labels_by_rater_and_counts_have_the_same_unseen_clusters():
    rng = np.random.default_rng(5)
    codes, places = rng.integers(2, size=(90, 3)), np.repeat(np.arange(15), 6)
    labels = LabelsByRater(
        codes, scale=TWO, raters=tuple("abc"), clusters=Clusters(places, np.ones(15))
    )
    one, other = labels.with_unseen_by_tail(), labels.counts().with_unseen_by_tail()
    assert one.clusters.most_unseen == other.clusters.most_unseen < np.inf
    beside = labels.with_classifier(codes[:, 0], "model")
    assert beside.with_unseen_by_tail().clusters.most_unseen == np.inf


def test_intervals_of_conversations_are_narrower_and_their_lower_limit_holds():
    truth = float(MEASURES[ALPHA](conversations(np.random.default_rng(1), 20_000)).value)
    rounds = [conversations(np.random.default_rng([4, each]), 60) for each in range(150)]
    wide, narrow = (
        np.array([interval(each, method, seed) for seed, each in enumerate(rounds)])
        for method in ("smoothed_bayesian_bootstrap", BY_TAIL)
    )
    assert np.diff(narrow).mean() < 0.9 * np.diff(wide).mean()
    assert (narrow[:, 0] > truth).sum() <= 9


def test_a_large_cluster_that_agrees_does_not_speak_for_others():
    """Three clusters of 200 items and 97 of 5: a fifth are guessed throughout. True α: 0.8."""
    sizes, above = np.array([200] * 3 + [5] * 97), 0
    places = np.repeat(np.arange(100), sizes)
    for number in range(120):
        rng = np.random.default_rng([number, 7])
        hard = (rng.random(100) < 0.2)[places]
        guesses = rng.integers(2, size=(len(places), 3))
        yes = np.where(hard, guesses.sum(1), 3 * guesses[:, 0])
        counts = CategoryCounts(
            np.column_stack([3 - yes, yes]), scale=TWO, clusters=Clusters(places, np.ones(100))
        )
        above += interval(counts.merged(), BY_TAIL, number).low > 0.8
    assert above <= 8
