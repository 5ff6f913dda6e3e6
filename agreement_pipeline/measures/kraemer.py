"""Kraemer's intraclass kappa of two categories.

Each item has its own probability of *yes*, and the ratings of the item follow that probability. The
coefficient is the share of the variance of single ratings that lies between items. In test theory
this is the reliability of one rating. If every item has the same number of ratings, the coefficient
is Fleiss' kappa.
"""

import numpy as np

from agreement_pipeline.measures._agreement import observed_variation
from agreement_pipeline.measures.coefficient import Coefficient, ratio
from agreement_pipeline.measures.conditions import (
    NO_PAIRABLE_ITEM,
    NOT_TWO_CATEGORIES,
    ONE_PAIRABLE_CATEGORY,
)
from agreement_pipeline.measures.registry import chance_corrected, register
from agreement_pipeline.statistics import CategoryCounts


@register(
    "Kraemer's intraclass κ",
    question="inter-rater",
    needs="counts",
    bounds=(-np.inf, 1.0),
    undefined=(NOT_TWO_CATEGORIES, NO_PAIRABLE_ITEM, ONE_PAIRABLE_CATEGORY),
    levels={"nominal", "ordinal"},
    exchangeable=True,
    convention=(
        "ratings are pooled, so an item counts with its number of ratings (Fleiss and Cuzick)"
    ),
    source=(
        "Kraemer, H. C. (1979), doi:10.1007/BF02296208; estimated after Fleiss, J. L. & Cuzick, J. "
        "(1979), doi:10.1177/014662167900300410"
    ),
)
def kraemer_icc(counts: CategoryCounts) -> Coefficient:
    r"""The share of the variance of yes and no that lies between items.

    .. math:: \kappa_I = 1 - \frac{\sum_i x_i (n_i - x_i) / n_i}{\bar{p} (1 - \bar{p}) \sum_i (n_i
       - 1)}

    :math:`x_i` of the :math:`n_i` ratings of item i are in the second category. :math:`\bar{p}` is
    the share of that category in all ratings. The value is the reliability of one rating.

    Where every item has the same number of ratings, this is Fleiss' kappa. For two ratings an item
    it is Scott's pi. Elsewhere, items with more ratings count more.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> counts = CategoryCounts([[3, 0], [2, 1], [0, 3]], [4, 2, 4], scale=Scale(("no", "yes")))
    >>> round(float(kraemer_icc(counts).value), 4)
    0.7321
    """
    x, n = np.where(counts.counts.shape[1] == 2, counts.counts[:, -1], np.nan), counts.sizes
    within = ratio(
        counts.weights @ (x * (n - x) / np.maximum(n, 1)), counts.weights @ np.maximum(n - 1, 0)
    )
    p = ratio(counts.weights @ x, counts.weights @ n)
    return chance_corrected(1 - 2 * within, 1 - 2 * p * (1 - p)).where(observed_variation(counts))
