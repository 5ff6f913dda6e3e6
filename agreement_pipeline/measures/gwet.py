"""Gwet's AC1 and AC2: agreement where one category is common; and alpha under his ordinal weights.

Gwet assumes that raters guess only on hard items, and estimates chance from how evenly the
categories are used. So AC1 stays high where one category is common, and also when raters do not
look at the items.
"""

from functools import partial

import numpy as np

from agreement_pipeline.measures.coefficient import (
    Coefficient,
    category_prevalence,
    coefficient_from_agreement,
    has_known_ends,
    most_distant_categories,
    most_used_and_farthest,
    observed_agreement,
    observed_disagreement,
)
from agreement_pipeline.measures.conditions import (
    ENDS_UNKNOWN,
    NO_PAIRABLE_ITEM,
    ONE_PAIRABLE_CATEGORY,
)
from agreement_pipeline.measures.fleiss import GWET_CONVENTION
from agreement_pipeline.measures.krippendorff import alpha_by_distance
from agreement_pipeline.measures.registry import register
from agreement_pipeline.measures.weighting import ORDINAL, Weighting
from agreement_pipeline.statistics import CategoryCounts

GRADES = """
>>> scale = Scale(("low", "middle", "high"), "ordinal")
>>> graded = CategoryCounts([[2, 0, 0], [1, 1, 0], [0, 0, 2]], [4, 2, 4], scale=scale)"""


@register(
    "Gwet's AC1",
    question="inter-rater",
    needs="counts",
    bounds=(-1.0, 1.0),
    undefined=(NO_PAIRABLE_ITEM,),
    levels={"nominal", "ordinal"},
    exchangeable=True,
    convention=GWET_CONVENTION,
    source="Gwet, K. L. (2008), doi:10.1348/000711006X126600",
    passed_by_guessing=True,
)
def gwet_ac1(counts: CategoryCounts) -> Coefficient:
    r"""Agreement beyond chance, where chance is a rater who guesses only on hard items.

    .. math:: \mathrm{AC1} = \frac{p_o - p_e}{1 - p_e}, \qquad
       p_e = \frac{1}{K - 1} \sum_k \pi_k (1 - \pi_k)

    K counts every category of the scale, used or not. A named category that nobody uses raises AC1.
    On ratings of one single category AC1 is 1, where alpha and kappa are undefined.

    Examples
    --------
    >>> round(float(gwet_ac1(counts).value), 4)
    0.7345
    """
    p_o = observed_agreement(counts)
    pi = category_prevalence(counts)
    p_e = (pi * (1 - pi)).sum(-1) / (pi.shape[-1] - 1)
    return coefficient_from_agreement(p_o, p_e)


@register(
    "Gwet's AC2",
    question="inter-rater",
    needs="counts",
    bounds=(-np.inf, 1.0),
    undefined=(NO_PAIRABLE_ITEM, ENDS_UNKNOWN),
    family="gwet_ac2",
    plain=False,
    split=most_distant_categories,
    exchangeable=True,
    convention=GWET_CONVENTION,
    source="Gwet, K. L. (2014). Handbook of Inter-Rater Reliability (4th ed.), ch. 3",
    example=GRADES,
    passed_by_guessing=True,
)
def gwet_ac2(counts: CategoryCounts, weighting: Weighting) -> Coefficient:
    r"""AC1 with credit for near misses.

    .. math:: \mathrm{AC2} = \frac{p_o - p_e}{1 - p_e}, \qquad
       p_e = \frac{\sum_{k,l} w_{kl}}{K (K - 1)} \sum_k \pi_k (1 - \pi_k)

    :math:`p_o` is the mean weighted agreement of pairs, and :math:`w_{kl}` how much categories k
    and l agree. Disagreement is counted in spans of the declared scale. So one category far from
    the others makes every other disagreement small, whether or not anybody gave it. The ordinal
    weights are not Krippendorff's ordinal metric, which depends on the ratings.

    Examples
    --------
    >>> from agreement_pipeline.measures.weighting import LINEAR
    >>> round(float(gwet_ac2(graded, LINEAR).value), 4)
    0.8065
    """
    w = weighting.weight_matrix(counts.scale)
    pi = category_prevalence(counts)
    k = np.float64(pi.shape[-1])
    p_o = 1 - observed_disagreement(counts, weighting.distances(counts.scale))
    p_e = w.sum() / (k * (k - 1)) * (pi * (1 - pi)).sum(-1)
    return coefficient_from_agreement(p_o, p_e).nan_unless(has_known_ends(counts))


@register(
    "α under Gwet's ordinal weights",
    question="inter-rater",
    needs="counts",
    bounds=(-1.0, 1.0),
    undefined=(NO_PAIRABLE_ITEM, ONE_PAIRABLE_CATEGORY),
    levels={"ordinal", "interval", "ratio"},
    split=partial(most_used_and_farthest, weighting=ORDINAL),
    exchangeable=True,
    convention=(
        "items with one rating are left out; all other items count with their number of ratings"
    ),
    source="Gwet, K. L. (2014). Handbook of Inter-Rater Reliability (4th ed.), ch. 3",
    example=GRADES,
)
def gwet_ordinal_alpha(counts: CategoryCounts) -> Coefficient:
    r"""Krippendorff's alpha with Gwet's ordinal weights in place of Krippendorff's ordinal metric.

    .. math:: \alpha_w = 1 - \frac{D_o}{D_e}, \qquad
       D_o = \frac{1}{n} \sum_u \frac{1}{m_u - 1} \sum_{c,k} n_{uc} n_{uk} (1 - w_{ck}), \qquad
       D_e = \frac{1}{n (n - 1)} \sum_{c,k} n_c n_k (1 - w_{ck})

    Software that offers alpha with ordinal weights computes this value.

    Examples
    --------
    >>> round(float(gwet_ordinal_alpha(graded).value), 4)
    0.8623
    """
    return alpha_by_distance(counts, ORDINAL.distances(counts.scale))
