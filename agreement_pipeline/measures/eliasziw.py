r"""Inter- and intra-rater reliability of numbers in one balanced design (Eliasziw and others).

The variance of a rating has the parts of items (s), raters (r), their interaction (sr) and
replicates (e). They come from the mean squares of the two-way analysis of n items, t raters and m
replicates:

- :math:`\sigma_s^2 = (MSS - MSSR) / mt` and :math:`\sigma_r^2 = (MSR - MSSR) / mn`
- :math:`\sigma_{sr}^2 = (MSSR - MSE) / m` and :math:`\sigma_e^2 = MSE`

Random raters stand for a population of raters. What a fixed rater adds to all their ratings does
not count. `expected` is the variance of a rating, and `observed` the part that is disagreement.
"""

from functools import partial

import numpy as np

from agreement_pipeline.measures._numbers import free_of_unit
from agreement_pipeline.measures.coefficient import Coefficient, ratio
from agreement_pipeline.measures.conditions import NO_REPLICATES
from agreement_pipeline.measures.icc import NUMBERS, VARIANCE_NOT_POSITIVE, share_between_items
from agreement_pipeline.measures.intra import REPLICATED_NUMBERS_EXAMPLE, raters_without_replicates
from agreement_pipeline.measures.registry import UndefinedCondition, register
from agreement_pipeline.ratings import Array, Codes, Flags
from agreement_pipeline.statistics import ReplicatedLabels, ReplicatedNumbers

Replicates = ReplicatedLabels | ReplicatedNumbers
ELIASZIW = (
    "Eliasziw, M., Young, S. L., Woodbury, M. G. & Fryday-Field, K. (1994), "
    "doi:10.1093/ptj/74.8.777"
)
BALANCED_CONVENTION = (
    "items that every rater with replicates rated equally often; other raters are left out"
)


def _balanced_design(values: ReplicatedNumbers, seen_items: Flags) -> tuple[Array, Codes] | None:
    """The seen items that have replicates (N, R, M), and their places.

    None unless every rater with replicates rated each of these items equally often.
    """
    is_seen = seen_items[values.item]
    items, raters = np.unique(values.item[is_seen]), np.unique(values.rater[is_seen])
    sizes = values.sizes[is_seen]
    if not is_seen.any() or is_seen.sum() != len(items) * len(raters) or np.ptp(sizes) > 0:
        return None
    cells = values.values[is_seen][np.lexsort((values.rater[is_seen], values.item[is_seen])), :, 0]
    return cells[~np.isnan(cells)].reshape(len(items), len(raters), int(sizes[0])), items


def _balanced_design_of_round(replicates: Replicates) -> tuple[Array, Codes] | None:
    return _balanced_design(replicates.as_numbers(), replicates.weights > 0)


def _has_too_few_for_design(replicates: Replicates) -> bool:
    design = _balanced_design_of_round(replicates)
    return (
        design is None
        or design[0].shape[1] < 2
        or bool(replicates.weights[design[1]].sum() - 1 <= 1e-12)
    )


UNBALANCED = UndefinedCondition(
    "the raters with replicates did not all rate the same items equally often",
    lambda replicates: _balanced_design_of_round(replicates) is None,
)
TOO_SMALL = UndefinedCondition(
    "fewer than two raters have replicates of two items", _has_too_few_for_design
)


_of_design = partial(
    register,
    needs="replicates",
    undefined=(NO_REPLICATES, UNBALANCED, TOO_SMALL, VARIANCE_NOT_POSITIVE),
    levels=NUMBERS,
    continuous=True,
    raters_left_out=raters_without_replicates,
    convention=BALANCED_CONVENTION,
    source=ELIASZIW,
    example=REPLICATED_NUMBERS_EXAMPLE,
)


@_of_design(
    "Eliasziw's inter-rater reliability, raters random",
    question="inter-rater",
    bounds=(-np.inf, 1.0),
)
def eliasziw_inter_random(replicates: Replicates) -> Coefficient:
    r"""The share of one rating's variance between items: random raters, with replicates.

    .. math:: \rho = \frac{\sigma_s^2}{\sigma_s^2 + \sigma_r^2 + \sigma_{sr}^2 + \sigma_e^2}

    Examples
    --------
    >>> round(float(eliasziw_inter_random(replicates).value), 4)
    0.8163
    """
    s, r, sr, e, unit = _variance_components(replicates)
    return share_between_items(s, s + r + sr + e, unit)


@_of_design(
    "Eliasziw's inter-rater reliability, raters fixed",
    question="inter-rater",
    bounds=(-1.0, 1.0),
)
def eliasziw_inter_fixed(replicates: Replicates) -> Coefficient:
    r"""The share of one rating's variance between items: fixed raters, with replicates.

    .. math:: \rho = \frac{\sigma_s^2}{\sigma_s^2 + \sigma_{sr}^2 + \sigma_e^2}

    The source writes it with the variance of items for fixed raters, which is
    :math:`\sigma_s^2 + \sigma_{sr}^2 / t` here. The value is never under -1 / (t - 1).

    Examples
    --------
    >>> round(float(eliasziw_inter_fixed(replicates).value), 4)
    0.8889
    """
    s, _, sr, e, unit = _variance_components(replicates)
    return share_between_items(s, s + sr + e, unit)


@_of_design(
    "Eliasziw's intra-rater reliability, raters random",
    question="intra-rater",
    bounds=(-np.inf, 1.0),
)
def eliasziw_intra_random(replicates: Replicates) -> Coefficient:
    r"""The share of one rating's variance that the same rater repeats on the item: random raters.

    .. math:: \rho = \frac{\sigma_s^2 + \sigma_r^2 + \sigma_{sr}^2}{\sigma_s^2 + \sigma_r^2 +
       \sigma_{sr}^2 + \sigma_e^2}

    Differences between raters count as reliability here because a rater repeats them. On whole
    items the value is never under -1 / (m - 1). It may be in a resample that weighs less than two
    items.

    Examples
    --------
    >>> round(float(eliasziw_intra_random(replicates).value), 4)
    0.8367
    """
    s, r, sr, e, unit = _variance_components(replicates)
    return share_between_items(s + r + sr, s + r + sr + e, unit)


@_of_design(
    "Eliasziw's intra-rater reliability, raters fixed",
    question="intra-rater",
    bounds=(-1.0, 1.0),
)
def eliasziw_intra_fixed(replicates: Replicates) -> Coefficient:
    r"""The share of one rating's variance that the same rater repeats on the item: fixed raters.

    .. math:: \rho = \frac{\sigma_s^2 + \sigma_{sr}^2}{\sigma_s^2 + \sigma_{sr}^2 + \sigma_e^2}

    Replicates are assumed to vary equally for each rater. The value is never under -1 / (m - 1),
    and it is that if all cells have the same mean.

    Examples
    --------
    >>> round(float(eliasziw_intra_fixed(replicates).value), 4)
    0.8222
    """
    s, _, sr, e, unit = _variance_components(replicates)
    return share_between_items(s + sr, s + sr + e, unit)


def _variance_components(replicates: Replicates) -> Array:
    """The components s, r, sr and e, and their unit (5, ...); nan if the design is unbalanced or
    small.
    """
    values = replicates.as_numbers()
    draws = values.weights.reshape(-1, values.weights.shape[-1])
    supports, support = np.unique(draws > 0, axis=0, return_inverse=True)
    components = np.full((5, len(draws)), np.nan)
    for place, seen_items in enumerate(supports):
        has_support = support.ravel() == place
        if design := _balanced_design(values, seen_items):
            numbers, items = design
            components[:, has_support] = _mean_square_components(
                numbers, draws[has_support][:, items]
            )
    return components.reshape(len(components), *values.weights.shape[:-1])


def _mean_square_components(numbers: Array, w: Array) -> Array:
    _, t, m = numbers.shape
    z, unit = free_of_unit(numbers.reshape(len(numbers), t * m, 1))
    cell = z.reshape(numbers.shape).mean(2)
    n, freedom = w.sum(-1), np.maximum(w.sum(-1) - 1, 0.0)
    item, rater = cell.mean(1), ratio(w @ cell, n[..., None])
    mean = rater.mean(-1)
    mss = ratio(m * t * (w @ item**2 - n * mean**2), freedom)
    between_raters = ((rater - mean[..., None]) ** 2).sum(-1)
    msr = ratio(m * n * between_raters, np.asarray(t - 1.0))
    mssr = ratio(
        m * (w @ ((cell - item[:, None]) ** 2).sum(1) - n * between_raters), freedom * (t - 1)
    )
    mse = ratio(
        w @ ((z.reshape(numbers.shape) - cell[:, :, None]) ** 2).sum((1, 2)), n * t * (m - 1)
    )
    s, r, sr = (mss - mssr) / (m * t), ratio(msr - mssr, m * n), (mssr - mse) / m
    return np.stack([s, r, sr, mse, np.full(n.shape, unit)])
