"""A policy reads rules of any type through a few members, and needs to know nothing else."""

from dataclasses import dataclass

import pytest

from agreement_pipeline.estimates import ROUND, Estimate
from agreement_pipeline.intervals import Interval
from agreement_pipeline.policy import Policy, Rule, Verdict, decide


@dataclass(frozen=True)
class WideEnough:
    """Another type of rule: the value alone decides."""

    measure: str
    reliable: float
    tentative: float
    scope: str = "round"
    effect: str = "hold"
    name: str = "wide_enough"
    description: str = "The value is over the cut-off."

    @property
    def asks(self):
        return (self.measure,)

    def judge(self, estimates):
        return tuple(
            Verdict(self, each.scope, "reliable", "the value", code="reliable", estimate=each)
            for each in estimates
            if each.measure == self.measure and each.value >= self.reliable
        )


FOUND = Estimate("gwet_ac1", ROUND, 0.7, Interval(0.6, 0.8), 0.95, "m", 100, 3, 300)


@pytest.mark.parametrize("familywise", ["none", "holm"])
def test_a_rule_of_another_type_is_judged_like_any_other(familywise):
    rule = WideEnough("gwet_ac1", 0.65, 0.6)
    policy = Policy(
        "p", 1, (rule, Rule("krippendorff_alpha", effect="warn")), familywise=familywise
    )
    assert policy.measures == ("gwet_ac1", "krippendorff_alpha")
    decision = decide(
        [FOUND], policy, findings=(), ratings_digest="r", contract_digest="c", code_version="1"
    )
    assert decision.admitted == (familywise == "none")
    assert decision.to_mapping()["verdicts"][0]["measure"] == "gwet_ac1"
    assert policy.digest != Policy("p", 1, (Rule("gwet_ac1"),), familywise=familywise).digest


def test_a_rule_describes_itself():
    rule = Rule("krippendorff_alpha", effect="warn", tentative=0.5)
    assert (rule.name, rule.asks) == ("krippendorff_alpha_of_round", ("krippendorff_alpha",))
    assert rule.description == (
        "The lower limit of Krippendorff's α of the round reaches 0.8 (tentative: 0.5). "
        "The rule only warns."
    )
