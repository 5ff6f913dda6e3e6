"""Kendall's W and the mean of Kendall's tau: how far raters order alternatives alike.

They are not registered: a value of one item says nothing about others. Take the pairs of a ranking
as units where a round is judged (`agreement_pipeline.units`).
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.measures.coefficient import Coefficient, ratio
from agreement_pipeline.ratings import Array
from agreement_pipeline.units import Ranking


def kendall_w(rankings: Sequence[Ranking]) -> Coefficient:
    r"""Kendall's W: the variance of the sums of ranks as a share of the largest possible.

    .. math:: W = \frac{12 \sum_i R_i^2 - 3 m^2 n (n + 1)^2}{m^2 n (n^2 - 1) - m \sum_j T_j},
       \qquad T_j = \sum_t (t^3 - t)

    Here :math:`R_i` is the sum of the ranks of alternative i, and t are the sizes of the ties of
    rater j. Tied alternatives share the mean of their ranks.

    Parameters
    ----------
    rankings
        two rankings or more of the same alternatives.

    Returns
    -------
    Coefficient
        The value lies between 0 and 1. It is nan if every rater tied all alternatives.

    References
    ----------
    Kendall, M. G. & Babington Smith, B. (1939). The problem of m rankings. Annals of Mathematical
    Statistics 10, 275-287. https://doi.org/10.1214/aoms/1177732186

    Examples
    --------
    >>> order = Ranking(tuple(frozenset(name) for name in "abc"))
    >>> float(kendall_w([order, order]).value)
    1.0
    """
    ranks = _ranks(rankings)
    m, n = ranks.shape
    ties = sum(_ties(ranking) for ranking in rankings)
    above = 12 * (ranks.sum(0) ** 2).sum() - 3 * m**2 * n * (n + 1) ** 2
    w = ratio(above, m**2 * n * (n**2 - 1) - m * ties)
    return Coefficient(w, observed=w)


def mean_tau(rankings: Sequence[Ranking]) -> Coefficient:
    r"""The mean of Kendall's tau-b over all pairs of raters.

    .. math:: \tau_b = \frac{C - D}{\sqrt{(P - T_1) (P - T_2)}}

    Of the P pairs of alternatives, both raters order C alike and D oppositely. :math:`T_1` and
    :math:`T_2` are the pairs that each of them tied.

    Parameters
    ----------
    rankings
        two rankings or more of the same alternatives.

    Returns
    -------
    Coefficient
        The value lies between -1 and 1. It is nan if a rater tied all alternatives.

    References
    ----------
    Kendall, M. G. (1945). The treatment of ties in ranking problems. Biometrika 33(3), 239-251.
    https://doi.org/10.1093/biomet/33.3.239

    Examples
    --------
    >>> orders = ["abcd", "abdc", "badc"]
    >>> rankings = [Ranking(tuple(frozenset(name) for name in order)) for order in orders]
    >>> round(float(mean_tau(rankings).value), 4)
    0.5556
    """
    ranks = _ranks(rankings)
    first, second = np.triu_indices(ranks.shape[1], 1)
    signs = np.sign(ranks[:, first] - ranks[:, second])
    taus = [
        ratio(one @ other, np.sqrt((one @ one) * (other @ other)))
        for one, other in combinations(signs, 2)
    ]
    tau = np.mean(taus)
    return Coefficient(np.asarray(tau), observed=np.asarray(tau))


def _ranks(rankings: Sequence[Ranking]) -> Array:
    """The rank of each alternative by each rater. Tied ones share the mean. Shape (m, n)."""
    known = [frozenset().union(*ranking.groups) for ranking in rankings]
    if len(rankings) < 2 or len(set(known)) != 1:
        raise RatingsError(
            f"rankings: found {len(rankings)} of {len(set(known))} sets of alternatives; expected "
            "two or more of the same alternatives. Leave out what not everybody ranked."
        )
    found = np.empty((len(rankings), len(known[0])))
    places = {name: place for place, name in enumerate(sorted(known[0]))}
    for row, ranking in zip(found, rankings, strict=True):
        before = 0
        for group in ranking.groups:
            row[[places[name] for name in group]] = before + (len(group) + 1) / 2
            before += len(group)
    return found


def _ties(ranking: Ranking) -> int:
    return sum(len(group) ** 3 - len(group) for group in ranking.groups)
