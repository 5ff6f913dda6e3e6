"""What a measure gives, and what coefficients of category agreement share."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from agreement_pipeline.measures.weighting import Apart, Weighting
from agreement_pipeline.ratings import Array, Flags
from agreement_pipeline.statistics import (
    CategoryCounts,
    LabelsByRater,
    SomeRows,
    farthest,
    indicated,
)

IN_TURN = 8
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

    def where(self, defined: ArrayLike) -> "Coefficient":
        return self._replace(value=np.where(defined, self.value, np.nan))

    def in_spans(self, span: Array) -> "Coefficient":
        """The coefficient with its agreement parts counted over the whole scale.

        They were counted in a unit that is the share `span` of it; shape (...).
        """
        parts = {name: getattr(self, name) for name in ("observed", "expected", "greatest")}
        counted = {name: 1 - span * (1 - part) for name, part in parts.items() if part is not None}
        return self._replace(**counted)


def across(values: Array) -> Array:
    """The sums over the last axis: few columns one by one, as NumPy adds them, but faster."""
    columns = values.shape[-1]
    if not 0 < columns < IN_TURN:
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


def chance_corrected(p_o: Array, p_e: Array) -> Coefficient:
    return Coefficient(ratio(p_o - p_e, 1 - p_e), observed=p_o, expected=p_e)


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


def ends_met(counts: CategoryCounts) -> Flags:
    """True where the lowest and the highest number given meet another rating; shape (...)."""
    if not counts.scale.numeric:
        return np.asarray(True)
    scores, ends = counts.scale.scores, []
    for weights in (counts.weights, counts.paired):
        used = weights @ counts.counts > 0
        low, high = np.where(used, scores, np.inf), np.where(used, scores, -np.inf)
        ends.append((low.min(-1), high.max(-1)))
    given, met = ends
    return np.asarray((given[0] == met[0]) & (given[1] == met[1]))


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


def observed_variation(counts: CategoryCounts) -> Flags:
    return np.asarray((counts.paired @ counts.counts > 0).sum(-1) >= 2)


def prevalence(counts: CategoryCounts) -> Array:
    """The mean share of each category in an item's ratings; shape (..., K)."""
    shares = counts.counts / np.maximum(counts.sizes, 1)[:, None]
    rated = (counts.sizes > 0).astype(float)
    return ratio(counts.weights @ shares, (counts.weights @ rated)[..., None])


def given_by_rater(patterns: LabelsByRater) -> Array:
    given = patterns.sums(_given)
    return given.reshape(*given.shape[:-1], patterns.n_raters, len(patterns.scale.names))


def _given(patterns: LabelsByRater) -> SomeRows:
    return indicated(patterns.codes, len(patterns.scale.names))


def rater_prevalence(given: Array) -> Array:
    return ratio(given, given.sum(-1, keepdims=True))


def of_two_raters(patterns: LabelsByRater, values: Array) -> Array:
    return np.where(patterns.n_raters == 2, values, np.nan)


def kappa_of(counts: CategoryCounts, apart: Apart, d_e: Array) -> Coefficient:
    """Kappa from the observed and such an expected mean distance of two ratings.

    It is nan without variation, and where an end of the scale met no other rating.
    """
    p_o = apart.agreement(observed_disagreement(counts, apart.distances))
    kappa = chance_corrected(p_o, apart.agreement(d_e)).in_spans(apart.unit)
    return kappa.where(observed_variation(counts) & ends_met(counts))


def kappa_of_raters(patterns: LabelsByRater, weighting: Weighting) -> Coefficient:
    """Chance is the mean distance of independent ratings by two different raters."""
    given = given_by_rater(patterns)
    apart = weighting.apart(patterns.scale, given.sum(-2))
    shares = rater_prevalence(given)
    far, r = shares @ apart.distances, shares.shape[-2]
    of_all = (np.moveaxis(each, -2, -1) for each in (shares, far, shares * far))
    share, distance, own = map(across, of_all)
    d_e = ratio(across(share * distance - own), r * (r - 1))
    return kappa_of(patterns.counts(), apart, d_e)
