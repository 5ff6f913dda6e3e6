"""Items that came back to a rater, and how much later."""

import numpy as np

from agreement_pipeline.ratings import Array, Codes, is_clock, seconds
from agreement_pipeline.report.answer import Answer, Cell, Row, grid
from agreement_pipeline.report.figure import Figure, Mark, Series
from agreement_pipeline.report.judged import JudgedRound
from agreement_pipeline.report.sections.record import section
from agreement_pipeline.text import PERCENT, counted, in_words

MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0
SPANS = (
    ("in less than a minute", MINUTE),
    ("in less than an hour", HOUR),
    ("in less than a day", DAY),
    ("in less than a week", 7 * DAY),
    ("after a week or more", np.inf),
)
NO_TIMES = (
    "The ratings have no times that tell minutes, so the spacing is not known. "
    "A rater who sees an item again at once may remember the label."
)


@section("Replicates", "How much later did items come back to the same rater?", place=65)
def replicates(judged: JudgedRound) -> Answer | None:
    """How long after the rating before each replicate came."""
    table = judged.ratings.without_gold.table
    item, rater = (table[name].cat.codes.to_numpy() for name in ("item", "rater"))
    again = np.flatnonzero((item[1:] == item[:-1]) & (rater[1:] == rater[:-1])) + 1
    if not len(again):
        return None
    n_raters = len(np.unique(rater[again]))
    said = f"{counted(len(again), 'label')} by {counted(n_raters, 'rater')} repeat an earlier one."
    apart = _apart(judged, again)
    if apart is None:
        return Answer((said, NO_TIMES))
    shares = _shares(apart)
    rows: list[Row] = [[name, Cell(in_words(share, PERCENT), share)] for name, share in shares]
    return Answer(
        (said, _soonest(shares)),
        (_figure(shares),),
        (grid("When items came back", ("time", "share of replicates"), rows),),
    )


def _apart(judged: JudgedRound, again: Codes) -> Array | None:
    """The seconds between each replicate and the rating before; None if times do not tell."""
    table = judged.ratings.without_gold.table
    if "timestamp" not in table:
        return None
    times = seconds(table["timestamp"])
    if not is_clock(times):
        return None
    apart = np.abs(times[again] - times[again - 1])
    known = apart[~np.isnan(apart)]
    return known if len(known) else None


def _shares(apart: Array) -> list[tuple[str, float]]:
    ends = [end for _, end in SPANS]
    counts = np.bincount(np.searchsorted(ends, apart, side="right"), minlength=len(SPANS))
    return [
        (name, float(count / len(apart))) for (name, _), count in zip(SPANS, counts, strict=False)
    ]


def _soonest(shares: list[tuple[str, float]]) -> str:
    soon = shares[0][1] + shares[1][1]
    share = in_words(soon, PERCENT)
    if soon < 0.05:
        return f"{share} came back within the hour. Memory may last longer than that."
    return f"{share} came back within the hour. Raters may remember what they said."


def _figure(shares: list[tuple[str, float]]) -> Figure:
    return Figure(
        "bars",
        "When items came back to the same rater",
        "The later an item comes back, the less a rater remembers their label.",
        (Series("replicates", tuple(Mark(name, share) for name, share in shares)),),
        axis="share of replicates",
        bounds=(0.0, 1.0),
        form=PERCENT,
    )
