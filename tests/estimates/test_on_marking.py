"""Where raters mark objects, an estimate of a category says what its disagreement is about."""

from dataclasses import replace

import pandas as pd
import pytest

from agreement_pipeline import Scale
from agreement_pipeline.estimates import applicable_measures, estimate, survey
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.policy import Rule
from agreement_pipeline.ratings import TEXT, Origin, Ratings
from agreement_pipeline.statistics import CategoryCounts
from agreement_pipeline.units import Box, Marked, UnitSettings, units_of
from tests.policy.verdicts import verdict

SCALE = Scale(("none", "DRUG", "DOSE"))
ROWS = [[2, 0, 0], [0, 2, 0], [0, 0, 2], [1, 1, 0], [1, 0, 1], [0, 1, 1]]
TIMES = [50, 20, 20, 6, 9, 3]
"""Of 9 + 3 disagreements on DOSE, 9 are with *none*."""


def found(scale=SCALE, rows=ROWS):
    counts = CategoryCounts(rows, TIMES[: len(rows)], scale=scale)
    return estimate("alpha_by_category", counts, Inference(n_resamples=200))


def test_the_share_of_disagreement_on_marking_is_counted_pair_by_pair():
    assert found().lowest == "DOSE"
    assert found().on_marking == pytest.approx(9 / 12)


def test_disagreement_on_none_is_all_on_marking():
    only = found(Scale(("none", "DRUG")), [[2, 0], [0, 2], [1, 1]])
    assert (only.lowest, only.on_marking) == ("none", 1.0)


def test_other_scales_have_no_such_share():
    assert found(Scale(("safe", "DRUG", "DOSE"))).on_marking is None


def test_a_reason_names_the_category_and_the_kind_of_disagreement():
    reason = verdict(Rule("alpha_by_category", min_items=1), found()).reason
    words = "(lowest: DOSE, 75% of the disagreement on marking and 25% on naming)"
    assert words in reason


def named(*answers):
    """Boxes that two raters named as they did, and units of the part *naming* of them."""
    drawn = [
        Marked(f"i{item}", rater, (Box(0, 0, 9, 9, category),), (9, 9))
        for item, said in enumerate(answers)
        for rater, category in zip(("ana", "ben"), said, strict=True)
    ]
    settings = UnitSettings("boxes", part="naming")
    ratings = units_of(drawn, settings, Scale(("cell", "debris"))).ratings
    return replace(ratings, origin=Origin.build("tool", ["raters"], {}, settings.part))


CELL, DEBRIS, APART = ("cell", "cell"), ("debris", "debris"), ("cell", "debris")


@pytest.mark.parametrize(
    ("answers", "share"), [((CELL, DEBRIS, APART), 0.0), ((CELL, DEBRIS), None)]
)
def test_disagreement_of_those_who_marked_is_all_on_naming(answers, share):
    told = survey(
        named(*4 * answers),
        ["alpha_by_category", "krippendorff_alpha"],
        Inference(n_resamples=200),
        scopes={"round", "category"},
    )
    assert {each.on_marking for each in told if each.measure == "alpha_by_category"} == {share}
    assert [each.on_marking for each in told if each.measure == "krippendorff_alpha"] == [None]


def test_a_reason_says_if_all_disagreement_is_of_one_kind():
    ratings = named(*20 * (CELL, DEBRIS, APART))
    (told,) = survey(ratings, ["alpha_by_category"], Inference(n_resamples=200), scopes={"round"})
    reason = verdict(Rule("alpha_by_category", min_items=1), told).reason
    assert "(lowest: cell, all of the disagreement on naming)" in reason
    only = found(Scale(("none", "DRUG")), [[2, 0], [0, 2], [1, 1]])
    reason = verdict(Rule("alpha_by_category", min_items=1), only).reason
    assert "(lowest: none, all of the disagreement on marking)" in reason


def beside(other, occurrence):
    """Two raters and another one, or one of the two again, who differ on every fifth item."""
    rows = [
        (item, rater, ("none", "DRUG", "DOSE")[(item + (shift and item % 5 == 0)) % 3], n)
        for item in range(30)
        for rater, shift, n in (("ana", 0, 1), ("ben", 1, 1), (other, 2, occurrence))
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label", "occurrence"])
    models = ("model",) if other == "model" else ()
    return Ratings.from_frame(frame.astype({"item": TEXT}), SCALE, classifiers=models)


@pytest.mark.parametrize("part", ["", "naming"])
@pytest.mark.parametrize(
    ("question", "other", "occurrence"), [("classifier", "model", 1), ("intra-rater", "ana", 2)]
)
def test_measures_of_models_and_of_replicates_have_no_such_share(question, other, occurrence, part):
    ratings = beside(other, occurrence)
    ratings = replace(ratings, origin=Origin.build("tool", ["raters"], {}, part))
    names = [name for name in applicable_measures(ratings, question) if MEASURES[name].per_category]
    told = survey(ratings, names, Inference(n_resamples=200), scopes={"classifier", "category"})
    assert any(each.value is not None for each in told)
    assert {each.on_marking for each in told} == {None}
