"""Does the order of presentation move preferences? Each value has an interval over whole items."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.intervals import Interval, mean_interval
from agreement_pipeline.ratings import Array, Codes
from agreement_pipeline.students_t import quantile
from agreement_pipeline.units import RULES, Marked, UnitSettings, in_order

FEW = "there are fewer than two items to tell their differences from"
Shares = tuple[Array, Codes]


@dataclass(frozen=True)
class OfOrder:
    """A share, or a difference of two, with Student's interval over whole items.

    `n` is the number of preferences, or of pairs of them.
    """

    value: float | None
    interval: Interval | None
    n: int
    undefined: str | None = None


@dataclass(frozen=True)
class OrderEffect:
    """What the order of presentation does to preferences.

    `first` is the share of preferences, without ties, for the alternative that was shown first: 0.5
    if the order has no effect and is random. `within` and `across` are how often two raters say the
    same of a pair of alternatives: where both saw it in the same order, and where they did not.
    Their `difference` is above 0 if raters follow the order.
    """

    first: OfOrder
    within: OfOrder
    across: OfOrder
    difference: OfOrder


def order_effect(marked: Iterable[Marked], level: float = 0.95) -> OrderEffect:
    """The effect of the order in which alternatives were shown, from preferences of raters.

    Rankings count where it is known in which order alternatives were displayed.

    Examples
    --------
    >>> from agreement_pipeline.units import Preference
    >>> shown = {"ana": Preference("x", "y", "first"), "ben": Preference("y", "x", "first")}
    >>> found = order_effect(Marked("q1", rater, (said,)) for rater, said in shown.items())
    >>> found.first.value, found.across.value, found.within.undefined
    (1.0, 0.0, 'no two raters saw a pair in the same order')
    """
    rows = RULES["pairs"].rows(in_order(marked), UnitSettings("preferences"), ())
    rows = rows[rows["shown"].notna()]
    if rows.empty:
        raise RatingsError(
            "order effect: found no preference between two alternatives; expected some, with "
            "the order in which they were shown. Read preferences, and not rankings."
        )
    rows = rows.assign(cluster=np.unique(rows["cluster"].to_numpy(str), return_inverse=True)[1])
    chosen: Any = rows[rows["label"] != "tie"]
    same, other = _agreement(rows)
    return OrderEffect(
        _share(
            ((chosen["label"] == chosen["shown"]).to_numpy(float), chosen["cluster"].to_numpy()),
            level,
            "all preferences are ties",
        ),
        _share(same, level, "no two raters saw a pair in the same order"),
        _share(other, level, "no two raters saw a pair in different orders"),
        _difference(same, other, level),
    )


def _agreement(rows: Any) -> tuple[Shares, Shares]:
    found: dict[bool, list[tuple[bool, int]]] = {True: [], False: []}
    for _, said in rows.groupby("item", sort=True, observed=True):
        each = said[["rater", "label", "shown", "cluster"]].itertuples(index=False)
        for one, other in combinations(each, 2):
            if one.rater != other.rater:
                same_order = one.shown == other.shown
                found[same_order].append((one.label == other.label, one.cluster))
    same, other = (np.array(found[each], dtype=float).reshape(-1, 2).T for each in (True, False))
    return (same[0], same[1].astype(np.int64)), (other[0], other[1].astype(np.int64))


def _share(shares: Shares, level: float, without: str) -> OfOrder:
    values, clusters = shares
    if not len(values):
        return OfOrder(None, None, 0, without)
    limits = mean_interval(values, np.unique(clusters, return_inverse=True)[1], level)
    return OfOrder(float(values.mean()), limits, len(values), None if limits else FEW)


def _difference(same: Shares, other: Shares, level: float) -> OfOrder:
    n = len(same[0]) + len(other[0])
    if not len(same[0]) or not len(other[0]):
        return OfOrder(None, None, n, "raters saw all pairs in one order, or all in two")
    value = float(same[0].mean() - other[0].mean())
    items = np.unique(np.concatenate([same[1], other[1]]))
    if len(items) < 2:
        return OfOrder(value, None, n, FEW)
    moved = _moved(same, items) - _moved(other, items)
    error = math.sqrt(len(items) / (len(items) - 1) * float(moved @ moved))
    reach = quantile((1 + level) / 2, len(items) - 1) * error
    return OfOrder(value, Interval(value - reach, value + reach), n)


def _moved(shares: Shares, items: Codes) -> Array:
    values, clusters = shares
    places = np.searchsorted(items, clusters)
    beyond = np.bincount(places, values - values.mean(), minlength=len(items))
    return np.asarray(beyond / len(values))
