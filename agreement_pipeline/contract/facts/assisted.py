"""Labels that began as a model's suggestion."""

from agreement_pipeline.contract.facts.fact import Fact, fact
from agreement_pipeline.contract.facts.panel import Panel


@fact
def share_assisted(panel: Panel) -> Fact:
    """The share of the panel's labels that began as a suggestion."""
    if not panel.ratings.says_assisted:
        return Fact(None, "it is not known which labels began as a suggestion")
    count, n = panel.ratings.n_assisted, panel.ratings.n_of_panel
    return Fact(count / n, f"{count} of {n} labels began as a suggestion")
