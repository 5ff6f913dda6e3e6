"""Agreement category by category: report the lowest.

One number for all categories can hide a category that nobody agrees on. The rate of agreement and
specific agreement need no model of chance.
"""

from collections.abc import Callable
from functools import cache, partial

import numpy as np

from agreement_pipeline.measures.coefficient import (
    Coefficient,
    coefficient_from_agreement,
    ratio,
)
from agreement_pipeline.measures.conditions import NO_PAIRABLE_ITEM, ONE_PAIRABLE_CATEGORY
from agreement_pipeline.measures.registry import register
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import CategoryCounts, SomeRows

MIN_SHARE = 1e-9
"""Smaller shares are no item, but the rounding of sums."""
ItemTerm = Callable[[Array, Array], Array]
"""What an item says of a category that c of its m ratings give; 0 if none does."""


def _sum_by_category(counts: CategoryCounts, item_term: ItemTerm) -> Array:
    """Sums over the items (..., K), or of the only category asked for."""
    return np.concatenate(
        [
            counts.sums(_item_term_reader(item_term, category))
            for category in counts.places_to_compute
        ],
        axis=-1,
    )


def _put_at_place_on_scale(counts: CategoryCounts, coefficient: Coefficient) -> Coefficient:
    if counts.one is None:
        return coefficient
    value = np.full((*coefficient.value.shape[:-1], len(counts.scale.names)), np.nan)
    value[..., counts.one.place] = coefficient.value[..., 0]
    return coefficient._replace(value=value)


@cache
def _item_term_reader(item_term: ItemTerm, category: int) -> Callable[[CategoryCounts], SomeRows]:
    def read_rows(counts: CategoryCounts) -> SomeRows:
        c = counts.counts_of_category(category)
        rows = np.flatnonzero(c)
        return SomeRows(rows, item_term(c[rows], counts.sizes[rows])[:, None])

    return read_rows


def _item_totals(counts: CategoryCounts) -> SomeRows:
    """Of each item: if it is rated, if it has a pair of ratings, and its ratings if so (P, 3)."""
    m = counts.sizes
    return SomeRows(np.arange(len(m)), np.column_stack([m > 0, m >= 2, np.where(m >= 2, m, 0)]))


def _paired_ratings(c: Array, m: Array) -> Array:
    return np.where(m >= 2, c, 0.0)


_by_category = partial(
    register,
    question="inter-rater",
    needs="counts",
    levels={"nominal", "ordinal"},
    per_category=True,
    exchangeable=True,
)


def _agreeing_pairs(c: Array, m: Array) -> Array:
    return np.asarray(c * (c - 1) / 2)


def _pairs_with_category(c: Array, m: Array) -> Array:
    return np.asarray(c * m - c * (c + 1) / 2)


@_by_category(
    "Rate of agreement by category",
    bounds=(0.0, 1.0),
    undefined=(NO_PAIRABLE_ITEM,),
    chance_corrected=False,
    convention="pairs of ratings are pooled over items",
    source="Siegel, P. (2018). Annotator agreement in machine learning experiments",
)
def category_agreement(counts: CategoryCounts) -> Coefficient:
    r"""Of the pairs in which at least one rater gives a category, the share in which both do.

    .. math:: R_j = \frac{A_j}{P_j}, \qquad A_j = \sum_k \binom{c_{jk}}{2}, \qquad
       P_j = \sum_k c_{jk} c_k - \binom{c_{jk} + 1}{2}

    :math:`c_{jk}` of the :math:`c_k` ratings of item k are of category j. It is Jaccard's index. On
    few items the lowest value is biased low; `alpha_by_category` says how much.

    Examples
    --------
    >>> category_agreement(counts).value.round(4).tolist()
    [0.7778, 0.75]
    """
    rate = ratio(
        _sum_by_category(counts, _agreeing_pairs), _sum_by_category(counts, _pairs_with_category)
    )
    return _put_at_place_on_scale(counts, Coefficient(rate, observed=rate))


def _agreeing_ordered_pairs(c: Array, m: Array) -> Array:
    return np.asarray(c * np.maximum(c - 1, 0))


def _ordered_pairs(c: Array, m: Array) -> Array:
    return np.asarray(c * np.maximum(m - 1, 0))


@_by_category(
    "Specific agreement",
    bounds=(0.0, 1.0),
    undefined=(NO_PAIRABLE_ITEM,),
    chance_corrected=False,
    convention="pairs of ratings are pooled over items",
    source="Uebersax, J. S. (1982). Journal of Psychiatric Research 17(4), 335-342; "
    "for two raters Dice, L. R. (1945), doi:10.2307/1932409",
)
def specific_agreement(counts: CategoryCounts) -> Coefficient:
    r"""If one rater names a category, how often another rater of the item names it too.

    .. math:: p_s(j) = \frac{\sum_k c_{jk} (c_{jk} - 1)}{\sum_k c_{jk} (c_k - 1)}

    For two raters it is Dice's ratio, the F1 score of either rater against the other.

    Examples
    --------
    >>> specific_agreement(counts).value.round(4).tolist()
    [0.875, 0.8571]
    """
    share = ratio(
        _sum_by_category(counts, _agreeing_ordered_pairs), _sum_by_category(counts, _ordered_pairs)
    )
    return _put_at_place_on_scale(counts, Coefficient(share, observed=share))


def _unlike_pairs(c: Array, m: Array) -> Array:
    return np.asarray(_paired_ratings(c, m) * (m - c) / np.maximum(m - 1, 1))


@_by_category(
    "Krippendorff's α by category",
    withstands_chosen=True,
    bounds=(-1.0, 1.0),
    undefined=(NO_PAIRABLE_ITEM, ONE_PAIRABLE_CATEGORY),
    convention="items with one rating are left out; "
    "every other item counts with its number of ratings",
    source="Krippendorff, K. (2018). Content Analysis (4th ed.), ch. 12",
)
def alpha_by_category(counts: CategoryCounts) -> Coefficient:
    r"""Agreement beyond chance on one category against the rest, category by category.

    .. math:: \alpha_c = 1 - \frac{D_o}{D_e}, \qquad
       D_o = \frac{2}{n} \sum_u \frac{n_{uc} (m_u - n_{uc})}{m_u - 1}, \qquad
       D_e = \frac{2 n_c (n - n_c)}{n (n - 1)}

    This is Krippendorff's nominal alpha after all other categories are merged into one. The lowest
    of several values is biased low. Take two raters with a true value of 0.80 in each of five
    equally common categories: the bias is about 0.18 on 30 items and 0.09 on 100. So its upper
    limit is no upper limit of the lowest true value.

    Examples
    --------
    >>> alpha_by_category(counts).value.round(4).tolist()
    [0.7411, 0.7411]
    """
    n_c = _sum_by_category(counts, _paired_ratings)
    n = counts.sums(_item_totals)[..., 2:]
    d_o = ratio(2 * _sum_by_category(counts, _unlike_pairs), n)
    d_e = ratio(2 * n_c * (n - n_c), n * (n - 1))
    return _put_at_place_on_scale(
        counts, Coefficient(1 - ratio(d_o, d_e), observed=d_o, expected=d_e)
    )


def _unlike_pair_share(c: Array, m: Array) -> Array:
    return np.asarray(_paired_ratings(c, m) * (m - c) / np.maximum(m * (m - 1), 1))


def _category_share(c: Array, m: Array) -> Array:
    return np.asarray(c / np.maximum(m, 1))


@_by_category(
    "Fleiss' κ by category",
    bounds=(-np.inf, 1.0),
    undefined=(NO_PAIRABLE_ITEM, ONE_PAIRABLE_CATEGORY),
    convention="observed agreement over items with two ratings or more; "
    "prevalence over every rated item (Gwet)",
    source="Fleiss, J. L. (1971), doi:10.1037/h0031619",
)
def kappa_by_category(counts: CategoryCounts) -> Coefficient:
    r"""Fleiss' kappa on one category against the rest, category by category.

    .. math:: \kappa_j = \frac{p_o - p_e}{1 - p_e}, \qquad
       p_o = 1 - \frac{2}{N} \sum_i \frac{n_{ij} (n_i - n_{ij})}{n_i (n_i - 1)}, \qquad
       p_e = 1 - 2 \pi_j (1 - \pi_j)

    :math:`n_{ij}` of the :math:`n_i` ratings of item i are in category j, and :math:`\pi_j` is the
    mean share of that category.

    Examples
    --------
    >>> kappa_by_category(counts).value.round(4).tolist()
    [0.7321, 0.7321]
    """
    n_c = _sum_by_category(counts, _paired_ratings)
    rated, pairs, n = np.split(counts.sums(_item_totals), 3, axis=-1)
    pi, varied = (
        ratio(_sum_by_category(counts, _category_share), rated),
        (n_c > 0) & (n - n_c > MIN_SHARE * n),
    )
    p_o = 1 - 2 * ratio(_sum_by_category(counts, _unlike_pair_share), pairs)
    p_e = 1 - 2 * pi * (1 - pi)
    return _put_at_place_on_scale(counts, coefficient_from_agreement(p_o, p_e).nan_unless(varied))
