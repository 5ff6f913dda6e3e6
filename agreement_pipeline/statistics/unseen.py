"""Items that were not seen but could have been: of a typical size, and split between two categories in every way.

A round in which everybody agreed does not prove that they always will. Such items, given a little weight, keep an interval from saying so.
"""

import numpy as np

from agreement_pipeline.ratings import MISSING, Array, Codes, Scale

MAX_TURNS = 8


def split_between(used: Array, scale: Scale, category: int | None = None) -> tuple[int, int]:
    """The two categories such an item is split between: the most used, or `category`, and of those in use the one farthest from it.

    On the nominal level all are equally far, and the most used of them is taken. On the others a split between neighbours would say that
    raters may differ a little; farther ones are needed for the lower limit to hold what it promises.
    """
    first = int(used.argmax()) if category is None else category
    return first, farthest(used, _distances(used, scale, first), first)


def farthest(used: Array, distances: Array, first: int) -> int:
    """Of the other categories in use the one at the largest distance from the first, and of these the most used; of all others where none is in use."""
    others = np.arange(len(used)) != first
    candidates = others & (used > 0) if (others & (used > 0)).any() else others
    return int(np.lexsort((-used, -np.where(candidates, distances, -1.0)))[0])


def _distances(used: Array, scale: Scale, first: int) -> Array:
    """How far each category is from the first one, at the scale's level."""
    if scale.level == "nominal":
        return np.ones(len(used))
    scores = np.cumsum(used) - used / 2 if scale.level == "ordinal" else scale.scores
    apart = np.abs(scores - scores[first])
    total = scores + scores[first]
    return np.asarray(
        np.divide(apart, total, out=np.zeros_like(apart), where=total > 0)
        if scale.level == "ratio"
        else apart
    )


def typical_size(sizes: Array | Codes, weights: Array) -> int:
    """The most common number of ratings among the rows that hold two or more; 2 when none does."""
    common = np.bincount(sizes.astype(int), weights, minlength=3)
    return 2 + int(common[2:].argmax())


def category_splits(size: int, pair: tuple[int, int], n_categories: int) -> Array:
    """Every split of an item of `size` ratings, as counts by category, shape (size + 1, K)."""
    rows = np.zeros((size + 1, n_categories))
    rows[:, pair[0]], rows[:, pair[1]] = np.arange(size, -1, -1), np.arange(size + 1)
    return rows


def cell_splits(size: int, sizes: Codes, pair: tuple[int, int], used: Array) -> Array:
    """The splits of `category_splits` in cells of `sizes` or fewer, shape (size + 1, C, K), for what a rater says of an item she meets again.

    A cell that holds both categories, and twice as many labels as there are categories in use, holds each other one once: who chooses at random
    names them all in so many, and a cell without one of them would say that she never does.
    """
    others = np.flatnonzero(used > 0)
    others = others[~np.isin(others, pair)]
    first = np.rint(np.arange(size, -1, -1)[:, None] * sizes / size)
    mixed = (first > 0) & (first < sizes) & (sizes >= 2 * (2 + len(others)))
    dealt = 1 + np.rint((first - 1) * (sizes - 2 - len(others)) / np.maximum(sizes - 2, 1))
    rows = np.zeros((*first.shape, len(used)))
    rows[..., others] = mixed[..., None]
    rows[..., pair[0]] = np.where(mixed, dealt, first)
    rows[..., pair[1]] = sizes - rows.sum(-1)
    return rows


def rater_splits(
    size: int, pair: tuple[int, int], n_raters: int, most_turns: int = MAX_TURNS
) -> Codes:
    """The same splits as codes by rater, each turned so that raters stand in every place; in a large panel, in several evenly spread ones."""
    turns = min(n_raters, most_turns)
    place = (np.arange(n_raters) - np.arange(turns)[:, None] * n_raters // turns) % n_raters
    of_first = np.arange(size, -1, -1)[:, None, None]
    return np.where(place < of_first, pair[0], np.where(place < size, pair[1], MISSING)).reshape(
        -1, n_raters
    )


def met_again(rater: Codes, item: Codes, weights: Array) -> list[Codes]:
    """The raters who meet an unseen item again: as many as meet a typical one, turned through all who met any.

    Were it all of them, what is not known of each would weigh as often as there are raters, however few meet each item again.
    """
    items, n_raters = np.unique(item, return_counts=True)
    typical = 1 + int(np.bincount(n_raters, weights[items])[1:].argmax())
    raters = np.unique(rater)
    turns = -(-len(raters) // typical)
    return [np.roll(raters, -(turn * len(raters) // turns))[:typical] for turn in range(turns)]


def first_labels(size: int, pair: tuple[int, int], n_raters: int) -> Codes:
    """The first labels of raters who all split their own `size` ratings of an item in the same way, shape (size + 1, R): split so too."""
    given_first = np.arange(n_raters) * size < np.arange(size, -1, -1)[:, None] * n_raters
    return np.where(given_first, pair[0], pair[1])
