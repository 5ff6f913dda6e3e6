"""A model as good as the raters stands among them, and a perfect one above them.

A bad model stands below them. The formal test says which of them may stand in.
"""

import pandas as pd
import pytest

from agreement_pipeline import Ratings, Scale
from agreement_pipeline.counting import RatingsCounting
from agreement_pipeline.demo.rounds import CATEGORIES, simulate_round
from agreement_pipeline.estimates import measure_ratings, value_by_scope
from agreement_pipeline.evidence.raters import build_beside_raters_grid, measure_between_raters
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import MEASURES, alternative_annotator_test
from agreement_pipeline.policy import load_policy
from agreement_pipeline.report import report_page

MODELS = {"good": 0.9, "poor": 0.4, "perfect": 1.0}
SCALE = Scale(CATEGORIES)


@pytest.fixture(scope="module")
def ratings():
    frame = simulate_round(
        "w1", seed=5, n_items=600, classifiers=MODELS, accuracy=0.9, missing=0.0, replicated=0.0
    )
    return Ratings.from_frame(frame.drop(columns="text"), SCALE, classifiers=list(MODELS))


@pytest.fixture(scope="module")
def table(ratings):
    found = measure_ratings(
        ratings, ["schouten_kappa"], Inference(n_resamples=1000), scopes=("classifier",)
    )
    band = value_by_scope(ratings, "schouten_kappa", "rater").values()
    tests = {
        name: alternative_annotator_test(
            RatingsCounting().labels(ratings, (name,)).with_rater_apart(name)
        )
        for name in ratings.classifiers
    }
    return build_beside_raters_grid(found, sorted(band), tests)


@pytest.fixture(scope="module")
def rows(table):
    return table.to_frame().set_index("classifier")


def test_each_model_has_its_place_and_its_verdict(rows):
    assert rows["place"].to_dict() == {
        "good": "among the raters",
        "perfect": "above every rater",
        "poor": "below every rater",
    }
    assert rows.loc["perfect", "alternative-annotator test"] == "may stand in for a rater (ε = 0.2)"
    assert rows.loc["poor", ["winning rate", "alternative-annotator test"]].tolist() == [
        "0.00",
        "not shown that it may stand in (ε = 0.2)",
    ]


def test_the_band_is_from_the_lowest_rater_against_the_rest_to_the_highest(table, ratings):
    others = value_by_scope(ratings, "schouten_kappa", "rater").values()
    lowest, highest = (table.columns.index(f"raters' {end}") for end in ("lowest", "highest"))
    assert {row[lowest].by for row in table.rows} == {min(others)}
    assert {row[highest].by for row in table.rows} == {max(others)}


def test_a_model_that_is_below_the_raters_and_passes_the_test_has_both_explained():
    """Each of three raters errs on 4 of 100 items, and the model on 12 others."""
    rows = []
    for item in range(100):
        truth = item % 2
        wrong = {"abc"[item // 4]} if item < 12 else {"m"} if item < 24 else set()
        rows += [(f"i{item:02}", who, "ny"[truth ^ (who in wrong)]) for who in "abcm"]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    ratings = Ratings.from_frame(frame, Scale(("n", "y")), classifiers=["m"])
    page = report_page(ratings, load_policy("standard"), names={})
    assert (
        "m is below every rater. It passes the alternative-annotator test, which lets a model be "
        "worse than a rater by ε = 0.2."
    ) in page


def test_without_a_band_or_a_test_nothing_is_claimed():
    frame = pd.DataFrame(
        [(f"i{i}", who, "ny"[i % 2]) for i in range(8) for who in ("a", "b", "m")],
        columns=["item", "rater", "label"],
    )
    two = Ratings.from_frame(frame, Scale(("n", "y")), classifiers=["m"])
    found = measure_ratings(
        two, ["schouten_kappa"], Inference(n_resamples=100), scopes=("classifier",)
    )
    shown = build_beside_raters_grid(
        found,
        sorted(value_by_scope(two, "schouten_kappa", "rater").values()),
        {
            "m": alternative_annotator_test(
                RatingsCounting().labels(two, ("m",)).with_rater_apart("m")
            )
        },
    )
    (row,) = shown.to_frame().to_dict("records")
    assert not {"raters' lowest", "place", "winning rate"} & {*row}
    assert row["alternative-annotator test"].startswith("undefined: no rater has 30 items")


@pytest.mark.parametrize(
    ("scale", "name"),
    [
        (SCALE, "schouten_kappa"),
        (Scale(("low", "high"), "ordinal"), "schouten_kappa_quadratic"),
        (Scale((1, 2), "interval"), "schouten_kappa_quadratic"),
    ],
)
def test_the_measure_is_defined_on_the_scale(scale, name):
    assert measure_between_raters(scale) == name
    assert MEASURES[name].defined_on(scale)
    assert measure_between_raters(Scale(None, "interval")) == "advantage_probability"
