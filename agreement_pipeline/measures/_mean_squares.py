"""The mean squares of the analysis of variance of ratings, and the share of variance that lies between items."""

from typing import NamedTuple

import numpy as np

from agreement_pipeline.measures._numbers import crossed_unit_free, unit_free
from agreement_pipeline.measures._registry import Coefficient, Condition, ratio
from agreement_pipeline.patterns import Array
from agreement_pipeline.values import RatingValues


class OneWay(NamedTuple):
    """Mean squares between and within items, and the number of ratings an item, each of shape (...)."""

    bms: Array
    wms: Array
    k: Array
    unit: float


class TwoWay(NamedTuple):
    """Mean squares of items, raters and the rest, and the number of items, each of shape (...); and the number of raters."""

    bms: Array
    jms: Array
    ems: Array
    n: Array
    k: float
    unit: float


def _few_items(values: RatingValues) -> bool:
    return bool(values.weights[values.sizes > 0].sum() - 1 <= 1e-12)


def _few_pairable_items(values: RatingValues) -> bool:
    return _few_items(values.at(values.pairable))


def _few_crossed_items(values: RatingValues) -> bool:
    return _few_items(values.crossed())


FEW_PAIRABLE_ITEMS = Condition("fewer than two items have two ratings", _few_pairable_items)
FEW_CROSSED_ITEMS = Condition("fewer than two items were rated by every rater", _few_crossed_items)


def one_way(values: RatingValues) -> OneWay:
    """The one-way analysis, over the items with two ratings or more: one rating cannot tell what lies between items from what lies within."""
    rated = values.at(values.seen & values.pairable)
    z, unit = unit_free(rated.values)
    w, m, sums = rated.weights, rated.sizes, np.nansum(z, axis=(1, 2))
    apart = np.nansum((z[:, :, 0] - (sums / m)[:, None]) ** 2, axis=1)
    n, total = w.sum(-1), w @ m
    bms = ratio(w @ (sums**2 / m) - ratio((w @ sums) ** 2, total), _positive(n - 1))
    k = ratio(total - ratio(w @ m**2, total), _positive(n - 1))
    return OneWay(bms, ratio(w @ apart, total - n), k, unit)


def two_way(values: RatingValues) -> TwoWay:
    """The two-way analysis, over the items that every rater rated."""
    z, w, unit = crossed_unit_free(values)
    z, k, n = z[:, :, 0], float(z.shape[1]), np.asarray(w.sum(-1))
    items, raters = z.mean(1), ratio(w @ z, n[..., None])
    mean = raters.mean(-1)
    bms = k * ratio(w @ items**2 - n * mean**2, _positive(n - 1))
    between_raters = n * ((raters - mean[..., None]) ** 2).sum(-1)
    rest = w @ ((z - items[:, None]) ** 2).sum(1) - between_raters
    return TwoWay(bms, ratio(between_raters, np.asarray(k - 1)), ratio(rest, _positive(n - 1) * (k - 1)), n, k, unit)


def share_between_items(between: Array, total: Array, unit: float) -> Coefficient:
    """The share of the total variance that lies between items; nan, and a total of 0, where the total is not positive."""
    total = np.where(total > 1e-12, total, 0.0)
    return Coefficient(ratio(between, total), observed=(total - between) * unit * unit, expected=total * unit * unit)


def no_variance(found: Coefficient) -> bool:
    """Whether the total variance of `share_between_items` is not positive."""
    return found.expected is None or not found.expected > 0


def _positive(count: Array) -> Array:
    return np.maximum(count, 0.0)
