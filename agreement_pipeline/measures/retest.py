"""Test-retest reliability: agreement of a rater with herself beyond what her own use of the labels gives by chance.

A rater who meets an item again without knowing it may label it otherwise. These are alpha, kappa and the intraclass correlation of one rater: her
items in the place of items, her meetings with an item in the place of raters. Chance is read off her own labels, so that a rater who gives one label
to everything shows nothing, however often she repeats it. Over several raters the coefficients are pooled, each counting by what chance leaves her to
reach.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from agreement_pipeline.measures._agreement import (
    expected_disagreement,
    observed_disagreement,
    prevalence,
)
from agreement_pipeline.measures._mean_squares import FEW_PAIRABLE_ITEMS
from agreement_pipeline.measures._weights import IDENTITY, Weighting, forms
from agreement_pipeline.measures.category import kappa_by_category
from agreement_pipeline.measures.conditions import NO_REPLICATES, ONE_PAIRABLE_CATEGORY
from agreement_pipeline.measures.fleiss import fleiss_kappa
from agreement_pipeline.measures.icc import DONNER, icc_1_1
from agreement_pipeline.measures.krippendorff import krippendorff_alpha
from agreement_pipeline.measures.registry import USED, Coefficient, Condition, measure, ratio
from agreement_pipeline.ratings import LEVELS, Array
from agreement_pipeline.statistics import (
    CategoryCounts,
    NumbersByRater,
    ReplicatedLabels,
    ReplicatedNumbers,
)

Replicates = ReplicatedLabels | ReplicatedNumbers
Cells = CategoryCounts | NumbersByRater

STRATIFIED = (
    "raters as strata after Barlow, W., Lai, M.-Y. & Azen, S. P. (1991), doi:10.1002/sim.4780100913, "
    "each weighed by size times the disagreement of chance, not by size alone"
)
OWN_CHANCE = "raters whose own coefficient is undefined are left out of the pooled value"


def _each_rater(replicates: Replicates) -> Iterator[Cells]:
    """The cells of each rater who met an item again, as a table of items and meetings."""
    return (
        replicates.of(replicates.raters[rater]).cells() for rater in np.unique(replicates.rater)
    )


def _always_the_same(replicates: Replicates) -> bool:
    return all(ONE_PAIRABLE_CATEGORY.holds(cells) for cells in _each_rater(replicates))


def _no_two_items(replicates: Replicates) -> bool:
    return all(FEW_PAIRABLE_ITEMS.holds(cells) for cells in _each_rater(replicates.in_numbers()))


def _no_variance(replicates: Replicates) -> bool:
    return all(
        FEW_PAIRABLE_ITEMS.holds(cells) or ONE_PAIRABLE_CATEGORY.holds(cells)
        for cells in _each_rater(replicates.in_numbers())
    )


ALWAYS_THE_SAME = Condition(
    "every rater gave one and the same label to all items she met again, so chance alone would agree always",
    _always_the_same,
)
NO_TWO_ITEMS = Condition("no rater met two items again", _no_two_items)
NO_VARIANCE = Condition(
    "every rater who met two items again gave one and the same number to all of them", _no_variance
)


def _own_alpha(cells: Cells) -> tuple[Coefficient, Array]:
    """One rater's coefficient in terms of disagreement, and how many labels it rests on.

    Ordinal disagreement comes in squared ranks among her own labels; as shares of these it is in the same unit for all raters.
    """
    found, n = krippendorff_alpha(cells), np.asarray(cells.weights @ cells.sizes)
    if cells.scale.level == "ordinal" and found.expected is not None:
        found = Coefficient(
            found.value, observed=ratio(found.observed, n**2), expected=ratio(found.expected, n**2)
        )
    return found, n


def _own_kappa(cells: CategoryCounts, weighting: Weighting = IDENTITY) -> tuple[Coefficient, Array]:
    """The same, in spans of the scale, and how many items."""
    distances = weighting.distances(cells.scale)
    d_o, d_e = (
        observed_disagreement(cells, distances),
        expected_disagreement(prevalence(cells), distances),
    )
    return Coefficient(
        fleiss_kappa(cells, weighting).value, observed=d_o, expected=d_e
    ), cells.weights.sum(-1)


def _own_kappa_by_category(cells: CategoryCounts) -> tuple[Coefficient, Array]:
    return _complement(kappa_by_category(cells)), cells.weights.sum(-1)[..., None]


def _own_icc(cells: NumbersByRater) -> tuple[Coefficient, Array]:
    return icc_1_1(cells), cells.weights.sum(-1)


def _weight_of_each(
    replicates: Replicates, _rows: NDArray[np.bool_], own: Callable[..., tuple[Coefficient, Array]]
) -> Array:
    """What each rater weighs in the pooled value, shape (R,): nothing where her own coefficient is undefined."""
    each = [own(cells) for cells in _each_rater(replicates)]
    return np.array(
        [
            np.where(np.isfinite(found.value), n * np.asarray(found.expected), 0.0).sum()
            for found, n in each
        ]
    )


def _complement(found: Coefficient) -> Coefficient:
    """Agreement as disagreement, and the other way round."""
    return Coefficient(
        found.value, observed=1 - found.observed, expected=1 - np.asarray(found.expected)
    )


def _left_out(
    replicates: Replicates, own: Callable[..., tuple[Coefficient, Array]]
) -> tuple[str, ...]:
    """The raters of the round without a coefficient of their own."""
    return tuple(
        name
        for name in replicates.round_raters
        if not np.isfinite(own(replicates.of(name).cells())[0].value).any()
    )


@measure(
    "Test-retest α",
    question="intra-rater",
    needs="replicates",
    bounds=(-1.0, 1.0),
    undefined=(NO_REPLICATES, ALWAYS_THE_SAME),
    levels=set(LEVELS),
    continuous=True,
    raters_left_out=partial(_left_out, own=_own_alpha),
    rests_on=USED._replace(by_rater=partial(_weight_of_each, own=_own_alpha)),
    convention=f"every item that a rater met again counts with its number of meetings; {OWN_CHANCE}",
    source=f"Krippendorff, K. (2018). Content Analysis (4th ed.), ch. 12, on stability; {STRATIFIED}",
)
def test_retest_alpha(replicates: Replicates) -> Coefficient:
    r"""Agreement of a rater with herself beyond chance: Krippendorff's α of the labels she gave to items she met again.

    .. math:: \alpha = \frac{\sum_i n_i D_e^i \alpha_i}{\sum_i n_i D_e^i} = 1 - \frac{\sum_i n_i D_o^i}{\sum_i n_i D_e^i}

    with :math:`\alpha_i = 1 - D_o^i / D_e^i` of rater i as in `krippendorff_alpha`, her items in the place of items and her meetings with
    one in the place of raters, :math:`n_i` labels in all. It is what Krippendorff calls stability. Chance is read off her own labels:
    raters who differ from each other, each giving labels at random, get 0, though the labels of them all together tell the raters apart.
    On the ordinal level ranks are shares of a rater's labels, so that the busiest rater counts with her labels and no more.

    Parameters
    ----------
    replicates
        cell counts of shape (C, K) or, on a scale without categories, cell values of shape (C, M, D); item weights of shape (..., P).

    Returns
    -------
    Coefficient
        value of shape (...), at most 1, 0 for chance; observed and expected are disagreements, in squared units of the scale. Undefined when
        no rater met an item twice, or when every rater gave one and the same label to all items she met again.

    References
    ----------
    Krippendorff, K. (2018). Content Analysis: An Introduction to Its Methodology (4th ed.), chapter 12. Sage.
    Barlow, W., Lai, M.-Y. & Azen, S. P. (1991). A comparison of methods for calculating a stratified kappa. Statistics in Medicine 10(9),
    1465-1472. https://doi.org/10.1002/sim.4780100913

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> again = ReplicatedNumbers([[1.5, 1.7], [3.1, 2.9], [2.0, 2.4]], [0, 1, 2], [0, 0, 0], [1, 1, 1], scale=Scale(None, "interval"), raters=("a",))
    >>> round(float(test_retest_alpha(again).value), 4)
    0.9045
    """
    return _pooled(replicates, _own_alpha)


@measure(
    "Test-retest κ",
    question="intra-rater",
    needs="replicates",
    bounds=(-1.0, 1.0),
    undefined=(NO_REPLICATES, ALWAYS_THE_SAME),
    weightings={"test_retest_kappa": IDENTITY, **forms("test_retest_kappa")},
    raters_left_out=partial(_left_out, own=_own_kappa),
    rests_on=USED._replace(by_rater=partial(_weight_of_each, own=_own_kappa)),
    convention=f"every item that a rater met again counts once for that rater, whatever the number of meetings; {OWN_CHANCE}",
    source=f"Fleiss, J. L. (1971), doi:10.1037/h0031619; Kraemer, H. C. (1979), doi:10.1007/BF02296208; {STRATIFIED}",
)
def test_retest_kappa(replicates: ReplicatedLabels, weighting: Weighting) -> Coefficient:
    r"""Agreement of a rater with herself beyond chance: the intraclass κ of the labels she gave to items she met again.

    .. math:: \kappa = \frac{\sum_i N_i (1 - p_e^i) \kappa_i}{\sum_i N_i (1 - p_e^i)} = \frac{\sum_i N_i (p_o^i - p_e^i)}{\sum_i N_i (1 - p_e^i)}

    with :math:`\kappa_i = (p_o^i - p_e^i) / (1 - p_e^i)` of rater i as in `fleiss_kappa` (for two meetings, Scott's π), on the
    :math:`N_i` items she met again. The meetings are interchangeable: it is the reliability of one label in Kraemer's population model.
    Cohen's form would allow each meeting its own use of the labels, and so forgive a rater who has changed her mind between them; that
    is disagreement with herself too.

    It is never under -1, whatever items weigh: with every weighting here, 1 - w is a squared distance between points of some space. In the mean
    two labels drawn from all items are then as far apart as two drawn with replacement from one item, or farther, and these, of m labels,
    (m - 1) / m as far as two drawn without.

    Parameters
    ----------
    replicates
        cell counts of shape (C, K), item weights of shape (..., P).
    weighting
        How much two different categories agree.

    Returns
    -------
    Coefficient
        value of shape (...), from -1 to 1, 0 for chance. Undefined when no rater met an item twice, or when every rater gave one and the
        same label to all items she met again.

    References
    ----------
    Fleiss, J. L. (1971). Psychological Bulletin 76(5), 378-382. https://doi.org/10.1037/h0031619
    Kraemer, H. C. (1979). Ramifications of a population model for κ as a coefficient of reliability. Psychometrika 44(4), 461-472.
    https://doi.org/10.1007/BF02296208
    Barlow, W., Lai, M.-Y. & Azen, S. P. (1991). A comparison of methods for calculating a stratified kappa. Statistics in Medicine 10(9),
    1465-1472. https://doi.org/10.1002/sim.4780100913

    Examples
    --------
    >>> from agreement_pipeline import LabelsByRater, Scale
    >>> first = LabelsByRater([[0], [1], [0]], [4, 4, 2], scale=Scale(("no", "yes")), raters=("a",))
    >>> round(float(test_retest_kappa(ReplicatedLabels([[2, 0], [0, 2], [1, 1]], [0, 1, 2], [0, 0, 0], first), IDENTITY).value), 4)
    0.6
    """
    return _complement(_pooled(replicates, partial(_own_kappa, weighting=weighting)))


@measure(
    "Test-retest κ by category",
    question="intra-rater",
    needs="replicates",
    bounds=(-1.0, 1.0),
    undefined=(NO_REPLICATES, ALWAYS_THE_SAME),
    levels={"nominal", "ordinal"},
    per_category=True,
    raters_left_out=partial(_left_out, own=_own_kappa_by_category),
    rests_on=USED._replace(by_rater=partial(_weight_of_each, own=_own_kappa_by_category)),
    convention=f"every item that a rater met again counts once for that rater, whatever the number of meetings; {OWN_CHANCE}",
    source=f"Fleiss, J. L. (1971), doi:10.1037/h0031619; {STRATIFIED}",
)
def test_retest_kappa_by_category(replicates: ReplicatedLabels) -> Coefficient:
    r"""Agreement of a rater with herself on one category against the rest, beyond chance.

    .. math:: \kappa_j = \frac{\sum_i N_i (1 - p_{e,j}^i) \kappa_j^i}{\sum_i N_i (1 - p_{e,j}^i)}

    with :math:`\kappa_j^i` of rater i as in `kappa_by_category`: the `test_retest_kappa` of the labels made two, category j and all
    others. The round's own value is the lowest.

    Parameters
    ----------
    replicates
        cell counts of shape (C, K), item weights of shape (..., P).

    Returns
    -------
    Coefficient
        value of shape (..., K), from -1 to 1, 0 for chance. Undefined when no rater met an item twice, or when every rater gave one and the same
        label to all items she met again; for a category, when no rater's labels hold both it and another.

    References
    ----------
    Fleiss, J. L. (1971). Psychological Bulletin 76(5), 378-382. https://doi.org/10.1037/h0031619
    Barlow, W., Lai, M.-Y. & Azen, S. P. (1991). A comparison of methods for calculating a stratified kappa. Statistics in Medicine 10(9),
    1465-1472. https://doi.org/10.1002/sim.4780100913

    Examples
    --------
    >>> from agreement_pipeline import LabelsByRater, Scale
    >>> first = LabelsByRater([[0], [1], [2]], scale=Scale(("a", "b", "c")), raters=("ana",))
    >>> again = ReplicatedLabels([[2, 0, 0], [0, 2, 0], [0, 1, 1]], [0, 1, 2], [0, 0, 0], first)
    >>> test_retest_kappa_by_category(again).value.round(4).tolist()
    [1.0, 0.3333, -0.2]
    """
    return _complement(_pooled(replicates, _own_kappa_by_category))


@measure(
    "Test-retest ICC(1,1)",
    question="intra-rater",
    needs="replicates",
    bounds=(-np.inf, 1.0),
    undefined=(NO_REPLICATES, NO_TWO_ITEMS, NO_VARIANCE),
    levels={"interval", "ratio"},
    continuous=True,
    raters_left_out=lambda replicates: _left_out(replicates.in_numbers(), _own_icc),
    rests_on=USED._replace(
        by_rater=lambda replicates, rows: _weight_of_each(replicates.in_numbers(), rows, _own_icc)
    ),
    convention=f"every item that a rater met again counts; k is the mean number of meetings that Donner (1986) calls n_0; {OWN_CHANCE}",
    source=f"{DONNER}; {STRATIFIED}",
)
def test_retest_icc(replicates: Replicates) -> Coefficient:
    r"""The share of the variance of a rater's numbers that lies between items, and not between her meetings with one item.

    .. math:: \mathrm{ICC} = \frac{\sum_i N_i (\sigma_b^2 + \sigma_w^2)_i \mathrm{ICC}_i}{\sum_i N_i (\sigma_b^2 + \sigma_w^2)_i}

    with :math:`\mathrm{ICC}_i = \sigma_b^2 / (\sigma_b^2 + \sigma_w^2)` of rater i as in `icc_1_1`: the variance components of the one-way
    analysis of variance of her numbers, on the :math:`N_i` items she met again. The meetings are interchangeable. What a rater adds to all
    her numbers belongs to neither component.

    On whole items it is never under -1. In a draw that leaves a rater little more than one item, of unequal numbers of meetings, it may be:
    their mean number, as Donner counts it, can then be anything.

    Parameters
    ----------
    replicates
        cell counts of shape (C, K) or, on a scale without categories, cell values of shape (C, M, 1); item weights of shape (..., P).

    Returns
    -------
    Coefficient
        value of shape (...), at most 1; 0 where items differ no more than a rater's numbers of one item do. `expected` is the variance of a
        number, `observed` what of it is not between items, in squared units of the scale. Undefined when no rater met an item twice, when
        none met two items again, or when each of those who did gave one and the same number to all of them.

    References
    ----------
    Shrout, P. E. & Fleiss, J. L. (1979). Psychological Bulletin 86(2), 420-428. https://doi.org/10.1037/0033-2909.86.2.420
    McGraw, K. O. & Wong, S. P. (1996). Psychological Methods 1(1), 30-46. https://doi.org/10.1037/1082-989X.1.1.30
    Donner, A. (1986). International Statistical Review 54(1), 67-82. https://doi.org/10.2307/1403259
    Barlow, W., Lai, M.-Y. & Azen, S. P. (1991). A comparison of methods for calculating a stratified kappa. Statistics in Medicine 10(9),
    1465-1472. https://doi.org/10.1002/sim.4780100913

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> again = ReplicatedNumbers([[1.5, 1.7], [3.1, 2.9], [2.0, 2.4]], [0, 1, 2], [0, 0, 0], [1, 1, 1], scale=Scale(None, "interval"), raters=("a",))
    >>> round(float(test_retest_icc(again).value), 4)
    0.9221
    """
    return _pooled(replicates.in_numbers(), _own_icc)


def _pooled(replicates: Replicates, own: Callable[..., tuple[Coefficient, Array]]) -> Coefficient:
    """The mean of the raters' own coefficients, each weighed by the disagreement that chance alone would leave in her labels."""
    each = [own(cells) for cells in _each_rater(replicates)] or [own(replicates.cells())]
    value, d_o, d_e = (
        np.stack([getattr(found, part) for found, _ in each])
        for part in ("value", "observed", "expected")
    )
    known = np.isfinite(value)
    n = np.where(known, np.stack([size for _, size in each]), 0.0)
    observed, expected = (
        ratio(np.where(known, n * part, 0.0).sum(0), n.sum(0)) for part in (d_o, d_e)
    )
    chance = np.where(known, n * d_e, 0.0)
    most = chance.max(0)
    share = np.divide(chance, most, out=np.full(chance.shape, np.nan), where=most > 0)
    return Coefficient(
        ratio((share * np.where(known, value, 0.0)).sum(0), share.sum(0)),
        observed=observed,
        expected=expected,
    )
