"""Cohen's kappa of two raters, and its mean over the pairs of a panel.

If raters labelled independently of the item, their habits alone would make them agree on some
items. Kappa asks how much of the rest they reach. It falls where one category is rare, because
chance then explains nearly everything.
"""

from itertools import product
from typing import NamedTuple

import numpy as np

from agreement_pipeline.measures.coefficient import (
    Coefficient,
    kappa_of_raters,
    label_counts_by_rater,
    rater_prevalence,
    ratio,
)
from agreement_pipeline.measures.conditions import (
    END_UNMET,
    NO_PAIRABLE_ITEM,
    NOT_TWO_RATERS,
    ONE_PAIRABLE_CATEGORY,
)
from agreement_pipeline.measures.registry import UndefinedCondition, register
from agreement_pipeline.measures.weighting import IDENTITY, Weighting
from agreement_pipeline.ratings import Array, Codes, Flags
from agreement_pipeline.statistics import (
    LabelsByRater,
    SomeRows,
    n_items_in_common,
    rows_from_array,
)

CELLS_PER_BLOCK = 2_000_000
SUMS_PER_PAIR = 3
"""What is summed of each pair beside the categories."""
MAX_REMEMBERED_SUMS = 120
MAX_REMEMBERED_CELLS = 40_000_000
"""Sums times rows, unless equal rows are counted together."""

GWET_PAIR_CONVENTION = (
    "observed agreement over the items that both rated; "
    "each rater's prevalence over the items that this rater rated (Gwet)"
)


@register(
    "Cohen's κ",
    question="inter-rater",
    needs="patterns",
    bounds=(-np.inf, 1.0),
    undefined=(NOT_TWO_RATERS, NO_PAIRABLE_ITEM, ONE_PAIRABLE_CATEGORY, END_UNMET),
    family="cohen_kappa",
    convention=GWET_PAIR_CONVENTION,
    source="Cohen, J. (1960), doi:10.1177/001316446002000104; "
    "weighted: Cohen, J. (1968), doi:10.1037/h0026256",
)
def cohen_kappa(patterns: LabelsByRater, weighting: Weighting = IDENTITY) -> Coefficient:
    r"""Agreement of two raters beyond chance, given each rater's own use of the categories.

    .. math:: \kappa = \frac{p_o - p_e}{1 - p_e}, \qquad p_e = \sum_{k,l} w_{kl} \, p_{1k} \, p_{2l}

    :math:`p_o` is the share of items on which they agree, :math:`p_{rk}` the share of category k in
    the ratings of rater r, and :math:`w_{kl}` how much categories k and l agree. Kappa is biased
    low on few items if one category is common, by about 0.04 on 30 items where both give that
    category nine times in ten.

    Examples
    --------
    >>> round(float(cohen_kappa(patterns).value), 4)
    0.4
    """
    return kappa_of_raters(patterns, weighting).nan_unless(patterns.n_raters == 2)


def _can_remember_sums(patterns: LabelsByRater) -> bool:
    """True if the sums of all pairs are few enough to be kept for the next resamples."""
    pairs = patterns.n_raters * (patterns.n_raters - 1) // 2
    n_sums = pairs * (SUMS_PER_PAIR + len(patterns.scale.names))
    is_small = patterns.together is not None or n_sums * len(patterns.codes) <= MAX_REMEMBERED_CELLS
    return 0 < n_sums <= MAX_REMEMBERED_SUMS and is_small


def _has_pair_of_one_category(patterns: LabelsByRater) -> bool:
    n_shared, agreeing = _count_shared_and_agreeing(patterns)
    return bool(((n_shared == agreeing.sum(0)) & ((agreeing > 0).sum(0) == 1)).any())


def _count_shared_and_agreeing(patterns: LabelsByRater) -> tuple[Array, Array]:
    """Of each pair of raters: the rows that both rated (pairs,), and agreed on (K, pairs)."""
    pairs = np.triu_indices(patterns.n_raters, 1)
    has_weight = patterns.weights > 0
    codes, unit_weights = patterns.codes[has_weight], np.ones(int(has_weight.sum()))
    label_flags = (codes == k for k in range(len(patterns.scale.names)))
    n_shared, *agreeing = (
        n_items_in_common(x, unit_weights)[pairs] for x in (codes >= 0, *label_flags)
    )
    return n_shared, np.array(agreeing)


@register(
    "Light's κ",
    question="inter-rater",
    needs="patterns",
    bounds=(-np.inf, 1.0),
    undefined=(
        NO_PAIRABLE_ITEM,
        UndefinedCondition(
            "two of the raters have no item in common",
            lambda patterns: not (_count_shared_and_agreeing(patterns)[0] > 0).all(),
        ),
        UndefinedCondition(
            "two of the raters gave the same category to all items that they share, "
            "so chance alone would give full agreement",
            _has_pair_of_one_category,
        ),
    ),
    levels={"nominal", "ordinal"},
    by_pair=True,
    sums_of_raters=_can_remember_sums,
    convention=f"pair by pair: {GWET_PAIR_CONVENTION}; every pair must have a value",
    source="Light, R. J. (1971), doi:10.1037/h0031643",
)
def light_kappa(patterns: LabelsByRater) -> Coefficient:
    r"""The mean of Cohen's kappa over the pairs of raters.

    .. math:: \kappa_L = \binom{R}{2}^{-1} \sum_{a < b} \kappa_{ab}

    Examples
    --------
    >>> codes, scale = [[0, 0, 0], [0, 0, 1], [1, 1, 1]], Scale(("no", "yes"))
    >>> patterns = LabelsByRater(codes, [4, 2, 4], scale=scale, raters=("a", "b", "c"))
    >>> round(float(light_kappa(patterns).value), 4)
    0.7436
    """
    pairs = patterns.n_raters * (patterns.n_raters - 1) // 2
    extra_rows_and_mass = None if _can_remember_sums(patterns) else patterns.extra_row
    if extra_rows_and_mass is not None:
        total = _sums_with_extra_row(patterns, *extra_rows_and_mass)
    else:
        total = (
            _sums_of_remembered_pairs(patterns)
            if _can_remember_sums(patterns)
            else _sums_in_blocks(patterns)
        )
    kappa, p_o, p_e = ratio(total, pairs)
    return Coefficient(kappa, observed=p_o, expected=p_e)


def _sums_of_remembered_pairs(patterns: LabelsByRater) -> Array:
    v = rater_prevalence(label_counts_by_rater(patterns))
    first_raters, second_raters = np.triu_indices(patterns.n_raters, 1)
    sums = patterns.sums(_pair_indicators)
    sums = np.moveaxis(sums.reshape(*sums.shape[:-1], -1, len(first_raters)), -2, 0)
    n_shared, agreed, differed = sums[:SUMS_PER_PAIR]
    shared = (sums[SUMS_PER_PAIR:] > 0).sum(0)
    p_o, p_e = (
        ratio(agreed, n_shared),
        (v[..., first_raters, :] * v[..., second_raters, :]).sum(-1),
    )
    kappa = np.where((differed > 0) | (shared >= 2), ratio(p_o - p_e, 1 - p_e), np.nan)
    return np.stack([part.sum(-1) for part in (kappa, p_o, p_e)])


def _pair_indicators(patterns: LabelsByRater) -> SomeRows:
    """Shape (P, (3 + K) pairs): if both rated a row, agreed, differed, and agreed on category k."""
    first_raters, second_raters = np.triu_indices(patterns.n_raters, 1)
    a, b = patterns.codes[:, first_raters], patterns.codes[:, second_raters]
    both_rated, agreed = (a >= 0) & (b >= 0), (a >= 0) & (a == b)
    shared = [agreed & (a == k) for k in range(len(patterns.scale.names))]
    return rows_from_array(
        np.hstack([both_rated, agreed, both_rated & ~agreed, *shared]).astype(float)
    )


def _sums_in_blocks(patterns: LabelsByRater) -> Array:
    v = np.moveaxis(rater_prevalence(label_counts_by_rater(patterns)), -1, 0)
    always_weighted = np.asarray((patterns.weights > 0).reshape(-1, len(patterns.codes)).all(0))
    first_raters, second_raters = np.triu_indices(patterns.n_raters, 1)
    total = np.zeros((3, *patterns.weights.shape[:-1]))
    size = max(1, CELLS_PER_BLOCK // max(1, len(patterns.codes), v[..., 0].size))
    for start in range(0, len(first_raters), size):
        block = slice(start, start + size)
        total += _sums_of_pairs(
            patterns, first_raters[block], second_raters[block], always_weighted, v
        )
    return total


def _sums_of_pairs(
    patterns: LabelsByRater,
    first_raters: Codes,
    second_raters: Codes,
    always_weighted: Flags,
    v: Array,
) -> Array:
    def weight_of(rows: Flags) -> Array:
        return patterns.weighted_sums_of_rows(rows_from_array(rows.astype(float)))

    def occurs(rows: Flags) -> Flags:
        occurs_always = rows[always_weighted].any(0)
        return np.asarray(occurs_always if occurs_always.all() else weight_of(rows) > 0)

    columns = patterns.read_once(_rater_columns)
    a, b = columns[first_raters].T, columns[second_raters].T
    both_rated = (a >= 0) & (b >= 0)
    agreed = (a == b) & both_rated
    n_shared = patterns.weights.sum(-1)[..., None] if both_rated.all() else weight_of(both_rated)
    p_o = ratio(weight_of(agreed), n_shared)
    p_e = sum(np.take(share, first_raters, -1) * np.take(share, second_raters, -1) for share in v)
    differ = occurs(both_rated & ~agreed)
    kappa = ratio(p_o - p_e, 1 - p_e)
    if not differ.all():
        agreed_on = (occurs((a == k) & (b == k)) for k in range(len(patterns.scale.names)))
        two_agreed_on = np.asarray(sum(part.astype(int) for part in agreed_on) >= 2)
        kappa = np.where(differ | two_agreed_on, kappa, np.nan)
    return np.stack([part.sum(-1) for part in (kappa, p_o, p_e)])


def _rater_columns(patterns: LabelsByRater) -> Codes:
    """A rater after the other in memory, in the smallest numbers that hold the codes."""
    smallest_dtype = np.min_scalar_type(-len(patterns.scale.names))
    return np.ascontiguousarray(patterns.codes.T, dtype=smallest_dtype)


def _sums_with_extra_row(patterns: LabelsByRater, extra_rows: Codes, mass: float) -> Array:
    """What a pair adds depends on its two labels in the one more row of each resample, and is
    computed once for each two.
    """
    rows = patterns.codes[extra_rows]
    table = _PairTable.from_rows(patterns, np.setdiff1d(np.arange(len(patterns.codes)), extra_rows))
    total = np.zeros((3, len(rows)))
    for x, y in product(np.unique(rows), repeat=2):
        has_x, has_y = (rows == x).astype(float), (rows == y).astype(float)
        for place, part in enumerate(table.with_labels(x, y, mass)):
            upper_triangle = np.triu(part, 1)
            is_defined = ~np.isnan(upper_triangle)
            total[place] += ((has_x @ np.where(is_defined, upper_triangle, 0.0)) * has_y).sum(-1)
            total[place][((has_x @ ~is_defined) * has_y).any(-1)] = np.nan
    return total


class _PairTable(NamedTuple):
    """How rows with the same weight in all resamples pair the raters; `shared` is (K, R, R),
    weights (R, R).
    """

    n_shared: Array
    agreed: Array
    differed: Flags
    shared: Flags
    label_counts: Array

    @classmethod
    def from_rows(cls, patterns: LabelsByRater, rows: Codes) -> "_PairTable":
        weights = patterns.weights[0, rows]
        label_flags = np.moveaxis(patterns.indicators[rows[weights > 0]], -1, 0)
        weights = weights[weights > 0][:, None]
        rated = label_flags.sum(0)
        n_shared, times = rated.T @ (weights * rated), np.array([x.T @ x for x in label_flags])
        return cls(
            n_shared,
            np.sum([x.T @ (weights * x) for x in label_flags], axis=0),
            rated.T @ rated > times.sum(0),
            times > 0,
            (weights * label_flags).sum(1).T,
        )

    def with_labels(self, x: int, y: int, mass: float) -> tuple[Array, Array, Array]:
        both_rated = x >= 0 and y >= 0
        p_o = ratio(self.agreed + mass * (both_rated and x == y), self.n_shared + mass * both_rated)
        p_e = self._prevalence(x, mass) @ self._prevalence(y, mass).T
        shared = self.shared | (np.arange(len(self.shared)) == (x if x == y else -1))[:, None, None]
        varied = self.differed | (both_rated and x != y) | (shared.sum(0) >= 2)
        return np.where(varied, ratio(p_o - p_e, 1 - p_e), np.nan), p_o, p_e

    def _prevalence(self, label: int, mass: float) -> Array:
        return rater_prevalence(
            self.label_counts + mass * (np.arange(self.label_counts.shape[1]) == label)
        )
