"""Resamples, confidence distributions, and interval methods."""

from typing import TYPE_CHECKING

from agreement_pipeline.faces import later

if TYPE_CHECKING:
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
else:
    __getattr__, __dir__ = later(
        __name__,
        {
            "BoundsOnly": "distributions",
            "ConfidenceDistribution": "distributions",
            "DEFAULT_METHOD": "methods",
            "Evidence": "methods",
            "ExpandedPercentiles": "percentiles",
            "FurtherOut": "further_out",
            "Inference": "inference",
            "Interval": "draws",
            "IntervalMethod": "methods",
            "Looks": "looks",
            "METHODS": "methods",
            "NORMAL": "distributions",
            "NOTHING": "points",
            "PRIOR_MASS": "draws",
            "Percentiles": "percentiles",
            "Population": "methods",
            "TOO_FEW_DRAWS": "distributions",
            "WiderOf": "distributions",
            "affordable": "evidence",
            "always_valid": "always_valid",
            "critical_value": "always_valid",
            "drawn_masses": "draws",
            "each_in_order": "draws",
            "expanded": "percentiles",
            "gathered": "evidence",
            "in_blocks": "draws",
            "interval_method": "methods",
            "mean_interval": "proportions",
            "mixture": "always_valid",
            "points_of": "points",
            "resampled": "draws",
            "row_weights": "draws",
            "second_look": "looks",
            "share_interval": "proportions",
            "split_for": "points",
            "what_is_known": "known",
            "why_without": "points",
        },
    )

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
