"""Agreement within a fixed panel of raters, and of a classifier with that panel.

The same raters label every item, and no other rater ever will. Chance is then computed from each
rater's own use of the categories, pair by pair. So differences in habit do not count against them.
"""

import numpy as np

from agreement_pipeline.measures.coefficient import Coefficient, kappa_of_raters, ratio
from agreement_pipeline.measures.conditions import (
    CLASSIFIER_NEVER_MET_A_PAIR,
    END_UNMET,
    NO_PAIRABLE_ITEM,
    ONE_PAIRABLE_CATEGORY,
    SILENT_RATER,
    TWO_OF_THE_PANEL,
)
from agreement_pipeline.measures.registry import UndefinedCondition, always, register
from agreement_pipeline.measures.weighting import IDENTITY, Weighting
from agreement_pipeline.statistics import LabelsByRater, SomeRows, rows_from_array


@register(
    "Shah's κ_S, which is Conger's κ",
    question="inter-rater",
    needs="patterns",
    bounds=(-np.inf, 1.0),
    undefined=(NO_PAIRABLE_ITEM, ONE_PAIRABLE_CATEGORY, SILENT_RATER, END_UNMET),
    family="conger_kappa",
    aliases={"conger_kappa": "shah_kappa_s"},
    sums_of_raters=always,
    convention=(
        "observed agreement over items with two ratings or more, each rater's prevalence over all "
        "items they rated (Gwet)"
    ),
    source=(
        "Shah, M. (2011), doi:10.1007/978-3-642-23808-6_13, equations 2 and 4; the same statistic "
        "as Conger (1980), doi:10.1037/0033-2909.88.2.322"
    ),
)
def shah_kappa_s(patterns: LabelsByRater, weighting: Weighting = IDENTITY) -> Coefficient:
    r"""Agreement beyond chance in a fixed panel, with chance from each rater's own categories.

    .. math:: \kappa_S = \frac{A_o - A_e}{1 - A_e}, \qquad
       A_e = \sum_{j,k} \frac{w_{jk}}{r (r - 1)} \sum_{p} \sum_{p' \ne p} v_j^p v_k^{p'}

    :math:`A_o` is the mean share of agreeing pairs, :math:`v_j^p` the share of category j in the
    ratings of rater p, and :math:`w_{jk}` how much categories j and k agree. For two raters this is
    Cohen's kappa, for more Conger's and Hubert's.

    Examples
    --------
    >>> round(float(shah_kappa_s(patterns).value), 4)
    0.4
    """
    return kappa_of_raters(patterns, weighting)


@register(
    "Shah's S",
    question="classifier",
    needs="panel",
    bounds=(-np.inf, 1.0),
    undefined=(
        CLASSIFIER_NEVER_MET_A_PAIR,
        UndefinedCondition(
            "the greatest agreement that the panel allows is no more than chance alone would give",
        ),
    ),
    levels={"nominal", "ordinal"},
    chance_corrected=False,
    sums_of_raters=always,
    rests_on=TWO_OF_THE_PANEL,
    convention=(
        "over the items that the classifier labelled and two or more of the panel rated, with the "
        "raters who rated any of them"
    ),
    source="Shah, M. (2011), doi:10.1007/978-3-642-23808-6_13, equations 6 to 8",
)
def shah_s(panel: LabelsByRater) -> Coefficient:
    r"""Agreement of a classifier with a fixed panel, as a share of the best that the panel allows.

    .. math:: S = \frac{A_o - A_e}{A_{max} - A_e}

    On item i the panel agrees on category j to the extent
    :math:`A(i, j) = c_{ij} (c_{ij} - 1) / (r (r - 1))`. :math:`A_o` is its mean at the classifier's
    category, and :math:`A_{max}` the mean of its largest value. :math:`A_e` is the chance that two
    raters both give a category, weighted by how often the classifier gives it. A classifier that
    guesses does not get 0: against a unanimous panel of two balanced categories it gets 1/3, where
    `vanbelle_albert_kappa` is 0.

    Examples
    --------
    >>> round(float(shah_s(panel).value), 4)
    0.8
    """
    k = len(panel.scale.names)
    sums = panel.sums(_agreement_features)
    total, agreed, greatest = np.moveaxis(sums[..., :3], -1, 0)
    label_counts = sums[..., 3 + k :].reshape(*sums.shape[:-1], panel.panel.n_raters, k)
    v = ratio(label_counts, label_counts.sum(-1, keepdims=True))
    r = (~np.isnan(v[..., 0])).sum(-1)[..., None]
    v = np.nan_to_num(v)
    by_chance = ratio(v.sum(-2) ** 2 - (v**2).sum(-2), r * (r - 1))
    a_o, a_max = ratio(agreed, total), ratio(greatest, total)
    a_e = (ratio(sums[..., 3 : 3 + k], total[..., None]) * by_chance).sum(-1)
    return Coefficient(ratio(a_o - a_e, a_max - a_e), observed=a_o, expected=a_e, greatest=a_max)


def _agreement_features(panel: LabelsByRater) -> SomeRows:
    """Shape (P, 3 + K + R K), 0 for rows that do not count: 1, the panel's agreement on the
    classifier's category and its largest agreement, then indicators of the classifier's category
    and of each rater's.
    """
    counts, codes = panel.panel.counts(), panel.panel.codes
    c, m, k = counts.counts, counts.sizes, counts.counts.shape[1]
    agreed = c * (c - 1) / np.maximum(m * (m - 1), 1)[:, None]
    features = np.empty((len(m), 3 + k + codes.shape[1] * k))
    features[:, 0] = 1
    features[:, 1] = (agreed * panel.label_indicators).sum(1)
    features[:, 2] = agreed.max(1)
    features[:, 3 : 3 + k] = panel.label_indicators
    features[:, 3 + k :] = (codes[:, :, None] == np.arange(k)).reshape(
        len(m), features.shape[1] - 3 - k
    )
    features[~(panel.labelled & counts.pairable)] = 0
    return rows_from_array(features)
