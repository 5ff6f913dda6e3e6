"""Measure how often intervals hold the truth if items come in clusters.

Items are resampled one by one, and as whole clusters.

    python benchmarks/clusters.py [rounds]

Four raters label the sentences of documents with yes or no. Three documents in ten are hard.
Every label in a hard document is a guess. All labels in other documents are right.
So Krippendorff's α of the population is the share of documents that are not hard.
"""

import sys

import numpy as np

from agreement_pipeline.estimates import estimate
from agreement_pipeline.intervals import Inference
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import Clusters, LabelsByRater

HARD, RATERS = 0.3, "abcd"
TRUTH = 1 - HARD
DESIGNS = ((240, 1), (80, 3), (30, 8), (12, 20), (100, 8))
N_RESAMPLES = 1_000


def drawn(rng, documents, sentences):
    """The ratings of a round, one row a sentence, and the document of each row."""
    hard = np.repeat(rng.random(documents) < HARD, sentences)[:, None]
    right, guessed = (
        rng.integers(2, size=(len(hard), 1)),
        rng.integers(2, size=(len(hard), len(RATERS))),
    )
    return LabelsByRater(
        np.where(hard, guessed, right), scale=Scale(("no", "yes")), raters=RATERS
    ), np.repeat(np.arange(documents), sentences)


def held(documents, sentences, rounds):
    """The shares of rounds in which the 95 % interval, and its lower limit, hold the truth.

    The first row is for sentences one by one, the second for whole documents.
    """
    rng = np.random.default_rng([documents, sentences])
    found = np.zeros((2, 2))
    for number in range(rounds):
        patterns, document = drawn(rng, documents, sentences)
        for way, seen in enumerate((patterns, patterns.in_clusters(Clusters.named(document)))):
            inference = Inference(n_resamples=N_RESAMPLES, seed=number)
            low, high = estimate("krippendorff_alpha", seen, inference).interval
            found[way] += (low <= TRUTH <= high, low <= TRUTH)
    return found / rounds


def main(rounds=1_000):
    """Print the table of docs/proofs/coverage.md."""
    print(
        "| documents | sentences in each | one by one: 95 % interval | its lower limit "
        "| whole documents: 95 % interval | its lower limit |"
    )
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    for documents, sentences in DESIGNS:
        shares = " | ".join(
            f"{100 * share:.1f}" for share in held(documents, sentences, rounds).ravel()
        )
        print(f"| {documents} | {sentences} | {shares} |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
