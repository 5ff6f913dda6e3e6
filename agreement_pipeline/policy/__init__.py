"""Rules, verdicts, and the decision."""

from typing import TYPE_CHECKING

from agreement_pipeline.faces import later

if TYPE_CHECKING:
    from agreement_pipeline.policy.decision import (
        OF_THE_GATE,
        Assessment,
        Decision,
        assess,
        decide,
        judge,
        judged_part,
        manner,
    )
    from agreement_pipeline.policy.planning import (
        EXPECTED,
        LABELS_AN_ITEM,
        N_ROUNDS,
        PREVALENCE,
        PROBABILITY,
        Plan,
        plan,
        unplanned_look,
    )
    from agreement_pipeline.policy.policy import BUNDLED, Policy, load_policy
    from agreement_pipeline.policy.rules import RELIABLE, TENTATIVE, Rule, Verdict
    from agreement_pipeline.policy.waivers import (
        DIGEST,
        NONE,
        Waiver,
        Waivers,
        for_round,
        load_waiver,
    )
else:
    __getattr__, __dir__ = later(
        __name__,
        {
            "Assessment": "decision",
            "BUNDLED": "policy",
            "DIGEST": "waivers",
            "Decision": "decision",
            "EXPECTED": "planning",
            "LABELS_AN_ITEM": "planning",
            "NONE": "waivers",
            "N_ROUNDS": "planning",
            "OF_THE_GATE": "decision",
            "PREVALENCE": "planning",
            "PROBABILITY": "planning",
            "Plan": "planning",
            "Policy": "policy",
            "RELIABLE": "rules",
            "Rule": "rules",
            "TENTATIVE": "rules",
            "Verdict": "rules",
            "Waiver": "waivers",
            "Waivers": "waivers",
            "assess": "decision",
            "decide": "decision",
            "for_round": "waivers",
            "judge": "decision",
            "judged_part": "decision",
            "load_policy": "policy",
            "load_waiver": "waivers",
            "manner": "decision",
            "plan": "planning",
            "unplanned_look": "planning",
        },
    )

__all__ = [
    "BUNDLED",
    "DIGEST",
    "EXPECTED",
    "LABELS_AN_ITEM",
    "NONE",
    "N_ROUNDS",
    "OF_THE_GATE",
    "PREVALENCE",
    "PROBABILITY",
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
    "decide",
    "for_round",
    "judge",
    "judged_part",
    "load_policy",
    "load_waiver",
    "manner",
    "plan",
    "unplanned_look",
]
