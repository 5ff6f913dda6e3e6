"""Profiles of raters: who differs beyond doubt, and who has too few labels to tell."""

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.estimates import Shown
from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.report import JudgedRound
from agreement_pipeline.report.sections.profiles import COLUMNS, profiles, rater_profiles

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
    return profiles(ratings, POLICY).to_frame().set_index("rater")


def test_a_rater_who_differs_is_named_and_ten_labels_say_nothing(shown):
    assert shown["reads"]["biased"].startswith("agrees: lower")
    assert shown["reads"]["new"] == "too few to tell"
    assert set(shown["reads"][["r1", "r2", "r3", "r4", "r5"]]) <= {
        "like the others",
        "agrees: higher",
    }


def test_categories_speed_and_accuracy_stand_beside(ratings, shown):
    assert (shown["uses more"]["biased"], shown["uses less"]["biased"]) == ("b", "a")
    assert (shown["uses more"]["new"], shown["uses less"]["new"]) == ("", "")
    assert set(shown["seconds"]) == {"7"}
    assert shown["right on gold"]["new"] == ""
    mine = ratings.first(["item", "label"], items=ratings.gold, raters=["r1"], gold=True)
    right = ratings.items(["gold_label"], names=mine["item"].to_pylist())["gold_label"]
    accuracy = (mine["label"].to_numpy() == right.to_numpy()).mean()
    assert float(shown["right on gold"]["r1"]) == pytest.approx(accuracy, abs=5e-4)


def test_the_page_says_how_many_differ_and_how_to_read_it(ratings):
    found = rater_profiles(JudgedRound("p", "w1", ratings, POLICY, None))
    assert found.sentences[0].startswith("7 raters shown: 1 below the others and ")
    assert found.tables[0].columns == tuple(name for name in COLUMNS if name != "same label again")


def test_numbers_without_categories_have_no_profiles():
    frame = pd.DataFrame({"item": ["i", "i"], "rater": ["a", "b"], "label": [1.5, 2.0]})
    bare = Ratings.from_frame(frame, Scale(None, "interval"))
    assert profiles(bare, POLICY) is None
    assert rater_profiles(JudgedRound("p", "w1", bare, POLICY, None)) is None


def test_how_much_of_a_round_a_rater_rated_stands_beside(shown):
    assert (shown["of items"]["r1"], shown["of items"]["new"]) == ("100%", "6%")


def test_agreement_with_themselves_is_drawn_towards_all(ratings):
    """`careless` changes half of ten labels, and the five others change none of twenty."""
    first = ratings.to_pandas()[["item", "rater", "label", "occurrence"]]
    again = first[first["rater"] != "biased"].groupby("rater", observed=True).head(20)
    again = again.assign(occurrence=2)
    changed = again.index[again["rater"] == "new"][::2]
    again.loc[changed, "label"] = again.loc[changed, "label"].map({"a": "b", "b": "a"})
    both = Ratings.from_frame(pd.concat([first, again], ignore_index=True), SCALE)
    shown = profiles(both, POLICY).to_frame().set_index("rater")["same label again"]
    assert shown["biased"] == ""
    assert 0.5 < float(shown["new"]) < float(shown["r1"]) < 1


def test_the_raters_who_are_shown_are_drawn_towards_the_whole_panel():
    """The lower half of a panel is shown: nobody of it agrees more than the others do."""
    random = np.random.default_rng(4)
    rows = [
        (f"i{item}", f"r{rater:02}", "ab"[(item + (random.random() < 0.3 - rater / 100)) % 2])
        for item in range(120)
        for rater in range(30)
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    panel = Ratings.from_frame(frame, SCALE)
    lowest = Shown.of(panel, 10)
    few = profiles(panel, POLICY, lowest).to_frame().set_index("rater")
    every = profiles(panel, POLICY).to_frame().set_index("rater")
    assert sorted(few.index) == sorted(lowest.raters)
    assert list(few["reads"]) == list(every.loc[few.index, "reads"])
    assert "agrees: higher" in set(every["reads"])
    assert "agrees: higher" not in set(few["reads"])
