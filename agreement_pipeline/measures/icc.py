"""The intraclass correlations: how much of the variance of ratings lies between items.

Ratings are numbers, and their variance has sources: items differ, raters differ in how high they rate, and the rest is error. Six forms
answer six questions. (1) Every item has raters of its own, so that raters' habits are error; (2) the same raters rate every item and stand for
others, so that their habits count against them; (3) these raters are the only ones, and a constant difference between them is no matter. And
each form either for one rating (1) or for the mean of all k (k). Choose before you look: (2,1) is what most rounds mean. A correlation is low
where items hardly differ, however well raters agree.
"""

import numpy as np

from agreement_pipeline.measures._mean_squares import (
    FEW_CROSSED_ITEMS,
    FEW_PAIRABLE_ITEMS,
    no_variance,
    one_way,
    share_between_items,
    two_way,
)
from agreement_pipeline.measures.conditions import NO_CROSSED_ITEM, NO_PAIRABLE_ITEM, ONE_RATER
from agreement_pipeline.measures.registry import MEASURES, Coefficient, Condition, measure, ratio
from agreement_pipeline.ratings import Level
from agreement_pipeline.statistics import NumbersByRater

SHROUT_FLEISS = "Shrout, P. E. & Fleiss, J. L. (1979), doi:10.1037/0033-2909.86.2.420; McGraw, K. O. & Wong, S. P. (1996), doi:10.1037/1082-989X.1.1.30"
DONNER = SHROUT_FLEISS + "; unequal numbers of ratings after Donner, A. (1986), doi:10.2307/1403259"
ONE_WAY = "items with one rating are left out; every other counts, whoever rated it; k is the mean number of ratings an item that Donner (1986) calls n_0"
TWO_WAY = (
    "only the items that every rater rated; those with missing ratings are left out and counted"
)
NUMBERS: set[Level] = {"interval", "ratio"}
NO_VARIANCE = "the estimated variance is not positive"


def _without_variance(name: str) -> Condition:
    return Condition(NO_VARIANCE, lambda values: no_variance(MEASURES[name](values)))


@measure(
    "ICC(1,1)",
    question="inter-rater",
    needs="values",
    bounds=(-np.inf, 1.0),
    undefined=(NO_PAIRABLE_ITEM, FEW_PAIRABLE_ITEMS, _without_variance("icc_1_1")),
    levels=NUMBERS,
    exchangeable=True,
    convention=ONE_WAY,
    source=DONNER,
)
def icc_1_1(values: NumbersByRater) -> Coefficient:
    r"""The share of the variance of one rating that lies between items, when every item has raters of its own.

    .. math:: \mathrm{ICC}(1,1) = \frac{BMS - WMS}{BMS + (k - 1) WMS}, \qquad
       k = n_0 = \frac{1}{n - 1} \left( M - \frac{\sum_i m_i^2}{M} \right)

    with the mean squares between and within the n items of the one-way analysis of variance, :math:`m_i \ge 2` ratings of item i, M in all.
    Where the same raters rate many items, the interval holds these raters fixed and speaks of them; of other raters it is too narrow, the more
    so the more items there are.

    Parameters
    ----------
    values
        values of shape (N, R, 1), weights of shape (..., N).

    Returns
    -------
    Coefficient
        value of shape (...), at most 1; 0 where items differ no more than ratings of one item do. `expected` is the variance of a rating,
        `observed` what of it is not between items, in squared units of the scale. Undefined when no item has two ratings, when fewer than
        two items have two ratings, or when all ratings are the same.

    References
    ----------
    Shrout, P. E. & Fleiss, J. L. (1979). Psychological Bulletin 86(2), 420-428. https://doi.org/10.1037/0033-2909.86.2.420
    Donner, A. (1986). International Statistical Review 54(1), 67-82. https://doi.org/10.2307/1403259

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> table = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> values = NumbersByRater(table, scale=Scale(None, "interval"), raters=("a", "b", "c", "d"))
    >>> round(float(icc_1_1(values).value), 4)
    0.1657
    """
    bms, wms, k, unit = one_way(values)
    return share_between_items((bms - wms) / k, (bms + (k - 1) * wms) / k, unit)


@measure(
    "ICC(1,k)",
    question="inter-rater",
    needs="values",
    bounds=(-np.inf, 1.0),
    undefined=(NO_PAIRABLE_ITEM, FEW_PAIRABLE_ITEMS, _without_variance("icc_1_k")),
    levels=NUMBERS,
    exchangeable=True,
    convention=ONE_WAY,
    source=DONNER,
)
def icc_1_k(values: NumbersByRater) -> Coefficient:
    r"""The share of the variance of an item's mean rating that lies between items, when every item has raters of its own.

    .. math:: \mathrm{ICC}(1,k) = \frac{BMS - WMS}{BMS}

    with the mean squares of `icc_1_1`: its value stepped up to k ratings an item by the Spearman-Brown formula. It speaks for the mean of k
    ratings, never for a single one.

    Parameters
    ----------
    values
        values of shape (N, R, 1), weights of shape (..., N).

    Returns
    -------
    Coefficient
        value of shape (...), at most 1. `expected` is the variance of an item's mean, `observed` what of it is not between items.
        Undefined when no item has two ratings, when fewer than two items have two ratings, or when the items' means are all the same.

    References
    ----------
    Shrout, P. E. & Fleiss, J. L. (1979). Psychological Bulletin 86(2), 420-428. https://doi.org/10.1037/0033-2909.86.2.420

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> table = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> values = NumbersByRater(table, scale=Scale(None, "interval"), raters=("a", "b", "c", "d"))
    >>> round(float(icc_1_k(values).value), 4)
    0.4428
    """
    bms, wms, k, unit = one_way(values)
    return share_between_items((bms - wms) / k, bms / k, unit)


@measure(
    "ICC(2,1)",
    question="inter-rater",
    needs="values",
    bounds=(-np.inf, 1.0),
    undefined=(ONE_RATER, NO_CROSSED_ITEM, FEW_CROSSED_ITEMS, _without_variance("icc_2_1")),
    levels=NUMBERS,
    crossed=True,
    convention=TWO_WAY,
    source=SHROUT_FLEISS,
)
def icc_2_1(values: NumbersByRater) -> Coefficient:
    r"""The share of the variance of one rating that lies between items, when the raters stand for a population of raters.

    .. math:: \mathrm{ICC}(2,1) = \frac{BMS - EMS}{BMS + (k - 1) EMS + k (JMS - EMS) / n}

    with the mean squares of n items, k raters and the rest of the two-way analysis of variance. A rater who is always higher counts as
    disagreement: ICC(A,1) of McGraw and Wong. The interval holds these raters fixed and speaks of them; of other raters it is too narrow, the
    more so the more items there are.

    Parameters
    ----------
    values
        values of shape (N, R, 1), weights of shape (..., N).

    Returns
    -------
    Coefficient
        value of shape (...), at most 1. `expected` is the variance of a rating, `observed` what of it is not between items. Undefined with
        one rater, when fewer than two items were rated by every rater, or when the estimated variance is not positive: all ratings are the
        same, or two raters disagree on two items so that neither differ.

    References
    ----------
    Shrout, P. E. & Fleiss, J. L. (1979). Psychological Bulletin 86(2), 420-428. https://doi.org/10.1037/0033-2909.86.2.420
    McGraw, K. O. & Wong, S. P. (1996). Psychological Methods 1(1), 30-46. https://doi.org/10.1037/1082-989X.1.1.30

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> table = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> values = NumbersByRater(table, scale=Scale(None, "interval"), raters=("a", "b", "c", "d"))
    >>> round(float(icc_2_1(values).value), 4)
    0.2898
    """
    bms, jms, ems, n, k, unit = two_way(values)
    return share_between_items(
        (bms - ems) / k, (bms + (k - 1) * ems + k * ratio(jms - ems, n)) / k, unit
    )


@measure(
    "ICC(2,k)",
    question="inter-rater",
    needs="values",
    bounds=(-np.inf, 1.0),
    undefined=(ONE_RATER, NO_CROSSED_ITEM, FEW_CROSSED_ITEMS, _without_variance("icc_2_k")),
    levels=NUMBERS,
    crossed=True,
    convention=TWO_WAY,
    source=SHROUT_FLEISS,
)
def icc_2_k(values: NumbersByRater) -> Coefficient:
    r"""The share of the variance of an item's mean rating that lies between items, when the raters stand for a population of raters.

    .. math:: \mathrm{ICC}(2,k) = \frac{BMS - EMS}{BMS + (JMS - EMS) / n}

    with the mean squares of `icc_2_1`. It speaks for the mean of the k raters, never for a single one: ICC(A,k) of McGraw and Wong. The
    interval holds these raters fixed and speaks of them; of other raters it is too narrow, the more so the more items there are.

    Parameters
    ----------
    values
        values of shape (N, R, 1), weights of shape (..., N).

    Returns
    -------
    Coefficient
        value of shape (...), at most 1. `expected` is the variance of an item's mean, `observed` what of it is not between items. Undefined
        with one rater, when fewer than two items were rated by every rater, or when the estimated variance is not positive, as when the
        items' means are all the same.

    References
    ----------
    Shrout, P. E. & Fleiss, J. L. (1979). Psychological Bulletin 86(2), 420-428. https://doi.org/10.1037/0033-2909.86.2.420

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> table = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> values = NumbersByRater(table, scale=Scale(None, "interval"), raters=("a", "b", "c", "d"))
    >>> round(float(icc_2_k(values).value), 4)
    0.6201
    """
    bms, jms, ems, n, k, unit = two_way(values)
    return share_between_items((bms - ems) / k, (bms + ratio(jms - ems, n)) / k, unit)


@measure(
    "ICC(3,1)",
    question="inter-rater",
    needs="values",
    bounds=(-1.0, 1.0),
    undefined=(ONE_RATER, NO_CROSSED_ITEM, FEW_CROSSED_ITEMS, _without_variance("icc_3_1")),
    levels=NUMBERS,
    crossed=True,
    convention=TWO_WAY,
    source=SHROUT_FLEISS,
)
def icc_3_1(values: NumbersByRater) -> Coefficient:
    r"""The share of the variance of one rating that lies between items, apart from what each rater adds to all her ratings.

    .. math:: \mathrm{ICC}(3,1) = \frac{BMS - EMS}{BMS + (k - 1) EMS}

    with the mean squares of `icc_2_1`. It asks whether the raters order the items alike (consistency), not whether they give them the same
    numbers: a rater who is always higher does not count as disagreement. ICC(C,1) of McGraw and Wong.

    Parameters
    ----------
    values
        values of shape (N, R, 1), weights of shape (..., N).

    Returns
    -------
    Coefficient
        value of shape (...), from -1 to 1. `expected` is the variance of a rating apart from the raters', `observed` what of it is not
        between items. Undefined with one rater, when fewer than two items were rated by every rater, or when every rater gives all items
        the same number.

    References
    ----------
    Shrout, P. E. & Fleiss, J. L. (1979). Psychological Bulletin 86(2), 420-428. https://doi.org/10.1037/0033-2909.86.2.420
    McGraw, K. O. & Wong, S. P. (1996). Psychological Methods 1(1), 30-46. https://doi.org/10.1037/1082-989X.1.1.30

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> table = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> values = NumbersByRater(table, scale=Scale(None, "interval"), raters=("a", "b", "c", "d"))
    >>> round(float(icc_3_1(values).value), 4)
    0.7148
    """
    bms, _, ems, _, k, unit = two_way(values)
    return share_between_items((bms - ems) / k, (bms + (k - 1) * ems) / k, unit)


@measure(
    "ICC(3,k)",
    question="inter-rater",
    needs="values",
    bounds=(-np.inf, 1.0),
    undefined=(ONE_RATER, NO_CROSSED_ITEM, FEW_CROSSED_ITEMS, _without_variance("icc_3_k")),
    levels=NUMBERS,
    crossed=True,
    convention=TWO_WAY,
    source=SHROUT_FLEISS,
)
def icc_3_k(values: NumbersByRater) -> Coefficient:
    r"""The share of the variance of an item's mean rating that lies between items, apart from what each rater adds to all her ratings.

    .. math:: \mathrm{ICC}(3,k) = \frac{BMS - EMS}{BMS}

    with the mean squares of `icc_2_1`. It speaks for the mean of the k raters, never for a single one: Cronbach's alpha, and ICC(C,k) of
    McGraw and Wong.

    Parameters
    ----------
    values
        values of shape (N, R, 1), weights of shape (..., N).

    Returns
    -------
    Coefficient
        value of shape (...), at most 1. `expected` is the variance of an item's mean, `observed` what of it is not between items. Undefined
        with one rater, when fewer than two items were rated by every rater, or when the items' means are all the same.

    References
    ----------
    Shrout, P. E. & Fleiss, J. L. (1979). Psychological Bulletin 86(2), 420-428. https://doi.org/10.1037/0033-2909.86.2.420

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> table = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> values = NumbersByRater(table, scale=Scale(None, "interval"), raters=("a", "b", "c", "d"))
    >>> round(float(icc_3_k(values).value), 4)
    0.9093
    """
    bms, _, ems, _, k, unit = two_way(values)
    return share_between_items((bms - ems) / k, bms / k, unit)
