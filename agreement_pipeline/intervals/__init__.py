"""Draws, confidence distributions, and interval methods."""

from agreement_pipeline.intervals.always_valid import (
    AlwaysValid,
    critical_value,
    draws_needed,
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
    fewest_draws,
    too_few,
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
    Asked,
    affordable,
    gathered,
    points_of,
    split_for,
    why_without,
)
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
    "Asked",
    "ConfidenceDistribution",
    "Evidence",
    "Expanded",
    "Interval",
    "IntervalMethod",
    "OfDraws",
    "Population",
    "Wider",
    "affordable",
    "critical_value",
    "drawn_masses",
    "draws_needed",
    "expanded",
    "fewest_draws",
    "gathered",
    "in_blocks",
    "interval_method",
    "mixture",
    "points_of",
    "resampled",
    "row_weights",
    "split_for",
    "too_few",
    "why_without",
]
