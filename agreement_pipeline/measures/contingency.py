"""Coefficients read off the table of two raters: Bangdiwala's B and Yule's Y.

The table counts labels, with one rater in the rows and the other in the columns. B compares areas
in an agreement chart: the squares on the diagonal, and the rectangles that the raters' habits
allow.

Y reads association off the odds ratio of a table of two categories. It does not depend on
prevalence. For the same reason, it sees no difference between raters of different habits.
"""

import numpy as np

from agreement_pipeline.measures._agreement import contingency
from agreement_pipeline.measures.coefficient import Coefficient, ratio
from agreement_pipeline.measures.conditions import (
    CONSTANT_RATER,
    NO_PAIRABLE_ITEM,
    NOT_TWO_CATEGORIES,
    NOT_TWO_RATERS,
)
from agreement_pipeline.measures.registry import Condition, register
from agreement_pipeline.statistics import LabelsByRater

SHARED_ITEMS = "over the items that both rated"


def _nothing_in_common(patterns: LabelsByRater) -> bool:
    shared = patterns.codes[(patterns.codes >= 0).all(1) & (patterns.weights > 0)]
    return len(np.intersect1d(shared[:, 0], shared[:, 1])) == 0


@register(
    "Bangdiwala's B",
    question="inter-rater",
    needs="patterns",
    bounds=(0.0, 1.0),
    undefined=(
        NOT_TWO_RATERS,
        NO_PAIRABLE_ITEM,
        Condition("the raters have no category in common", _nothing_in_common),
    ),
    levels={"nominal", "ordinal"},
    chance_corrected=False,
    convention=SHARED_ITEMS,
    source="Bangdiwala, S. I. (1985), 45th session of the International Statistical Institute; "
    "Muñoz, S. R. & Bangdiwala, S. I. (1997), doi:10.1080/02664769723918",
    passed_by_guessing=True,
)
def bangdiwala_b(patterns: LabelsByRater) -> Coefficient:
    r"""In an agreement chart, the share of the possible area that is agreement.

    .. math:: B = \frac{\sum_k A_{kk}^2}{\sum_k A_{k \cdot} A_{\cdot k}}

    Here :math:`A_{kl}` counts the items that the first rater puts in category k and the second in
    l. How often the raters use each category decides how much area is possible. B is not corrected
    for chance.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> codes, counts = [[0, 0], [0, 1], [1, 0], [1, 1]], [40, 5, 3, 2]
    >>> patterns = LabelsByRater(codes, counts, scale=Scale(("no", "yes")), raters=("a", "b"))
    >>> round(float(bangdiwala_b(patterns).value), 5)
    0.81421
    """
    a = contingency(patterns)
    agreed = (np.diagonal(a, axis1=-2, axis2=-1) ** 2).sum(-1)
    allowed = (a.sum(-1) * a.sum(-2)).sum(-1)
    b = ratio(agreed, allowed)
    return Coefficient(b, observed=b)


@register(
    "Yule's Y",
    question="inter-rater",
    needs="patterns",
    bounds=(-1.0, 1.0),
    undefined=(NOT_TWO_RATERS, NOT_TWO_CATEGORIES, NO_PAIRABLE_ITEM, CONSTANT_RATER),
    levels={"nominal", "ordinal"},
    cannot_hold="it sees association and not agreement: it is 1 if one of the two ways to "
    "disagree does not occur. Use krippendorff_alpha",
    convention=SHARED_ITEMS,
    source="Yule, G. U. (1912), doi:10.2307/2340126",
)
def yule_y(patterns: LabelsByRater) -> Coefficient:
    r"""How far the labels of two raters go together, on two categories and whatever the prevalence.

    .. math:: Y = \frac{\sqrt{a d} - \sqrt{b c}}{\sqrt{a d} + \sqrt{b c}}

    This is the coefficient of colligation. The raters agree on a and d items, and disagree on b and
    c. Y is 1 when one of b and c is 0, even if the other is not. Y is -1 when one of a and d is 0.
    A rule on Y may warn but cannot hold a release.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> codes, counts = [[0, 0], [0, 1], [1, 0], [1, 1]], [21, 5, 3, 21]
    >>> patterns = LabelsByRater(codes, counts, scale=Scale(("no", "yes")), raters=("a", "b"))
    >>> round(float(yule_y(patterns).value), 5)
    0.68858
    """
    table = contingency(patterns)
    of_two = table if table.shape[-1] == 2 else np.full_like(table, np.nan)
    ad = np.sqrt(of_two[..., 0, 0] * of_two[..., 1, 1])
    bc = np.sqrt(of_two[..., 0, 1] * of_two[..., 1, 0])
    y = ratio(ad - bc, ad + bc)
    return Coefficient(y, observed=y)
