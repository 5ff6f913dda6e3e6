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


def test_more_pairs_than_the_limit_are_refused_before_they_are_made():
    marked = [ranked("ana", *"abcd"), ranked("ben", *"abc")]
    assert len(said("rankings", *marked, most_pairs=9)) == 9
    with pytest.raises(RatingsError, match="found 9 pairs of alternatives in all; expected 8 at"):
        said("rankings", *marked, most_pairs=8)
    with pytest.raises(ProjectError, match="most_pairs: found 0; expected a whole number from 1"):
        UnitSettings("rankings", most_pairs=0)


def strata_of(kind, *marked):
    return units_of(marked, UnitSettings(kind)).ratings.strata


def test_a_criterion_and_a_label_of_a_set_are_strata():
    rubrics = [Marked("e", name, (Rubric({"style": "1", "facts": "3"}),)) for name in "ab"]
    assert strata_of("rubrics", *rubrics) == {"criterion": ("facts", "style")}
    sets = [Marked("t", name, (ChosenSet(frozenset({"joy", "fear"})),)) for name in "ab"]
    assert strata_of("sets", *sets) == {"member": ("fear", "joy")}


def test_labels_that_are_seldom_ticked_are_one_stratum():
    ticked = frozenset(f"l{at:02}" for at in range(52))
    marked = [
        Marked(f"t{at}", "ana", (ChosenSet(ticked - {"l07", "l31"} if at else ticked),))
        for at in range(3)
    ]
    (names,) = strata_of("sets", *marked).values()
    assert len(names) == 51
    assert "the others" in names
    assert {"l07", "l31"}.isdisjoint(names)


def test_which_of_two_was_shown_first_is_a_stratum_where_it_differs():
    shown = {"q1": "xy", "q2": "yx"}
    every = [
        Marked(item, rater, (Preference(*order, "first"),))
        for item, order in shown.items()
        for rater in ("ana", "ben")
    ]
    assert strata_of("preferences", *every) == {"shown": ("first", "second")}
    assert strata_of("preferences", *every[:2]) == {}
    turned = Marked("q1", "chi", (Preference("y", "x", "tie"),))
    assert strata_of("preferences", *every, turned) == {"shown": ("both ways", "second")}
    one, other = frozenset("x"), frozenset("y")
    rankings = [Marked("q", name, (Ranking((one, other), shown=tuple("yx")),)) for name in "ab"]
    known = Marked("r", "a", (Ranking((one, other), shown=tuple("xy")),))
    assert strata_of("rankings", *rankings, known) == {"shown": ("first", "second")}
    assert strata_of("rankings", *rankings, known, Marked("s", "a", (Ranking((one, other)),))) == {}


def test_an_order_of_display_must_hold_all_that_is_ranked():
    with pytest.raises(RatingsError, match=r"found alternatives \['y'\] that were not displayed"):
        Ranking((frozenset("x"), frozenset("y")), shown=("x", "z"))


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
