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
from tests.measures.loops import slow_agreement

K = 3
SCALE = Scale((0.0, 1.0, 4.0), "interval")


def patterns_of(codes, scale=SCALE):
    return LabelsByRater(codes, scale=scale, raters=[f"r{j}" for j in range(np.shape(codes)[1])])


def slow(rows, w):
    """Observed over pairs of ratings, expected over ordered pairs of raters with their shares."""
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
    return (slow_agreement(rows, w) - expected) / (1 - expected)


@pytest.mark.parametrize("weighting", [IDENTITY, *WEIGHTINGS.values()])
@pytest.mark.parametrize("seed", range(3))
def test_congers_kappa_is_the_loop_over_pairs_of_raters(weighting, seed):
    codes = np.random.default_rng(seed).integers(-1, K, size=(25, 4))
    assert float(shah_kappa_s(patterns_of(codes), weighting).value) == pytest.approx(
        slow(codes.tolist(), weighting.weight_matrix(SCALE)), abs=1e-12
    )


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
