"""The sufficient statistics: counts, labels and numbers by rater, and replicates."""

from typing import TYPE_CHECKING

from agreement_pipeline.faces import later

if TYPE_CHECKING:
    from agreement_pipeline.statistics.apart import Apart, raters_apart
    from agreement_pipeline.statistics.chosen import chosen_ratings
    from agreement_pipeline.statistics.clusters import FEWEST_CLUSTERS, Clusters
    from agreement_pipeline.statistics.counts import CategoryCounts
    from agreement_pipeline.statistics.equal_counts import with_equal_counts_as_one
    from agreement_pipeline.statistics.kept import (
        archive_of,
        arrays_of,
        as_array,
        statistic_bytes,
        statistic_of,
    )
    from agreement_pipeline.statistics.labels import LabelsByRater
    from agreement_pipeline.statistics.leaving_out import CountsWithoutEach
    from agreement_pipeline.statistics.mixes import times_seen
    from agreement_pipeline.statistics.numbers import NumbersByRater
    from agreement_pipeline.statistics.order import hashes_of, order_of_raters, seed_of
    from agreement_pipeline.statistics.replicated_labels import ReplicatedLabels
    from agreement_pipeline.statistics.replicated_numbers import ReplicatedNumbers
    from agreement_pipeline.statistics.row_sums import Beside, SeenRows, SomeRows, every_row
    from agreement_pipeline.statistics.stratum import CountsOfStratum
    from agreement_pipeline.statistics.unseen import farthest
    from agreement_pipeline.statistics.weighted import Statistic, distinct_in, effective_raters
else:
    __getattr__, __dir__ = later(
        __name__,
        {
            "Apart": "apart",
            "Beside": "row_sums",
            "CategoryCounts": "counts",
            "Clusters": "clusters",
            "CountsOfStratum": "stratum",
            "CountsWithoutEach": "leaving_out",
            "FEWEST_CLUSTERS": "clusters",
            "LabelsByRater": "labels",
            "NumbersByRater": "numbers",
            "ReplicatedLabels": "replicated_labels",
            "ReplicatedNumbers": "replicated_numbers",
            "SeenRows": "row_sums",
            "SomeRows": "row_sums",
            "Statistic": "weighted",
            "archive_of": "kept",
            "arrays_of": "kept",
            "as_array": "kept",
            "chosen_ratings": "chosen",
            "distinct_in": "weighted",
            "effective_raters": "weighted",
            "every_row": "row_sums",
            "farthest": "unseen",
            "hashes_of": "order",
            "order_of_raters": "order",
            "raters_apart": "apart",
            "seed_of": "order",
            "statistic_bytes": "kept",
            "statistic_of": "kept",
            "times_seen": "mixes",
            "with_equal_counts_as_one": "equal_counts",
        },
    )

__all__ = [
    "FEWEST_CLUSTERS",
    "Apart",
    "Beside",
    "CategoryCounts",
    "Clusters",
    "CountsOfStratum",
    "CountsWithoutEach",
    "LabelsByRater",
    "NumbersByRater",
    "ReplicatedLabels",
    "ReplicatedNumbers",
    "SeenRows",
    "SomeRows",
    "Statistic",
    "archive_of",
    "arrays_of",
    "as_array",
    "chosen_ratings",
    "distinct_in",
    "effective_raters",
    "every_row",
    "farthest",
    "hashes_of",
    "order_of_raters",
    "raters_apart",
    "seed_of",
    "statistic_bytes",
    "statistic_of",
    "times_seen",
    "with_equal_counts_as_one",
]
