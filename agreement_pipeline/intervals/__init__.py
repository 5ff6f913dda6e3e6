"""Draws, confidence distributions, and interval methods."""

from agreement_pipeline.intervals.always_valid import (
    AlwaysValid,
    critical_value,
    mixture,
)
from agreement_pipeline.intervals.distributions import (
    NORMAL,
    TOO_FEW_DRAWS,
    Anything,
    ConfidenceDistribution,
    Expanded,
    OfDraws,
    Wider,
    expanded,
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

__all__ = [
    "DEFAULT_METHOD",
    "METHODS",
    "NORMAL",
    "PRIOR_MASS",
    "TOO_FEW_DRAWS",
    "AlwaysValid",
    "Anything",
    "ConfidenceDistribution",
    "Evidence",
    "Expanded",
    "Inference",
    "Interval",
    "IntervalMethod",
    "OfDraws",
    "Population",
    "Wider",
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
