"""How much two different categories agree: the weights of weighted coefficients, after Gwet."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from agreement_pipeline.ratings import Array, Level, Scale

_ORDERED: frozenset[Level] = frozenset({"ordinal", "interval", "ratio"})


class Weighting(NamedTuple):
    """A rule that gives every pair of categories a weight, 0 for the pair furthest apart.

    `title` is what it adds to the title of a measure, and `formula` the distance of scores x and y
    up to its unit.
    """

    title: str
    formula: str
    distance: Callable[[Array], Array]
    levels: frozenset[Level] = _ORDERED

    def weight_matrix(self, scale: Scale) -> Array:
        """The weights on a scale; shape (K, K).

        >>> LINEAR.weight_matrix(Scale(("low", "middle", "high"), "ordinal")).tolist()
        [[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]]
        """
        return 1 - self.distances(scale)

    def distances(self, scale: Scale) -> Array:
        """They are shares of the largest one; shape (K, K)."""
        distance = self.distance(scale.scores)
        return distance / float(distance.max())

    def category_distances(self, scale: Scale, label_counts: Array) -> "CategoryDistances":
        distances = self.distances(scale)
        return CategoryDistances(distances, largest_used_distance(distances, label_counts))


class CategoryDistances(NamedTuple):
    """How far apart categories are, as shares of the largest distance on the scale (K, K).

    `unit` is the largest distance between two categories that are given (...). A category that
    nobody gave may be far away. Measured by it, all other categories would seem equal.
    """

    distances: Array
    unit: Array

    def agreement(self, disagreement: Array) -> Array:
        return np.asarray(1 - disagreement / self.unit)


def largest_used_distance(distances: Array, label_counts: Array) -> Array:
    """The largest distance between two categories that occur; 1 if that is 0; shape (...)."""
    used, largest = label_counts > 0, float(distances.max())
    if (distances[~np.eye(len(distances), dtype=bool)] == largest).all():
        return np.where((used.sum(-1) >= 2) & (largest > 0), largest, 1.0)
    lacks_category = np.asarray(~used.all(-1))
    is_used, unit = used[lacks_category], np.full(lacks_category.shape, largest)
    from_each = [
        np.where(is_used & is_used[..., [k]], distances[k], 0.0).max(-1)
        for k in range(len(distances))
    ]
    unit[lacks_category] = np.max(from_each, axis=0)
    return np.where(unit > 0, unit, 1.0)


def _absolute_differences(x: Array) -> Array:
    return np.abs(x[:, None] - x)


def _ordinal_distances(x: Array) -> Array:
    rank_differences = _absolute_differences(np.argsort(np.argsort(x)).astype(float)) + 1
    return rank_differences * (rank_differences - 1) / 2


def _ratio_distances(x: Array) -> Array:
    sums = x[:, None] + x
    return (_absolute_differences(x) / np.where(sums == 0, 1, sums)) ** 2


def _circular_distances(x: Array) -> Array:
    """The squared chord of two places on a circle. The highest is one place from the lowest."""
    return np.sin(np.pi * _absolute_differences(x) / (np.ptp(x) + 1)) ** 2


def _bipolar_distances(x: Array) -> Array:
    """Squared differences that count more towards the poles; 0 for a category with itself."""
    sums = x[:, None] + x
    from_poles = (sums - 2 * x.min()) * (2 * x.max() - sums)
    return _absolute_differences(x) ** 2 / np.where(np.eye(len(x)), 1, from_poles)


IDENTITY = Weighting(
    "",
    r"1_{x \ne y}",
    lambda x: (_absolute_differences(x) > 0).astype(float),
    frozenset({"nominal", "ordinal"}),
)
LINEAR = Weighting(", linear weights", r"|x - y|", _absolute_differences)
QUADRATIC = Weighting(", quadratic weights", r"(x - y)^2", lambda x: _absolute_differences(x) ** 2)
RADICAL = Weighting(
    ", radical weights", r"\sqrt{|x - y|}", lambda x: np.sqrt(_absolute_differences(x))
)
ORDINAL = Weighting(
    ", ordinal weights", r"\binom{|\mathrm{rank}(x) - \mathrm{rank}(y)| + 1}{2}", _ordinal_distances
)
RATIO = Weighting(
    ", ratio weights", r"\left(\frac{x - y}{x + y}\right)^2", _ratio_distances, frozenset({"ratio"})
)
CIRCULAR = Weighting(
    ", circular weights",
    r"\sin^2 \frac{\pi (x - y)}{x_{max} - x_{min} + 1}",
    _circular_distances,
    frozenset({"ordinal"}),
)
BIPOLAR = Weighting(
    ", bipolar weights",
    r"\frac{(x - y)^2}{(x + y - 2 x_{min}) (2 x_{max} - x - y)}",
    _bipolar_distances,
)

WEIGHTINGS = {
    "linear": LINEAR,
    "quadratic": QUADRATIC,
    "radical": RADICAL,
    "ordinal": ORDINAL,
    "ratio": RATIO,
    "circular": CIRCULAR,
    "bipolar": BIPOLAR,
}
