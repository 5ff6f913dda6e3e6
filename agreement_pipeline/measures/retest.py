"""Test-retest reliability: agreement of a rater with their own earlier labels, beyond chance.

A rater who meets an item again without knowing it may label it differently. These measures are
alpha, kappa and the intraclass correlation of one rater. The rater's items take the place of items.
The rater's meetings with an item take the place of raters.

Chance is computed from the rater's own labels. So a rater who gives one label to everything shows
nothing, however often they repeat it. Over several raters the coefficients are pooled. Each rater
counts by the disagreement that chance alone would leave.
"""

from functools import partial

import numpy as np

from agreement_pipeline.measures._by_rater import (
    ALWAYS_THE_SAME,
    NO_TWO_ITEMS,
    NO_VARIANCE,
    Replicates,
    complement,
    left_out,
    own_alpha,
    own_icc,
    own_kappa,
    own_kappa_by_category,
    pooled,
    weight_of_each,
)
from agreement_pipeline.measures.coefficient import Coefficient
from agreement_pipeline.measures.conditions import NO_REPLICATES
from agreement_pipeline.measures.icc import DONNER
from agreement_pipeline.measures.registry import USED, register
from agreement_pipeline.measures.weighting import IDENTITY, Weighting
from agreement_pipeline.ratings import LEVELS
from agreement_pipeline.statistics import ReplicatedLabels

STRATIFIED = (
    "raters as strata after Barlow, W., Lai, M.-Y. & Azen, S. P. (1991), "
    "doi:10.1002/sim.4780100913, "
    "each weighted by size times chance disagreement, not by size alone"
)
OWN_CHANCE = "raters whose own coefficient is undefined are left out of the pooled value"


@register(
    "Test-retest α",
    question="intra-rater",
    needs="replicates",
    bounds=(-1.0, 1.0),
    undefined=(NO_REPLICATES, ALWAYS_THE_SAME),
    levels=set(LEVELS),
    continuous=True,
    raters_left_out=partial(left_out, own=own_alpha),
    rests_on=USED._replace(by_rater=partial(weight_of_each, own=own_alpha)),
    convention=(
        f"every item that a rater met again counts with its number of meetings; {OWN_CHANCE}"
    ),
    source=(
        f"Krippendorff, K. (2018). Content Analysis (4th ed.), ch. 12, on stability; {STRATIFIED}"
    ),
)
def test_retest_alpha(replicates: Replicates) -> Coefficient:
    r"""Krippendorff's α of a rater's own labels of items that they met again.

    .. math:: \alpha = \frac{\sum_i n_i D_e^i \alpha_i}{\sum_i n_i D_e^i} = 1 - \frac{\sum_i n_i
       D_o^i}{\sum_i n_i D_e^i}

    :math:`\alpha_i = 1 - D_o^i / D_e^i` of rater i is as in `krippendorff_alpha`, over :math:`n_i`
    labels. The rater's items take the place of items. The rater's meetings with an item take the
    place of raters. Krippendorff calls this stability.

    Chance is computed from each rater's own labels. Take raters who give labels at random, but
    differ from each other in how often they use each label. They get 0, although their labels taken
    together tell the raters apart.

    On the ordinal level, ranks are shares of a rater's labels. So a rater with many labels counts
    with the number of labels and no more.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> from agreement_pipeline.statistics import ReplicatedNumbers
    >>> again = ReplicatedNumbers(
    ...     [[1.5, 1.7], [3.1, 2.9], [2.0, 2.4]],
    ...     [0, 1, 2],
    ...     [0, 0, 0],
    ...     [1, 1, 1],
    ...     scale=Scale(None, "interval"),
    ...     raters=("a",),
    ... )
    >>> round(float(test_retest_alpha(again).value), 4)
    0.9045
    """
    return pooled(replicates, own_alpha)


@register(
    "Test-retest κ",
    question="intra-rater",
    needs="replicates",
    bounds=(-1.0, 1.0),
    undefined=(NO_REPLICATES, ALWAYS_THE_SAME),
    family="test_retest_kappa",
    raters_left_out=partial(left_out, own=own_kappa),
    rests_on=USED._replace(by_rater=partial(weight_of_each, own=own_kappa)),
    convention=(
        "every item that a rater met again counts once for that rater, whatever the number of "
        f"meetings; {OWN_CHANCE}"
    ),
    source=(
        "Fleiss, J. L. (1971), doi:10.1037/h0031619; Kraemer, H. C. (1979), "
        f"doi:10.1007/BF02296208; {STRATIFIED}"
    ),
)
def test_retest_kappa(
    replicates: ReplicatedLabels,
    weighting: Weighting = IDENTITY,  # noqa: PT028 - this is no test
) -> Coefficient:
    r"""The intraclass κ of a rater's own labels of items that they met again.

    .. math:: \kappa = \frac{\sum_i N_i (1 - p_e^i) \kappa_i}{\sum_i N_i (1 - p_e^i)} =
       \frac{\sum_i N_i (p_o^i - p_e^i)}{\sum_i N_i (1 - p_e^i)}

    :math:`\kappa_i = (p_o^i - p_e^i) / (1 - p_e^i)` of rater i is as in `fleiss_kappa`, on the
    :math:`N_i` items they met again. For two meetings it is Scott's π. The meetings are
    interchangeable. The value is the reliability of one label in Kraemer's population model.

    Cohen's form would let each meeting have its own use of the labels. It would forgive a rater
    whose use of the labels changed between the meetings. That change is disagreement too.

    The value is never less than -1, whatever the weights of the items. With every weighting here, 1
    - w is a squared distance between points of some space. Compare three mean distances of two
    labels:

    - two labels of any items,
    - two labels of one item, with replacement, and
    - two labels of one item, without replacement.

    The first is at least the second. With m labels the second is (m - 1) / m times the third.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> from agreement_pipeline.statistics import LabelsByRater
    >>> scale = Scale(("no", "yes"))
    >>> first = LabelsByRater([[0], [1], [0]], [4, 4, 2], scale=scale, raters=("a",))
    >>> again = ReplicatedLabels([[2, 0], [0, 2], [1, 1]], [0, 1, 2], [0, 0, 0], first)
    >>> round(float(test_retest_kappa(again).value), 4)
    0.6
    """
    return complement(pooled(replicates, partial(own_kappa, weighting=weighting)))


@register(
    "Test-retest κ by category",
    question="intra-rater",
    needs="replicates",
    bounds=(-1.0, 1.0),
    undefined=(NO_REPLICATES, ALWAYS_THE_SAME),
    levels={"nominal", "ordinal"},
    per_category=True,
    raters_left_out=partial(left_out, own=own_kappa_by_category),
    rests_on=USED._replace(by_rater=partial(weight_of_each, own=own_kappa_by_category)),
    convention=(
        "every item that a rater met again counts once for that rater, whatever the number of "
        f"meetings; {OWN_CHANCE}"
    ),
    source=f"Fleiss, J. L. (1971), doi:10.1037/h0031619; {STRATIFIED}",
)
def test_retest_kappa_by_category(replicates: ReplicatedLabels) -> Coefficient:
    r"""Agreement of raters with their own earlier labels on one category against the rest.

    .. math:: \kappa_j = \frac{\sum_i N_i (1 - p_{e,j}^i) \kappa_j^i}{\sum_i N_i (1 - p_{e,j}^i)}

    :math:`\kappa_j^i` of rater i is as in `kappa_by_category`. It is the `test_retest_kappa` of
    labels reduced to two, category j and all others. The value is corrected for chance. The round's
    own value is the lowest of all categories.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> from agreement_pipeline.statistics import LabelsByRater
    >>> first = LabelsByRater([[0], [1], [2]], scale=Scale(("a", "b", "c")), raters=("ana",))
    >>> again = ReplicatedLabels([[2, 0, 0], [0, 2, 0], [0, 1, 1]], [0, 1, 2], [0, 0, 0], first)
    >>> test_retest_kappa_by_category(again).value.round(4).tolist()
    [1.0, 0.3333, -0.2]
    """
    return complement(pooled(replicates, own_kappa_by_category))


@register(
    "Test-retest ICC(1,1)",
    question="intra-rater",
    needs="replicates",
    bounds=(-np.inf, 1.0),
    undefined=(NO_REPLICATES, NO_TWO_ITEMS, NO_VARIANCE),
    levels={"interval", "ratio"},
    continuous=True,
    raters_left_out=lambda replicates: left_out(replicates.in_numbers(), own_icc),
    rests_on=USED._replace(
        by_rater=lambda replicates, rows: weight_of_each(replicates.in_numbers(), rows, own_icc)
    ),
    convention=(
        "every item that a rater met again counts; k is the mean number of meetings that Donner "
        f"(1986) calls n_0; {OWN_CHANCE}"
    ),
    source=f"{DONNER}; {STRATIFIED}",
)
def test_retest_icc(replicates: Replicates) -> Coefficient:
    r"""The share of the variance of a rater's numbers that lies between items.

    .. math:: \mathrm{ICC} = \frac{\sum_i N_i (\sigma_b^2 + \sigma_w^2)_i \mathrm{ICC}_i}{\sum_i
       N_i (\sigma_b^2 + \sigma_w^2)_i}

    :math:`\mathrm{ICC}_i = \sigma_b^2 / (\sigma_b^2 + \sigma_w^2)` of rater i is as in `icc_1_1`.
    The variance components are those of the one-way analysis of variance of the rater's numbers.
    They rest on the :math:`N_i` items that the rater met again. The rest of the variance lies
    between meetings with one item. The meetings are interchangeable. A constant that a rater adds
    to all numbers belongs to neither component.

    On whole items the value is never less than -1. In a resample it may be. That happens when a
    rater keeps little more than one item, and the numbers of meetings are unequal. Their mean
    number, as Donner counts it, can then be anything.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> from agreement_pipeline.statistics import ReplicatedNumbers
    >>> again = ReplicatedNumbers(
    ...     [[1.5, 1.7], [3.1, 2.9], [2.0, 2.4]],
    ...     [0, 1, 2],
    ...     [0, 0, 0],
    ...     [1, 1, 1],
    ...     scale=Scale(None, "interval"),
    ...     raters=("a",),
    ... )
    >>> round(float(test_retest_icc(again).value), 4)
    0.9221
    """
    return pooled(replicates.in_numbers(), own_icc)
