"""Items that came back to a rater: how much later, and how far each agrees with themselves."""

import numpy as np
import pyarrow as pa

from agreement_pipeline.counting import counting_of
from agreement_pipeline.estimates import Shown, shrunken_self_agreement
from agreement_pipeline.intervals import Inference
from agreement_pipeline.policy import Policy
from agreement_pipeline.ratings import Array, Codes, Ratings, in_pandas, is_clock, seconds
from agreement_pipeline.report.figure import bars_of_shares
from agreement_pipeline.report.judged import JudgedRound
from agreement_pipeline.report.section import Answer, Grid, Row, grid, section, share
from agreement_pipeline.report.tables import interval_text, note
from agreement_pipeline.statistics import seed_of
from agreement_pipeline.text import PERCENT, counted, in_words, number

MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0
SPANS = {
    "in less than a minute": MINUTE,
    "in less than an hour": HOUR,
    "in less than a day": DAY,
    "in less than a week": 7 * DAY,
    "after a week or more": np.inf,
}
NO_TIMES = (
    "The ratings have no times that tell minutes, so the spacing is not known. "
    "A rater who sees an item again at once may remember the label."
)


@section("Replicates", "How much later did items come back to the same rater?", place=65)
def replicates(judged: JudgedRound) -> Answer | None:
    """How long after the rating before each replicate came."""
    times = {"timestamp"} & judged.ratings.has
    found = judged.ratings.again(["at", "place", *times])
    again = repeats(found)
    if not len(again):
        return None
    n_raters = len(found["place"].unique())
    said = f"{counted(len(again), 'label')} by {counted(n_raters, 'rater')} repeat an earlier one."
    apart = _apart(found, again) if times else None
    if apart is None:
        return Answer((said, NO_TIMES))
    places = np.searchsorted([*SPANS.values()], apart, side="right")
    counts = np.bincount(places, minlength=len(SPANS))
    shares = dict(zip(SPANS, (counts / len(apart)).tolist(), strict=False))
    soon = float((apart < HOUR).mean())
    memory = "Memory may last longer than that."
    if soon >= 0.05:
        memory = "Raters may remember what they said."
    figure = bars_of_shares(
        "When items came back to the same rater",
        "The later an item comes back, the less a rater remembers their label.",
        shares.items(),
        "share of replicates",
    )
    rows: list[Row] = [[name, share(value)] for name, value in shares.items()]
    table = grid("When items came back", ("time", "share of replicates"), rows)
    hour = f"{in_words(soon, PERCENT)} came back within the hour. {memory}"
    return Answer((said, hour), (figure,), (table,))


def repeats(found: pa.Table) -> Codes:
    """The rows with the item and the rater of the row before."""
    at, place = (found[name].to_numpy() for name in ("at", "place"))
    return np.flatnonzero((at[1:] == at[:-1]) & (place[1:] == place[:-1])) + 1


def _apart(found: pa.Table, again: Codes) -> Array | None:
    """The seconds between each replicate and the rating before; None if times do not tell."""
    times = seconds(in_pandas(found["timestamp"]))
    if not is_clock(times):
        return None
    apart = np.abs(times[again] - times[again - 1])
    known = apart[~np.isnan(apart)]
    return known if len(known) else None


def towards_the_pool(ratings: Ratings, policy: Policy, shown: Shown | None = None) -> Grid | None:
    """The agreement of raters with themselves, drawn towards that of all.

    A row for each rater who met an item twice; None if the scale lists no categories.
    """
    if ratings.scale.continuous:
        return None
    again = counting_of(ratings).replicated_labels(ratings)
    inference = Inference(policy.confidence_level, policy.n_resamples, seed=seed_of(again))
    rows: list[Row] = [
        [
            found.scope.name,
            number(found.value),
            interval_text(found),
            str(found.n_used),
            found.method,
            note(found),
        ]
        for found in shrunken_self_agreement(again, inference)
        if shown is None or found.scope.name in shown.again
    ]
    columns = ("rater", "value", "interval", "items", "how", "note")
    return grid("Agreement of raters with themselves", columns, rows, "raters")
