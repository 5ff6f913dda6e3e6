"""Rules, verdicts, and the decision."""

from agreement_pipeline.policy.decision import Assessment, Decision, assess, decide
from agreement_pipeline.policy.planning import N_ROUNDS, Plan, plan, plans_for
from agreement_pipeline.policy.policy import Policy, load_policy
from agreement_pipeline.policy.populations import assumed, population_of
from agreement_pipeline.policy.rules import RELIABLE, TENTATIVE, Rule, Verdict
from agreement_pipeline.policy.waivers import DIGEST, NONE, Waiver, Waivers, for_round, load_waiver

__all__ = [
    "DIGEST",
    "NONE",
    "N_ROUNDS",
    "RELIABLE",
    "TENTATIVE",
    "Assessment",
    "Decision",
    "Plan",
    "Policy",
    "Rule",
    "Verdict",
    "Waiver",
    "Waivers",
    "assess",
    "assumed",
    "decide",
    "for_round",
    "load_policy",
    "load_waiver",
    "plan",
    "plans_for",
    "population_of",
]
