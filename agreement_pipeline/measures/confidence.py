"""Agreement between raters, less the guessing that they report themselves."""

import numpy as np
from numpy.typing import NDArray

from agreement_pipeline.measures.coefficient import Coefficient, ratio
from agreement_pipeline.measures.intra import CAMPAGNER_CABITZA
from agreement_pipeline.measures.registry import Condition, register
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import LabelsByRater


def _no_pair(ratings: LabelsByRater) -> bool:
    return not (ratings.weights[ratings.rated.sum(1) >= 2] > 0).any()


def _without_confidence(ratings: LabelsByRater) -> tuple[str, ...]:
    """The raters of the round who stated no confidence."""
    silent = np.asarray(ratings.given.any(0) & ~ratings.rated.any(0))
    return tuple(
        sorted(name for name, left_out in zip(ratings.raters, silent, strict=True) if left_out)
    )


NO_PAIR_OF_STATED_CONFIDENCE = Condition(
    "no item has two ratings with a stated confidence", _no_pair
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
    raters_left_out=_without_confidence,
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

    Here :math:`y_i` is the confidence of rater i in their rating of item u. The category is
    :math:`c_i`. The panel's shares of the categories are :math:`p`.

    In the source, confidence can replace replicates: a rater who is sure says that they do not
    guess. A confidence is then the probability of a decided choice. One minus the confidence is
    that of a random choice. Equations 4 and 5 use these rating by rating. The measure is only as
    good as the raters' judgement of themselves. The source did not find this highly correlated with
    their self-agreement (r = 0.22, p = 0.46).

    With every confidence 1, ρ is the percent agreement. With every confidence 0 it is 0. `observed`
    is the agreement of the same pairs before the discount.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> from agreement_pipeline.statistics import LabelsByRater
    >>> first = LabelsByRater([[0, 0], [0, 1], [1, 1]], [4, 2, 4], scale=Scale(("no", "yes")),
    ...                        raters=("a", "b"))
    >>> sure, torn = np.ones((3, 2)), np.full((3, 2), 0.5)
    >>> float(campagner_cabitza_rho_confidence(first.with_confidence(sure)).value)
    0.8
    >>> round(float(campagner_cabitza_rho_confidence(first.with_confidence(torn)).value), 4)
    0.3556
    """
    pairs = _pairs(ratings.rated.astype(float))
    weights = np.where(pairs > 0, ratings.weights, 0.0)
    of_pair = weights / np.maximum(pairs, 1)
    p = ratio(ratings.used, ratings.used.sum(-1, keepdims=True))
    genuine, seen = (
        sum((of(ratings, of_pair, p, k) for k in range(p.shape[-1])), start=np.zeros(()))
        for of in (_genuine, _seen)
    )
    return Coefficient(ratio(genuine, weights.sum(-1)), observed=ratio(seen, weights.sum(-1)))


def _genuine(ratings: LabelsByRater, of_pair: Array, p: Array, k: int) -> Array:
    """The weighted sum of g_i g_j over the pairs that agree on category k, shape (...)."""
    rows, gave = _agreeing(ratings, k)
    y, p_k = np.nan_to_num(ratings.sure[rows]), p[..., k, None, None]
    g = np.where(gave, np.nan_to_num(ratio(y, y + p_k * (1 - y))), 0.0)
    return np.asarray((of_pair[..., rows] * _pairs(g)).sum(-1))


def _seen(ratings: LabelsByRater, of_pair: Array, p: Array, k: int) -> Array:
    """The weighted number of pairs that agree on category k, shape (...)."""
    rows, gave = _agreeing(ratings, k)
    return np.asarray((of_pair[..., rows] * _pairs(gave.astype(float))).sum(-1))


def _agreeing(ratings: LabelsByRater, k: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """True for rows where two or more raters state confidence in category k, shape (P,).

    For each of these rows, the second array is True for the raters who do.
    """
    gave = ratings.rated & (ratings.codes == k)
    rows = np.asarray(gave.sum(1) >= 2)
    return rows, gave[rows]


def _pairs(values: Array) -> Array:
    """The sum of the products over the ordered pairs of raters, shape (..., P)."""
    return np.asarray(values.sum(-1) ** 2 - (values**2).sum(-1))
