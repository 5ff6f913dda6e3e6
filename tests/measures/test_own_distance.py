"""Alpha with a distance that the user brings is alpha at a level that has this distance.

Beside it stand two statistics of the distances themselves. They are held against a list of all
pairs, SciPy and NumPy.
"""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import ks_2samp

from agreement_pipeline import Scale
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.measures import MEASURES, alpha_with_distance, distances_beside_chance
from agreement_pipeline.statistics import CategoryCounts

COUNTS = np.random.default_rng(4).integers(0, 3, size=(20, 3))


def test_the_nominal_distance_gives_the_nominal_alpha():
    counts = CategoryCounts(COUNTS, scale=Scale(tuple("abc")))
    found = alpha_with_distance(counts, lambda one, other: one != other)
    assert float(found.value) == pytest.approx(float(MEASURES["krippendorff_alpha"](counts).value))


def test_squared_differences_give_the_interval_alpha():
    counts = CategoryCounts(COUNTS, scale=Scale((1.0, 2.0, 5.0), "interval"))
    distances = np.subtract.outer([1, 2, 5], [1, 2, 5]) ** 2
    weights = np.random.default_rng(5).integers(0, 3, size=(4, 20)).astype(float)
    found = alpha_with_distance(counts.reweighted(weights), distances).value
    alpha = MEASURES["krippendorff_alpha"](counts.reweighted(weights)).value
    np.testing.assert_allclose(found, alpha)


@pytest.mark.parametrize(
    "distance",
    [
        np.eye(3),
        np.zeros((2, 2)),
        [[0, 1, 1], [2, 0, 1], [1, 1, 0]],
        [[0, -1, 1], [-1, 0, 1], [1, 1, 0]],
        [[0, np.nan, 1], [np.nan, 0, 1], [1, 1, 0]],
    ],
)
def test_what_is_no_distance_is_refused(distance):
    counts = CategoryCounts(COUNTS, scale=Scale(tuple("abc")))
    with pytest.raises(RatingsError, match="expected a matrix of 3 by 3 finite numbers"):
        alpha_with_distance(counts, distance)


def distances_of_all_pairs(rows, weights, distances):
    """The distances within items and between items, of ratings that are written out."""
    items = [row for row, weight in zip(rows, weights, strict=True) for _ in range(weight)]
    ratings = [
        (item, category)
        for item, row in enumerate(items)
        for category, times in enumerate(row)
        for _ in range(times)
    ]
    within, between = [], []
    for (item, one), (other_item, other) in combinations(ratings, 2):
        (within if item == other_item else between).append(distances[one][other])
    return within, between


def drawn(seed):
    """Rows of ratings that lie near each other on a line of 60 categories."""
    rng = np.random.default_rng(seed)
    places = np.sort(rng.integers(0, 300, size=60))
    rows = np.zeros((9, 60), int)
    for row in rows:
        near = rng.integers(0, 60) + rng.integers(-8, 9, size=rng.integers(1, 5))
        np.add.at(row, np.clip(near, 0, 59), 1)
    return rows, rng.integers(0, 3, size=9), np.abs(np.subtract.outer(places, places))


@pytest.mark.parametrize("seed", range(20))
def test_sigma_and_ks_are_those_of_a_list_of_all_pairs(seed):
    rows, weights, distances = drawn(seed)
    within, between = distances_of_all_pairs(rows, weights, distances)
    counts = CategoryCounts(rows, weights, scale=Scale(tuple(map(str, range(60)))))
    found = distances_beside_chance(counts, distances)
    assert float(found.ks) == pytest.approx(ks_2samp(within, between, alternative="greater")[0])
    least = np.quantile(between, 0.05)
    share = np.mean([each < least for each in within]) if least > 0 else np.nan
    assert float(found.sigma) == pytest.approx(share, nan_ok=True)


def test_each_weighting_has_its_own_sigma_and_ks():
    rows, _, distances = drawn(3)
    weights = np.random.default_rng(6).integers(1, 4, size=(2, 5, 9))
    counts = CategoryCounts(rows, scale=Scale(tuple(map(str, range(60)))))
    found = distances_beside_chance(counts.reweighted(weights), distances)
    for place in np.ndindex(2, 5):
        alone = distances_beside_chance(counts.reweighted(weights[place]), distances)
        assert (found.sigma[place], found.ks[place]) == pytest.approx(alone, nan_ok=True)


def test_a_distance_at_the_quantile_is_not_below_it():
    """The quantile of these 141 distances is the eighth, and all distances within are that."""
    distances = np.full((50, 50), 8) - 8 * np.eye(50)
    distances[:3, 3:] = np.arange(1, 142).reshape(3, 47)
    distances[3:, :3] = distances[:3, 3:].T
    rows = [[1] * 3 + [0] * 47, [0] * 3 + [1] * 47]
    counts = CategoryCounts(rows, scale=Scale(tuple(map(str, range(50)))))
    assert float(distances_beside_chance(counts, distances).sigma) == 0


def test_what_chance_cannot_be_held_against_has_no_value():
    scale = Scale(tuple("abc"))
    nominal = 1 - np.eye(3)
    single = distances_beside_chance(CategoryCounts([[1, 0, 0], [0, 1, 0]], scale=scale), nominal)
    alone = distances_beside_chance(CategoryCounts([[1, 1, 0]], scale=scale), nominal)
    assert np.isnan([*single, *alone]).all()
    common = distances_beside_chance(
        CategoryCounts([[2, 0, 0]] * 9 + [[0, 2, 0]], scale=scale), nominal
    )
    assert np.isnan(common.sigma)
    assert float(common.ks) == pytest.approx(1 - 144 / 180)
