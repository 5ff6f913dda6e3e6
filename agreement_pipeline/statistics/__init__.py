"""The sufficient statistics: counts, labels and numbers by rater, and replicates."""

from agreement_pipeline.statistics.archives import (
    archive_of as archive_of,
    arrays_of as arrays_of,
    as_array as as_array,
    statistic_bytes as statistic_bytes,
    statistic_of as statistic_of,
)
from agreement_pipeline.statistics.clusters import (
    FEWEST_CLUSTERS as FEWEST_CLUSTERS,
    Clusters as Clusters,
)
from agreement_pipeline.statistics.counts import (
    CategoryCounts as CategoryCounts,
    CountsOfStratum as CountsOfStratum,
    chosen_ratings as chosen_ratings,
)
from agreement_pipeline.statistics.equal_counts import (
    with_equal_counts_as_one as with_equal_counts_as_one,
)
from agreement_pipeline.statistics.by_rater import (
    Apart as Apart,
    LabelsByRater as LabelsByRater,
    raters_apart as raters_apart,
    times_seen as times_seen,
)
from agreement_pipeline.statistics.by_rater import (
    NumbersByRater as NumbersByRater,
)
from agreement_pipeline.statistics.order import (
    hashes_of as hashes_of,
    order_of_raters as order_of_raters,
    seed_of as seed_of,
)
from agreement_pipeline.statistics.replicates import (
    ReplicatedLabels as ReplicatedLabels,
    ReplicatedNumbers as ReplicatedNumbers,
)
from agreement_pipeline.statistics.unseen import (
    farthest as farthest,
)
from agreement_pipeline.statistics.weighted import (
    Beside as Beside,
    SeenRows as SeenRows,
    SomeRows as SomeRows,
    Statistic as Statistic,
    distinct_in as distinct_in,
    effective_raters as effective_raters,
    every_row as every_row,
)
