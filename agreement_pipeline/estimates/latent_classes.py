"""Items in latent classes, and how raters label each class.

The model is that of Dawid and Skene, for raters who are alike. Each item belongs to one class, and
each category has a class. Given the class, ratings are independent. With fewer than three ratings
an item, ratings do not tell prevalence from errors.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agreement_pipeline.ratings import Array

MOST_STEPS = 1000
SETTLED = 1e-6
CELLS = 2_000_000


class Latent(NamedTuple):
    """What the ratings say of the classes.

    Attributes
    ----------
    shares
        How common each class is. Shape (..., T).
    labels
        How raters label items of each class. Shape (..., T, K).
    settled
        True where the search came to its end. Shape (...).
    """

    shares: Array
    labels: Array
    settled: NDArray[np.bool_]

    def classes(self, rows: Array) -> Array:
        """How probable each class is for each row of counts. Shape (..., P, T)."""
        with np.errstate(divide="ignore"):
            # A label that a class never gets rules the class out; 0 · ln 0 is 0.
            logs = np.maximum(np.log(self.labels), -1e9)
            likely = rows @ logs.swapaxes(-1, -2) + np.log(self.shares)[..., None, :]
        likely = np.exp(likely - likely.max(-1, keepdims=True))
        return np.asarray(likely / likely.sum(-1, keepdims=True))


def latent_classes(rows: Array, weights: Array) -> Latent:
    """The classes that explain the ratings best, found from each item's most frequent label.

    `rows` are counts of labels (P, K), and `weights` how many items show each (P,).
    """
    most = rows == rows.max(1, keepdims=True)
    start = _explained(rows, weights, most / most.sum(1, keepdims=True))
    return _settled(rows, weights, start)


def refitted(rows: Array, weights: Array, start: Latent) -> Latent:
    """The classes under resampled weights (B, P), found from those of the sample."""
    size = max(1, CELLS // rows.size)
    parts = [
        _settled(rows, weights[first : first + size], start)
        for first in range(0, len(weights), size)
    ]
    return Latent(*(np.concatenate(found) for found in zip(*parts, strict=True)))


def _settled(rows: Array, weights: Array, found: Latent) -> Latent:
    """Expectation and maximisation in turn, until nothing moves."""
    for _ in range(MOST_STEPS):
        before, found = found, _explained(rows, weights, found.classes(rows))
        moved = np.maximum(
            abs(found.shares - before.shares).max(-1),
            abs(found.labels - before.labels).max((-1, -2)),
        )
        if (moved < SETTLED).all():
            break
    return found._replace(settled=np.asarray(moved < SETTLED))


def _explained(rows: Array, weights: Array, classes: Array) -> Latent:
    """The shares of the classes and their labels, if the class of each row is known."""
    held = classes * weights[..., None]
    mass = held.sum(-2)
    given = held.swapaxes(-1, -2) @ rows
    with np.errstate(invalid="ignore"):
        shares = mass / mass.sum(-1, keepdims=True)
        labels = given / given.sum(-1, keepdims=True)
    return Latent(shares, np.nan_to_num(labels), np.zeros(weights.shape[:-1], dtype=bool))
