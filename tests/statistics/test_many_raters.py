"""What is counted once for all raters and pairs, against counting anew for each of them."""

from itertools import combinations

import numpy as np
import pytest

from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import (
    Clusters,
    LabelsByRater,
    NumbersByRater,
    by_rater,
    rater_distances,
)

K = 3
SCALE = Scale(("low", "middle", "high"))


def labels(seed, *, raters=6, rows=40, clusters=False):
    rng = np.random.default_rng(seed)
    codes = rng.integers(-1, K, size=(rows, raters))
    codes[: rows // 2, 2:] = -1
    return LabelsByRater(
        codes,
        rng.integers(1, 4, size=rows),
        scale=SCALE,
        raters=[f"r{n}" for n in range(raters)],
        clusters=Clusters.from_names(rng.integers(0, 5, size=rows)) if clusters else None,
    )


@pytest.mark.parametrize("clusters", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_counts_without_a_rater_are_those_of_the_table_without_the_column(seed, clusters):
    panel = labels(seed, clusters=clusters)
    without = panel.counts_without
    for rater in panel.raters:
        found, slow = without(rater), panel.without(rater).counts().merged()
        assert np.array_equal(found.counts, slow.counts)
        assert np.array_equal(found.weights, slow.weights)
        assert found.n_raters == slow.n_raters
        if clusters:
            assert np.array_equal(found.clusters.places, slow.clusters.places)


@pytest.mark.parametrize("crowd", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_distances_of_labels_are_those_of_the_loop_over_pairs(seed, crowd, monkeypatch):
    if crowd:
        monkeypatch.setattr(by_rater, "MAX_DENSE_CELLS", 0)
    panel = labels(seed)
    apart = rater_distances(panel)
    met, unlike = np.zeros((6, 6)), np.zeros((6, 6))
    for row, weight in zip(panel.codes, panel.weights, strict=True):
        for a, b in combinations(range(6), 2):
            if row[a] >= 0 and row[b] >= 0:
                for one, other in ((a, b), (b, a)):
                    met[one, other] += weight
                    unlike[one, other] += weight * (row[a] != row[b])
    assert np.array_equal(apart.met, met)
    assert np.array_equal(apart.total, unlike)
    assert apart.of_raters == pytest.approx(unlike.sum(1) / met.sum(1), nan_ok=True)


def test_the_distances_of_numbers_are_those_of_the_loop_over_pairs():
    rng = np.random.default_rng(1)
    values = 1000 + rng.normal(size=(30, 4, 2))
    values[rng.random((30, 4)) < 0.3] = np.nan
    weights = rng.integers(1, 4, size=30).astype(float)
    scale = Scale(None, "multivariate interval", dimensions=2)
    apart = rater_distances(NumbersByRater(values, weights, scale=scale, raters="abcd"))
    for a, b in combinations(range(4), 2):
        both = [i for i in range(30) if not np.isnan(values[i, [a, b]]).any()]
        squared = [((values[i, a] - values[i, b]) ** 2).sum() for i in both]
        assert apart.met[a, b] == weights[both].sum()
        assert apart.total[a, b] == pytest.approx(weights[both] @ squared)


def test_where_nobody_rated_nobody_is_apart():
    nothing = NumbersByRater(
        np.full((3, 2), np.nan), scale=Scale(None, "interval"), raters=("a", "b")
    )
    apart = rater_distances(nothing)
    assert not apart.met.any()
    assert not apart.total.any()


def test_two_who_never_met_have_no_distance():
    never = LabelsByRater([[0, 0, -1], [-1, 1, 1]], scale=SCALE, raters="abc")
    assert np.isnan(rater_distances(never).of_pairs[0, 2])
