"""Resamples, confidence distributions, and interval methods."""

from agreement_pipeline.intervals.always_valid import (
    always_valid,
    critical_value,
    mixture,
)
from agreement_pipeline.intervals.distributions import (
    NORMAL,
    TOO_FEW_DRAWS,
    BoundsOnly,
    ConfidenceDistribution,
    WiderOf,
)
from agreement_pipeline.intervals.draws import (
    PRIOR_MASS,
    Interval,
    drawn_masses,
    each_in_order,
    in_blocks,
    resampled,
    row_weights,
)
from agreement_pipeline.intervals.evidence import affordable, gathered
from agreement_pipeline.intervals.further_out import FurtherOut
from agreement_pipeline.intervals.inference import Inference
from agreement_pipeline.intervals.known import what_is_known
from agreement_pipeline.intervals.looks import Looks, second_look
from agreement_pipeline.intervals.methods import (
    DEFAULT_METHOD,
    METHODS,
    Evidence,
    IntervalMethod,
    Population,
    interval_method,
)
from agreement_pipeline.intervals.percentiles import ExpandedPercentiles, Percentiles, expanded
from agreement_pipeline.intervals.points import NOTHING, points_of, split_for, why_without
from agreement_pipeline.intervals.proportions import mean_interval, share_interval

__all__ = [
    "DEFAULT_METHOD",
    "METHODS",
    "NORMAL",
    "NOTHING",
    "PRIOR_MASS",
    "TOO_FEW_DRAWS",
    "BoundsOnly",
    "ConfidenceDistribution",
    "Evidence",
    "ExpandedPercentiles",
    "FurtherOut",
    "Inference",
    "Interval",
    "IntervalMethod",
    "Looks",
    "Percentiles",
    "Population",
    "WiderOf",
    "affordable",
    "always_valid",
    "critical_value",
    "drawn_masses",
    "each_in_order",
    "expanded",
    "gathered",
    "in_blocks",
    "interval_method",
    "mean_interval",
    "mixture",
    "points_of",
    "resampled",
    "row_weights",
    "second_look",
    "share_interval",
    "split_for",
    "what_is_known",
    "why_without",
]
