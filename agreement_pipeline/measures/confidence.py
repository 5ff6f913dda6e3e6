"""Agreement between raters, less what they say themselves to be guessing."""

import numpy as np
from numpy.typing import NDArray

from agreement_pipeline.measures.intra import CAMPAGNER_CABITZA
from agreement_pipeline.measures.registry import Coefficient, Condition, measure, ratio
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


@measure(
    "Campagner and Cabitza's ρ, from confidence",
    question="inter-rater",
    needs="confidence",
    bounds=(0.0, 1.0),
    undefined=(NO_PAIR_OF_STATED_CONFIDENCE,),
    levels={"nominal", "ordinal"},
    chance_corrected=False,
    exchangeable=True,
    raters_left_out=_without_confidence,
    convention="over the items with two ratings of stated confidence or more; ratings without a stated confidence speak for the use of the categories only",
    source=CAMPAGNER_CABITZA + ", equations 4 and 5, and section 4 on confidence",
)
def campagner_cabitza_rho_confidence(ratings: LabelsByRater) -> Coefficient:
    r"""Agreement between raters that is genuine, each rating's share of guessing read off the confidence its rater stated in it.

    .. math:: \rho = \frac{1}{|U|} \sum_u \frac{1}{\binom{r}{2}} \sum_{i < j} \delta(c_i, c_j)\, g_i\, g_j, \qquad
       g_i = \frac{y_i}{y_i + p_{c_i} (1 - y_i)}

    with :math:`y_i` the confidence of rater i in her rating of item u, :math:`c_i` the category and :math:`p` the panel's shares of the
    categories. The source lets confidence stand in for replicates, since a rater who is sure says that she does not guess: a confidence
    is then the probability of a decided choice, and one minus it that of a random one, rating by rating, in equations 4 and 5. It is as good
    as the raters' judgement of themselves, which the source did not find highly correlated with their self-agreement (r = 0.22, p = 0.46).

    With every confidence 1, ρ is the percent agreement; with every confidence 0 it is 0. `observed` is the agreement of the same pairs
    before the discount.

    Parameters
    ----------
    ratings
        codes and confidence of shape (P, R), weights of shape (..., P).

    Returns
    -------
    Coefficient
        value of shape (...), from 0 to 1. Undefined when no item has two ratings with a stated confidence.

    References
    ----------
    Campagner, A. & Cabitza, F. (2020). Studies in Health Technology and Informatics 270. https://doi.org/10.3233/SHTI200167

    Examples
    --------
    >>> from agreement_pipeline import LabelsByRater, Scale
    >>> first = LabelsByRater([[0, 0], [0, 1], [1, 1]], [4, 2, 4], scale=Scale(("no", "yes")), raters=("a", "b"))
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
    """The pairs that agree on category k, each counted with its factors, summed over items by the weight of a pair; shape (...)."""
    rows, gave = _agreeing(ratings, k)
    y, p_k = np.nan_to_num(ratings.sure[rows]), p[..., k, None, None]
    g = np.where(gave, np.nan_to_num(ratio(y, y + p_k * (1 - y))), 0.0)
    return np.asarray((of_pair[..., rows] * _pairs(g)).sum(-1))


def _seen(ratings: LabelsByRater, of_pair: Array, p: Array, k: int) -> Array:
    """The same pairs, each counted once."""
    rows, gave = _agreeing(ratings, k)
    return np.asarray((of_pair[..., rows] * _pairs(gave.astype(float))).sum(-1))


def _agreeing(ratings: LabelsByRater, k: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The rows in which two raters or more give category k with a stated confidence, shape (P,), and which raters do in each of them."""
    gave = ratings.rated & (ratings.codes == k)
    rows = np.asarray(gave.sum(1) >= 2)
    return rows, gave[rows]


def _pairs(values: Array) -> Array:
    """The products over the ordered pairs of raters, shape (..., P)."""
    return np.asarray(values.sum(-1) ** 2 - (values**2).sum(-1))
