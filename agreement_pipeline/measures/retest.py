"""Test-retest reliability: agreement of a rater with their own earlier labels, beyond chance.

In alpha, kappa and the intraclass correlation, the meetings with an item take the place of raters.
Chance is computed from the rater's own labels. So a rater who gives one label to everything shows
nothing. Over several raters the coefficients are pooled. Each rater counts by the disagreement that
chance alone would leave.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from agreement_pipeline.measures.category import kappa_by_category
from agreement_pipeline.measures.coefficient import (
    Coefficient,
    category_prevalence,
    expected_disagreement,
    observed_disagreement,
    ratio,
)
from agreement_pipeline.measures.conditions import NO_REPLICATES, ONE_PAIRABLE_CATEGORY
from agreement_pipeline.measures.fleiss import fleiss_kappa
from agreement_pipeline.measures.icc import DONNER, FEW_PAIRABLE_ITEMS, icc_1_1
from agreement_pipeline.measures.intra import REPLICATED_NUMBERS_EXAMPLE
from agreement_pipeline.measures.krippendorff import krippendorff_alpha
from agreement_pipeline.measures.registry import USED, UndefinedCondition, register
from agreement_pipeline.measures.weighting import IDENTITY, Weighting
from agreement_pipeline.ratings import LEVELS, Array, Flags
from agreement_pipeline.statistics import (
    CategoryCounts,
    NumbersByRater,
    ReplicatedLabels,
    ReplicatedNumbers,
)

Replicates = ReplicatedLabels | ReplicatedNumbers
Cells = CategoryCounts | NumbersByRater


def _iterate_cells_of_raters(replicates: Replicates) -> Iterator[Cells]:
    return (
        replicates.cells_of_rater(replicates.raters[rater]).cells_as_items()
        for rater in np.unique(replicates.rater)
    )


ALWAYS_THE_SAME = UndefinedCondition(
    "every rater gave one and the same label to all items they met again, so chance alone would "
    "give full agreement",
    lambda replicates: all(map(ONE_PAIRABLE_CATEGORY.holds, _iterate_cells_of_raters(replicates))),
)
NO_TWO_ITEMS = UndefinedCondition(
    "no rater met two items again",
    lambda replicates: all(
        map(FEW_PAIRABLE_ITEMS.holds, _iterate_cells_of_raters(replicates.as_numbers()))
    ),
)
NO_VARIANCE = UndefinedCondition(
    "every rater who met two items again gave one and the same number to all of them",
    lambda replicates: all(
        FEW_PAIRABLE_ITEMS.holds(cells) or ONE_PAIRABLE_CATEGORY.holds(cells)
        for cells in _iterate_cells_of_raters(replicates.as_numbers())
    ),
)


def _rater_alpha(cells: Cells) -> tuple[Coefficient, Array]:
    """Ordinal disagreement is in squared ranks among the rater's labels, so it is divided by their
    squared number.
    """
    alpha, n = krippendorff_alpha(cells), np.asarray(cells.weights @ cells.sizes)
    if cells.scale.level == "ordinal" and alpha.expected is not None:
        alpha = Coefficient(
            alpha.value,
            observed=ratio(alpha.observed, n**2),
            expected=ratio(alpha.expected, n**2),
        )
    return alpha, n


def _rater_kappa(
    cells: CategoryCounts, weighting: Weighting = IDENTITY
) -> tuple[Coefficient, Array]:
    distances = weighting.distances(cells.scale)
    d_o = observed_disagreement(cells, distances)
    d_e = expected_disagreement(category_prevalence(cells), distances)
    kappa = fleiss_kappa(cells, weighting).value
    return Coefficient(kappa, observed=d_o, expected=d_e), cells.weights.sum(-1)


def _rater_kappa_by_category(cells: CategoryCounts) -> tuple[Coefficient, Array]:
    return _disagreement_as_agreement(kappa_by_category(cells)), cells.weights.sum(-1)[..., None]


def _rater_icc(cells: NumbersByRater) -> tuple[Coefficient, Array]:
    return icc_1_1(cells), cells.weights.sum(-1)


def _weights_of_raters(
    replicates: Replicates,
    _rows: Flags,
    coefficient_of_rater: Callable[..., tuple[Coefficient, Array]],
) -> Array:
    """Shape (R,); 0 where the rater's own coefficient is undefined."""
    rater_results = [coefficient_of_rater(cells) for cells in replicates.cells_of_raters()]
    weights = np.concatenate(
        [
            np.where(np.isfinite(coefficient.value), n * np.asarray(coefficient.expected), 0.0)
            for coefficient, n in rater_results
        ]
    )
    return np.asarray(weights.reshape(len(weights), -1).sum(1))


def _disagreement_as_agreement(coefficient: Coefficient) -> Coefficient:
    return Coefficient(
        coefficient.value,
        observed=1 - coefficient.observed,
        expected=1 - np.asarray(coefficient.expected),
    )


def _raters_without_coefficient(
    replicates: Replicates, coefficient_of_rater: Callable[..., tuple[Coefficient, Array]]
) -> tuple[str, ...]:
    return tuple(
        name
        for name in replicates.round_raters
        if not np.isfinite(
            coefficient_of_rater(replicates.cells_of_rater(name).cells_as_items())[0].value
        ).any()
    )


def _measure_fields_of_raters(
    coefficient_of_rater: Callable[..., tuple[Coefficient, Array]],
) -> dict[str, Any]:
    by_rater = partial(_weights_of_raters, coefficient_of_rater=coefficient_of_rater)
    return {
        "raters_left_out": partial(
            _raters_without_coefficient, coefficient_of_rater=coefficient_of_rater
        ),
        "rests_on": USED._replace(by_rater=by_rater),
    }


def _pool_over_raters(
    replicates: Replicates, coefficient_of_rater: Callable[..., tuple[Coefficient, Array]]
) -> Coefficient:
    """The mean of the raters' own coefficients, by the disagreement that chance alone would leave.

    If that is too small for a number, all weigh alike.
    """
    rater_results = [coefficient_of_rater(cells) for cells in replicates.cells_of_raters()]
    value, d_o, d_e = (
        np.concatenate([getattr(coefficient, part) for coefficient, _ in rater_results])
        for part in ("value", "observed", "expected")
    )
    is_defined = np.isfinite(value)
    n = np.where(is_defined, np.concatenate([size for _, size in rater_results]), 0.0)
    observed, expected = (
        ratio(np.where(is_defined, n * part, 0.0).sum(0), n.sum(0)) for part in (d_o, d_e)
    )
    chance = np.where(is_defined, n * d_e, 0.0)
    largest_chance = chance.max(0, initial=0.0)
    alike = np.where(is_defined, 1.0, 0.0)
    share = np.divide(chance, largest_chance, out=alike, where=largest_chance > 0)
    return Coefficient(
        ratio((share * np.where(is_defined, value, 0.0)).sum(0), share.sum(0)),
        observed=observed,
        expected=expected,
    )


STRATIFIED = (
    "raters as strata after Barlow, W., Lai, M.-Y. & Azen, S. P. (1991), "
    "doi:10.1002/sim.4780100913, "
    "each weighted by size times chance disagreement, not by size alone"
)
EACH_ITEM_ONCE = (
    "every item that a rater met again counts once for that rater, whatever the number of meetings"
)
OWN_CHANCE = "raters whose own coefficient is undefined are left out of the pooled value"


_of_replicates = partial(register, question="intra-rater", needs="replicates")


@_of_replicates(
    "Test-retest α",
    bounds=(-1.0, 1.0),
    undefined=(NO_REPLICATES, ALWAYS_THE_SAME),
    levels=set(LEVELS),
    continuous=True,
    **_measure_fields_of_raters(_rater_alpha),
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
    labels. Krippendorff calls this stability. Raters who give labels at random get 0, even if they
    differ in how often they use each label. On the ordinal level, ranks are shares of a rater's
    labels.

    Examples
    --------
    >>> round(float(test_retest_alpha(replicates).value), 4)
    0.62
    """
    return _pool_over_raters(replicates, _rater_alpha)


@_of_replicates(
    "Test-retest κ",
    bounds=(-1.0, 1.0),
    undefined=(NO_REPLICATES, ALWAYS_THE_SAME),
    family="test_retest_kappa",
    **_measure_fields_of_raters(_rater_kappa),
    convention=f"{EACH_ITEM_ONCE}; {OWN_CHANCE}",
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
    :math:`N_i` items they met again. It is the reliability of one label in Kraemer's population
    model, and Scott's π for two meetings. Cohen's form would forgive a rater whose use of the
    labels changed between the meetings. It is never under -1, as `schouten_kappa`.

    Examples
    --------
    >>> round(float(test_retest_kappa(replicates).value), 4)
    0.6
    """
    return _disagreement_as_agreement(
        _pool_over_raters(replicates, partial(_rater_kappa, weighting=weighting))
    )


@_of_replicates(
    "Test-retest κ by category",
    bounds=(-1.0, 1.0),
    undefined=(NO_REPLICATES, ALWAYS_THE_SAME),
    levels={"nominal", "ordinal"},
    per_category=True,
    **_measure_fields_of_raters(_rater_kappa_by_category),
    convention=f"{EACH_ITEM_ONCE}; {OWN_CHANCE}",
    source=f"Fleiss, J. L. (1971), doi:10.1037/h0031619; {STRATIFIED}",
)
def test_retest_kappa_by_category(replicates: ReplicatedLabels) -> Coefficient:
    r"""Agreement of raters with their own earlier labels on one category against the rest.

    .. math:: \kappa_j = \frac{\sum_i N_i (1 - p_{e,j}^i) \kappa_j^i}{\sum_i N_i (1 - p_{e,j}^i)}

    :math:`\kappa_j^i` of rater i is as in `kappa_by_category`: the `test_retest_kappa` of labels
    reduced to two, category j and all others.

    Examples
    --------
    >>> test_retest_kappa_by_category(replicates).value.round(4).tolist()
    [0.6, 0.6]
    """
    return _disagreement_as_agreement(_pool_over_raters(replicates, _rater_kappa_by_category))


@_of_replicates(
    "Test-retest ICC(1,1)",
    bounds=(-np.inf, 1.0),
    undefined=(NO_REPLICATES, NO_TWO_ITEMS, NO_VARIANCE),
    levels={"interval", "ratio"},
    continuous=True,
    raters_left_out=lambda replicates: _raters_without_coefficient(
        replicates.as_numbers(), _rater_icc
    ),
    rests_on=USED._replace(
        by_rater=lambda replicates, rows: _weights_of_raters(
            replicates.as_numbers(), rows, _rater_icc
        )
    ),
    convention=(
        "every item that a rater met again counts; k is the mean number of meetings that Donner "
        f"(1986) calls n_0; {OWN_CHANCE}"
    ),
    source=f"{DONNER}; {STRATIFIED}",
    example=REPLICATED_NUMBERS_EXAMPLE,
)
def test_retest_icc(replicates: Replicates) -> Coefficient:
    r"""The share of the variance of a rater's numbers that lies between items.

    .. math:: \mathrm{ICC} = \frac{\sum_i N_i (\sigma_b^2 + \sigma_w^2)_i \mathrm{ICC}_i}{\sum_i
       N_i (\sigma_b^2 + \sigma_w^2)_i}

    :math:`\mathrm{ICC}_i = \sigma_b^2 / (\sigma_b^2 + \sigma_w^2)` of rater i is as in `icc_1_1`,
    on the :math:`N_i` items that the rater met again. On whole items the value is never less than
    -1. In a resample it may be, where a rater keeps little more than one item.

    Examples
    --------
    >>> round(float(test_retest_icc(replicates).value), 4)
    0.8222
    """
    return _pool_over_raters(replicates.as_numbers(), _rater_icc)
