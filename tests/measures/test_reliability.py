"""Campagner and Cabitza's ρ against equations 1 to 5 as loops, and the source's model of raters."""

from itertools import permutations

import numpy as np
import pytest

from agreement_pipeline.estimates import estimate
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.statistics import ReplicatedLabels
from tests.measures.meetings import bisected, replicated

EXACT, ROBUST = MEASURES["campagner_cabitza_rho"], MEASURES["campagner_cabitza_rho_robust"]


def equations_1_to_5(first, cells, weights, categories, robust):
    """x, y, the factors and ρ, as loops over raters, items and pairs."""
    used = [
        sum(w for row, w in zip(first, weights, strict=True) for k in row if k == c)
        for c in range(categories)
    ]
    p = np.array(used) / sum(used)
    raters = range(len(first[0]))
    factors = {}
    for i in raters:
        mine = [
            (weights[u], np.array(c) / sum(c))
            for (u, r), c in cells.items()
            if r == i and sum(c) >= np.sum(p > 0)
        ]
        if not mine:
            continue
        total = sum(w for w, _ in mine)
        x = sum(w * bisected(d, p) for w, d in mine) / total
        y = sum(w * (d - bisected(d, p) * p) for w, d in mine) / total
        strength = np.full(categories, y.sum()) if robust else y
        factors[i] = [
            s / (s + q * x) if s + q * x > 1e-14 else np.nan
            for s, q in zip(strength, p, strict=True)
        ]
    above = below = 0.0
    for row, w in zip(first, weights, strict=True):
        pairs = [
            (i, j)
            for i, j in permutations(raters, 2)
            if row[i] >= 0 and row[j] >= 0 and i in factors and j in factors
        ]
        if pairs:
            above += w * np.mean(
                [
                    factors[i][row[i]] * factors[j][row[j]] if row[i] == row[j] else 0.0
                    for i, j in pairs
                ]
            )
            below += w
    return above / below


def drawn(seed, categories, repetitions, missing=0.2, items=12, raters=4):
    rng = np.random.default_rng(seed)
    first = np.where(
        rng.random((items, raters)) < 0.6,
        rng.integers(categories, size=(items, 1)),
        rng.integers(categories, size=(items, raters)),
    )
    first = np.where(rng.random(first.shape) < missing, -1, first)
    cells = {}
    for u, i in rng.permutation([(u, i) for u in range(items) for i in range(raters - 1)])[:16]:
        likely = rng.dirichlet(np.ones(categories))
        cells[int(u), int(i)] = rng.multinomial(repetitions, likely).tolist()
    return first, cells, rng.integers(1, 4, size=items).astype(float)


@pytest.mark.parametrize("robust", [False, True], ids=["exact", "robust"])
@pytest.mark.parametrize(("categories", "repetitions"), [(2, 2), (2, 6), (3, 12), (4, 40)])
@pytest.mark.parametrize("seed", range(4))
def test_rho_is_equations_1_to_5_as_loops(seed, categories, repetitions, robust):
    first, cells, weights = drawn(seed, categories, repetitions)
    record = ROBUST if robust else EXACT
    replicates = replicated(first, cells, weights, [f"c{k}" for k in range(categories)])
    expected = equations_1_to_5(first, cells, weights, categories, robust)
    assert (record.why_undefined(replicates) is not None) == np.isnan(expected)
    assert record(replicates).value == pytest.approx(expected, abs=1e-11, nan_ok=True)


FIRST = [[0, 0, -1], [0, 1, -1], [1, 1, 1], [1, -1, 1]]


def test_raters_whose_replicates_do_not_show_guessing_are_named():
    names = ("a", "b", "c")
    cells = {
        (0, 0): [3, 2, 1],
        (1, 0): [1, 3, 2],
        (0, 1): [4, 1, 1],
        (1, 1): [1, 4, 1],
        (2, 2): [0, 2, 0],
    }
    replicates = replicated([[0, 0, 0, 1], [1, 1, 2, 1], [2, 2, 1, -1]], cells, names=names)
    for record in (EXACT, ROBUST):
        assert record.raters_left_out(replicates) == ("r2", "r3")


@pytest.mark.parametrize(
    ("first", "cells", "names", "reason"),
    [
        (FIRST, {}, ("no", "yes"), "no rater met an item twice"),
        (
            [[0, 0], [0, 0]],
            {(0, 0): [2, 0], (0, 1): [2, 0]},
            ("no", "yes"),
            "the first ratings use fewer than two categories",
        ),
        (
            [[0, 1], [2, 2]],
            {(0, 0): [1, 1, 0], (0, 1): [2, 0, 0]},
            ("a", "b", "c"),
            "fewer times than there are categories in use",
        ),
        (
            [[0, -1], [-1, 1], [1, -1]],
            {(0, 0): [1, 1], (1, 1): [2, 0]},
            ("no", "yes"),
            "no item was rated by two raters with replicates",
        ),
        (
            [[0, 0, 0], [1, 1, 0]],
            {(0, 0): [1, 1]},
            ("no", "yes"),
            "no item was rated by two raters with replicates",
        ),
    ],
)
def test_both_forms_say_why_they_have_no_value(first, cells, names, reason):
    replicates = replicated(first, cells or {(0, 0): [2, 0]}, names=names)
    if not cells:
        replicates = ReplicatedLabels(np.empty((0, 2)), [], [], replicates.first)
    for record in (EXACT, ROBUST):
        assert reason in (record.why_undefined(replicates) or "")
        assert np.isnan(record(replicates).value)
        assert reason in (estimate(record.name, replicates).undefined or "")


def test_only_the_exact_form_has_no_value_where_raters_agree_on_a_category_never_repeated():
    replicates = replicated(
        [[0, 0], [1, 1], [0, 1]], {(0, 0): [3, 0], (1, 0): [0, 3], (0, 1): [3, 0]}
    )
    assert "a category that one of them never gave to an item they met again" in (
        EXACT.why_undefined(replicates) or ""
    )
    assert np.isnan(EXACT(replicates).value)
    assert ROBUST.why_undefined(replicates) is None
    assert ROBUST(replicates).value == pytest.approx(2 / 3)


def test_a_category_never_repeated_does_not_matter_where_no_raters_agree_on_it():
    replicates = replicated([[0, 0], [0, 1]], {(0, 0): [3, 0], (0, 1): [3, 0]})
    assert EXACT.why_undefined(replicates) is None
    assert EXACT(replicates).value == pytest.approx(0.5)


def test_items_met_too_few_times_are_left_out_and_their_rater_counts_as_without_replicates():
    names = ("a", "b", "c")
    first = [[0, 0, 0], [1, 1, 2], [2, 2, 1]]
    enough = {(0, 0): [3, 2, 1], (1, 0): [1, 3, 2], (0, 1): [4, 1, 1], (1, 1): [1, 4, 1]}
    with_short = {**enough, (2, 0): [1, 0, 1], (2, 2): [0, 2, 0]}
    for record in (EXACT, ROBUST):
        assert record(replicated(first, with_short, names=names)).value == pytest.approx(
            float(record(replicated(first, enough, names=names)).value)
        )


def test_the_interval_of_perfect_replicates_and_agreement_is_not_certain():
    first = [[0, 0, 0]] * 10 + [[1, 1, 1]] * 10
    cells = {(u, i): [2, 0] if u < 10 else [0, 2] for u in range(20) for i in range(3)}
    found = estimate("campagner_cabitza_rho", replicated(first, cells))
    assert found.value == pytest.approx(1.0)
    assert found.interval is not None
    assert found.interval.low < 0.95
