"""What the coefficients of category agreement share: observed agreement and prevalence."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from agreement_pipeline.measures.coefficient import Coefficient, chance_corrected, ratio
from agreement_pipeline.measures.weighting import Apart, Weighting
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import (
    CategoryCounts,
    LabelsByRater,
    SomeRows,
    every_row,
    farthest,
)


def pair_agreement(counts: CategoryCounts) -> Array:
    """The share of pairs of ratings that agree; shape (P,); 0 without a pair."""
    c, m = counts.counts, counts.sizes
    return np.asarray((c * (c - 1)).sum(1) / np.maximum(m * (m - 1), 1))


def ends_known(counts: CategoryCounts) -> bool:
    """True if the distance between the ends of the scale is known: declared, or not of numbers."""
    return counts.scale.declared or not counts.scale.numeric


def ends_of_scale(counts: CategoryCounts, weighting: Weighting) -> tuple[int, int]:
    distances = weighting.distances(counts.scale)
    first, second = divmod(int(distances.argmax()), len(distances))
    return first, second


def most_used_and_farthest(labels: Any, weighting: Weighting) -> tuple[int, int]:
    used, scale = labels.meeting, labels.scale
    first = int(used.argmax())
    return first, farthest(used, weighting.distances(scale)[first], first, scale.declared)


def ends_met(counts: CategoryCounts) -> NDArray[np.bool_]:
    """True where the lowest and the highest number given meet another rating; shape (...)."""
    if not counts.scale.numeric:
        return np.asarray(True)
    given, met = (
        _ends(counts.weights @ rows > 0, counts.scale.scores)
        for rows in (counts.counts, _paired(counts))
    )
    return np.asarray((given == met).all(-1))


def _paired(counts: CategoryCounts) -> Array:
    return counts.counts * counts.pairable[:, None]


def _ends(given: NDArray[np.bool_], scores: Array) -> Array:
    return np.stack(
        [np.where(given, scores, np.inf).min(-1), np.where(given, scores, -np.inf).max(-1)], axis=-1
    )


def observed_agreement(counts: CategoryCounts) -> Array:
    return _mean_over_pairable(counts, pair_agreement(counts))


def observed_disagreement(counts: CategoryCounts, distances: Array) -> Array:
    """The mean distance of an item's pairs, over items with two ratings or more; shape (...)."""
    c, m = counts.counts, counts.sizes
    return _mean_over_pairable(counts, (c * (c @ distances)).sum(1) / np.maximum(m * (m - 1), 1))


def _mean_over_pairable(counts: CategoryCounts, of_rows: Array) -> Array:
    pairable = counts.pairable.astype(float)
    return ratio(counts.weights @ (pairable * of_rows), counts.weights @ pairable)


def expected_disagreement(pi: Array, distances: Array) -> Array:
    return np.asarray(((pi @ distances) * pi).sum(-1))


def observed_variation(counts: CategoryCounts) -> NDArray[np.bool_]:
    return np.asarray((counts.weights @ _paired(counts) > 0).sum(-1) >= 2)


def prevalence(counts: CategoryCounts) -> Array:
    """The mean share of each category in an item's ratings; shape (..., K)."""
    shares = counts.counts / np.maximum(counts.sizes, 1)[:, None]
    rated = (counts.sizes > 0).astype(float)
    return ratio(counts.weights @ shares, (counts.weights @ rated)[..., None])


def given_by_rater(patterns: LabelsByRater) -> Array:
    given = patterns.sums(_given)
    return given.reshape(*given.shape[:-1], patterns.n_raters, len(patterns.scale.names))


def _given(patterns: LabelsByRater) -> SomeRows:
    return every_row(patterns.indicators.reshape(len(patterns.codes), -1))


def rater_prevalence(given: Array) -> Array:
    return ratio(given, given.sum(-1, keepdims=True))


def disagreement_of_two_raters(shares: Array, distances: Array) -> Array:
    """The mean distance of independent ratings by two different raters; shape (...).

    `shares` is each rater's use of the categories (..., R, K).
    """
    r, apart = shares.shape[-2], shares @ distances
    return ratio((shares.sum(-2) * apart.sum(-2) - (shares * apart).sum(-2)).sum(-1), r * (r - 1))


def of_two_raters(patterns: LabelsByRater, values: Array) -> Array:
    return np.where(patterns.n_raters == 2, values, np.nan)


def contingency(patterns: LabelsByRater) -> Array:
    """Shape (..., K, K), the first rater in rows."""
    x = patterns.indicators
    joint = x[:, :1].sum(1)[:, :, None] * x[:, 1:].sum(1)[:, None, :]
    return of_two_raters(patterns, np.tensordot(patterns.weights, joint, axes=1))


def kappa_of(counts: CategoryCounts, apart: Apart, d_e: Array) -> Coefficient:
    """Kappa from the observed and such an expected mean distance of two ratings.

    It is nan without variation, and where an end of the scale met no other rating.
    """
    p_o = apart.agreement(observed_disagreement(counts, apart.distances))
    kappa = chance_corrected(p_o, apart.agreement(d_e)).in_spans(apart.unit)
    return kappa.where(observed_variation(counts) & ends_met(counts))


def kappa_of_raters(patterns: LabelsByRater, weighting: Weighting) -> Coefficient:
    given = given_by_rater(patterns)
    apart = weighting.apart(patterns.scale, given.sum(-2))
    d_e = disagreement_of_two_raters(rater_prevalence(given), apart.distances)
    return kappa_of(patterns.counts(), apart, d_e)
