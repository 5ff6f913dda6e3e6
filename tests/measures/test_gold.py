"""Accuracy on gold items: a slow loop, whom it is about, and where it is undefined."""

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.errors import PolicyError, RatingsError
from agreement_pipeline.estimates import applicable_measures, measure_ratings
from agreement_pipeline.intervals import Inference
from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.readers import Columns, read
from agreement_pipeline.readers import read as read_for

SCALE = Scale(("no", "maybe", "yes"))
FEW = Inference(n_resamples=1000)
WHO = ("ana", "ben", "model")


def frame_of(n=40, known=30):
    """Items of which the first are gold; of the fifth the right label is not known."""
    random = np.random.default_rng(8)
    right = [SCALE.names[item % 3] for item in range(n)]
    rows = [
        (
            f"i{item:02}",
            who,
            right[item] if random.random() < 0.8 else random.choice(SCALE.names),
            item < known,
            right[item] if item < known and item != 5 else None,
        )
        for item in range(n)
        for who in WHO
        if random.random() < 0.9
    ]
    return pd.DataFrame(rows, columns=["item", "rater", "label", "gold", "gold_label"])


FRAME = frame_of()


def ratings_of(frame=FRAME, scale=SCALE):
    return Ratings.from_frame(frame, scale, classifiers=("model",))


def by_scope(ratings, *scopes):
    found = measure_ratings(ratings, ["gold_accuracy"], FEW, scopes=scopes)
    return {str(each.scope): each for each in found}


@pytest.fixture(scope="module")
def found():
    return by_scope(ratings_of(), "round", "rater", "classifier")


@pytest.mark.parametrize(
    ("scope", "who"),
    [
        ("round", ("ana", "ben")),
        ("rater ana", ("ana",)),
        ("rater ben", ("ben",)),
        ("classifier model", ("model",)),
    ],
)
def test_the_share_of_right_labels_is_what_a_slow_loop_finds(found, scope, who):
    mine = [
        row.label == row.gold_label
        for row in FRAME.itertuples()
        if row.rater in who and row.gold and isinstance(row.gold_label, str)
    ]
    items = FRAME[FRAME["rater"].isin(who) & FRAME["gold_label"].notna()]["item"].nunique()
    assert found[scope].value == pytest.approx(sum(mine) / len(mine))
    assert found[scope].n_used == items
    assert 0 < found[scope].low < found[scope].value < found[scope].high < 1


def test_labels_of_an_item_count_once_each_and_replicates_do_not():
    again = FRAME.assign(occurrence=1)
    more = pd.concat([again, again.assign(occurrence=2, label="no")])
    assert by_scope(ratings_of(more), "round")["round"].value == pytest.approx(
        by_scope(ratings_of(), "round")["round"].value
    )


@pytest.mark.parametrize(
    "frame",
    [
        FRAME.drop(columns="gold_label"),
        FRAME.drop(columns="gold"),
        FRAME.assign(gold_label=None),
        FRAME.drop(columns=["gold", "gold_label"]),
    ],
)
def test_without_a_right_label_there_is_no_value_and_a_reason(frame):
    ratings = ratings_of(frame)
    found = by_scope(ratings, "round", "rater", "classifier")
    assert {each.undefined for each in found.values()} == {
        "nobody rated a gold item whose right label is known"
    }
    assert "gold_accuracy" not in applicable_measures(ratings)
    assert "gold_accuracy" in applicable_measures(ratings_of())


def test_a_rule_reads_each_rater_and_holds_where_nothing_is_known():
    rules = (Rule("gold_accuracy", scope="rater"), Rule("krippendorff_alpha"))
    policy = Policy("p", 1, rules)
    found = by_scope(ratings_of(FRAME.assign(gold_label=None)), "rater")
    verdicts = policy.judge(list(found.values()))
    assert [each.code for each in verdicts] == ["undefined", "undefined", "no_estimate"]
    with pytest.raises(PolicyError, match="which is about no others"):
        Policy("p", 1, rules, interval_method="two_way_jackknife_log")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"gold_label": "nein"},
            r"column 'gold_label': found label 'nein'; expected one of \['no'",
        ),
        ({"gold_label": FRAME["label"]}, "found 2 different contents of item"),
    ],
)
def test_a_right_label_is_on_the_scale_and_there_is_one(change, words):
    with pytest.raises(RatingsError, match=words):
        ratings_of(FRAME.assign(**change))


def test_the_right_label_of_a_scale_without_categories_is_refused():
    frame = FRAME.assign(label=1.5, gold_label="1.5")
    with pytest.raises(RatingsError, match="found right labels for a scale without categories"):
        Ratings.from_frame(frame, Scale(None, "interval"))


def test_the_digest_binds_the_right_labels():
    other = FRAME.assign(gold_label=FRAME["gold_label"].replace({"no": "maybe"}))
    without = FRAME.drop(columns="gold_label")
    assert len({ratings_of(each).digest for each in (FRAME, other, without)}) == 3


def test_a_table_names_the_column_of_right_labels(tmp_path):
    path = tmp_path / "round.csv"
    FRAME.rename(columns={"gold": "known", "gold_label": "truth"}).to_csv(path, index=False)
    columns = Columns(gold="known", gold_label="truth")
    found = read(path, columns, scale=SCALE, classifiers=("model",))
    assert found.digest == ratings_of().digest
    assert read_for(path, columns, scale=SCALE, classifiers=("model",)).digest == found.digest
