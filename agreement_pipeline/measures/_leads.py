"""The leads of raters over a classifier, and the tests of the alternative-annotator test."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from agreement_pipeline.measures._duels import Duels, Panel
from agreement_pipeline.ratings import Array
from agreement_pipeline.students_t import lower_tail


class Leads(NamedTuple):
    """The duels with one rater, unit by unit: items, or the means of clusters.

    `weights` are how many units show each row. The other two are mean shares of wins.
    """

    weights: Array
    classifier: Array
    rater: Array

    @property
    def n(self) -> int:
        """How many units there are."""
        return round(float(self.weights.sum()))

    @property
    def shares(self) -> tuple[float | None, float | None]:
        """How often the classifier and the rater win, on average over the units."""
        total = self.weights.sum()
        if not total:
            return None, None
        return (
            float(self.weights @ self.classifier / total),
            float(self.weights @ self.rater / total),
        )


def leads_of(panel: Panel, duels: Duels, j: int) -> Leads:
    """The duels with rater j, item by item or cluster by cluster."""
    held = duels.held[:, j]
    weights, clusters = np.where(held, panel.weights, 0.0), panel.clusters
    if clusters is None:
        return Leads(weights, duels.classifier[:, j].astype(float), duels.rater[:, j].astype(float))
    items = clusters.held(panel.weights, held)
    wins, rater_wins = (
        clusters.held(panel.weights, held & won[:, j]) / np.where(items > 0, items, 1.0)
        for won in (duels.classifier, duels.rater)
    )
    return Leads(np.where(items > 0, clusters.times, 0.0), wins, rater_wins)


def p_value_of(lead: Array, weights: Array, epsilon: float) -> float:
    """The p-value of the hypothesis that the mean lead is `epsilon` or more.

    It is that of the t test, unless the lead never varies. Then it is the greatest probability of
    such a lead. A lead of at most 1 whose mean is `epsilon` takes a value c < 1 with probability
    `(1 - epsilon) / (1 - c)` at most.
    """
    n = weights.sum()
    mean = float(weights @ lead / n)
    variance = float(weights @ (lead - mean) ** 2 / (n - 1))
    if variance == 0:
        return min(1.0, (1 - epsilon) / (1 - mean)) ** float(n) if mean < 1 else 1.0
    return lower_tail((mean - epsilon) / math.sqrt(variance / n), round(float(n)) - 1)


def rejected_up_to(p_values: Sequence[float], rate: float) -> float:
    """The largest p-value that Benjamini and Yekutieli's procedure rejects; -1 if there is none."""
    ranks = range(1, len(p_values) + 1)
    harmonic = sum(1 / rank for rank in ranks)
    return max(
        (
            p
            for rank, p in zip(ranks, sorted(p_values), strict=True)
            if p <= rank * rate / (len(p_values) * harmonic)
        ),
        default=-1.0,
    )
