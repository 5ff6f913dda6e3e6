"""One number of items stands in the step of a held round and in the plan, with its chance."""

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
def test_step_and_plan_say_one_number(name, familywise):
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
    step = summarize(ratings, policy, decision, name="t.csv").steps[-1]
    assert step.what == f"Label a fresh round of about {n:,} items, drawn in the same way."
    of_errors = " and no error is larger than here" if scale.continuous else ""
    assert step.why.startswith(
        f"A round of this size decides with a chance of {chance:.0%}, if agreement is over "
        f"0.8{of_errors}. "
    )
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


def test_full_agreement_on_few_items_is_not_said_to_need_very_many():
    """Eight numbers that agree say little of a fresh round, and 1.0 is far from 0.8."""
    frame = pd.DataFrame(
        [(f"i{n}", rater, float(n)) for n in range(8) for rater in ("ana", "ben")],
        columns=["item", "rater", "label"],
    )
    ratings = Ratings.from_frame(frame, Scale(None, "interval"))
    policy = Policy("few", 1, (Rule(ALPHA),), interval_method="tail_adaptive_bootstrap")
    step = summarize(ratings, policy, judge(ratings, policy)).steps[-1]
    assert step.what == "Label a fresh round of more items, drawn in the same way."
    assert step.why.startswith("These items are too few to say how many would decide.")


@pytest.mark.parametrize(
    ("n_agreed", "n_split", "more_than", "words"),
    [(85, 15, 5_100, "5,100"), (8_500, 1_490, 200_000, "200,000")],
)
def test_very_many_items_are_not_asked_for(n_agreed, n_split, more_than, words):
    """Of rounds of so many items as the one that was judged, fewer than nine in ten decide."""
    labels = [["aaa", "bbb"][i % 2] for i in range(n_agreed)]
    labels += [["aab", "bba"][i % 2] for i in range(n_split)]
    rows = [
        (f"i{i}", f"r{r}", label) for i, row in enumerate(labels) for r, label in enumerate(row)
    ]
    ratings = Ratings.from_frame(
        pd.DataFrame(rows, columns=["item", "rater", "label"]), Scale(("a", "b"))
    )
    policy = Policy("p", 1, (Rule(ALPHA),), n_resamples=1_000)
    decision = judge(ratings, policy)
    (verdict,) = decision.verdicts
    assert 0.8 < verdict.estimate.value < 0.81
    assert verdict.fresh_round.n is None
    assert verdict.fresh_round.more_than == more_than
    step = summarize(ratings, policy, decision).steps[-1]
    assert step.what == "Discuss the items on which raters differ."
    assert step.why == (f"More than {words} items would be needed, if agreement stays the same.")
    rng, counts = np.random.default_rng(3), verdict.estimate.statistic
    shares = counts.weights / counts.weights.sum()
    drawn = (
        counts.with_weights(rng.multinomial(more_than, shares).astype(float)) for _ in range(40)
    )
    lows = [estimate(ALPHA, each, replace(FEW_DRAWS, lower_only=True)).low for each in drawn]
    assert np.mean(np.array(lows) >= 0.8) < 0.8


def test_a_round_is_judged_without_planning_another_one(monkeypatch):
    """Who only asks whether a round is admitted waits for no number."""

    def refuse(*_, **__):
        raise AssertionError

    monkeypatch.setattr("agreement_pipeline.policy.policy.plan_fresh_round", refuse)
    labels, scale = of_categories(np.random.default_rng(11), 200, 2, [0.5, 0.5], 0.05)
    rows = [
        (f"i{i}", f"r{r}", label) for i, row in enumerate(labels) for r, label in enumerate(row)
    ]
    ratings = Ratings.from_frame(pd.DataFrame(rows, columns=["item", "rater", "label"]), scale)
    decision = judge(ratings, Policy("p", 1, (Rule(ALPHA),), n_resamples=1_000))
    (verdict,) = decision.verdicts
    assert verdict.kind == "tentative"
    assert decision.digest
    with pytest.raises(AssertionError):
        assert verdict.fresh_round


def of_strata(n_items_by_name):
    """Three raters who err on 4 % of two categories, in strata of so many items."""
    rng, rows = np.random.default_rng(5), []
    for name, n_items in n_items_by_name.items():
        truth = rng.integers(2, size=n_items)
        for rater in range(3):
            labels = np.where(rng.random(n_items) < 0.04, 1 - truth, truth)
            rows += [
                (f"{name}{i}", f"r{rater}", f"c{label}", name) for i, label in enumerate(labels)
            ]
    return pd.DataFrame(rows, columns=["item", "rater", "label", "stratum:language"])


@pytest.mark.parametrize("familywise", ["none", "holm"])
def test_a_fresh_round_meets_the_level_of_the_strata_that_hold_together(familywise):
    """Of four strata and a small one that is only told of, four hold together.

    Under holm a rule of the round holds together with them, and a rule that warns does not.
    """
    frame = of_strata({"de": 110, "en": 110, "fr": 110, "it": 110, "small": 20})
    ratings = Ratings.from_frame(frame, Scale(("c0", "c1")))
    rules = (
        Rule(ALPHA, scope="stratum", min_items=50, if_too_few="tell"),
        Rule(ALPHA),
        Rule("scott_pi", effect="warn"),
    )
    verdicts = judge(
        ratings, Policy("p", 1, rules, n_resamples=10_000, familywise=familywise)
    ).verdicts
    on_strata = [each for each in verdicts if each.scope.kind == "stratum"]
    assert [each.rule.effect for each in on_strata].count("hold") == 4
    n_together = 4 if familywise == "none" else 5
    planned = [each for each in on_strata if each.fresh_round and each.fresh_round.n]
    assert planned
    for each in planned:
        assert each.fresh_round == plan_fresh_round(
            each.estimate, 0.8, min_units=50, n_together=n_together
        )
        alone = plan_fresh_round(each.estimate, 0.8, min_units=50)
        assert each.fresh_round.n > alone.n
    told = [each.n_together for each in verdicts if each.rule.effect == "warn"]
    assert told == [1, 1]


def test_an_item_that_weighs_two_is_two_items_of_a_round():
    weighed = of_strata({"de": 100}).assign(weight=2)
    again = weighed.assign(item=weighed["item"] + "b")
    repeated = pd.concat([weighed, again]).drop(columns="weight")
    of_weights, of_items = (
        judge(
            Ratings.from_frame(frame.drop(columns="stratum:language"), Scale(("c0", "c1"))),
            Policy("p", 1, (Rule(ALPHA),), n_resamples=1_000),
        ).verdicts[0]
        for frame in (weighed, repeated)
    )
    assert of_weights.fresh_round.n_now == 200
    assert of_weights.fresh_round == of_items.fresh_round


def test_of_few_items_nobody_knows_how_many_would_decide():
    """Of 46 items, over 40 % of the values that they leave open are under the cut-off."""
    counts = CategoryCounts(
        [[3, 0], [0, 3], [2, 1], [1, 2]], [20, 20, 3, 3], scale=Scale(("no", "yes"))
    )
    fresh_round = plan_fresh_round(estimate(ALPHA, counts, FEW_DRAWS), 0.8)
    assert fresh_round.is_too_small
    assert (fresh_round.n, fresh_round.more_than) == (None, None)
    assert 0.5 < fresh_round.share_over < 0.6
