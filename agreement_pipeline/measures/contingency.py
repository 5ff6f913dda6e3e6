"""Coefficients of the table of two raters: Bangdiwala's B, Yule's Y and information agreement.

The table counts labels, with one rater in the rows and the other in the columns. Y reads
association off the odds ratio of two categories. Information agreement asks how much uncertainty
about one rater's label goes away when the other's is known. Observed is the mutual information, and
greatest the smaller entropy, in bits.

Y and information agreement do not see differences of habit: raters who never agree may have 1. A
rule on them may warn but cannot hold a release.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from agreement_pipeline.measures.coefficient import (
    Coefficient,
    nan_unless_two_raters,
    ratio,
)
from agreement_pipeline.measures.conditions import (
    CONSTANT_RATER,
    NO_PAIRABLE_ITEM,
    NOT_TWO_CATEGORIES,
    NOT_TWO_RATERS,
)
from agreement_pipeline.measures.registry import UndefinedCondition, register
from agreement_pipeline.ratings import Array, Codes
from agreement_pipeline.statistics import (
    MANY_CATEGORIES,
    LabelsByRater,
    SomeRows,
    build_sparse_rows,
    indicator_rows,
)

SHARED_ITEMS = "over the items that both rated"


def _raters_share_no_category(patterns: LabelsByRater) -> bool:
    shared = patterns.codes[(patterns.codes >= 0).all(1) & (patterns.weights > 0)]
    return len(np.intersect1d(shared[:, 0], shared[:, 1])) == 0


def contingency_tables(patterns: LabelsByRater) -> Array:
    """Shape (..., K, K), the first rater in rows."""
    x = patterns.indicators
    joint = x[:, :1].sum(1)[:, :, None] * x[:, 1:].sum(1)[:, None, :]
    return nan_unless_two_raters(patterns, np.tensordot(patterns.weights, joint, axes=1))


class _Joint(NamedTuple):
    """The cells of the table (..., C), each rater's sums (..., K), and the equal cells."""

    cells: Array
    first: Array
    second: Array
    alike: Array


def _count_joint_labels(patterns: LabelsByRater, *, shares: bool = False) -> _Joint:
    """Of many categories, only cells that occur. `shares` are those of all items."""
    k = len(patterns.scale.names)
    if k <= MANY_CATEGORIES or patterns.n_raters != 2:
        table = contingency_tables(patterns)
        table = ratio(table, table.sum((-2, -1))[..., None, None]) if shares else table
        alike, cells = np.diagonal(table, axis1=-2, axis2=-1), table.reshape(*table.shape[:-2], -1)
        return _Joint(cells, table.sum(-1), table.sum(-2), alike)
    rows, first_codes, second_codes = patterns.read_once(_read_occurring_cells)
    cells = patterns.weighted_sums_of_rows(rows)
    cells = ratio(cells, cells.sum(-1, keepdims=True)) if shares else cells
    first_counts, second_counts = (
        indicator_rows(codes[:, None], k).weighted_sums(cells)
        for codes in (first_codes, second_codes)
    )
    return _Joint(cells, first_counts, second_counts, cells[..., first_codes == second_codes])


def _read_occurring_cells(patterns: LabelsByRater) -> tuple[SomeRows, Codes, Codes]:
    k, (first_codes, second_codes) = len(patterns.scale.names), patterns.codes.T
    rows = np.flatnonzero((first_codes >= 0) & (second_codes >= 0))
    cells, cell_index = np.unique(first_codes[rows] * k + second_codes[rows], return_inverse=True)
    cell_rows = build_sparse_rows(
        rows, cell_index, np.ones(len(rows)), (len(first_codes), len(cells))
    )
    return cell_rows, *np.divmod(cells, k)


_of_two_raters = partial(
    register,
    question="inter-rater",
    needs="patterns",
    levels={"nominal", "ordinal"},
    convention=SHARED_ITEMS,
)


@_of_two_raters(
    "Bangdiwala's B",
    bounds=(0.0, 1.0),
    undefined=(
        NOT_TWO_RATERS,
        NO_PAIRABLE_ITEM,
        UndefinedCondition("the raters have no category in common", _raters_share_no_category),
    ),
    chance_corrected=False,
    source="Bangdiwala, S. I. (1985), 45th session of the International Statistical Institute; "
    "Muñoz, S. R. & Bangdiwala, S. I. (1997), doi:10.1080/02664769723918",
    passed_by_guessing=True,
)
def bangdiwala_b(patterns: LabelsByRater) -> Coefficient:
    r"""In an agreement chart, the share of the possible area that is agreement.

    .. math:: B = \frac{\sum_k A_{kk}^2}{\sum_k A_{k \cdot} A_{\cdot k}}

    :math:`A_{kl}` counts the items that the first rater puts in category k and the second in l. How
    often the raters use each category decides how much area is possible.

    Examples
    --------
    >>> round(float(bangdiwala_b(patterns).value), 4)
    0.5
    """
    joint = _count_joint_labels(patterns)
    b = ratio((joint.alike**2).sum(-1), (joint.first * joint.second).sum(-1))
    return Coefficient(b, observed=b)


@_of_two_raters(
    "Yule's Y",
    bounds=(-1.0, 1.0),
    undefined=(NOT_TWO_RATERS, NOT_TWO_CATEGORIES, NO_PAIRABLE_ITEM, CONSTANT_RATER),
    cannot_hold="it sees association and not agreement: it is 1 if one of the two ways to "
    "disagree does not occur. Use krippendorff_alpha",
    source="Yule, G. U. (1912), doi:10.2307/2340126",
)
def yule_y(patterns: LabelsByRater) -> Coefficient:
    r"""How far the labels of two raters go together, on two categories and whatever the prevalence.

    .. math:: Y = \frac{\sqrt{a d} - \sqrt{b c}}{\sqrt{a d} + \sqrt{b c}}

    The raters agree on a and d items, and disagree on b and c. Y is 1 when one of b and c is 0,
    even if the other is not. Independence gives 0.

    Examples
    --------
    >>> round(float(yule_y(patterns).value), 4)
    0.4202
    """
    table = contingency_tables(patterns)
    of_two = table if table.shape[-1] == 2 else np.full_like(table, np.nan)
    ad = np.sqrt(of_two[..., 0, 0] * of_two[..., 1, 1])
    bc = np.sqrt(of_two[..., 0, 1] * of_two[..., 1, 0])
    y = ratio(ad - bc, ad + bc)
    return Coefficient(y, observed=y)


ASSOCIATION = (
    "it sees dependence and not agreement: raters who always give opposite labels have 1. "
    "Use krippendorff_alpha"
)


@_of_two_raters(
    "Information agreement IA",
    bounds=(0.0, 1.0),
    undefined=(NOT_TWO_RATERS, NO_PAIRABLE_ITEM, CONSTANT_RATER),
    cannot_hold=ASSOCIATION,
    source="Casagrande, A., Fabris, F. & Girometti, R. (2020), doi:10.1007/s11517-020-02261-2",
)
def information_agreement(patterns: LabelsByRater) -> Coefficient:
    r"""The share of the less varied rater's information that the other rater's labels hold.

    .. math:: IA = \frac{I(X, Y)}{\min(H(X), H(Y))}, \qquad I(X, Y) = H(X) + H(Y) - H(X Y)

    H is the entropy of the raters' labels, alone or together, with :math:`0 \log 0 = 0`. IA is
    biased upward. For two independent raters of N items, the mutual information is about
    :math:`(K - 1)^2 / (2 N \ln 2)` bits if N is large beside :math:`K^2`, and else most of what is
    possible.

    Examples
    --------
    >>> round(float(information_agreement(patterns).value), 4)
    0.1282
    """
    mutual, smaller_entropy, _, _ = _entropies_and_information(patterns)
    return Coefficient(ratio(mutual, smaller_entropy), observed=mutual, greatest=smaller_entropy)


@_of_two_raters(
    "Information agreement IA_C, by continuity",
    bounds=(0.0, 1.0),
    undefined=(NOT_TWO_RATERS, NO_PAIRABLE_ITEM),
    chance_corrected=False,
    cannot_hold=ASSOCIATION,
    source="Casagrande, A., Fabris, F. & Girometti, R. (2020), "
    "Extending information agreement by continuity, doi:10.1109/BIBM49941.2020.9313173",
)
def information_agreement_c(patterns: LabelsByRater) -> Coefficient:
    r"""Information agreement; if a rater gives one single category, the value that it tends to.

    .. math:: IA_C = \lim_{\epsilon \to 0^+}
       \frac{I(X_\epsilon, Y_\epsilon)}{\min(H(X_\epsilon), H(Y_\epsilon))} =
       \begin{cases} 1 - m / K & H(X) = 0 \\ 1 - l / K & H(Y) = 0 \\ IA & \text{otherwise}
       \end{cases}

    :math:`\epsilon` stands in every empty cell of the raters' table, which has l columns and m rows
    that are not empty. K counts every category of the scale, used or not. Where a rater gives one
    single category, the value nears 1 on many categories, whatever the raters agree on.

    Examples
    --------
    >>> alike = LabelsByRater([[0, 0]], [9], scale=Scale(("a", "b", "c")), raters=("a", "b"))
    >>> round(float(information_agreement_c(alike).value), 4)
    0.6667
    """
    mutual, smaller_entropy, columns, rows = _entropies_and_information(patterns)
    k = len(patterns.scale.names)
    at_the_limit = np.where(columns == 1, 1 - rows / k, 1 - columns / k)
    ia_c = np.where((columns == 1) | (rows == 1), at_the_limit, ratio(mutual, smaller_entropy))
    return Coefficient(ia_c, observed=mutual, greatest=smaller_entropy)


def _entropies_and_information(patterns: LabelsByRater) -> tuple[Array, Array, Array, Array]:
    cells, p_y, p_x, _ = _count_joint_labels(patterns, shares=True)
    h_x, h_y, h_xy = _entropy(p_x), _entropy(p_y), _entropy(cells)
    mutual = np.maximum(h_x + h_y - h_xy, 0.0)
    return mutual, np.minimum(h_x, h_y), (p_x > 0).sum(-1), (p_y > 0).sum(-1)


def _entropy(p: Array) -> Array:
    return np.asarray(-(p * np.log2(np.where(p > 0, p, 1.0))).sum(-1))
