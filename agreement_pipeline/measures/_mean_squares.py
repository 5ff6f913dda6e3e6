"""The mean squares of the analysis of variance, and the share of variance between items."""

from typing import NamedTuple

import numpy as np

from agreement_pipeline.measures._numbers import unit_free
from agreement_pipeline.measures.coefficient import Coefficient, ratio
from agreement_pipeline.measures.registry import Condition
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import NumbersByRater


class OneWay(NamedTuple):
    """Mean squares between and within items, and the ratings per item, each of shape (...)."""

    bms: Array
    wms: Array
    k: Array
    unit: float


class TwoWay(NamedTuple):
    """Mean squares of items, raters and the rest, and the number of items, each of shape (...).

    `k` is the number of raters.
    """

    bms: Array
    jms: Array
    ems: Array
    n: Array
    k: float
    unit: float


def _few_items(values: NumbersByRater) -> bool:
    return bool(values.weights[values.sizes > 0].sum() - 1 <= 1e-12)


def _few_pairable_items(values: NumbersByRater) -> bool:
    return _few_items(values.at(values.pairable))


def _few_crossed_items(values: NumbersByRater) -> bool:
    return _few_items(values.crossed())


FEW_PAIRABLE_ITEMS = Condition("fewer than two items have two ratings", _few_pairable_items)
FEW_CROSSED_ITEMS = Condition("fewer than two items were rated by every rater", _few_crossed_items)


def one_way(values: NumbersByRater) -> OneWay:
    """The one-way analysis, over the items with two ratings or more.

    A single rating cannot separate the variance between items from the variance within them.
    """
    rated = values.at(values.seen & values.pairable)
    z, unit = unit_free(rated.values)
    w, m, sums = rated.weights, rated.sizes, np.nansum(z, axis=(1, 2))
    apart = np.nansum((z[:, :, 0] - (sums / m)[:, None]) ** 2, axis=1)
    n, total = w.sum(-1), w @ m
    bms = ratio(w @ (sums**2 / m) - ratio((w @ sums) ** 2, total), _positive(n - 1))
    k = ratio(total - ratio(w @ m**2, total), _positive(n - 1))
    return OneWay(bms, ratio(w @ apart, total - n), k, unit)


def two_way(values: NumbersByRater) -> TwoWay:
    """The two-way analysis, over the items that every rater rated.

    Each rater's first number is subtracted from their numbers. So a large constant of a rater costs
    no digits. Only `jms` depends on that constant.
    """
    x, w = _crossed(values)
    start = x[0] if len(x) else np.zeros(x.shape[1])
    z, unit = unit_free((x - start)[:, :, None])
    z, unit = z[:, :, 0], unit or float(np.ptp(start))
    added = (start - start[0]) / (unit or 1.0)
    k, n = float(z.shape[1]), np.asarray(w.sum(-1))
    items, raters = z.mean(1), ratio(w @ z, n[..., None])
    bms = k * ratio(w @ items**2 - n * raters.mean(-1) ** 2, _positive(n - 1))
    rest = w @ ((z - items[:, None]) ** 2).sum(1) - n * _apart(raters)
    jms = ratio(n * _apart(raters + added), np.asarray(k - 1))
    return TwoWay(bms, jms, ratio(rest, _positive(n - 1) * (k - 1)), n, k, unit)


def _crossed(values: NumbersByRater) -> tuple[Array, Array]:
    """The items that every rater rated; shape (N, R), and their weights; shape (..., N)."""
    crossed = values.crossed()
    crossed = crossed.at(crossed.seen)
    return crossed.values[:, :, 0], crossed.weights


def _apart(raters: Array) -> Array:
    """The sum of the squared distances of the raters' means from their common mean."""
    return np.asarray(((raters - raters.mean(-1)[..., None]) ** 2).sum(-1))


def share_between_items(between: Array, total: Array, unit: Array | float) -> Coefficient:
    """The share of the total variance that lies between items.

    Where the total is not positive, the share is nan and the total is 0.
    """
    total = np.where(total > 1e-12, total, 0.0)
    return Coefficient(
        ratio(between, total),
        observed=(total - between) * unit * unit,
        expected=total * unit * unit,
    )


def no_variance(found: Coefficient) -> bool:
    """True if `share_between_items` has no value because the total variance is not positive."""
    return bool(np.isnan(found.value))


def _positive(count: Array) -> Array:
    return np.maximum(count, 0.0)
