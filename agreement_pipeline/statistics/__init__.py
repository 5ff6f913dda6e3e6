"""The sufficient statistics: counts, labels and numbers by rater, and replicates."""

from agreement_pipeline.statistics.archives import (
    archive_of,
    arrays_of,
    as_array,
    statistic_bytes,
    statistic_of,
)
from agreement_pipeline.statistics.clusters import FEWEST_CLUSTERS, Clusters
from agreement_pipeline.statistics.counts import (
    MANY_CATEGORIES,
    CategoryCounts,
    CountsOfStratum,
    missing_at_random_p_value,
)
from agreement_pipeline.statistics.equal_counts import with_equal_counts_as_one
from agreement_pipeline.statistics.by_rater import (
    RaterDistances,
    LabelsByRater,
    items_in_common,
    rater_distances,
)
from agreement_pipeline.statistics.by_rater import NumbersByRater
from agreement_pipeline.statistics.order import RatingHashes, order_of_raters, seed_of
from agreement_pipeline.statistics.panels import LabelsOfPanels
from agreement_pipeline.statistics.replicates import ReplicatedLabels, ReplicatedNumbers
from agreement_pipeline.statistics.unseen import farthest
from agreement_pipeline.statistics.weighted import (
    KnownWeights,
    SeenRows,
    SomeRows,
    Statistic,
    copy_with,
    dense,
    merge_equal_rows,
    effective_raters,
    every_row,
    in_one,
    indicator_rows,
    sparse,
)

__all__ = [
    "FEWEST_CLUSTERS",
    "MANY_CATEGORIES",
    "CategoryCounts",
    "Clusters",
    "CountsOfStratum",
    "KnownWeights",
    "LabelsByRater",
    "LabelsOfPanels",
    "NumbersByRater",
    "RaterDistances",
    "RatingHashes",
    "ReplicatedLabels",
    "ReplicatedNumbers",
    "SeenRows",
    "SomeRows",
    "Statistic",
    "archive_of",
    "arrays_of",
    "as_array",
    "copy_with",
    "dense",
    "effective_raters",
    "every_row",
    "farthest",
    "in_one",
    "indicator_rows",
    "items_in_common",
    "merge_equal_rows",
    "missing_at_random_p_value",
    "order_of_raters",
    "rater_distances",
    "seed_of",
    "sparse",
    "statistic_bytes",
    "statistic_of",
    "with_equal_counts_as_one",
]
