"""The limit of agreement on anchors, which holds however often one looks."""

import numpy as np
import pytest

from agreement_pipeline.models import compare_with_anchors

TAIL, LOST = 0.025, 0.05


def alarms(right, n_looks, times, seed, lost=0.0, since=0):
    """How often drift is seen of a classifier that agrees on each anchor with a probability.

    The agreement that was certified is the most of which it may lose as much as it does.
    """
    rng, found = np.random.default_rng(seed), 0
    first = np.full(len(right), right.mean() + LOST)
    for _ in range(times):
        gone = np.where(np.arange(n_looks) >= since, lost, 0.0)[:, None]
        looks = (rng.random((n_looks, len(right))) < right - gone).astype(float)
        found += compare_with_anchors(first, looks, LOST, TAIL).drifted
    return found / times


@pytest.mark.parametrize(
    ("right", "n_looks"),
    [
        (np.full(30, 0.8), 12),
        (np.full(30, 0.8), 52),
        (np.full(100, 0.94), 12),
        (np.r_[np.full(80, 1.0), np.full(20, 0.25)], 12),
    ],
    ids=["few", "few every week", "many", "some always and some seldom"],
)
def test_in_a_year_of_looks_a_false_alarm_is_as_rare_as_promised(right, n_looks):
    times = 600 if n_looks == 12 else 200
    most = TAIL + 3 * np.sqrt(TAIL * (1 - TAIL) / times)
    assert alarms(right, n_looks, times, seed=n_looks) <= most


def test_of_300_anchors_luck_at_the_first_look_ends_no_more_than_promised():
    rng, right = np.random.default_rng(8), np.full(300, 0.8)
    found = [
        compare_with_anchors(said[0], said[1:], LOST, TAIL).drifted
        for said in (rng.random((40, 53, 300)) < right).astype(float)
    ]
    assert np.mean(found) <= TAIL + 3 * np.sqrt(TAIL * (1 - TAIL) / 40)


@pytest.mark.parametrize(("lost", "least", "most"), [(0.0, 0.0, 0.1), (LOST, 0.15, 0.5)])
def test_luck_when_it_was_certified_counts_at_the_edge_of_what_may_be_lost(lost, least, most):
    """Of 100 anchors, as docs/proofs/silver.md says for years of 52 looks."""
    rng = np.random.default_rng(9)
    found = [
        compare_with_anchors(
            (rng.random(100) < 0.8).astype(float),
            (rng.random((52, 100)) < 0.8 - lost).astype(float),
            LOST,
            TAIL,
        ).drifted
        for _ in range(60)
    ]
    assert least <= np.mean(found) <= most


@pytest.mark.parametrize(("since", "least"), [(0, 0.95), (6, 0.9)])
def test_a_loss_of_a_fifth_is_seen_within_a_year(since, least):
    right = np.full(100, 0.9)
    assert alarms(right, 12, 100, seed=1, lost=0.2, since=since) >= least


def test_what_the_formula_gives_by_hand():
    looks = np.array([[1.0, 0.5], [0.0, 0.5]])
    bets = np.linspace(0.05, 0.95, 19)

    def evidence(c):
        rise = np.prod(1 + bets[:, None, None] * (c - looks) / (1 - c), axis=2)
        first = rise[:, 0].mean() / 2 + 1 / 2
        second = (rise[:, 0] * rise[:, 1]).mean() / 2 + rise[:, 1].mean() / 6 + 1 / 3
        return max(first, second)

    found = compare_with_anchors(np.ones(2), looks, LOST, TAIL)
    assert evidence(found.upper) == pytest.approx(1 / TAIL, rel=1e-6)
    assert (found.first, found.last, found.n_items, found.n_looks) == (1.0, 0.25, 2, 2)


def test_the_limit_only_falls_with_more_looks():
    rng = np.random.default_rng(3)
    looks = (rng.random((8, 40)) < 0.6).astype(float)
    limits = [compare_with_anchors(looks[0], looks[:n], LOST, TAIL).upper for n in range(1, 9)]
    assert limits == sorted(limits, reverse=True)
