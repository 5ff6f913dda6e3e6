"""Unseen items: items that nobody rated but that could occur.

They are of a typical size and split between two categories or two values in every way. A round in
which everybody agreed does not prove that everybody always will.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from agreement_pipeline.ratings import MISSING, Array, Codes, Scale

Pair = tuple[Array, Array]

MAX_TURNS = 8
TIMES_APART = 2
"""How many of the largest differences seen on one item lie between the two values of unseen ones.

A round of few items may not show the largest errors that occur.
"""


def split_between(used: Array, scale: Scale, category: int | None = None) -> tuple[int, int]:
    """The two categories between which an unseen item is split.

    The first is `category` or the category used most. The second is the one that is farthest from
    the first; on the nominal level the most used. A split between neighbours would say that raters
    may differ a little, and the lower limit would not hold what it promises.
    """
    first = int(used.argmax()) if category is None else category
    return first, farthest(used, _distances(used, scale, first), first, scale.declared)


def split_at(split: tuple[int, int] | None, places: Codes) -> tuple[int, int] | None:
    """The same two categories, if the categories have other places."""
    return None if split is None else (int(places[split[0]]), int(places[split[1]]))


def farthest(used: Array, distances: Array, first: int, declared: bool) -> int:
    """The other category that is farthest from the first. Of several the most used.

    Where none are declared, only the categories in use are known. A slip may reach every declared
    one.
    """
    others = np.arange(len(used)) != first
    in_use = others & (used > 0)
    candidates = others if declared or not in_use.any() else in_use
    return int(np.lexsort((-used, -np.where(candidates, distances, -1.0)))[0])


def _distances(used: Array, scale: Scale, first: int) -> Array:
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
    """The most common number of ratings in rows with two or more; 2 if there are none."""
    common = np.bincount(sizes.astype(int), weights, minlength=3)
    return 2 + int(common[2:].argmax())


def category_splits(size: int, pair: tuple[int, int], n_categories: int) -> Array:
    """Every split of an item of `size` ratings as counts by category. Shape (size + 1, K)."""
    rows = np.zeros((size + 1, n_categories))
    rows[:, pair[0]], rows[:, pair[1]] = np.arange(size, -1, -1), np.arange(size + 1)
    return rows


def cell_splits(size: int, sizes: Codes, pair: tuple[int, int], used: Array) -> Array:
    """Every split of an item that raters meet again in cells of `sizes` (size + 1, C, K).

    Some cells hold each other category once: cells with both categories and with twice as many
    labels as categories in use. A rater who chooses at random names all categories in so many
    labels.
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


def rater_splits(size: int, pair: tuple[int, int], n_raters: int, most_turns: int) -> Codes:
    """Every split of an item as codes by rater, turned through the places of raters.

    In a large panel each is turned through some evenly spread places.
    """
    turns = min(n_raters, most_turns)
    place = (np.arange(n_raters) - np.arange(turns)[:, None] * n_raters // turns) % n_raters
    of_first = np.arange(size, -1, -1)[:, None, None]
    return np.where(place < of_first, pair[0], np.where(place < size, pair[1], MISSING)).reshape(
        -1, n_raters
    )


def splits_like(
    given: NDArray[np.bool_], weights: Array, pair: tuple[int, int], most_turns: int
) -> Codes:
    """Every split of an item that is typical of the ratings given. Codes by rater."""
    n_raters = given.shape[1]
    size = min(typical_size(given.sum(1), weights), n_raters)
    return rater_splits(size, pair, n_raters, most_turns)


def splits_met(
    given: NDArray[np.bool_],
    labelled: NDArray[np.bool_],
    weights: Array,
    pair: tuple[int, int],
    most_turns: int,
) -> Codes:
    """Every split of an item that is typical of what a classifier met. Codes by rater.

    Only items with two ratings or more count if the classifier labelled some. All items and raters
    count if it met none.
    """
    met = labelled & (weights > 0) & given.any(1)
    if not met.any():
        return splits_like(given, weights, pair, most_turns)
    paired = met & (given.sum(1) >= 2)
    rows = paired if paired.any() else met
    columns = np.flatnonzero(given[rows].any(0))
    found = splits_like(given[rows][:, columns], weights[rows], pair, most_turns)
    codes = np.full((len(found), given.shape[1]), MISSING)
    codes[:, columns] = found
    return codes


def mean_confidence(confidence: Array, rows: Codes) -> Array:
    """The mean confidence that each rater stated for unseen rows of codes."""
    stated, total = ~np.isnan(confidence), np.nansum(confidence, axis=0)
    nobody = np.full(total.shape, np.nan)
    mean = np.divide(total, stated.sum(0), out=nobody, where=stated.any(0))
    return np.where(rows >= 0, mean, np.nan)


def met_again(rater: Codes, item: Codes, weights: Array) -> list[Codes]:
    """The raters who meet an unseen item again: as many as meet a typical item again.

    They are turned through all raters who met an item again.
    """
    items, n_raters = np.unique(item, return_counts=True)
    typical = 1 + int(np.bincount(n_raters, weights[items])[1:].argmax())
    raters = np.unique(rater)
    turns = -(-len(raters) // typical)
    return [np.roll(raters, -(turn * len(raters) // turns))[:typical] for turn in range(turns)]


def first_labels(size: int, pair: tuple[int, int], n_raters: int) -> Codes:
    """The first labels of raters who all split their own `size` ratings alike, (size + 1, R)."""
    given_first = np.arange(n_raters) * size < np.arange(size, -1, -1)[:, None] * n_raters
    return np.where(given_first, pair[0], pair[1])


def two_numbers(
    values: Array, weights: Array, scale: Scale, elsewhere: Callable[[Array, Array], Pair]
) -> Pair:
    """The two numbers between which an unseen item is split, the lower one first.

    On declared categories, they are the one used most and the one farthest from it. Else they are
    those of `elsewhere`. Shapes (D,) from values (N, R, D).
    """
    if scale.categories is None or not scale.declared:
        return elsewhere(values, weights)
    order, given = np.argsort(scale.scores), ~np.isnan(values[:, :, 0])
    places = order[np.searchsorted(scale.scores[order], values[given][:, 0])]
    times = np.repeat(weights, given.sum(1))
    used = np.bincount(places, times, minlength=len(scale.scores)).astype(float)
    low, high = np.sort(scale.scores[list(split_between(used, scale))])
    return np.array([low]), np.array([high])


def far_values(values: Array, weights: Array) -> Pair:
    """The typical values, moved apart to `TIMES_APART` the largest difference on one item.

    They never lie outside the ratings. Shapes (D,) from values (N, R, D).
    """
    given = ~np.isnan(values[:, :, 0])
    numbers, (low, high) = values[given], typical_values(values, weights)
    if not len(numbers):
        return low, high
    highest = np.where(np.isnan(values), -np.inf, values).max(1)
    apart = np.asarray(highest - np.where(np.isnan(values), np.inf, values).min(1)).max(0)
    middle, reach = (low + high) / 2, TIMES_APART * apart / 2
    return (
        np.maximum(np.minimum(low, middle - reach), numbers.min(0)),
        np.minimum(np.maximum(high, middle + reach), numbers.max(0)),
    )


def typical_values(values: Array, weights: Array) -> Pair:
    """The two nodes of the Gauss quadrature over all ratings in each dimension.

    They have the mean, the variance and the skewness of all ratings, and never lie outside them.
    Shapes (D,) from values (N, R, D). The root of the mean square is taken near 1, where squares
    are not lost.
    """
    given = ~np.isnan(values[:, :, 0])
    numbers, each = values[given], np.repeat(weights, given.sum(1))
    each = each / max(each.sum(), np.finfo(float).tiny)
    apart = numbers - each @ numbers
    exponent = np.frexp(np.abs(apart).max(0, initial=0.0))[1]
    spread = np.asarray(np.ldexp(np.sqrt(each @ np.ldexp(apart, -exponent) ** 2), exponent))
    skewness = each @ (apart / np.where(spread > 0, spread, 1.0)) ** 3
    gap = np.sqrt(skewness**2 + 4)
    nodes = each @ numbers + spread * (skewness + np.stack([-gap, gap])) / 2
    low, high = np.clip(nodes, numbers.min(0), numbers.max(0)) if len(numbers) else nodes
    return low, high


def number_splits(size: int, places: int, low: Array, high: Array) -> Array:
    """Rows of `size` numbers with k high ones for k from all to none (size + 1, places, D)."""
    place = np.arange(size)[:, None] + np.arange(len(low))
    rows = np.full((size + 1, places, len(low)), np.nan)
    high_ones = place % max(1, size) < np.arange(size, -1, -1)[:, None, None]
    rows[:, :size] = np.where(high_ones, high, low)
    return rows


def turned(rows: Array) -> Array:
    """Each row turned through the places of raters: all of them or some in a large panel."""
    n_raters = rows.shape[1]
    turns = min(n_raters, MAX_TURNS)
    return np.concatenate(
        [np.roll(rows, turn * n_raters // turns, axis=1) for turn in range(turns)]
    )
