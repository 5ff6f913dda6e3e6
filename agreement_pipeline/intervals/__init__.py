"""Resamples, confidence distributions, and interval methods."""

from agreement_pipeline.intervals.looks import (
    AlwaysValid as AlwaysValid,
    critical_value as critical_value,
    mixture_variance as mixture_variance,
    Looks as Looks,
    tail_with_second_look as tail_with_second_look,
)
from agreement_pipeline.intervals.distributions import (
    NORMAL as NORMAL,
    TOO_FEW_DRAWS as TOO_FEW_DRAWS,
    BoundsOnly as BoundsOnly,
    ConfidenceDistribution as ConfidenceDistribution,
    WiderOf as WiderOf,
    min_draws as min_draws,
    ExpandedPercentiles as ExpandedPercentiles,
    Percentiles as Percentiles,
    build_expanded_percentiles as build_expanded_percentiles,
    estimate_repeat_range as estimate_repeat_range,
    estimate_repeat_rate as estimate_repeat_rate,
)
from agreement_pipeline.intervals.draws import (
    PRIOR_MASS as PRIOR_MASS,
    Interval as Interval,
    resampling_masses as resampling_masses,
    reweight_to_draw as reweight_to_draw,
    map_in_order as map_in_order,
    draw_in_blocks as draw_in_blocks,
    draw_reweighted as draw_reweighted,
    leave_out_each_item as leave_out_each_item,
    leave_out_groups as leave_out_groups,
    spread_unit_weights_over_rows as spread_unit_weights_over_rows,
)
from agreement_pipeline.intervals.evidence import (
    affordable_resamples as affordable_resamples,
    gather_evidence as gather_evidence,
    UNDEFINED_COEFFICIENT as UNDEFINED_COEFFICIENT,
    Point as Point,
    compute_points as compute_points,
    split_basis as split_basis,
    find_undefined_reason as find_undefined_reason,
)
from agreement_pipeline.intervals.inference import (
    Inference as Inference,
    build_for_looks as build_for_looks,
    build_confidence_distribution as build_confidence_distribution,
)
from agreement_pipeline.intervals.methods import (
    DEFAULT_METHOD as DEFAULT_METHOD,
    METHODS as METHODS,
    Evidence as Evidence,
    IntervalMethod as IntervalMethod,
    Population as Population,
    find_interval_method as find_interval_method,
    jackknife_variance as jackknife_variance,
)
from agreement_pipeline.intervals.proportions import (
    mean_interval as mean_interval,
    mean_interval_of_rows as mean_interval_of_rows,
    share_interval as share_interval,
)
