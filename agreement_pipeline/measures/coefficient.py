"""What a measure gives, and what coefficients of category agreement share."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from agreement_pipeline.measures.weighting import CategoryDistances, Weighting
from agreement_pipeline.ratings import Array, Flags
from agreement_pipeline.statistics import (
    CategoryCounts,
    LabelsByRater,
    SomeRows,
    farthest_category,
    indicator_rows,
)

PAIRWISE_SUM_COLUMNS = 8
"""NumPy adds fewer numbers of a row than this one after the other, and more of them in parts."""


class Coefficient(NamedTuple):
    """A coefficient and its parts, each of shape (...); of every category, each of shape (..., K).

    `value` is nan where it is undefined. `observed` and `expected` are agreement, or disagreement
    for measures built on it. `greatest` is the largest agreement that could have been reached,
    where this is not always 1. `monte_carlo_error` is the standard error from sampling inside the
    measure.
    """

    value: Array
    observed: Array
    expected: Array | None = None
    greatest: Array | None = None
    monte_carlo_error: Array | None = None

    def nan_unless(self, defined: ArrayLike) -> "Coefficient":
        return self._replace(value=np.where(defined, self.value, np.nan))

    def over_whole_scale(self, span: Array) -> "Coefficient":
        """The coefficient with its agreement parts counted over the whole scale.

        They were counted in a unit that is the share `span` of it; shape (...).
        """
        parts = {name: getattr(self, name) for name in ("observed", "expected", "greatest")}
        rescaled = {name: 1 - span * (1 - part) for name, part in parts.items() if part is not None}
        return self._replace(**rescaled)


def sum_last_axis(values: Array) -> Array:
    """The sums over the last axis: few columns one by one, as NumPy adds them, but faster."""
    columns = values.shape[-1]
    if not 0 < columns < PAIRWISE_SUM_COLUMNS:
        return np.asarray(values.sum(-1))
    total = values[..., 0]
    for place in range(1, columns):
        total = total + values[..., place]
    return np.asarray(total)


def ratio(numerator: ArrayLike, denominator: ArrayLike) -> Array:
    """The quotient; nan where the denominator is at most 0 up to rounding. No warning is given."""
    top, bottom = np.asarray(numerator, dtype=float), np.asarray(denominator, dtype=float)
    defined = bottom > 1e-12
    if defined.all():
        return np.asarray(top / bottom)
    quotient = np.full(np.broadcast(top, bottom).shape, np.nan)
    np.divide(top, bottom, out=quotient, where=defined)
    return quotient


def coefficient_from_agreement(p_o: Array, p_e: Array) -> Coefficient:
    return Coefficient(ratio(p_o - p_e, 1 - p_e), observed=p_o, expected=p_e)


def pair_agreement(counts: CategoryCounts) -> Array:
    """The share of pairs of ratings that agree; shape (P,); 0 without a pair."""
    c, m = counts.counts, counts.sizes
    return np.asarray((c * (c - 1)).sum(1) / np.maximum(m * (m - 1), 1))


def has_known_ends(counts: CategoryCounts) -> bool:
    """True if the distance between the ends of the scale is known: declared, or not of numbers."""
    return counts.scale.declared or not counts.scale.numeric


def most_distant_categories(counts: CategoryCounts, weighting: Weighting) -> tuple[int, int]:
    """The two categories that are farthest apart."""
    distances = weighting.distances(counts.scale)
    low, high = divmod(int(distances.argmax()), len(distances))
    return low, high


def most_used_and_farthest(labels: Any, weighting: Weighting) -> tuple[int, int]:
    """The category given most often, and the one that is farthest from it."""
    used, scale = labels.n_pairable_by_category, labels.scale
    most_used = int(used.argmax())
    return most_used, farthest_category(
        used, weighting.distances(scale)[most_used], most_used, scale.declared
    )


def has_paired_ends(counts: CategoryCounts) -> Flags:
    """True where the lowest and the highest number given meet another rating; shape (...)."""
    if not counts.scale.numeric:
        return np.asarray(True)
    scores, number_ranges = counts.scale.scores, []
    for weights in (counts.weights, counts.weights_of_paired):
        used = weights @ counts.counts > 0
        low, high = np.where(used, scores, np.inf), np.where(used, scores, -np.inf)
        number_ranges.append((low.min(-1), high.max(-1)))
    rated_ends, paired_ends = number_ranges
    return np.asarray((rated_ends[0] == paired_ends[0]) & (rated_ends[1] == paired_ends[1]))


def observed_agreement(counts: CategoryCounts) -> Array:
    return _mean_over_pairable(counts, pair_agreement(counts))


def observed_disagreement(counts: CategoryCounts, distances: Array) -> Array:
    """The mean distance of an item's pairs, over items with two ratings or more; shape (...)."""
    c, m = counts.counts, counts.sizes
    return _mean_over_pairable(counts, (c * (c @ distances)).sum(1) / np.maximum(m * (m - 1), 1))


def _mean_over_pairable(counts: CategoryCounts, row_values: Array) -> Array:
    pairable = counts.pairable.astype(float)
    return ratio(counts.weights @ (pairable * row_values), counts.weights @ pairable)


def expected_disagreement(pi: Array, distances: Array) -> Array:
    return np.asarray(((pi @ distances) * pi).sum(-1))


def has_observed_variation(counts: CategoryCounts) -> Flags:
    """True where the ratings that meet another use two categories or more; shape (...)."""
    return np.asarray((counts.weights_of_paired @ counts.counts > 0).sum(-1) >= 2)


def category_prevalence(counts: CategoryCounts) -> Array:
    """The mean share of each category in an item's ratings; shape (..., K)."""
    shares = counts.counts / np.maximum(counts.sizes, 1)[:, None]
    rated = (counts.sizes > 0).astype(float)
    return ratio(counts.weights @ shares, (counts.weights @ rated)[..., None])


def label_counts_by_rater(patterns: LabelsByRater) -> Array:
    """How often each rater gave each category; shape (..., R, K)."""
    label_counts = patterns.sums(_label_indicators)
    return label_counts.reshape(
        *label_counts.shape[:-1], patterns.n_raters, len(patterns.scale.names)
    )


def _label_indicators(patterns: LabelsByRater) -> SomeRows:
    return indicator_rows(patterns.codes, len(patterns.scale.names))


def rater_prevalence(label_counts: Array) -> Array:
    """The share of each category in a rater's labels; shape (..., R, K)."""
    return ratio(label_counts, label_counts.sum(-1, keepdims=True))


def nan_unless_two_raters(patterns: LabelsByRater, values: Array) -> Array:
    """The values; nan unless there are exactly two raters."""
    return np.where(patterns.n_raters == 2, values, np.nan)


def kappa_from_distances(
    counts: CategoryCounts, category_distances: CategoryDistances, d_e: Array
) -> Coefficient:
    """Kappa from the observed and such an expected mean distance of two ratings.

    It is nan without variation, and where an end of the scale met no other rating.
    """
    p_o = category_distances.agreement(observed_disagreement(counts, category_distances.distances))
    kappa = coefficient_from_agreement(p_o, category_distances.agreement(d_e)).over_whole_scale(
        category_distances.unit
    )
    return kappa.nan_unless(has_observed_variation(counts) & has_paired_ends(counts))


def kappa_of_raters(patterns: LabelsByRater, weighting: Weighting) -> Coefficient:
    """Chance is the mean distance of independent ratings by two different raters."""
    label_counts = label_counts_by_rater(patterns)
    category_distances = weighting.category_distances(patterns.scale, label_counts.sum(-2))
    shares = rater_prevalence(label_counts)
    mean_distances, r = shares @ category_distances.distances, shares.shape[-2]
    share, distance, same_rater = (
        sum_last_axis(np.moveaxis(table, -2, -1))
        for table in (shares, mean_distances, shares * mean_distances)
    )
    # The pairs of a rater with themselves are in the product of the sums, and are taken out.
    d_e = ratio(sum_last_axis(share * distance - same_rater), r * (r - 1))
    return kappa_from_distances(patterns.counts(), category_distances, d_e)
