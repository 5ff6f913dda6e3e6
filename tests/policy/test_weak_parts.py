"""A good value of the round does not hide a part without agreement, and holds no honest round."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline import Rule, Scale
from agreement_pipeline.estimates import columns_without_difference, judge_parts_of_round
from agreement_pipeline.intervals import Inference
from agreement_pipeline.policy import Policy, assess
from agreement_pipeline.ratings import Ratings, group_raters_by_shared_items
from benchmarks.studies.parts import CONTRACT, DISHONEST, HONEST, POLICY, decided, ticks

ALPHA = "krippendorff_alpha"


def random(seed=0):
    return np.random.default_rng((7, seed))


@pytest.mark.parametrize("kind", DISHONEST)
def test_a_part_without_agreement_holds_the_round_and_nothing_else_does(kind):
    decision = decided(DISHONEST[kind](random()))
    assert (decision.admitted, decision.codes) == (False, ("weak_part",))


@pytest.mark.parametrize("kind", HONEST)
def test_parts_that_agree_hold_nothing(kind):
    assert "weak_part" not in decided(HONEST[kind](random())).codes


def rows(sizes, wrong):
    """Items of strata, of which some raters differ on a share."""
    return [
        (f"{name}{at:04}", rater, "ny"[(at + (rater == "ben" and at % 10 < wrong[name])) % 2], name)
        for name, size in sizes.items()
        for at in range(size)
        for rater in ("ana", "ben", "chi")
    ]


COLUMNS = ["item", "rater", "label", "stratum:language"]


def in_strata(sizes, wrong, **more):
    frame = pd.DataFrame(rows(sizes, wrong), columns=COLUMNS).assign(**more)
    return Ratings.from_frame(frame, Scale(("n", "y")))


def test_the_reason_names_the_part_its_value_and_how_many_were_looked_at():
    decision = decided(in_strata({"de": 800, "en": 100, "fr": 9}, {"de": 0, "en": 5, "fr": 5}))
    (reason,) = decision.reasons
    assert "but 1 of 2 parts under 0.8: on stratum language=en it is 0.3" in reason


def test_a_rule_on_strata_takes_the_place_of_the_check():
    ratings = in_strata({"de": 800, "en": 100}, {"de": 0, "en": 5})
    warns = replace(POLICY, rules=(*POLICY.rules, Rule(ALPHA, scope="stratum", effect="warn")))
    assert assess(ratings, warns, CONTRACT, checked=()).decision.admitted


def test_what_a_policy_admits_is_the_cut_off_of_parts():
    ratings = in_strata({"de": 2000, "en": 600}, {"de": 0, "en": 2})
    assert decided(ratings).codes == ("weak_part",)
    loose = replace(POLICY, admit=("reliable", "tentative"))
    assert assess(ratings, loose, CONTRACT, checked=()).decision.admitted


def test_a_category_of_nearly_all_labels_makes_no_part_weak():
    """On one language all labels but a few are alike, and those few are slips."""
    rare = pd.DataFrame(rows({"de": 800, "en": 200}, {"de": 0, "en": 0}), columns=COLUMNS)
    english = rare["item"].str.startswith("en")
    rare.loc[english, "label"] = "n"
    rare.loc[english & (rare["item"] < "en0006") & (rare["rater"] == "ben"), "label"] = "y"
    ratings = Ratings.from_frame(rare, Scale(("n", "y")))
    (part,) = (
        each
        for each in judge_parts_of_round(ratings, ALPHA, 0.8, POLICY.inference)
        if each.is_judged
    )
    assert part.name == "stratum language=de"
    assert decided(ratings).admitted


def test_labels_that_are_all_rare_hold_nothing_and_labels_that_never_differ_do():
    rng = random()
    assert decided(ticks(rng, [0.03] * 30, [0.02] * 30, 300)).admitted
    ratings = ticks(rng, [0.0] * 20 + [1.0], [0.0] * 21, 60)
    assert columns_without_difference(judge_parts_of_round(ratings, ALPHA, 0.8, Inference())) == (
        "member",
    )
    (verdict,) = decided(ticks(rng, [0.0] * 20 + [1.0], [0.0] * 21, 300)).unmet
    assert verdict.reason.endswith("; but each label of the sets is always ticked, or never")


def test_of_many_parts_one_is_weak_only_if_chance_does_not_explain_it():
    """Of 40 small strata, the lowest interval lies under the cut-off in most rounds."""
    errors = {f"s{at:02}": 1.0 if at == 7 else 0.0 for at in range(40)}
    ratings = in_strata(dict.fromkeys(errors, 30), {name: 3 * e for name, e in errors.items()})
    parts = judge_parts_of_round(ratings, ALPHA, 0.8, POLICY.inference)
    assert len(parts) == 40
    (low,) = (part for part in parts if part.p < 1)
    assert 0.025 / 40 < low.p < 0.2
    assert decided(ratings).admitted


def test_numbers_without_categories_have_parts_too():
    rng = random()
    frame = pd.DataFrame(
        [
            (
                f"i{at:03}",
                rater,
                true + rng.normal(0, 5 if at % 8 == 0 else 0.05),
                "ab"[at % 8 == 0],
            )
            for at in range(400)
            for true in [rng.normal(0, 3 if at % 8 == 0 else 9)]
            for rater in ("ana", "ben", "chi")
        ],
        columns=["item", "rater", "label", "stratum:kind"],
    )
    decision = decided(Ratings.from_frame(frame, Scale(None, "interval")))
    assert decision.codes == ("weak_part",)
    assert "stratum kind=b" in decision.reasons[0]


def test_what_is_left_out_is_compared_inside_each_stratum():
    """The dissent of one stratum is called assisted, and the policy leaves it out."""
    frame = pd.DataFrame(rows({"de": 600, "en": 100}, {"de": 0, "en": 4}), columns=COLUMNS)
    apart = (frame["rater"] == "ben") & frame["item"].str.startswith("en")
    dissent = apart & (frame["item"].str[-1].astype(int) < 4)
    frame = frame.assign(assisted=dissent)
    policy = Policy("p", 1, (Rule(ALPHA, scope="stratum"),), n_resamples=2000)
    leaves_out = replace(policy, assisted="leave_out")
    ratings = Ratings.from_frame(frame, Scale(("n", "y")))
    decision = assess(ratings, leaves_out, CONTRACT, checked=()).decision
    assert decision.codes == ("dissent_left_out",)
    assert [str(each.scope) for each in decision.unmet] == ["stratum language=en"]
    honest = frame.assign(assisted=frame["item"].str.endswith("7"))
    honest.loc[dissent, "label"] = honest["label"][dissent].map({"n": "y", "y": "n"})
    other = Ratings.from_frame(honest, Scale(("n", "y")))
    assert assess(other, leaves_out, CONTRACT, checked=()).decision.admitted


def given(*said, **more):
    """Ratings of who labelled what: `ana:1,2` labelled items 1 and 2."""
    each = [
        (name, item)
        for name, _, items in (one.partition(":") for one in said)
        for item in items.split(",")
    ]
    frame = pd.DataFrame(each, columns=["rater", "item"]).assign(label="y")
    return Ratings.from_frame(frame, Scale(("n", "y")), **more)


@pytest.mark.parametrize(
    ("said", "teams"),
    [
        (("d:4", "c:3,4", "b:2,3", "a:1,2"), [{"a", "b", "c", "d"}]),
        (("a:1,2", "b:2", "c:3", "d:4,3", "e:5"), [{"a", "b"}, {"c", "d"}, {"e"}]),
    ],
)
def test_raters_who_share_items_by_way_of_others_are_one_team(said, teams):
    assert [{*team} for team in group_raters_by_shared_items(given(*said))] == teams


def test_neither_a_classifier_nor_gold_items_make_two_teams_one():
    said = given("a:1,2,9", "b:2,9", "c:3,9", "d:3", "model:1,2,3,9", classifiers=("model",))
    assert [{*team} for team in group_raters_by_shared_items(said.with_gold(frozenset("9")))] == [
        {"a", "b"},
        {"c", "d"},
    ]
    assert len(group_raters_by_shared_items(said)) == 1
