"""What Shah (2011) says of panels in expectation and of variances, by simulation, seeded."""

import numpy as np
import pytest

from agreement_pipeline.measures import MEASURES
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import LabelsByRater

K = 4
SCALE = Scale(("L1", "L2", "L3", "L4"))
ALIKE = np.full((4, K), 1 / K)
APART = 0.8 * np.eye(K) + 0.05  # each expert favours another category
LEANING = np.array([[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.25, 0.25]])


def drawn(rng, biases, n, knowing):
    """Experts who know an instance's label with probability `knowing`.

    Otherwise they label by their own bias.
    """
    guesses = np.column_stack([rng.choice(K, size=n, p=bias) for bias in biases])
    truth = rng.integers(K, size=(n, 1))
    codes = np.where(rng.random((n, len(biases))) < knowing, truth, guesses)
    return LabelsByRater(codes, scale=SCALE, raters=range(len(biases)))


def simulated(biases, n, draws, knowing=0.0):
    """Observed and expected agreement and the values of κ_S and κ_F, shape (draws, 3) each."""
    rng = np.random.default_rng(2011)
    panels = [drawn(rng, biases, n, knowing) for _ in range(draws)]
    kappa_s = [MEASURES["shah_kappa_s"](panel) for panel in panels]
    kappa_f = [MEASURES["fleiss_kappa"](panel.counts()) for panel in panels]
    return (
        np.array([(c.observed, c.expected, c.value) for c in found]) for found in (kappa_s, kappa_f)
    )


def within_error(values, mean):
    return abs(values.mean() - mean) < 4 * values.std(ddof=1) / np.sqrt(len(values))


@pytest.mark.parametrize("n", [10, 200])
def test_experts_who_guess_alike_have_the_agreement_that_kappa_s_expects_and_less_than_kappa_f_does(
    n,
):
    """Hypo1: E A_o = E A_e = 1/k in a fixed panel.

    Pooling adds the variance of the shares, (1 - 1/k) / (n r).
    """
    kappa_s, kappa_f = simulated(ALIKE, n, 1_500)
    assert within_error(kappa_s[:, 0] - kappa_s[:, 1], 0)
    assert within_error(kappa_s[:, 1], 1 / K)
    assert within_error(kappa_f[:, 1], 1 / K + (1 - 1 / K) / (n * len(ALIKE)))
    assert (kappa_f[:, 1] > kappa_s[:, 1]).all()


def test_experts_who_guess_differently_have_no_agreement_in_a_fixed_panel_and_less_pooled():
    kappa_s, kappa_f = simulated(APART, 200, 500)
    assert within_error(kappa_s[:, 0] - kappa_s[:, 1], 0)
    assert (kappa_f[:, 2] < -0.1).all()


@pytest.mark.parametrize("knowing", [0.0, 0.5])
@pytest.mark.parametrize(
    ("biases", "most"),
    [(ALIKE, 1.005), (LEANING, 0.99), (APART, 0.75)],
    ids=["alike", "leaning", "apart"],
)
def test_the_variance_of_kappa_s_is_at_most_that_of_kappa_f_and_smaller_the_more_experts_differ(
    biases, most, knowing
):
    """Theorem 1, on the same 400 instances for both coefficients.

    The variances are equal if the experts emulate the pool. Otherwise that of κ_S is smaller.
    """
    kappa_s, kappa_f = simulated(biases, 400, 400, knowing)
    share = kappa_s[:, 2].var(ddof=1) / kappa_f[:, 2].var(ddof=1)
    assert share < most
    assert (share > 0.98) == (biases is ALIKE)
