"""Ratings that depend on the outcome are found, and ratings missing at random are not."""

import numpy as np
import pytest

from agreement_pipeline import Scale
from agreement_pipeline.statistics import CategoryCounts, missing_at_random_p_value

TWO = Scale(("no", "yes"))


def labels(rng, n, raters=3, hard=0.235):
    """Of hard items raters guess; the others they see alike. A quarter guessed is α 0.76."""
    guessed = rng.random((n, 1)) < hard
    return np.where(guessed, rng.random((n, raters)) < 0.5, rng.random((n, 1)) < 0.5)


def counted(said, given):
    yes = (said & given).sum(1)
    return CategoryCounts(np.stack([given.sum(1) - yes, yes], 1), scale=TWO)


@pytest.mark.parametrize("n", [60, 200, 1000])
def test_a_third_rating_only_where_two_differ_is_found(n):
    rng = np.random.default_rng(n)
    said = labels(rng, n)
    given = np.ones_like(said)
    given[:, 2] = said[:, 0] != said[:, 1]
    assert missing_at_random_p_value(counted(said, given)) < 1e-3
    given[:, 2] = said[:, 0] == said[:, 1]  # and so is a rating that is spared where two differ
    assert missing_at_random_p_value(counted(said, given)) < 1e-3


@pytest.mark.parametrize("n", [3, 30, 300])
@pytest.mark.parametrize("hard", [0.02, 0.3, 0.9])
@pytest.mark.parametrize("share", [0.05, 0.5])
def test_ratings_missing_at_random_are_hardly_ever_found_fault_with(n, hard, share):
    """The level is 0.05 here, so that rounds suffice to see a test that is too eager."""
    rng = np.random.default_rng(n)
    found = 0
    for _ in range(400):
        said = labels(rng, n, 4, hard)
        given = rng.random(said.shape) >= share
        given[:, :2] = True
        found += missing_at_random_p_value(counted(said, given)) <= 0.05
    assert found <= 0.05 * 400


def test_complete_ratings_are_never_found_fault_with():
    rng = np.random.default_rng(0)
    said = labels(rng, 500)
    assert missing_at_random_p_value(counted(said, np.ones_like(said))) == 1.0
    alone = CategoryCounts([[1, 0], [0, 1], [2, 0], [1, 1]], [90, 3, 20, 9], scale=TWO)
    assert missing_at_random_p_value(alone) == 1.0


def test_items_of_few_clusters_tell_less():
    rows = [[2, 0], [0, 2], [2, 1]] * 20
    one_by_one = CategoryCounts(rows, scale=TWO)
    from agreement_pipeline.statistics import Clusters

    together = one_by_one.with_clusters(Clusters.from_names(np.repeat(["a", "b"], 30)))
    assert missing_at_random_p_value(one_by_one) < 1e-6 < missing_at_random_p_value(together)
