"""What became of agreement since the round before, in tables and on a page."""

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.evidence import JudgedRound, RoundBefore, since
from agreement_pipeline.evidence.rounds import answer_since_the_round_before
from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.ratings import Ratings, Scale

POLICY = Policy("p", 1, (Rule("krippendorff_alpha"),), n_resamples=1000)
YES_NO = Scale(("0", "1"))


def round_of(guessed, first=0, seed=1, scale=YES_NO):
    random = np.random.default_rng(seed)
    rows = [
        (f"i{item:03}", rater, random.integers(2) if guess else item % 2)
        for item in range(first, first + 60)
        for guess in [random.random() < guessed]
        for rater in ("ana", "ben", "cleo")
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    labels = frame["label"].astype(float if scale.continuous else str)
    return Ratings.from_frame(frame.assign(label=labels), scale)


GOOD = round_of(0.02)
BEFORE = RoundBefore("w1", GOOD)


@pytest.fixture(scope="module")
def worse():
    return round_of(0.6, seed=2)


def test_the_difference_and_the_drift_stand_in_tables(worse):
    found = since(worse, "w2", BEFORE, POLICY)
    assert list(found) == ["since_last_round", "drift"]
    assert list(found["since_last_round"]["shared items"]) == ["60"]
    assert list(found["since_last_round"]["one"]) == ["krippendorff_alpha of w2"]
    assert {"rater ana", "rater ben", "rater cleo", "category 0"} <= {
        row[0] for row in found["drift"].texts
    }


def test_a_round_that_is_worse_is_called_so(worse):
    found = answer_since_the_round_before(JudgedRound("p", "w2", worse, POLICY, None, BEFORE))
    assert found.sentences[0].startswith("Agreement is lower: it changed by -0.")
    assert found.sentences[0].endswith("since w1. They share 60 items.")
    same = answer_since_the_round_before(JudgedRound("p", "w2", GOOD, POLICY, None, BEFORE))
    assert same.sentences[0].startswith("Agreement may be the same")


def test_a_lower_round_with_another_prevalence_says_so():
    rows = [(f"r{item:03}", rater, int(item < 4)) for item in range(90) for rater in ("ana", "ben")]
    rows = [(item, who, 0 if item == "r003" and who == "ben" else said) for item, who, said in rows]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"]).astype({"label": str})
    rare = Ratings.from_frame(frame, YES_NO)
    found = answer_since_the_round_before(JudgedRound("p", "w2", rare, POLICY, None, BEFORE))
    ones = (GOOD.to_pandas()["label"] == "1").mean()
    shares = f"0 0.96 and {1 - ones:.2f}, 1 0.04 and {ones:.2f}"
    assert found.sentences[0].endswith(f" But prevalence differs here and in w1: {shares}.")


def test_rounds_of_other_items_have_a_difference_and_no_drift(worse):
    others = round_of(0.1, first=100)
    found = since(others, "w2", BEFORE, POLICY)
    assert list(found["since_last_round"]["shared items"]) == ["none"]
    assert found["drift"].startswith("drift: found no item that both rounds share")
    page = answer_since_the_round_before(JudgedRound("p", "w2", others, POLICY, None, BEFORE))
    assert page.sentences[1].startswith("Drift cannot be measured: found no item that both")


def test_what_cannot_be_compared_is_said_in_words():
    numbers = round_of(0.1, scale=Scale(None, "interval"))
    found = since(numbers, "w2", BEFORE, POLICY)
    assert "found levels interval and nominal; expected one level" in found["since_last_round"]


def test_the_first_round_has_nothing_before_it():
    assert since(GOOD, "w1", None, POLICY) == {}
    assert answer_since_the_round_before(JudgedRound("p", "w1", GOOD, POLICY, None)) is None


def test_rounds_that_share_one_item_say_so():
    later = round_of(0.02, first=59, seed=3)
    found = answer_since_the_round_before(JudgedRound("p", "w2", later, POLICY, None, BEFORE))
    assert "They share 1 item." in found.sentences[0]
