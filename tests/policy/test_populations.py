"""The assumed population has the expected value."""

import numpy as np
import pytest

from agreement_pipeline.errors import PolicyError
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.policy.planning import build_assumed_population
from tests.policy.guessed_items import ALPHA, rounds_of_clear_and_guessed_items

MANY = 10**6


@pytest.mark.parametrize("prevalence", [(0.5, 0.5), (0.7, 0.2, 0.1)])
@pytest.mark.parametrize(
    "measure",
    [
        ALPHA,
        "fleiss_kappa",
        "shah_kappa_s",
        "gwet_ac1",
        "self_agreement_unbiased",
        "percent_agreement",
    ],
)
def test_the_assumed_population_has_the_expected_value(measure, prevalence):
    population = build_assumed_population(measure, 0.9, prevalence, 3)
    shares = population.weights / population.weights.sum()
    assert shares.sum() == pytest.approx(1)
    assert float(MEASURES[measure](population.with_weights(shares * MANY)).value) == pytest.approx(
        0.9, abs=1e-5
    )


def test_under_the_assumption_alpha_is_the_share_of_clear_items():
    counts = rounds_of_clear_and_guessed_items(
        np.random.default_rng(1), 0.8, (0.6, 0.4), 3, 400_000
    )
    assert float(MEASURES[ALPHA](counts).value) == pytest.approx(0.8, abs=0.005)
    population = build_assumed_population(ALPHA, 0.8, (0.6, 0.4), 3)
    shares = {
        tuple(row): weight
        for row, weight in zip(
            population.counts.astype(int).tolist(), population.weights, strict=True
        )
    }
    assert shares[(3, 0)] == pytest.approx(0.8 * 0.6 + 0.2 * 0.6**3, abs=1e-6)
    assert shares[(2, 1)] == pytest.approx(0.2 * 3 * 0.6**2 * 0.4, abs=1e-6)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((ALPHA, 0.9, (0.5, 0.6), 3), "two shares or more"),
        ((ALPHA, 0.9, (1.0,), 3), "two shares or more"),
        ((ALPHA, -0.5, (0.5, 0.5), 3), "that raters who know or guess can have"),
        (
            ("shah_s", 0.9, (0.5, 0.5), 3),
            "found a measure of one rater or classifier beside the panel; expected a measure of "
            "the labels of all raters, or of raters beside themselves. Plan from an earlier round",
        ),
        (("shah_kappa_s", 0.9, tuple([0.1] * 10), 6), "Plan for fewer raters"),
        (("shah_kappa_s", 0.9, (0.5, 0.5), 1000), "Plan for fewer raters"),
        ((ALPHA, 0.9, tuple([0.01] * 100), 1000), "Plan for fewer raters"),
        ((ALPHA, 0.9, (0.5, 0.5), 1001), "labels an item: found 1001; expected 2 to 1000"),
        ((ALPHA, 0.9, (0.5, 0.5), 10**9), "expected 2 to 1000"),
    ],
)
def test_what_cannot_be_assumed_is_refused(arguments, words):
    with pytest.raises(PolicyError, match=words):
        build_assumed_population(*arguments)


def test_as_many_labels_an_item_as_may_be_have_the_value_expected():
    population = build_assumed_population(ALPHA, 0.9, (0.5, 0.5), 1000)
    assert MEASURES[ALPHA](
        population.with_weights(population.weights * 1e9)
    ).value == pytest.approx(0.9, abs=1e-6)
