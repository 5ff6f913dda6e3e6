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
    given_by_rater,
    kappa_of_raters,
    rater_prevalence,
    ratio,
)
from agreement_pipeline.measures.conditions import (
    END_UNMET,
    NO_PAIRABLE_ITEM,
    NOT_TWO_RATERS,
    ONE_PAIRABLE_CATEGORY,
)
from agreement_pipeline.measures.registry import Condition, register
from agreement_pipeline.measures.weighting import IDENTITY, Weighting
from agreement_pipeline.ratings import Array, Codes, Flags
from agreement_pipeline.statistics import LabelsByRater, SomeRows, every_row, in_common

BLOCK_CELLS = 2_000_000
SUMS_OF_A_PAIR, MOST_SUMS_OF_PAIRS = 3, 120
"""What is summed of each pair beside the categories, and how many sums are remembered at most."""

MOST_CELLS = 40_000_000

EACH_HER_OWN = (
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
    convention=EACH_HER_OWN,
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
    return kappa_of_raters(patterns, weighting).where(patterns.n_raters == 2)


def _few(patterns: LabelsByRater) -> bool:
    pairs = patterns.n_raters * (patterns.n_raters - 1) // 2
    sums = pairs * (SUMS_OF_A_PAIR + len(patterns.scale.names))
    small = patterns.together is not None or sums * len(patterns.codes) <= MOST_CELLS
    return 0 < sums <= MOST_SUMS_OF_PAIRS and small


def _pair_of_one_category(patterns: LabelsByRater) -> bool:
    met, agreeing = _together(patterns)
    return bool(((met == agreeing.sum(0)) & ((agreeing > 0).sum(0) == 1)).any())


def _together(patterns: LabelsByRater) -> tuple[Array, Array]:
    pairs = np.triu_indices(patterns.n_raters, 1)
    seen = patterns.weights > 0
    codes, once = patterns.codes[seen], np.ones(int(seen.sum()))
    gave = (codes == k for k in range(len(patterns.scale.names)))
    met, *agreeing = (in_common(x, once)[pairs] for x in (codes >= 0, *gave))
    return met, np.array(agreeing)


@register(
    "Light's κ",
    question="inter-rater",
    needs="patterns",
    bounds=(-np.inf, 1.0),
    undefined=(
        NO_PAIRABLE_ITEM,
        Condition(
            "two of the raters have no item in common",
            lambda patterns: not (_together(patterns)[0] > 0).all(),
        ),
        Condition(
            "two of the raters gave the same category to all items that they share, "
            "so chance alone would give full agreement",
            _pair_of_one_category,
        ),
    ),
    levels={"nominal", "ordinal"},
    by_pair=True,
    sums_of_raters=_few,
    convention=f"pair by pair: {EACH_HER_OWN}; every pair must have a value",
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
    more = None if _few(patterns) else patterns.one_more
    if more is not None:
        total = _sums_with_one_more(patterns, *more)
    else:
        total = _sums_of_few(patterns) if _few(patterns) else _sums_of_all(patterns)
    kappa, p_o, p_e = ratio(total, pairs)
    return Coefficient(kappa, observed=p_o, expected=p_e)


def _sums_of_few(patterns: LabelsByRater) -> Array:
    v = rater_prevalence(given_by_rater(patterns))
    one, other = np.triu_indices(patterns.n_raters, 1)
    sums = patterns.sums(_of_pairs)
    sums = np.moveaxis(sums.reshape(*sums.shape[:-1], -1, len(one)), -2, 0)
    held, agreed, differed = sums[:SUMS_OF_A_PAIR]
    shared = (sums[SUMS_OF_A_PAIR:] > 0).sum(0)
    p_o, p_e = ratio(agreed, held), (v[..., one, :] * v[..., other, :]).sum(-1)
    kappa = np.where((differed > 0) | (shared >= 2), ratio(p_o - p_e, 1 - p_e), np.nan)
    return np.stack([each.sum(-1) for each in (kappa, p_o, p_e)])


def _of_pairs(patterns: LabelsByRater) -> SomeRows:
    """Shape (P, (3 + K) pairs): if both rated a row, agreed, differed, and agreed on category k."""
    one, other = np.triu_indices(patterns.n_raters, 1)
    a, b = patterns.codes[:, one], patterns.codes[:, other]
    both, same = (a >= 0) & (b >= 0), (a >= 0) & (a == b)
    shared = [same & (a == k) for k in range(len(patterns.scale.names))]
    return every_row(np.hstack([both, same, both & ~same, *shared]).astype(float))


def _sums_of_all(patterns: LabelsByRater) -> Array:
    v = np.moveaxis(rater_prevalence(given_by_rater(patterns)), -1, 0)
    always = np.asarray((patterns.weights > 0).reshape(-1, len(patterns.codes)).all(0))
    one, other = np.triu_indices(patterns.n_raters, 1)
    total = np.zeros((3, *patterns.weights.shape[:-1]))
    size = max(1, BLOCK_CELLS // max(1, len(patterns.codes), v[..., 0].size))
    for start in range(0, len(one), size):
        block = slice(start, start + size)
        total += _sums_over_pairs(patterns, one[block], other[block], always, v)
    return total


def _sums_over_pairs(
    patterns: LabelsByRater, one: Codes, other: Codes, always: Flags, v: Array
) -> Array:
    def weight_of(rows: Flags) -> Array:
        return patterns.sums_of(every_row(rows.astype(float)))

    def seen(rows: Flags) -> Flags:
        surely = rows[always].any(0)
        return np.asarray(surely if surely.all() else weight_of(rows) > 0)

    columns = patterns.kept(_columns)
    a, b = columns[one].T, columns[other].T
    both = (a >= 0) & (b >= 0)
    agreed = (a == b) & both
    held = patterns.weights.sum(-1)[..., None] if both.all() else weight_of(both)
    p_o = ratio(weight_of(agreed), held)
    p_e = sum(np.take(share, one, -1) * np.take(share, other, -1) for share in v)
    differ = seen(both & ~agreed)
    kappa = ratio(p_o - p_e, 1 - p_e)
    if not differ.all():
        agreed_on = (seen((a == k) & (b == k)) for k in range(len(patterns.scale.names)))
        two_agreed_on = np.asarray(sum(each.astype(int) for each in agreed_on) >= 2)
        kappa = np.where(differ | two_agreed_on, kappa, np.nan)
    return np.stack([each.sum(-1) for each in (kappa, p_o, p_e)])


def _columns(patterns: LabelsByRater) -> Codes:
    """A rater after the other in memory, in the smallest numbers that hold the codes."""
    least = np.min_scalar_type(-len(patterns.scale.names))
    return np.ascontiguousarray(patterns.codes.T, dtype=least)


def _sums_with_one_more(patterns: LabelsByRater, more: Codes, mass: float) -> Array:
    """What a pair adds depends on its two labels in the one more row of each resample, and is
    computed once for each two.
    """
    rows = patterns.codes[more]
    table = _Table.of(patterns, np.setdiff1d(np.arange(len(patterns.codes)), more))
    total = np.zeros((3, len(rows)))
    for x, y in product(np.unique(rows), repeat=2):
        first, second = (rows == x).astype(float), (rows == y).astype(float)
        for place, part in enumerate(table.with_labels(x, y, mass)):
            each = np.triu(part, 1)
            known = ~np.isnan(each)
            total[place] += ((first @ np.where(known, each, 0.0)) * second).sum(-1)
            total[place][((first @ ~known) * second).any(-1)] = np.nan
    return total


class _Table(NamedTuple):
    """How rows with the same weight in all resamples pair the raters; `shared` is (K, R, R),
    weights (R, R).
    """

    met: Array
    agreed: Array
    differed: Flags
    shared: Flags
    given: Array

    @classmethod
    def of(cls, patterns: LabelsByRater, places: Codes) -> "_Table":
        weights = patterns.weights[0, places]
        gave = np.moveaxis(patterns.indicators[places[weights > 0]], -1, 0)
        weights = weights[weights > 0][:, None]
        rated = gave.sum(0)
        met, times = rated.T @ (weights * rated), np.array([x.T @ x for x in gave])
        return cls(
            met,
            np.sum([x.T @ (weights * x) for x in gave], axis=0),
            rated.T @ rated > times.sum(0),
            times > 0,
            (weights * gave).sum(1).T,
        )

    def with_labels(self, x: int, y: int, mass: float) -> tuple[Array, Array, Array]:
        both = x >= 0 and y >= 0
        p_o = ratio(self.agreed + mass * (both and x == y), self.met + mass * both)
        p_e = self._prevalence(x, mass) @ self._prevalence(y, mass).T
        shared = self.shared | (np.arange(len(self.shared)) == (x if x == y else -1))[:, None, None]
        varied = self.differed | (both and x != y) | (shared.sum(0) >= 2)
        return np.where(varied, ratio(p_o - p_e, 1 - p_e), np.nan), p_o, p_e

    def _prevalence(self, label: int, mass: float) -> Array:
        return rater_prevalence(self.given + mass * (np.arange(self.given.shape[1]) == label))
