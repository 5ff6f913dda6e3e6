"""ρ from confidence against a loop over equations 4 and 5; its limits; how confidence is read."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.contract import Contract
from agreement_pipeline.counting import RatingsCounting
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.estimates import measure_ratings
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.policy import Policy, assess
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.statistics import LabelsByRater

RHO = MEASURES["campagner_cabitza_rho_confidence"]
ABC = Scale(("a", "b", "c"))


def drawn(seed, items=15, raters=4):
    rng = np.random.default_rng(seed)
    codes = np.where(
        rng.random((items, raters)) < 0.6,
        rng.integers(3, size=(items, 1)),
        rng.integers(3, size=(items, raters)),
    )
    codes = np.where(rng.random(codes.shape) < 0.2, -1, codes)
    confidence = np.where(
        rng.random(codes.shape) < 0.15,
        np.nan,
        rng.choice([0.0, 0.2, 0.5, 0.9, 1.0], size=codes.shape),
    )
    return codes, confidence, rng.integers(1, 4, size=items).astype(float)


def confident(codes, confidence, weights=None, scale=ABC):
    return LabelsByRater(
        codes, weights, scale=scale, raters=[f"r{r}" for r in range(np.shape(codes)[1])]
    ).with_confidence(confidence)


def equations_4_and_5(codes, confidence, weights):
    """The genuine part of each agreement of two raters, one pair at a time.

    On the label given, y is the confidence and x is one minus the confidence.
    """
    used = [
        sum(w for row, w in zip(codes, weights, strict=True) for k in row if k == c)
        for c in range(3)
    ]
    p = np.array(used) / sum(used)
    above = below = 0.0
    for row, sure, w in zip(codes, confidence, weights, strict=True):
        stated = [i for i in range(len(row)) if row[i] >= 0 and not np.isnan(sure[i])]
        pairs = list(combinations(stated, 2))
        genuine = 0.0
        for i, j in pairs:
            if row[i] == row[j]:
                y_i, y_j, x_i, x_j, q = sure[i], sure[j], 1 - sure[i], 1 - sure[j], p[row[i]]
                genuine += (
                    y_i * y_j / (y_i * y_j + q * x_i * y_j + q * x_j * y_i + q * x_i * q * x_j)
                )
        if pairs:
            above, below = above + w * genuine / len(pairs), below + w
    return above / below


@pytest.mark.parametrize("seed", range(8))
def test_rho_is_equations_4_and_5_with_confidence_for_the_share_of_decided_choice(seed):
    codes, confidence, weights = drawn(seed)
    assert float(RHO(confident(codes, confidence, weights)).value) == pytest.approx(
        equations_4_and_5(codes, confidence, weights), abs=1e-12
    )


ROWS = [
    ("i1", "ana", "a", "0.9"),
    ("i1", "ben", "a", 1),
    ("i2", "ana", "b", " "),
    ("i2", "ben", "b", 0.5),
    ("i2", "eve", "b", None),
]


def frame_of(rows=ROWS):
    return pd.DataFrame(rows, columns=["item", "rater", "label", "confidence"]).astype(
        {"confidence": object}
    )


def test_confidence_is_a_number_or_nothing():
    ratings = Ratings.from_frame(frame_of(), ABC)
    assert ratings.to_pandas()["confidence"].tolist() == pytest.approx(
        [0.9, 1.0, np.nan, 0.5, np.nan], nan_ok=True
    )
    found = RatingsCounting().confident_labels(ratings)
    assert (found.n_items, found.n_used, found.n_ratings) == (2, 1, 3)
    assert RHO.raters_left_out(found) == ("eve",)


@pytest.mark.parametrize("bad", ["high", 1.5, -0.1, "90%", np.inf, 5])
def test_any_other_confidence_is_refused_with_its_place(bad):
    frame = frame_of([*ROWS, ("i3", "ana", "a", bad)])
    words = (
        r"export.csv: row 7, column 'sure': found \[.*\]; "
        r"expected a number from 0 to 1, or nothing\. Divide by the highest"
    )
    with pytest.raises(RatingsError, match=words):
        Ratings.from_frame(
            frame, ABC, source="export.csv", columns={"confidence": "sure"}, first_row=2
        )


def test_equal_rows_of_labels_and_confidence_are_made_one_and_give_the_same_value():
    codes, confidence, _ = drawn(2, items=6)
    again = np.tile(np.arange(6), 5)
    rows = [
        (f"i{u:02}", f"r{r}", ABC.names[codes[v, r]], confidence[v, r])
        for u, v in enumerate(again)
        for r in range(4)
        if codes[v, r] >= 0
    ]
    found = RatingsCounting().confident_labels(Ratings.from_frame(frame_of(rows), ABC))
    assert found.weights.tolist() == [5] * 6
    assert float(RHO(found).value) == pytest.approx(
        equations_4_and_5(codes, confidence, np.ones(6)), abs=1e-12
    )


def test_it_has_an_interval_of_the_round_and_of_each_pair_and_says_why_there_is_none():
    codes, _, _ = drawn(4, items=60, raters=3)
    rows = [
        (f"i{u:02}", f"r{r}", ABC.names[k], 0.8)
        for u, row in enumerate(codes)
        for r, k in enumerate(row)
        if k >= 0
    ]
    found = {
        str(each.scope): each
        for each in measure_ratings(
            Ratings.from_frame(frame_of(rows), ABC), [RHO.name], Inference(n_resamples=500)
        )
    }
    assert set(found) == {"round", "pair r0 and r1", "pair r0 and r2", "pair r1 and r2"}
    assert all(each.interval.low < each.value < each.interval.high for each in found.values())
    without = Ratings.from_frame(frame_of(rows).drop(columns="confidence"), ABC)
    (none,) = measure_ratings(without, [RHO.name], Inference(n_resamples=500), scopes=("round",))
    assert none.undefined == "no item has two ratings with a stated confidence"
    assert none.raters_left_out == ("r0", "r1", "r2")


def test_a_policy_may_ask_for_the_confidence_of_every_rater():
    rows = [
        (f"i{u:02}", rater, "abc"[u % 3], None if rater == "eve" else 1.0)
        for u in range(90)
        for rater in ("ana", "ben", "eve")
    ]
    rule = {"measure": RHO.name, "every_rater": True}
    policy = Policy.from_mapping(
        {
            "policy": "p",
            "version": 1,
            "n_resamples": 1000,
            "rules": [rule],
            "passed_by_guessing": "The test asks about one measure alone.",
        }
    )
    (said,) = assess(
        Ratings.from_frame(frame_of(rows), ABC), policy, Contract.none()
    ).decision.verdicts
    assert said.code == "raters_left_out"
    assert (
        "it leaves out ['eve'], whose statements of confidence are missing or show nothing, "
        "and the policy asks for every rater" in said.reason
    )


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: confident([[0, 1]], [[1.0]]),
            r"found confidence of shape \(1, 1\); expected \(1, 2\)\. Give",
        ),
        (
            lambda: confident([[0, 1]], [[1.0, 1.5]]),
            "found a confidence under 0 or above 1; expected 0 to 1",
        ),
    ],
)
def test_an_impossible_statistic_is_refused_in_words(make, words):
    with pytest.raises(RatingsError, match=words):
        make()


def test_unseen_rows_are_those_of_the_patterns_with_each_raters_mean_confidence():
    seen = confident([[0, 1, -1], [1, 1, 0]], [[0.5, 1.0, np.nan], [0.7, 1.0, np.nan]])
    possible = seen.with_unseen(3.0)
    labels = LabelsByRater(seen.codes, seen.weights, scale=seen.scale, raters=seen.raters)
    patterns = labels.with_unseen(3.0)
    assert possible.codes.tolist() == patterns.codes.tolist()
    assert possible.weights.tolist() == patterns.weights.tolist()
    rows = possible.codes[2:] >= 0
    expected = np.where(rows, [0.6, 1.0, np.nan], np.nan)
    assert possible.confidence[2:] == pytest.approx(expected, nan_ok=True)


def test_two_rounds_add_by_the_names_of_raters():
    one = confident([[0, 1]], [[0.5, 1.0]])
    other = LabelsByRater([[2, 0]], scale=ABC, raters=("r1", "new")).with_confidence([[0.1, 0.2]])
    both = one + other
    assert both.raters == ("r0", "r1", "new")
    assert both.confidence == pytest.approx(
        np.array([[0.5, 1.0, np.nan], [np.nan, 0.1, 0.2]]), nan_ok=True
    )
