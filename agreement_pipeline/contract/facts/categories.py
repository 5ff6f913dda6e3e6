"""Categories that are declared and that nobody uses. They widen the weights of some measures."""

import pandas as pd

from agreement_pipeline.contract.facts.fact import Fact, fact
from agreement_pipeline.contract.facts.panel import Panel
from agreement_pipeline.text import listed


@fact
def share_of_unused_categories(panel: Panel) -> Fact:
    """The share of declared categories that no rater of the panel uses."""
    scale = panel.ratings.scale
    if scale.categories is None or not scale.declared:
        return Fact(None, "the scale declares no categories, so nothing was checked")
    if not len(panel.label):
        return Fact(None, "there is no rating, so nothing was checked")
    given = set(pd.unique(panel.label).tolist())
    names = scale.categories if scale.numeric else scale.names
    unused = [
        name for place, name in enumerate(names) if (name if scale.numeric else place) not in given
    ]
    words = f"{len(unused)} of {len(names)} categories are never used"
    return Fact(len(unused) / len(names), words + (f", {listed(unused)}" if unused else ""))
