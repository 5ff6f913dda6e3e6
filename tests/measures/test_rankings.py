"""Kendall's W and mean tau, beside SciPy's."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import friedmanchisquare, kendalltau

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.measures import kendall_w, mean_tau
from agreement_pipeline.units import Ranking


def ranking(ranks):
    """Alternatives by their ranks. Equal ranks are ties."""
    groups = [
        frozenset(f"x{n}" for n in np.flatnonzero(ranks == rank)) for rank in np.unique(ranks)
    ]
    return Ranking(tuple(groups))


@pytest.mark.parametrize("seed", range(6))
def test_w_is_friedmans_statistic_and_tau_is_scipys(seed):
    ranks = np.random.default_rng(seed).integers(0, 5, size=(4, 6))
    m, n = ranks.shape
    rankings = [ranking(each) for each in ranks]
    chi_squared = friedmanchisquare(*ranks.T).statistic
    assert float(kendall_w(rankings).value) == pytest.approx(chi_squared / (m * (n - 1)))
    taus = [kendalltau(one, other).statistic for one, other in combinations(ranks, 2)]
    assert float(mean_tau(rankings).value) == pytest.approx(np.mean(taus))


def test_opposite_orders():
    orders = [ranking(np.arange(4)), ranking(np.arange(4)[::-1])]
    assert (float(kendall_w(orders).value), float(mean_tau(orders).value)) == (0.0, -1.0)


def test_ties_alone_have_no_value():
    tied = [ranking(np.zeros(3, dtype=int))] * 2
    assert np.isnan(kendall_w(tied).value)
    assert np.isnan(mean_tau(tied).value)


def test_other_alternatives_are_refused():
    with pytest.raises(RatingsError, match="found 2 of 2 sets of alternatives"):
        kendall_w([ranking(np.arange(3)), ranking(np.arange(4))])
