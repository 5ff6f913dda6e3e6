"""A policy may require what an export must show. What cannot show it is held."""

from dataclasses import replace

import pandas as pd
import pytest

from agreement_pipeline.errors import PolicyError
from agreement_pipeline.policy import Policy, Rule, judge
from agreement_pipeline.ratings import Origin, Ratings, Scale
from tests.release.forging import CONTRACT

POLICY = Policy("p", 1, (Rule("krippendorff_alpha"),), n_resamples=1000)
ASKING = replace(POLICY, requires=("raters", "drafts", "gold"))
ROWS = [(f"i{item:03}", rater, "ny"[item % 2]) for item in range(90) for rater in "abc"]


@pytest.fixture(scope="module")
def ratings():
    frame = pd.DataFrame(ROWS, columns=["item", "rater", "label"])
    return Ratings.from_frame(frame, Scale(("n", "y")))


def from_export(ratings, *shows):
    return replace(ratings, origin=Origin.build("some_tool", shows, {}))


def test_an_export_that_shows_all_of_it_is_judged_as_without_the_demand(ratings):
    export = from_export(ratings, "raters", "drafts", "gold")
    decision = judge(export, ASKING, CONTRACT)
    assert decision.admitted
    assert decision.findings == judge(export, POLICY, CONTRACT).findings


def test_an_export_that_lacks_some_is_held_with_that_reason(ratings):
    decision = judge(from_export(ratings, "raters", "drafts"), ASKING, CONTRACT)
    assert not decision.admitted
    assert decision.codes == ("not_shown",)
    assert "an export read as some_tool, which cannot show ['gold']" in decision.reasons[0]
    assert "given by no rater" in decision.reasons[0]


def test_a_rule_that_requires_what_is_not_shown_is_not_evaluated(ratings):
    strict = Rule("krippendorff_alpha", requires=("drafts", "gold"))
    policy = replace(POLICY, rules=(strict, Rule("fleiss_kappa")))
    decision = judge(from_export(ratings, "drafts"), policy, CONTRACT)
    assert [verdict.kind for verdict in decision.verdicts] == ["not_evaluated", "reliable"]
    assert decision.codes == ("not_shown",)
    assert "not evaluated, since the rule requires" in decision.reasons[0]
    assert "which cannot show ['gold']" in decision.reasons[0]
    assert judge(from_export(ratings, "drafts", "gold"), policy, CONTRACT).admitted


def test_a_rule_that_only_warns_does_not_hold_what_is_not_shown(ratings):
    warning = Rule("fleiss_kappa", requires=("gold",), effect="warn")
    policy = replace(POLICY, rules=(*POLICY.rules, warning))
    decision = judge(ratings, policy, CONTRACT)
    assert decision.admitted
    assert decision.verdicts[1].code == "not_shown"


def test_a_rule_without_the_demand_keeps_its_digest():
    policy = replace(POLICY, rules=(Rule("krippendorff_alpha", requires=("gold",)),))
    assert "requires" not in POLICY.to_mapping()["rules"][0]
    assert Policy.from_mapping(policy.to_mapping()) == policy
    with pytest.raises(PolicyError, match="requires: found"):
        Rule("krippendorff_alpha", requires=("mind reading",))


def test_ratings_of_an_unknown_export_are_held(ratings):
    decision = judge(ratings, ASKING, CONTRACT)
    assert decision.codes == ("not_shown",)
    assert "['raters', 'drafts', 'gold']" in decision.reasons[0]


def test_a_policy_without_the_demand_keeps_its_digest():
    assert "requires" not in POLICY.to_mapping()
    assert Policy.from_mapping(ASKING.to_mapping()) == ASKING
    assert ASKING.digest != POLICY.digest


@pytest.mark.parametrize("names", [("mind reading",), ("gold", "gold")])
def test_what_no_export_can_show_is_refused(names):
    with pytest.raises(PolicyError, match="requires: found"):
        replace(POLICY, requires=names)
