"""Rounds of items that are clear or guessed."""

import numpy as np

from agreement_pipeline import Scale
from agreement_pipeline.statistics import CategoryCounts

ALPHA = "krippendorff_alpha"


def rounds_of_clear_and_guessed_items(rng, clear, prevalence, n_raters, n_items):
    """Counts by category. An item is clear to all raters with that probability, or each guesses."""
    truth = rng.choice(len(prevalence), p=prevalence, size=(n_items, 1))
    guesses = rng.choice(len(prevalence), p=prevalence, size=(n_items, n_raters))
    codes = np.where(rng.random((n_items, 1)) < clear, truth, guesses)
    rows, times = np.unique(
        (codes[:, :, None] == np.arange(len(prevalence))).sum(1), axis=0, return_counts=True
    )
    return CategoryCounts(
        rows, times, scale=Scale(tuple("abcdefgh"[: len(prevalence)])), n_raters=n_raters
    )
