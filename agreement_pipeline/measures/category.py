"""Agreement category by category: report the lowest.

One number for all categories can hide a category that nobody agrees on. The rate of agreement and
specific agreement need no model of chance.
"""

from functools import partial

import numpy as np

from agreement_pipeline.measures.coefficient import Coefficient, chance_corrected, prevalence, ratio
from agreement_pipeline.measures.conditions import NO_PAIRABLE_ITEM, ONE_PAIRABLE_CATEGORY
from agreement_pipeline.measures.registry import register
from agreement_pipeline.statistics import CategoryCounts

_by_category = partial(
    register,
    question="inter-rater",
    needs="counts",
    levels={"nominal", "ordinal"},
    per_category=True,
    exchangeable=True,
)


@_by_category(
    "Rate of agreement by category",
    bounds=(0.0, 1.0),
    undefined=(NO_PAIRABLE_ITEM,),
    chance_corrected=False,
    convention="pairs of ratings are pooled over items",
    source="Siegel, P. (2018). Annotator agreement in machine learning experiments",
)
def category_agreement(counts: CategoryCounts) -> Coefficient:
    r"""Of the pairs in which at least one rater gives a category, the share in which both do.

    .. math:: R_j = \frac{A_j}{P_j}, \qquad A_j = \sum_k \binom{c_{jk}}{2}, \qquad
       P_j = \sum_k c_{jk} c_k - \binom{c_{jk} + 1}{2}

    :math:`c_{jk}` of the :math:`c_k` ratings of item k are of category j. It is Jaccard's index. On
    few items the lowest value is biased low; `alpha_by_category` says how much.

    Examples
    --------
    >>> category_agreement(counts).value.round(4).tolist()
    [0.7778, 0.75]
    """
    c, m = counts.counts, counts.sizes[:, None]
    agreements = counts.weights @ (c * (c - 1) / 2)
    potential = counts.weights @ (c * m - c * (c + 1) / 2)
    rate = ratio(agreements, potential)
    return Coefficient(rate, observed=rate)


@_by_category(
    "Specific agreement",
    bounds=(0.0, 1.0),
    undefined=(NO_PAIRABLE_ITEM,),
    chance_corrected=False,
    convention="pairs of ratings are pooled over items",
    source="Uebersax, J. S. (1982). Journal of Psychiatric Research 17(4), 335-342; "
    "for two raters Dice, L. R. (1945), doi:10.2307/1932409",
)
def specific_agreement(counts: CategoryCounts) -> Coefficient:
    r"""If one rater names a category, how often another rater of the item names it too.

    .. math:: p_s(j) = \frac{\sum_k c_{jk} (c_{jk} - 1)}{\sum_k c_{jk} (c_k - 1)}

    For two raters it is Dice's ratio, the F1 score of either rater against the other.

    Examples
    --------
    >>> specific_agreement(counts).value.round(4).tolist()
    [0.875, 0.8571]
    """
    c = counts.counts
    others = np.maximum(counts.sizes - 1, 0)[:, None]
    share = ratio(counts.weights @ (c * np.maximum(c - 1, 0)), counts.weights @ (c * others))
    return Coefficient(share, observed=share)


@_by_category(
    "Krippendorff's α by category",
    withstands_chosen=True,
    bounds=(-1.0, 1.0),
    undefined=(NO_PAIRABLE_ITEM, ONE_PAIRABLE_CATEGORY),
    convention="items with one rating are left out; "
    "every other item counts with its number of ratings",
    source="Krippendorff, K. (2018). Content Analysis (4th ed.), ch. 12",
)
def alpha_by_category(counts: CategoryCounts) -> Coefficient:
    r"""Agreement beyond chance on one category against the rest, category by category.

    .. math:: \alpha_c = 1 - \frac{D_o}{D_e}, \qquad
       D_o = \frac{2}{n} \sum_u \frac{n_{uc} (m_u - n_{uc})}{m_u - 1}, \qquad
       D_e = \frac{2 n_c (n - n_c)}{n (n - 1)}

    This is Krippendorff's nominal alpha after all other categories are merged into one. The lowest
    of several values is biased low. Take two raters with a true value of 0.80 in each of five
    equally common categories: the bias is about 0.18 on 30 items and 0.09 on 100. So its upper
    limit is no upper limit of the lowest true value.

    Examples
    --------
    >>> alpha_by_category(counts).value.round(4).tolist()
    [0.7411, 0.7411]
    """
    c, m = counts.counts, counts.sizes[:, None]
    paired = counts.paired
    n_c = paired @ c
    n = n_c.sum(-1, keepdims=True)
    d_o = ratio(2 * paired @ (c * (m - c) / np.maximum(m - 1, 1)), n)
    d_e = ratio(2 * n_c * (n - n_c), n * (n - 1))
    return Coefficient(1 - ratio(d_o, d_e), observed=d_o, expected=d_e)


@_by_category(
    "Fleiss' κ by category",
    bounds=(-np.inf, 1.0),
    undefined=(NO_PAIRABLE_ITEM, ONE_PAIRABLE_CATEGORY),
    convention="observed agreement over items with two ratings or more; "
    "prevalence over every rated item (Gwet)",
    source="Fleiss, J. L. (1971), doi:10.1037/h0031619",
)
def kappa_by_category(counts: CategoryCounts) -> Coefficient:
    r"""Fleiss' kappa on one category against the rest, category by category.

    .. math:: \kappa_j = \frac{p_o - p_e}{1 - p_e}, \qquad
       p_o = 1 - \frac{2}{N} \sum_i \frac{n_{ij} (n_i - n_{ij})}{n_i (n_i - 1)}, \qquad
       p_e = 1 - 2 \pi_j (1 - \pi_j)

    :math:`n_{ij}` of the :math:`n_i` ratings of item i are in category j, and :math:`\pi_j` is the
    mean share of that category.

    Examples
    --------
    >>> kappa_by_category(counts).value.round(4).tolist()
    [0.7321, 0.7321]
    """
    c, m = counts.counts, counts.sizes[:, None]
    paired = counts.paired
    varied = (paired @ c > 0) & (paired @ (m - c) > 0)
    pi = prevalence(counts)
    p_o = 1 - 2 * ratio(
        paired @ (c * (m - c) / np.maximum(m * (m - 1), 1)), paired.sum(-1)[..., None]
    )
    p_e = 1 - 2 * pi * (1 - pi)
    return chance_corrected(p_o, p_e).where(varied)
