"""Alpha with a distance that the user brings."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.measures.coefficient import Coefficient
from agreement_pipeline.measures.krippendorff import alpha_by_distance
from agreement_pipeline.statistics import CategoryCounts

Distance = Callable[[str, str], float]


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
    names = counts.scale.names
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
    return alpha_by_distance(counts, distances)
