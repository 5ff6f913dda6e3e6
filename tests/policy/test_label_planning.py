"""Plans for the label that trains decide about as often as they say."""

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline import Policy, Rule, Scale, read_ratings
from agreement_pipeline.errors import PolicyError
from agreement_pipeline.estimates import estimate_label, estimate_variance_components
from agreement_pipeline.intervals import Inference
from agreement_pipeline.policy import advise_on_label, plan
from agreement_pipeline.ratings import Trains
from agreement_pipeline.statistics import CategoryCounts

SHARES = Trains("shares")
POLICY = Policy("label", 1, (Rule("label_reliability", "label"),), n_resamples=1000)


def table_of(labels, raters):
    rows = [
        (f"i{i}", f"r{rater}", label)
        for i, (row, who) in enumerate(zip(labels, raters, strict=True))
        for label, rater in zip(row, who, strict=True)
    ]
    return pd.DataFrame(rows, columns=["item", "rater", "label"])


def rated(shares_yes, n_ratings, seed=0, n_raters=20):
    random = np.random.default_rng(seed)
    labels = np.where(
        random.random((len(shares_yes), n_ratings)) < shares_yes[:, None], "yes", "no"
    )
    raters = [random.choice(n_raters, n_ratings, replace=False) for _ in shares_yes]
    return read_ratings(table_of(labels.tolist(), raters), scale=Scale(("no", "yes")))


def errors_alike(n, error, seed=0):
    return np.where(np.random.default_rng(seed).random(n) < 0.5, error, 1 - error)


def test_so_many_items_by_so_many_raters_reach_the_cutoff():
    earlier = rated(errors_alike(400, 0.12), 6)
    plans = {each.labels_an_item: each for each in plan(POLICY, earlier, n_rounds=30)}
    assert [*plans] == [2, 3, 4, 5, 6]
    assert plans[3].impossible
    assert plans[6].n_items < plans[5].n_items
    assert plans[6].n_ratings == 6 * plans[6].n_items
    n_items, rounds = plans[6].n_items, 30
    decided = 0
    for number in range(rounds):
        random = np.random.default_rng(number)
        yes = random.binomial(6, errors_alike(n_items, 0.12, number))
        counts = CategoryCounts(np.stack([yes, 6 - yes], axis=1), scale=earlier.scale).merged()
        (found,) = estimate_label(counts, ["label_reliability"], Inference(n_resamples=1000))
        decided += found.low >= 0.8
    assert decided / rounds > 0.75


def test_more_raters_make_shares_reliable_and_the_plan_knows_it_from_two_ratings():
    earlier = rated(errors_alike(800, 0.2), 2)
    plans = {
        each.labels_an_item: each for each in plan(POLICY, earlier, n_rounds=20, trains=SHARES)
    }
    assert plans[5].impossible
    assert plans[11].n_items > plans[15].n_items
    assert plans[15].expected == pytest.approx(15 * 0.36 / (1 + 14 * 0.36), abs=0.03)
    needed = estimate_variance_components(earlier).needed_ratings(0.8)
    assert needed == pytest.approx(4 * 0.64 / 0.36, abs=2)
    expected = f"{int(np.ceil(needed))} raters an item reach 0.8 for shares of ratings."
    assert advise_on_label(earlier, 0.8, SHARES) == expected


def test_means_keep_their_variance_components():
    random = np.random.default_rng(4)
    values = random.normal(size=(300, 1)) + 0.7 * random.normal(size=(300, 4))
    table = table_of(values.tolist(), [range(4)] * 300)
    earlier = read_ratings(table, scale=Scale(None, "interval"))
    plans = {each.labels_an_item: each for each in plan(POLICY, earlier, n_rounds=20)}
    assert plans[4].expected == pytest.approx(1 / (1 + 0.49 / 4), abs=0.02)
    assert plans[4].n_items < plans[3].n_items


def test_what_would_help_depends_on_why_raters_differ():
    random = np.random.default_rng(5)
    is_clear = random.random(500) < 0.7
    guessed = np.where(is_clear, random.integers(2, size=500), 0.5)
    assert "More raters would not help" in advise_on_label(rated(guessed, 6), 0.8)
    assert "more of the items than two raters do" in advise_on_label(
        rated(errors_alike(500, 0.2), 6), 0.8
    )
    assert "one rating more" in advise_on_label(rated(errors_alike(500, 0.2), 3), 0.8)
    assert "no more than by chance" in advise_on_label(rated(np.full(300, 0.5), 2, seed=3), 0.8)
    habits = random.normal(size=(200, 1)) + random.normal(size=(1, 6))
    habits = habits + 0.3 * random.normal(size=(200, 6))
    table = table_of(habits.tolist(), [range(6)] * 200)
    words = advise_on_label(read_ratings(table, scale=Scale(None, "interval")), 0.8)
    assert "are habits of theirs" in words


def test_a_rule_on_the_label_is_planned_from_an_earlier_round_alone():
    with pytest.raises(PolicyError, match="expected an earlier round to plan from"):
        plan(POLICY)
