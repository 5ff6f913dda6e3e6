"""A comparison at a common prevalence: items are weighted so that both sides have the same.

This is direct standardisation (Fleiss, Levin and Paik 2003, chapter 19): only the share of each
class of items is replaced by the mean of both sides. The classes are those of Dawid and Skene
(1979, doi:10.2307/2346806), for raters who are alike. Each item belongs to one class, and each
category has a class. Given the class, ratings are independent. With fewer than three ratings an
item, ratings do not tell prevalence from errors.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agreement_pipeline.estimates.differences import Side, shares_of
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import CategoryCounts
from agreement_pipeline.text import listed

MOST_STEPS = 1000
SETTLED = 1e-6
CELLS = 2_000_000
FEWEST_RATINGS = 3
FEW_RATINGS = (
    "fewer than half of its rated items have three ratings, and fewer ratings do not tell "
    "prevalence from errors"
)


class Latent(NamedTuple):
    """What the ratings say of the classes.

    `shares` are how common each class is (..., T). `labels` are how raters label items of each
    class (..., T, K). `settled` is True where the search came to its end (...).
    """

    shares: Array
    labels: Array
    settled: NDArray[np.bool_]

    def classes(self, rows: Array) -> Array:
        """How probable each class is for each row of counts. Shape (..., P, T)."""
        with np.errstate(divide="ignore"):
            # A label that a class never gets rules the class out; 0 · ln 0 is 0.
            logs = np.maximum(np.log(self.labels), -1e9)
            likely = rows @ logs.swapaxes(-1, -2) + np.log(self.shares)[..., None, :]
        likely = np.exp(likely - likely.max(-1, keepdims=True))
        return np.asarray(likely / likely.sum(-1, keepdims=True))


def latent_classes(rows: Array, weights: Array) -> Latent:
    most = rows == rows.max(1, keepdims=True)
    return _settled(rows, weights, _explained(rows, weights, most / most.sum(1, keepdims=True)))


def _settled(rows: Array, weights: Array, found: Latent) -> Latent:
    for _ in range(MOST_STEPS):
        before, found = found, _explained(rows, weights, found.classes(rows))
        moved = np.maximum(
            abs(found.shares - before.shares).max(-1),
            abs(found.labels - before.labels).max((-1, -2)),
        )
        if (moved < SETTLED).all():
            break
    return found._replace(settled=np.asarray(moved < SETTLED))


def _explained(rows: Array, weights: Array, classes: Array) -> Latent:
    held = classes * weights[..., None]
    mass = held.sum(-2)
    given = held.swapaxes(-1, -2) @ rows
    with np.errstate(invalid="ignore"):
        shares = mass / mass.sum(-1, keepdims=True)
        labels = given / given.sum(-1, keepdims=True)
    return Latent(shares, np.nan_to_num(labels), np.zeros(weights.shape[:-1], dtype=bool))


def at_common_prevalence(sides: tuple[Side, Side]) -> tuple[tuple[Side, Side], dict[str, float]]:
    if any(side.why_without() for side in sides):
        return sides, {}
    one, other = sides
    shares = [shares_of(side.statistic) for side in sides]
    used = np.flatnonzero((shares[0] > 0) | (shares[1] > 0))
    names = [one.statistic.scale.names[k] for k in used]
    why, why_other = (_why_not(side.statistic, names, used) for side in sides)
    if why or why_other:
        return (one._replace(impossible=why), other._replace(impossible=why_other)), {}
    of_one, of_other = (
        latent_classes(side.statistic.unnamed().counts[:, used], side.statistic.weights)
        for side in sides
    )
    target = (of_one.shares + of_other.shares) / 2
    weighted = (
        _weighted(one, of_one, used, target, names),
        _weighted(other, of_other, used, target, names),
    )
    return weighted, dict(zip(names, map(float, target), strict=True))


def _weighted(
    side: Side, latent: Latent, used: NDArray[np.intp], target: Array, names: Sequence[str]
) -> Side:
    """A resample without one of the classes has no weights, so its value is undefined."""

    def refitted(rows: Array, weights: Array) -> Latent:
        size = max(1, CELLS // rows.size)
        blocks = (weights[first : first + size] for first in range(0, len(weights), size))
        parts = [_settled(rows, block, latent) for block in blocks]
        return Latent(*(np.concatenate(found) for found in zip(*parts, strict=True)))

    def standard(statistic: Any) -> Any:
        rows, weights = statistic.unnamed().counts[:, used], statistic.weights
        found = refitted(rows, weights) if weights.ndim > 1 else latent
        with np.errstate(divide="ignore", invalid="ignore"):
            factors = target / found.shares
            times = (found.classes(rows) * factors[..., None, :]).sum(-1)
        known = found.settled & (found.shares > 0).all(-1)
        return statistic.reweighted(np.where(known[..., None], times, np.nan) * weights)

    return side._replace(standard=standard, impossible=_unclear(latent, names))


def _why_not(statistic: Any, names: Sequence[str], used: NDArray[np.intp]) -> str | None:
    counts: CategoryCounts = statistic.unnamed()
    shares = shares_of(counts)[used]
    unused = [name for name, share in zip(names, shares, strict=True) if share == 0]
    if unused:
        return f"nobody gave {listed(unused)}, so there is no prevalence that both sides can have"
    enough = counts.weights[counts.sizes >= FEWEST_RATINGS].sum()
    return FEW_RATINGS if 2 * enough < counts.weights[counts.sizes > 0].sum() else None


def _unclear(latent: Latent, names: Sequence[str]) -> str | None:
    lost = [
        name
        for place, name in enumerate(names)
        if latent.shares[place] == 0 or latent.labels[place].argmax() != place
    ]
    if lost:
        return f"ratings do not tell which items are truly {listed(lost)}"
    return None if latent.settled else "the shares of the true categories were not found"
