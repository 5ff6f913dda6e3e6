"""Populations that a classifier labelled, and panels that labelled some of their items."""

import numpy as np
import pandas as pd

from agreement_pipeline import Ratings, Scale

SCALE = Scale(("no", "yes"))


def ratings_of(rows, scale=SCALE, classifiers=("model",), **columns):
    """Ratings from rows of (item, rater, label), with further columns of items by name."""
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    for name, of_item in columns.items():
        frame[name] = frame["item"].map(of_item)
    return Ratings.from_frame(frame, scale, classifiers=classifiers)


def simulated(rng, n_items=400, n=60, n_raters=3, share=0.3, names=("no", "yes")):
    """Rows of a classifier that is mostly right, and rows of a panel for some items."""
    true = rng.random(n_items) < share
    said = np.where(rng.random(n_items) < 0.9, true, ~true)
    items = [f"i{place:04}" for place in range(n_items)]
    population = [
        (item, "model", names[int(label)]) for item, label in zip(items, said, strict=True)
    ]
    drawn = np.sort(rng.choice(n_items, n, replace=False))
    panel = [
        (items[place], f"r{rater}", names[int(true[place] ^ (rng.random() < 0.1))])
        for place in drawn
        for rater in range(n_raters)
    ]
    return population, panel
