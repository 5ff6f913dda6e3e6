"""Simulated rounds: what was put in can be counted, and the bundled project shows every verdict."""

import math
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from agreement_pipeline import readers
from agreement_pipeline.demo.rounds import (
    CATEGORIES,
    CLASSIFIERS,
    RATERS,
    simulate_round,
    write_moderation_rounds,
)
from agreement_pipeline.estimates import measure_ratings
from agreement_pipeline.intervals import Inference
from agreement_pipeline.policy import load_policy
from agreement_pipeline.ratings import Scale

CONFIGS = Path(__file__).parents[2] / "configs"
WEEKS = [f"2026-W0{week}" for week in range(1, 7)]


def assert_share(hits, of, probability):
    """The count of `hits` is within five standard errors of what the probability gives."""
    assert of > 0
    assert abs(hits - of * probability) <= 5 * math.sqrt(of * probability * (1 - probability)), (
        f"{hits} of {of}, not about {probability:.0%}"
    )


@pytest.fixture(scope="module")
def large():
    """A large round with every kind of rater, and what is true in it."""
    settings = {"seed": 3, "n_items": 4000}
    ratings = simulate_round(
        "r",
        **settings,
        careless=("ben",),
        split=("chloe",),
        accuracy=0.9,
        missing=0.2,
        replicated=0.1,
        occurrences=4,
    )
    return ratings.merge(
        true_labels("r", **settings).rename("truth"), left_on="item", right_index=True
    )


def true_labels(name, **settings):
    """The labels of a rater who never slips, by item."""
    never = {"missing": 0.0, "replicated": 0.0, "classifiers": {}, "accuracy": 1.0}
    truth = simulate_round(name, raters=("truth",), **settings, **never)
    return truth.set_index("item")["label"]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The files of both deliveries."""
    folders = {
        delivery: tmp_path_factory.mktemp(f"delivery_{delivery}") / "inbox" for delivery in (1, 2)
    }
    return {
        delivery: write_moderation_rounds(folder, delivery=delivery)
        for delivery, folder in folders.items()
    }


@pytest.fixture(scope="module")
def verdicts(written):
    """What the bundled policy says of every round, under fewer resamples than it asks for."""
    policy = replace(load_policy(CONFIGS / "policies" / "moderation.yaml"), n_resamples=2000)
    paths = {**{path.stem: path for path in written[1]}, "2026-W06 again": written[2][-1]}
    return {
        name: policy.judge(
            list(
                measure_ratings(
                    read(path), policy.measures, Inference(n_resamples=policy.n_resamples)
                )
            )
        )
        for name, path in paths.items()
    }


def read(path):
    return readers.read(path, scale=Scale(CATEGORIES), classifiers=tuple(CLASSIFIERS))


def kind(verdicts, measure, scope="round"):
    (found,) = [
        verdict.kind
        for verdict in verdicts
        if verdict.rule.measure == measure and str(verdict.scope) == scope
    ]
    return found


def admitted(verdicts):
    return all(verdict.kind == "reliable" for verdict in verdicts if verdict.rule.effect == "hold")


# What was put in


def test_categories_are_as_common_as_their_prevalence():
    truth = true_labels("r", seed=5, n_items=5000, prevalence=(0.6, 0.3, 0.1))
    for category, share in zip(CATEGORIES, (0.6, 0.3, 0.1), strict=True):
        assert_share((truth == category).sum(), len(truth), share)


@pytest.mark.parametrize(
    ("rater", "accuracy"),
    [
        ("ana", 0.9),
        ("ben", 0.73),
        ("dmitri", 0.9),
        ("esra", 0.9),
        ("model_a", 0.95),
        ("model_b", 0.80),
    ],
)
def test_a_rater_names_the_true_category_as_often_as_their_accuracy_says(large, rater, accuracy):
    own = large[large["rater"] == rater]
    assert_share((own["label"] == own["truth"]).sum(), len(own), accuracy)


def test_a_slip_is_either_of_the_other_categories_as_often(large):
    slips = large[
        (large["rater"] == "ben") & (large["truth"] == "safe") & (large["label"] != "safe")
    ]
    assert_share((slips["label"] == "hateful").sum(), len(slips), 0.5)


def test_a_split_rater_takes_offensive_posts_for_safe_and_no_others(large):
    own = large[large["rater"] == "chloe"]
    offensive = own[own["truth"] == "offensive"]
    assert_share((offensive["label"] == "safe").sum(), len(offensive), 0.9)
    others = own[own["truth"] != "offensive"]
    assert_share((others["label"] == others["truth"]).sum(), len(others), 0.9)


def test_labels_of_one_item_are_drawn_anew_at_every_occurrence(large):
    own = (
        large[large["rater"] == "ana"]
        .pivot(index="item", columns="occurrence", values="label")
        .dropna()
    )
    assert_share((own[1] == own[2]).sum(), len(own), 0.9**2 + 2 * 0.05**2)


def test_every_item_is_rated_and_ratings_are_missing_as_often_as_asked(large):
    panel = large[large["rater"].isin(RATERS) & (large["occurrence"] == 1)]
    assert panel["item"].nunique() == 4000
    assert_share(5 * 4000 - len(panel), 4 * 4000, 0.2)


def test_the_share_of_items_asked_for_comes_back_to_all_their_raters(large):
    panel = large[large["rater"].isin(RATERS)]
    times = panel.groupby(["item", "rater"])["occurrence"].agg(["size", "max"])
    assert (times["size"] == times["max"]).all()
    assert set(times["size"]) == {1, 4}
    by_item = times["size"].groupby("item").agg(["min", "max"])
    assert (by_item["min"] == by_item["max"]).all()
    assert (by_item["max"] == 4).sum() == 400


def test_a_classifier_labels_every_item_once(large):
    for model in CLASSIFIERS:
        assert large[large["rater"] == model]["item"].is_unique
        assert (large["rater"] == model).sum() == 4000


def test_no_replicates_means_none():
    assert (simulate_round("r", seed=1, replicated=0.0)["occurrence"] == 1).all()


def test_one_raters_carelessness_leaves_the_others_ratings_as_they_are():
    careful, careless = (simulate_round("r", seed=1, careless=who) for who in ((), ("ben",)))
    others = careful["rater"] != "ben"
    pd.testing.assert_frame_equal(careful[others], careless[others])
    assert (careful["label"] != careless["label"]).any()


def test_an_item_has_one_text_of_its_own_that_carries_its_name():
    ratings = pd.concat(simulate_round(name, seed=1, n_items=50) for name in ("r", "s"))
    texts = ratings.drop_duplicates(["item", "text"]).set_index("item")["text"]
    assert texts.index.is_unique
    assert texts.is_unique
    assert texts["r-017"].startswith("Post r-017 about ")


# The same again


def test_a_seed_gives_the_same_round_and_another_seed_or_name_another():
    once, again = (simulate_round("r", seed=1) for _ in range(2))
    pd.testing.assert_frame_equal(once, again)
    for other in (simulate_round("r", seed=2), simulate_round("q", seed=1)):
        assert len(once) != len(other) or (once["label"] != other["label"]).any()


def test_the_moderation_rounds_are_the_same_bytes_every_time_and_nothing_else_is_left_in_the_folder(
    written, tmp_path
):
    again = write_moderation_rounds(tmp_path, delivery=1)
    assert [path.stem for path in again] == WEEKS
    assert sorted(path.name for path in tmp_path.iterdir()) == [path.name for path in again]
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in written[1]]


def test_the_second_delivery_changes_the_labels_of_the_last_round_and_nothing_else(written):
    same = [
        first.read_bytes() == second.read_bytes()
        for first, second in zip(written[1], written[2], strict=True)
    ]
    assert same == [True, True, True, True, True, False]
    first, second = (pd.read_csv(written[delivery][-1]) for delivery in (1, 2))
    pd.testing.assert_frame_equal(first.drop(columns="label"), second.drop(columns="label"))


def test_there_is_no_third_delivery(tmp_path):
    with pytest.raises(ValueError, match="delivery: found 3; expected 1 or 2"):
        write_moderation_rounds(tmp_path, delivery=3)


# What the policy says of them


@pytest.mark.parametrize(
    ("name", "alpha", "self_agreement", "released"),
    [
        ("2026-W01", "reliable", "reliable", True),
        ("2026-W02", "tentative", "reliable", False),
        ("2026-W03", "unreliable", "reliable", False),
        ("2026-W04", "inconclusive", None, False),
        ("2026-W05", "reliable", "not_evaluated", False),
        ("2026-W06", "reliable", "reliable", True),
        ("2026-W06 again", "unreliable", None, False),
    ],
)
def test_every_round_meets_its_fate(verdicts, name, alpha, self_agreement, released):
    assert kind(verdicts[name], "krippendorff_alpha") == alpha
    assert self_agreement in (None, kind(verdicts[name], "self_agreement_unbiased"))
    assert admitted(verdicts[name]) == released


def test_the_bundled_rounds_show_every_kind_of_verdict_on_the_rules_that_hold(verdicts):
    kinds = {
        verdict.kind
        for each in verdicts.values()
        for verdict in each
        if verdict.rule.effect == "hold"
    }
    assert kinds == {"reliable", "tentative", "unreliable", "inconclusive", "not_evaluated"}


def test_the_careless_rater_is_the_one_who_does_not_agree_with_themselves(verdicts):
    kinds = {
        rater: kind(verdicts["2026-W02"], "self_agreement_unbiased", f"rater {rater}")
        for rater in RATERS
    }
    assert [rater for rater, found in kinds.items() if found not in ("reliable", "tentative")] == [
        "dmitri"
    ]


def test_raters_split_by_a_guideline_agree_with_themselves(verdicts):
    for rater in ("ben", "esra"):
        assert kind(verdicts["2026-W03"], "self_agreement_unbiased", f"rater {rater}") == "reliable"


def test_the_standard_policy_and_the_moderation_policy_read_alpha_alike(written):
    standard, moderation = (
        load_policy(CONFIGS / "policies" / f"{name}.yaml") for name in ("standard", "moderation")
    )
    assert standard.rules[0] == moderation.rules[0]
    assert admitted(
        replace(standard, n_resamples=1000).judge(
            list(
                measure_ratings(read(written[1][4]), standard.measures, Inference(n_resamples=1000))
            )
        )
    )
