"""The sufficient statistics."""

from agreement_pipeline.statistics.clusters import FEWEST_CLUSTERS, Clusters
from agreement_pipeline.statistics.confident import ConfidentPatterns
from agreement_pipeline.statistics.groups import GroupPatterns, grouped
from agreement_pipeline.statistics.panel import PanelPatterns, against_the_rest
from agreement_pipeline.statistics.panel_values import PanelValues, value_against_the_rest
from agreement_pipeline.statistics.patterns import (
    CategoryCounts,
    RatingPatterns,
    Statistic,
    merged,
    merged_codes,
)
from agreement_pipeline.statistics.raters import (
    ByRater,
    count_raters,
    effective_raters,
    items_by_rater,
    raters_on,
    without_raters,
)
from agreement_pipeline.statistics.replicate_values import ReplicateValues
from agreement_pipeline.statistics.replicates import ReplicateCounts
from agreement_pipeline.statistics.rows import distinct_in
from agreement_pipeline.statistics.unseen import farthest
from agreement_pipeline.statistics.values import RatingValues

__all__ = [
    "FEWEST_CLUSTERS",
    "ByRater",
    "CategoryCounts",
    "Clusters",
    "ConfidentPatterns",
    "GroupPatterns",
    "PanelPatterns",
    "PanelValues",
    "RatingPatterns",
    "RatingValues",
    "ReplicateCounts",
    "ReplicateValues",
    "Statistic",
    "against_the_rest",
    "count_raters",
    "distinct_in",
    "effective_raters",
    "farthest",
    "grouped",
    "items_by_rater",
    "merged",
    "merged_codes",
    "raters_on",
    "value_against_the_rest",
    "without_raters",
]
