"""Dissent that is gone: some items have fewer raters than the others."""

import numpy as np

from agreement_pipeline.contract.facts.fact import Fact, fact
from agreement_pipeline.contract.facts.panel import Panel

USUAL, FEWEST = 0.7, 30
"""The share of items with one number of raters that makes it usual, and of how many items."""


@fact
def items_with_fewer_raters(panel: Panel) -> Fact:
    """The share of items that have fewer raters than is usual in the round.

    A rating that is missing may be the one that differs. No measure can tell.
    """
    each = panel.n_raters[panel.rated][~panel.gold[panel.rated]]
    usual = int(np.bincount(each).argmax()) if len(each) else 0
    if len(each) < FEWEST or (each == usual).mean() < USUAL:
        return Fact(None, "no number of raters is usual, so nothing was checked")
    fewer = int((each < usual).sum())
    words = f"{fewer} of {len(each)} items have fewer raters than {usual}, as most items have"
    return Fact(fewer / len(each), words)
