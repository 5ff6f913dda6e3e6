"""Alpha of a stratum of the items, on the ruler of the whole round.

A stratum is a part of the items, such as those of one language. Alpha of these items alone is
`krippendorff_alpha` on the scope stratum. There the expected disagreement is the stratum's own. The
measure of this family divides by the expected disagreement of the whole round instead. So all
strata are read on one ruler. Weighted by their ratings, they add up to the alpha of the round.

This ruler flatters a stratum where nearly all labels are one category. Raters agree there without
looking. So a rule that must hold for each stratum should ask for its own alpha. Guessing cannot
lift all strata at once, since they add up to the whole.
"""

from agreement_pipeline.measures.coefficient import Coefficient
from agreement_pipeline.measures.conditions import ONE_PAIRABLE_CATEGORY
from agreement_pipeline.measures.krippendorff import alpha_of_rows
from agreement_pipeline.measures.registry import Condition, register
from agreement_pipeline.statistics import CountsOfStratum


def _no_pairable(stratum: CountsOfStratum) -> bool:
    return not (stratum.weights[stratum.readable] > 0).any()


@register(
    "α of a stratum, on the whole round's ruler",
    question="inter-rater",
    needs="strata",
    withstands_chosen=True,
    bounds=(-float("inf"), 1.0),
    undefined=(
        Condition("no item of the stratum has two ratings", _no_pairable),
        ONE_PAIRABLE_CATEGORY,
    ),
    exchangeable=True,
    convention=(
        "items with one rating are left out; all other items count with their number of ratings"
    ),
    source=(
        "Krippendorff, K. (2018). Content Analysis (4th ed.), ch. 12, with the observed "
        "disagreement of a part of the units"
    ),
)
def stratum_alpha(ratings: CountsOfStratum) -> Coefficient:
    r"""Agreement in a stratum, as one minus its observed over the round's expected disagreement.

    .. math:: \alpha_s = 1 - \frac{D_{o,s}}{D_e}, \qquad
       D_{o,s} = \frac{1}{n_s} \sum_{u \in s} \frac{1}{m_u - 1}
       \sum_{c,k} n_{uc} n_{uk} \delta^2_{ck}

    The letters are those of `krippendorff_alpha`. :math:`n_s` is the number of ratings in the
    stratum that meet another. Strata that share no item and leave none out give the whole:

    .. math:: \alpha = \sum_s \frac{n_s}{n} \alpha_s

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> from agreement_pipeline.statistics import CategoryCounts
    >>> whole = CategoryCounts([[2, 0], [1, 1], [0, 2]], [2, 1, 2], scale=Scale(("no", "yes")))
    >>> strata = ([True, True, False], [False, False, True])
    >>> alphas = [float(stratum_alpha(CountsOfStratum(whole, each)).value) for each in strata]
    >>> [round(each, 4) for each in alphas], round((6 * alphas[0] + 4 * alphas[1]) / 10, 4)
    ([0.4, 1.0], 0.64)
    """
    return alpha_of_rows(ratings.whole, ratings.inside)
