"""Items whose whole rows of labels are copies of those of other items, as far as counts can tell.

Items that were labelled one by one fall into the possible rows of labels as balls fall into urns,
however the raters err and depend on each other: the number of items of a row is a Poisson variable
with a mean of its own. This bounds how the numbers of several rows may lie together, whatever the
means are. Only rows on which raters differ are read, since a team may have drawn the same number of
items of each category, and agree on them.
"""

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from agreement_pipeline.ratings import Ratings

Codes = np.ndarray[Any, Any]
MAX_FALSE_ALARM_RATE = 1e-3
"""At most this share of honest rounds, by both tests and all numbers of copies together."""
MIN_ROWS = 5
"""Fewer distinct rows on which raters differ never suffice."""
MAX_COPIES_PER_ROW = 10_000
N_GRID_POINTS, N_MULTIPLES = 800, 40


class CopiedRows(NamedTuple):
    """Distinct rows of labels of the panel, packed, which `n_copies` items have for each genuine
    one.
    """

    words: Codes
    n_items: Codes
    n_copies: int

    @property
    def n_too_many(self) -> int:
        """How many items only copy another one."""
        return int((self.n_items - self.n_items // self.n_copies).sum())


def find_copied_rows(ratings: Ratings) -> CopiedRows | None:
    """None if chance explains how many items have equal rows of labels.

    Two tests ask for each number m of copies. Are too many numbers of items multiples of m? And do
    too many rows have m items exactly, beside those with m - 1 and m + 1?
    """
    words, n_items = ratings.panel_rows
    several = np.flatnonzero(n_items > 1)
    differs = several[ratings.rows_that_differ(words[several])]
    if len(differs) < MIN_ROWS:
        return None
    # Rows of a single item only speak against copies, so they are looked at last.
    if least_likely_number_of_copies(n_items[differs]) is None:
        return None
    single = np.flatnonzero(n_items == 1)
    n_single = int(ratings.rows_that_differ(words[single]).sum())
    n_copies = least_likely_number_of_copies(
        np.append(n_items[differs], np.ones(n_single, dtype=np.int64))
    )
    if n_copies is None:
        return None
    # Where all rows are copied, so are those on which everybody agrees.
    are_all = bool((n_items % n_copies == 0).all())
    copied = np.arange(len(n_items)) if are_all else differs[n_items[differs] % n_copies == 0]
    return CopiedRows(words[copied], n_items[copied], n_copies)


def drop_copied_rows(ratings: Ratings) -> Ratings:
    """One item for each number of copies stays."""
    copied = find_copied_rows(ratings)
    if copied is None:
        return ratings
    return ratings.with_fewer_of_rows(copied.words, copied.n_items // copied.n_copies)


def least_likely_number_of_copies(n_items: Codes) -> int | None:
    """The number of copies that chance explains least, if it does not, of the numbers of items that
    have each row.
    """
    max_copies = min(int(n_items.max()), MAX_COPIES_PER_ROW)
    rows_by_size = np.bincount(np.minimum(n_items, max_copies + 1), minlength=max_copies + 2)
    sizes = np.unique(n_items[(n_items > 1) & (n_items <= max_copies)])
    divisors = {m for size in sizes.tolist() for m in range(2, size + 1) if size % m == 0}
    chances = [(_chance_of_multiples(n_items, m), m) for m in sorted(divisors)] + [
        (_chance_of_size(rows_by_size, m), m) for m in sizes.tolist()
    ]
    # The bound falls with m, so that all numbers together stay under it.
    alarms = [
        (p * m * (m - 1), m) for p, m in chances if p <= MAX_FALSE_ALARM_RATE / (2 * m * (m - 1))
    ]
    return min(alarms)[1] if alarms else None


def _chance_of_multiples(n_items: Codes, m: int) -> float:
    n_multiples = int((n_items % m == 0).sum())
    if n_multiples < MIN_ROWS:
        return 1.0
    from scipy.special import bdtrc  # scipy.stats takes as long to load as a table to be judged

    return float(bdtrc(n_multiples - 1, len(n_items), most_likely_multiple(m)))


@cache
def most_likely_multiple(m: int) -> float:
    """The highest chance that a Poisson number above 0 is a multiple of m, over all means.

    >>> [round(most_likely_multiple(m), 3) for m in (2, 3, 20)]
    [0.5, 0.333, 0.089]
    """
    from scipy.special import gammaln

    means = np.geomspace(m / 8, 8 * m, N_GRID_POINTS)
    sizes = m * np.arange(1, N_MULTIPLES + 1)
    logarithms = sizes * np.log(means)[:, None] - means[:, None] - gammaln(sizes + 1)
    chances = np.exp(logarithms).sum(1) / -np.expm1(-means)
    return max(float(chances.max()), 1 / m)


def _chance_of_size(rows_by_size: Codes, m: int) -> float:
    """How likely so many rows have m items, beside those with one less and one more.

    For any mixture of Poisson means, m! times the share of rows with m items is log-convex in m. So
    the expected number b of rows with m items is at most the root of (m + 1)/m a c, where a and c
    are those of rows with m - 1 and m + 1. The likelihood ratio of this bound is read one-sided.
    """
    a, b, c = (int(n) for n in rows_by_size[m - 1 : m + 2])
    if b < MIN_ROWS:
        return 1.0
    factor = (m + 1) / m
    if b * b <= factor * a * c:
        return 1.0
    total = a + b + c
    # At the bound, with a = t c: b = root(factor t) c. The best t is that of the observed a - c.
    tilts = np.geomspace(1e-4, 1e4, N_GRID_POINTS)
    shares = np.stack([tilts, np.sqrt(factor * tilts), np.ones(N_GRID_POINTS)])
    shares /= shares.sum(0)
    counts = np.array([a, b, c], dtype=float)
    at_bound = float((counts @ np.log(shares)).max())
    positive_counts = counts[counts > 0]
    ratio = 2 * (float(positive_counts @ np.log(positive_counts / total)) - at_bound)
    return 0.5 * math.erfc(math.sqrt(max(ratio, 0.0) / 2))
