"""Percent agreement, Fleiss' kappa, Scott's pi and Kraemer's kappa: raters are interchangeable.

Who gave which label does not matter. Observed agreement is the chance that two random ratings of
one item are the same. Expected agreement is the same for ratings of any items. A difference between
the habits of raters counts as disagreement. Where the raters are always the same few, read
`shah_kappa_s` as well.
"""

import numpy as np

from agreement_pipeline.measures.coefficient import (
    Coefficient,
    category_prevalence,
    coefficient_from_agreement,
    expected_disagreement,
    has_observed_variation,
    kappa_from_distances,
    nan_unless_two_raters,
    observed_agreement,
    ratio,
)
from agreement_pipeline.measures.conditions import (
    END_UNMET,
    NO_PAIRABLE_ITEM,
    NOT_TWO_CATEGORIES,
    NOT_TWO_RATERS,
    ONE_PAIRABLE_CATEGORY,
)
from agreement_pipeline.measures.registry import register
from agreement_pipeline.measures.weighting import IDENTITY, Weighting
from agreement_pipeline.statistics import CategoryCounts, LabelsByRater

GWET_CONVENTION = (
    "observed agreement over items with two ratings or more, prevalence over all rated items (Gwet)"
)


@register(
    "Percent agreement",
    question="inter-rater",
    needs="counts",
    bounds=(0.0, 1.0),
    undefined=(NO_PAIRABLE_ITEM,),
    chance_corrected=False,
    exchangeable=True,
    convention=(
        "the mean over items with two ratings or more (Gwet), and not over all pairs of ratings"
    ),
    source="Gwet, K. L. (2014). Handbook of Inter-Rater Reliability (4th ed.), ch. 2",
    passed_by_guessing=True,
)
def percent_agreement(counts: CategoryCounts) -> Coefficient:
    r"""The share of pairs of raters that give an item the same category, averaged over items.

    .. math:: p_o = \frac{1}{N} \sum_i \sum_k \frac{n_{ik} (n_{ik} - 1)}{n_i (n_i - 1)}

    It is not corrected for chance: two raters who always say *no* agree on everything.

    Examples
    --------
    >>> round(float(percent_agreement(counts).value), 4)
    0.8667
    """
    p_o = observed_agreement(counts)
    return Coefficient(p_o, observed=p_o)


@register(
    "Fleiss' κ",
    question="inter-rater",
    needs="counts",
    bounds=(-np.inf, 1.0),
    undefined=(NO_PAIRABLE_ITEM, ONE_PAIRABLE_CATEGORY, END_UNMET),
    family="fleiss_kappa",
    exchangeable=True,
    convention=GWET_CONVENTION,
    source=(
        "Fleiss, J. L. (1971), doi:10.1037/h0031619; weighted after Gwet, K. L. (2014). Handbook "
        "of Inter-Rater Reliability (4th ed.)"
    ),
)
def fleiss_kappa(counts: CategoryCounts, weighting: Weighting = IDENTITY) -> Coefficient:
    r"""Agreement beyond chance, with chance from the pooled ratings of all raters.

    .. math:: \kappa_F = \frac{p_o - p_e}{1 - p_e}, \qquad p_e = \sum_{k,l} w_{kl} \pi_k \pi_l

    :math:`p_o` is the mean share of agreeing pairs, :math:`\pi_k` the mean share of category k in
    an item's ratings, and :math:`w_{kl}` how much categories k and l agree.

    Examples
    --------
    >>> round(float(fleiss_kappa(counts).value), 4)
    0.7321
    """
    pi = category_prevalence(counts)
    category_distances = weighting.category_distances(counts.scale, pi)
    return kappa_from_distances(
        counts, category_distances, expected_disagreement(pi, category_distances.distances)
    )


@register(
    "Scott's π",
    question="inter-rater",
    needs="patterns",
    bounds=(-np.inf, 1.0),
    undefined=(NOT_TWO_RATERS, NO_PAIRABLE_ITEM, ONE_PAIRABLE_CATEGORY),
    levels={"nominal", "ordinal"},
    exchangeable=True,
    convention=GWET_CONVENTION,
    source="Scott, W. A. (1955), doi:10.1086/266577",
)
def scott_pi(patterns: LabelsByRater) -> Coefficient:
    r"""Agreement of two raters beyond chance, with chance from both raters' ratings together.

    .. math:: \pi = \frac{p_o - p_e}{1 - p_e}, \qquad
       p_e = \sum_k \left(\frac{p_{1k} + p_{2k}}{2}\right)^2

    Examples
    --------
    >>> round(float(scott_pi(patterns).value), 4)
    0.3939
    """
    counts = patterns.counts()
    p_o = nan_unless_two_raters(patterns, observed_agreement(counts))
    p_e = (category_prevalence(counts) ** 2).sum(-1)
    return coefficient_from_agreement(p_o, p_e).nan_unless(has_observed_variation(counts))


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
    the share of that category in all ratings. Items with more ratings count more. It is the
    reliability of one rating; if every item has equally many ratings it is Fleiss' kappa.

    Examples
    --------
    >>> round(float(kraemer_icc(counts).value), 4)
    0.7321
    """
    x, n = np.where(counts.counts.shape[1] == 2, counts.counts[:, -1], np.nan), counts.sizes
    within_variance = ratio(
        counts.weights @ (x * (n - x) / np.maximum(n, 1)), counts.weights @ np.maximum(n - 1, 0)
    )
    p = ratio(counts.weights @ x, counts.weights @ n)
    return coefficient_from_agreement(1 - 2 * within_variance, 1 - 2 * p * (1 - p)).nan_unless(
        has_observed_variation(counts)
    )
