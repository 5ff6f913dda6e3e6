"""Alpha with a distance that the user brings, and two statistics to read beside it."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.measures.coefficient import Coefficient, ratio
from agreement_pipeline.measures.krippendorff import alpha_by_distance
from agreement_pipeline.ratings import Array, Scale
from agreement_pipeline.statistics import CategoryCounts

Distance = Callable[[str, str], float]


class DistancesBesideChance(NamedTuple):
    """How distances within items compare with distances between items; each of shape (...).

    Attributes
    ----------
    sigma
        The share of the distances within items that chance hardly reaches. 0 to 1.
    ks
        How far the two distributions of distances are apart. 0 to 1.
    """

    sigma: Array
    ks: Array


def alpha_with_distance(counts: CategoryCounts, distance: Distance | ArrayLike) -> Coefficient:
    r"""Krippendorff's alpha with any distance between two categories.

    .. math:: \alpha = 1 - \frac{D_o}{D_e}

    :math:`D_o` and :math:`D_e` are as in `krippendorff_alpha`, with the distance in place of the
    squared difference.

    Parameters
    ----------
    counts
        counts of shape (P, K) and weights of shape (..., P).
    distance
        a function of the names of two categories, or a matrix of shape (K, K) in the order of the
        scale. Distances are not negative, the same both ways, and 0 from a category to itself.

    Returns
    -------
    Coefficient
        `observed` and `expected` are mean distances. The value is nan if no two ratings can be
        compared, or if chance alone gives no distance.

    References
    ----------
    Krippendorff, K. (2018). Content Analysis: An Introduction to Its Methodology (4th ed.), chapter
    12. Sage.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> counts = CategoryCounts([[2, 0, 0], [0, 2, 0], [0, 1, 1]], scale=Scale(("a", "b", "B")))
    >>> found = alpha_with_distance(counts, lambda one, other: one.lower() != other.lower())
    >>> float(found.value)
    1.0
    """
    return alpha_by_distance(counts, _between(counts.scale, distance))


def distances_beside_chance(
    counts: CategoryCounts, distance: Distance | ArrayLike
) -> DistancesBesideChance:
    r"""The sigma and KS of Braylan, Alonso and Lease, for any distance between two categories.

    .. math:: \sigma = P(D_o < q), \quad P(D_e \le q) = 0.05, \qquad
       KS = \max_x \left[ P(D_o \le x) - P(D_e \le x) \right]

    :math:`D_o` are the distances of all pairs of ratings of one item, and :math:`D_e` of all pairs
    of different items. Each pair counts once, also in items that many rated. The quantile q lies
    between two distances as in `numpy.quantile`. All this is as in the authors' program. It can
    also smooth :math:`D_e` first. That is not done here, since it depends on a width of smoothing.

    They have no interval and no cut-off, so read them beside `alpha_with_distance`.

    Parameters
    ----------
    counts
        counts of shape (P, K) and weights of shape (..., P).
    distance
        a function or a matrix, as in `alpha_with_distance`.

    Returns
    -------
    DistancesBesideChance
        Both are nan if no item has two ratings, or if there is one item only. `sigma` is nan too
        if q is 0, since no distance is below 0. So it is with few categories.

    References
    ----------
    Braylan, A., Alonso, O. & Lease, M. (2022). Measuring Annotator Agreement Generally across
    Complex Structured, Multi-object, and Free-text Annotation Tasks. Proceedings of the ACM Web
    Conference 2022, 1720-1730. https://doi.org/10.1145/3485447.3512242

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> years = Scale(("1901", "1902", "1950", "1951"))
    >>> counts = CategoryCounts([[1, 1, 0, 0], [0, 0, 1, 1]], scale=years)
    >>> found = distances_beside_chance(counts, lambda one, other: abs(int(one) - int(other)))
    >>> float(found.sigma), float(found.ks)
    (1.0, 1.0)
    """
    distances = _between(counts.scale, distance)
    shown = np.unique(distances)
    observed, expected = (_up_to(distances, pairs) for pairs in _pairs(counts))
    p_o, p_e = (ratio(pairs, pairs[..., -1:]) for pairs in (observed, expected))
    q = _twentieth(shown, expected)[..., None]
    sigma = np.where(q > 0, np.where(shown < q, p_o, 0.0), np.nan).max(-1)
    return DistancesBesideChance(sigma, ks=(p_o - p_e).max(-1))


def _pairs(counts: CategoryCounts) -> tuple[Array, Array]:
    """How many pairs of ratings show each two categories, within items and between items."""
    met = (counts.weights[..., None, :] * counts.counts.T) @ counts.counts
    given = counts.weights @ counts.counts
    themselves = given[..., None] * np.eye(len(counts.scale.names))
    return (met - themselves) / 2, (given[..., None] * given[..., None, :] - met) / 2


def _up_to(distances: Array, pairs: Array) -> Array:
    """How many pairs are at most as far apart as each distance that occurs, the least first."""
    _, times = np.unique(distances, return_counts=True)
    each = pairs.reshape(*pairs.shape[:-2], -1)[..., distances.ravel().argsort()]
    return np.asarray(each.cumsum(-1)[..., times.cumsum() - 1])


def _twentieth(shown: Array, up_to: Array) -> Array:
    """The 0.05 quantile of distances, of which `up_to` are at most the distances shown."""
    steps = np.maximum(up_to[..., -1] - 1, 0) / 20
    before = np.floor(steps)
    low, high = (shown[(up_to > place[..., None]).argmax(-1)] for place in (before, np.ceil(steps)))
    return np.asarray(low + (steps - before) * (high - low))


def _between(scale: Scale, distance: Distance | ArrayLike) -> Array:
    """The distances between all categories; shape (K, K). A distance must be one."""
    names = scale.names
    distances = (
        np.array([[float(distance(one, other)) for other in names] for one in names])
        if callable(distance)
        else np.asarray(distance, dtype=float)
    )
    likely = distances.shape == (len(names), len(names)) and np.isfinite(distances).all()
    if not (
        likely
        and (distances >= 0).all()
        and (distances == distances.T).all()
        and not np.diag(distances).any()
    ):
        raise RatingsError(
            f"distance: found {np.array2string(distances, threshold=9)}; expected a matrix of "
            f"{len(names)} by {len(names)} finite numbers that are not negative, the same both "
            "ways, and 0 from a category to itself. Correct the distance."
        )
    return distances
