"""Limits of low values and upper limits hold, though unseen items pull towards the middle.

Each round is a table of two raters and two categories. All tables that may occur are judged, and
each counts with its exact probability.
"""

import numpy as np
import pytest
from scipy.stats import binom, multinomial, norm, t

from agreement_pipeline.estimates import estimate
from agreement_pipeline.intervals import ExpandedPercentiles, Inference, Percentiles
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import CategoryCounts

ROWS = np.array([[2, 0], [1, 1], [0, 2]])
TWO = Scale(("no", "yes"))
FEW = Inference(n_resamples=1000)
PROMISED, MEASURED = 2.5, 1.0


def shares(prevalence, known):
    """The shares of items: known by both raters, or guessed by both with the prevalence."""
    p, q = prevalence, 1 - prevalence
    guessed = np.array([q * q, 2 * p * q, p * p])
    return known * np.array([q, 0, p]) + (1 - known) * guessed


def misses(measure, truth, population, n):
    """In how many percent of rounds the lower and the upper limit are on the wrong side."""
    under, over = 0.0, 0.0
    for mixed in range(n + 1):
        for both in range(n + 1 - mixed):
            weights = np.array([n - mixed - both, mixed, both])
            chance = multinomial.pmf(weights, n, population)
            if chance < 1e-5 or (both == mixed == 0 and measure != "gwet_ac1"):
                continue
            kept = weights > 0
            found = estimate(measure, CategoryCounts(ROWS[kept], weights[kept], scale=TWO), FEW)
            if found.interval:
                under += 100 * chance * (found.interval.low > truth)
                over += 100 * chance * (found.interval.high < truth)
    return under, over


def test_the_lower_limit_of_a_low_alpha_holds_where_one_category_is_rare():
    under, _ = misses("krippendorff_alpha", 0.131, shares(0.02, 0.131), 60)
    assert under <= PROMISED + MEASURED


def test_the_lower_limit_of_a_low_agreement_on_a_rare_category_holds():
    population = shares(0.02, 0.12)
    truth = 2 * population[2] / (2 * population[2] + population[1])
    assert truth == pytest.approx(0.1376)
    under, _ = misses("specific_agreement", truth, population, 60)
    assert under <= PROMISED + MEASURED


def test_the_upper_limit_of_a_high_ac1_holds_where_one_category_is_rare():
    population = shares(0.015, 0.8)
    p_e = 2 * 0.015 * 0.985
    truth = (1 - population[1] - p_e) / (1 - p_e)
    _, over = misses("gwet_ac1", truth, population, 60)
    assert over <= PROMISED + MEASURED


def test_limits_and_q_are_those_of_the_wider_resamples():
    with_unseen, without = np.linspace(0.2, 0.6, 1000), np.linspace(0.1, 0.5, 1000)
    both = Percentiles(with_unseen, 0.3, (-1.0, 1.0), seen_draws=without)
    one, other = (Percentiles(each, 0.3, (-1.0, 1.0)) for each in (with_unseen, without))
    assert both.limits(0.05) == (other.limits(0.05).low, one.limits(0.05).high)
    assert both.confidence_under(0.15) == other.confidence_under(0.15) == pytest.approx(0.125)
    assert both.confidence_over(0.55) == one.confidence_over(0.55) == pytest.approx(0.125)


def test_an_undefined_value_without_unseen_items_widens_the_limits():
    seen = np.append(np.full(960, 0.5), np.full(40, np.nan))
    found = ExpandedPercentiles(np.full(1000, 0.5), 0.5, (-1.0, 1.0), 500, seen_draws=seen)
    assert tuple(found.limits(0.025)) == (-1.0, 1.0)


def test_the_upper_limit_of_alpha_of_a_large_panel_holds_where_one_category_is_rare():
    raters, n, rare, known = 10, 60, 0.05, 0.79
    share = known * np.array([1 - rare] + [0] * (raters - 1) + [rare])
    share += (1 - known) * binom.pmf(np.arange(raters + 1), raters, rare)
    rows = np.column_stack([np.arange(raters, -1, -1), np.arange(raters + 1)])
    rounds, over = 200, 0
    for number, weights in enumerate(np.random.default_rng(7).multinomial(n, share, size=rounds)):
        kept = weights > 0
        counts = CategoryCounts(rows[kept], weights[kept], scale=TWO)
        found = estimate("krippendorff_alpha", counts, Inference(n_resamples=200, seed=number))
        over += bool(found.interval and found.interval.high < known)
    assert 100 * over / rounds <= PROMISED + MEASURED


ROWS_OF_THREE = np.array([[3, 0], [2, 1], [1, 2], [0, 3]])


def alphas(weights):
    """α of rounds of three raters and two categories, from its coincidences."""
    yes, n = weights @ ROWS_OF_THREE[:, 1], 3 * weights.sum(-1)
    differ = 2 * (weights[..., 1] + weights[..., 2])
    return 1 - (n - 1) * differ / (2 * yes * (n - yes))


@pytest.mark.parametrize(
    ("seen", "unseen"),
    [
        ([400, 50, 50, 381], [0.75, 0.075, 0.075, 0.75]),
        ([400, 50, 2, 381], [0.75, 0.075, 0.75, 0.75]),
        ([90, 5, 2, 80], [0.75, 0.75, 0.75, 0.75]),
    ],
)
def test_unseen_disagreement_weighs_less_the_more_often_it_was_seen(seen, unseen):
    n, rng = sum(seen), np.random.default_rng(5)
    drawn = alphas(n * rng.dirichlet(np.add(seen, unseen), size=50_000))
    share = norm.cdf(t.ppf(0.025, n - 1) * np.sqrt((n + 1) / (n - 1)))
    counts = CategoryCounts(ROWS_OF_THREE, seen, scale=TWO)
    found = estimate("krippendorff_alpha", counts, Inference(n_resamples=50_000))
    assert found.interval.low == pytest.approx(np.quantile(drawn, share), abs=0.05 * drawn.std())
