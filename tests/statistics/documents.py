"""Documents whose sentences are the items of a round."""

from dataclasses import replace

import numpy as np
import pandas as pd

from agreement_pipeline.integrity import USUAL_INTEGRITY, Integrity
from agreement_pipeline.ratings import Ratings, Scale

TWO = Scale(("no", "yes"))


NOTHING_BOUNDED = Integrity(
    **{
        name: replace(bound, effect="not_asked")
        for name, bound in vars(USUAL_INTEGRITY).items()
        if not isinstance(bound, str)
    }
)
"""No fact about the round is asked: simulated documents are like each other."""


def documents(seed=0, *, n=30, sentences=8, hard=0.3, alike=True):
    """Ratings of the sentences of documents.

    Every rater guesses in a hard document. Unless `alike`, raters guess at hard sentences.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for document in range(n):
        all_hard = rng.random() < hard
        for sentence in range(sentences):
            guessed = all_hard if alike else rng.random() < hard
            truth = rng.integers(2)
            for rater in range(4):
                for occurrence in (1, 2) if sentence % 4 == 0 else (1,):
                    label = rng.integers(2) if guessed else truth
                    item = f"{document:03}-{sentence}"
                    rows.append(
                        (
                            item,
                            f"r{rater}",
                            TWO.names[label],
                            occurrence,
                            f"document {document}",
                            round(rng.random(), 1),
                        )
                    )
    return pd.DataFrame(
        rows, columns=["item", "rater", "label", "occurrence", "cluster", "confidence"]
    )


def ratings(frame, scale=TWO, classifiers=("r3",)):
    return Ratings.from_frame(frame, scale, classifiers=classifiers)


def without_clusters(frame):
    return frame.drop(columns="cluster")


def width(found):
    return found.interval.high - found.interval.low
