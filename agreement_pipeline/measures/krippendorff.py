"""Krippendorff's alpha.

Alpha is one minus the disagreement within items over the disagreement among all ratings that meet another. It asks whether the ratings could
stand for the items, and does not care who gave them; items may have any number of ratings, those with one are left out. What two labels differ
by is set by the level: whether (nominal), by how many ratings lie between them (ordinal), by their squared difference (interval), or by that
in proportion to their sum (ratio). It counts pairs without replacement, so that it is not too high in small samples, and goes over into Scott's
pi as items grow. On a list of categories it is computed from counts; on real numbers in memory linear in the number of ratings.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from agreement_pipeline.measures._numbers import (
    Disagreement,
    mid_ranks,
    proportion,
    proportional_disagreement,
    proportions_within,
    rank_disagreement,
    squared_disagreement,
    squares_within,
    unit_free,
)
from agreement_pipeline.measures._weights import widest
from agreement_pipeline.measures.conditions import NO_PAIRABLE_ITEM, ONE_PAIRABLE_CATEGORY
from agreement_pipeline.measures.registry import Coefficient, measure, ratio
from agreement_pipeline.ratings import LEVELS, Array
from agreement_pipeline.statistics import CategoryCounts, NumbersByRater


@measure(
    "Krippendorff's α",
    question="inter-rater",
    needs="counts",
    bounds=(-1.0, 1.0),
    undefined=(NO_PAIRABLE_ITEM, ONE_PAIRABLE_CATEGORY),
    levels=set(LEVELS),
    exchangeable=True,
    continuous=True,
    convention="items with one rating are left out; every other item counts with its number of ratings",
    source="Krippendorff, K. (2018). Content Analysis (4th ed.), ch. 12; Hayes & Krippendorff (2007), doi:10.1080/19312450709336664",
)
def krippendorff_alpha(ratings: CategoryCounts | NumbersByRater) -> Coefficient:
    r"""Agreement beyond chance, as one minus observed over expected disagreement, at the scale's own level.

    .. math:: \alpha = 1 - \frac{D_o}{D_e}, \qquad
       D_o = \frac{1}{n} \sum_u \frac{1}{m_u - 1} \sum_{c,k} n_{uc} n_{uk} \delta^2_{ck}, \qquad
       D_e = \frac{1}{n (n - 1)} \sum_{c,k} n_c n_k \delta^2_{ck}

    with :math:`n_{uc}` ratings of category c on item u, :math:`m_u \ge 2` of them in all, :math:`n_c` and :math:`n` their totals
    over those items. The squared difference :math:`\delta^2_{ck}` is 0 or 1 (nominal), the squared number of ratings between c and k,
    counting half of each (ordinal), :math:`(c - k)^2` (interval), :math:`((c - k) / (c + k))^2` (ratio), or the sum of
    :math:`(c - k)^2` over the dimensions (multivariate interval).

    It is biased low on few items where one category is common: by about 0.04 on 30 items of two raters who give it nine times in ten.

    Where any number may occur it is computed from the ratings themselves, in memory linear in their number and without a table of
    values: by moments (interval), mid-ranks after one sort (ordinal), or a series exact to rounding (ratio).

    Parameters
    ----------
    ratings
        counts of shape (P, K), weights of shape (..., P); or, on a scale without categories, values of shape (N, R, D), weights of
        shape (..., N).

    Returns
    -------
    Coefficient
        value of shape (...), at most 1, 0 for chance; observed and expected are disagreements, in squared units of the scale.
        Undefined when no item has two ratings, or when those that have are all of one category.

    References
    ----------
    Krippendorff, K. (2018). Content Analysis: An Introduction to Its Methodology (4th ed.), chapter 12. Sage.
    Hayes, A. F. & Krippendorff, K. (2007). Communication Methods and Measures 1(1), 77-89. https://doi.org/10.1080/19312450709336664

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> counts = CategoryCounts([[2, 0], [1, 1], [0, 2]], [2, 1, 2], scale=Scale(("no", "yes")))
    >>> round(float(krippendorff_alpha(counts).value), 4)
    0.64
    """
    if ratings.holds == "numbers":
        paired = np.where(ratings.pairable, ratings.weights, 0.0)
        return _alpha(_of_values(ratings.reweighted(paired)), paired @ ratings.sizes)
    return _of_counts(ratings, _OF_COUNTS[ratings.scale.level])


def disagreement_of_items(ratings: CategoryCounts | NumbersByRater) -> Array:
    r"""What one item of each row adds to the observed disagreement of `krippendorff_alpha`, at the scale's own level.

    .. math:: d_u = \frac{1}{n (m_u - 1)} \sum_{c,k} n_{uc} n_{uk} \delta^2_{ck}, \qquad \sum_u d_u = D_o

    Parameters
    ----------
    ratings
        as of `krippendorff_alpha`, with weights of shape (P,).

    Returns
    -------
    Array
        shape (P,), in squared units of the scale; 0 for items with one rating, or with one label only. Weighed by the rows' weights they add up to :math:`D_o`.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> counts = CategoryCounts([[2, 0], [1, 1], [0, 2]], [2, 1, 2], scale=Scale(("no", "yes")))
    >>> disagreement_of_items(counts).tolist(), float(krippendorff_alpha(counts).observed)
    ([0.0, 0.2, 0.0], 0.2)
    """
    paired = np.where(ratings.pairable, ratings.weights, 0.0)
    n = paired @ ratings.sizes
    within, unit = (
        _within_values(ratings)
        if ratings.holds == "numbers"
        else _within_counts(ratings, paired @ ratings.counts)
    )
    return np.where(ratings.pairable & ~_unanimous(ratings), ratio(within * unit, n), 0.0)


def _unanimous(ratings: CategoryCounts | NumbersByRater) -> NDArray[np.bool_]:
    """Which rows hold one label only, whatever rounding makes of their differences."""
    if ratings.holds == "labels":
        return np.asarray(ratings.counts.max(1) == ratings.sizes)
    return np.asarray(
        ~(np.fmax.reduce(ratings.values, axis=1) > np.fmin.reduce(ratings.values, axis=1)).any(-1)
    )


def _within_counts(counts: CategoryCounts, n_c: Array) -> tuple[Array, Array | float]:
    within, _, unit = _OF_COUNTS[counts.scale.level](counts, n_c)
    return within, unit


def _within_values(values: NumbersByRater) -> tuple[Array, float]:
    """The disagreement within each row and its unit; 0 in rows of one rating."""
    rows = values.pairable
    paired = values.at(rows)
    within = np.zeros(len(rows))
    z, unit = (
        (mid_ranks(paired), 1.0) if values.scale.level == "ordinal" else unit_free(paired.values)
    )
    within[rows] = (
        proportions_within(paired)
        if values.scale.level == "ratio"
        else squares_within(z, paired.sizes)
    )
    return within, 1.0 if values.scale.level == "ratio" else unit**2


def alpha_by_distance(counts: CategoryCounts, distances: Array) -> Coefficient:
    """Alpha for any distances between the categories, shape (K, K)."""
    return _of_counts(counts, lambda counts, n_c: _by_distance(counts, n_c, distances))


def _alpha(found: Disagreement, n: Array) -> Coefficient:
    d_o = ratio(found.within, n)
    d_e = ratio(found.between, n * (n - 1))
    return Coefficient(1 - ratio(d_o, d_e), observed=found.unit * d_o, expected=found.unit * d_e)


def _of_counts(
    counts: CategoryCounts,
    disagreement: Callable[[CategoryCounts, Array], tuple[Array, Array, Array | float]],
) -> Coefficient:
    paired = np.where(counts.pairable, counts.weights, 0.0)
    n_c = paired @ counts.counts
    within, between, unit = disagreement(counts, n_c)
    return _alpha(Disagreement((paired * within).sum(-1), between, unit), n_c.sum(-1))


def _of_values(values: NumbersByRater) -> Disagreement:
    return _OF_VALUES[values.scale.level](values.at(values.seen))


def _nominal(counts: CategoryCounts, n_c: Array) -> tuple[Array, Array, Array | float]:
    """Disagreement within each row, shape (P,), over all pairs, shape (...), and its unit: categories equal or not."""
    c, m = counts.counts, counts.sizes
    return (m**2 - (c**2).sum(1)) / _pairs(m), n_c.sum(-1) ** 2 - (n_c**2).sum(-1), 1.0


def _interval(counts: CategoryCounts, n_c: Array) -> tuple[Array, Array, Array | float]:
    """The same for squared differences of the categories' values."""
    return _squared(counts, n_c, np.broadcast_to(counts.scale.scores, n_c.shape))


def _ordinal(counts: CategoryCounts, n_c: Array) -> tuple[Array, Array, Array | float]:
    """The same for squared differences of mid-ranks, which is Krippendorff's ordinal metric."""
    return _squared(counts, n_c, np.cumsum(n_c, axis=-1) - n_c / 2)


def _squared(
    counts: CategoryCounts, n_c: Array, scores: Array
) -> tuple[Array, Array, Array | float]:
    """Counted in squared spans of the scores in use, so that rounding is the same on every scale."""
    c, m = counts.counts, counts.sizes
    low = np.where(n_c > 0, scores, np.inf).min(-1, keepdims=True)
    span = np.where(n_c > 0, scores, -np.inf).max(-1, keepdims=True) - low
    s = (scores - low) / np.where(span > 0, span, np.nan)
    within = 2 * (m * (s**2 @ c.T) - (s @ c.T) ** 2) / _pairs(m)
    between = 2 * (n_c.sum(-1) * (n_c * s**2).sum(-1) - (n_c * s).sum(-1) ** 2)
    return within, between, span[..., 0] ** 2


def _ratio(counts: CategoryCounts, n_c: Array) -> tuple[Array, Array, Array | float]:
    """The same for squared differences in proportion to the sum."""
    scores = counts.scale.scores
    return _by_distance(counts, n_c, proportion(scores[:, None], scores) ** 2)


def _by_distance(
    counts: CategoryCounts, n_c: Array, distances: Array
) -> tuple[Array, Array, Array | float]:
    """The same for any distances between the categories, shape (K, K), in multiples of the largest between two in use."""
    c, unit = counts.counts, widest(distances, n_c)
    return (
        ((c @ distances) * c).sum(1) / _pairs(counts.sizes) / unit[..., None],
        ((n_c @ distances) * n_c).sum(-1) / unit,
        unit,
    )


def _pairs(sizes: Array) -> Array:
    """Ratings less one, and 1 for the items that are left out anyway."""
    return np.maximum(sizes - 1, 1)


_OF_COUNTS = {"nominal": _nominal, "ordinal": _ordinal, "interval": _interval, "ratio": _ratio}
_OF_VALUES = {
    "ordinal": rank_disagreement,
    "interval": squared_disagreement,
    "ratio": proportional_disagreement,
    "multivariate interval": squared_disagreement,
}
