"""Leaving out, against leaving out one by one."""

import numpy as np
import pytest

from agreement_pipeline.intervals.draws import leave_out_each_item
from agreement_pipeline.intervals.methods import bca_acceleration, jackknife_variance
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import (
    CategoryCounts,
    Clusters,
)

TWO = Scale(("no", "yes"))
SEEN = CategoryCounts([[3, 0], [2, 1], [0, 3], [1, 1]], [4, 2, 5, 3], scale=TWO)


def left_out(statistic, most_weights=10**9, **options):
    weights, times = zip(*leave_out_each_item(statistic, most_weights, 0, **options), strict=True)
    return np.vstack(weights), np.concatenate(times)


@pytest.mark.parametrize("cells", [1, 9, 2_000_000])
@pytest.mark.parametrize("name", ["krippendorff_alpha", "fleiss_kappa", "gwet_ac1"])
def test_the_variance_is_that_of_a_loop_over_items_in_blocks_of_any_size(name, cells, monkeypatch):
    monkeypatch.setattr("agreement_pipeline.intervals.draws.CELLS_PER_BLOCK", cells)
    items = np.repeat(SEEN.counts, SEEN.weights.astype(int), axis=0)
    n = len(items)
    alone = np.array(
        [
            MEASURES[name](CategoryCounts(np.delete(items, i, axis=0), scale=TWO)).value
            for i in range(n)
        ]
    )
    weights, times = left_out(SEEN)
    assert jackknife_variance(
        MEASURES[name](SEEN.with_weights(weights)).value, times
    ) == pytest.approx((n - 1) / n * ((alone - alone.mean()) ** 2).sum())


def test_the_acceleration_of_a_mean_is_a_sixth_of_its_skewness():
    x = np.random.default_rng(0).exponential(size=40)
    apart = x - x.mean()
    assert bca_acceleration((x.sum() - x) / 39, np.ones(40)) == pytest.approx(
        (apart**3).sum() / (6 * (apart**2).sum() ** 1.5)
    )
    assert bca_acceleration(np.ones(5), np.ones(5)) == 0.0


def test_nothing_can_be_said_of_one_item_or_where_a_value_is_missing():
    assert np.isnan(jackknife_variance(np.array([0.5]), np.ones(1)))
    assert np.isnan(jackknife_variance(np.array([0.5, np.nan, 0.7]), np.ones(3)))


def test_where_items_are_many_each_is_left_out_once_in_groups_as_equal_as_can_be(monkeypatch):
    monkeypatch.setattr("agreement_pipeline.intervals.draws.MIN_LEFT_OUT_GROUPS", 5)
    weights, times = left_out(SEEN, most_weights=0)
    assert weights.shape == (5, 4)
    assert (times == 1).all()
    assert (SEEN.weights - weights).sum(0).tolist() == SEEN.weights.tolist()
    assert sorted((SEEN.weights - weights).sum(1)) == [2, 3, 3, 3, 3]
    assert (left_out(SEEN, most_weights=0)[0] == weights).all()


def test_clusters_are_left_out_whole():
    weights, times = left_out(SEEN.with_clusters(Clusters.from_names([0, 1, 0, 1])))
    assert weights.tolist() == [[0, 2, 0, 3], [4, 0, 5, 0]]
    assert times.tolist() == [1, 1]


def test_of_clusters_that_stand_for_several_one_is_left_out():
    weights, times = left_out(
        SEEN.with_clusters(Clusters(np.array([0, 1, 0, 1]), np.array([1.0, 2.0])))
    )
    assert weights.tolist() == [[0, 2, 0, 3], [4, 1, 5, 1.5]]
    assert times.tolist() == [1, 2]
