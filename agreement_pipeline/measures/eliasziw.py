"""Inter- and intra-rater reliability of numbers from one balanced design, after Eliasziw and others."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agreement_pipeline.measures._mean_squares import no_variance, share_between_items
from agreement_pipeline.measures._numbers import unit_free
from agreement_pipeline.measures.conditions import NO_REPLICATES
from agreement_pipeline.measures.intra import unreplicated
from agreement_pipeline.measures.registry import MEASURES, Coefficient, Condition, measure, ratio
from agreement_pipeline.ratings import Array, Codes, Level
from agreement_pipeline.statistics import ReplicatedLabels, ReplicatedNumbers

Replicates = ReplicatedLabels | ReplicatedNumbers
NUMBERS: set[Level] = {"interval", "ratio"}
ELIASZIW = "Eliasziw, M., Young, S. L., Woodbury, M. G. & Fryday-Field, K. (1994), doi:10.1093/ptj/74.8.777"
BALANCED = "the items that raters met again, each by every one of these raters and as often; raters without replicates are left out"


class _Variances(NamedTuple):
    """The components of variance of items s, raters r, their interaction sr, and meetings e, and their unit, each of shape (...)."""

    s: Array
    r: Array
    sr: Array
    e: Array
    unit: Array


def _design(values: ReplicatedNumbers, seen: NDArray[np.bool_]) -> tuple[Array, Codes] | None:
    """The numbers of the items seen that raters met again, shape (N, R, M), and which items they are; None unless each rater met each of them as often."""
    here = seen[values.item]
    items, raters, sizes = (
        np.unique(values.item[here]),
        np.unique(values.rater[here]),
        values.sizes[here],
    )
    if not here.any() or here.sum() != len(items) * len(raters) or np.ptp(sizes) > 0:
        return None
    cells = values.values[here][np.lexsort((values.rater[here], values.item[here])), :, 0]
    return cells[~np.isnan(cells)].reshape(len(items), len(raters), int(sizes[0])), items


def _design_of(replicates: Replicates) -> tuple[Array, Codes] | None:
    return _design(replicates.in_numbers(), replicates.weights > 0)


def _unbalanced(replicates: Replicates) -> bool:
    return _design_of(replicates) is None


def _too_small(replicates: Replicates) -> bool:
    design = _design_of(replicates)
    return (
        design is None
        or design[0].shape[1] < 2
        or bool(replicates.weights[design[1]].sum() - 1 <= 1e-12)
    )


UNBALANCED = Condition(
    "the raters who met items again did not all meet the same items as often", _unbalanced
)
TOO_SMALL = Condition("fewer than two raters met two items again", _too_small)


def _without_variance(name: str) -> Condition:
    return Condition(
        "the estimated variance is not positive",
        lambda replicates: no_variance(MEASURES[name](replicates)),
    )


@measure(
    "Eliasziw's inter-rater reliability, raters random",
    question="inter-rater",
    needs="replicates",
    bounds=(-np.inf, 1.0),
    undefined=(NO_REPLICATES, UNBALANCED, TOO_SMALL, _without_variance("eliasziw_inter_random")),
    levels=NUMBERS,
    continuous=True,
    raters_left_out=unreplicated,
    convention=BALANCED,
    source=ELIASZIW,
)
def eliasziw_inter_random(replicates: Replicates) -> Coefficient:
    r"""The share of the variance of one rating that lies between items, raters standing for a population, meetings counted apart.

    .. math:: \rho = \frac{\sigma_s^2}{\sigma_s^2 + \sigma_r^2 + \sigma_{sr}^2 + \sigma_e^2}

    with the variances of items, raters, their interaction and meetings, estimated from the mean squares of the two-way analysis of variance
    of n items, t raters and m meetings: :math:`\sigma_s^2 = (MSS - MSSR) / mt`, :math:`\sigma_r^2 = (MSR - MSSR) / mn`,
    :math:`\sigma_{sr}^2 = (MSSR - MSE) / m`, :math:`\sigma_e^2 = MSE`. What a rater says otherwise at another meeting is told from what two
    raters see otherwise.

    Parameters
    ----------
    replicates
        cell counts of shape (C, K) or, on a scale without categories, cell values of shape (C, M, 1); item weights of shape (..., P).

    Returns
    -------
    Coefficient
        value of shape (...), at most 1. `expected` is the variance of a rating, `observed` what of it is not between items. Undefined when
        no rater met an item twice, when the raters who did not all met the same items as often, when they are fewer than two or their items
        are, or when the estimated variance is not positive.

    References
    ----------
    Eliasziw, M., Young, S. L., Woodbury, M. G. & Fryday-Field, K. (1994). Statistical methodology for the concurrent assessment of interrater
    and intrarater reliability: using goniometric measurements as an example. Physical Therapy 74(8), 777-788.
    https://doi.org/10.1093/ptj/74.8.777

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> said = [[0, 2], [1, 3], [4, 6], [6, 8]]
    >>> again = ReplicatedNumbers(said, [0, 0, 1, 1], [0, 1, 0, 1], [1, 1], scale=Scale(None, "interval"), raters=("a", "b"))
    >>> round(float(eliasziw_inter_random(again).value), 4)
    0.8163
    """
    s, r, sr, e, unit = _variances(replicates)
    return share_between_items(s, s + r + sr + e, unit)


@measure(
    "Eliasziw's inter-rater reliability, raters fixed",
    question="inter-rater",
    needs="replicates",
    bounds=(-1.0, 1.0),
    undefined=(NO_REPLICATES, UNBALANCED, TOO_SMALL, _without_variance("eliasziw_inter_fixed")),
    levels=NUMBERS,
    continuous=True,
    raters_left_out=unreplicated,
    convention=BALANCED,
    source=ELIASZIW,
)
def eliasziw_inter_fixed(replicates: Replicates) -> Coefficient:
    r"""The share of the variance of one rating that lies between items, apart from what each of these raters adds to all her ratings.

    .. math:: \rho = \frac{\sigma_s^2}{\sigma_s^2 + \sigma_{sr}^2 + \sigma_e^2}

    with the variances of `eliasziw_inter_random`. (The source writes it in the variance of items for fixed raters, which is
    :math:`\sigma_s^2 + \sigma_{sr}^2 / t` of these.) A rater who is always higher does not count as disagreement. In mean squares it is
    (MSS - MSSR) / (MSS + (t - 1) MSSR + t (m - 1) MSE), and so never under -1 / (t - 1).

    Parameters
    ----------
    replicates
        as of `eliasziw_inter_random`.

    Returns
    -------
    Coefficient
        value of shape (...), from -1 to 1; its parts and when it is undefined are those of `eliasziw_inter_random`. Undefined also when the
        variance apart from the raters' is not positive.

    References
    ----------
    Eliasziw, M., Young, S. L., Woodbury, M. G. & Fryday-Field, K. (1994). Statistical methodology for the concurrent assessment of interrater
    and intrarater reliability: using goniometric measurements as an example. Physical Therapy 74(8), 777-788.
    https://doi.org/10.1093/ptj/74.8.777

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> said = [[0, 2], [1, 3], [4, 6], [6, 8]]
    >>> again = ReplicatedNumbers(said, [0, 0, 1, 1], [0, 1, 0, 1], [1, 1], scale=Scale(None, "interval"), raters=("a", "b"))
    >>> round(float(eliasziw_inter_fixed(again).value), 4)
    0.8889
    """
    s, _, sr, e, unit = _variances(replicates)
    return share_between_items(s, s + sr + e, unit)


@measure(
    "Eliasziw's intra-rater reliability, raters random",
    question="intra-rater",
    needs="replicates",
    bounds=(-np.inf, 1.0),
    undefined=(NO_REPLICATES, UNBALANCED, TOO_SMALL, _without_variance("eliasziw_intra_random")),
    levels=NUMBERS,
    continuous=True,
    raters_left_out=unreplicated,
    convention=BALANCED,
    source=ELIASZIW,
)
def eliasziw_intra_random(replicates: Replicates) -> Coefficient:
    r"""The share of the variance of one rating that another meeting of the same rater with the same item shares, raters random.

    .. math:: \rho = \frac{\sigma_s^2 + \sigma_r^2 + \sigma_{sr}^2}{\sigma_s^2 + \sigma_r^2 + \sigma_{sr}^2 + \sigma_e^2}

    with the variances of `eliasziw_inter_random`. That raters differ from each other counts as reliability here, since a rater repeats
    it at each meeting; `test_retest_icc` reads each rater by herself. On whole items it is never under -1 / (m - 1). In a draw of less than two
    items it may be, since the variance of raters is then estimated too far under 0.

    Parameters
    ----------
    replicates
        as of `eliasziw_inter_random`.

    Returns
    -------
    Coefficient
        value of shape (...), at most 1. `expected` is the variance of a rating, `observed` that between meetings. Undefined as
        `eliasziw_inter_random` is.

    References
    ----------
    Eliasziw, M., Young, S. L., Woodbury, M. G. & Fryday-Field, K. (1994). Statistical methodology for the concurrent assessment of interrater
    and intrarater reliability: using goniometric measurements as an example. Physical Therapy 74(8), 777-788.
    https://doi.org/10.1093/ptj/74.8.777

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> said = [[0, 2], [1, 3], [4, 6], [6, 8]]
    >>> again = ReplicatedNumbers(said, [0, 0, 1, 1], [0, 1, 0, 1], [1, 1], scale=Scale(None, "interval"), raters=("a", "b"))
    >>> round(float(eliasziw_intra_random(again).value), 4)
    0.8367
    """
    s, r, sr, e, unit = _variances(replicates)
    return share_between_items(s + r + sr, s + r + sr + e, unit)


@measure(
    "Eliasziw's intra-rater reliability, raters fixed",
    question="intra-rater",
    needs="replicates",
    bounds=(-1.0, 1.0),
    undefined=(NO_REPLICATES, UNBALANCED, TOO_SMALL, _without_variance("eliasziw_intra_fixed")),
    levels=NUMBERS,
    continuous=True,
    raters_left_out=unreplicated,
    convention=BALANCED,
    source=ELIASZIW,
)
def eliasziw_intra_fixed(replicates: Replicates) -> Coefficient:
    r"""The share of the variance of one rating that another meeting of the same rater with the same item shares, apart from the raters' own.

    .. math:: \rho = \frac{\sigma_s^2 + \sigma_{sr}^2}{\sigma_s^2 + \sigma_{sr}^2 + \sigma_e^2}

    with the variances of `eliasziw_inter_random`: one value for these raters, meetings taken to scatter as much with each of them. It is never
    under -1 / (m - 1), which it is where the cells' means are all the same.

    Parameters
    ----------
    replicates
        as of `eliasziw_inter_random`.

    Returns
    -------
    Coefficient
        value of shape (...), from -1 to 1. `expected` is the variance of a rating apart from the raters', `observed` that between meetings.
        Undefined as `eliasziw_inter_fixed` is.

    References
    ----------
    Eliasziw, M., Young, S. L., Woodbury, M. G. & Fryday-Field, K. (1994). Statistical methodology for the concurrent assessment of interrater
    and intrarater reliability: using goniometric measurements as an example. Physical Therapy 74(8), 777-788.
    https://doi.org/10.1093/ptj/74.8.777

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> said = [[0, 2], [1, 3], [4, 6], [6, 8]]
    >>> again = ReplicatedNumbers(said, [0, 0, 1, 1], [0, 1, 0, 1], [1, 1], scale=Scale(None, "interval"), raters=("a", "b"))
    >>> round(float(eliasziw_intra_fixed(again).value), 4)
    0.8222
    """
    s, _, sr, e, unit = _variances(replicates)
    return share_between_items(s + sr, s + sr + e, unit)


def _variances(replicates: Replicates) -> _Variances:
    """The components from the mean squares; nan where the design is not balanced, or has fewer than two raters or items.

    Which items there are may differ from draw to draw, and with them the design: draws of the same items are taken together.
    """
    values = replicates.in_numbers()
    draws = values.weights.reshape(-1, values.weights.shape[-1])
    supports, support = np.unique(draws > 0, axis=0, return_inverse=True)
    found = np.full((len(_Variances._fields), len(draws)), np.nan)
    for place, seen in enumerate(supports):
        some = support.ravel() == place
        if design := _design(values, seen):
            numbers, items = design
            found[:, some] = _components(numbers, draws[some][:, items])
    return _Variances(*found.reshape(len(found), *values.weights.shape[:-1]))


def _components(numbers: Array, w: Array) -> Array:
    """The variances and their unit, shape (5, B), of a balanced design of shape (N, R, M) under weights of shape (B, N)."""
    _, t, m = numbers.shape
    z, unit = unit_free(numbers.reshape(len(numbers), t * m, 1))
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
    return np.stack(
        [
            (mss - mssr) / (m * t),
            ratio(msr - mssr, m * n),
            (mssr - mse) / m,
            mse,
            np.full(n.shape, unit),
        ]
    )
