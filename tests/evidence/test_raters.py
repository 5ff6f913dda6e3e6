"""Raters of a known kind are told apart, and where the intervals cannot tell, the table says so."""

import pandas as pd
import pytest

from agreement_pipeline.demo.rounds import CATEGORIES, simulate_round
from agreement_pipeline.estimates import Estimate, Scope, measure_ratings
from agreement_pipeline.evidence.raters import (
    build_joint_grid,
    build_themselves_and_others_grid,
    list_compared_measures,
)
from agreement_pipeline.intervals import Inference, Interval
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.policy import Policy
from agreement_pipeline.ratings import LEVELS, Ratings, Scale

BY_RATER, BY_CATEGORY = list_compared_measures(Scale(CATEGORIES))
RATERS = ("ana", "ben", "chloe", "dmitri", "esra", "fay", "gus")


def policy(*rules):
    return Policy.from_mapping(
        {"policy": "p", "version": 1, "rules": [{"measure": "krippendorff_alpha"}, *rules]}
    )


def readings(estimates, compared, judged_by=None):
    rows = build_joint_grid(estimates, compared, judged_by or policy()).texts
    return {row[0]: row[-1] for row in rows}


def of(measure, low, high, scope):
    return Estimate(measure, scope, (low + high) / 2, Interval(low, high), 0.95, "m", 50, 3, 150)


def simulated(**settings):
    frame = simulate_round("r", seed=5, n_items=900, raters=RATERS, classifiers={}, **settings)
    ratings = Ratings.from_frame(frame, Scale(CATEGORIES))
    compared = list_compared_measures(ratings.scale)
    measures = [name for each in compared for name in each[1:]]
    return readings(
        measure_ratings(
            ratings, measures, Inference(n_resamples=500), scopes=("rater", "category")
        ),
        compared,
    )


def test_a_careless_rater_and_one_with_a_reading_of_their_own_are_told_apart():
    found = simulated(
        careless=("dmitri",), split=("ben",), replicated=0.7, occurrences=2, accuracy=0.98
    )
    assert (
        found["rater dmitri"] == "agrees neither with themselves nor with the others: "
        "careless, or the items are ambiguous"
    )
    assert (
        found["rater ben"]
        == "sure of their own reading: real subjectivity, or another understanding of the guideline"
    )
    assert {found[f"rater {name}"] for name in RATERS if name not in ("ben", "dmitri")} == {
        "agrees with themselves and with the others"
    }


def test_a_category_that_half_the_panel_reads_otherwise_is_held_to_and_not_shared():
    found = simulated(split=("ana", "ben", "chloe"), replicated=0.7, occurrences=2, accuracy=0.98)
    assert (
        found["category offensive"] == "each rater keeps to their own reading: "
        "the guideline leaves it open, or it is a matter of taste"
    )
    assert found["category hateful"] == "each rater keeps to one reading, and all to the same"


def test_few_replicates_cannot_tell():
    found = simulated(careless=("dmitri",), replicated=0.01, occurrences=2)
    assert found["rater dmitri"].startswith(
        "cannot tell: their agreement with themselves may lie on either side of 0.667"
    )


ANA = Scope("rater", "ana")


@pytest.mark.parametrize(
    ("themselves", "others", "words"),
    [
        ((0.7, 0.9), (0.7, 0.9), "agrees with themselves and with the others"),
        ((0.7, 0.9), (0.1, 0.6), "sure of their own reading"),
        ((0.1, 0.6), (0.7, 0.9), "agrees with the others but not with themselves"),
        ((0.1, 0.6), (0.1, 0.6), "agrees neither with themselves nor with the others"),
        (
            (0.6, 0.7),
            (0.1, 0.6),
            "cannot tell: their agreement with themselves may lie on either side of 0.667",
        ),
        (
            (0.6, 0.7),
            (0.6, 0.7),
            "cannot tell: their agreement with themselves may lie on either side of 0.667; "
            "their agreement with the others may",
        ),
    ],
)
def test_intervals_are_read_and_not_values(themselves, others, words):
    found = [of("test_retest_kappa", *themselves, ANA), of("schouten_kappa", *others, ANA)]
    assert readings(found, [BY_RATER])["rater ana"].startswith(words)


def test_the_cut_offs_are_those_of_the_policys_own_rule_on_the_measure_and_scope():
    found = [of("test_retest_kappa", 0.7, 0.9, ANA), of("schouten_kappa", 0.45, 0.6, ANA)]
    lenient = {
        "measure": "schouten_kappa",
        "scope": "rater",
        "reliable": 0.6,
        "tentative": 0.4,
        "effect": "warn",
    }
    assert readings(found, [BY_RATER])["rater ana"].startswith("sure of their own reading")
    assert (
        readings(found, [BY_RATER], policy(lenient))["rater ana"]
        == "agrees with themselves and with the others"
    )
    of_few = readings(found, [BY_RATER], policy(lenient | {"min_items": 51}))["rater ana"]
    assert of_few.startswith(
        "cannot tell: schouten_kappa of rater ana 0.525: not evaluated, since it rests on 50 items"
    )


def test_what_has_no_value_or_was_not_estimated_cannot_be_told_and_is_shown_empty():
    none = Estimate(
        "test_retest_kappa",
        ANA,
        None,
        None,
        0.95,
        "m",
        0,
        0,
        0,
        undefined="no rater met an item twice",
    )
    rows = build_joint_grid(
        [none, of("kappa_by_category", 0.7, 0.9, Scope("category", "no"))],
        [BY_RATER, BY_CATEGORY],
        policy(),
    ).to_frame()
    assert "with themselves" not in rows
    assert rows["with the others"].tolist() == ["", "0.800 (0.700 to 0.900)"]
    assert rows["reading"][0].startswith(
        "cannot tell: test_retest_kappa of rater ana: undefined, since no rater met an item twice; "
        "schouten_kappa of each rater"
    )
    assert "this round has no such estimate of it" in rows["reading"][1]


@pytest.mark.parametrize("level", [level for level in LEVELS if level != "multivariate interval"])
def test_what_is_compared_is_in_the_same_terms_and_defined_on_the_scale(level):
    scale = (
        Scale((1.0, 2.0, 3.0), level)
        if level in ("interval", "ratio")
        else Scale(("a", "b", "c"), level)
    )
    for each in list_compared_measures(scale):
        themselves, others = (MEASURES[name] for name in each[1:])
        assert themselves.question == "intra-rater"
        assert themselves.defined_on(scale)
        assert others.defined_on(scale)
        assert themselves.chance_corrected == others.chance_corrected
        assert themselves.title.partition(", ")[2] == others.title.partition(", ")[2]


def test_a_scale_without_categories_has_no_measure_of_one_rater_with_the_others():
    assert list_compared_measures(Scale(None, "interval")) == ()
    frame = pd.DataFrame({"item": ["i"], "rater": ["a"], "label": [1.5]})
    ratings = Ratings.from_frame(frame, Scale(None, "interval"))
    assert build_themselves_and_others_grid(ratings, policy()) is None


def test_the_table_of_a_round_holds_every_rater_and_category():
    frame = simulate_round("r", seed=5, n_items=60, classifiers={}, replicated=0.5)
    ratings = Ratings.from_frame(frame.drop(columns="text"), Scale(CATEGORIES))
    rows = build_themselves_and_others_grid(ratings, policy())
    assert [row[0] for row in rows.texts] == [
        *(f"rater {name}" for name in sorted(ratings.raters)),
        *(f"category {name}" for name in CATEGORIES),
    ]
