"""Resamples, confidence distributions, and interval methods."""

from agreement_pipeline.intervals.looks import (
    AlwaysValid as AlwaysValid,
    critical_value as critical_value,
    mixture as mixture,
    Looks as Looks,
    second_look as second_look,
)
from agreement_pipeline.intervals.distributions import (
    NORMAL as NORMAL,
    TOO_FEW_DRAWS as TOO_FEW_DRAWS,
    BoundsOnly as BoundsOnly,
    ConfidenceDistribution as ConfidenceDistribution,
    WiderOf as WiderOf,
    fewest_draws as fewest_draws,
    ExpandedPercentiles as ExpandedPercentiles,
    Percentiles as Percentiles,
    expanded as expanded,
    reached_again as reached_again,
)
from agreement_pipeline.intervals.draws import (
    PRIOR_MASS as PRIOR_MASS,
    Interval as Interval,
    drawn_masses as drawn_masses,
    each_in_order as each_in_order,
    in_blocks as in_blocks,
    resampled as resampled,
    row_weights as row_weights,
)
from agreement_pipeline.intervals.evidence import (
    affordable as affordable,
    gathered as gathered,
    NOTHING as NOTHING,
    Point as Point,
    points_of as points_of,
    split_for as split_for,
    why_without as why_without,
)
from agreement_pipeline.intervals.inference import (
    Inference as Inference,
    what_is_known as what_is_known,
)
from agreement_pipeline.intervals.methods import (
    DEFAULT_METHOD as DEFAULT_METHOD,
    METHODS as METHODS,
    Evidence as Evidence,
    IntervalMethod as IntervalMethod,
    Population as Population,
    interval_method as interval_method,
)
from agreement_pipeline.intervals.proportions import (
    mean_interval as mean_interval,
    mean_interval_of_rows as mean_interval_of_rows,
    share_interval as share_interval,
)
