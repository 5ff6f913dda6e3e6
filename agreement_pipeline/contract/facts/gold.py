"""Dissent that is set aside: items are called gold, and raters differ on them most."""

import math

import numpy as np

from agreement_pipeline.contract.facts.fact import Fact, fact
from agreement_pipeline.contract.facts.panel import Codes, Panel, some

SURE = 3.29


@fact
def share_of_gold(panel: Panel) -> Fact:
    """The share of rated items that are gold, on which agreement is not read."""
    gold = panel.gold[panel.rated]
    count = int(gold.sum())
    if not len(gold):
        return Fact(None, "no item was rated, so nothing was checked")
    return Fact(count / len(gold), f"{count} of {len(gold)} items are gold")


@fact
def dispute_on_gold(panel: Panel) -> Fact:
    """By how much more raters differ on gold items than on the rest, as a share.

    It is 0 if chance alone gives such a difference in one of a thousand rounds.
    """
    if not panel.gold.any():
        return Fact(None, "no item is gold, so nothing was checked")
    disputed, met = _disputed(panel)
    gold = panel.gold[met]
    n_gold, n_rest = int(gold.sum()), int((~gold).sum())
    if not n_gold or not n_rest:
        return Fact(None, "not both gold and other items have two raters, so nothing was checked")
    on_gold, on_rest = float(disputed[gold].mean()), float(disputed[~gold].mean())
    error = math.sqrt(float(disputed.var()) * (1 / n_gold + 1 / n_rest))
    beyond = on_gold - on_rest
    words = (
        f"raters differ on {on_gold:.1%} of {n_gold} gold items, and on {on_rest:.1%} of "
        f"{n_rest} others"
    )
    return Fact(beyond if beyond > SURE * error else 0.0, words)


def _disputed(panel: Panel) -> tuple[Codes, Codes]:
    """For each item that two raters met: how much they differ, and the item's code.

    It is the share of pairs of raters who differ. On a scale of numbers it is 1 if the variance is
    higher than that of most items, and 0 if not. Neither grows with the number of raters.
    """
    item, label = some(panel.item, panel.first), some(panel.label, panel.first)
    each = np.bincount(item, minlength=len(panel.items)).astype(float)
    met = np.flatnonzero(each > 1)
    n = each[met]
    scale = panel.ratings.scale
    if scale.numeric and scale.dimensions == 1:
        apart = label - (np.bincount(item, label, len(each)) / np.maximum(each, 1))[item]
        variance = np.bincount(item, apart**2, len(each))[met] / (n - 1)
        return (variance > np.median(variance)).astype(float), met
    order = np.lexsort((label, item))
    item, label = item[order], label[order]
    begins = np.flatnonzero(np.append(True, (np.diff(item) != 0) | (np.diff(label) != 0)))
    alike = np.diff(np.append(begins, len(item))).astype(float)
    same = np.bincount(item[begins], alike * (alike - 1), len(each))[met]
    return 1 - same / (n * (n - 1)), met
