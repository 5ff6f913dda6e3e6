"""Percent agreement, Fleiss' kappa and Scott's pi: raters are interchangeable.

Only the labels of an item count. Who gave which label does not matter. Two chances are compared:

- Observed agreement is the chance that two random ratings of one item are the same.
- Expected agreement is the chance that two random ratings of any items are the same.

Percent agreement is the first alone. So it depends on the number of categories and on how evenly
they are used. Fleiss' kappa is what is left after the second is taken away. Scott's pi is Fleiss'
kappa for two raters.

All raters are assumed to use the categories alike. So a difference between their habits counts as
disagreement. Where the raters are always the same few, read `shah_kappa_s` as well.
"""

import numpy as np

from agreement_pipeline.measures._agreement import (
    ends_met,
    expected_disagreement,
    observed_agreement,
    observed_disagreement,
    observed_variation,
    of_two_raters,
    prevalence,
)
from agreement_pipeline.measures.coefficient import Coefficient
from agreement_pipeline.measures.conditions import (
    END_UNMET,
    NO_PAIRABLE_ITEM,
    NOT_TWO_RATERS,
    ONE_PAIRABLE_CATEGORY,
)
from agreement_pipeline.measures.registry import chance_corrected, register
from agreement_pipeline.measures.weighting import IDENTITY, Weighting
from agreement_pipeline.statistics import CategoryCounts, LabelsByRater

GWET = (
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

    Percent agreement is not corrected for chance. Two raters who always say *no* agree on
    everything.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> counts = CategoryCounts([[3, 0], [2, 1]], scale=Scale(("no", "yes")))
    >>> round(float(percent_agreement(counts).value), 4)
    0.6667
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
    convention=GWET,
    source=(
        "Fleiss, J. L. (1971), doi:10.1037/h0031619; weighted after Gwet, K. L. (2014). Handbook "
        "of Inter-Rater Reliability (4th ed.)"
    ),
)
def fleiss_kappa(counts: CategoryCounts, weighting: Weighting = IDENTITY) -> Coefficient:
    r"""Agreement beyond chance, with chance from the pooled ratings of all raters.

    .. math:: \kappa_F = \frac{p_o - p_e}{1 - p_e}, \qquad p_e = \sum_{k,l} w_{kl} \pi_k \pi_l

    - :math:`p_o` is the mean share of agreeing pairs.
    - :math:`\pi_k` is the mean share of category k in an item's ratings.
    - :math:`w_{kl}` is how much categories k and l agree.

    Without weights, different categories do not agree at all. Then :math:`p_e = \sum_k \pi_k^2`
    holds.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> counts = CategoryCounts([[3, 0], [2, 1], [0, 3]], [4, 2, 4], scale=Scale(("no", "yes")))
    >>> round(float(fleiss_kappa(counts).value), 4)
    0.7321
    """
    pi = prevalence(counts)
    apart = weighting.apart(counts.scale, pi)
    p_o = apart.agreement(observed_disagreement(counts, apart.distances))
    p_e = apart.agreement(expected_disagreement(pi, apart.distances))
    return (
        chance_corrected(p_o, p_e)
        .in_spans(apart.unit)
        .where(observed_variation(counts) & ends_met(counts))
    )


@register(
    "Scott's π",
    question="inter-rater",
    needs="patterns",
    bounds=(-np.inf, 1.0),
    undefined=(NOT_TWO_RATERS, NO_PAIRABLE_ITEM, ONE_PAIRABLE_CATEGORY),
    levels={"nominal", "ordinal"},
    exchangeable=True,
    convention=GWET,
    source="Scott, W. A. (1955), doi:10.1086/266577",
)
def scott_pi(patterns: LabelsByRater) -> Coefficient:
    r"""Agreement of two raters beyond chance, with chance from both raters' ratings together.

    .. math:: \pi = \frac{p_o - p_e}{1 - p_e}, \qquad
       p_e = \sum_k \left(\frac{p_{1k} + p_{2k}}{2}\right)^2

    Scott's pi is Fleiss' kappa of two raters.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> patterns = LabelsByRater(
    ...     [[0, 0], [0, 1], [1, 1]], [4, 2, 4], scale=Scale(("no", "yes")), raters=("a", "b")
    ... )
    >>> round(float(scott_pi(patterns).value), 4)
    0.6
    """
    counts = patterns.counts()
    p_o = of_two_raters(patterns, observed_agreement(counts))
    p_e = (prevalence(counts) ** 2).sum(-1)
    return chance_corrected(p_o, p_e).where(observed_variation(counts))
