"""Which verdict an interval gets."""

from dataclasses import replace

import numpy as np
import pytest

from agreement_pipeline.estimates import Scope
from agreement_pipeline.policy import Rule
from tests.policy.verdicts import ALPHA, found, undefined, verdict


def test_no_estimate_at_all_is_not_evaluated():
    said = verdict(ALPHA)
    assert (said.kind, said.code) == ("not_evaluated", "no_estimate")
    assert (
        said.reason
        == "krippendorff_alpha of the round: not evaluated, since this round has no such estimate "
        "of it"
    )


def test_an_estimate_of_another_measure_or_scope_does_not_count():
    elsewhere = [found(0.9, 1.0, measure="gwet_ac1"), found(0.9, 1.0, scope=Scope("rater", "ana"))]
    assert verdict(ALPHA, *elsewhere).code == "no_estimate"


def test_an_undefined_value_is_not_evaluated_and_says_why():
    said = verdict(ALPHA, undefined("no item has two ratings"))
    assert (said.kind, said.code) == ("not_evaluated", "undefined")
    assert said.reason == "krippendorff_alpha: undefined, since no item has two ratings"


@pytest.mark.parametrize(
    ("rule", "code", "words"),
    [
        (
            Rule("krippendorff_alpha", min_items=101),
            "too_few_items",
            "it rests on 100 items and the policy asks for 101",
        ),
        (
            Rule("krippendorff_alpha", min_raters=4),
            "too_few_raters",
            "it rests on 3 raters and the policy asks for 4",
        ),
    ],
)
def test_a_perfect_interval_on_too_little_evidence_is_not_evaluated(rule, code, words):
    said = verdict(rule, found(0.99, 1.0))
    assert (said.kind, said.code) == ("not_evaluated", code)
    assert words in said.reason


def test_items_with_one_rating_are_no_evidence():
    said = verdict(
        Rule("krippendorff_alpha", min_items=50),
        replace(found(0.9, 1.0), dropped={"one rating": 60}),
    )
    assert (said.kind, said.code) == ("not_evaluated", "too_few_items")
    assert "it rests on 40 items and the policy asks for 50" in said.reason
    assert (
        "on 40 of 100 items (the others have one rating)"
        in verdict(ALPHA, replace(found(0.9, 1.0), dropped={"one rating": 60})).reason
    )


def test_items_of_one_cluster_are_one_item_of_evidence():
    in_documents = replace(found(0.9, 1.0), n_clusters=8)
    assert verdict(Rule("krippendorff_alpha", min_items=8), in_documents).kind == "reliable"
    said = verdict(Rule("krippendorff_alpha", min_items=9), in_documents)
    assert (said.kind, said.code) == ("not_evaluated", "too_few_items")
    assert "it rests on 8 clusters of items and the policy asks for 9" in said.reason


@pytest.mark.parametrize(
    ("rule", "estimate", "words"),
    [
        (Rule("krippendorff_alpha", min_items=2), {"n_items": 1}, "it rests on 1 item and"),
        (Rule("krippendorff_alpha", min_raters=2), {"n_raters": 1}, "it rests on 1 rater and"),
        (
            Rule("krippendorff_alpha", min_items=2),
            {"n_clusters": 1},
            "it rests on 1 cluster of items and",
        ),
    ],
)
def test_one_of_anything_is_counted_in_the_singular(rule, estimate, words):
    assert words in verdict(rule, replace(found(0.9, 1.0), **estimate)).reason


def test_raters_left_out_are_named_and_hold_where_the_policy_asks_for_every_rater():
    some = replace(found(0.9, 1.0, measure="self_agreement"), raters_left_out=("ben", "esra"))
    said = verdict(Rule("self_agreement"), some)
    assert said.kind == "reliable"
    assert "on 100 items, leaving out ['ben', 'esra']" in said.reason
    held = verdict(Rule("self_agreement", every_rater=True), some)
    assert (held.kind, held.code) == ("not_evaluated", "raters_left_out")
    assert (
        "it leaves out ['ben', 'esra'], whose replicates are missing or show nothing, "
        "and the policy asks for every rater" in held.reason
    )
    assert (
        verdict(Rule("self_agreement", every_rater=True), replace(some, raters_left_out=())).kind
        == "reliable"
    )


@pytest.mark.parametrize(
    ("low", "high", "kind"),
    [
        (-np.inf, 1.0, "inconclusive"),
        (-0.2, 0.3, "unreliable"),
        (0.5, 0.6669999, "unreliable"),
        (0.5, 0.667, "inconclusive"),
        (0.6, 0.95, "inconclusive"),
        (0.6669999, 1.0, "inconclusive"),
        (0.667, 0.7, "tentative"),
        (0.7999999, 1.0, "tentative"),
        (0.8, 0.8, "reliable"),
        (0.8, 1.0, "reliable"),
        (1.0, 1.0, "reliable"),
    ],
)
def test_the_interval_decides_and_a_limit_on_the_cutoff_reaches_it(low, high, kind):
    assert verdict(ALPHA, found(low, high)).kind == kind


def test_the_point_value_does_not_decide():
    assert verdict(ALPHA, found(0.60, 0.99, value=0.95)).kind == "inconclusive"


@pytest.mark.parametrize(("tentative", "reliable"), [(0.7, 0.9), (0.667, 0.667)])
def test_a_rule_may_be_stricter_than_the_usual_cutoffs(tentative, reliable):
    rule = Rule("krippendorff_alpha", tentative=tentative, reliable=reliable)
    limits = np.round(np.arange(0.6, 1.0, 0.01), 2)
    for low in limits:
        expected = (
            "reliable" if low >= reliable else "tentative" if low >= tentative else "inconclusive"
        )
        assert verdict(rule, found(low, 1.0)).kind == expected


def test_every_rater_is_judged_on_their_own():
    rule = Rule("krippendorff_alpha", scope="rater")
    ana, ben = (
        found(low, 1.0, scope=Scope("rater", name)) for name, low in (("ana", 0.9), ("ben", 0.5))
    )
    assert [(str(v.scope), v.kind) for v in rule.judge([ana, ben])] == [
        ("rater ana", "reliable"),
        ("rater ben", "inconclusive"),
    ]
