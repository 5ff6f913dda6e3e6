"""A round for the tests of pages: four people and a model, replicates, times and hostile texts."""

import numpy as np
import pandas as pd

from agreement_pipeline.policy import Policy
from agreement_pipeline.ratings import Ratings, Scale

HOSTILE = "<script>alert(1)</script> **bold** [link](http://example.org)"
RATERS = ("ana", "<b>ben</b>", "cyd", "dan")
CATEGORIES = ("safe", "<i>rude</i>", "hateful")
POLICY = Policy.from_mapping(
    {
        "policy": "pages",
        "version": 1,
        "description": "A description.",
        "n_resamples": 1000,
        "rules": [
            {"measure": "krippendorff_alpha", "min_items": 5},
            {"measure": "self_agreement_unbiased", "scope": "rater", "effect": "warn"},
        ],
    }
)


def rows(n_items=36):
    """One row a rating. Two camps differ on the second category, and the model is one of them."""
    rng = np.random.default_rng(7)
    made = []
    for item in range(n_items):
        true = item % 3
        for place, rater in enumerate((*RATERS, "model")):
            camp = 0 if true == 1 and place in (1, 3) and item % 4 else true
            said = int(rng.integers(3)) if rng.random() < 0.1 else camp
            again = 2 if item < 12 and rater != "model" else 1
            made += [row(item, rater, said, occurrence) for occurrence in range(1, again + 1)]
    return pd.DataFrame(made)


def row(item, rater, said, occurrence):
    """A rating, and two days later the same one again."""
    return {
        "item": f"i{item:02}",
        "rater": rater,
        "label": CATEGORIES[said],
        "occurrence": occurrence,
        "timestamp": f"2026-01-{2 * occurrence:02}T10:{item % 60:02}:00",
        "text": f"text {item} {HOSTILE}",
    }


def a_round():
    """The ratings of the round."""
    return Ratings.from_frame(rows(), Scale(CATEGORIES), classifiers=["model"])
