import numpy as np
import pytest

from agreement_pipeline import Scale
from agreement_pipeline.measures.gwet import gwet_ac2, gwet_ordinal_alpha
from agreement_pipeline.measures.weighting import (
    BIPOLAR,
    CIRCULAR,
    IDENTITY,
    LINEAR,
    ORDINAL,
    QUADRATIC,
    RADICAL,
    RATIO,
)
from agreement_pipeline.statistics import CategoryCounts, LabelsByRater
from tests.forms import FORMS

EVERY = [IDENTITY, LINEAR, QUADRATIC, RADICAL, ORDINAL, RATIO, CIRCULAR, BIPOLAR]
SCALE = Scale((1.0, 2.0, 5.0, 6.0), "ratio")
SIX_RATERS = [
    [0, 0, 0, 6, 0],
    [0, 3, 0, 0, 3],
    [0, 1, 4, 0, 1],
    [0, 0, 0, 0, 6],
    [0, 3, 0, 3, 0],
    [2, 0, 4, 0, 0],
    [0, 0, 4, 0, 2],
    [2, 0, 3, 1, 0],
    [2, 0, 0, 4, 0],
    [0, 0, 0, 0, 6],
    [1, 0, 0, 5, 0],
    [1, 1, 0, 4, 0],
    [0, 3, 3, 0, 0],
    [1, 0, 0, 5, 0],
    [0, 2, 0, 3, 1],
]


def random_counts(seed, complete=False):
    codes = np.random.default_rng(seed).integers(0 if complete else -1, 4, size=(25, 4))
    return codes.tolist(), LabelsByRater(codes, scale=SCALE, raters=tuple("abcd")).counts()


@pytest.mark.parametrize("weighting", EVERY)
def test_ac2_is_the_loop_over_pairs(weighting):
    rows, counts = random_counts(1)
    w = weighting.matrix(SCALE)
    agreed, shares = [], []
    for row in rows:
        labels = [k for k in row if k >= 0]
        pairs = [w[a][b] for i, a in enumerate(labels) for j, b in enumerate(labels) if i != j]
        agreed += [sum(pairs) / len(pairs)] if pairs else []
        shares += [[labels.count(k) / len(labels) for k in range(4)]] if labels else []
    pi = np.mean(shares, axis=0)
    expected = w.sum() / 12 * sum(p * (1 - p) for p in pi)
    assert float(gwet_ac2(counts, weighting).value) == pytest.approx(
        (np.mean(agreed) - expected) / (1 - expected), abs=1e-12
    )


def test_without_weights_ac2_is_ac1():
    _, counts = random_counts(2)
    assert float(gwet_ac2(counts, IDENTITY).value) == pytest.approx(
        float(FORMS["gwet_ac1"](counts).value), abs=1e-14
    )


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("gwet_ac2_quadratic", 0.4837438),
        ("fleiss_kappa_quadratic", 0.2511909),
        ("brennan_prediger_quadratic", 0.4177778),
    ],
)
def test_six_raters_have_the_quadratic_values_that_irrcac_prints(name, printed):
    counts = CategoryCounts(SIX_RATERS, scale=Scale(tuple(range(1, 6)), "interval"))
    assert float(FORMS[name](counts).value) == pytest.approx(printed, abs=5e-8)


def test_two_abstractors_have_the_quadratic_value_that_irrcac_prints():
    codes = [(a, b) for a in range(3) for b in range(3)]
    table = [13, 0, 0, 0, 20, 7, 0, 4, 56]
    counts = LabelsByRater(
        codes, table, scale=Scale((1, 2, 3), "interval"), raters=("a", "b")
    ).counts()
    assert float(FORMS["gwet_ac2_quadratic"](counts).value) == pytest.approx(0.9402369, abs=5e-8)
    assert float(FORMS["brennan_prediger_quadratic"](counts).value) == pytest.approx(
        0.9175, abs=5e-8
    )


def test_gwets_four_raters_have_the_values_that_irrcac_prints():
    rows = np.array(
        [
            [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 0],
            [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 3],
            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
        ]
    ).T
    counts = LabelsByRater(
        rows - 1, scale=Scale(tuple(range(1, 6)), "interval"), raters=tuple("abcd")
    ).counts()
    printed = {
        "gwet_ac2_linear": 0.85874,
        "gwet_ac2_quadratic": 0.914,
        "brennan_prediger_quadratic": 0.90152,
        "gwet_ordinal_alpha": 0.83364,
    }
    for name, value in printed.items():
        assert float(FORMS[name](counts).value) == pytest.approx(value, abs=5e-6)


def test_a_category_that_nobody_uses_raises_ac2_and_leaves_alpha_alone():
    rows = [[2, 0, 0], [1, 1, 0], [0, 0, 2], [0, 1, 1]]
    three = CategoryCounts(rows, scale=Scale((1.0, 2.0, 3.0), "interval"))
    four = CategoryCounts(
        [[*row, 0] for row in rows], scale=Scale((1.0, 2.0, 3.0, 4.0), "interval")
    )
    assert float(gwet_ac2(four, LINEAR).value) > float(gwet_ac2(three, LINEAR).value)
    assert float(gwet_ordinal_alpha(four).value) == pytest.approx(
        float(gwet_ordinal_alpha(three).value), abs=1e-14
    )


def test_ratings_of_one_category_are_agreement_for_ac2_and_nothing_for_alpha():
    counts = CategoryCounts([[3, 0, 0]], [9], scale=Scale(tuple("abc"), "ordinal"))
    assert float(FORMS["gwet_ac2_linear"](counts).value) == 1
    assert np.isnan(gwet_ordinal_alpha(counts).value)
    assert "one and the same label" in FORMS["gwet_ordinal_alpha"].why_undefined(counts)


def test_quadratic_ac2_and_fleiss_kappa_differ_in_chance_alone():
    _, counts = random_counts(3)
    ac2, kappa = (
        FORMS["gwet_ac2_quadratic"](counts),
        FORMS["fleiss_kappa_quadratic"](counts),
    )
    assert float((1 - ac2.value) * (1 - ac2.expected)) == pytest.approx(
        float((1 - kappa.value) * (1 - kappa.expected)), abs=1e-12
    )
