"""Admitted or held. Whatever is missing, undefined, uncertain or broken holds."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from agreement_pipeline.errors import PolicyError
from agreement_pipeline.estimates import ROUND, Estimate, Scope
from agreement_pipeline.integrity import Finding
from agreement_pipeline.intervals import Interval, Looks
from agreement_pipeline.policy import Policy, Rule, decide, judge
from agreement_pipeline.policy.decision import describe_manner
from tests.release.forging import make_ratings

POLICY = Policy(
    "p", 1, (Rule("krippendorff_alpha", min_items=50), Rule("self_agreement", effect="warn"))
)
LENIENT = replace(POLICY, admit=("reliable", "tentative"))
GOOD = Estimate("krippendorff_alpha", ROUND, 0.9, Interval(0.85, 0.95), 0.95, "m", 100, 3, 300)
BROKEN = Finding("known labels", "rows", False, "error", "3 labels are unknown")


def decided(estimates, policy=POLICY, findings=()):
    return decide(
        estimates,
        policy,
        findings=findings,
        ratings_digest="r",
        contract_digest="c",
        code_version="1",
    )


def with_interval(low, high):
    return replace(GOOD, value=(low + high) / 2, interval=Interval(low, high))


@pytest.mark.parametrize(
    ("estimates", "words"),
    [
        ([], "this round has no such estimate of it"),
        ([replace(GOOD, measure="fleiss_kappa")], "this round has no such estimate of it"),
        ([replace(GOOD, scope=Scope("rater", "ana"))], "this round has no such estimate of it"),
        (
            [replace(GOOD, value=None, interval=None, undefined="no item has two ratings")],
            "undefined, since no item has two ratings",
        ),
        ([replace(GOOD, n_items=49)], "it rests on 49 items and the policy asks for 50"),
        ([with_interval(0.5, 0.95)], "0.667 lies inside the interval, so the data cannot decide"),
        ([with_interval(0.1, 0.5)], "the upper limit is under 0.667"),
        ([with_interval(0.7, 0.9)], "the lower limit reaches 0.667 but not 0.8"),
        (
            [GOOD, with_interval(0.5, 0.95)],
            "0.667 lies inside the interval, so the data cannot decide",
        ),
    ],
)
def test_nothing_but_a_reliable_verdict_admits(estimates, words):
    decision = decided(estimates)
    assert not decision.admitted
    assert any(words in reason for reason in decision.reasons)
    assert not any("the lower limit reaches 0.8" in reason for reason in decision.reasons)


def test_no_verdict_at_all_holds():
    silent = SimpleNamespace(
        **vars(POLICY)
        | {"judge": lambda estimates: (), "digest": "p", "is_for_model_labels": False},
    )
    assert not decided([GOOD], silent).admitted


def test_a_reliable_verdict_admits_and_says_on_what():
    decision = decided([GOOD])
    assert decision.admitted
    assert not decision.tentative
    assert decision.reasons == (
        "krippendorff_alpha 0.900, 95% interval 0.850 to 0.950 on 100 items: "
        "the lower limit reaches 0.8",
    )


def test_a_tentative_verdict_admits_only_where_the_policy_names_it_and_is_then_marked():
    tentative = with_interval(0.7, 0.9)
    assert not decided([tentative]).admitted
    decision = decided([tentative], LENIENT)
    assert (decision.admitted, decision.tentative) == (True, True)
    assert not decided([with_interval(0.6, 0.95)], LENIENT).admitted


def test_a_rule_that_warns_holds_nothing_and_alone_admits_nothing():
    warned = replace(GOOD, measure="self_agreement", value=0.2, interval=Interval(0.1, 0.3))
    assert decided([GOOD, warned]).admitted
    fine = replace(GOOD, measure="self_agreement")
    assert not decided([fine]).admitted


def test_one_rater_who_fails_holds_the_round():
    rules = (Rule("self_agreement", scope="rater"),)
    policy = Policy("p", 1, rules, passed_by_guessing="nobody trains on it")
    ana, ben = (
        replace(GOOD, measure="self_agreement", scope=Scope("rater", name))
        for name in ("ana", "ben")
    )
    assert decided([ana, ben], policy).admitted
    failing = replace(ben, value=0.3, interval=Interval(0.2, 0.4))
    decision = decided([ana, failing], policy)
    assert not decision.admitted
    assert len(decision.reasons) == 1
    assert "rater ben" in decision.reasons[0]


def test_a_broken_contract_holds_whatever_the_agreement_and_is_the_only_reason():
    decision = decided([GOOD], findings=[BROKEN])
    assert not decision.admitted
    assert decision.reasons == ("contract: 3 labels are unknown",)


@pytest.mark.parametrize(
    ("passed", "severity", "holds"),
    [
        (True, "error", False),
        (False, "warning", False),
        (False, "error", True),
        (False, "critical", True),
    ],
)
def test_a_failed_check_holds_unless_it_is_a_warning(passed, severity, holds):
    finding = replace(BROKEN, passed=passed, severity=severity)
    assert finding.holds is holds
    assert decided([GOOD], findings=[finding]).admitted is not holds


def test_the_name_of_a_policy_is_no_policy():
    with pytest.raises(PolicyError, match="found 'standard'; expected a policy"):
        judge(make_ratings(), "standard")


def test_a_decision_is_bound_to_all_it_rests_on():
    decision = decided([GOOD])
    assert (
        decision.ratings_digest,
        decision.policy_digest,
        decision.contract_digest,
        decision.code_version,
    ) == ("r", POLICY.digest, "c", "1")
    others = [
        replace(decision, ratings_digest="s"),
        replace(decision, policy_digest="q"),
        replace(decision, contract_digest="d"),
        replace(decision, code_version="2"),
    ]
    others += [
        decided([with_interval(0.86, 0.95)]),
        decided([GOOD], findings=[replace(BROKEN, passed=True)]),
    ]
    assert len({decision.digest, *(other.digest for other in others)}) == 7


def test_a_decision_is_plain_data():
    said = json.loads(json.dumps(decided([GOOD], findings=[BROKEN]).to_mapping()))
    assert (said["decision"], said["tentative"], said["reasons"]) == (
        "held",
        False,
        ["contract: 3 labels are unknown"],
    )
    assert [verdict["verdict"] for verdict in said["verdicts"]] == ["reliable", "not_evaluated"]
    assert said["findings"][0]["severity"] == "error"


@pytest.mark.parametrize(
    ("version", "words"),
    [
        (2, "is judged 2 times passes in up to 6 % of cases, instead of 2.5 %"),
        (4, "is judged 4 times passes in up to 10 % of cases, instead of 2.5 %"),
        (11, "is judged 11 times passes more often than one judged once"),
    ],
)
def test_a_round_that_was_judged_before_says_what_its_looks_cost_and_how_to_plan_them(
    version, words
):
    manner = describe_manner(Policy("p", 1, (Rule("krippendorff_alpha"),)), version)
    assert manner.startswith(f"This is version {version} of the round. The limits are valid for")
    assert words in manner
    assert "`looks: {at: [500, 1000]}` or `always_valid_at: 500`" in manner


@pytest.mark.parametrize(
    "planned",
    [
        {"always_valid_at": 500, "n_resamples": 20_000},
        {"looks": Looks((500, 1_000))},
    ],
)
def test_planned_looks_cost_nothing_more(planned):
    manner = describe_manner(Policy("p", 1, (Rule("krippendorff_alpha"),), **planned), 3)
    assert "In simulations" not in manner
    assert "In simulations" not in describe_manner(Policy("p", 1, (Rule("krippendorff_alpha"),)), 1)
