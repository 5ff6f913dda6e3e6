"""One number of items stands in the reason of a verdict, its step and the plan, with its chance."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline import Ratings, Scale
from agreement_pipeline.estimates import estimate
from agreement_pipeline.evidence import summarize
from agreement_pipeline.intervals import Inference
from agreement_pipeline.policy import Policy, Rule, judge, plan
from agreement_pipeline.policy.fresh_round import Forecast, plan_fresh_round
from agreement_pipeline.statistics import CategoryCounts, Clusters
from benchmarks.populations import Errors

ALPHA = "krippendorff_alpha"
FEW_DRAWS = Inference(n_resamples=1_000)


def of_categories(rng, n_items, n_raters, prevalence, guessed, level="nominal"):
    truth = rng.choice(len(prevalence), size=(n_items, 1), p=prevalence)
    guess = rng.choice(len(prevalence), size=(n_items, n_raters), p=prevalence)
    labels = np.where(rng.random(guess.shape) < guessed, guess, truth)
    return labels, Scale(tuple(range(len(prevalence))), level)


def of_numbers(rng, n_items, n_raters, truth):
    statistic = Errors("alike", truth).drawn(n_items, rng, n_raters)
    return statistic.values[..., 0], statistic.scale


ROUNDS = {
    # function, items, raters, and the population
    "two raters": (of_categories, 200, 2, [0.5, 0.5], 0.05),
    "a rare category": (of_categories, 300, 3, [0.92, 0.08], 0.06),
    "in order": (of_categories, 90, 3, [0.2] * 5, 0.05, "ordinal"),
    "an open scale": (of_numbers, 120, 2, 0.9),
}


@pytest.mark.parametrize("name", ROUNDS)
@pytest.mark.parametrize("familywise", ["none", "holm"])
def test_reason_step_and_plan_say_one_number(name, familywise):
    draw, *shape = ROUNDS[name]
    labels, scale = draw(np.random.default_rng(11), *shape)
    rows = [
        (f"i{i}", f"r{r}", label) for i, row in enumerate(labels) for r, label in enumerate(row)
    ]
    ratings = Ratings.from_frame(pd.DataFrame(rows, columns=["item", "rater", "label"]), scale)
    rules = (Rule(ALPHA), Rule("percent_agreement", reliable=0.7, tentative=0.667))
    rules = rules[: 1 if scale.continuous or familywise == "none" else 2]
    policy = Policy("p", 1, rules, n_resamples=1_000, familywise=familywise)
    decision = judge(ratings, policy)
    verdict = next(each for each in decision.verdicts if each.rule.measure == ALPHA)
    n, chance = verdict.fresh_round.n, verdict.fresh_round.chance
    assert n > len(labels)
    said = (
        f"a fresh round of about {n:,} items like these would decide with a chance of {chance:.0%}"
    )
    assert said in verdict.reason
    step = summarize(ratings, policy, decision, name="t.csv").steps[-1]
    assert step.what == f"Label a fresh round of about {n:,} items, drawn as these were."
    assert step.why.startswith(f"So many decide with a chance of {chance:.0%}. ")
    planned = next(each for each in plan(policy, ratings) if each.measure == ALPHA)
    assert (planned.n_items, planned.decided) == (n, chance)


@pytest.mark.parametrize("n", [60, 150, 400])
def test_the_chance_is_the_share_of_rounds_that_decide(n):
    """Rounds are drawn from what one leaves open over the cut-off, and judged as real ones are."""
    counts = CategoryCounts(
        [[3, 0], [0, 3], [2, 1], [1, 2]], [66, 66, 6, 6], scale=Scale(("no", "yes"))
    )
    forecast = Forecast(estimate(ALPHA, counts, FEW_DRAWS), 0.8)
    rng, n_rounds = np.random.default_rng(1), 150
    n_over = n_decided = 0
    while n_over < n_rounds:
        shares = rng.dirichlet(counts.weights)
        value = estimate(ALPHA, counts.with_weights(1e6 * shares), Inference(n_resamples=10)).value
        if value < 0.8 or rng.random() > (1 - value) / 0.2:  # every value is as likely beforehand
            continue
        drawn = counts.with_weights(rng.multinomial(n, shares).astype(float))
        inference = replace(FEW_DRAWS, lower_only=True, seed=n_over)
        n_over += 1
        n_decided += estimate(ALPHA, drawn, inference).interval.low >= 0.8
    three_errors = 3 * np.sqrt(0.25 / n_rounds)
    assert forecast.chance(n) == pytest.approx(n_decided / n_rounds, abs=three_errors)


def test_clusters_are_counted_where_items_come_in_clusters():
    """Five items of each cluster are alike, so that a cluster tells as much as an item."""
    rows = [[3, 0], [0, 3], [2, 1], [1, 2]]
    alone = CategoryCounts(
        np.repeat(rows, [66, 66, 6, 6], axis=0), np.ones(144), scale=Scale(("no", "yes"))
    )
    clusters = Clusters(np.arange(144), np.ones(144))
    together = alone.with_weights(np.full(144, 5.0)).with_clusters(clusters)
    of_items, of_clusters = (
        plan_fresh_round(estimate(ALPHA, each, FEW_DRAWS), 0.8) for each in (alone, together)
    )
    assert of_clusters.n_now == of_items.n_now == 144
    assert of_clusters.n == pytest.approx(of_items.n, rel=0.25)


def test_a_round_in_which_all_agree_leaves_open_that_others_do_not():
    """Of 30 items by two raters, 36 in full agreement would be the fewest that decide."""
    scale = Scale(("no", "yes"))
    agreed = estimate(ALPHA, CategoryCounts([[2, 0], [0, 2]], [15, 15], scale=scale), FEW_DRAWS)
    fresh_round = plan_fresh_round(agreed, 0.8)
    assert 36 < fresh_round.n < 400
    assert fresh_round.chance >= 0.7


def test_full_agreement_on_few_items_is_never_called_near_the_cutoff():
    """Eight numbers that agree say little of a fresh round, and 1.0 is far from 0.8."""
    frame = pd.DataFrame(
        [(f"i{n}", rater, float(n)) for n in range(8) for rater in ("ana", "ben")],
        columns=["item", "rater", "label"],
    )
    ratings = Ratings.from_frame(frame, Scale(None, "interval"))
    (verdict,) = judge(
        ratings, Policy("few", 1, (Rule(ALPHA),), interval_method="tail_adaptive_bootstrap")
    ).verdicts
    assert "near the cut-off" not in verdict.reason
    assert "too few items to say how many would decide" in verdict.reason


def test_no_number_follows_where_the_value_is_not_over_the_cutoff_or_a_look_is_planned():
    rows, scale = [[3, 0], [0, 3], [2, 1], [1, 2]], Scale(("no", "yes"))
    low = CategoryCounts(rows, [60, 60, 20, 20], scale=scale)
    assert plan_fresh_round(estimate(ALPHA, low, FEW_DRAWS), 0.8) is None
    good = estimate(ALPHA, CategoryCounts(rows, [66, 66, 6, 6], scale=scale), FEW_DRAWS)
    assert plan_fresh_round(good, 0.8) is not None
    assert plan_fresh_round(replace(good, statistic=None), 0.8) is None
    assert plan_fresh_round(replace(good, population="raters at large"), 0.8) is None


def test_a_fresh_round_has_at_least_the_items_that_the_rule_asks_for():
    rows, scale = [[3, 0], [0, 3], [2, 1], [1, 2]], Scale(("no", "yes"))
    good = estimate(ALPHA, CategoryCounts(rows, [66, 66, 6, 6], scale=scale), FEW_DRAWS)
    assert plan_fresh_round(good, 0.8).n < 2_000 == plan_fresh_round(good, 0.8, min_units=2_000).n
