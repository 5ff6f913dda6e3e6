"""Test-retest reliability as loops over the labels of each rater."""

from itertools import permutations

import numpy as np
import pandas as pd

from agreement_pipeline.ratings import Ratings, Scale

LEVELS = ("nominal", "ordinal", "interval", "ratio")
NUMBERS = (1.0, 2.0, 4.0, 5.0)


def said_by(seed, raters=3, items=9, most=4, truthful=0.6):
    """The numbers of each rater by item, in order of meetings: one dictionary per rater."""
    rng = np.random.default_rng(seed)
    of_each = []
    for rater in range(raters):
        truth = rng.choice(NUMBERS[: 2 + rater % 3], size=items)
        times = rng.integers(1, most + 1, size=items)
        of_each.append(
            {
                u: [
                    truth[u] if rng.random() < truthful else rng.choice(NUMBERS)
                    for _ in range(times[u])
                ]
                for u in range(items)
            }
        )
    return of_each


def ratings_of(of_each, scale):
    rows = [
        (f"i{u}", f"r{rater}", x, occurrence)
        for rater, of_items in enumerate(of_each)
        for u, numbers in of_items.items()
        for occurrence, x in enumerate(numbers, 1)
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label", "occurrence"])
    return Ratings.from_frame(
        frame.assign(label=frame["label"].map("{:g}".format)) if not scale.numeric else frame, scale
    )


def scale_of(level):
    return Scale(
        NUMBERS if level in ("interval", "ratio") else tuple(f"{x:g}" for x in NUMBERS), level
    )


def again(of_items):
    return [numbers for numbers in of_items.values() if len(numbers) >= 2]


def apart(level, pool, c, k):
    if level == "nominal":
        return float(c != k)
    if level == "ordinal":
        low, high = min(c, k), max(c, k)
        between = sum(low <= x <= high for x in pool) - (pool.count(low) + pool.count(high)) / 2
        return (between / len(pool)) ** 2 if c != k else 0.0
    return (c - k) ** 2 if level == "interval" else ((c - k) / (c + k)) ** 2


def disagreements(cells, level):
    """n, D_o and D_e, as loops over pairs of labels."""
    pool = [x for cell in cells for x in cell]
    n = len(pool)
    within = sum(
        sum(apart(level, pool, a, b) for a, b in permutations(cell, 2)) / (len(cell) - 1)
        for cell in cells
    )
    between = sum(apart(level, pool, a, b) for a, b in permutations(pool, 2))
    return n, within / n, between / (n * (n - 1))


def looped_alpha(of_each, level):
    own = [disagreements(again(of_items), level) for of_items in of_each]
    own = [(n, d_o, d_e) for n, d_o, d_e in own if d_e > 0]
    return 1 - sum(n * d_o for n, d_o, _ in own) / sum(n * d_e for n, _, d_e in own)


def looped_kappa(of_each, label=None):
    above = below = 0.0
    for of_items in of_each:
        cells = [[x if label is None else x == label for x in cell] for cell in again(of_items)]
        p_o = np.mean([np.mean([a == b for a, b in permutations(cell, 2)]) for cell in cells])
        p = {
            c: np.mean([cell.count(c) / len(cell) for cell in cells])
            for cell in cells
            for c in cell
        }
        p_e = sum(share**2 for share in p.values())
        above, below = above + len(cells) * (p_o - p_e), below + len(cells) * (1 - p_e)
    return above / below


def looped_weighted_kappa(of_each, w):
    """Kappa as loops over pairs of labels, weighted by how much their categories agree."""
    above = below = 0.0
    for of_items in of_each:
        cells = [[NUMBERS.index(x) for x in cell] for cell in again(of_items)]
        p_o = np.mean([np.mean([w[a][b] for a, b in permutations(cell, 2)]) for cell in cells])
        p = [np.mean([cell.count(k) / len(cell) for cell in cells]) for k in range(len(NUMBERS))]
        p_e = sum(w[k][j] * p[k] * p[j] for k in range(len(NUMBERS)) for j in range(len(NUMBERS)))
        above, below = above + len(cells) * (p_o - p_e), below + len(cells) * (1 - p_e)
    return above / below


def looped_icc(of_each):
    between_all = total_all = 0.0
    for of_items in of_each:
        cells = again(of_items)
        n, m = len(cells), sum(map(len, cells))
        mean = sum(map(sum, cells)) / m
        bms = sum(len(cell) * (np.mean(cell) - mean) ** 2 for cell in cells) / (n - 1)
        wms = sum((x - np.mean(cell)) ** 2 for cell in cells for x in cell) / (m - n)
        k = (m - sum(len(cell) ** 2 for cell in cells) / m) / (n - 1)
        between_all, total_all = (
            between_all + n * (bms - wms) / k,
            total_all + n * ((bms - wms) / k + wms),
        )
    return between_all / total_all
