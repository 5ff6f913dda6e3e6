"""What became of agreement since the round before."""

from agreement_pipeline.estimates import Difference
from agreement_pipeline.report.answer import Answer, Grid, grid
from agreement_pipeline.report.judged import JudgedRound
from agreement_pipeline.report.sections.record import section
from agreement_pipeline.report.since import COLUMNS, difference_since, drift_rows, drift_since
from agreement_pipeline.text import SENTENCE, interval, number

SAME_ITEMS = (
    "Drift is read on items that both rounds share. The items are the same, so what differs is how "
    "they were judged."
)


@section("Since the round before", "Is this round worse than the last, and who changed?", place=20)
def since(judged: JudgedRound) -> Answer | None:
    """The difference from the round before, and the drift. None if there is no round before."""
    if judged.before is None:
        return None
    changed = difference_since(judged.ratings, judged.name, judged.before, judged.policy)
    drifted = drift_since(judged.ratings, judged.before)
    said = changed if isinstance(changed, str) else _said(changed, judged.before.name)
    if isinstance(drifted, str):
        return Answer((said, drifted))
    rows = [list(row) for row in drift_rows(drifted).itertuples(index=False)]
    table: Grid = grid("Drift on the shared items", COLUMNS, rows, "rows")
    return Answer((said, SAME_ITEMS), tables=(table,))


def _said(found: Difference, before: str) -> str:
    """Whether the round is worse, in a sentence with its interval."""
    if found.value is None or found.interval is None:
        return f"Nobody knows whether agreement differs from {before}: {found.undefined}."
    shared = "" if found.n_shared is None else f" They share {found.n_shared} items."
    low, high = found.interval
    reads = "Agreement may be the same"
    if high < 0:
        reads = "Agreement is lower"
    elif low > 0:
        reads = "Agreement is higher"
    change = f"{number(found.value, SENTENCE)} ({interval(found.low, found.high)})"
    prevalence = f" But {found.note}." if found.note else ""
    return f"{reads}: it changed by {change} since {before}.{shared}{prevalence}"
