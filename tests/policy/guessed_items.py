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
    counts = np.stack([(codes == k).sum(1) for k in range(len(prevalence))], axis=1)
    number = counts @ (n_raters + 1) ** np.arange(len(prevalence))[::-1]
    _, first, times = np.unique(number, return_index=True, return_counts=True)
    scale = Scale(tuple("abcdefgh"[: len(prevalence)]))
    return CategoryCounts(counts[first], times, scale=scale, n_raters=n_raters)
