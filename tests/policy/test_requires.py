"""A policy may require what an export must show. What cannot show it is held."""

from dataclasses import replace

import pandas as pd
import pytest

from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import PolicyError
from agreement_pipeline.policy import Policy, Rule, judge
from agreement_pipeline.ratings import Origin, Ratings, Scale

POLICY = Policy("p", 1, (Rule("krippendorff_alpha"),), n_resamples=1000)
ASKING = replace(POLICY, requires=("raters", "drafts", "gold"))
DEFAULT = Contract.default().to_mapping()
CONTRACT = Contract.from_mapping({"rows": DEFAULT["rows"][:1], "items": DEFAULT["items"][:1]})
ROWS = [(f"i{item:03}", rater, "ny"[item % 2]) for item in range(90) for rater in "abc"]


@pytest.fixture(scope="module")
def ratings():
    frame = pd.DataFrame(ROWS, columns=["item", "rater", "label"])
    return Ratings.from_frame(frame, Scale(("n", "y")))


def from_export(ratings, *shows):
    return replace(ratings, origin=Origin.of("some_tool", shows, {}))


def test_an_export_that_shows_all_of_it_is_judged_as_without_the_demand(ratings):
    decision = judge(from_export(ratings, "raters", "drafts", "gold"), ASKING, CONTRACT)
    assert decision.admitted
    assert decision.findings == judge(ratings, POLICY, CONTRACT).findings


def test_an_export_that_lacks_some_is_held_with_that_reason(ratings):
    decision = judge(from_export(ratings, "raters", "drafts"), ASKING, CONTRACT)
    assert not decision.admitted
    assert decision.codes == ("not_shown",)
    assert "an export read as some_tool, which cannot show ['gold']" in decision.reasons[0]
    assert "given by no rater" in decision.reasons[0]


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
