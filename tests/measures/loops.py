"""Agreement as loops over pairs of ratings, slowly and as the sources define it."""

from itertools import permutations

import numpy as np


def slow_alpha(items, difference):
    """Krippendorff's α of lists of ratings, and its observed and expected disagreement."""
    items = [ratings for ratings in items if len(ratings) >= 2]
    every = [rating for ratings in items for rating in ratings]
    observed = sum(
        sum(difference(a, b) for a, b in permutations(ratings, 2)) / (len(ratings) - 1)
        for ratings in items
    ) / len(every)
    expected = sum(difference(a, b) for a, b in permutations(every, 2)) / (
        len(every) * (len(every) - 1)
    )
    return 1 - observed / expected, observed, expected


def slow_difference(level, every):
    """The squared difference of two ratings at a level; the ordinal one counts all ratings."""

    def ordinal(a, b):
        low, high = min(a, b), max(a, b)
        between = sum(low <= x <= high for x in every) - (every.count(low) + every.count(high)) / 2
        return between**2 if a != b else 0.0

    return {
        "nominal": lambda a, b: float(a != b),
        "ordinal": ordinal,
        "interval": lambda a, b: (a - b) ** 2,
        "ratio": lambda a, b: ((a - b) / (a + b)) ** 2 if a + b else 0.0,
    }[level]


def labels_in(rows):
    """The labels of each item, without missing ones."""
    return [[k for k in row if k >= 0] for row in rows]


def slow_agreement(rows, w):
    """The mean over items of how much two of their labels agree, by Gwet's convention."""
    pairs = ([w[a][b] for a, b in permutations(each, 2)] for each in labels_in(rows))
    return np.mean([np.mean(each) for each in pairs if each])


def slow_prevalence(rows, categories):
    """The mean over rated items of the share of each category."""
    return np.mean(
        [
            [each.count(k) / len(each) for k in range(categories)]
            for each in labels_in(rows)
            if each
        ],
        axis=0,
    )
