import numpy as np
import pytest

from agreement_pipeline import Scale
from agreement_pipeline.estimates import estimate
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures.fixed_panel import shah_kappa_s
from agreement_pipeline.measures.weighting import IDENTITY, WEIGHTINGS
from agreement_pipeline.policy import Rule
from agreement_pipeline.statistics import LabelsByRater
from tests.forms import FORMS

K = 3
SCALE = Scale((0.0, 1.0, 4.0), "interval")


def patterns_of(codes, scale=SCALE):
    return LabelsByRater(codes, scale=scale, raters=[f"r{j}" for j in range(np.shape(codes)[1])])


def slow(rows, w):
    """Observed over pairs of ratings, expected over ordered pairs of raters with their shares."""
    agreed = []
    for row in rows:
        labels = [k for k in row if k >= 0]
        pairs = [w[a][b] for i, a in enumerate(labels) for j, b in enumerate(labels) if i != j]
        agreed += [sum(pairs) / len(pairs)] if pairs else []
    n_raters = len(rows[0])
    own = [[row[g] for row in rows if row[g] >= 0] for g in range(n_raters)]
    v = [[labels.count(k) / len(labels) for k in range(K)] for labels in own]
    chance = [
        w[a][b] * v[g][a] * v[h][b]
        for g in range(n_raters)
        for h in range(n_raters)
        if g != h
        for a in range(K)
        for b in range(K)
    ]
    expected = sum(chance) / (n_raters * (n_raters - 1))
    return (np.mean(agreed) - expected) / (1 - expected)


@pytest.mark.parametrize("weighting", [IDENTITY, *WEIGHTINGS.values()])
@pytest.mark.parametrize("seed", range(3))
def test_congers_kappa_is_the_loop_over_pairs_of_raters(weighting, seed):
    codes = np.random.default_rng(seed).integers(-1, K, size=(25, 4))
    assert float(shah_kappa_s(patterns_of(codes), weighting).value) == pytest.approx(
        slow(codes.tolist(), weighting.matrix(SCALE)), abs=1e-12
    )


def test_the_quadratic_form_is_what_irrcac_prints():
    codes = np.array(
        [
            [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 0],
            [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 3],
            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
        ]
    ).T
    found = FORMS["conger_kappa_quadratic"](
        patterns_of(codes - 1, Scale(tuple(range(1, 6)), "interval"))
    )
    assert float(found.value) == pytest.approx(0.85771, abs=5e-6)
    assert float(found.expected) == pytest.approx(0.8269638, abs=5e-8)


def test_the_syphilis_laboratories_have_what_shahs_equations_give_and_not_what_he_prints():
    """The printed chance agreements divide by r squared. Equations 4 and 7 divide by r (r - 1)."""
    nr, bl, re = range(3)
    rows = {
        (re, re, re, re): 12,
        (nr, nr, nr, bl): 5,
        (nr, nr, nr, nr): 4,
        (re, bl, bl, re): 2,
        (re, nr, bl, re): 2,
        (bl, nr, nr, bl): 3,
    }
    codes = np.array(list(rows))
    laboratories = LabelsByRater(
        codes[:, :3], list(rows.values()), scale=Scale(("NR", "BL", "RE")), raters=("1", "2", "3")
    )
    kappa, s = (
        FORMS["shah_kappa_s"](laboratories),
        FORMS["shah_s"](laboratories.with_classifier(codes[:, 3], "T")),
    )
    for found, value, observed, expected in (
        (kappa, 0.67908, 0.80952, 0.40646),
        (s, 0.63576, 0.57143, 0.15586),
    ):
        assert [
            float(part) for part in (found.value, found.observed, found.expected)
        ] == pytest.approx([value, observed, expected], abs=5e-6)
    assert float(s.greatest) == pytest.approx(0.80952, abs=5e-6)
    assert float(kappa.expected) * 6 / 9 == pytest.approx(0.272, abs=2e-3)
    assert float(s.expected) * 6 / 9 == pytest.approx(0.105, abs=2e-3)


@pytest.mark.parametrize("weights", ["", *(f"_{name}" for name in WEIGHTINGS)])
def test_of_two_raters_congers_kappa_is_cohens(weights):
    level = "ratio" if weights else "nominal"
    codes = np.random.default_rng(5).integers(-1, K, size=(25, 2))
    patterns = patterns_of(codes, Scale((0, 1, 4) if weights else tuple("abc"), level))
    conger, cohen = (
        float(FORMS[name + weights](patterns).value) for name in ("conger_kappa", "cohen_kappa")
    )
    assert conger == pytest.approx(cohen, abs=1e-14)


def test_congers_kappa_is_shahs_under_another_name_that_policies_accept():
    codes = np.random.default_rng(6).integers(0, K, size=(25, 3))
    patterns = patterns_of(codes, Scale(tuple("abc")))
    conger, shah = (
        estimate(name, patterns, Inference(n_resamples=200))
        for name in ("conger_kappa", "shah_kappa_s")
    )
    assert conger.value == shah.value
    (verdict,) = Rule("conger_kappa").judge([conger, shah])
    assert verdict.estimate is conger


def test_a_classifier_gains_nothing_on_shahs_s_from_a_panel_that_agrees_less_than_chance():
    never_agree = LabelsByRater(
        [[0, 1], [1, 0]], [10, 10], scale=Scale(("no", "yes")), raters=("a", "b")
    )
    panel = never_agree.with_classifier([0, 1], "model")
    assert np.isnan(FORMS["shah_s"](panel).value)
    assert (
        FORMS["shah_s"].why_undefined(panel)
        == "the greatest agreement that the panel allows is no more than chance alone would give"
    )
