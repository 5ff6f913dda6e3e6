"""Pairs of alternatives, members of sets and criteria of rubrics."""

import pytest

from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.ratings import Scale
from agreement_pipeline.units import (
    ChosenSet,
    Marked,
    Preference,
    Ranking,
    Rubric,
    UnitSettings,
    units_of,
)

JOY = ("joy", "anger", "fear")


def said(kind, *marked, scale=None, **settings):
    units = units_of(marked, UnitSettings(kind, **settings), scale)
    rows = units.rows[["item", "rater", "label"]].astype(str)
    return {(item, rater): label for item, rater, label in rows.to_numpy().tolist()}


def test_rubrics_without_a_score_are_refused_with_their_source():
    with pytest.raises(RatingsError, match=r"^x\.json: scale: found 0 categories"):
        units_of([Marked("e", "ana", ())], UnitSettings("rubrics"), source="x.json")


def ranked(rater, *groups):
    return Marked("q", rater, (Ranking(tuple(frozenset(group) for group in groups)),))


def test_a_ranking_is_its_pairs():
    assert said("rankings", ranked("ana", "b", "ac")) == {
        ("q a : b", "ana"): "second",
        ("q a : c", "ana"): "tie",
        ("q b : c", "ana"): "first",
    }


def test_alternatives_that_a_rater_did_not_rank_are_missing():
    found = said("rankings", ranked("ana", "a", "b", "c"), ranked("ben", "b", "a"))
    assert found["q a : b", "ben"] == "second"
    assert ("q a : c", "ben") not in found


def test_a_preference_is_one_pair_in_whatever_order_it_was_shown():
    marked = [
        Marked("q", "ana", (Preference("x", "y", "second"),)),
        Marked("q", "ben", (Preference("y", "x", "first"),)),
        Marked("q", "chi", (Preference("y", "x", "tie"),)),
    ]
    units = units_of(marked, UnitSettings("preferences"))
    assert units.rows["label"].tolist() == ["second", "second", "tie"]
    assert units.rows["shown"].tolist() == ["first", "second", "second"]
    assert units.ratings.scale.names == ("first", "second", "tie")


def test_a_set_is_its_members():
    marked = [
        Marked("t", "ana", (ChosenSet(frozenset({"joy", "fear"})),)),
        Marked("t", "ben", (ChosenSet(frozenset()),)),
        Marked("t", "chi", ()),
    ]
    found = said("sets", *marked, members=JOY)
    assert [found[f"t {name}", "ana"] for name in JOY] == ["yes", "no", "yes"]
    assert {found[f"t {name}", r] for name in JOY for r in ("ben", "chi")} == {"no"}
    assert {item for item, _ in said("sets", *marked)} == {"t fear", "t joy"}


def test_a_rubric_is_its_criteria_and_one_of_them_may_be_chosen():
    scale = Scale(("1", "2", "3"), "ordinal")
    marked = Marked("e", "ana", (Rubric({"style": "1", "facts": "3"}),))
    assert said("rubrics", marked, scale=scale) == {
        ("e style", "ana"): "1",
        ("e facts", "ana"): "3",
    }
    assert said("rubrics", marked, scale=scale, criterion="facts") == {("e facts", "ana"): "3"}
    with pytest.raises(RatingsError, match=r"found no score of 'tone' among \['facts', 'style'\]"):
        said("rubrics", marked, scale=scale, criterion="tone")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "words"}, "kind: found 'words'; expected one of spans, segments, boxes"),
        (
            {"kind": "boxes", "rule": "positions"},
            "rule: found 'positions'; expected one of matched",
        ),
        ({"kind": "boxes", "at_least": 0}, "at_least: found 0; expected a number above 0"),
        (
            {"kind": "spans", "at_least": 0.7},
            "at_least: found 0.7; expected nothing, since",
        ),
        ({"kind": "boxes", "step": 2}, "step: found 2; expected nothing"),
        ({"kind": "sets", "criterion": "a"}, "criterion: found 'a'; expected nothing"),
    ],
)
def test_settings_that_no_rule_reads_are_refused(settings, message):
    with pytest.raises(ProjectError, match=message):
        UnitSettings(**settings)


def test_units_of_what_nobody_marks_have_no_marking():
    units = units_of([ranked("ana", "a", "b")], UnitSettings("rankings"))
    with pytest.raises(RatingsError, match="expected units of objects that raters mark"):
        _ = units.marking
