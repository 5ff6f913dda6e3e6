"""A classifier, or an isolated rater, against a panel whose raters stand for a population.

On each item, the panel's shares estimate how the population would label it. Vanbelle and Albert
divide by the most that the panel's own disagreement allows. Schouten divides by 1. Williams
compares with the agreement inside the panel and does not correct for chance. The majority's label
as the truth ignores how divided the panel was, and leaves out the hard items that have none.
"""

import numpy as np

from agreement_pipeline.measures.coefficient import (
    Coefficient,
    coefficient_from_agreement,
    pair_agreement,
    ratio,
)
from agreement_pipeline.measures.cohen import cohen_kappa
from agreement_pipeline.measures.conditions import (
    CLASSIFIER_NEVER_MET,
    CLASSIFIER_NEVER_MET_A_PAIR,
    NO_PAIRABLE_ITEM,
    ONE_CATEGORY,
    PANEL_AND_CLASSIFIER_ONE_CATEGORY,
    TWO_OF_THE_PANEL,
)
from agreement_pipeline.measures.registry import UndefinedCondition, UsedRows, register
from agreement_pipeline.measures.weighting import IDENTITY, Weighting
from agreement_pipeline.ratings import MISSING, Array, Codes
from agreement_pipeline.statistics import LabelsByRater

SHARES_CONVENTION = (
    "over the items that the classifier labelled and the panel rated, each with the shares of the "
    "raters who rated it"
)


@register(
    "Vanbelle and Albert's κ",
    question="classifier",
    needs="panel",
    bounds=(-np.inf, 1.0),
    undefined=(
        CLASSIFIER_NEVER_MET,
        UndefinedCondition(
            "the greatest agreement that the panel allows is what chance alone would give",
        ),
    ),
    family="vanbelle_albert_kappa",
    exchangeable=True,
    convention=SHARES_CONVENTION,
    source="Vanbelle, S. & Albert, A. (2009), doi:10.1111/j.1467-9574.2008.00412.x",
)
def vanbelle_albert_kappa(panel: LabelsByRater, weighting: Weighting = IDENTITY) -> Coefficient:
    r"""Agreement of an isolated rater with a panel whose raters stand for a population.

    .. math:: \kappa_{va} = \frac{\Pi_o - \Pi_e}{\Pi_{max} - \Pi_e}, \qquad
       \Pi_o = \frac{1}{N} \sum_i \sum_k w_{x_i k} y_{ik}, \quad \Pi_e = \sum_{j,k} w_{jk}
       \bar{x}_j \bar{y}_k, \quad
       \Pi_{max} = \frac{1}{N} \sum_i \max_j \sum_k w_{jk} y_{ik}

    :math:`y_{ik}` is the share of the panel that gives item i category k, and :math:`x_i` the
    category of the isolated rater. A bar is a mean over items. :math:`w_{jk}` is how much
    categories j and k agree. Against one single rater this is Cohen's kappa. The interval is over
    items and treats the raters as fixed.

    Examples
    --------
    >>> round(float(vanbelle_albert_kappa(panel).value), 4)
    0.7273
    """
    p_o, p_e, p_max, span = _agreement_parts(panel, weighting)
    kappa = ratio(p_o - p_e, p_max - p_e)
    return Coefficient(kappa, observed=p_o, expected=p_e, greatest=p_max).over_whole_scale(span)


@register(
    "Schouten's κ of a rater with the others",
    question="classifier",
    needs="panel",
    bounds=(-1.0, 1.0),
    undefined=(CLASSIFIER_NEVER_MET, PANEL_AND_CLASSIFIER_ONE_CATEGORY),
    family="schouten_kappa",
    exchangeable=True,
    convention=SHARES_CONVENTION,
    source="Schouten, H. J. A. (1982), doi:10.1111/j.1467-9574.1982.tb00774.x",
)
def schouten_kappa(panel: LabelsByRater, weighting: Weighting = IDENTITY) -> Coefficient:
    r"""Agreement beyond chance of one rater with all other raters taken together.

    .. math:: \kappa_a = \frac{\sum_b (p_{o,ab} - p_{e,ab})}{\sum_b (1 - p_{e,ab})} = \frac{\Pi_o -
       \Pi_e}{1 - \Pi_e}

    :math:`p_{o,ab}` and :math:`p_{e,ab}` are those of Cohen's kappa of raters a and b, and the
    other parts those of Vanbelle and Albert's kappa. The value is never less than -1, since with
    every weighting here 1 - w is a squared distance.

    Examples
    --------
    >>> round(float(schouten_kappa(panel).value), 4)
    0.5714
    """
    p_o, p_e, _, span = _agreement_parts(panel, weighting)
    return coefficient_from_agreement(p_o, p_e).over_whole_scale(span)


@register(
    "Williams' index",
    question="classifier",
    needs="panel",
    bounds=(0.0, np.inf),
    undefined=(
        CLASSIFIER_NEVER_MET_A_PAIR,
        UndefinedCondition(
            "the panel never agrees with itself on an item that the classifier labelled"
        ),
    ),
    levels={"nominal", "ordinal"},
    chance_corrected=False,
    rests_on=TWO_OF_THE_PANEL,
    exchangeable=True,
    convention=(
        "over the items that the classifier labelled and two or more of the panel rated, each with "
        "the shares of the raters who rated it"
    ),
    source="Williams, G. W. (1976), doi:10.2307/2529750",
    passed_by_guessing=True,
)
def williams_index(panel: LabelsByRater) -> Coefficient:
    r"""Agreement of a rater with the panel, divided by the agreement within the panel.

    .. math:: I = \frac{P_0}{P_R}

    :math:`P_0` (observed) is the mean share of the panel that agrees with the rater. :math:`P_R`
    (greatest) is the mean share of the panel's pairs that agree. Above 1, the rater agrees with the
    panel more than the panel agrees with itself.

    Examples
    --------
    >>> round(float(williams_index(panel).value), 4)
    1.0
    """
    counts = panel.panel.counts()
    used = panel.weights_of(panel.labelled & counts.pairable)
    agreeing = (counts.counts * panel.label_indicators).sum(1) / np.maximum(counts.sizes, 1)
    p_0 = ratio(used @ agreeing, used.sum(-1))
    p_r = ratio(used @ pair_agreement(counts), used.sum(-1))
    return Coefficient(ratio(p_0, p_r), observed=p_0, greatest=p_r)


def _agreement_parts(
    panel: LabelsByRater, weighting: Weighting
) -> tuple[Array, Array, Array, Array]:
    c = panel.panel.counts().counts
    used = panel.weights_of(panel.readable)
    total = used.sum(-1)
    category_distances = weighting.category_distances(
        panel.scale, used @ (c + panel.label_indicators)
    )
    from_panel = c / np.maximum(c.sum(1), 1)[:, None] @ category_distances.distances
    d_o = ratio(used @ (from_panel * panel.label_indicators).sum(1), total)
    d_e = (
        ratio(used @ from_panel, total[..., None])
        * ratio(used @ panel.label_indicators, total[..., None])
    ).sum(-1)
    smallest_distance = ratio(used @ from_panel.min(1), total)
    return (
        category_distances.agreement(d_o),
        category_distances.agreement(d_e),
        category_distances.agreement(smallest_distance),
        category_distances.unit,
    )


def strict_majority(panel: LabelsByRater) -> Codes:
    """Shape (P,); -1 without a strict majority."""
    c = panel.panel.counts().counts
    return np.where(2 * c.max(1) > c.sum(1), c.argmax(1), MISSING)


def _with_majority_as_rater(panel: LabelsByRater) -> LabelsByRater:
    codes = np.column_stack([strict_majority(panel), panel.labels])
    codes[(codes == MISSING).any(1)] = MISSING
    return LabelsByRater(
        codes, panel.weights, scale=panel.scale, raters=("majority", str(panel.classifier))
    )


@register(
    "Cohen's κ against the majority",
    question="classifier",
    needs="panel",
    bounds=(-1.0, 1.0),
    undefined=(
        UndefinedCondition(
            "the classifier labelled no item on which more than half of the panel agree",
            lambda panel: NO_PAIRABLE_ITEM.holds(_with_majority_as_rater(panel)),
        ),
        UndefinedCondition(
            "the classifier and the majority gave one and the same category throughout",
            lambda panel: ONE_CATEGORY.holds(_with_majority_as_rater(panel)),
        ),
    ),
    levels={"nominal", "ordinal"},
    exchangeable=True,
    rests_on=UsedRows(
        lambda panel: _with_majority_as_rater(panel).readable, "no majority of the panel"
    ),
    convention=(
        "over the items that the classifier labelled and on which more than half of the raters who "
        "rated them agree; all other items are left out"
    ),
    source=(
        "Cohen, J. (1960), doi:10.1177/001316446002000104; against the majority: Soeken & Prescott "
        "(1986), doi:10.1097/00005650-198608000-00008"
    ),
)
def consensus_kappa(panel: LabelsByRater) -> Coefficient:
    r"""Agreement of a classifier beyond chance with the strict majority of the panel.

    .. math:: \kappa = \frac{p_o - p_e}{1 - p_e}

    The majority is treated as one rater, as in Cohen's kappa. The value holds only for the items
    that have a strict majority.

    Examples
    --------
    >>> round(float(consensus_kappa(panel).value), 4)
    0.4
    """
    return cohen_kappa(_with_majority_as_rater(panel))
