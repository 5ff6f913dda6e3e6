"""Unseen items: items that nobody rated but that could occur.

They are of a typical size and split between two categories or two values in every way. A round in
which everybody agreed does not prove that everybody always will.
"""

from collections.abc import Callable

import numpy as np

from agreement_pipeline.ratings import MISSING, Array, Codes, Flags, Scale

MAX_TURNS = 8
UNSEEN_DISTANCE_FACTOR = 2
"""The largest difference seen on one item fits so many times between the two values of unseen ones.

A round of few items may not show the largest errors that occur.
"""
LARGE_ERROR_FACTOR, RATINGS_THAT_SHOW_ERROR = 10, 480
"""Errors so many times as large as others, in one rating in a hundred, show in so many ratings.

Such an error shows if it is over three times as large as others are, and 76 % of them are. So 480
ratings show none in 2.5 % of rounds.
"""
MAX_TAIL_FACTOR, MAX_AGREED_TAIL_FACTOR, ITEMS_THAT_SHOW_TAIL = 4.0, 12.0, 300.0
"""How many times the largest disagreement an unseen one may be if errors have a heavy tail.

And the same of an agreed item's distance from the mean, which so many items show.
"""


def categories_to_split_between(
    used: Array, scale: Scale, category: int | None = None
) -> tuple[int, int]:
    """The first is `category` or the most used one, and the second the farthest; nominally the most
    used.

    A split between neighbours would say that raters may differ a little, and the lower limit would
    not hold what it promises.
    """
    first_category = int(used.argmax()) if category is None else category
    return first_category, farthest_category(
        used, _distances_from(used, scale, first_category), first_category, scale.declared
    )


def places_of_split(split: tuple[int, int] | None, places: Codes) -> tuple[int, int] | None:
    return None if split is None else (int(places[split[0]]), int(places[split[1]]))


def farthest_category(used: Array, distances: Array, first_category: int, declared: bool) -> int:
    """Of several the most used one counts. Where none are declared, only the categories in use are
    known. A slip may reach every declared one.
    """
    is_other = np.arange(len(used)) != first_category
    in_use = is_other & (used > 0)
    candidates = is_other if declared or not in_use.any() else in_use
    return int(np.lexsort((-used, -np.where(candidates, distances, -1.0)))[0])


def _distances_from(used: Array, scale: Scale, first_category: int) -> Array:
    if scale.level == "nominal":
        return np.ones(len(used))
    scores = np.cumsum(used) - used / 2 if scale.level == "ordinal" else scale.scores
    distances = np.abs(scores - scores[first_category])
    total = scores + scores[first_category]
    return np.asarray(
        np.divide(distances, total, out=np.zeros_like(distances), where=total > 0)
        if scale.level == "ratio"
        else distances
    )


def typical_size(sizes: Array | Codes, weights: Array) -> int:
    """It is read off rows with two ratings or more, and is 2 if there are none."""
    common = np.bincount(sizes.astype(int), weights, minlength=3)
    return 2 + int(common[2:].argmax())


def category_splits(size: int, pair: tuple[int, int], n_categories: int) -> Array:
    """Counts of a row split in every way between two categories. Shape (size + 1, K)."""
    rows = np.zeros((size + 1, n_categories))
    rows[:, pair[0]], rows[:, pair[1]] = np.arange(size, -1, -1), np.arange(size + 1)
    return rows


def cell_splits(size: int, sizes: Codes, pair: tuple[int, int], used: Array) -> Array:
    """Shape (size + 1, C, K). Some cells hold each other category once: those with both categories
    and with twice as many labels as categories in use. A rater who chooses at random names all
    categories in so many labels.
    """
    other_categories = np.flatnonzero(used > 0)
    other_categories = other_categories[~np.isin(other_categories, pair)]
    n_first = np.rint(np.arange(size, -1, -1)[:, None] * sizes / size)
    mixed = (n_first > 0) & (n_first < sizes) & (sizes >= 2 * (2 + len(other_categories)))
    dealt = 1 + np.rint(
        (n_first - 1) * (sizes - 2 - len(other_categories)) / np.maximum(sizes - 2, 1)
    )
    rows = np.zeros((*n_first.shape, len(used)))
    rows[..., other_categories] = mixed[..., None]
    rows[..., pair[0]] = np.where(mixed, dealt, n_first)
    rows[..., pair[1]] = sizes - rows.sum(-1)
    return rows


def rater_splits(size: int, pair: tuple[int, int], n_raters: int, most_turns: int) -> Codes:
    """In a large panel each split is turned through some evenly spread places."""
    turns = min(n_raters, most_turns)
    place = (np.arange(n_raters) - np.arange(turns)[:, None] * n_raters // turns) % n_raters
    n_first = np.arange(size, -1, -1)[:, None, None]
    return np.where(place < n_first, pair[0], np.where(place < size, pair[1], MISSING)).reshape(
        -1, n_raters
    )


def rater_splits_where_met(
    is_rated: Flags,
    labelled: Flags,
    weights: Array,
    pair: tuple[int, int],
    most_turns: int,
) -> Codes:
    """Only items with two ratings or more count if a classifier labelled some. All items and raters
    count if none met any.
    """
    is_met, sizes = labelled & (weights > 0) & is_rated.any(1), is_rated.sum(1)
    rows, columns = np.full(len(is_rated), True), np.arange(is_rated.shape[1])
    if is_met.any():
        paired = is_met & (sizes >= 2)
        rows = paired if paired.any() else is_met
        columns = np.flatnonzero(is_rated[rows].any(0))
    size = min(typical_size(sizes[rows], weights[rows]), len(columns))
    splits = rater_splits(size, pair, len(columns), most_turns)
    codes = np.full((len(splits), is_rated.shape[1]), MISSING)
    codes[:, columns] = splits
    return codes


def mean_confidence(confidence: Array, rows: Array | Codes) -> Array:
    """The mean confidence of each rater where a row has a label, else nan."""
    stated, total = ~np.isnan(confidence), np.nansum(confidence, axis=0)
    nobody = np.full(total.shape, np.nan)
    mean = np.divide(total, stated.sum(0), out=nobody, where=stated.any(0))
    return np.where(rows >= 0, mean, np.nan)


def turn_replicating_raters(rater: Codes, item: Codes, weights: Array) -> list[Codes]:
    """As many as meet a typical item again, turned through all who met an item again."""
    items, n_raters = np.unique(item, return_counts=True)
    typical = 1 + int(np.bincount(n_raters, weights[items])[1:].argmax())
    raters = np.unique(rater)
    turns = -(-len(raters) // typical)
    return [np.roll(raters, -(turn * len(raters) // turns))[:typical] for turn in range(turns)]


def first_label_splits(size: int, pair: tuple[int, int], n_raters: int) -> Codes:
    gets_first = np.arange(n_raters) * size < np.arange(size, -1, -1)[:, None] * n_raters
    return np.where(gets_first, pair[0], pair[1])


def numbers_to_split_between(
    values: Array, weights: Array, scale: Scale, elsewhere: Callable[[Array, Array], Array]
) -> Array:
    """The two numbers of a split item, and of agreed ones, the lower one first (2, 2, D).

    On a declared scale they are categories, else those of `elsewhere`.
    """
    if scale.categories is None or not scale.declared:
        numbers = np.broadcast_to(elsewhere(values, weights), (2, 2, scale.dimensions))
        if scale.categories is not None:
            return np.clip(numbers, np.nanmin(values, (0, 1)), np.nanmax(values, (0, 1)))
        return np.asarray(np.maximum(numbers, 0.0) if scale.level == "ratio" else numbers)
    order, is_rated = np.argsort(scale.scores), ~np.isnan(values[:, :, 0])
    places = order[np.searchsorted(scale.scores[order], values[is_rated][:, 0])]
    times = np.repeat(weights, is_rated.sum(1))
    used = np.bincount(places, times, minlength=len(scale.scores)).astype(float)
    pair = np.sort(scale.scores[list(categories_to_split_between(used, scale))])
    return np.broadcast_to(pair[:, None], (2, 2, 1))


def far_values(values: Array, weights: Array) -> Array:
    """Typical values, moved apart to `UNSEEN_DISTANCE_FACTOR` times the largest difference on one
    item, inside the ratings.
    """
    is_rated = ~np.isnan(values[:, :, 0])
    numbers, typical = values[is_rated], typical_values(values, weights)
    if not len(numbers):
        return typical
    low, high = typical
    middle, reach = (low + high) / 2, UNSEEN_DISTANCE_FACTOR * _largest_difference(values) / 2
    return np.stack(
        [
            np.maximum(np.minimum(low, middle - reach), numbers.min(0)),
            np.minimum(np.maximum(high, middle + reach), numbers.max(0)),
        ]
    )


def tail_values(values: Array, weights: Array) -> Array:
    """The two numbers between which an unseen item is split, and the two of agreed items (2, 2, D).

    Two ratings :math:`d` apart differ by :math:`d^2 / 2`. That is the largest disagreement of an
    item, or more if errors have a heavy tail. A round of few ratings may not show its largest
    errors. So it is as much as if one rating had an error ten times as large as others, but in
    numbers `UNSEEN_DISTANCE_FACTOR` times as far apart as any of one item at most. Or it is as much
    as if a rating were meant for another item. Where nobody differed, a split item has the typical
    values.

    Agreed items lie at the largest distance from the mean, or farther if items have a heavy tail or
    are few, and never inside the typical values.
    """
    typical = typical_values(values, weights)
    n_ratings = (~np.isnan(values[:, :, 0])).sum(1)
    is_met = (n_ratings >= 2) & (weights > 0)
    if not is_met.any():
        return typical
    values = values[is_met]
    times = weights[is_met] / weights[is_met].sum()
    sizes = n_ratings[is_met]
    shares = times * sizes / (times @ sizes)
    items = np.nanmean(values, axis=1)
    middle = shares @ items
    unit = np.ldexp(1.0, np.frexp(np.nanmax(np.abs(values - middle), (0, 1)))[1])
    differ = np.nanvar(values / unit, axis=1, ddof=1)
    squared_distances = ((items - middle) / unit) ** 2
    few_ratings_factor = min(1.0, (RATINGS_THAT_SHOW_ERROR / (weights[is_met] @ sizes)) ** 2)
    between_items = shares @ (squared_distances - differ / sizes[:, None])
    large_error = LARGE_ERROR_FACTOR**2 / (times @ sizes) * (times @ differ)
    farthest = UNSEEN_DISTANCE_FACTOR * _largest_difference(values / unit)
    unseen = np.maximum(2 * between_items, np.minimum(large_error, farthest**2 / 2))
    tail = np.clip(
        _tail_heaviness(differ, times, times @ (2 / (sizes - 1))) ** 3, 1.0, MAX_TAIL_FACTOR
    )
    gap = unit * np.sqrt(2 * np.maximum(tail * differ.max(0), few_ratings_factor * unseen))
    lowest, highest = np.nanmin(values, (0, 1)), np.nanmax(values, (0, 1))
    gap = np.minimum(gap, highest - lowest)
    low = np.clip(middle - gap / 2, lowest, highest - gap)
    heavy = np.clip(
        _tail_heaviness(squared_distances, times, 2.0) ** 2, 1.0, MAX_AGREED_TAIL_FACTOR
    )
    reach = (
        heavy * max(1.0, ITEMS_THAT_SHOW_TAIL / weights[is_met].sum()) * squared_distances.max(0)
    )
    agreed = middle + unit * np.sqrt(reach) * np.array([[-1.0], [1.0]])
    split = np.where(differ.any(0), [low, low + gap], typical)
    return np.stack([split, [np.minimum(agreed[0], typical[0]), np.maximum(agreed[1], typical[1])]])


def _largest_difference(values: Array) -> Array:
    """The largest difference of two numbers of one item in each dimension, from (N, R, D)."""
    highest = np.where(np.isnan(values), -np.inf, values).max(1)
    return np.asarray((highest - np.where(np.isnan(values), np.inf, values).min(1)).max(0))


def _tail_heaviness(squares: Array, times: Array, normal: float) -> Array:
    """The coefficient of variation of squares over the one that normal numbers would have.

    `normal` is the square of the latter. Shape (D,) from squares (N, D). It is 0 if all are 0.
    """
    mean = times @ squares
    ratios = np.divide(squares, mean, out=np.ones_like(squares), where=mean > 0)
    return np.asarray(np.sqrt(times @ (ratios - 1) ** 2 / normal))


def typical_values(values: Array, weights: Array) -> Array:
    """The two nodes of the Gauss quadrature over all ratings in each dimension, shape (2, D).

    They have the mean, the variance and the skewness of all ratings. The root of the mean square is
    taken near 1, where squares are not lost.
    """
    is_rated = ~np.isnan(values[:, :, 0])
    numbers, shares = values[is_rated], np.repeat(weights, is_rated.sum(1))
    shares = shares / max(shares.sum(), np.finfo(float).tiny)
    deviations = numbers - shares @ numbers
    exponent = np.frexp(np.abs(deviations).max(0, initial=0.0))[1]
    spread = np.asarray(np.ldexp(np.sqrt(shares @ np.ldexp(deviations, -exponent) ** 2), exponent))
    skewness = shares @ (deviations / np.where(spread > 0, spread, 1.0)) ** 3
    gap = np.sqrt(skewness**2 + 4)
    nodes = shares @ numbers + spread * (skewness + np.stack([-gap, gap])) / 2
    return np.asarray(np.clip(nodes, numbers.min(0), numbers.max(0)) if len(numbers) else nodes)


def number_splits(size: int, places: int, numbers: Array) -> Array:
    """Rows of `size` numbers with k high ones for k from all to none (size + 1, places, D).

    The numbers stand in the first places. `numbers` are the low and the high one of rows with both,
    and of rows with one of them (2, 2, D).
    """
    (low, high), agreed = numbers
    place = np.arange(size)[:, None] + np.arange(len(low))
    rows = np.full((size + 1, places, len(low)), np.nan)
    high_ones = place % max(1, size) < np.arange(size, -1, -1)[:, None, None]
    rows[:, :size] = np.where(high_ones, high, low)
    rows[[-1, 0], :size] = agreed[:, None]
    return rows
