"""Panels beside classifiers of known accuracy."""

import numpy as np

from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import LabelsByRater

TWO = Scale(("no", "yes"))
N = 400


def labelled(seed, *accuracies):
    """A panel of three and classifiers that err on the same hard items, one row an item."""
    rng = np.random.default_rng(seed)
    truth, hard = rng.integers(2, size=(N, 1)), rng.random((N, 1)) < 0.3
    panel = np.where(hard & (rng.random((N, 3)) < 0.4), 1 - truth, truth)
    slips = np.where(hard, rng.random((N, 1)), 1.0)
    labels = np.hstack(
        [np.where((slips < 1) & (slips > accuracy), 1 - truth, truth) for accuracy in accuracies]
    )
    return LabelsByRater(panel, scale=TWO, raters="abc"), labels


def panels(seed, *accuracies):
    patterns, labels = labelled(seed, *accuracies)
    return [patterns.with_classifier(labels[:, k], f"model {k}") for k in range(len(accuracies))]
