"""The intraclass correlations: how much of the variance of ratings lies between items.

The variance of ratings has three sources: items, how high each rater rates, and error. Six forms
answer six questions. The first figure of a form says who rates:

1. Every item has raters of its own, so raters' habits are error.
2. The same raters rate every item and stand for other raters, so their habits count against them.
3. These raters are the only ones, so a constant difference between them does not matter.

The second figure is 1 for one rating and k for the mean of k ratings. Choose before you see the
data. Most rounds mean (2,1). Where items hardly differ, all forms are low even if raters agree.
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
from agreement_pipeline.measures.coefficient import Coefficient, ratio
from agreement_pipeline.measures.conditions import NO_CROSSED_ITEM, NO_PAIRABLE_ITEM, ONE_RATER
from agreement_pipeline.measures.registry import MEASURES, Condition, register
from agreement_pipeline.ratings import Level
from agreement_pipeline.statistics import NumbersByRater

SHROUT_FLEISS = (
    "Shrout, P. E. & Fleiss, J. L. (1979), doi:10.1037/0033-2909.86.2.420; "
    "McGraw, K. O. & Wong, S. P. (1996), doi:10.1037/1082-989X.1.1.30"
)
DONNER = SHROUT_FLEISS + "; unequal numbers of ratings after Donner, A. (1986), doi:10.2307/1403259"
ONE_WAY = (
    "items with one rating are left out; every other item counts, whoever rated it; "
    "k is the mean number of ratings an item that Donner (1986) calls n_0"
)
TWO_WAY = "only items that every rater rated; those with missing ratings are left out and counted"
NUMBERS: set[Level] = {"interval", "ratio"}
NO_VARIANCE = "the estimated variance is not positive"


def _without_variance(name: str) -> Condition:
    return Condition(NO_VARIANCE, lambda values: no_variance(MEASURES[name](values)))


@register(
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
    r"""The share of one rating's variance between items, if every item has its own raters.

    .. math:: \mathrm{ICC}(1,1) = \frac{BMS - WMS}{BMS + (k - 1) WMS}, \qquad
       k = n_0 = \frac{1}{n - 1} \left( M - \frac{\sum_i m_i^2}{M} \right)

    BMS and WMS are the mean squares between and within n items in the one-way analysis of variance.
    Item i has :math:`m_i \ge 2` of M ratings. If the same raters rate many items, the interval
    holds them fixed and describes only them. For others it is too narrow, more so with more items.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> rows = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> values = NumbersByRater(rows, scale=Scale(None, "interval"), raters=("a", "b", "c", "d"))
    >>> round(float(icc_1_1(values).value), 4)
    0.1657
    """
    bms, wms, k, unit = one_way(values)
    return share_between_items((bms - wms) / k, (bms + (k - 1) * wms) / k, unit)


@register(
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
    r"""The share of an item mean's variance between items, if every item has its own raters.

    .. math:: \mathrm{ICC}(1,k) = \frac{BMS - WMS}{BMS}

    The mean squares are those of `icc_1_1`. The value is that of `icc_1_1`, stepped up to k ratings
    an item by the Spearman-Brown formula. It describes the mean of k ratings, never one rating.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> rows = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> values = NumbersByRater(rows, scale=Scale(None, "interval"), raters=("a", "b", "c", "d"))
    >>> round(float(icc_1_k(values).value), 4)
    0.4428
    """
    bms, wms, k, unit = one_way(values)
    return share_between_items((bms - wms) / k, bms / k, unit)


@register(
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
    r"""The share of one rating's variance between items, if raters stand for a population.

    .. math:: \mathrm{ICC}(2,1) = \frac{BMS - EMS}{BMS + (k - 1) EMS + k (JMS - EMS) / n}

    BMS, JMS and EMS are the mean squares of n items, k raters and the rest in the two-way analysis
    of variance. A rater who is always higher counts as disagreement. McGraw and Wong call this
    ICC(A,1). The interval describes these raters only, as for `icc_1_1`.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> rows = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> values = NumbersByRater(rows, scale=Scale(None, "interval"), raters=("a", "b", "c", "d"))
    >>> round(float(icc_2_1(values).value), 4)
    0.2898
    """
    bms, jms, ems, n, k, unit = two_way(values)
    total = bms + (k - 1) * ems + k * ratio(jms - ems, n)
    return share_between_items((bms - ems) / k, total / k, unit)


@register(
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
    r"""The share of an item mean's variance between items, if raters stand for a population.

    .. math:: \mathrm{ICC}(2,k) = \frac{BMS - EMS}{BMS + (JMS - EMS) / n}

    The mean squares are those of `icc_2_1`. The value describes the mean of the k raters and never
    a single one. McGraw and Wong call this ICC(A,k). The interval is as for `icc_1_1`.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> rows = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> values = NumbersByRater(rows, scale=Scale(None, "interval"), raters=("a", "b", "c", "d"))
    >>> round(float(icc_2_k(values).value), 4)
    0.6201
    """
    bms, jms, ems, n, k, unit = two_way(values)
    return share_between_items((bms - ems) / k, (bms + ratio(jms - ems, n)) / k, unit)


@register(
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
    r"""The share of one rating's variance between items, apart from what a rater always adds.

    .. math:: \mathrm{ICC}(3,1) = \frac{BMS - EMS}{BMS + (k - 1) EMS}

    The mean squares are those of `icc_2_1`. This form asks whether the raters order the items alike
    (consistency). It does not ask whether they give the same numbers. So a rater who is always
    higher does not count as disagreement. McGraw and Wong call this ICC(C,1).

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> rows = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> values = NumbersByRater(rows, scale=Scale(None, "interval"), raters=("a", "b", "c", "d"))
    >>> round(float(icc_3_1(values).value), 4)
    0.7148
    """
    bms, _, ems, _, k, unit = two_way(values)
    return share_between_items((bms - ems) / k, (bms + (k - 1) * ems) / k, unit)


@register(
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
    r"""The share of an item mean's variance between items, apart from what a rater always adds.

    .. math:: \mathrm{ICC}(3,k) = \frac{BMS - EMS}{BMS}

    The mean squares are those of `icc_2_1`. The value describes the mean of the k raters and never
    a single one. It is Cronbach's alpha, and McGraw and Wong call it ICC(C,k).

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> rows = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> values = NumbersByRater(rows, scale=Scale(None, "interval"), raters=("a", "b", "c", "d"))
    >>> round(float(icc_3_k(values).value), 4)
    0.9093
    """
    bms, _, ems, _, k, unit = two_way(values)
    return share_between_items((bms - ems) / k, bms / k, unit)
