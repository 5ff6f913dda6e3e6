"""How far apart each two raters of a panel are, for all pairs at once."""

from typing import NamedTuple

import numpy as np

from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics.labels import LabelsByRater
from agreement_pipeline.statistics.numbers import NumbersByRater


class Apart(NamedTuple):
    """How far apart the raters are, two by two.

    Attributes
    ----------
    met
        How many items two raters share. Shape (R, R), with 0 for a rater and themselves.
    total
        The sum of the distances of their ratings there. Different labels are one apart. Numbers
        have the squared distance. Shape (R, R).
    """

    met: Array
    total: Array

    @property
    def of_pairs(self) -> Array:
        """The mean distance of two raters. Shape (R, R). It is nan if they never met."""
        return _mean(self.total, self.met)

    @property
    def of_raters(self) -> Array:
        """The mean distance of a rater from all others. Shape (R,). It is nan if none was met."""
        return _mean(self.total.sum(1), self.met.sum(1))


def raters_apart(panel: LabelsByRater | NumbersByRater) -> Apart:
    """How far apart the raters are, by a few products of matrices.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> codes, raters = [[0, 0, 1], [1, 1, -1]], ("ana", "ben", "cy")
    >>> labels = LabelsByRater(codes, [2, 3], scale=Scale(("no", "yes")), raters=raters)
    >>> raters_apart(labels).of_pairs[0].tolist()
    [nan, 0.0, 1.0]
    """
    given = panel.given.astype(float)
    met = _products(given, given, panel.weights)
    total = _unlike(panel, met) if isinstance(panel, LabelsByRater) else _squared(panel, given)
    others = ~np.eye(panel.n_raters, dtype=bool)
    return Apart(met * others, np.maximum(total, 0.0) * others)


def _unlike(labels: LabelsByRater, met: Array) -> Array:
    """How many items two raters labelled differently."""
    gave = ((labels.codes == k).astype(float) for k in range(len(labels.scale.names)))
    return np.asarray(met - sum(_products(x, x, labels.weights) for x in gave))


def _squared(numbers: NumbersByRater, given: Array) -> Array:
    """The sum of the squared distances of two raters' numbers."""
    x = np.nan_to_num(numbers.values - np.nanmean(numbers.values, axis=(0, 1)))
    squares = _products((x**2).sum(-1), given, numbers.weights)
    both = [_products(x[..., d], x[..., d], numbers.weights) for d in range(x.shape[-1])]
    return np.asarray(squares + squares.T - 2 * sum(both))


def _products(one: Array, other: Array, weights: Array) -> Array:
    """The sums of the products of two raters' columns. Shape (R, R) from two of (P, R)."""
    return np.asarray(one.T @ (weights[:, None] * other))


def _mean(total: Array, met: Array) -> Array:
    mean = np.full(met.shape, np.nan)
    np.divide(total, met, out=mean, where=met > 0)
    return mean
