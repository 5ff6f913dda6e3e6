"""A comparison at a common prevalence: items are weighted so that both sides have the same.

This is direct standardisation (Fleiss, Levin and Paik 2003, chapter 19). Its strata are the latent
classes of Dawid and Skene (1979, doi:10.2307/2346806). Each side keeps its own error rates. Only
the share of each class is replaced by the mean of both sides.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agreement_pipeline.estimates.latent_classes import Latent, latent_classes, refitted
from agreement_pipeline.estimates.prevalences import shares_of
from agreement_pipeline.estimates.sides import Side
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import CategoryCounts
from agreement_pipeline.text import listed

FEWEST_RATINGS = 3
FEW_RATINGS = (
    "fewer than half of its rated items have three ratings, and fewer ratings do not tell "
    "prevalence from errors"
)


class Standard(NamedTuple):
    """How one side is brought to the common prevalence.

    Attributes
    ----------
    used
        The categories that either side uses.
    latent
        The classes of the items of this side.
    target
        The share of each class on both sides.
    """

    used: NDArray[np.intp]
    latent: Latent
    target: Array

    def weighted(self, statistic: Any) -> Any:
        """The statistic with weights that give it the common prevalence.

        The classes are found anew for each resample. A resample without one of the classes has no
        weights, so its value is undefined.
        """
        rows, weights = statistic.unnamed().counts[:, self.used], statistic.weights
        latent = refitted(rows, weights, self.latent) if weights.ndim > 1 else self.latent
        with np.errstate(divide="ignore", invalid="ignore"):
            factors = self.target / latent.shares
            times = (latent.classes(rows) * factors[..., None, :]).sum(-1)
        known = latent.settled & (latent.shares > 0).all(-1)
        return statistic.reweighted(np.where(known[..., None], times, np.nan) * weights)


def at_common_prevalence(sides: tuple[Side, Side]) -> tuple[tuple[Side, Side], dict[str, float]]:
    """The sides at their common prevalence, and how common each class then is.

    A side that cannot be brought there says why it has no value.
    """
    if any(side.why_without() for side in sides):
        return sides, {}
    shares = [shares_of(side.statistic) for side in sides]
    used = np.flatnonzero((shares[0] > 0) | (shares[1] > 0))
    names = [sides[0].statistic.scale.names[k] for k in used]
    one, other = sides
    why, why_other = (_why_not(side.statistic, names, used) for side in sides)
    if why or why_other:
        return (one._replace(impossible=why), other._replace(impossible=why_other)), {}
    found = [
        latent_classes(side.statistic.unnamed().counts[:, used], side.statistic.weights)
        for side in sides
    ]
    target = (found[0].shares + found[1].shares) / 2

    def weighted(side: Side, latent: Latent) -> Side:
        standard, impossible = Standard(used, latent, target), _unclear(latent, names)
        return side._replace(standard=standard.weighted, impossible=impossible)

    common = dict(zip(names, map(float, target), strict=True))
    return (weighted(one, found[0]), weighted(other, found[1])), common


def _why_not(statistic: Any, names: Sequence[str], used: NDArray[np.intp]) -> str | None:
    counts: CategoryCounts = statistic.unnamed()
    unused = [
        name for name, share in zip(names, shares_of(counts)[used], strict=True) if share == 0
    ]
    if unused:
        return f"nobody gave {listed(unused)}, so there is no prevalence that both sides can have"
    enough = counts.weights[counts.sizes >= FEWEST_RATINGS].sum()
    return FEW_RATINGS if 2 * enough < counts.weights[counts.sizes > 0].sum() else None


def _unclear(latent: Latent, names: Sequence[str]) -> str | None:
    """Why the classes are not those of the categories; None if they are."""
    lost = [
        name
        for place, name in enumerate(names)
        if latent.shares[place] == 0 or latent.labels[place].argmax() != place
    ]
    if lost:
        return f"ratings do not tell which items are truly {listed(lost)}"
    return None if latent.settled else "the shares of the true categories were not found"
