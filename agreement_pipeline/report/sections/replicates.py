"""Items that came back to a rater, and how much later."""

import numpy as np
import pyarrow as pa

from agreement_pipeline.ratings import Array, Codes, in_pandas, is_clock, seconds
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
    shares = _shares(apart)
    rows: list[Row] = [[name, Cell(in_words(share, PERCENT), share)] for name, share in shares]
    return Answer(
        (said, _soonest(shares)),
        (_figure(shares),),
        (grid("When items came back", ("time", "share of replicates"), rows),),
    )


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
