"""Rules, verdicts, and the decision."""

from agreement_pipeline.policy.decision import (
    AUDITED as AUDITED,
    Assessment as Assessment,
    Decision as Decision,
    assess as assess,
    check_round as check_round,
    decide as decide,
    describe_first_labels as describe_first_labels,
    build_given_again_finding as build_given_again_finding,
    judge as judge,
    select_judged_ratings as select_judged_ratings,
    describe_manner as describe_manner,
    downgrade_for_weak_part as downgrade_for_weak_part,
)
from agreement_pipeline.policy.new_items import (
    DEFAULT_MEASURE as DEFAULT_MEASURE,
    find_headline_measure as find_headline_measure,
    describe_new_items as describe_new_items,
)
from agreement_pipeline.policy.fresh_round import (
    FreshRound as FreshRound,
    find_min_items as find_min_items,
)
from agreement_pipeline.policy.label_planning import (
    describe_drawn_part_needed as describe_drawn_part_needed,
    advise_on_label as advise_on_label,
)
from agreement_pipeline.policy.overlap import find_overlap_mistakes as find_overlap_mistakes
from agreement_pipeline.policy.planning import (
    DEFAULT_EXPECTED_VALUE as DEFAULT_EXPECTED_VALUE,
    DEFAULT_LABELS_PER_ITEM as DEFAULT_LABELS_PER_ITEM,
    N_ROUNDS as N_ROUNDS,
    DEFAULT_PREVALENCE as DEFAULT_PREVALENCE,
    DEFAULT_PROBABILITY as DEFAULT_PROBABILITY,
    Plan as Plan,
    estimate_chance as estimate_chance,
    plan as plan,
    warn_of_unplanned_look as warn_of_unplanned_look,
)
from agreement_pipeline.policy.policy import (
    BUNDLED as BUNDLED,
    RELIABLE as RELIABLE,
    TENTATIVE as TENTATIVE,
    UNDECIDED as UNDECIDED,
    Policy as Policy,
    Rule as Rule,
    Silver as Silver,
    Verdict as Verdict,
    load_policy as load_policy,
)
from agreement_pipeline.policy.reasons import (
    REASONS as REASONS,
    Reason as Reason,
    describe_limits_of_agreement as describe_limits_of_agreement,
)
from agreement_pipeline.policy.waivers import (
    NO_WAIVERS as NO_WAIVERS,
    GATE_TABLE as GATE_TABLE,
    AnyWaiver as AnyWaiver,
    Remedy as Remedy,
    RoundRatings as RoundRatings,
    Waiver as Waiver,
    Waivers as Waivers,
    select_round_waivers as select_round_waivers,
    is_digest as is_digest,
    load_waiver as load_waiver,
    build_gate_finding as build_gate_finding,
    describe_waived as describe_waived,
    waiver_from_mapping as waiver_from_mapping,
)
