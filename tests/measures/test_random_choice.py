"""Shares of random choice, which Campagner and Cabitza's ρ rests on."""

import numpy as np
import pytest

from agreement_pipeline.intervals import draw_reweighted
from agreement_pipeline.measures.reliability import _estimate_guessing, random_choice_share
from tests.measures.meetings import bisected, replicated


@pytest.mark.parametrize("categories", [2, 3, 6])
def test_random_choice_is_found_to_twelve_digits_by_halving_too(categories):
    rng = np.random.default_rng(categories)
    p = rng.dirichlet(np.ones(categories) * rng.choice([0.3, 1, 30], size=1))
    d = np.vstack(
        [rng.dirichlet(np.ones(categories) * size, size=30) for size in (0.3, 1, 30)] + [p[None]]
    )
    assert random_choice_share(d, p) == pytest.approx([bisected(row, p) for row in d], abs=1e-12)


def test_random_choice_where_shares_are_as_the_panels_has_a_closed_form():
    for p in ([0.5, 0.5], [0.9, 0.1], [0.2, 0.3, 0.5]):
        entropy = -np.sum(p * np.log(p))
        closed = np.exp(-entropy) / (1 + np.exp(-entropy))
        assert random_choice_share(np.array([p]), np.array(p)) == pytest.approx(closed, abs=1e-12)


def test_a_category_that_a_rater_never_gave_rules_out_random_choice_only_if_it_is_in_use():
    p = np.array([0.5, 0.5, 0.0])
    assert random_choice_share(np.array([[1.0, 0.0, 0.0]]), p) == 0
    assert random_choice_share(np.array([[0.5, 0.5, 0.0]]), p) == pytest.approx(1 / 3)
    assert random_choice_share(np.array([[0.25, 0.25, 0.5]]), p) == pytest.approx(
        bisected([0.25, 0.25, 0.5], p), abs=1e-12
    )


def test_shares_one_grain_apart_and_near_the_edge_are_still_solved():
    p = np.array([0.999, 0.001])
    d = np.array([[0.999, 0.001], [1 - 1e-6, 1e-6], [1e-6, 1 - 1e-6], [0.5, 0.5]])
    assert random_choice_share(d, p) == pytest.approx([bisected(row, p) for row in d], abs=1e-12)


def shares_drawn(first, cells, names):
    """Each rater's share of random choice in every draw, shape (B, R)."""
    return np.concatenate(
        [
            _estimate_guessing(block).x
            for block in draw_reweighted(replicated(first, cells, names=names), 500, seed=1)
        ]
    )


def test_a_rater_with_too_few_meetings_to_show_guessing_has_no_share_in_any_draw():
    first = [[k, k] for k in (0, 1, 2)] * 4
    cells = {(u, 0): 6 * np.eye(3)[u % 3] for u in range(12)} | {
        (u, 1): 2 * np.eye(3)[u % 3] for u in range(2)
    }
    x = shares_drawn(first, cells, "abc")
    assert np.isnan(x[:, 1]).all()
    assert np.isfinite(x[:, 0]).all()


def test_shares_of_random_choice_are_not_certain_where_most_replicates_are_too_short_to_show_them():
    first = [[k, k] for k in (0, 1, 2)] * 10
    cells = {(u, i): (6 if u < 3 else 2) * np.eye(3)[u % 3] for u in range(30) for i in range(2)}
    x = shares_drawn(first, cells, "abc")
    assert (x.min(0) >= 0).all()
    assert (x.std(0) > 0.01).all()
