"""How much of a rater's labels is random choice, at the greatest entropy."""

import numpy as np

from agreement_pipeline.ratings import Array

MOST_STEPS = 200
LARGEST_SHARE = np.nextafter(1.0, 0.0)


def random_choice(d: Array, p: Array) -> Array:
    """The share x of random choice in labels of shares `d`, at the greatest entropy.

    `p` holds the probabilities of a random choice; shape (..., K). `d` has shape (C, K). The result
    has shape (..., C). It is 0 where a category of `p` does not occur in `d`.
    """
    rows, place = np.unique(d, axis=0, return_inverse=True)
    p = p[..., None, :]
    shares = np.divide(
        rows, p, out=np.full(np.broadcast_shapes(rows.shape, p.shape), np.inf), where=p > 0
    )
    most = shares.min(-1)
    inner = (most > 0) & np.isfinite(most)
    x = np.zeros(most.shape)
    x[inner] = most[inner] * _root(
        shares[inner] / most[inner][:, None], np.broadcast_to(p, shares.shape)[inner]
    )
    return x[..., place.ravel()]


def _root(c: Array, p: Array) -> Array:
    """The s in (0, 1) at which ln s = Σ p ln p + Σ p ln(c - s), for rows of c and p.

    The method is Newton's, kept inside a shrinking bracket.
    """
    c = np.where(p > 0, c, 2.0)
    entropy = -(p * np.log(np.where(p > 0, p, 1.0))).sum(-1)
    low, high, s = np.zeros(len(c)), np.ones(len(c)), np.full(len(c), 0.5)
    for _ in range(MOST_STEPS):
        gap = c - s[:, None]
        f = np.log(s) + entropy - (p * np.log(gap)).sum(-1)
        low, high = np.where(f < 0, s, low), np.where(f < 0, high, s)
        newton = s - f / (1 / s + (p / gap).sum(-1))
        before, s = (
            s,
            np.minimum(
                np.where((newton > low) & (newton < high), newton, (low + high) / 2), LARGEST_SHARE
            ),
        )
        if np.abs(s - before).max(initial=0.0) < 1e-15:
            break
    return s
