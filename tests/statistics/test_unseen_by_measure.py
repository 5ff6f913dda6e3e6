"""Unseen items are as unlike as the measure can tell.

So a few items near each other do not look like agreement.
"""

import numpy as np
import pytest

from agreement_pipeline import Scale
from agreement_pipeline.estimates import estimate, estimate_each
from agreement_pipeline.estimates.differences import Side, estimate_difference
from agreement_pipeline.intervals import Inference
from agreement_pipeline.statistics import CategoryCounts, LabelsByRater
from tests.forms import FORMS

FIVE = Scale((1, 2, 3, 4, 5), "ordinal")
SETS = Scale(("a|b|c|d|e", "a|b|c|d|e|f", "g", "h"))
SPANS = [
    name
    for name, record in FORMS.items()
    if name.startswith(("gwet_ac2_", "brennan_prediger_")) and "ordinal" in record.levels
]
ROUNDS = 150
MANY = 1e9


def counts(codes, scale):
    return CategoryCounts((codes[:, :, None] == np.arange(len(scale.names))).sum(1), scale=scale)


def misses(names, scale, draw, truths, n):
    """The share of rounds of n items whose lower limit lies above the true value, by measure."""
    rng = np.random.default_rng(n)
    rounds = [
        estimate_each(names, counts(draw(rng, n), scale), Inference(n_resamples=400, seed=number))
        for number in range(ROUNDS)
    ]
    return [
        np.mean([each.interval is not None and each.interval.low > truth for each in of])
        for of, truth in zip(zip(*rounds, strict=True), truths, strict=True)
    ]


@pytest.mark.parametrize("name", SPANS)
@pytest.mark.parametrize("items", [[(2, 3)] * 2, [(2, 2), (2, 3)], [(2, 2)] * 6])
def test_a_few_items_near_each_other_on_the_scale_are_not_reliable(name, items):
    assert estimate(name, counts(np.array(items), FIVE)).interval.low < 0.667


def test_the_measures_that_count_in_spans_of_the_scale_are_all_here():
    assert len(SPANS) >= 10


@pytest.mark.parametrize("name", SPANS)
@pytest.mark.parametrize(
    "of", [lambda rows, weights: LabelsByRater(rows, weights, scale=FIVE, raters="ab"), None]
)
def test_a_round_of_few_items_near_each_other_differs_from_a_large_one_as_its_interval_says(
    name, of
):
    rows, large = [(2, 2), (2, 3)], np.array([1e7, 1e7])
    few, many = (
        counts(np.array(rows), FIVE).with_weights(np.array(weights))
        if of is None
        else of(rows, weights)
        for weights in ([10.0, 10.0], large)
    )
    alone = estimate(name, few)
    found = estimate_difference(Side("few", name, few), Side("many", name, many))
    assert found.low < -0.5 * (alone.value - alone.low)


def test_limits_in_spans_of_the_scale_hold_where_raters_use_its_middle_and_seldom_guess():
    names = ["gwet_ac2_quadratic", "brennan_prediger_quadratic"]
    pairs = np.array([(one, other) for one in range(5) for other in range(5)])
    in_the_middle = np.isin(pairs, (2, 3)).all(1) / 4
    population = counts(pairs, FIVE).with_weights((0.1 / 25 + 0.9 * in_the_middle) * MANY)
    truths = [float(FORMS[name](population).value) for name in names]

    def draw(rng, n):
        return np.where(
            rng.random((n, 1)) < 0.1, rng.integers(5, size=(n, 2)), rng.integers(2, 4, size=(n, 2))
        )

    for n in (20, 80):
        assert max(misses(names, FIVE, draw, truths, n)) < 0.05


def test_limits_hold_on_sets_of_which_the_commonest_two_are_nearly_one():
    share = np.array([0.46, 0.46, 0.04, 0.04])
    rng = np.random.default_rng(0)

    def draw(rng, n):
        label = rng.choice(4, size=(n, 1), p=share)
        return np.where(rng.random((n, 1)) < 0.05, rng.choice(4, size=(n, 3), p=share), label)

    truth = float(FORMS["alpha_jaccard"](counts(draw(rng, 400_000), SETS)).value)
    assert truth == pytest.approx(0.949, abs=0.003)
    assert max(misses(["alpha_jaccard"], SETS, draw, [truth], 120)) < 0.05
