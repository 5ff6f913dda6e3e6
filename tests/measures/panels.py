"""Panels beside a classifier, and tables of two raters."""

import numpy as np

from agreement_pipeline import Scale
from agreement_pipeline.statistics import LabelsByRater

SCALE = Scale(tuple("abc"))


def panel_of(codes, scale=SCALE, weights=None):
    """A panel beside a classifier, to whom the last column belongs."""
    codes = np.asarray(codes)
    names = [f"r{j}" for j in range(codes.shape[1] - 1)]
    panel = LabelsByRater(codes[:, :-1], weights, scale=scale, raters=names)
    return panel.with_classifier(codes[:, -1], "model")


def of_table(table):
    """How often one rater gave the category of the row, and the other that of the column."""
    k = len(table)
    codes, scale = list(np.ndindex(k, k)), Scale(tuple("abcd"[:k]))
    return LabelsByRater(codes, np.ravel(table), scale=scale, raters=("one", "other"))
