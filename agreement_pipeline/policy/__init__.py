"""Rules, verdicts, and the decision."""

from agreement_pipeline.policy.decision import (
    AUDITED as AUDITED,
    Assessment as Assessment,
    Decision as Decision,
    assess as assess,
    check_round as check_round,
    decide as decide,
    first_labels as first_labels,
    given_again as given_again,
    judge as judge,
    judged_part as judged_part,
    manner as manner,
    met_in_parts as met_in_parts,
)
from agreement_pipeline.policy.new_items import (
    USUAL_MEASURE as USUAL_MEASURE,
    headline as headline,
    what_is_new as what_is_new,
)
from agreement_pipeline.policy.label_planning import (
    drawn_part_needed as drawn_part_needed,
    what_would_help as what_would_help,
)
from agreement_pipeline.policy.overlap import find_overlap_mistakes as find_overlap_mistakes
from agreement_pipeline.policy.planning import (
    EXPECTED as EXPECTED,
    LABELS_AN_ITEM as LABELS_AN_ITEM,
    N_ROUNDS as N_ROUNDS,
    PREVALENCE as PREVALENCE,
    PROBABILITY as PROBABILITY,
    Plan as Plan,
    least_items as least_items,
    plan as plan,
    unplanned_look as unplanned_look,
)
from agreement_pipeline.policy.policy import (
    BUNDLED as BUNDLED,
    RELIABLE as RELIABLE,
    TENTATIVE as TENTATIVE,
    Policy as Policy,
    Rule as Rule,
    Silver as Silver,
    Verdict as Verdict,
    load_policy as load_policy,
)
from agreement_pipeline.policy.reasons import (
    REASONS as REASONS,
    Reason as Reason,
    beyond_agreement as beyond_agreement,
    more_items as more_items,
)
from agreement_pipeline.policy.waivers import (
    NONE as NONE,
    OF_THE_GATE as OF_THE_GATE,
    AnyWaiver as AnyWaiver,
    Remedy as Remedy,
    RoundRatings as RoundRatings,
    Waiver as Waiver,
    Waivers as Waivers,
    for_round as for_round,
    is_digest as is_digest,
    load_waiver as load_waiver,
    of_gate as of_gate,
    waived as waived,
    waiver_from_mapping as waiver_from_mapping,
)
