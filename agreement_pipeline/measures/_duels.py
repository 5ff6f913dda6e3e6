"""A classifier against each rater of the panel, item by item, judged by the other raters."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import LabelsByRater, NumbersByRater

Panel = LabelsByRater | NumbersByRater
ROUNDED = 1 + 1e-9
"""Distances that differ by less are equal: 5.1 and 4.9 are equally far from 5."""


class Duels(NamedTuple):
    """The classifier against each rater on each row, three arrays of shape (P, R).

    `held` is True where the two can be compared. `classifier` is True where the classifier is at
    least as close to the others as the rater is. `rater` is True where the rater is at least as
    close to them as the classifier is.
    """

    held: NDArray[np.bool_]
    classifier: NDArray[np.bool_]
    rater: NDArray[np.bool_]


def duels_of(panel: Panel) -> Duels:
    """The duels of a panel of labels or of numbers. Categories that are numbers are numbers."""
    if panel.holds == "numbers":
        return panel.kept(_of_numbers)
    return panel.kept(_of_scores if panel.scale.numeric else _of_labels)


def _of_labels(panel: LabelsByRater) -> Duels:
    """Closer is whose label more of the others gave."""
    codes, labels = panel.panel.codes, panel.labels[:, None]
    c = panel.panel.counts().counts
    held = (codes >= 0) & (labels >= 0) & (c.sum(1) >= 2)[:, None]
    with_classifier = (c * panel.label_indicators).sum(1)[:, None] - (codes == labels)
    with_rater = np.take_along_axis(c, np.maximum(codes, 0), 1) - 1
    return Duels(held, with_classifier >= with_rater, with_rater >= with_classifier)


def _of_scores(panel: LabelsByRater) -> Duels:
    scores = np.append(panel.scale.scores, np.nan)
    return _closer(scores[panel.panel.codes][:, :, None], scores[panel.labels][:, None])


def _of_numbers(panel: NumbersByRater) -> Duels:
    return _closer(panel.panel.values, panel.labels)


def _closer(values: Array, labels: Array) -> Duels:
    """Closer is whose root mean squared distance from the others is smaller.

    `values` are of shape (P, R, D), and `labels` of shape (P, D).
    """
    given = ~np.isnan(values[:, :, 0])
    held = given & ~np.isnan(labels[:, :1]) & (given.sum(1) >= 2)[:, None]
    far, far_raters = np.empty(given.shape), np.empty(given.shape)
    for j in range(values.shape[1]):
        others = np.delete(values, j, axis=1)
        far[:, j], far_raters[:, j] = _far(labels, others), _far(values[:, j], others)
    return Duels(held, far <= far_raters * ROUNDED, far_raters <= far * ROUNDED)


def _far(labels: Array, others: Array) -> Array:
    """The sum of squared distances from the others. Shape (P,)."""
    return np.asarray(np.nansum((others - labels[:, None]) ** 2, axis=(1, 2)))
