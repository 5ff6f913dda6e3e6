"""The coefficient of each rater on items that they met again, and the mean over raters."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from agreement_pipeline.measures._agreement import (
    expected_disagreement,
    observed_disagreement,
    prevalence,
)
from agreement_pipeline.measures._mean_squares import FEW_PAIRABLE_ITEMS
from agreement_pipeline.measures.category import kappa_by_category
from agreement_pipeline.measures.coefficient import Coefficient, ratio
from agreement_pipeline.measures.conditions import ONE_PAIRABLE_CATEGORY
from agreement_pipeline.measures.fleiss import fleiss_kappa
from agreement_pipeline.measures.icc import icc_1_1
from agreement_pipeline.measures.krippendorff import krippendorff_alpha
from agreement_pipeline.measures.registry import Condition
from agreement_pipeline.measures.weighting import IDENTITY, Weighting
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import (
    CategoryCounts,
    NumbersByRater,
    ReplicatedLabels,
    ReplicatedNumbers,
)

Replicates = ReplicatedLabels | ReplicatedNumbers
Cells = CategoryCounts | NumbersByRater


def each_rater(replicates: Replicates) -> Iterator[Cells]:
    """The cells of each rater who met an item again, as a table of items and meetings."""
    return (
        replicates.of(replicates.raters[rater]).cells() for rater in np.unique(replicates.rater)
    )


def _always_the_same(replicates: Replicates) -> bool:
    return all(ONE_PAIRABLE_CATEGORY.holds(cells) for cells in each_rater(replicates))


def _no_two_items(replicates: Replicates) -> bool:
    return all(FEW_PAIRABLE_ITEMS.holds(cells) for cells in each_rater(replicates.in_numbers()))


def _no_variance(replicates: Replicates) -> bool:
    return all(
        FEW_PAIRABLE_ITEMS.holds(cells) or ONE_PAIRABLE_CATEGORY.holds(cells)
        for cells in each_rater(replicates.in_numbers())
    )


ALWAYS_THE_SAME = Condition(
    "every rater gave one and the same label to all items they met again, so chance alone would "
    "give full agreement",
    _always_the_same,
)
NO_TWO_ITEMS = Condition("no rater met two items again", _no_two_items)
NO_VARIANCE = Condition(
    "every rater who met two items again gave one and the same number to all of them", _no_variance
)


def own_alpha(cells: Cells) -> tuple[Coefficient, Array]:
    """One rater's coefficient in terms of disagreement, and its number of labels.

    Ordinal disagreement comes in squared ranks among the rater's own labels. Divided by the squared
    number of labels, it has the same unit for all raters.
    """
    found, n = krippendorff_alpha(cells), np.asarray(cells.weights @ cells.sizes)
    if cells.scale.level == "ordinal" and found.expected is not None:
        found = Coefficient(
            found.value, observed=ratio(found.observed, n**2), expected=ratio(found.expected, n**2)
        )
    return found, n


def own_kappa(cells: CategoryCounts, weighting: Weighting = IDENTITY) -> tuple[Coefficient, Array]:
    """One rater's kappa, its disagreement in spans of the scale, and its number of items."""
    distances = weighting.distances(cells.scale)
    d_o, d_e = (
        observed_disagreement(cells, distances),
        expected_disagreement(prevalence(cells), distances),
    )
    return Coefficient(
        fleiss_kappa(cells, weighting).value, observed=d_o, expected=d_e
    ), cells.weights.sum(-1)


def own_kappa_by_category(cells: CategoryCounts) -> tuple[Coefficient, Array]:
    return complement(kappa_by_category(cells)), cells.weights.sum(-1)[..., None]


def own_icc(cells: NumbersByRater) -> tuple[Coefficient, Array]:
    return icc_1_1(cells), cells.weights.sum(-1)


def weight_of_each(
    replicates: Replicates, _rows: NDArray[np.bool_], own: Callable[..., tuple[Coefficient, Array]]
) -> Array:
    """The weight of each rater in the pooled value; shape (R,).

    The weight is 0 where the rater's own coefficient is undefined.
    """
    each = [own(cells) for cells in each_rater(replicates)]
    return np.array(
        [
            np.where(np.isfinite(found.value), n * np.asarray(found.expected), 0.0).sum()
            for found, n in each
        ]
    )


def complement(found: Coefficient) -> Coefficient:
    """Agreement as disagreement, or disagreement as agreement."""
    return Coefficient(
        found.value, observed=1 - found.observed, expected=1 - np.asarray(found.expected)
    )


def left_out(
    replicates: Replicates, own: Callable[..., tuple[Coefficient, Array]]
) -> tuple[str, ...]:
    """The raters of the round without a coefficient of their own."""
    return tuple(
        name
        for name in replicates.round_raters
        if not np.isfinite(own(replicates.of(name).cells())[0].value).any()
    )


def pooled(replicates: Replicates, own: Callable[..., tuple[Coefficient, Array]]) -> Coefficient:
    """The mean of the raters' own coefficients.

    Each is weighted by the disagreement that chance alone would leave in the rater's labels. If
    that is too small for a number, all weigh alike.
    """
    each = [own(cells) for cells in each_rater(replicates)] or [own(replicates.cells())]
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
    alike = np.where(known, 1.0, 0.0)
    share = np.divide(chance, most, out=alike, where=most > 0)
    return Coefficient(
        ratio((share * np.where(known, value, 0.0)).sum(0), share.sum(0)),
        observed=observed,
        expected=expected,
    )
