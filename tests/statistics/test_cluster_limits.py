"""Limits over many rounds of whole clusters, and plans for such rounds."""

import math

import numpy as np
import pytest
from scipy import stats

from agreement_pipeline.estimates import build_round_statistic, estimate
from agreement_pipeline.intervals import Inference
from agreement_pipeline.policy.planning import simulate_rounds
from agreement_pipeline.statistics import CategoryCounts, Clusters, LabelsByRater
from tests.statistics.documents import TWO, documents, ratings, without_clusters


def test_a_few_large_clusters_are_not_taken_for_many():
    places, sizes = np.array([0, 0, 1, 2, 2]), np.array([60.0, 30.0, 8.0, 1.0, 1.0])
    clusters = Clusters(places, np.array([1.0, 2.0, 1.0]))
    held = [90, 4, 4, 2]
    readable = np.full(5, True)
    assert clusters.typical_size(sizes, readable) == pytest.approx(
        sum(each * each for each in held) / sum(held)
    )
    assert clusters.effective_number(sizes, readable) == pytest.approx(
        sum(held) ** 2 / sum(each * each for each in held)
    )
    assert Clusters(places, np.ones(3)).effective_number(
        np.array([5.0, 5, 10, 2, 8]), readable
    ) == pytest.approx(3)
    assert Clusters(places, np.ones(3)).typical_size(sizes, places > 0) == pytest.approx(
        (64 + 4) / 10
    )


@pytest.mark.slow
def test_the_lower_limit_holds_where_one_cluster_holds_most_items():
    """One of 1,000 items and 99 of 5: a fifth of them are guessed throughout. True α: 0.8."""
    rng, sizes, above = np.random.default_rng(3), np.array([1000] + [5] * 99), 0
    places = np.repeat(np.arange(100), sizes)
    for number in range(150):
        guessed = np.repeat(rng.random(100) < 0.2, sizes)[:, None]
        codes = np.where(
            guessed, rng.integers(2, size=(len(places), 3)), rng.integers(2, size=(len(places), 1))
        )
        seen = LabelsByRater(
            codes, scale=TWO, raters=tuple("abc"), clusters=Clusters.from_names(places)
        )
        above += (
            estimate(
                "krippendorff_alpha", seen, Inference(n_resamples=400, seed=number)
            ).interval.low
            > 0.8
        )
    assert above <= stats.binom.ppf(0.999, 150, 0.025)


@pytest.mark.slow
def test_whole_clusters_cover_what_items_drawn_one_by_one_do_not():
    """In three documents of ten all four raters guess, so they agree on 0.7 + 0.3 / 2 of pairs."""
    rng, places, truth = np.random.default_rng(99), np.repeat(np.arange(30), 8), 0.85
    held = {True: 0, False: 0}
    for _ in range(200):
        hard = (rng.random(30) < 0.3)[places]
        right = rng.integers(2, size=len(places))
        yes = np.where(hard, rng.binomial(4, 0.5, size=len(places)), 4 * right)
        clusters = Clusters(places, np.ones(30))
        counts = np.column_stack([4 - yes, yes])
        whole = CategoryCounts(counts, scale=TWO, clusters=clusters).merged()
        single = CategoryCounts(whole.counts, whole.weights, scale=whole.scale).merged()
        for clusters, seen in ((True, whole), (False, single)):
            found = estimate("percent_agreement", seen, Inference(n_resamples=400))
            held[clusters] += found.interval.low <= truth <= found.interval.high
    assert held[True] / 200 > 0.95 - 3 * math.sqrt(0.95 * 0.05 / 200)
    assert held[False] / 200 < 0.8


# Plans


def lower_limits(measure, population, n_items, n_rounds):
    rng = np.random.default_rng([3, n_items])
    rounds = simulate_rounds(population, n_items, n_rounds, rng)
    return np.array(
        [
            estimate(measure, each, Inference(n_resamples=1000, seed=number)).interval.low
            for number, each in enumerate(rounds)
        ]
    )


def test_a_round_of_whole_clusters_has_a_lower_limit_further_down():
    frame = documents(12, n=60, hard=0.1)
    single, whole = (
        build_round_statistic(ratings(each), "krippendorff_alpha")
        for each in (without_clusters(frame), frame)
    )
    by_item, by_cluster = (
        lower_limits("krippendorff_alpha", population, 480, 60) for population in (single, whole)
    )
    assert by_cluster.mean() < by_item.mean() - 0.03
    assert by_cluster.std() > 1.5 * by_item.std()


def test_a_population_of_clusters_of_one_item_is_that_of_the_items():
    rng = np.random.default_rng(13)
    single = LabelsByRater(
        np.where(
            rng.random((50, 3)) < 0.9, rng.integers(2, size=(50, 1)), rng.integers(2, size=(50, 3))
        ),
        scale=TWO,
        raters="abc",
    )
    one_by_one, whole = (
        lower_limits("shah_kappa_s", each, 40, 20)
        for each in (single, single.with_clusters(Clusters.from_names(range(50))))
    )
    assert whole == pytest.approx(one_by_one, abs=1e-12)
