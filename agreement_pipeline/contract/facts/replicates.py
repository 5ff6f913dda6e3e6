"""Replicates that are none: a rater cannot have forgotten the item, or did not look again."""

import numpy as np
import pyarrow as pa

from agreement_pipeline.contract.facts.fact import Fact, fact
from agreement_pipeline.contract.facts.panel import Codes, Panel
from agreement_pipeline.ratings import in_pandas, is_clock, seconds

MINUTE = 60
READ = 200_000
FEWEST = 20
NUMBERED = "are not numbered 1, 2, … by rater and item"
NO_TIMES = "replicates have no times that tell minutes, so nothing was checked"


@fact
def replicates_of_the_same_minute(panel: Panel) -> Fact:
    """The share of replicates that follow the rating before within a minute."""
    apart, clock = panel.apart
    if not clock:
        return Fact(None, NO_TIMES)
    return _share(np.abs(apart) < MINUTE, "were given within a minute of the rating before")


@fact
def replicates_back_in_time(panel: Panel) -> Fact:
    """The share of replicates that are dated before the rating that they repeat."""
    apart, _ = panel.apart
    if not len(apart):
        return Fact(None, "replicates have no times, so nothing was checked")
    return _share(apart < 0, "are dated before the rating that they repeat")


@fact
def replicates_back_to_back(panel: Panel) -> Fact:
    """The share of replicates between which and the rating before the rater rated nothing else."""
    again = panel.again
    if "timestamp" not in panel.ratings.has or not len(again):
        return Fact(None, NO_TIMES)
    ratings_of = np.bincount(panel.rater, minlength=len(panel.raters))
    raters = np.unique(panel.rater[again])
    read = raters[: max(1, int(np.searchsorted(np.cumsum(ratings_of[raters]), READ)))]
    rows = np.flatnonzero(np.isin(panel.rater, read))
    batches = panel.ratings.every(["place", "timestamp"])
    some = [batch.filter(pa.array(np.isin(batch["place"], read))) for batch in batches]
    times = seconds(in_pandas(pa.Table.from_batches(some))["timestamp"])
    if not is_clock(times):
        return Fact(None, NO_TIMES)
    order = np.lexsort((times, panel.rater[rows]))
    place = np.empty(len(panel.rater), dtype=np.int64)
    place[rows[order]] = np.arange(len(rows))
    known = np.zeros(len(panel.rater), dtype=bool)
    known[rows] = ~np.isnan(times)
    again = again[known[again] & known[again - 1]]
    return _share(np.abs(place[again] - place[again - 1]) == 1, "follow with nothing in between")


@fact
def change_in_replicates(panel: Panel) -> Fact:
    """How often replicates change, as a share of how often two raters differ on an item.

    Raters who look again change their mind now and then.
    """
    again, pairs = panel.again, panel.pairs
    met = int(pairs.met.sum())
    expected = len(again) * int(pairs.differed.sum()) / met if met else 0.0
    if expected < FEWEST:
        return Fact(None, "too few replicates to tell if raters looked again")
    changed = int((panel.label[again] != panel.label[again - 1]).sum())
    words = (
        f"{changed} of {len(again)} replicates change the label, and two raters differ on about "
        f"{expected:.0f} of as many items"
    )
    return Fact(changed / expected, words)


@fact
def occurrences_out_of_order(panel: Panel) -> Fact:
    """The share of ratings whose occurrence is not how often the rater has met the item."""
    occurrence = panel.occurrence
    if not len(panel.again):
        return _share(occurrence != 1, NUMBERED, "ratings")
    starts = np.flatnonzero(panel.begins)
    sizes = np.diff(np.append(starts, len(occurrence)))
    number = np.arange(len(occurrence)) - np.repeat(starts, sizes) + 1
    return _share(occurrence != number, NUMBERED, "ratings")


def _share(which: Codes, what: str, of: str = "replicates") -> Fact:
    if not len(which):
        return Fact(None, f"there are no {of} to look at, so nothing was checked")
    count = int(which.sum())
    return Fact(count / len(which), f"{count} of {len(which)} {of} {what}")
