"""Agreement of raters with themselves on items that they rated more than once.

Read off the shares of a rater's labels, self-agreement is never under 1/K, and too high with few
occurrences. Read off pairs of occurrences, it is unbiased.

If self-agreement is high but agreement between raters is low, raters keep to different readings. If
both are low, items may be ambiguous or raters careless.
"""

from functools import partial

from agreement_pipeline.measures.coefficient import Coefficient, ratio
from agreement_pipeline.measures.conditions import NO_REPLICATES
from agreement_pipeline.measures.registry import register
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import ReplicatedLabels

CAMPAGNER_CABITZA = "Campagner, A. & Cabitza, F. (2020), doi:10.3233/SHTI200167"
REPLICATED_NUMBERS_EXAMPLE = """
>>> said, scale = [[0, 2], [1, 3], [4, 6], [6, 8]], Scale(None, "interval")
>>> places = [0, 0, 1, 1], [0, 1, 0, 1]
>>> replicates = ReplicatedNumbers(said, *places, [1, 1], scale=scale, raters=("a", "b"))"""


def raters_without_replicates(replicates: ReplicatedLabels) -> tuple[str, ...]:
    replicating_raters = {replicates.raters[rater] for rater in replicates.rater}
    return tuple(name for name in replicates.round_raters if name not in replicating_raters)


_of_replicates = partial(
    register,
    question="intra-rater",
    needs="replicates",
    bounds=(0.0, 1.0),
    undefined=(NO_REPLICATES,),
    chance_corrected=False,
    raters_left_out=raters_without_replicates,
    convention="every item that a rater rated again counts once for that rater, "
    "whatever the number of occurrences",
    passed_by_guessing=True,
)


@_of_replicates("Self-agreement SA", source=CAMPAGNER_CABITZA)
def self_agreement(replicates: ReplicatedLabels) -> Coefficient:
    r"""The probability that a rater who is asked twice gives the same label, from label shares.

    .. math:: SA = \sum_k d(k)^2

    :math:`d(k)` is the share of label k among a rater's labels of one item. SA is the mean over
    raters and over the items that they rated again. It is one minus the Gini impurity.

    Examples
    --------
    >>> round(float(self_agreement(replicates).value), 4)
    0.9
    """
    d = replicates.counts / replicates.sizes[:, None]
    sa = _mean_over_cells(replicates, (d**2).sum(1))
    return Coefficient(sa, observed=sa)


@_of_replicates(
    "Self-agreement, unbiased",
    source=CAMPAGNER_CABITZA
    + "; the pair estimate of Σ d² is unbiased (Simpson 1949, doi:10.1038/163688a0)",
)
def self_agreement_unbiased(replicates: ReplicatedLabels) -> Coefficient:
    r"""The share of pairs of a rater's own labels of one item that are the same.

    .. math:: SA_u = \sum_k \frac{c_k (c_k - 1)}{m (m - 1)}

    :math:`c_k` of a rater's m labels of one item are in category k. The mean is as in
    `self_agreement`.

    Examples
    --------
    >>> round(float(self_agreement_unbiased(replicates).value), 4)
    0.8
    """
    c, m = replicates.counts, replicates.sizes
    agreeing_share = _mean_over_cells(replicates, (c * (c - 1)).sum(1) / (m * (m - 1)))
    return Coefficient(agreeing_share, observed=agreeing_share)


def _mean_over_cells(replicates: ReplicatedLabels, values: Array) -> Array:
    weights = replicates.cell_weights
    return ratio(weights @ values, weights.sum(-1))
