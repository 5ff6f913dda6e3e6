"""The sufficient statistics: counts, labels and numbers by rater, and replicates."""

from agreement_pipeline.statistics.archives import (
    npz_from_arrays,
    arrays_from_npz,
    bytes_as_array,
    statistic_bytes,
    statistic_from_bytes,
)
from agreement_pipeline.statistics.clusters import FEWEST_CLUSTERS, Clusters
from agreement_pipeline.statistics.counts import (
    MANY_CATEGORIES,
    CategoryCounts,
    CountsOfStratum,
    missing_at_random_p_value,
)
from agreement_pipeline.statistics.equal_counts import merge_rows_of_equal_counts
from agreement_pipeline.statistics.by_rater import (
    RaterDistances,
    LabelsByRater,
    n_items_in_common,
    rater_distances,
)
from agreement_pipeline.statistics.by_rater import NumbersByRater
from agreement_pipeline.statistics.order import (
    RatingHashes,
    canonical_order_of_raters,
    seed_from_arrays,
)
from agreement_pipeline.statistics.panels import LabelsOfPanels
from agreement_pipeline.statistics.replicates import ReplicatedLabels, ReplicatedNumbers
from agreement_pipeline.statistics.unseen import farthest_category
from agreement_pipeline.statistics.weighted import (
    KnownWeights,
    SeenRows,
    SomeRows,
    Statistic,
    copy_with,
    to_dense,
    merge_equal_rows,
    effective_number_of_raters,
    rows_from_array,
    stack_known_sums,
    indicator_rows,
    build_sparse_rows,
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
    "arrays_from_npz",
    "build_sparse_rows",
    "bytes_as_array",
    "canonical_order_of_raters",
    "copy_with",
    "effective_number_of_raters",
    "farthest_category",
    "indicator_rows",
    "merge_equal_rows",
    "merge_rows_of_equal_counts",
    "missing_at_random_p_value",
    "n_items_in_common",
    "npz_from_arrays",
    "rater_distances",
    "rows_from_array",
    "seed_from_arrays",
    "stack_known_sums",
    "statistic_bytes",
    "statistic_from_bytes",
    "to_dense",
]
