"""Whether another panel of raters would give an item the same label, which is what trains.

Agreement between raters says how far one rater can be replaced by another one. The label that a
panel settled on is another thing. Many poor raters can settle on a good label, and where raters
share an error they settle on a poor one, which no agreement shows.

What the label is follows from `trains` of a project: the mean of numbers, the shares of categories,
the category by plurality or by majority, the median, or the label of one rater. Both measures speak
of raters like these, drawn anew for each item. What ratings can tell differs by label: see
[the study](../proofs/panel-labels.md).
"""

import numpy as np

from agreement_pipeline.measures.coefficient import Coefficient, ratio
from agreement_pipeline.measures.registry import UndefinedCondition, register
from agreement_pipeline.statistics import LabelsOfPanels

EXAMPLE = """
>>> three_of_three, two_of_three, split = [1, 0], [0.9, 0.1], [0.5, 0.5]
>>> apart = [0.0, 0.2, 0.5]
>>> labels = [three_of_three, two_of_three, split, [0, 1]]
>>> panels = LabelsOfPanels(labels, [1] * 4, [*apart, 0.0], [60, 20, 10, 30])"""

NO_ITEM = UndefinedCondition(
    "no item has enough ratings to compare two panels",
    lambda panels: not (panels.weights > 0).any(),
)
ONE_ITEM = UndefinedCondition(
    "one item alone has enough ratings, so labels of different items cannot be compared",
    lambda panels: 0 < panels.weights.sum() <= 1,
)
NO_CATEGORY = UndefinedCondition(
    "the label is a number or the shares of categories, which two panels hardly ever give alike; "
    "use label_reliability",
    lambda panels: not panels.of_categories,
)
ALL_ALIKE = UndefinedCondition("all items have the same label, so chance alone would give it again")
CONVENTION = (
    "over the items with enough ratings, each of which counts once; a tie counts as settled by lot"
)
DERIVED = "the study panel-labels of the guide"


@register(
    "Agreement of panels on the label",
    question="inter-rater",
    needs="label",
    bounds=(0.0, 1.0),
    undefined=(NO_CATEGORY, NO_ITEM),
    chance_corrected=False,
    passed_by_guessing=True,
    exchangeable=True,
    convention=CONVENTION,
    source="Kraemer, H. C. (1992), doi:10.1002/sim.4780110305, on the binary consensus; derived in "
    + DERIVED,
    example=EXAMPLE,
)
def label_agreement(panels: LabelsOfPanels) -> Coefficient:
    r"""The share of items to which another panel of the same size gives the same category.

    .. math:: A = 1 - D_o, \qquad D_o = \frac{1}{n} \sum_i \Bigl(1 - \sum_k q_{ik}^2\Bigr)

    :math:`q_{ik}` is the chance that a panel of m raters gives item i the category k, and
    :math:`1 - \sum_k q_{ik}^2` the chance that two panels differ, as far as the ratings of the item
    tell it. For the shares :math:`p_{ik}` of all possible raters, :math:`\sum_k q_{ik}^2` grows
    with m and is never under :math:`\sum_k p_{ik}^2`. So the agreement of pairs of raters is a
    floor. From m ratings an item no more is known, and one more on a drawn part nearly settles it.

    Examples
    --------
    >>> round(float(label_agreement(panels).value), 4)
    0.925
    """
    d_o = panels.mean_apart
    a = np.where(panels.of_categories, 1 - d_o, np.nan)
    return Coefficient(a, observed=1 - d_o)


@register(
    "Reliability of the label",
    question="inter-rater",
    needs="label",
    bounds=(-np.inf, 1.0),
    undefined=(NO_ITEM, ONE_ITEM, ALL_ALIKE),
    continuous=True,
    exchangeable=True,
    convention=CONVENTION,
    source="Wong, K. & Paritosh, P. (2022), doi:10.18653/v1/2022.acl-short.42, and Spearman, C. "
    "(1910), doi:10.1111/j.2044-8295.1910.tb00206.x, for means; for categories derived in "
    + DERIVED,
    example=EXAMPLE,
)
def label_reliability(panels: LabelsOfPanels) -> Coefficient:
    r"""How far another panel of the same size would give the same labels, beyond chance.

    .. math:: R = 1 - \frac{D_o}{D_e}

    :math:`D_o` is half of the mean squared distance between the labels that two panels give an
    item, and :math:`D_e` the same of two different items.

    - Of **means and shares**, :math:`D_o` is the mean of :math:`s_i^2 / m_i`, which two ratings an
      item show, and :math:`D_e` the variance of the labels. So R is the part of that variance which
      is no error. With equal m it is the intraclass correlation ICC(1, k). Numbers of ratings may
      differ between items.
    - Of **a category**, labels are as far apart as they differ. So R is the share of items on which
      panels agree (`label_agreement`) beyond the :math:`\sum_k \pi_k^2` that chance gives, where
      :math:`\pi_k` is the share of panels' labels k.
    - Of **a median** it needs two panels on a part of the items. Categories in order are as far
      apart as the ranks in their middles.
    - Of **one rater** it is nearly Krippendorff's α.

    A part of the items may have more ratings than others only if it was drawn by chance.

    Examples
    --------
    >>> round(float(label_reliability(panels).value), 4)
    0.8256
    """
    d_o, d_e = panels.mean_apart, panels.variance
    return Coefficient(1 - ratio(d_o, d_e), observed=d_o, expected=d_e)
