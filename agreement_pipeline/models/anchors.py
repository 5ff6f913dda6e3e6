r"""Did a classifier lose agreement with the panel, on anchors that it labels again and again?

On anchor i at look t, :math:`Y_{ti}` is the share of the panel's labels that are the classifier's
new label. The classifier is as it was if at each look the mean over the anchors of the expected
:math:`Y_{ti}` is at least c. If it labels them one by one,

.. math:: \prod_{t \ge s} \prod_i \Big(1 + g \, \frac{c - Y_{ti}}{1 - c}\Big)

from look s on has then a mean of at most 1 for each g from 0 to 1, since a geometric mean is at
most the arithmetic one. It is a bet against the classifier (Waudby-Smith and Ramdas 2024). Nobody
knows when it changed, so the product is averaged over g, and over s with the weights
:math:`1 / (s (s + 1))` (Shin, Ramdas and Rinaldo 2024). By Ville's inequality, this average ever
reaches :math:`1 / \alpha` with a probability of at most :math:`\alpha`, however often one looks. It
rises with c, and the limit is the lowest c at which it ever did.

The floor c is taken from the first look as counted: luck then is no part of :math:`\alpha`.

References: https://doi.org/10.1093/jrsssb/qkad009, https://doi.org/10.51387/23-NEJSDS51
"""

from dataclasses import dataclass

import numpy as np

from agreement_pipeline.ratings import Array
from agreement_pipeline.text import counted

BETS = np.linspace(0.05, 0.95, 19)
HALVINGS = 40
FEWEST_ANCHORS = 30


@dataclass(frozen=True)
class Anchored:
    """Agreement of a classifier with the panel on anchors, over all looks.

    Attributes
    ----------
    first, last
        The mean share of the panel's labels that were the classifier's when it was certified, and
        that are at the last look.
    floor
        What agreement may not fall under.
    upper
        The limit under which it fell at some look. It holds at all looks together, by itself, with
        half of one minus the confidence level. 1 if none is known.
    """

    first: float
    last: float
    floor: float
    upper: float
    n_items: int
    n_looks: int

    @property
    def drifted(self) -> bool:
        return self.upper < self.floor

    @property
    def in_words(self) -> str:
        lowest_phrase = f", once under {self.upper:.3f}" if self.upper < 1 else ""
        return (
            f"agreement with the panel on {self.n_items} anchors: {self.first:.3f} when certified, "
            f"{self.last:.3f} now{lowest_phrase}, in {counted(self.n_looks, 'look')}; it may not "
            f"fall under {self.floor:.3f}"
        )


def compare_with_anchors(
    certified_shares: Array, looks: Array, most_lost: float, tail: float
) -> Anchored:
    """`certified_shares` (N,) and `looks` (T, N) are the share of the panel's labels of each anchor
    that are the classifier's. `tail` is the probability that the limit is ever too low.

    >>> shares = np.tile([1.0, 1, 1, 2 / 3], 25)
    >>> result = compare_with_anchors(shares, np.stack([shares, shares, 1 - shares]), 0.05, 0.025)
    >>> result.drifted, round(result.first, 3), round(result.last, 3), round(result.upper, 2)
    (True, 0.917, 0.083, 0.17)
    """
    values, places = np.unique(looks, return_inverse=True)
    counts = (places.reshape(looks.shape)[:, :, None] == np.arange(len(values))).sum(1)
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        enough = _largest_evidence(values, counts, middle) >= 1 / tail
        low, high = (low, middle) if enough else (middle, high)
    means = float(certified_shares.mean()), float(looks[-1].mean())
    return Anchored(*means, means[0] - most_lost, high, looks.shape[1], len(looks))


def _largest_evidence(values: Array, counts: Array, candidate: float) -> float:
    """The most that the average reached at a look, of which `counts` (T, V) anchors had a value."""
    looks = np.arange(1, len(counts) + 1)[:, None]
    rises = counts @ np.log1p(BETS * (candidate - values[:, None]) / (1 - candidate))
    log_products = np.cumsum(rises, axis=0)
    log_starts = np.logaddexp.accumulate(rises - log_products - np.log(looks * (looks + 1)))
    bets = np.exp(np.minimum(log_products + log_starts, 500.0)).mean(1, keepdims=True)
    return float((bets + 1 / (looks + 1)).max())
