"""Rounds of raters who see clear items alike and guess otherwise."""

import numpy as np

from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import LabelsByRater

TWO = Scale(("no", "yes"))


def patterns(seed, n, raters=3, clear=0.8, categories=2):
    rng = np.random.default_rng(seed)
    codes = np.where(
        rng.random((n, 1)) < clear,
        rng.integers(categories, size=(n, 1)),
        rng.integers(categories, size=(n, raters)),
    )
    return LabelsByRater(
        codes,
        scale=Scale(tuple("abcde"[:categories])),
        raters=[str(rater) for rater in range(raters)],
    )


def squared_error(values):
    """The jackknife variance of values that were found without one item, or one rater, each."""
    return (len(values) - 1) / len(values) * ((values - np.mean(values)) ** 2).sum()
