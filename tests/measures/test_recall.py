"""Recall and precision of a classifier by category, beside loops over raters and items."""

import math

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.estimates import compare, measure_ratings
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.policy import Rule
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.statistics import LabelsByRater

RATERS = ("a", "b", "c", "d")
FEW = Inference(n_resamples=1000)


def codes_of(seed, n=60, categories=3, missing=0.25):
    rng = np.random.default_rng(seed)
    truth = rng.choice(categories, size=(n, 1), p=[0.6, 0.3, 0.1])
    guesses = rng.integers(0, categories, size=(n, 5))
    codes = np.where(rng.random((n, 5)) < 0.7, truth, guesses)
    return np.where(rng.random(codes.shape) < missing, -1, codes)


def panel_of(codes, weights=None):
    scale = Scale(tuple("xyz"))
    panel = LabelsByRater(codes[:, :4], weights, scale=scale, raters=RATERS)
    return panel.with_classifier(codes[:, 4], "model")


def share(rows, if_, then, c):
    """P(then = c | if_ = c) over items that both labelled; nan without such an item."""
    cases = [row for row in rows if row[if_] == c and row[then] >= 0]
    return np.mean([row[then] == c for row in cases]) if cases else math.nan


def mean(values):
    known = [value for value in values if not math.isnan(value)]
    return np.mean(known) if known else math.nan


def slow(codes, kind, c):
    """The classifier's value and the raters'."""
    rows = codes.tolist()

    def of(who, others, rows):
        pairs = [(k, who) if kind == "recall" else (who, k) for k in others]
        return mean([share(rows, if_, then, c) for if_, then in pairs])

    labelled = [row for row in rows if row[4] >= 0]
    raters = mean([of(j, [k for k in range(4) if k != j], labelled) for j in range(4)])
    return of(4, range(4), rows), raters


@pytest.mark.parametrize("kind", ["recall", "precision"])
@pytest.mark.parametrize("seed", range(3))
def test_each_value_is_that_of_loops_over_raters_and_items(seed, kind):
    codes = codes_of(seed)
    expected = np.array([slow(codes, kind, c) for c in range(3)])
    alone = MEASURES[f"{kind}_by_category"](panel_of(codes)).value
    assert alone == pytest.approx(expected[:, 0], abs=1e-12)
    found = MEASURES[f"{kind}_beside_raters"](panel_of(codes))
    assert found.observed == pytest.approx(expected[:, 0], abs=1e-12)
    assert found.expected == pytest.approx(expected[:, 1], abs=1e-12)
    assert found.value == pytest.approx(expected[:, 0] - expected[:, 1], abs=1e-12)


def test_a_category_that_nobody_gave_has_no_value():
    codes = np.array([[0, 0, 1, -1, 0], [1, 1, 1, -1, 1], [0, 0, 0, -1, 1]])
    assert np.isnan(MEASURES["recall_by_category"](panel_of(codes)).value).tolist() == [
        False,
        False,
        True,
    ]
    codes[2, 4] = 2
    precision = MEASURES["precision_by_category"](panel_of(codes)).value
    assert precision == pytest.approx([2 / 3, 1, 0])


def ratings_of(codes):
    names = (*RATERS, "model")
    rows = [
        (f"i{i}", name, "xyz"[code])
        for i, row in enumerate(codes.tolist())
        for name, code in zip(names, row, strict=True)
        if code >= 0
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    return Ratings.from_frame(frame, Scale(tuple("xyz")), classifiers=("model",))


def test_a_rule_reads_the_lowest_difference_and_no_rater_has_one():
    codes = codes_of(5, n=400, missing=0.0)
    codes[:, 4] = np.where(codes[:, 0] == 2, 1, codes[:, 0])
    ratings = ratings_of(codes)
    rule = Rule(
        "recall_beside_raters",
        scope="classifier",
        reliable=-0.05,
        tentative=-0.1,
        effect="warn",
    )
    (found,) = measure_ratings(ratings, ["recall_beside_raters"], FEW)
    assert str(found.scope) == "classifier model"
    (verdict,) = rule.judge([found])
    assert verdict.kind == "unreliable"
    assert found.lowest == "z"
    classifier, raters = slow(codes, "recall", 2)
    assert found.observed == pytest.approx(classifier)
    assert found.expected == pytest.approx(raters)


def test_two_classifiers_are_compared_on_a_category():
    codes = codes_of(6, n=200, missing=0.0)
    ratings = ratings_of(codes)
    table = ratings.to_pandas().astype({"rater": str, "label": str})
    worse = table[table["rater"] == "model"].assign(rater="worse", label="x")
    both = Ratings.from_frame(
        pd.concat([table, worse]), ratings.scale, classifiers=("model", "worse")
    )
    found = compare(
        both, between=("model", "worse"), measure="recall_by_category", category="z", inference=FEW
    )
    assert found.one == "recall_by_category of category z of classifier model"
    assert found.values == pytest.approx((slow(codes, "recall", 2)[0], 0))
