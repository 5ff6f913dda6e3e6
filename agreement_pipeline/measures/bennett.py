"""Bennett's S, alias Brennan and Prediger's kappa: chance is uniform guessing.

A rater who guesses chooses every category of the scale equally often, so prevalence does not change
S. But categories that nobody would ever choose raise it. The list of categories must be the one
that the raters really had.
"""

import numpy as np

from agreement_pipeline.measures.coefficient import (
    Coefficient,
    coefficient_from_agreement,
    has_known_ends,
    most_distant_categories,
    observed_disagreement,
)
from agreement_pipeline.measures.conditions import ENDS_UNKNOWN, NO_PAIRABLE_ITEM
from agreement_pipeline.measures.registry import register
from agreement_pipeline.measures.weighting import IDENTITY, Weighting
from agreement_pipeline.statistics import CategoryCounts


@register(
    "Bennett's S, which is Brennan and Prediger's κ",
    question="inter-rater",
    needs="counts",
    bounds=(-np.inf, 1.0),
    plain_bounds=(-1.0, 1.0),
    undefined=(NO_PAIRABLE_ITEM, ENDS_UNKNOWN),
    family="brennan_prediger",
    split=most_distant_categories,
    aliases={"brennan_prediger": "bennett_s"},
    exchangeable=True,
    convention="observed agreement over items with two ratings or more (Gwet)",
    source="Bennett, E. M., Alpert, R. & Goldstein, A. C. (1954), doi:10.1086/266520; "
    "Brennan, R. L. & Prediger, D. J. (1981), doi:10.1177/001316448104100307; "
    "weighted after Gwet, K. L. (2014). Handbook of Inter-Rater Reliability (4th ed.)",
    passed_by_guessing=True,
)
def bennett_s(counts: CategoryCounts, weighting: Weighting = IDENTITY) -> Coefficient:
    r"""Agreement beyond chance, where chance is guessing every category of the scale alike.

    .. math:: S = \frac{p_o - p_e}{1 - p_e}, \qquad p_e = \frac{1}{K^2} \sum_{k,l} w_{kl}

    :math:`p_o` is the mean share of agreeing pairs, and :math:`w_{kl}` how much categories k and l
    agree. Without weights, :math:`S = (K p_o - 1) / (K - 1)`, and 1 on one single category. For
    many raters, S is Randolph's free-marginal kappa. With weights, disagreement is measured in
    spans of the declared scale, as in `gwet_ac2`.

    Examples
    --------
    >>> round(float(bennett_s(counts).value), 4)
    0.7333
    """
    w = weighting.weight_matrix(counts.scale)
    p_o = 1 - observed_disagreement(counts, weighting.distances(counts.scale))
    p_e = np.full_like(p_o, w.mean())
    return coefficient_from_agreement(p_o, p_e).nan_unless(has_known_ends(counts))
