"""The items that raters disagree on."""

import numpy as np

from agreement_pipeline.report.answer import Answer
from agreement_pipeline.report.figure import Figure, Mark, Series
from agreement_pipeline.report.items_table import items_table
from agreement_pipeline.report.judged import JudgedRound
from agreement_pipeline.report.sections.record import section
from agreement_pipeline.text import PERCENT, counted, in_words

FEW, MANY = 0.05, 0.25
SHARES = (0.01, 0.05, 0.1, 0.25, 0.5)


@section("Items", "On which items do raters disagree?", place=50)
def items(judged: JudgedRound) -> Answer:
    """How disagreement is spread over the items, and the most disputed items with their text."""
    places = judged.most_disputed
    if not places:
        return Answer(("No item has two different labels.",))
    return Answer(
        (_how_many(judged, len(places)), _concentrated(judged)),
        (_spread(judged),),
        (items_table(judged, places, "The items with the largest share of all disagreement"),),
    )


def _how_many(judged: JudgedRound, n: int) -> str:
    share = in_words(n / judged.n_items, PERCENT)
    return f"Raters differ on {counted(n, 'item')} of {judged.n_items:,} ({share})."


def _concentrated(judged: JudgedRound) -> str:
    """If few items hold most of the disagreement, they are worth a look."""
    parts = np.cumsum(np.sort(judged.disagreement)[::-1])
    half = int(np.searchsorted(parts, 0.5)) + 1
    share = in_words(half / judged.n_items, PERCENT)
    said = f"Half of all disagreement comes from {counted(half, 'item')} ({share} of all)."
    if half <= FEW * judged.n_items:
        return f"{said} It is held by few items: discuss these."
    if half >= MANY * judged.n_items:
        return f"{said} It is spread over the items: look at the guideline and at the raters."
    return said


def _spread(judged: JudgedRound) -> Figure:
    parts = np.cumsum(np.sort(judged.disagreement)[::-1])
    marks = tuple(
        Mark(f"the most disputed {share:.0%} of items", float(parts[_last(len(parts), share)]))
        for share in SHARES
    )
    return Figure(
        "bars",
        "How much of the disagreement few items hold",
        "Long upper bars: few items hold the disagreement. "
        "Short upper bars: it is spread over all items.",
        (Series("items", marks),),
        axis="share of all disagreement",
        bounds=(0.0, 1.0),
        form=PERCENT,
    )


def _last(n: int, share: float) -> int:
    return max(1, round(share * n)) - 1
