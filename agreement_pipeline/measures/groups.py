"""Agreement between two groups of raters, as between a panel and several classifiers.

The question is whether one group says what the other says, and not whether each agrees with itself.
Vanbelle and Albert divide by the most that the groups' own disagreement allows. The
cross-replication kappa divides by 1, which only groups without disagreement inside can reach.
"""

import numpy as np

from agreement_pipeline.measures.coefficient import Coefficient, ratio
from agreement_pipeline.measures.registry import UndefinedCondition, register
from agreement_pipeline.measures.weighting import IDENTITY, Weighting
from agreement_pipeline.ratings import Array, Flags
from agreement_pipeline.statistics import LabelsByRater


def _has_own_disagreement(groups: LabelsByRater) -> Flags:
    """Only where each group gave an item two ratings or more can a group disagree with itself."""
    shared = _weights_of_shared_items(groups)
    return np.asarray(
        np.all([shared @ (counts.sum(1) >= 2) > 0 for counts in groups.group_counts], axis=0)
    )


def _has_one_category(groups: LabelsByRater) -> bool:
    used = groups.readable & (groups.weights > 0)
    return int((sum(counts[used].sum(0) for counts in groups.group_counts) > 0).sum()) == 1


NO_SHARED_ITEM = UndefinedCondition(
    "no item was rated by both groups",
    lambda groups: not (groups.weights[groups.readable] > 0).any(),
)
SINGLE_RATINGS = UndefinedCondition(
    "one group gave only one rating to each item that both rated, so its own disagreement was "
    "never seen; use vanbelle_albert_kappa for a single rater against a group",
    lambda groups: not _has_own_disagreement(groups),
)
ONE_CATEGORY = UndefinedCondition(
    "every rating of the items that both groups rated is of one category, so chance alone would "
    "give full agreement",
    _has_one_category,
)


@register(
    "Vanbelle and Albert's κ of two groups",
    question="classifier",
    needs="groups",
    bounds=(-np.inf, 1.0),
    undefined=(
        NO_SHARED_ITEM,
        SINGLE_RATINGS,
        UndefinedCondition(
            "the greatest agreement that the groups allow is what chance alone would give",
        ),
    ),
    family="vanbelle_albert_group_kappa",
    exchangeable=True,
    convention=(
        "over the items that both groups rated, each with the shares of the raters who rated it "
        "(one rating or more)"
    ),
    source="Vanbelle, S. & Albert, A. (2009), doi:10.1007/s11336-009-9116-1",
)
def vanbelle_albert_group_kappa(
    groups: LabelsByRater, weighting: Weighting = IDENTITY
) -> Coefficient:
    r"""Agreement of two groups of raters, given how far each group agrees with itself.

    .. math:: \kappa = \frac{\Pi_T - \Pi_E}{\Pi_M - \Pi_E}, \qquad
       \Pi_T = \frac{1}{N} \sum_i \sum_{j,l} w_{jl} p_{ij1} p_{il2}, \quad \Pi_E = \sum_{j,l}
       w_{jl} \bar{p}_{j1} \bar{p}_{l2}, \quad
       \Pi_M = \frac{1}{N} \sum_i \max_g \sum_{j,l} w_{jl} p_{ijg} p_{ilg}

    :math:`p_{ijg}` is the share of group g that gives item i category j, a bar is a mean over
    items, and :math:`w_{jl}` is how much categories j and l agree. The value is 1 when both groups
    are split in the same way on every item.

    Examples
    --------
    >>> round(float(vanbelle_albert_group_kappa(groups).value), 4)
    0.5
    """
    p_t, p_e, p_m, span = _agreement_parts(groups, weighting)
    kappa = ratio(p_t - p_e, p_m - p_e)
    return (
        Coefficient(kappa, observed=p_t, expected=p_e, greatest=p_m)
        .over_whole_scale(span)
        .nan_unless(_has_own_disagreement(groups))
    )


@register(
    "Cross-replication κ_x",
    question="classifier",
    needs="groups",
    bounds=(-np.inf, 1.0),
    undefined=(NO_SHARED_ITEM, ONE_CATEGORY),
    levels={"nominal", "ordinal"},
    exchangeable=True,
    convention=(
        "over the items that both groups rated; an item counts in observed disagreement with its "
        "number of ratings; expected disagreement pools all pairs"
    ),
    source="Wong, K., Paritosh, P. & Aroyo, L. (2021), doi:10.48550/arXiv.2106.07393",
)
def cross_kappa(groups: LabelsByRater) -> Coefficient:
    r"""Agreement beyond chance between the ratings of two groups, as between two replications.

    .. math:: \kappa_x = 1 - \frac{d_o}{d_e}, \qquad
       d_o = \sum_i \frac{R_i + S_i}{R + S} \frac{1}{R_i S_i} \sum_{r,s} 1_{x_{ri} \ne y_{si}},
       \quad
       d_e = \frac{1}{R S} \sum_{i,j} \sum_{r,s} 1_{x_{ri} \ne y_{sj}}

    The groups give :math:`R_i` ratings x and :math:`S_i` ratings y of item i; R and S are the
    totals. For one rater against one rater it is Cohen's kappa.

    Examples
    --------
    >>> round(float(cross_kappa(groups).value), 4)
    0.4
    """
    x, y = groups.group_counts
    r, s = x.sum(1), y.sum(1)
    used = _weights_of_shared_items(groups)
    disagreement = 1 - (x * y).sum(1) / np.maximum(r * s, 1)
    d_o = ratio(used @ ((r + s) * disagreement), used @ (r + s))
    d_e = 1 - (ratio(used @ x, (used @ r)[..., None]) * ratio(used @ y, (used @ s)[..., None])).sum(
        -1
    )
    return Coefficient(1 - ratio(d_o, d_e), observed=d_o, expected=d_e)


def _weights_of_shared_items(groups: LabelsByRater) -> Array:
    return groups.weights_of(groups.readable)


def _agreement_parts(
    groups: LabelsByRater, weighting: Weighting
) -> tuple[Array, Array, Array, Array]:
    """Observed, expected and greatest agreement, in units of the largest distance between two
    categories that are given; and the share of the scale that this is.
    """
    first_shares, second_shares = (
        counts / np.maximum(counts.sum(1), 1)[:, None] for counts in groups.group_counts
    )
    used = _weights_of_shared_items(groups)
    total = used.sum(-1)
    category_distances = weighting.category_distances(
        groups.scale, used @ (first_shares + second_shares)
    )
    d = category_distances.distances
    d_t = ratio(used @ (first_shares @ d * second_shares).sum(1), total)
    d_e = (
        ratio(used @ first_shares, total[..., None])
        @ d
        * ratio(used @ second_shares, total[..., None])
    ).sum(-1)
    own_disagreements = [(shares @ d * shares).sum(1) for shares in (first_shares, second_shares)]
    d_m = ratio(used @ np.minimum(*own_disagreements), total)
    return (
        category_distances.agreement(d_t),
        category_distances.agreement(d_e),
        category_distances.agreement(d_m),
        category_distances.unit,
    )
