"""Dissent that is set aside: items are called gold, and raters differ on them most."""

import math

import numpy as np

from agreement_pipeline.contract.facts.fact import Fact, fact
from agreement_pipeline.contract.facts.panel import Codes, Panel

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
    """By how much the share of disputed items is higher among gold items than among the rest.

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
    mean = float(disputed.mean())
    error = math.sqrt(mean * (1 - mean) * (1 / n_gold + 1 / n_rest))
    beyond = on_gold - on_rest
    words = (
        f"{on_gold:.1%} of {n_gold} gold items are disputed, and {on_rest:.1%} of {n_rest} others"
    )
    return Fact(beyond if beyond > SURE * error else 0.0, words)


def _disputed(panel: Panel) -> tuple[Codes, Codes]:
    """For each item that two raters met: if they differ, and the item's code.

    On a scale of numbers an item is disputed if its labels spread more than those of most items.
    """
    item = panel.item[panel.first]
    begins = np.flatnonzero(np.append(True, item[1:] != item[:-1]))
    label = panel.labels(panel.first)
    spread = np.maximum.reduceat(label, begins) - np.minimum.reduceat(label, begins)
    met = np.diff(np.append(begins, len(item))) > 1
    spread, items = spread[met].astype(float), item[begins][met]
    usual = np.median(spread) if panel.ratings.scale.numeric and len(spread) else 0.0
    return spread > usual, items
