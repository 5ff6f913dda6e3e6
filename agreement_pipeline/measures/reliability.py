"""Agreement between raters, less the guessing that their replicates or their confidence show.

Two raters may agree because both guessed and were lucky. A rater's labels of items they met again
are a mixture of decided answers and guesses, which are random labels by the panel's use of the
categories. Of every agreement, only the part in which both decided is kept. `observed` is the
agreement before the discount.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from agreement_pipeline.measures.coefficient import Coefficient, ratio
from agreement_pipeline.measures.conditions import NO_REPLICATES, ONE_CATEGORY
from agreement_pipeline.measures.intra import CAMPAGNER_CABITZA
from agreement_pipeline.measures.registry import UndefinedCondition, UsedRows, register
from agreement_pipeline.ratings import Array, Flags
from agreement_pipeline.statistics import LabelsByRater, ReplicatedLabels

MAX_NEWTON_STEPS = 200
LARGEST_SHARE = np.nextafter(1.0, 0.0)


def random_choice_share(d: Array, p: Array) -> Array:
    """The share of random choice in labels of shares `d` (C, K), at the greatest entropy; (..., C).

    `p` holds the probabilities of a random choice (..., K). The share is 0 where a category of `p`
    does not occur in `d`.
    """
    rows, place = np.unique(d, axis=0, return_inverse=True)
    p = p[..., None, :]
    shares = np.divide(
        rows, p, out=np.full(np.broadcast_shapes(rows.shape, p.shape), np.inf), where=p > 0
    )
    largest_share = shares.min(-1)
    is_inner = (largest_share > 0) & np.isfinite(largest_share)
    x = np.zeros(largest_share.shape)
    x[is_inner] = largest_share[is_inner] * _solve_for_choice_share(
        shares[is_inner] / largest_share[is_inner][:, None],
        np.broadcast_to(p, shares.shape)[is_inner],
    )
    return x[..., place.ravel()]


def _solve_for_choice_share(c: Array, p: Array) -> Array:
    """The s in (0, 1) at which ln s = Σ p ln p + Σ p ln(c - s), by Newton's method in a bracket."""
    c = np.where(p > 0, c, 2.0)
    entropy = -(p * np.log(np.where(p > 0, p, 1.0))).sum(-1)
    low, high, s = np.zeros(len(c)), np.ones(len(c)), np.full(len(c), 0.5)
    for _ in range(MAX_NEWTON_STEPS):
        gap = c - s[:, None]
        f = np.log(s) + entropy - (p * np.log(gap)).sum(-1)
        low, high = np.where(f < 0, s, low), np.where(f < 0, high, s)
        newton = s - f / (1 / s + (p / gap).sum(-1))
        is_in_bracket = (newton > low) & (newton < high)
        previous, s = (
            s,
            np.minimum(np.where(is_in_bracket, newton, (low + high) / 2), LARGEST_SHARE),
        )
        if np.abs(s - previous).max(initial=0.0) < 1e-15:
            break
    return s


CONVENTION = (
    "over the items that two raters with replicates rated; pairs with a rater without replicates "
    "are left out; a rater's guessing on the items they met again stands for all their items"
)


class _Guessing(NamedTuple):
    """How each rater arrives at a label: by a random guess after `p`, or by a decision.

    `x` is the share of random choice (..., R), nan if it is not known. `y` is that of decided
    choice (..., R, K). `p` is the panel's use of the categories (..., K), nan below two.
    """

    x: Array
    y: Array
    p: Array


def _is_paired(replicates: ReplicatedLabels) -> Flags:
    has_known_guessing = np.isfinite(_estimate_guessing(replicates).x).astype(float)
    return np.asarray(_paired_weights(replicates, has_known_guessing) > 0)


def _paired_items_by_rater(replicates: ReplicatedLabels, rows: Flags) -> Array:
    """How many of these items each rater rated; 0 where the rater's replicates do not show
    guessing.
    """
    raters = np.unique(replicates.rater)
    has_known_guessing = np.isfinite(_estimate_guessing(replicates).x[raters])
    return np.asarray(
        has_known_guessing
        * (replicates.weights[rows] @ (replicates.first.codes[np.ix_(rows, raters)] >= 0))
    )


def _shows_guessing(replicates: ReplicatedLabels) -> Flags:
    has_enough_repetitions = replicates.sizes >= (replicates.first.used > 0).sum(-1)
    return np.isin(np.arange(len(replicates.first.codes)), replicates.item[has_enough_repetitions])


def _raters_without_guessing_share(replicates: ReplicatedLabels) -> tuple[str, ...]:
    has_known_guessing = np.isfinite(_estimate_guessing(replicates).x)
    return tuple(
        name
        for name in replicates.round_raters
        if not has_known_guessing[replicates.raters.index(name)]
    )


FEWER_THAN_TWO_CATEGORIES = UndefinedCondition(
    "the first ratings use fewer than two categories, so guessing cannot be told from knowing",
    lambda replicates: ONE_CATEGORY.holds(replicates.first),
)
TOO_FEW_REPETITIONS = UndefinedCondition(
    "every rater met their repeated items fewer times than there are categories in use, which is "
    "too few to show guessing",
    lambda replicates: not np.isfinite(_estimate_guessing(replicates).x).any(),
)
NO_PAIRED_ITEM = UndefinedCondition(
    "no item was rated by two raters with replicates",
    lambda replicates: not _is_paired(replicates).any(),
)
UNKNOWN_GUESSING_OF_CATEGORY = UndefinedCondition(
    "raters agree on a category that one of them never gave to an item they met again, so how "
    "often that rater guesses it is not known",
    lambda replicates: bool(_has_unknown_guessing(replicates, _genuine_shares(replicates))),
)
PAIRED_ITEMS = UsedRows(
    _is_paired,
    "fewer than two ratings of raters whose replicates show guessing",
    lambda replicates: replicates.first.n_items,
    by_rater=_paired_items_by_rater,
    also=_shows_guessing,
)


_less_guessing = partial(
    register,
    question="inter-rater",
    needs="replicates",
    bounds=(0.0, 1.0),
    levels={"nominal", "ordinal"},
    chance_corrected=False,
    raters_left_out=_raters_without_guessing_share,
    rests_on=PAIRED_ITEMS,
    convention=CONVENTION,
    passed_by_guessing=True,
)


@_less_guessing(
    "Campagner and Cabitza's ρ",
    undefined=(
        NO_REPLICATES,
        FEWER_THAN_TWO_CATEGORIES,
        TOO_FEW_REPETITIONS,
        NO_PAIRED_ITEM,
        UNKNOWN_GUESSING_OF_CATEGORY,
    ),
    source=CAMPAGNER_CABITZA + ", equations 1 to 5",
)
def campagner_cabitza_rho(replicates: ReplicatedLabels) -> Coefficient:
    r"""Agreement between raters less the guessing that each rater's replicates show.

    .. math:: \rho = \frac{1}{|U|} \sum_u \frac{1}{\binom{r}{2}} \sum_{i < j} \delta(c_i, c_j)\,
       g_i(c_i)\, g_j(c_j), \qquad
       g_i(c) = \frac{y^i_c}{y^i_c + p_c x^i}

    With probability x a rater chooses at random, by the panel's own shares p, and with probability
    :math:`y_k` the rater decides on category k. Then :math:`d_k = x p_k + y_k` are the shares of
    the rater's labels of one item. Of the possible x, the one with the greatest entropy is the root
    of :math:`x = \prod_k (d_k - x p_k)^{p_k}`. It is 0 where the rater never gave a category in
    use. Items met fewer times than there are categories are left out. The x and y of a rater are
    means over items.

    If every rater agrees with all their own earlier labels, ρ is the percent agreement. Raters who
    only guess do not get 0: with two balanced categories they get ρ = 2/9. So the ρ of 0.46 from an
    observed agreement of 0.82 that the source reports cannot come from its equation 1. Use
    `campagner_cabitza_rho_robust` unless the replicates hold every category many times.

    Examples
    --------
    >>> round(float(campagner_cabitza_rho(replicates).value), 4)
    0.6969
    """
    return _agreement_less_guessing(replicates, _genuine_shares(replicates))


@_less_guessing(
    "Campagner and Cabitza's ρ, robust form",
    undefined=(NO_REPLICATES, FEWER_THAN_TWO_CATEGORIES, TOO_FEW_REPETITIONS, NO_PAIRED_ITEM),
    source=CAMPAGNER_CABITZA + ", section 2, last paragraph",
)
def campagner_cabitza_rho_robust(replicates: ReplicatedLabels) -> Coefficient:
    r"""Agreement between raters less guessing, with one share of guessing for all categories.

    .. math:: g_i(c) = \frac{Y^i}{Y^i + p_c x^i}, \qquad Y^i = \sum_k y^i_k = 1 - x^i

    These factors replace those of `campagner_cabitza_rho`. Only how often the rater decides counts.
    The source recommends this form where replicates are few. It is never less than the exact form.

    Examples
    --------
    >>> round(float(campagner_cabitza_rho_robust(replicates).value), 4)
    0.7458
    """
    return _agreement_less_guessing(replicates, _genuine_shares(replicates, robust=True))


def _agreement_less_guessing(replicates: ReplicatedLabels, g: Array) -> Coefficient:
    has_known_guessing = np.isfinite(g).any(-1).astype(float)
    weights = _paired_weights(replicates, has_known_guessing)
    raters = has_known_guessing @ replicates.first.given.T
    pairs = np.maximum(raters * (raters - 1), 1)
    genuine = _sum_of_agreements(replicates, np.nan_to_num(g)) / pairs
    agreeing = (
        _sum_of_agreements(replicates, np.broadcast_to(has_known_guessing[..., None], g.shape))
        / pairs
    )
    rho = ratio((weights * genuine).sum(-1), weights.sum(-1))
    observed = ratio((weights * agreeing).sum(-1), weights.sum(-1))
    return Coefficient(
        np.where(_has_unknown_guessing(replicates, g), np.nan, rho), observed=observed
    )


def _sum_of_agreements(replicates: ReplicatedLabels, g: Array) -> Array:
    label_flags = replicates.first.indicators
    with_herself = np.tensordot(g**2, label_flags, axes=((-2, -1), (1, 2)))
    return np.asarray(
        sum((g[..., k] @ label_flags[..., k].T) ** 2 for k in range(label_flags.shape[-1]))
        - with_herself
    )


def _paired_weights(replicates: ReplicatedLabels, has_known_guessing: Array) -> Array:
    replicating_raters = np.unique(replicates.rater)
    n_known_raters = (
        has_known_guessing[..., replicating_raters]
        @ replicates.first.given[:, replicating_raters].T
    )
    return np.where(n_known_raters >= 2, replicates.weights, 0.0)


def _has_unknown_guessing(replicates: ReplicatedLabels, g: Array) -> Array:
    has_known_guessing = np.isfinite(g).any(-1)
    label_flags = replicates.first.indicators
    lacking = [
        (has_known_guessing @ label_flags[..., k].T >= 2)
        & ((has_known_guessing & np.isnan(g[..., k])) @ label_flags[..., k].T >= 1)
        for k in range(label_flags.shape[-1])
    ]
    return np.asarray((np.any(lacking, axis=0) & (replicates.weights > 0)).any(-1))


def _genuine_shares(replicates: ReplicatedLabels, *, robust: bool = False) -> Array:
    x, y, p = _estimate_guessing(replicates)
    y = y.sum(-1, keepdims=True) if robust else y
    return ratio(y, y + p[..., None, :] * x[..., None])


def _estimate_guessing(replicates: ReplicatedLabels) -> _Guessing:
    used = replicates.first.used
    several = (used > 0).sum(-1, keepdims=True) >= 2
    p = ratio(np.where(several, used, np.nan), used.sum(-1, keepdims=True))
    d = replicates.counts / replicates.sizes[:, None]
    weights = np.where(replicates.sizes >= (p > 0).sum(-1)[..., None], replicates.cell_weights, 0.0)
    of_rater = (replicates.rater[:, None] == np.arange(len(replicates.raters))).astype(float)
    total = weights @ of_rater
    x = ratio((weights * random_choice_share(d, p)) @ of_rater, total)
    mean_d = ratio(
        np.tensordot(weights, of_rater[:, :, None] * d[:, None, :], axes=1), total[..., None]
    )
    return _Guessing(x, np.maximum(mean_d - x[..., None] * p[..., None, :], 0.0), p)


def _raters_without_confidence(ratings: LabelsByRater) -> tuple[str, ...]:
    silent = np.asarray(ratings.given.any(0) & ~ratings.rated.any(0))
    return tuple(
        sorted(name for name, left_out in zip(ratings.raters, silent, strict=True) if left_out)
    )


NO_PAIR_OF_STATED_CONFIDENCE = UndefinedCondition(
    "no item has two ratings with a stated confidence",
    lambda ratings: not (ratings.weights[ratings.rated.sum(1) >= 2] > 0).any(),
)


@register(
    "Campagner and Cabitza's ρ, from confidence",
    question="inter-rater",
    needs="confidence",
    bounds=(0.0, 1.0),
    undefined=(NO_PAIR_OF_STATED_CONFIDENCE,),
    levels={"nominal", "ordinal"},
    chance_corrected=False,
    exchangeable=True,
    raters_left_out=_raters_without_confidence,
    convention="over the items with two or more ratings of stated confidence; "
    "ratings without one count only for the use of the categories",
    source=CAMPAGNER_CABITZA + ", equations 4 and 5, and section 4 on confidence",
    passed_by_guessing=True,
)
def campagner_cabitza_rho_confidence(ratings: LabelsByRater) -> Coefficient:
    r"""Genuine agreement between raters, who tell by their confidence how much they guess.

    .. math:: \rho = \frac{1}{|U|} \sum_u \frac{1}{\binom{r}{2}} \sum_{i < j} \delta(c_i, c_j)\,
       g_i\, g_j, \qquad
       g_i = \frac{y_i}{y_i + p_{c_i} (1 - y_i)}

    :math:`y_i` is the confidence of rater i in their rating of item u, :math:`c_i` its category,
    and :math:`p` the panel's shares of the categories. The source did not find this highly
    correlated with raters' self-agreement (r = 0.22, p = 0.46). With every confidence 1, ρ is the
    percent agreement; with every confidence 0 it is 0.

    Examples
    --------
    >>> labels = LabelsByRater([[0, 0], [1, 1]], scale=Scale(("no", "yes")), raters=("a", "b"))
    >>> torn = labels.with_confidence([[0.5, 0.5], [0.5, 0.5]])
    >>> round(float(campagner_cabitza_rho_confidence(torn).value), 4)
    0.4444
    """
    pairs = _sum_of_products_over_pairs(ratings.rated.astype(float))
    weights = np.where(pairs > 0, ratings.weights, 0.0)
    of_pair = weights / np.maximum(pairs, 1)
    p = ratio(ratings.used, ratings.used.sum(-1, keepdims=True))
    genuine = agreeing = np.zeros(())
    for k in range(p.shape[-1]):
        gave = ratings.rated & (ratings.codes == k)
        rows = gave.sum(1) >= 2
        gave, y = gave[rows], np.nan_to_num(ratings.confidence_or_nan[rows])
        g = np.nan_to_num(ratio(y, y + p[..., k, None, None] * (1 - y)))
        genuine = genuine + (
            of_pair[..., rows] * _sum_of_products_over_pairs(np.where(gave, g, 0.0))
        ).sum(-1)
        agreeing = agreeing + (
            of_pair[..., rows] * _sum_of_products_over_pairs(gave.astype(float))
        ).sum(-1)
    return Coefficient(ratio(genuine, weights.sum(-1)), observed=ratio(agreeing, weights.sum(-1)))


def _sum_of_products_over_pairs(values: Array) -> Array:
    return np.asarray(values.sum(-1) ** 2 - (values**2).sum(-1))
