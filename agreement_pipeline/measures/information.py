"""Information agreement: what one rater's labels tell about the other's.

Here agreement is information. How much uncertainty about one rater's label goes away when the
other's is known? It is measured as a share of the smaller of their entropies.

Labels that are always swapped carry all the information. So raters who never agree may have 1. Read
it beside a kappa. Where a rater gives only one category there is no information to share. The form
by continuity has the limit as its value there. Observed is the mutual information, and greatest the
smaller entropy, in bits.
"""

from typing import NamedTuple

import numpy as np

from agreement_pipeline.measures._agreement import contingency
from agreement_pipeline.measures.coefficient import Coefficient, ratio
from agreement_pipeline.measures.conditions import CONSTANT_RATER, NO_PAIRABLE_ITEM, NOT_TWO_RATERS
from agreement_pipeline.measures.contingency import SHARED_ITEMS
from agreement_pipeline.measures.registry import register
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import LabelsByRater

ASSOCIATION = (
    "it sees dependence and not agreement: raters who always give opposite labels have 1. "
    "Use krippendorff_alpha"
)


class _Parts(NamedTuple):
    """Mutual information, the smaller entropy, and the number of categories that each rater used.

    Each has shape (...).
    """

    mutual: Array
    least: Array
    columns: Array
    rows: Array


@register(
    "Information agreement IA",
    question="inter-rater",
    needs="patterns",
    bounds=(0.0, 1.0),
    undefined=(NOT_TWO_RATERS, NO_PAIRABLE_ITEM, CONSTANT_RATER),
    levels={"nominal", "ordinal"},
    cannot_hold=ASSOCIATION,
    convention=SHARED_ITEMS,
    source="Casagrande, A., Fabris, F. & Girometti, R. (2020), doi:10.1007/s11517-020-02261-2",
)
def information_agreement(patterns: LabelsByRater) -> Coefficient:
    r"""The share of the less varied rater's information that the other rater's labels hold.

    .. math:: IA = \frac{I(X, Y)}{\min(H(X), H(Y))}, \qquad I(X, Y) = H(X) + H(Y) - H(X Y)

    H is the entropy of the raters' labels, alone or together, with :math:`0 \log 0 = 0`. IA
    measures dependence and not agreement: two raters who always give opposite labels have 1. A rule
    on it may warn but cannot hold a release.

    IA is biased upward. Take two independent raters of N items. If N is large beside :math:`K^2`,
    their mutual information is about :math:`(K - 1)^2 / (2 N \ln 2)` bits. If it is not, they have
    most of the information that is possible. Two raters who rate 60 items independently on 40
    categories have about 0.78.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> codes, counts = [[0, 0], [0, 1], [1, 0], [1, 1]], [40, 2, 3, 5]
    >>> patterns = LabelsByRater(codes, counts, scale=Scale(("no", "yes")), raters=("a", "b"))
    >>> round(float(information_agreement(patterns).value), 5)
    0.34151
    """
    mutual, least, _, _ = _parts(patterns)
    return Coefficient(ratio(mutual, least), observed=mutual, greatest=least)


@register(
    "Information agreement IA_C, by continuity",
    question="inter-rater",
    needs="patterns",
    bounds=(0.0, 1.0),
    undefined=(NOT_TWO_RATERS, NO_PAIRABLE_ITEM),
    levels={"nominal", "ordinal"},
    chance_corrected=False,
    cannot_hold=ASSOCIATION,
    convention=SHARED_ITEMS,
    source="Casagrande, A., Fabris, F. & Girometti, R. (2020), "
    "Extending information agreement by continuity, doi:10.1109/BIBM49941.2020.9313173",
)
def information_agreement_c(patterns: LabelsByRater) -> Coefficient:
    r"""Information agreement; if a rater gives one single category, the value that it tends to.

    .. math:: IA_C = \lim_{\epsilon \to 0^+}
       \frac{I(X_\epsilon, Y_\epsilon)}{\min(H(X_\epsilon), H(Y_\epsilon))} =
       \begin{cases} 1 - m / K & H(X) = 0 \\ 1 - l / K & H(Y) = 0 \\ IA & \text{otherwise}
       \end{cases}

    Here :math:`\epsilon` stands in every empty cell of the raters' table. The table has l columns
    and m rows that are not empty. K counts every category of the scale, used or not.

    Where a rater gives one single category, the value depends on how many the other gives. On a
    scale of many categories it nears 1, whatever the raters agree on. Elsewhere, the bias is that
    of IA. A rule on this measure may warn but cannot hold a release.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> one_cell = LabelsByRater([[0, 0]], [9], scale=Scale(("low", "middle", "high")),
    ...                           raters=("a", "b"))
    >>> round(float(information_agreement_c(one_cell).value), 4)
    0.6667
    """
    mutual, least, columns, rows = _parts(patterns)
    k = len(patterns.scale.names)
    at_the_limit = np.where(columns == 1, 1 - rows / k, 1 - columns / k)
    ia_c = np.where((columns == 1) | (rows == 1), at_the_limit, ratio(mutual, least))
    return Coefficient(ia_c, observed=mutual, greatest=least)


def _parts(patterns: LabelsByRater) -> _Parts:
    a = contingency(patterns)
    p_xy = ratio(a, a.sum((-2, -1))[..., None, None])
    p_x, p_y = p_xy.sum(-2), p_xy.sum(-1)
    h_x, h_y = _entropy(p_x), _entropy(p_y)
    h_xy = _entropy(p_xy.reshape(*p_xy.shape[:-2], -1))
    mutual = np.maximum(h_x + h_y - h_xy, 0.0)
    return _Parts(mutual, np.minimum(h_x, h_y), (p_x > 0).sum(-1), (p_y > 0).sum(-1))


def _entropy(p: Array) -> Array:
    return np.asarray(-(p * np.log2(np.where(p > 0, p, 1.0))).sum(-1))
