"""Resamples, confidence distributions, and interval methods."""

from agreement_pipeline.intervals.always_valid import (
    AlwaysValid,
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
    in_blocks,
    resampled,
    row_weights,
)
from agreement_pipeline.intervals.evidence import (
    NOTHING,
    affordable,
    gathered,
    points_of,
    split_for,
    why_without,
)
from agreement_pipeline.intervals.inference import Inference
from agreement_pipeline.intervals.methods import (
    DEFAULT_METHOD,
    METHODS,
    Evidence,
    IntervalMethod,
    Population,
    interval_method,
)
from agreement_pipeline.intervals.percentiles import ExpandedPercentiles, Percentiles, expanded

__all__ = [
    "DEFAULT_METHOD",
    "METHODS",
    "NORMAL",
    "NOTHING",
    "PRIOR_MASS",
    "TOO_FEW_DRAWS",
    "AlwaysValid",
    "BoundsOnly",
    "ConfidenceDistribution",
    "Evidence",
    "ExpandedPercentiles",
    "Inference",
    "Interval",
    "IntervalMethod",
    "Percentiles",
    "Population",
    "WiderOf",
    "affordable",
    "critical_value",
    "drawn_masses",
    "expanded",
    "gathered",
    "in_blocks",
    "interval_method",
    "mixture",
    "points_of",
    "resampled",
    "row_weights",
    "split_for",
    "why_without",
]
