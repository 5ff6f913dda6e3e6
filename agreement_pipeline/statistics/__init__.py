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
    chosen_ratings,
)
from agreement_pipeline.statistics.equal_counts import with_equal_counts_as_one
from agreement_pipeline.statistics.by_rater import (
    Apart,
    LabelsByRater,
    in_common,
    raters_apart,
)
from agreement_pipeline.statistics.by_rater import NumbersByRater
from agreement_pipeline.statistics.order import Said, order_of_raters, seed_of
from agreement_pipeline.statistics.replicates import ReplicatedLabels, ReplicatedNumbers
from agreement_pipeline.statistics.unseen import farthest
from agreement_pipeline.statistics.weighted import (
    Beside,
    SeenRows,
    SomeRows,
    Statistic,
    changed,
    dense,
    distinct_in,
    effective_raters,
    every_row,
    in_one,
    indicated,
    sparse,
)

__all__ = [
    "FEWEST_CLUSTERS",
    "MANY_CATEGORIES",
    "Apart",
    "Beside",
    "CategoryCounts",
    "Clusters",
    "CountsOfStratum",
    "LabelsByRater",
    "NumbersByRater",
    "ReplicatedLabels",
    "ReplicatedNumbers",
    "Said",
    "SeenRows",
    "SomeRows",
    "Statistic",
    "archive_of",
    "arrays_of",
    "as_array",
    "changed",
    "chosen_ratings",
    "dense",
    "distinct_in",
    "effective_raters",
    "every_row",
    "farthest",
    "in_common",
    "in_one",
    "indicated",
    "order_of_raters",
    "raters_apart",
    "seed_of",
    "sparse",
    "statistic_bytes",
    "statistic_of",
    "with_equal_counts_as_one",
]
