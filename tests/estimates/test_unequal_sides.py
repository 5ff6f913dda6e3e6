"""Differences between a small side and a large one."""

import numpy as np
import pytest

from agreement_pipeline.estimates.differences import Side, draw_sides, estimate_difference
from agreement_pipeline.intervals import Inference
from agreement_pipeline.statistics import CategoryCounts, Clusters
from tests.estimates.labelled import TWO

# Each of three raters guesses one item in twenty. Two categories are used alike, so α is 0.95.
GUESSED = 0.05
CLEAR_OR_GUESSED = (
    np.array([3, 2, 1, 0]),
    np.array([0.5 - 3 / 8 * GUESSED, 3 / 8 * GUESSED, 3 / 8 * GUESSED, 0.5 - 3 / 8 * GUESSED]),
)


def rounds_of_one_population(rng, n_items, n_rounds):
    """Counts of the two categories that three raters gave to an item.

    The raters agree on an item unless one of them guesses.
    """
    of_first, shares = CLEAR_OR_GUESSED
    rows = np.column_stack([of_first, 3 - of_first])
    return [
        CategoryCounts(rows, times.astype(float), scale=TWO)
        for times in rng.multinomial(n_items, shares, size=n_rounds)
    ]


def share_found_greater(one, other):
    sides = [
        [Side(name, "krippendorff_alpha", each) for each in rounds]
        for name, rounds in (("one", one), ("other", other))
    ]
    return np.mean(
        [
            estimate_difference(
                *pair, inference=Inference(n_resamples=1000, seed=seed)
            ).interval.low
            > 0
            for seed, pair in enumerate(zip(*sides, strict=True))
        ]
    )


def test_a_small_round_is_not_found_worse_than_a_large_one_of_the_same_population():
    rng = np.random.default_rng(3)
    n_rounds, promised = 400, 0.025
    found = share_found_greater(
        rounds_of_one_population(rng, 1000, n_rounds), rounds_of_one_population(rng, 15, n_rounds)
    )
    assert found <= promised + 2 * np.sqrt(promised * (1 - promised) / n_rounds)


def test_few_clusters_are_not_found_worse_than_many_of_the_same_population():
    rng = np.random.default_rng(4)
    n_rounds, promised = 100, 0.025
    rounds = [
        [in_tens(each) for each in rounds_of_one_population(rng, n, n_rounds)] for n in (500, 15)
    ]
    found = share_found_greater(*rounds)
    assert found <= promised + 2 * np.sqrt(promised * (1 - promised) / n_rounds)


def in_tens(counts):
    """Each item ten times, the ten of them a cluster."""
    rows = np.repeat(counts.counts, counts.weights.astype(int), axis=0)
    clusters = Clusters.from_names([f"d{place}" for place in range(len(rows))])
    return CategoryCounts(rows, np.full(len(rows), 10.0), scale=TWO, clusters=clusters)


@pytest.mark.parametrize("clustered", [False, True])
def test_what_was_not_seen_has_the_same_share_of_either_side(clustered):
    """The share of unseen rows in the weight of a draw is 3 / (3 + n) on average.

    n counts the units of the smaller side.
    """
    one, other = (
        CategoryCounts([[3, 0], [0, 3], [2, 1], [1, 0]], weights, scale=TWO)
        for weights in ([200, 200, 200, 70], [6, 6, 6, 5])
    )
    if clustered:
        one, other = (
            each.with_clusters(Clusters(np.arange(4), each.weights / 2)) for each in (one, other)
        )
    blocks = draw_sides(
        Side("one", "krippendorff_alpha", one),
        Side("other", "krippendorff_alpha", other),
        False,
        20_000,
        0,
    )
    drawn = [
        np.concatenate(each)
        for each in zip(*([side.weights for side in sides] for sides in blocks), strict=True)
    ]
    read = [np.delete(each, 3, axis=1) for each in drawn]
    shares = [(each[:, 3:].sum(1) / each.sum(1)).mean() for each in read]
    smaller = 9 if clustered else 18
    assert shares == pytest.approx([3 / (3 + smaller)] * 2, rel=0.03)
