"""Clusters that hold nothing together."""

from agreement_pipeline.contract.facts.fact import Fact, fact
from agreement_pipeline.contract.facts.panel import Panel


@fact
def items_of_a_cluster(panel: Panel) -> Fact:
    """How many items a cluster has, on average. If it is 1, clusters change no interval."""
    clusters = panel.contents("cluster")
    if clusters is None:
        return Fact(None, "column cluster was not delivered, so nothing was checked")
    n_clusters = int(clusters.nunique())
    if not n_clusters:
        return Fact(None, "no rated item has a cluster, so nothing was checked")
    return Fact(len(clusters) / n_clusters, f"{len(clusters)} items are in {n_clusters} clusters")
