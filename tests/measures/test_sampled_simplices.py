"""Volumes and distances from sampled simplices, with their Monte Carlo error."""

import numpy as np
import pytest

from agreement_pipeline.estimates import estimate
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import multivariate
from tests.measures.vectors import berry_mielke_r, random_table, um_phi, vectors
from tools.pages.sources import um


def test_numbers_on_one_line_that_rounding_moves_off_it_are_undefined_too():
    along = np.random.default_rng(6).normal(size=(20, 3, 1))
    table = along * [0.1, 0.7] + [1 / 3, 1e3]
    assert "linearly dependent" in um_phi.why_undefined(vectors(table))
    assert np.isnan(um_phi(vectors(table)).value)


def sampled(table, simplices, weights=None, corners=3):
    """Means from random simplices, even if all of them could be computed; weights of any mean."""
    weights = np.ones(len(table)) if weights is None else weights
    return multivariate._mean_simplex_volumes(np.asarray(table), weights, corners, None, simplices)


@pytest.mark.parametrize("mean", [multivariate.mean_volumes, multivariate.mean_distances])
@pytest.mark.parametrize(("items", "raters", "dimensions"), [(12, 3, 2), (9, 5, 2), (8, 4, 3)])
def test_random_simplices_find_the_volume_that_all_of_them_have_within_their_standard_error(
    mean, items, raters, dimensions, monkeypatch
):
    table = random_table(np.random.default_rng(7), items, raters, dimensions)
    exact, corners = (
        mean(table, np.ones(items)),
        2 if mean is multivariate.mean_distances else dimensions + 1,
    )
    scores = []
    for seed in range(60):
        monkeypatch.setattr(multivariate, "SEED", seed)
        found = sampled(table, 2_000, corners=corners)
        scores.append(float((found.d_o / found.d_e - exact.d_o / exact.d_e) / found.error))
    assert abs(np.mean(scores)) < 0.45
    assert 0.75 < np.std(scores) < 1.3


@pytest.mark.parametrize(
    ("mean", "corners"), [(multivariate.mean_volumes, 3), (multivariate.mean_distances, 2)]
)
def test_random_simplices_serve_every_draw_alike(mean, corners):
    rng = np.random.default_rng(8)
    table, weights = random_table(rng, 15, 3, 2), rng.gamma(2, size=(4, 15))
    exact = mean(table, weights)
    together = sampled(table, 400_000, weights, corners)
    assert together.d_e == pytest.approx(exact.d_e, rel=0.01)
    for draw in range(4):
        assert sampled(table, 400_000, weights[draw], corners).d_e == pytest.approx(
            together.d_e[draw], rel=1e-12
        )
    assert np.isnan(sampled(table, 2_000, np.zeros(15), corners).d_e)


def test_many_dimensions_and_raters_are_sampled_with_a_standard_error_that_the_estimate_tells(
    monkeypatch,
):
    monkeypatch.setattr(multivariate, "VALUE_EFFORT", multivariate._Effort(0, 1_000, 20_000))
    monkeypatch.setattr(multivariate, "DRAW_EFFORT", multivariate._Effort(0, 1_000, 5_000))
    values = vectors(random_table(np.random.default_rng(9), 30, 12, 4))
    found = um_phi(values)
    assert 0 < found.monte_carlo_error < 0.01
    assert um_phi(values).value == found.value
    assert (
        f"random sampling, standard error {found.monte_carlo_error:.1g}"
        in estimate("um_phi", values, Inference(n_resamples=20)).method
    )


def test_what_is_computed_exactly_has_no_monte_carlo_error():
    for measure in (um_phi, berry_mielke_r):
        assert measure(vectors(um.TABLE_2)).monte_carlo_error is None
        assert (
            "random sampling"
            not in estimate(measure.name, vectors(um.TABLE_2), Inference(n_resamples=20)).method
        )


def test_distances_of_too_many_items_are_sampled_and_the_estimate_tells_the_error(monkeypatch):
    table = random_table(np.random.default_rng(11), 60, 3, 2)
    exact = berry_mielke_r(vectors(table))
    monkeypatch.setattr(multivariate, "MAX_EXACT_DISTANCES", 60**2 * 3 - 1)
    monkeypatch.setattr(multivariate, "VALUE_EFFORT", multivariate._Effort(0, 1_000, 20_000))
    found = berry_mielke_r(vectors(table))
    assert found.observed == pytest.approx(exact.observed, rel=1e-12)
    assert 0 < abs(found.value - exact.value) < 4 * found.monte_carlo_error < 0.05
    assert (
        f"random sampling, standard error {found.monte_carlo_error:.1g}"
        in estimate("berry_mielke_r", vectors(table), Inference(n_resamples=20)).method
    )
    assert berry_mielke_r(vectors(table[:, :, :1])).monte_carlo_error is None


def test_phi_of_a_thousand_items_in_the_plane_is_exact():
    table = random_table(np.random.default_rng(10), 1000, 3, 2)
    found = um_phi(vectors(table))
    assert found.monte_carlo_error is None
    by_chance = sampled(table, 4_000_000)
    assert found.value == pytest.approx(1 - by_chance.d_o / by_chance.d_e, abs=4 * by_chance.error)
