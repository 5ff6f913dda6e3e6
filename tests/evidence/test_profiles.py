"""Profiles of raters: numbers, categories and speed, and who differs beyond doubt."""

import re

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.evidence import JudgedRound
from agreement_pipeline.evidence.judged import measure_scopes
from agreement_pipeline.evidence.raters import answer_about_raters, build_profile_grid
from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.ratings import Ratings, Scale

POLICY = Policy("p", 1, (Rule("krippendorff_alpha"),), n_resamples=1000)
SCALE = Scale(("a", "b"))


def ratings_of():
    """Five raters who mostly agree, one who says b too often, and one with ten random labels."""
    random = np.random.default_rng(9)
    rows = []
    for item in range(160):
        right = "ab"[item % 2]
        for rater in ("r1", "r2", "r3", "r4", "r5"):
            wrong = random.random() < 0.05
            rows.append((item, rater, "ba"["ab".index(right)] if wrong else right, right))
        rows.append((item, "biased", "b" if random.random() < 0.5 else right, right))
        if item < 10:
            rows.append((item, "new", random.choice(["a", "b"]), right))
    frame = pd.DataFrame(rows, columns=["item", "rater", "label", "gold_label"])
    start, by_rater = pd.Timestamp("2026-01-01T10:00Z"), frame.groupby("rater").cumcount()
    return Ratings.from_frame(
        frame.assign(
            gold=frame["item"] >= 120,
            item=frame["item"].map("i{:03}".format),
            timestamp=(start + pd.to_timedelta(by_rater * 7, unit="s")).astype(str),
        ),
        SCALE,
    )


@pytest.fixture(scope="module")
def ratings():
    return ratings_of()


@pytest.fixture(scope="module")
def shown(ratings):
    return build_profile_grid(ratings, POLICY).to_frame().set_index("rater")


def test_a_rater_who_differs_is_named_and_ten_labels_say_nothing(ratings):
    said = answer_about_raters(JudgedRound("p", "w1", ratings, POLICY, None)).sentences[0]
    assert said.startswith("biased differs from the rest: ")
    assert said.count("differs") == 1


def test_categories_speed_and_accuracy_stand_beside(ratings, shown):
    assert (shown["uses more"]["biased"], shown["uses less"]["biased"]) == ("b", "a")
    assert (shown["uses more"]["new"], shown["uses less"]["new"]) == ("", "")
    assert set(shown["seconds"]) == {"7"}
    assert shown["right on gold"]["new"] == ""
    mine = ratings.first_ratings(["item", "label"], items=ratings.gold, raters=["r1"], gold=True)
    right = ratings.items(["gold_label"], names=mine["item"].to_pylist())["gold_label"]
    accuracy = (mine["label"].to_numpy() == right.to_numpy()).mean()
    assert float(shown["right on gold"]["r1"]) == pytest.approx(accuracy, abs=5e-4)


def test_numbers_without_categories_have_no_profiles():
    frame = pd.DataFrame({"item": ["i", "i"], "rater": ["a", "b"], "label": [1.5, 2.0]})
    bare = Ratings.from_frame(frame, Scale(None, "interval"))
    assert build_profile_grid(bare, POLICY) is None
    found = answer_about_raters(JudgedRound("p", "w1", bare, POLICY, None))
    assert found.sentences[0].startswith("No rater shares enough items, or clusters of them, ")


def test_how_much_of_a_round_a_rater_rated_stands_beside(shown):
    assert (shown["of items"]["r1"], shown["of items"]["new"]) == ("100%", "6%")


def test_agreement_with_themselves_is_that_of_the_policys_own_rule(ratings):
    """`new` changes half of ten labels, and the five others change none of twenty."""
    first = ratings.to_pandas()[["item", "rater", "label", "occurrence"]]
    again = first[first["rater"] != "biased"].groupby("rater", observed=True).head(20)
    again = again.assign(occurrence=2)
    changed = again.index[again["rater"] == "new"][::2]
    again.loc[changed, "label"] = again.loc[changed, "label"].map({"a": "b", "b": "a"})
    both = Ratings.from_frame(pd.concat([first, again], ignore_index=True), SCALE)
    own = Rule("self_agreement_unbiased", scope="rater", effect="warn")
    policy = Policy("p", 1, (*POLICY.rules, own), n_resamples=1000)
    for judged_by, measure in ((policy, own.measure), (POLICY, "test_retest_kappa")):
        shown = build_profile_grid(both, judged_by).to_frame().set_index("rater")
        mine = measure_scopes(both, [measure], judged_by, ("rater",))
        values = {each.scope.name: each for each in mine if each.value is not None}
        assert shown["with themselves"]["biased"] == ""
        for name in ("new", "r1"):
            found = values[name]
            assert shown["with themselves"][name] == f"{found.value:.3f}"
            limits = f"{found.low:.3f} to {found.high:.3f}"
            assert shown["interval with themselves"][name] == limits


def test_raters_stand_in_the_order_of_their_names_since_a_rank_would_mislead(shown):
    assert list(shown.index) == sorted(shown.index)


def folded_tables(answer):
    return [table for detail in answer.details for table in detail.answer.tables]


def test_one_who_gives_a_category_more_often_is_told_with_both_shares():
    said = answer_about_raters(JudgedRound("p", "w1", ratings_of(), POLICY, None))
    (sentence,) = [each for each in said.sentences if " more often than " in each]
    assert re.match(
        "biased gives 'b' more often than r|r. gives 'a' more often than biased", sentence
    )
    (table,) = [
        each for each in folded_tables(said) if each.caption.startswith("Categories that one")
    ]
    first = table.to_frame().iloc[0]
    most, least = sorted(
        (first["of the rater"], first["of the other"]), key=lambda share: -float(share[:-1])
    )
    assert f"to {most} of their {first['items']} items, against {least}." in sentence
    assert all("biased" in row for row in table.texts)


def test_of_raters_who_are_alike_none_is_said_to_use_a_category_more():
    """As the biased rater says more b than others, the sentence would be false with them."""
    others = ratings_of().to_pandas().query("rater != 'biased'")
    frame = others[["item", "rater", "label"]]
    said = answer_about_raters(
        JudgedRound("p", "w1", Ratings.from_frame(frame, SCALE), POLICY, None)
    )
    none = "No rater gives a category more often than another, beyond chance."
    assert none in said.sentences
    assert (
        none
        not in answer_about_raters(JudgedRound("p", "w1", ratings_of(), POLICY, None)).sentences
    )
    assert not [
        each for each in folded_tables(said) if each.caption.startswith("Categories that one")
    ]


def test_nothing_is_tested_of_items_in_clusters():
    frame = ratings_of().to_pandas()[["item", "rater", "label"]]
    ratings = Ratings.from_frame(frame.assign(cluster=frame["item"].str[:3]), SCALE)
    said = answer_about_raters(JudgedRound("p", "w1", ratings, POLICY, None))
    assert not [each for each in said.sentences if " a category more " in each or "gives '" in each]


def test_of_numbers_the_error_of_measurement_and_limits_of_agreement_are_told():
    random = np.random.default_rng(2)
    true = random.normal(0, 3, 80)
    rows = [
        (f"i{item}", rater, true[item] + random.normal(0, 0.5) + (rater == "r1"))
        for item in range(80)
        for rater in ("r1", "r2", "r3")
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    ratings = Ratings.from_frame(frame, Scale(None, "interval"))
    said = answer_about_raters(JudgedRound("p", "w1", ratings, POLICY, None))
    (sentence,) = [each for each in said.sentences if "standard error" in each]
    wide = frame.pivot(index="item", columns="rater", values="label")
    assert sentence.startswith(
        f"The standard error of measurement is {np.sqrt(wide.var(axis=1).mean()):.3g} ("
    )
    (table,) = [
        each for each in folded_tables(said) if each.caption.startswith("Limits of agreement")
    ]
    row = table.to_frame().set_index(["rater", "other"]).loc["r1", "r2"]
    assert float(row["bias"]) == pytest.approx((wide["r1"] - wide["r2"]).mean(), abs=0.01)
